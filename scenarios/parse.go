package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// Parse reads a scenario that needs no other file. The name is what errors call it. The error is an *InputError.
func Parse(name string, data []byte) (*Scenario, error) {
	s, err := parse(name, data, false)
	if err == nil && s.source.calibrationFile != "" {
		s.bad("calibration", CodeFile, "write its content here, or run the scenario from its file", "a calibration cannot be in a file of its own here")
		err = s.source.err()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// parseFile reads a scenario from a file, beside which its calibration may lie.
func parseFile(path string, data []byte) (*Scenario, error) {
	s, err := parse(path, data, true)
	if err != nil || s.source.calibrationFile == "" {
		return s, err
	}
	file := s.source.calibrationFile
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(path), file)
	}
	s, _, err = Calibrated(path, data, file, true)
	return s, err
}

// parse reads a scenario, and judges it unless its calibration is still to come. Strict is to judge also how the settings nest with
// those of the calibration: what is kept of a run may have been run with others on top.
func parse(name string, data []byte, strict bool) (*Scenario, error) {
	text := plainText(data)
	src := newSource(name, text)
	root := src.parse(text)
	if root == nil {
		return nil, src.err()
	}
	s := &Scenario{source: src}
	src.decode(root, slot{value: reflect.ValueOf(s).Elem()})
	src.strict = strict
	s.calibrate()
	if src.calibrationFile == "" {
		s.validate()
	}
	if err := src.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Load reads a scenario file; its control must lie beside it, or in the library.
func Load(path string) (*Scenario, error) {
	data, err := readLimited(path)
	if err != nil {
		return nil, err
	}
	s, err := parseFile(path, data)
	if err != nil {
		return nil, err
	}
	if s.Control == "" {
		return s, nil
	}
	if _, err := s.LoadControl(); errors.Is(err, fs.ErrNotExist) {
		s.source.add(s.source.place("control"), CodeControl, "write "+s.Control+".yaml beside it", "there is no scenario %q beside this file or in the library", s.Control)
		return nil, s.source.err()
	}
	return s, nil
}

// LoadControl returns the scenario's control, from beside its file or else from the library; nil when it has none.
func (s *Scenario) LoadControl() (*Scenario, error) {
	if s.Control == "" {
		return nil, nil
	}
	if s.source != nil && !strings.HasPrefix(s.source.file, libraryPrefix) {
		path := filepath.Join(filepath.Dir(s.source.file), s.Control+".yaml")
		if data, err := readLimited(path); err == nil {
			return parseFile(path, data)
		}
	}
	return Find(s.Control)
}

// Open reads the scenario that an argument on the command line means: a file, or a name in the library.
func Open(nameOrPath string) (*Scenario, error) {
	if strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yaml") || strings.HasSuffix(nameOrPath, ".yml") {
		return Load(nameOrPath)
	}
	return Find(nameOrPath)
}

// readLimited reads a file, but never more than a scenario may have: the name may be that of a device.
func readLimited(path string) ([]byte, error) {
	problem := func(format string, args ...any) error {
		return &InputError{Problems: []Problem{{Code: CodeFile, File: path, Line: 1, Col: 1, Message: fmt.Sprintf(format, args...)}}}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem("there is no such file")
	case err != nil:
		return nil, problem("cannot be read: %v", errors.Unwrap(err))
	case info.IsDir():
		return nil, problem("is a directory")
	case !info.Mode().IsRegular():
		return nil, problem("is not a regular file")
	case info.Size() > strictyaml.MaxBytes:
		return nil, &InputError{Problems: []Problem{{Code: CodeLimits, File: path, Line: 1, Col: 1, Fix: form.TooLarge, Message: strictyaml.Oversized(info.Size())}}}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, problem("cannot be read: %v", errors.Unwrap(err))
	}
	return data, nil
}
