package machine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/block"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

type inspectOptions struct {
	form.LayoutOptions
	paths    []string
	Format   string   `formats:"plain"`
	Capture  string   `flag:"capture"`
	Captured string   `flag:"captured"`
	All      bool     `flag:"all"`
	Yaml     []string `flag:"yaml"`
}

// NewInspect is the command plimsoll inspect.
func NewInspect(env *form.Env) *cobra.Command {
	var o inspectOptions
	cmd := form.Command(env, "inspect", nil, &o, o.run)
	o.AddFlags(cmd.Flags())
	return cmd
}

func (o *inspectOptions) run(ctx context.Context, env *form.Env, args []string) error {
	if o.paths = args; len(args) > len(topology.Roles) {
		return form.Usagef("%d paths: want at most one per role, data and wal", len(args))
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return err
	}
	m := env.Machine
	if o.Captured != "" {
		if m, err = capturedMachine(o.Captured, m); err != nil {
			return err
		}
	}
	if o.Capture != "" {
		return capture(m, o.Capture)
	}
	if o.All || len(o.Yaml) > 0 {
		return o.inventory(ctx, env, m)
	}
	paths, err := o.targets()
	if err != nil {
		return err
	}
	t, err := topology.Detect(ctx, m, paths, decl)
	if err != nil {
		return err
	}
	return form.Render(env, o.Format, machine.Inspect(t))
}

// inventory lists the disks, or writes some of them into a plimsoll.yaml.
func (o *inspectOptions) inventory(ctx context.Context, env *form.Env, m *sys.Machine) error {
	inv, err := topology.TakeInventory(ctx, m)
	if err != nil {
		return err
	}
	if len(o.Yaml) > 0 {
		var file strings.Builder
		file.WriteString("arrays:\n")
		taken := map[string]bool{}
		for _, d := range o.Yaml {
			array, err := inv.Pick(d, taken)
			if err != nil {
				return form.Hint(err, "plimsoll inspect --all")
			}
			file.WriteString(array)
		}
		_, err = io.WriteString(env.Out, file.String())
		return err
	}
	return form.Render(env, o.Format, machine.Disks(inv))
}

// targets gives the paths their roles: one is for both, none is the current directory.
func (o *inspectOptions) targets() (map[topology.Role]string, error) {
	paths := o.paths
	switch {
	case len(paths) > 0:
	case o.Captured != "":
		paths = []string{"/"}
	default:
		paths = []string{"."}
	}
	roles := map[topology.Role]string{}
	for i, role := range topology.Roles {
		p := paths[min(i, len(paths)-1)]
		if err := form.MustExist(p); err != nil && o.Captured == "" {
			return nil, err
		}
		roles[role] = p
	}
	return roles, nil
}

// capturedMachine reads an archive by --capture. Its programs are not there, nor its devices.
func capturedMachine(file string, host *sys.Machine) (*sys.Machine, error) {
	archive, err := sys.ReadFile(file, sys.JSONLimit)
	if err != nil {
		return nil, err
	}
	root := block.Captured(archive)
	if _, err := fs.Stat(root, "proc/self/mountinfo"); err != nil {
		return nil, form.Usagef("%s: there is no captured machine in it; plimsoll inspect --capture writes one", file)
	}
	return &sys.Machine{
		Root: root,
		Run: func(_ context.Context, _ io.Writer, argv ...string) error {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		},
		Now: host.Now,
	}, nil
}

func capture(m *sys.Machine, file string) error {
	var archive bytes.Buffer
	if err := block.Capture(&archive, m); err != nil {
		return err
	}
	return sys.WriteFile(file, archive.Bytes(), 0o644)
}
