// Command squall finds out whether a Kubernetes job dispatcher loses work or does it twice, before production does.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }
