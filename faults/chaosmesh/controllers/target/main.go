// A target for faults: an HTTP server that counts what it was asked, tells the time that it sees, and calls others when it is told to.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const address = ":8080"

// reach bounds a call that this makes for somebody: what is cut off never answers.
const reach = 4 * time.Second

func main() {
	var handled atomic.Int64
	// jobs are counted before they are answered, so that a lost answer can be told from a lost call.
	http.HandleFunc("POST /jobs/{name}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, handled.Add(1)) })
	http.HandleFunc("GET /jobs", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, handled.Load()) })
	http.HandleFunc("GET /now", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, time.Now().UnixMilli()) })
	http.HandleFunc("GET /reach", func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		err := dial(r.Context(), r.FormValue("address"))
		fmt.Fprintln(w, err == nil, time.Since(began).Milliseconds(), err)
	})
	if err := http.ListenAndServe(address, nil); err != nil {
		fmt.Fprintln(os.Stderr, "target:", err)
		os.Exit(1)
	}
}

// dial opens a connection and closes it.
func dial(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}
