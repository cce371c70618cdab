package main

import (
	"github.com/spf13/cobra"
)

func newShowCommand(c *console) *cobra.Command {
	var outs []string
	cmd := &cobra.Command{
		Use:     "show BUNDLE|latest",
		Short:   "Print what a bundle holds: verdict, story and timeline",
		Long:    "Print what a bundle holds: verdict, story and minimal timeline. Nothing is run or judged again.",
		Example: "  squall show latest -o json",
		Args:    exactly("bundle", "the path that a run printed, or latest"),
		RunE: func(_ *cobra.Command, args []string) error {
			outputs, err := parseOutputs(outs)
			if err != nil {
				return err
			}
			k, err := c.openBundle(args[0])
			if err != nil {
				return err
			}
			if err := c.writeOutputs(outputs, results{kept: k}); err != nil {
				return err
			}
			if textOnStdout(outputs) {
				printRun(c.out, c, k.run)
			}
			return nil
		},
	}
	addOutputFlag(cmd, &outs)
	return cmd
}
