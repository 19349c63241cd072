package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/agent"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/report/page"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// NewLab is the command plimsoll lab and the commands below it.
func NewLab(env *form.Env) *cobra.Command {
	cmd := form.Command(env, "lab", nil, nil, nil)
	form.SubcommandsOnly(cmd)
	cmd.AddCommand(newLabListCmd(env), newLabRunCmd(env), newLabShellCmd(env))
	return cmd
}

func newLabListCmd(env *form.Env) *cobra.Command {
	var format string
	cmd := form.Command(env, "lab list", cobra.NoArgs, nil, func(context.Context, *form.Env, []string) error {
		all, err := lab.Presets()
		if err != nil {
			return err
		}
		machines := make([]machine.Simulated, len(all))
		for i, s := range all {
			machines[i] = machine.Simulated{Name: s.Name, Description: s.Description}
		}
		return form.Render(env, format, machine.Lab(machines))
	})
	form.AddFormat(cmd, &format, page.PlainFormats())
	return cmd
}

type labOptions struct {
	preset   string
	Topology string `flag:"topology"`
	shell    bool
	argv     []string
	Scale    float64  `flag:"scale"`
	Keep     string   `flag:"keep"`
	Out      string   `flag:"out"`
	Put      []string `flag:"put"`
}

func newLabRunCmd(env *form.Env) *cobra.Command {
	o := labOptions{Out: "."}
	cmd := form.Command(env, "lab run", func(_ *cobra.Command, args []string) error {
		if len(args) == 0 && o.Topology == "" {
			return errors.New("want a preset (plimsoll lab list), a lab.yaml, or --topology plimsoll.yaml")
		}
		return nil
	}, &o, nil)
	cmd.Long = fmt.Sprintf(cmd.Long, labRuntime, labSize)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Topology == "" {
			o.argv = args[1:]
			return o.run(cmd.Context(), env, args)
		}
		dash := cmd.ArgsLenAtDash()
		if dash < 0 {
			dash = len(args)
		}
		return o.tryLayout(cmd, env, args[:dash], args[dash:])
	}
	form.BindAll(cmd.Flags(), "lab", &o)
	return cmd
}

func newLabShellCmd(env *form.Env) *cobra.Command {
	o := labOptions{argv: []string{"bash"}, shell: true, Out: "."}
	cmd := form.Command(env, "lab shell", cobra.ExactArgs(1), nil, o.run)
	form.BindAll(cmd.Flags(), "lab", &o)
	return cmd
}

// NewLabAgent is the guest's side: the initramfs runs it.
func NewLabAgent(env *form.Env) *cobra.Command {
	serve := func(ctx context.Context, _ *form.Env, args []string) error {
		port, err := agent.OpenPort(args[0])
		if err != nil {
			return err
		}
		return agent.Serve(ctx, port)
	}
	cmd := form.Command(env, "lab-agent", cobra.ExactArgs(1), nil, serve)
	cmd.Hidden = true
	return cmd
}

func loadLab(o *labOptions) (*lab.Spec, error) {
	spec, err := lab.Preset(o.preset)
	if errors.Is(err, lab.ErrNoPreset) {
		read := sys.ReadFile
		if !strings.ContainsRune(o.preset, '/') && filepath.Ext(o.preset) == "" { // a word, which nobody named as a file
			read = sys.ReadFound
		}
		text, readErr := read(o.preset, sys.ConfigLimit)
		if errors.Is(readErr, sys.ErrOthers) {
			return nil, fmt.Errorf("the file %s in this directory is not used, because %w; write ./%s if you mean this file",
				o.preset, readErr, o.preset)
		}
		if errors.Is(readErr, fs.ErrNotExist) {
			return nil, form.Hint(form.Usagef("%q is neither a preset nor a file", o.preset), "plimsoll lab list")
		}
		if readErr != nil {
			return nil, readErr
		}
		spec, err = lab.ParseSpec(o.preset, text)
	}
	if err == nil {
		spec.Scale = cmp.Or(o.Scale, spec.Scale)
	}
	return spec, err
}

// checkScale takes 0 for not given.
func (o *labOptions) checkScale() error {
	if o.Scale < 0 || o.Scale > 1 {
		return form.Usagef("--scale %g: want more than 0 and at most 1", o.Scale)
	}
	return nil
}

func (o *labOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.preset = args[0]
	spec, err := loadLab(o)
	if err == nil {
		err = o.checkScale()
	}
	if err != nil {
		return err
	}
	return startLab(ctx, env, spec, o)
}

// What a suite is run with on a layout that is tried out: a whole suite in minutes, and files that
// a tenth of the rates can prefill.
const (
	labScale   = 0.1
	labRuntime = "20s"
	labSize    = "128MiB"
)

// tryLayout builds a declared layout in the lab and runs suites on it; flags are more of plimsoll
// run's.
func (o *labOptions) tryLayout(cmd *cobra.Command, env *form.Env, suites, flags []string) error {
	if o.Keep != "" {
		return form.Usagef("--keep and --topology cannot be combined: the record of what was applied is only in the " +
			"guest's memory")
	}
	text, err := sys.ReadFile(o.Topology, sys.ConfigLimit)
	if err != nil {
		return form.Usage(err)
	}
	if err := o.checkScale(); err != nil {
		return err
	}
	spec, err := lab.FromDeclaration(o.Topology, text, cmp.Or(o.Scale, labScale))
	if err != nil {
		return form.Usage(err)
	}
	run, _, _ := cmd.Root().Find([]string{"run"})
	if err := run.ParseFlags(flags); err != nil { // the guest would say it only when all is built
		return run.FlagErrorFunc()(run, err)
	}
	if len(suites) == 0 {
		suites = []string{suite.Default}
	}
	o.argv = slices.Concat([]string{"plimsoll", "run"}, suites)
	ours := [][2]string{{"topology", "plimsoll.yaml"}, {"runtime", labRuntime}, {"ramp", "5s"}, {"size", labSize}}
	for _, role := range topology.Roles {
		ours = append(ours, [2]string{string(role), spec.Mounts[role]})
	}
	for _, f := range ours {
		if f[1] != "" && !run.Flags().Changed(f[0]) { // plimsoll run takes each once
			o.argv = append(o.argv, "--"+f[0], f[1])
		}
	}
	o.argv = append(o.argv, flags...)
	env.Notef("lab: plimsoll array apply plimsoll.yaml --yes && %s", strings.Join(o.argv, " "))
	return startLab(cmd.Context(), env, spec, o)
}

func startLab(ctx context.Context, env *form.Env, spec *lab.Spec, o *labOptions) error {
	out, err := sys.MakePath(o.Out, 0o777) // refused now rather than when all is done
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return err
	}
	g, err := lab.Start(ctx, env.Machine, lab.Config{Spec: spec, Dir: o.Keep, Log: env.Notes()})
	if err != nil {
		return err
	}
	err = inLab(ctx, env, g, o)
	return errors.Join(err, g.Stop())
}

func inLab(ctx context.Context, env *form.Env, g *lab.Guest, o *labOptions) error {
	for _, name := range o.Put {
		if err := g.PutFile(ctx, path.Join("/root", filepath.Base(name)), 0o755, name); err != nil {
			return err
		}
	}
	if len(o.argv) == 0 {
		return nil
	}
	if o.Topology != "" {
		if err := applyLayout(ctx, env, g); err != nil {
			return err
		}
	}
	code, err := attach(ctx, env, g, o.shell, o.argv...)
	if o.shell {
		code = 0 // that of the last thing typed
	}
	// What was measured comes out also after a Ctrl-C or a failed verdict.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	fetched := g.Fetch(late, "/root/runs", o.Out)
	if errors.Is(fetched, fs.ErrNotExist) {
		fetched = nil
	}
	return errors.Join(err, guestVerdict(o.argv, code), fetched)
}

// applyLayout builds the declared arrays with the limits lifted: a mirror's first synchronisation
// would take hours at the lab's rates.
func applyLayout(ctx context.Context, env *form.Env, g *lab.Guest) error {
	apply := []string{"plimsoll", "array", "apply", "plimsoll.yaml", "--yes"}
	if err := g.Unlimit(); err != nil {
		return err
	}
	code, err := attach(ctx, env, g, false, apply...)
	return errors.Join(err, guestVerdict(apply, code), g.Limit())
}

// guestVerdict makes the guest's exit status this program's.
func guestVerdict(argv []string, code int) error {
	switch code {
	case 0:
		return nil
	case 3:
		return form.ErrVerdict
	case 4:
		return form.ErrInvalid
	}
	return fmt.Errorf("%s in the lab: exit status %d", argv[0], code)
}
