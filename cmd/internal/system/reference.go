//go:build !planted

package system

import "github.com/squall-chaos/squall/dispatcher"

var reference = dispatcher.System{Name: "reference"}

func lookup(name string) (dispatcher.System, bool) { return reference, name == reference.Name }

func expected() string {
	return "nothing, or reference: this build has no planted dispatchers; `go build -tags planted` makes one that has"
}

func unconditional(_ dispatcher.System, _ string, store dispatcher.Store) dispatcher.Store {
	return store
}

// AnyName tells whether the system draws the names of its workloads.
func AnyName(dispatcher.System) bool { return false }
