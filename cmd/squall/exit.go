package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// What squall exits with. The values of verdicts are those of reports.Verdict.ExitCode.
const (
	exitValid       = 0
	exitInvalid     = 1
	exitUsage       = 2
	exitUnknown     = 3
	exitHarness     = 4
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
)

const exitHelp = `Exit status: 0 valid, 1 invalid or findings, 2 wrong usage or bad input, 3 unknown (not a pass),
4 Squall itself failed, 130 interrupted.`

// ending is how a command ends other than with status 0. Err is printed; it is nil when everything has been said.
type ending struct {
	code int
	err  error
}

func (e *ending) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *ending) Unwrap() error { return e.err }

// usage is an error of whoever typed the command.
func usage(format string, args ...any) error {
	return &ending{exitUsage, fmt.Errorf(format, args...)}
}

// broken is a failure of Squall itself.
func broken(err error) error { return &ending{exitHarness, err} }

// ended makes an exit status, all said, into an error for cobra.
func ended(code int) error {
	if code == exitValid {
		return nil
	}
	return &ending{code: code}
}

func endedWith(v reports.Verdict) error { return ended(v.ExitCode()) }

// outOfRoom tells whether something could not be written for a reason that lies with the machine.
func outOfRoom(err error) bool {
	for _, reason := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// statusOf is the exit status that an error stands for.
func statusOf(err error) int {
	var end *ending
	var input *scenarios.InputError
	var format *history.FormatError
	var bundle *reports.Problem
	var linked *chain.InputError
	switch {
	case err == nil:
		return exitValid
	case outOfRoom(err):
		return exitUsage // whoever started squall can make room; there is nothing to repair in it
	case errors.As(err, &end):
		return end.code
	case errors.As(err, &input), errors.As(err, &format), errors.As(err, &bundle), errors.As(err, &linked):
		return exitUsage
	}
	return exitHarness
}
