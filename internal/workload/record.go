package workload

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// Recording is what was seen of a live machine.
type Recording struct {
	Series *telemetry.Series
	// Processes are those with files on the devices that moved bytes, the most first, as /proc/PID/io counts it: where
	// the kernel charges the write, which for buffered ones is when the page was made dirty.
	Processes []Process
	// Blind says that some processes could not be looked into: those of other users, or, AsRoot, ones
	// that are kept even from root.
	Blind, AsRoot bool
}

// Process is what one process read from and wrote to storage.
type Process = telemetry.Process

// Record watches devices until the time is over or ctx ends. It writes nothing to the machine. A
// context that ends is no error: what was seen until then is returned.
func Record(ctx context.Context, m *sys.Machine, devices []string, long time.Duration) (*Recording, error) {
	before, _ := processes(m.Reader())
	sampler, err := telemetry.Start(m, devices)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
	series, err := sampler.Stop()
	if err != nil {
		return nil, err
	}
	after, blind := processes(m.Reader())
	r := &Recording{Series: series, Blind: blind, AsRoot: os.Geteuid() == 0}
	uses := users(m, devices)
	seconds := 0.0
	if n := len(series.Samples); n > 1 {
		seconds = (series.Samples[n-1].At - series.Samples[0].At).Seconds()
	}
	if seconds <= 0 {
		return nil, errors.New("the time was too short to see any I/O")
	}
	for pid, a := range after {
		b := before[pid] // zero for one that began meanwhile
		if b.start != a.start {
			b = counters{}
		}
		p := Process{
			PID:   pid,
			Name:  a.name,
			Read:  rateOf(b.read, a.read, seconds),
			Write: rateOf(b.written, a.written, seconds),
		}
		if p.Read+p.Write >= 1024 && uses(pid) {
			r.Processes = append(r.Processes, p)
		}
	}
	telemetry.MostFirst(r.Processes)
	return r, nil
}

// users says which processes have files on the devices: what others move is none of their load. A
// captured machine has no descriptors to ask for, and there all count.
func users(m *sys.Machine, devices []string) func(pid int) bool {
	if !m.Here {
		return func(int) bool { return true }
	}
	var all []*block.InUse
	for _, d := range devices {
		if s, err := block.ReadStack(m, "/dev/"+d); err == nil && s.Device != "" {
			all = append(all, block.NewInUse(m.Reader(), s))
		}
	}
	return func(pid int) bool {
		return slices.ContainsFunc(all, func(u *block.InUse) bool { return u.By(strconv.Itoa(pid)) })
	}
}

func rateOf(a, b uint64, seconds float64) units.Rate {
	if b < a {
		return 0
	}
	return units.Rate(float64(b-a) / seconds)
}

type counters struct {
	name                 string
	start, read, written uint64
}

// processes reads what every process moved so far; blind when some may not be read.
func processes(r *sys.Reader) (all map[int]counters, blind bool) {
	all = map[int]counters{}
	names, err := r.Names("proc")
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := r.Read("proc/" + name + "/io")
		blind = blind || errors.Is(err, fs.ErrPermission)
		if err != nil {
			continue // it ended, or is another user's
		}
		var c counters
		var cancelled uint64
		c.read, c.written, cancelled = telemetry.ParseIO(text)
		c.written -= min(cancelled, c.written)
		text, _ = r.Read("proc/" + name + "/stat")
		stat := telemetry.ParseStat(text)
		c.name, c.start = string(stat.Name), stat.Start
		all[pid] = c
	}
	return all, blind || err != nil
}

// Observe turns telemetry into intervals of a second (of every, where that is longer). Counters
// that wrapped or began again are what telemetry makes of them; a device that was gone has
// intervals of nothing, and a note.
func Observe(s *telemetry.Series, every time.Duration) []Observed {
	every = max(every, time.Second)
	if len(s.Samples) < 2 {
		return nil
	}
	all := make([]Observed, len(s.Devices))
	first, last := s.Samples[0].At, s.Samples[len(s.Samples)-1].At
	for i, name := range s.Devices {
		all[i] = Observed{Device: name, Known: true, Depth: depth(s, i)}
	}
	reads, merged := make([]float64, len(all)), make([]float64, len(all))
	for from, to := first, first; to < last; from = to {
		to = from + every
		if last-to < every/2 { // the rest is too short for an interval of its own
			to = last
		}
		a, b := s.Near(from), s.Near(to)
		length := b.At - a.At
		for i, u := range s.Use(from, to) {
			iv := Interval{
				At: to - first, Len: length, Queue: u.Queue, Util: u.Util, Flushes: float64(u.Flushes),
				Read:  Flow{float64(u.ReadIOPS), float64(u.ReadRate), u.ReadWait},
				Write: Flow{float64(u.WriteIOPS), float64(u.WriteRate), u.WriteWait},
			}
			o := &all[i]
			o.Intervals = append(o.Intervals, iv)
			reads[i] += float64(u.ReadIOPS + u.WriteIOPS)
			merged[i] += float64(u.ReadMerges + u.WriteMerges)
			if b.Devices[i].Gone && len(o.Notes) == 0 {
				o.Notes = append(o.Notes, s.Devices[i]+" was missing for a while: what happened then is not known")
			}
		}
	}
	for i := range all {
		if sum := reads[i] + merged[i]; sum > 0 {
			all[i].Merged = merged[i] / sum
		}
	}
	return all
}

// depth is the 90th percentile of the requests in flight in readings that found any.
func depth(s *telemetry.Series, device int) float64 {
	var busy []uint64
	for i := range s.Samples {
		if n := s.Samples[i].Devices[device].InFlight; n > 0 && n < 1<<20 {
			busy = append(busy, n)
		}
	}
	if len(busy) < 10 {
		return 0
	}
	slices.Sort(busy)
	return float64(busy[len(busy)*9/10])
}
