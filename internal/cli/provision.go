package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"plimsoll/internal/provision"
	"plimsoll/internal/topology"
)

// provisionOptions are of plan, apply, verify and teardown.
type provisionOptions struct {
	file    string
	destroy []string
	serial  []string
	yes     bool
	json    bool
}

func (o *provisionOptions) addDestroy(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.destroy, "destroy", nil, "use `DEV` though it is not blank: what is on it is lost; needs its --serial")
	cmd.Flags().StringArrayVar(&o.serial, "serial", nil, "serial `S` of the device of the --destroy before it")
}

func newPlanCmd(env *Env) *cobra.Command {
	var o provisionOptions
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show what apply would do: each command, what it touches, how it is undone",
		Long: `Show what apply would do to build the arrays of a plimsoll.yaml: each step with its exact command, what it touches and how
teardown undoes it. Nothing is changed. As root, volumes are also looked at for signatures. UUIDs are drawn anew by apply.`,
		Example: `  plimsoll plan plimsoll.yaml
  plimsoll plan plimsoll.yaml --destroy /dev/nvme3n1 --serial vol0123456789abcdef0`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			_, _, plan, err := o.plan(cmd.Context(), env)
			if err != nil {
				return err
			}
			if o.json {
				return printJSON(env.Out, plan)
			}
			printProvision(env.Out, plan)
			return nil
		},
	}
	o.addDestroy(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the plan as JSON")
	return cmd
}

func newApplyCmd(env *Env) *cobra.Command {
	var o provisionOptions
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Build the arrays of a plimsoll.yaml from blank volumes",
		Long: `Build the arrays of a plimsoll.yaml from blank volumes: partitions, array, filesystem, mount, /etc/fstab, mdadm.conf and
initramfs. The plan is shown and confirmed first. A journal in /var/lib/plimsoll keeps each step, so that an apply that was cut
short is finished by another one, and teardown can undo it all.

A volume that carries anything is refused, unless --destroy DEV and --serial S both name it.`,
		Example: `  plimsoll apply plimsoll.yaml
  plimsoll apply plimsoll.yaml --yes --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return runApply(cmd.Context(), env, o)
		},
	}
	o.addDestroy(cmd)
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what happens as JSON, one event a line; needs --yes")
	return cmd
}

func newVerifyCmd(env *Env) *cobra.Command {
	var o provisionOptions
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Compare the machine with a plimsoll.yaml",
		Long: `Compare the machine with a plimsoll.yaml: arrays and their members, redundancy, filesystems and their alignment, mounts,
/etc/fstab, mdadm.conf and initramfs. Needs root. The exit code is 3 when something differs.`,
		Example: `  plimsoll verify plimsoll.yaml
  plimsoll verify plimsoll.yaml --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return runVerify(cmd.Context(), env, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the differences as JSON")
	return cmd
}

func newTeardownCmd(env *Env) *cobra.Command {
	var o provisionOptions
	cmd := &cobra.Command{
		Use:   "teardown [ARRAY...]",
		Short: "Undo what apply has made, and nothing else",
		Long: `Undo what the journals of apply say was made, newest first: unmount, take lines out of /etc, stop arrays, erase superblocks,
zero both ends of the volumes. Without names, all arrays. What was on them is lost. What apply did not make stays.`,
		Example: `  plimsoll teardown
  plimsoll teardown wal --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTeardown(cmd.Context(), env, o, args)
		},
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what happens as JSON, one event a line; needs --yes")
	return cmd
}

func (o provisionOptions) declaration() (*topology.Declaration, error) {
	data, err := os.ReadFile(o.file)
	if err != nil {
		return nil, err
	}
	return topology.LoadDeclaration(o.file, data)
}

func (o provisionOptions) plan(ctx context.Context, env *Env) (*provision.Site, *topology.Declaration, *provision.Plan, error) {
	if len(o.serial) != len(o.destroy) {
		return nil, nil, nil, usage(errors.New("each --destroy DEV needs its --serial S (see: plimsoll inspect DEV)"))
	}
	destroy := map[string]string{}
	for i, dev := range o.destroy {
		destroy[dev] = o.serial[i]
	}
	decl, err := o.declaration()
	if err != nil {
		return nil, nil, nil, err
	}
	site := provision.Here(env.Machine, provisionView(env, o.json))
	plan, err := site.Plan(ctx, decl, destroy)
	return site, decl, plan, err
}

func runApply(ctx context.Context, env *Env, o provisionOptions) error {
	if o.json && !o.yes {
		return usage(errors.New("--json needs --yes: nobody could answer"))
	}
	site, _, plan, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if !o.json {
		printProvision(env.Out, plan)
	}
	if plan.Steps() > 0 && !o.yes {
		if err := confirm(env, fmt.Sprintf("\nDo these %d steps?", plan.Steps())); err != nil {
			return err
		}
	}
	if err := site.Apply(ctx, plan); err != nil {
		return hint(err, "plimsoll apply "+o.file+" goes on from there; plimsoll teardown takes it back")
	}
	return nil
}

func runVerify(ctx context.Context, env *Env, o provisionOptions) error {
	decl, err := o.declaration()
	if err != nil {
		return err
	}
	diffs, err := provision.Here(env.Machine, nil).Verify(ctx, decl)
	if err != nil {
		return err
	}
	if o.json {
		err = printJSON(env.Out, diffs)
	} else {
		printDifferences(env.Out, decl, diffs)
	}
	if err == nil && len(diffs) > 0 {
		err = errVerdict
	}
	return err
}

func runTeardown(ctx context.Context, env *Env, o provisionOptions, names []string) error {
	if o.json && !o.yes {
		return usage(errors.New("--json needs --yes: nobody could answer"))
	}
	site := provision.Here(env.Machine, provisionView(env, o.json))
	journals, err := site.Made(names...)
	if err != nil {
		return err
	}
	if len(journals) == 0 {
		if !o.json {
			fmt.Fprintln(env.Out, "plimsoll has made nothing here: there is nothing to undo")
		}
		return nil
	}
	if !o.yes {
		printUndo(env.Out, journals)
		if err := confirm(env, "\nUndo this? What is on these volumes is lost."); err != nil {
			return err
		}
	}
	if err := site.Teardown(ctx, names...); err != nil {
		return hint(err, "plimsoll teardown goes on from there")
	}
	return nil
}

// confirm asks on the terminal; elsewhere nobody can answer.
func confirm(env *Env, question string) error {
	f, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return usage(errors.New("there is no terminal to ask on: say --yes"))
	}
	fmt.Fprintf(env.Err, "%s [yes/no] ", question)
	answer, _ := bufio.NewReader(f).ReadString('\n') // the end of input is no
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}
