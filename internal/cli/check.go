package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/report"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
)

type checkOptions struct {
	layoutOptions
	data, wal string
	role      topology.Role // the only one to look at; empty for both
	json      bool
}

func newCheckCmd(env *Env) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say what is wrong with the storage and the machine around it, before anything is measured",
		Long: `Say what is wrong with the storage and the machine around it, before anything is measured: the state and layout
of arrays, mounts, queues, read-ahead, processors, clock, memory, fstab, mdadm.conf, other load, the kernel's log;
on EC2 also how much of their burst credits the volumes and the instance have left.

Nothing is written, and root is not needed: what could not be seen without it is said. It looks at the devices for
0.8 s. The exit code is 3 when a finding is an error.`,
		Example: `  plimsoll check --data /data --wal /wal
  plimsoll check --data /data --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCheck(cmd.Context(), env, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "`PATH` of the data role: a directory or a device")
	f.StringVar(&o.wal, "wal", "", "`PATH` of the log role; with one path both roles use it, with none the current directory")
	f.BoolVar(&o.json, "json", false, "print findings and facts as JSON")
	o.addFlags(f)
	return cmd
}

// checked is what check prints as JSON.
type checked struct {
	Findings []finding.Finding `json:"findings"`
	Passed   []finding.Passed  `json:"passed"`
	Notes    []string          `json:"notes"`
	Facts    *host.Facts       `json:"facts"`
	// OtherLoad is what the devices did in lookTime without plimsoll.
	OtherLoad []telemetry.DeviceUse `json:"other_load"`
}

func runCheck(ctx context.Context, env *Env, o checkOptions) error {
	t, err := o.detect(ctx, env)
	if err != nil {
		return err
	}
	c := &diagnose.Case{Topology: t, Host: facts(ctx, env.Machine)}
	var notes []string
	// Last, for starting dmesg and fio reads from the drives too.
	if c.OtherLoad, err = look(ctx, env.Machine, t); err != nil {
		notes = append(notes, "other load: "+err.Error())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	found := append([]finding.Finding{}, diagnose.Judge(c)...) // [] in JSON, not null
	all := checked{found, diagnose.Passes(c, found), slices.Concat(notes, t.Notes, c.Host.Notes), c.Host, c.OtherLoad}
	if o.json {
		err = report.WriteJSON(env.Out, "check", all)
	} else {
		err = report.Findings(env.Out, all.Findings, all.Passed, all.Notes, reportOptions(env))
	}
	if err == nil && slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Severity == finding.Fail || f.Severity == finding.Invalid }) {
		return errVerdict
	}
	return err
}

// detect finds out what lies below the paths. Unlike run it needs no right to write there.
func (o checkOptions) detect(ctx context.Context, env *Env) (*topology.Topology, error) {
	paths, err := runOptions{data: o.data, wal: o.wal}.paths()
	if err != nil {
		return nil, err
	}
	if o.role != "" {
		paths = map[topology.Role]string{o.role: paths[o.role]}
	}
	for _, role := range topology.Roles {
		if paths[role] == "" {
			continue
		}
		if _, err := os.Stat(paths[role]); err != nil {
			return nil, fmt.Errorf("%s: %w; name a directory or a device", paths[role], errors.Unwrap(err))
		}
	}
	decl, err := o.declaration()
	if err != nil {
		return nil, err
	}
	return topology.Detect(ctx, env.Machine, paths, decl)
}

// facts reads the machine's settings, and which fio it has.
func facts(ctx context.Context, m *sys.Machine) *host.Facts {
	f := host.Read(ctx, m)
	if v, err := fio.Installed(ctx, m); err == nil {
		f.Fio = v.String()
	} else {
		f.Notes = append(f.Notes, "fio: "+err.Error())
	}
	return f
}

// lookTime leaves the whole of check within a second.
const lookTime = 800 * time.Millisecond

// look watches the devices of the targets for lookTime.
func look(ctx context.Context, m *sys.Machine, t *topology.Topology) ([]telemetry.DeviceUse, error) {
	var devices []string
	for _, target := range t.Targets {
		for _, d := range target.Devices {
			if !slices.Contains(devices, d) {
				devices = append(devices, d)
			}
		}
	}
	if len(devices) == 0 {
		return nil, errors.New("there is no block device to look at")
	}
	s, err := telemetry.Start(m, devices)
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(lookTime):
	case <-ctx.Done():
	}
	series, err := s.Stop()
	if err != nil {
		return nil, err
	}
	return series.Use(0, time.Hour), nil
}
