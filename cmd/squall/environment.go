package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// environmentPrefix begins the names of variables that set flags: SQUALL_SEEDS=100 is --seeds 100.
const environmentPrefix = "SQUALL_"

func variableOf(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// rivals are flags of which one alone makes sense: what the command line says of one silences the environment about the other.
var rivals = map[string]string{"seed": "seeds", "seeds": "seed", "quiet": "verbose", "verbose": "quiet"}

// fromEnvironment sets the flags that the command line does not. A flag that may be repeated is set to a list with commas.
func fromEnvironment(cmd *cobra.Command) error {
	typed := map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { typed[f.Name] = true })
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := os.LookupEnv(variableOf(f.Name))
		if !ok || value == "" || typed[f.Name] || typed[rivals[f.Name]] || f.Name == "help" || failed != nil {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if err := cmd.Flags().Set(f.Name, strings.TrimSpace(v)); err != nil && failed == nil {
				failed = usage("environment variable %s: %s", variableOf(f.Name), badValue(f, v))
			}
		}
	})
	return failed
}
