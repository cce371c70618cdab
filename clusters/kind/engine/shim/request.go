package main

import (
	"path/filepath"
	"strings"
)

type kind int

const (
	bundle  kind = iota // config.json of a new container
	process             // the file of one more process in a container (runc exec)
)

// Global options of runc that take a value (runc(8)); all others are switches.
var valued = map[string]bool{"log": true, "log-format": true, "root": true, "criu": true, "rootless": true}

// request finds the file that holds the capabilities asked for: "" for the commands that start nothing.
func request(args []string) (string, kind) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name := strings.TrimLeft(args[0], "-")
		args = args[1:]
		if valued[name] && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return "", bundle
	}
	switch args[0] {
	case "create", "run", "restore":
		dir, ok := option(args[1:], "bundle", "b")
		if !ok {
			dir = "." // as runc(8) has it
		}
		return filepath.Join(dir, "config.json"), bundle
	case "exec":
		file, _ := option(args[1:], "process", "p")
		return file, process
	}
	return "", bundle
}

// option reads --long VALUE, --long=VALUE, -s VALUE or -s=VALUE, with one dash or two.
func option(args []string, long, short string) (string, bool) {
	for i, arg := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || name != long && name != short {
			continue
		}
		if joined {
			return value, true
		}
		if i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}
