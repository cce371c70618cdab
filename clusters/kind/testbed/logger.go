package testbed

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	kindlog "sigs.k8s.io/kind/pkg/log"
)

// logger passes on what kind tells its user: the steps, once each, and without its pictures.
type logger struct {
	mu sync.Mutex
	w  io.Writer
}

func newLogger(w io.Writer) *logger { return &logger{w: w} }

func (l *logger) Warn(message string)              { l.write("warning: " + message) }
func (l *logger) Warnf(format string, args ...any) { l.Warn(fmt.Sprintf(format, args...)) }

// Error and Errorf are deprecated by kind: errors are returned.
func (l *logger) Error(message string)              { l.write(message) }
func (l *logger) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

// V passes on what is meant for the user: kind's level 0.
func (l *logger) V(level kindlog.Level) kindlog.InfoLogger {
	if level > 0 {
		return kindlog.NoopInfoLogger{}
	}
	return (*steps)(l)
}

type steps logger

func (s *steps) Info(message string)              { (*logger)(s).write(message) }
func (s *steps) Infof(format string, args ...any) { s.Info(fmt.Sprintf(format, args...)) }
func (s *steps) Enabled() bool                    { return true }

func (l *logger) write(message string) {
	for _, skipped := range []string{
		"✓",                                // the end of a step that was announced
		networkVariable, "Here be dragons", // it is set on purpose, below
	} {
		if strings.Contains(message, skipped) {
			return
		}
	}
	message = strings.Map(func(r rune) rune {
		if r > 126 {
			return -1
		}
		return r
	}, message)
	message = strings.Join(strings.Fields(message), " ")
	if message == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.w, "kind:", message)
}

// networkVariable makes kind use another network than the one that all its clusters share (kind v0.33.0,
// pkg/cluster/internal/providers/docker/provider.go). kind offers no other way.
const networkVariable = "KIND_EXPERIMENTAL_DOCKER_NETWORK"

var environment sync.Mutex

// withNetwork holds the variable for the time of one creation: it belongs to the process.
func withNetwork(name string, create func() error) error {
	environment.Lock()
	defer environment.Unlock()
	before, was := os.LookupEnv(networkVariable)
	if err := os.Setenv(networkVariable, name); err != nil {
		return err
	}
	defer func() {
		if was {
			_ = os.Setenv(networkVariable, before)
		} else {
			_ = os.Unsetenv(networkVariable)
		}
	}()
	return create()
}
