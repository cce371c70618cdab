package main

import (
	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// completeScenarios offers the library, and lets the shell offer files.
func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return libraryNames(), cobra.ShellCompDirectiveDefault
}

// completeRunFlags offers the values of flags that have few.
func completeRunFlags(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"strategy": strategyNames(), "world": worldNames(), "dispatcher": planted.Names(), "profile": dispatcher.Profiles(), "output": formatNames(),
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails for flags that are not there
	}
	_ = cmd.RegisterFlagCompletionFunc("set", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, n := range scenarios.SettingNames() {
			names = append(names, n+"=")
		}
		return names, cobra.ShellCompDirectiveNoSpace
	})
}
