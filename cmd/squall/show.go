package main

import (
	"github.com/spf13/cobra"
)

func newShowCommand(c *console) *cobra.Command {
	var outs []string
	cmd := &cobra.Command{
		Use:   "show BUNDLE|latest",
		Short: "Print what a bundle holds: verdict, story and timeline",
		Long: `Print what a bundle holds: verdict, story and minimal timeline. Nothing is run or judged again, and the status is 0
whatever the verdict. JSON is the bundle's verdict.json.`,
		Example: "  squall show latest -o json",
		Args:    exactly("bundle", "the path that a run printed, or latest"),
		RunE: func(_ *cobra.Command, args []string) error {
			outputs, err := parseOutputs(outs)
			if err != nil {
				return err
			}
			run, err := c.openBundle(args[0])
			if err != nil {
				return err
			}
			d := documentOf(run)
			d.verdict = true
			if err := c.writeOutputs(outputs, d); err != nil {
				return err
			}
			if textOnStdout(outputs) {
				c.printRun(run)
			}
			return nil
		},
	}
	addOutputFlag(cmd, &outs)
	return cmd
}
