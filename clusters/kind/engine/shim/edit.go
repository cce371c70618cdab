package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// object keeps every value that is not looked at as the bytes that it came in.
type object map[string]json.RawMessage

// edit rewrites the file in place, and not at all when nothing in it has to change.
func edit(file string, kind kind, held set) error {
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	trim := trimProcess
	if kind == bundle {
		trim = trimConfig
	}
	after, err := trim(before, held)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return os.WriteFile(file, after, 0o600) // keeps the mode of a file that exists
}

// trimConfig edits the process of a bundle's config.json (OCI runtime specification, config.md).
func trimConfig(config []byte, held set) ([]byte, error) {
	return within(config, "process", func(process json.RawMessage) ([]byte, error) { return trimProcess(process, held) })
}

// trimProcess takes out of a process the capabilities that are not held, and a negative oomScoreAdj if CAP_SYS_RESOURCE is one of them:
// only with it may a process be made less likely to be killed (proc_pid_oom_score_adj(5)).
func trimProcess(process []byte, held set) ([]byte, error) {
	process, err := within(process, "capabilities", func(capabilities json.RawMessage) ([]byte, error) {
		return trimCapabilities(capabilities, held)
	})
	if err != nil || !held.lacks(sysResource) {
		return process, err
	}
	return within(process, "oomScoreAdj", func(score json.RawMessage) ([]byte, error) {
		n, err := strconv.Atoi(string(score))
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return []byte("0"), nil
		}
		return score, nil
	})
}

func trimCapabilities(capabilities []byte, held set) ([]byte, error) {
	var sets object
	if err := json.Unmarshal(capabilities, &sets); err != nil {
		return nil, err
	}
	changed := false
	for name, value := range sets { // order does not matter
		var asked []string
		if err := json.Unmarshal(value, &asked); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		kept := slices.DeleteFunc(slices.Clone(asked), held.lacks)
		if len(kept) == len(asked) {
			continue
		}
		value, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		sets[name], changed = value, true
	}
	if !changed {
		return capabilities, nil
	}
	return encode(sets)
}

// within replaces the value of one field by what change makes of it; without the field, or without a change, the bytes stay as they are.
func within(document []byte, field string, change func(json.RawMessage) ([]byte, error)) ([]byte, error) {
	var fields object
	if err := json.Unmarshal(document, &fields); err != nil {
		return nil, err
	}
	before, ok := fields[field]
	if !ok || string(before) == "null" {
		return document, nil
	}
	after, err := change(before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	if bytes.Equal(before, after) {
		return document, nil
	}
	fields[field] = after
	return encode(fields)
}

// encode leaves <, > and & as they came, unlike json.Marshal.
func encode(fields object) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
