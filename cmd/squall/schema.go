package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/scenarios"
)

func newSchemaCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of scenario files",
		Long: "Print the JSON schema (draft-07) of scenario files. Editors with a YAML language server use it when a file begins with\n" +
			"  # yaml-language-server: $schema=squall.schema.json",
		Example: "  squall schema > squall.schema.json",
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			schema, err := scenarios.Schema()
			if err != nil {
				return broken(err)
			}
			_, err = fmt.Fprintf(c.out, "%s\n", schema)
			return err
		},
	}
}
