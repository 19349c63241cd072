package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/fio"
	"plimsoll/internal/permit"
	"plimsoll/internal/postgres"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
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
	addFormat(cmd, &format, page.Formats())
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
	return render(env, format, plans.Suites(all))
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
	addFormat(cmd, &o.format, page.Formats())
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
	var jobs []plans.Job
	made := map[topology.Role]bool{}
	for _, c := range s.Scenarios {
		if _, err := c.Workloads(); err != nil {
			return usage(err)
		}
		if c.Postgres != nil {
			lines := postgres.ByHand(c, s.Server, paths[topology.Data], paths[topology.WAL])
			jobs = append(jobs, plans.NewPostgresJob(c, lines))
			continue
		}
		c, file := permit.Sketched(paths[c.Role], c)
		job := c.Place(file)
		shown := plans.NewJob(c, &job)
		if !made[c.Role] && !c.AsIs { // for all scenarios of the role, before the first
			made[c.Role] = true
			shown.Before = prefillLines(paths[c.Role], s.Scenarios, c.Role)
		}
		jobs = append(jobs, shown)
	}
	return render(env, o.format, plans.Jobs(jobs))
}

// prefillLines are the shell lines that make the files of a role's scenarios by hand.
func prefillLines(path string, all []suite.Scenario, role topology.Role) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(c suite.Scenario) bool { return c.Role != role })
	jobs, mkdir := permit.PrefillsByHand(path, all...)
	if len(jobs) == 0 {
		return nil
	}
	lines := []string{fio.ShellLine(append([]string{"mkdir", "-p"}, mkdir...))}
	for _, j := range jobs {
		lines = append(lines, fio.ShellLine(fio.CommandLine(&j.Job)))
	}
	return lines
}
