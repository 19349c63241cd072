// Package array has the commands that build arrays, verify them, read them once and take them
// down.
package array

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/provision"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// provisionOptions are of plan, apply, verify and teardown.
type provisionOptions struct {
	file    string
	Destroy []string `flag:"destroy"`
	Serial  []string `flag:"serial"`
	Yes     bool     `flag:"yes"`
	JSON    bool     `flag:"json"` // of commands that change something: events
	Adopt   string   `flag:"adopt"`
	Imagine bool     `flag:"imagine"`
	format  string
}

// NewArray is the command plimsoll array and the commands below it.
func NewArray(env *form.Env) *cobra.Command {
	cmd := form.Command(env, "array", nil, nil, nil)
	form.SubcommandsOnly(cmd)
	cmd.AddCommand(newPlanCmd(env), newApplyCmd(env), newVerifyCmd(env), newTeardownCmd(env), newWarmCmd(env))
	return cmd
}

func newPlanCmd(env *form.Env) *cobra.Command {
	var o provisionOptions
	cmd := form.Command(env, "array plan", cobra.ExactArgs(1), &o, o.show)
	form.BindAll(cmd.Flags(), "array", &o)
	form.AddFormat(cmd, &o.format, append(page.PlainFormats(), form.FormatShell))
	return cmd
}

func (o *provisionOptions) show(ctx context.Context, env *form.Env, args []string) error {
	o.file = args[0]
	_, plan, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if o.format == form.FormatShell || o.format == string(page.Markdown) { // to follow by hand
		return plans.Runbook(env.Out, plan, o.format)
	}
	return form.Render(env, o.format, plans.Plan(plan))
}

func (o provisionOptions) declaration() (*topology.Declaration, error) {
	data, err := sys.ReadFile(o.file, sys.ConfigLimit)
	if err != nil {
		return nil, err
	}
	return topology.LoadDeclaration(o.file, data)
}

// given pairs the devices of --destroy with the serials of --serial.
func (o provisionOptions) given() (map[string]string, error) {
	if len(o.Serial) != len(o.Destroy) {
		return nil, form.Usagef("each --destroy DEV needs its --serial S (see: plimsoll inspect --all)")
	}
	destroy := map[string]string{}
	for i, dev := range o.Destroy {
		destroy[dev] = o.Serial[i]
	}
	return destroy, nil
}

func (o provisionOptions) plan(ctx context.Context, env *form.Env) (*provision.Site, *provision.Plan, error) {
	destroy, err := o.given()
	if err != nil {
		return nil, nil, err
	}
	decl, err := o.declaration()
	if err != nil {
		return nil, nil, err
	}
	site := provision.Here(env.Machine, provisionView(env, o.JSON))
	if o.Imagine {
		plan, err := site.Imagine(decl)
		return site, plan, err
	}
	plan, err := site.Plan(ctx, decl, destroy)
	return site, plan, err
}
