package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// ProbeTime is how long each member is read by Probe, and all of them together at the end.
const ProbeTime = 5 * time.Second

// Probe reads 8 KiB blocks at random from each device alone, one after the other, and then from all
// at once, each for this long. The devices are opened for reading only. Begun is called before
// each, with its number from 0; the last is all together.
func Probe(ctx context.Context, m *sys.Machine, devices []diagnose.Probed, each time.Duration, begun func(int)) error {
	p := prober{m, each}
	for i := range devices {
		begun(i)
		if err := p.alone(ctx, &devices[i]); err != nil {
			return err
		}
	}
	if len(devices) < 2 {
		return nil
	}
	begun(len(devices))
	return p.together(ctx, devices)
}

// short reads all devices together, and then each of those alone that gave too little. It takes no longer than
// two reads on a sound array of any size.
func (p prober) short(ctx context.Context, devices []diagnose.Probed, short func() []int) error {
	if err := p.together(ctx, devices); err != nil {
		return err
	}
	for _, i := range short() {
		if err := p.alone(ctx, &devices[i]); err != nil {
			return err
		}
	}
	return nil
}

// prober reads from devices with fio.
type prober struct {
	m    *sys.Machine
	each time.Duration
}

// alone reads from one device.
func (p prober) alone(ctx context.Context, d *diagnose.Probed) error {
	jobs, err := p.read(ctx, []diagnose.Probed{*d})
	if err != nil {
		return fmt.Errorf("/dev/%s: %w", d.Device, err)
	}
	j, ok := jobs[d.Device]
	if !ok || j.Read.N == 0 {
		return fmt.Errorf("/dev/%s: fio read nothing from it", d.Device)
	}
	d.Alone, d.Latency = j.Read.IOPS, units.Latency(j.Read.Clat.Mean)
	return nil
}

// together reads from all devices at once.
func (p prober) together(ctx context.Context, devices []diagnose.Probed) error {
	jobs, err := p.read(ctx, devices)
	if err != nil {
		return err
	}
	for i := range devices {
		devices[i].Together = jobs[devices[i].Device].Read.IOPS
	}
	return ctx.Err()
}

func (p prober) read(ctx context.Context, some []diagnose.Probed) (map[string]fio.Job, error) {
	job, free, err := sys.MemFile("probe.fio", []byte(probeJob(some, p.each)))
	if err != nil {
		return nil, err
	}
	defer free()
	found := map[string]fio.Job{}
	var printed []string
	err = running.Run(ctx, p.m, running.Invocation{
		JobFile: job, Raw: io.Discard, Read: output.ParseJSON, Limit: p.each + time.Minute,
		Doc: func(o *fio.Output) {
			for _, j := range o.Jobs {
				found[j.Name] = j
			}
		},
		Text: func(line string) { printed = append(printed, line) },
	})
	if err != nil && len(printed) > 0 {
		err = fmt.Errorf("%w (%s)", err, strings.Join(printed, "; "))
	}
	return found, err
}

// probeJob reads from the devices at once. rw=randread opens them for reading only. Its first
// quarter is not counted: volumes save up a moment of unused allowance.
func probeJob(devices []diagnose.Probed, each time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"[global]\nioengine=libaio\ndirect=1\nrw=randread\nbs=8k\niodepth=16\n"+
			"time_based=1\nramp_time=%dms\nruntime=%dms\nallow_file_create=0\n",
		each.Milliseconds()/4,
		each.Milliseconds()*3/4,
	)
	for _, d := range devices {
		fmt.Fprintf(&b, "[%s]\nfilename=/dev/%s\n", d.Device, d.Device)
	}
	return b.String()
}

// probe reads the members of the arrays of a run before it measures.
func (r *runner) probe(ctx context.Context) ([]diagnose.Probe, error) {
	if r.plan.Settings.Probe == 0 {
		return nil, nil
	}
	var all []diagnose.Probe
	for _, a := range r.plan.Topology.Arrays {
		p := diagnose.ProbeOf(&a)
		if len(p.Members) < 2 {
			continue
		}
		r.emit(Noted{fmt.Sprintf("probing %s: reading from its %d volumes", a.Name, len(p.Members))})
		err := prober{r.m, r.plan.Settings.Probe}.short(ctx, p.Members, func() []int { return p.Short(&a) })
		if err != nil {
			return all, fmt.Errorf("--probe reads from the volumes of %s themselves, which needs root: %w", a.Name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// ErrNoMembers is what there is nothing to probe of.
var ErrNoMembers = errors.New("there are no block devices below it to probe")
