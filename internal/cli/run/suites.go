package run

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/block"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/permit"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

func runSuites(env *form.Env, format string) error {
	var all []*suite.Suite
	for _, name := range suite.Names() {
		s, err := suite.Builtin(name)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	return form.Render(env, format, plans.Suites(all))
}

type suitesOptions struct {
	form.PathOptions
	Format string `formats:"plain"`
}

// NewSuites is the command plimsoll suites.
func NewSuites(env *form.Env) *cobra.Command {
	var o suitesOptions
	cmd := form.Command(env, "suites", nil, &o, o.run)
	cmd.ValidArgsFunction = form.CompleteScenarios
	o.AddFlags(cmd.Flags())
	return cmd
}

func (o *suitesOptions) run(_ context.Context, env *form.Env, args []string) error {
	if len(args) == 0 {
		return runSuites(env, o.Format)
	}
	s, err := suite.Select(args, suite.Selection{})
	if err != nil {
		return form.Usage(err)
	}
	at := bench.Request{Data: o.Data, WAL: o.WAL}
	if err := at.Follow(s); err != nil {
		return form.Usage(err)
	}
	o.Data, o.WAL = at.Data, at.WAL
	paths, err := o.Roles()
	if err != nil {
		return err
	}
	tree, err := block.Read(env.Machine)
	if err != nil { // without /sys no device is known, and a job that names one is refused
		tree = &block.Tree{}
	}
	var jobs []plans.Job
	made := map[topology.Role]bool{}
	for _, c := range s.Scenarios {
		if _, err := c.Workloads(); err != nil {
			return form.Usage(err)
		}
		if c.Kind() == suite.OfServer {
			jobs = append(jobs, plans.NewJob(c, nil))
			continue
		}
		c, file, err := permit.Sketched(tree, paths[c.Role], c)
		if err != nil {
			return form.Usage(err)
		}
		job := c.Place(file)
		shown := plans.NewJob(c, &job)
		if !made[c.Role] && !c.AsIs { // for all scenarios of the role, before the first
			made[c.Role] = true
			shown.Before = prefillLines(paths[c.Role], s.Scenarios, c.Role)
		}
		jobs = append(jobs, shown)
	}
	return form.Render(env, o.Format, plans.Jobs(jobs))
}

// prefillLines are the shell lines that make the files of a role's scenarios by hand.
func prefillLines(path string, all []suite.Scenario, role topology.Role) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(c suite.Scenario) bool { return c.Role != role })
	jobs, mkdir := permit.PrefillsByHand(path, all...)
	if len(jobs) == 0 {
		return nil
	}
	lines := []string{shell.Line(append([]string{"mkdir", "-p"}, mkdir...))}
	for _, j := range jobs {
		lines = append(lines, shell.Line(command.Line(&j.Job)))
	}
	return lines
}
