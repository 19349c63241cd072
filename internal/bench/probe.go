package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// ProbeTime is how long each member is read by Probe, and all of them together at the end.
const ProbeTime = 5 * time.Second

// Probe reads 8 KiB blocks at random from each device alone, one after the other, and then from all
// at once, each for this long. The devices are opened for reading only. Begun is called before
// each, with its number from 0; the last is all together.
func Probe(ctx context.Context, m *sys.Machine, devices []diagnose.Probed, each time.Duration, begun func(int)) error {
	dir, err := os.MkdirTemp("", "plimsoll-probe-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // two small files
	read := func(some []diagnose.Probed) (map[string]fio.Job, error) {
		job := filepath.Join(dir, "probe.fio")
		if err := os.WriteFile(job, []byte(probeJob(some, each)), 0o600); err != nil {
			return nil, err
		}
		found := map[string]fio.Job{}
		var said []string
		err := fio.Run(ctx, m, fio.Invocation{
			JobFile: job, Raw: io.Discard, State: dir, Limit: each + time.Minute,
			Doc: func(o *fio.Output) {
				for _, j := range o.Jobs {
					found[j.Name] = j
				}
			},
			Text: func(line string) { said = append(said, line) },
		})
		if err != nil && len(said) > 0 {
			err = fmt.Errorf("%w (%s)", err, strings.Join(said, "; "))
		}
		return found, err
	}
	for i := range devices {
		begun(i)
		jobs, err := read(devices[i : i+1])
		if err != nil {
			return fmt.Errorf("/dev/%s: %w", devices[i].Device, err)
		}
		j, ok := jobs[devices[i].Device]
		if !ok || j.Read.N == 0 {
			return fmt.Errorf("/dev/%s: fio read nothing from it", devices[i].Device)
		}
		devices[i].Alone, devices[i].Latency = j.Read.IOPS, units.Latency(j.Read.Clat.Mean)
	}
	if len(devices) < 2 {
		return nil
	}
	begun(len(devices))
	jobs, err := read(devices)
	if err != nil {
		return err
	}
	for i := range devices {
		devices[i].Together = jobs[devices[i].Device].Read.IOPS
	}
	return ctx.Err()
}

// probeJob reads from the devices at once. rw=randread opens them for reading only.
func probeJob(devices []diagnose.Probed, each time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"[global]\nioengine=libaio\ndirect=1\nrw=randread\nbs=8k\niodepth=16\n"+
			"time_based=1\nruntime=%dms\nallow_file_create=0\n",
		each.Milliseconds(),
	)
	for _, d := range devices {
		fmt.Fprintf(&b, "[%s]\nfilename=/dev/%s\n", d.Device, d.Device)
	}
	return b.String()
}

// ErrNoMembers is what there is nothing to probe of.
var ErrNoMembers = errors.New("there are no block devices below it to probe")
