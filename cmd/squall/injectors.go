package main

import "slices"

// What strikes the faults of a run in a real cluster.
const (
	ownInjector  = "squall"
	meshInjector = "chaosmesh"
)

var injectors = []string{ownInjector, meshInjector}

// checkInjector refuses what is no injector.
func checkInjector(name string) error {
	if name != "" && !slices.Contains(injectors, name) {
		return unknownName("injector", name, injectors, oneOf(injectors))
	}
	return nil
}
