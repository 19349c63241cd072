// Package machine has the commands that look at this machine and change its settings: check, why,
// inspect, tune, clean and lab.
package machine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/diagnose"
	atwork "plimsoll/internal/diagnose/live"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
	"plimsoll/internal/verdict"
)

// CheckOptions are the flags of check, which a host of a fleet takes, too.
type CheckOptions struct {
	form.LayoutOptions
	form.PolicyOptions
	form.PathOptions
	role     topology.Role // the only one to look at; empty for both
	Format   string        `formats:"all"`
	Probe    bool          `flag:"probe"`
	Captured string        `flag:"captured"`
	ProbeFor time.Duration `flag:"probe-time"`
}

// NewCheck is the command plimsoll check.
func NewCheck(env *form.Env) *cobra.Command {
	o := CheckOptions{ProbeFor: bench.ProbeTime}
	cmd := form.Command(env, "check", nil, &o, o.run)
	o.Looking(cmd)
	return cmd
}

// Looking adds the flags that say what is looked at and what counts.
func (o *CheckOptions) Looking(cmd *cobra.Command) {
	o.PathOptions.AddFlags(cmd.Flags())
	o.LayoutOptions.AddFlags(cmd.Flags())
	o.PolicyOptions.AddFlags(cmd.Flags())
}

// Checked is what check prints as JSON.
type Checked struct {
	Findings []finding.Finding `json:"findings"`
	Passed   []finding.Passed  `json:"passed"`
	Notes    []string          `json:"notes"`
	Facts    *host.Facts       `json:"facts"`
	// OtherLoad is what the devices did in lookTime without plimsoll.
	OtherLoad []telemetry.DeviceUse `json:"other_load"`
	// Topology is what was looked at, and Policy what counts.
	Topology *topology.Topology `json:"-"`
	Policy   verdict.Policy     `json:"-"`
}

func (o *CheckOptions) run(ctx context.Context, env *form.Env, args []string) (err error) {
	o.Args = args
	if o.Probe {
		return o.runProbe(ctx, env)
	}
	if o.Captured != "" {
		there := *env
		if there.Machine, err = capturedMachine(o.Captured, env.Machine); err != nil {
			return err
		}
		env = &there
	}
	all, err := o.Look(ctx, env)
	if err != nil {
		return err
	}
	if err := form.Render(env, o.Format, machine.Check(all.Findings, all.Passed, all.Notes, all)); err != nil {
		return err
	}
	if HasErrors(all.Findings) || all.Policy.Fails("", all.Findings) {
		return form.ErrVerdict
	}
	return Unseen(all.Topology)
}

// HasErrors says that one of the findings is an error.
func HasErrors(found []finding.Finding) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Severity.Rank() >= finding.Fail.Rank() })
}

const otherOwner = "another owner of a setting: "

// Look finds out what is wrong with this machine and the storage below the paths.
func (o CheckOptions) Look(ctx context.Context, env *form.Env) (*Checked, error) {
	t, err := o.detect(ctx, env)
	if err != nil {
		return nil, err
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return nil, err
	}
	policy, err := o.Policy(decl)
	if err != nil {
		return nil, err
	}
	c := &diagnose.Case{Topology: t, Host: bench.Facts(ctx, env.Machine)}
	notes := c.Host.Notes
	if env.Here {
		// Last, for starting dmesg and fio reads from the drives too.
		seen := o.atWork(ctx, env.Machine, t)
		if c.OtherLoad, err = otherLoad(ctx, env.Machine, t); err != nil {
			notes = append(notes, "other load: "+err.Error())
		}
		c.AtWork = <-seen
	} else {
		notes = []string{"a captured machine: its load, kernel log and fio were not examined"}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := append([]finding.Finding{}, rules.Judge(c, policy.Disable)...) // [] in JSON, not null
	for _, f := range c.AtWork {
		found = append(found, finding.Judge(atwork.InCheck(), f, policy.Disable)...)
	}
	finding.Sort(found)
	tuner := tune.Here(env.Machine)
	if changes, err := tuner.Plan(t.Tree, found, nil); err == nil { // what cannot be set has no owner either
		for _, rival := range tuner.Rivals(changes) {
			notes = append(notes, otherOwner+rival)
		}
	}
	return &Checked{found, rules.Passes(c), slices.Concat(notes, t.Notes), c.Host, c.OtherLoad, t, policy}, nil
}

// atWork looks who is at work on the storage while otherLoad looks at its devices. What cannot be
// seen is left out.
func (o CheckOptions) atWork(ctx context.Context, m *sys.Machine, t *topology.Topology) <-chan []*atwork.Facts {
	done := make(chan []*atwork.Facts, 1)
	var paths []string
	for _, target := range t.Targets {
		if path, err := filepath.Abs(target.Path); err == nil && target.Device != "" {
			paths = text.Once(paths, path)
		}
	}
	go func() {
		var all []*atwork.Facts
		for _, path := range paths {
			f, err := bench.Watch(ctx, m, bench.Watching{Path: path, For: lookTime, Quick: true})
			if err == nil && f.Window != nil {
				all = append(all, f)
			}
		}
		done <- all
	}()
	return done
}

// Unseen is the error that nothing below a path could be checked: no device is visible, and no ZFS says how it is set.
func Unseen(t *topology.Topology) error {
	for _, target := range t.Targets {
		dataset := target.Mount != nil && target.Mount.ZFS != nil
		if target.Device == "" && target.Array == "" && !dataset {
			return fmt.Errorf("%s could not be checked: no block device is visible below it; run check on the host, or name "+
				"the device", text.Quote(target.Path))
		}
	}
	return nil
}

// detect finds out what lies below the paths. Unlike run it needs no right to write there.
func (o CheckOptions) detect(ctx context.Context, env *form.Env) (*topology.Topology, error) {
	paths, err := o.Roles()
	if env.Here {
		paths, err = o.Existing()
	}
	if err != nil {
		return nil, err
	}
	if o.role != "" {
		paths = map[topology.Role]string{o.role: paths[o.role]}
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return nil, err
	}
	return topology.Detect(ctx, env.Machine, paths, decl)
}

// lookTime leaves the whole of check within a second.
const lookTime = 800 * time.Millisecond

// otherLoad watches the devices of the targets for lookTime.
func otherLoad(ctx context.Context, m *sys.Machine, t *topology.Topology) ([]telemetry.DeviceUse, error) {
	var devices []string
	for _, target := range t.Targets {
		for _, d := range target.Devices {
			devices = text.Once(devices, d)
		}
	}
	if len(devices) == 0 {
		return nil, errors.New("no block device to observe")
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
