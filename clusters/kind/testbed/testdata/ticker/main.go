// Command ticker is a workload for the end-to-end tests: it appends a line to the file FILE four times a second, and answers
// HTTP on :8080. /fetch?address=HOST:PORT tells whether a TCP connection from within its pod succeeds.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	file, err := os.OpenFile(os.Getenv("FILE"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for range time.Tick(250 * time.Millisecond) {
			if _, err := fmt.Fprintln(file, time.Now().UnixMilli()); err != nil {
				log.Fatal(err)
			}
		}
	}()
	http.HandleFunc("/fetch", func(w http.ResponseWriter, r *http.Request) {
		conn, err := net.DialTimeout("tcp", r.FormValue("address"), 2*time.Second)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_ = conn.Close()
		fmt.Fprintln(w, "connected")
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ticking") })
	log.Fatal(http.ListenAndServe(":8080", nil))
}
