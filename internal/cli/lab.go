package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"text/tabwriter"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/agent"

	"github.com/spf13/cobra"
)

func newLabCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Try layouts out on a simulated machine with volumes limited like EBS",
		Long: `The lab is a QEMU guest with a real kernel, real md, LVM and XFS, and NVMe volumes that are limited in IOPS and
throughput, and slow or faulty, as a lab.yaml says. This plimsoll is inside.`,
	}
	cmd.AddCommand(newLabListCmd(env), newLabRunCmd(env), newLabShellCmd(env))
	return cmd
}

func newLabListCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the built-in machines",
		Args:    cobra.NoArgs,
		Example: "  plimsoll lab list",
		RunE: func(*cobra.Command, []string) error {
			all, err := lab.Presets()
			if err != nil {
				return err
			}
			t := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
			for _, s := range all {
				fmt.Fprintf(t, "%s\t%s\n", s.Name, s.Description)
			}
			return t.Flush()
		},
	}
}

type labOptions struct {
	preset string
	shell  bool
	argv   []string
	scale  float64
	keep   string
	out    string
	put    []string
	nice   int
}

func (o *labOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&o.scale, "scale", 0, "scale rates by `FACTOR` instead of as the machine's file says")
	cmd.Flags().StringVar(&o.keep, "keep", "", "keep the volumes and the console's log in `DIR`; volumes found there are used as they are")
	cmd.Flags().StringVar(&o.out, "out", ".", "copy the guest's runs/ to `DIR`")
	cmd.Flags().StringArrayVar(&o.put, "put", nil, "copy `FILE` into the guest's /root first")
	cmd.Flags().IntVar(&o.nice, "nice", 0, "run QEMU with this niceness")
}

func newLabRunCmd(env *Env) *cobra.Command {
	var o labOptions
	cmd := &cobra.Command{
		Use:   "run PRESET|FILE [-- COMMAND...]",
		Short: "Start a machine, run a command in it, bring its runs/ out, stop it",
		Args:  cobra.MinimumNArgs(1),
		Example: `  plimsoll lab run gp3x8-raid10 -- plimsoll run db --data /data --wal /wal --runtime 10s
  plimsoll lab run lab.yaml -- mdadm --detail /dev/md/data
  plimsoll lab run slow-member -- plimsoll check --data /data`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.preset, o.argv = args[0], args[1:]
			return runLab(cmd.Context(), env, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func newLabShellCmd(env *Env) *cobra.Command {
	o := labOptions{argv: []string{"bash"}, shell: true}
	cmd := &cobra.Command{
		Use:   "shell PRESET|FILE",
		Short: "Start a machine and open a shell in it",
		Args:  cobra.ExactArgs(1),
		Example: `  plimsoll lab shell gp3x8-raid10
  echo cat /proc/mdstat | plimsoll lab shell degraded`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.preset = args[0]
			return runLab(cmd.Context(), env, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// newLabAgentCmd is the guest's side: the initramfs runs it.
func newLabAgentCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "lab-agent PORT",
		Short:  "Serve the host in a lab guest",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			port, err := agent.OpenPort(args[0])
			if err != nil {
				return err
			}
			return agent.Serve(cmd.Context(), port)
		},
	}
}

func loadLab(o labOptions) (*lab.Spec, error) {
	spec, err := lab.Preset(o.preset)
	if errors.Is(err, lab.ErrNoPreset) {
		text, readErr := os.ReadFile(o.preset)
		if errors.Is(readErr, fs.ErrNotExist) {
			return nil, hint(fmt.Errorf("%q is neither a preset nor a file", o.preset), "plimsoll lab list")
		}
		if readErr != nil {
			return nil, readErr
		}
		spec, err = lab.ParseSpec(o.preset, text)
	}
	if err == nil && o.scale != 0 {
		if o.scale < 0 || o.scale > 1 {
			return nil, usage(fmt.Errorf("--scale %g: want more than 0 and at most 1", o.scale))
		}
		spec.Scale = o.scale
	}
	return spec, err
}

func runLab(ctx context.Context, env *Env, o labOptions) error {
	spec, err := loadLab(o)
	if err != nil {
		return err
	}
	g, err := lab.Start(ctx, env.Machine, lab.Config{Spec: spec, Dir: o.keep, Nice: o.nice, Log: env.Err})
	if err != nil {
		return err
	}
	err = inLab(ctx, env, g, o)
	return errors.Join(err, g.Stop())
}

func inLab(ctx context.Context, env *Env, g *lab.Guest, o labOptions) error {
	for _, name := range o.put {
		if err := g.PutFile(ctx, path.Join("/root", filepath.Base(name)), 0o755, name); err != nil {
			return err
		}
	}
	if len(o.argv) == 0 {
		return nil
	}
	code, err := attach(ctx, env, g, o)
	if o.shell {
		code = 0 // that of the last thing typed
	}
	// What was measured comes out also after a Ctrl-C or a failed verdict.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	fetched := g.Fetch(late, "/root/runs", o.out)
	if errors.Is(fetched, fs.ErrNotExist) {
		fetched = nil
	}
	return errors.Join(err, guestVerdict(o.argv, code), fetched)
}

// guestVerdict makes the guest's exit status this program's.
func guestVerdict(argv []string, code int) error {
	switch code {
	case 0:
		return nil
	case 3:
		return errVerdict
	case 4:
		return errInvalid
	}
	return fmt.Errorf("%s in the lab: exit status %d", argv[0], code)
}
