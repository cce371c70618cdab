// Package shared is the world in a cluster that Squall did not make: one namespace of it, which says by a label that things may be broken
// in it, and nothing else. No node is touched or read, no right beyond the namespace is asked for or granted.
//
// A run is the same as in kind (package clusters/deployed). What differs is how far the harness reaches:
//
//   - It reaches pods by port forwarding.
//   - A process is cut off from both servers by the fault proxy and then deleted, which is a crash to everybody but itself. It stands
//     still in so far as its calls wait in the proxy; its own clock goes on.
//   - Processes keep their journals in a table of the run's Postgres (package clusters/journal/deposit), over connections that no fault
//     touches, and the server's clock orders them: machines' clocks may differ.
//   - The second witness are the statuses of containers, as kubelets report them. It is weaker than the container runtimes' own events: a
//     start or an end is known to have been before it was seen, and of a container whose pod was gone first only its worker tells.
package shared
