package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/scenarios"
)

// schemas are what the command prints, by name.
var schemas = map[string]func() ([]byte, error){"scenario": scenarios.Schema, "chain": chain.Schema, "settings": scenarios.VariantSchema,
	"calibration": scenarios.CalibrationSchema}

func newSchemaCommand(c *console) *cobra.Command {
	names := slices.Sorted(maps.Keys(schemas))
	return &cobra.Command{
		Use:   "schema [scenario|chain|settings|calibration]",
		Short: "Print the JSON schema of scenario, chain, settings or calibration files",
		Long: "Print the JSON schema (draft-07) of scenario files, of the chain files of squall lint, of the settings files of squall compare,\n" +
			"or of the files that squall calibrate writes.\n" +
			"Editors with a YAML language server use it when a file begins with\n" +
			"  # yaml-language-server: $schema=squall.schema.json",
		Example:   "  squall schema > squall.schema.json\n  squall schema chain > chain.schema.json",
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usage("%s takes one name, but got %d arguments", cmd.CommandPath(), len(args))
			case len(args) == 1 && schemas[args[0]] == nil:
				return unknownName("schema", args[0], names, oneOf(names))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			schema, err := schemas[append(args, "scenario")[0]]()
			if err != nil {
				return broken(err)
			}
			_, err = fmt.Fprintf(c.out, "%s\n", schema)
			return err
		},
	}
}
