package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interruptible returns a context that the first Ctrl-C ends: the command then judges what it has and writes its report.
// The second one ends the program at once, after what is half-written was removed.
func interruptible(parent context.Context, c *console) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	finished := make(chan struct{})
	go func() {
		for asked := false; ; asked = true {
			select {
			case <-signals:
			case <-finished:
				return
			}
			if asked {
				halfWritten.remove()
				os.Exit(exitInterrupted)
			}
			c.note("squall: stopping; what was recorded is being judged (Ctrl-C again: stop now)")
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(finished)
		cancel()
	}
}

// scraps are files that are being written.
type scraps struct {
	mu    sync.Mutex
	paths map[string]bool
}

// halfWritten is what must not outlive the program when it is ended at once.
var halfWritten = scraps{paths: map[string]bool{}}

func (s *scraps) add(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[path] = true
}

func (s *scraps) done(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.paths, path)
}

func (s *scraps) remove() {
	s.mu.Lock() // and keep it: nothing new is begun
	for path := range s.paths {
		_ = os.RemoveAll(path) // nobody is left to be told
	}
}
