package advise

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/advise"
	"plimsoll/internal/bench"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

type ceilingOptions struct {
	form.LayoutOptions
	form.PathOptions
	form.VariantOptions
	scenarios []string
	instances []string
	Read      units.Latency `flag:"read-latency"`
	Write     units.Latency `flag:"write-latency"`
	Sweep     string        `flag:"sweep"`
	Together  bool          `flag:"together"`
	Claim     string        `flag:"claim"`
	Format    string        `formats:"plain"`
}

// NewCeiling is the command plimsoll ceiling.
func NewCeiling(env *form.Env) *cobra.Command {
	var o ceilingOptions
	cmd := form.Command(env, "ceiling", nil, &o, o.run)
	cmd.ValidArgsFunction = form.CompleteScenarios
	f := cmd.Flags()
	o.LayoutOptions.AddFlags(f)
	o.PathOptions.AddFlags(f)
	form.BindEach(f, "ceiling", "instance", &o.instances)
	form.BindAll(f, "variants", &o.VariantOptions)
	return cmd
}

func (o *ceilingOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.scenarios, o.Instance = args, strings.Join(o.instances, ",")
	if strings.Contains(o.Instance, ",") {
		return o.onTypes(ctx, env)
	}
	if o.Claim != "" {
		return runClaim(env, *o)
	}
	s, err := suite.Select(o.scenarios, suite.Selection{})
	if err != nil {
		return form.Usage(err)
	}
	if len(o.Variants) == 0 {
		if o.Variants, err = form.SweptLayouts(o.Sweep); err != nil {
			return form.Usage(err)
		}
	}
	if len(o.Variants)+len(o.Layouts) > 0 {
		return o.onLayouts(ctx, env, s)
	}
	t, err := o.detect(ctx, env, s)
	if err != nil {
		return err
	}
	all, err := outlooksOf(s)
	if err != nil {
		return err
	}
	if o.Sweep != "" {
		if len(all) != 1 {
			return form.Usagef("--sweep varies one scenario, but %d are named; add its number", len(all))
		}
		return runSweep(env, *o, t, all[0])
	}
	if err := o.work(t, all); err != nil {
		return err
	}
	return form.Render(env, o.Format, plans.Ceilings(t, s.Name, all, o.Together))
}

// outlooksOf are a suite's scenarios before their ceilings are known.
func outlooksOf(s *suite.Suite) ([]plans.Outlook, error) {
	var all []plans.Outlook
	for _, c := range s.Scenarios {
		if c.Kind() == suite.OfServer {
			return nil, form.Usagef("%d %s: the ceiling of a database follows from what a transaction needs, which "+
				"has to be measured: plimsoll run %[1]d", c.ID, c.Name)
		}
		loads, err := c.Workloads()
		if err != nil {
			return nil, form.Usage(err)
		}
		all = append(all, plans.Outlook{ID: c.ID, Name: c.Name, Role: c.Role, Loads: loads})
	}
	return all, nil
}

// onLayouts compares the ceilings of layouts.
func (o ceilingOptions) onLayouts(ctx context.Context, env *form.Env, s *suite.Suite) error {
	variants, err := o.Parse(o.File, func(string) bool { return false }, "")
	if err != nil {
		return form.Usage(err)
	}
	var all []plans.Foreseen
	for _, v := range variants {
		if v.Layout.YAML == nil {
			return form.Usagef("no --variant changes a layout key, such as c64:array.chunk=64KiB")
		}
		if err := v.Lay(); err != nil {
			return form.Usage(err)
		}
		decl, err := v.Layout.Declaration()
		if err != nil {
			return form.Usage(err)
		}
		t, err := topology.Foresee(ctx, env.Machine, decl)
		if err != nil {
			return form.Usage(err)
		}
		one, err := outlooksOf(s)
		if err != nil {
			return err
		}
		if err := o.work(t, one); err != nil {
			return err
		}
		all = append(all, plans.Foresee(v.Name, t, one))
	}
	return form.Render(env, o.Format, plans.Layouts(all))
}

// onTypes compares the ceilings of a layout on several instance types.
func (o ceilingOptions) onTypes(ctx context.Context, env *form.Env) error {
	if o.Sweep != "" || o.Together || o.Claim != "" {
		return form.Usagef("--sweep, --together and --claim take one --instance")
	}
	s, err := suite.Select(o.scenarios, suite.Selection{})
	if err != nil {
		return form.Usage(err)
	}
	scenarios, err := outlooksOf(s)
	if err != nil {
		return err
	}
	var all []plans.OnType
	for typ := range strings.SplitSeq(o.Instance, ",") {
		one := o
		one.Instance = strings.TrimSpace(typ)
		t, err := one.detect(ctx, env, s)
		if err != nil {
			return err
		}
		if err := o.work(t, scenarios); err != nil {
			return err
		}
		for _, c := range scenarios {
			all = append(all, plans.PriceOn(one.Instance, c))
		}
	}
	return form.Render(env, o.Format, plans.OnTypes(all, env.Now()))
}

// runSweep varies one scenario.
func runSweep(env *form.Env, o ceilingOptions, t *topology.Topology, one plans.Outlook) error {
	axes, err := ceiling.ParseAxes(o.Sweep)
	if err != nil {
		return form.Usagef("--%w", err)
	}
	points := ceiling.Sweep(t, one.Role, one.Loads, axes, o.withLatency)
	return form.Render(env, o.Format, plans.Sweep(t, one, axes, points))
}

// detect is the declared layout, or what is found below the paths, those that job files name too.
func (o ceilingOptions) detect(ctx context.Context, env *form.Env, s *suite.Suite) (*topology.Topology, error) {
	decl, err := o.Declaration(env)
	if err != nil {
		return nil, err
	}
	if decl != nil && len(decl.Arrays) > 0 && o.Data == "" && o.WAL == "" {
		t, err := topology.FromDeclaration(decl)
		if err != nil {
			return nil, form.Usage(err)
		}
		return t, nil
	}
	at := bench.Request{Data: o.Data, WAL: o.WAL}
	if err := at.Follow(s); err != nil {
		return nil, err
	}
	paths, err := form.PathOptions{Data: at.Data, WAL: at.WAL}.Existing()
	if err != nil {
		return nil, err
	}
	return topology.Detect(ctx, env.Machine, paths, decl)
}

// work fills the ceilings in.
func (o ceilingOptions) work(t *topology.Topology, all []plans.Outlook) error {
	of := func(one plans.Outlook) ceiling.Ceiling { return ceiling.Of(t, one.Role, one.Loads) }
	if o.Together {
		loads := map[topology.Role][]fio.Workload{}
		for _, one := range all {
			loads[one.Role] = one.Loads
		}
		if len(loads) < 2 || len(loads) < len(all) {
			return form.Usagef("--together takes one scenario per role, such as 2 6")
		}
		got := ceiling.OfTogether(t, loads)
		of = func(one plans.Outlook) ceiling.Ceiling { return got[one.Role] }
	}
	for i, one := range all {
		all[i].SetCeiling(o.withLatency(of(one)))
	}
	return nil
}

// withLatency adds what the flags state.
func (o ceilingOptions) withLatency(c ceiling.Ceiling) ceiling.Ceiling {
	if o.Read == 0 && o.Write == 0 {
		return c
	}
	return c.WithLatency(o.Read.Duration(), o.Write.Duration(), 0,
		topology.Origin{Kind: topology.Declared, Where: "--read-latency, --write-latency"})
}

// runClaim holds a stated figure against the declared layout.
func runClaim(env *form.Env, o ceilingOptions) error {
	claim, err := advise.ParseClaim(o.Claim)
	if err != nil {
		return form.Usage(err)
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return err
	}
	if decl == nil {
		return form.Usagef("--claim needs something to check against: --instance, --volumes or --topology")
	}
	t, err := topology.FromDeclaration(decl)
	if err != nil {
		return form.Usage(err)
	}
	v := claim.Check(t)
	if err := form.Render(env, o.Format, plans.Claim(v)); err != nil {
		return err
	}
	return map[string]error{"fail": form.ErrVerdict, "measured": form.ErrUnjudged}[v.Verdict()]
}
