// Stand-ins for programs that Chaos Mesh's own image brings and that no Go module or Debian package has: nsexec, which enters namespaces
// (Rust in the original); and tproxy, the proxy behind HTTPChaos (likewise). They do what chaos-daemon asks of them in the tests, no more; what a test
// shows through them it shows of Squall's objects and of Chaos Mesh's controllers, not of those programs. The name that it is called by
// tells which one is wanted.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	name := filepath.Base(os.Args[0])
	var err error
	switch name {
	case "nsexec":
		err = nsexec(os.Args[1:])
	case "tproxy":
		err = tproxy()
	default:
		err = fmt.Errorf("expected to be called nsexec or tproxy")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
