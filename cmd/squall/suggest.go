package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/squall-chaos/squall/checker/history"
)

// unknownName is the error for a name that is none of the known ones: it names the nearest, or where to find all.
func unknownName(what, got string, known []string, all string) error {
	if near := history.Nearest(got, known); near != "" {
		return usage("unknown %s %q; did you mean %q?", what, got, near)
	}
	return usage("unknown %s %q; %s", what, got, all)
}

// oneOf is what to say when the known names are few.
func oneOf(known []string) string { return "it is one of " + strings.Join(known, ", ") }

// none refuses arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("%s takes no arguments, but got %q", cmd.CommandPath(), args[0])
}

// exactly wants one argument and says what it is.
func exactly(what, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage("%s: which %s? %s", cmd.CommandPath(), what, hint)
		case len(args) > 1:
			return usage("%s takes one %s, but got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// unknownCommand is the argument check of the root: what is left over is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return unknownName("command", args[0], names, "`squall --help` lists all")
}

// strict makes the commands that cobra adds by itself as strict as ours about names they do not know.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = unknownCommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err != nil || len(rest) > 0 && found == root {
					return unknownCommand(root, args)
				}
				return nil
			}
		}
	}
}

// badFlag turns cobra's complaint about a flag into one that names the nearest flag.
func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return usage("%s", badValue(value.GetFlag(), value.GetValue()))
	}
	if !errors.As(err, &unknown) {
		return usage("%w", err)
	}
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		return usage("%s has no flag -%s; `%s --help` lists all", cmd.CommandPath(), name, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	slices.Sort(names)
	if near := history.Nearest(name, names); near != "" {
		return usage("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), name, near)
	}
	return usage("%s has no flag --%s; `%s --help` lists all", cmd.CommandPath(), name, cmd.CommandPath())
}

// kinds are what flags take, in words, by pflag's names of their types.
var kinds = map[string]string{
	"int": "a whole number, such as 20", "uint64": "a whole number from 0 on, such as 7", "duration": "a time, such as 90s or 5m",
	"bool": "true or false",
}

// badValue says what a flag takes; that a parser of Go's library refused the value helps nobody.
func badValue(f *pflag.Flag, value string) string {
	text := fmt.Sprintf("invalid argument %q for \"--%s\"", value, f.Name)
	if kind := kinds[f.Value.Type()]; kind != "" {
		text += ": it takes " + kind
	}
	return text
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
