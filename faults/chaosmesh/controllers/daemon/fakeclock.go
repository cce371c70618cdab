package main

import (
	"embed"
	_ "unsafe" // for go:linkname

	_ "github.com/chaos-mesh/chaos-mesh/pkg/time"
)

// The objects are compiled from the module's own sources (pkg/time/fakeclock/*.c) before this is.
//
//go:embed fakeclock/*.o
var objects embed.FS

// The module embeds an empty file system under this name.
//
//go:linkname fakeclock github.com/chaos-mesh/chaos-mesh/pkg/time.fakeclock
var fakeclock embed.FS

func init() { fakeclock = objects }
