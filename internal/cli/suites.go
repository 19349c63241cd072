package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/fio"
	"plimsoll/internal/report"
	"plimsoll/internal/suite"
)

func newSuitesCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "suites",
		Short: "List the built-in suites",
		Args:  cobra.NoArgs,
		Example: `  plimsoll suites
  plimsoll suites --json`,
		RunE: func(*cobra.Command, []string) error { return runSuites(env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the suites whole, as JSON")
	return cmd
}

func runSuites(env *Env, asJSON bool) error {
	var all []*suite.Suite
	for _, name := range suite.Names() {
		s, err := suite.Builtin(name)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	if asJSON {
		return report.WriteJSON(env.Out, "suites", all)
	}
	return report.Suites(env.Out, all)
}

func newShowCmd(env *Env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "show [SUITE | SCENARIO | FILE]...",
		Short: "Print the exact fio command line and job file of scenarios",
		Example: `  plimsoll show 6 --wal /wal
  plimsoll show ebs-16k`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.given = args, cmd.Flags().Changed
			return runShow(env, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "`PATH` of the data role")
	f.StringVar(&o.wal, "wal", "", "`PATH` of the log role")
	return cmd
}

func runShow(env *Env, o runOptions) error {
	s, err := suite.Select(o.args, suite.Selection{})
	if err != nil {
		return usage(err)
	}
	paths, err := o.paths()
	if err != nil {
		return err
	}
	for i, c := range s.Scenarios {
		if i > 0 {
			fmt.Fprintln(env.Out)
		}
		if _, err := c.Workloads("/file"); err != nil {
			return usage(err)
		}
		job := c.Place(bench.FileIn(paths[c.Role], c))
		fmt.Fprintf(env.Out, "# %d %s: %s\n", c.ID, c.Name, c.Title)
		if c.Why != "" {
			fmt.Fprintf(env.Out, "# %s\n", c.Why)
		}
		fmt.Fprintf(env.Out, "%s\n\n%s", fio.ShellLine(fio.CommandLine(&job)), job.Text())
		for _, t := range c.Thresholds {
			fmt.Fprintf(env.Out, "# target: %s\n", t.Text)
		}
	}
	return nil
}
