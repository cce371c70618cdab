// Package system knows which dispatcher a program is to be: the reference, or, in a build with the tag "planted", one with a
// deliberate defect. A program for production cannot be anything but the reference.
package system

import (
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// Read takes the system from the environment.
func Read(r *environment.Reader) dispatcher.System {
	name := r.Optional(environment.System, reference.Name)
	s, known := lookup(name)
	if !known {
		r.Report(environment.System, expected(), name)
	}
	return s
}

// Store is the store as the system would have it: its hook changes the conditions in the statements.
func Store(s dispatcher.System, url string, store dispatcher.Store) dispatcher.Store {
	if s.Store == nil {
		return store
	}
	return s.Store(unconditional(s, url, store))
}

// Workers are the workers' calls as the system would have them.
func Workers(s dispatcher.System, w dispatcher.Workers) dispatcher.Workers {
	if s.Workers == nil {
		return w
	}
	return s.Workers(w)
}

// Ports are what a replica of the system sees.
func Ports(s dispatcher.System, p dispatcher.Ports) dispatcher.Ports {
	if s.Ports == nil {
		return p
	}
	return s.Ports(p)
}

// Settings are the system's.
func Settings(s dispatcher.System, given dispatcher.Settings) dispatcher.Settings {
	if s.Settings == nil {
		return given
	}
	return s.Settings(given)
}
