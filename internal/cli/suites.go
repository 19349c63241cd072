package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/permit"
	"plimsoll/internal/postgres"
	"plimsoll/internal/report"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

func newSuitesCmd(env *Env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "suites",
		Short: "List the built-in suites",
		Args:  cobra.NoArgs,
		Example: `  plimsoll suites
  plimsoll suites --json`,
		RunE: func(*cobra.Command, []string) error { return runSuites(env, format) },
	}
	addFormat(cmd, &format, textOrJSON)
	return cmd
}

func runSuites(env *Env, format string) error {
	var all []*suite.Suite
	for _, name := range suite.Names() {
		s, err := suite.Builtin(name)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	if format == formatJSON {
		return report.WriteJSON(env.Out, "suites", all)
	}
	return report.Suites(env.Out, all)
}

type showOptions struct {
	scenarios []string
	pathOptions
	format string
}

func newShowCmd(env *Env) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show [SUITE | SCENARIO | FILE]...",
		Short: "Print the exact fio command line and job file of scenarios",
		Example: `  plimsoll show 6 --wal /wal
  plimsoll show ebs-16k`,
		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			o.scenarios = args
			return runShow(env, o)
		},
	}
	o.addFlags(cmd.Flags())
	addFormat(cmd, &o.format, textOrJSON)
	return cmd
}

func runShow(env *Env, o showOptions) error {
	s, err := suite.Select(o.scenarios, suite.Selection{})
	if err != nil {
		return usage(err)
	}
	paths, err := o.roles()
	if err != nil {
		return err
	}
	var jobs []report.Job
	for _, c := range s.Scenarios {
		if _, err := c.Workloads(); err != nil {
			return usage(err)
		}
		if c.Postgres != nil {
			lines := postgres.ByHand(c, s.Server, paths[topology.Data], paths[topology.WAL])
			jobs = append(jobs, report.NewPostgresJob(c, lines))
			continue
		}
		job := c.Place(permit.FileIn(paths[c.Role], c))
		jobs = append(jobs, report.NewJob(c, &job))
	}
	if o.format == formatJSON {
		return report.WriteJSON(env.Out, "scenarios", jobs)
	}
	return report.Jobs(env.Out, jobs)
}
