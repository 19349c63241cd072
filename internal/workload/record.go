package workload

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// Recording is what was seen of a live machine.
type Recording struct {
	Series    *telemetry.Series
	Processes []Process // those with files on the devices that moved bytes, the most first
	// Blind says that some processes could not be looked into: those of other users, or, AsRoot, ones
	// that are kept even from root.
	Blind, AsRoot bool
}

// Process is what one process read from and wrote to storage, in bytes per second, as /proc/PID/io
// counts it: where the kernel charges the write, which for buffered ones is when the page was made
// dirty.
type Process struct {
	PID         int
	Name        string
	Read, Write units.Rate
}

// Record watches devices until the time is over or ctx ends. It writes nothing to the machine. A
// context that ends is no error: what was seen until then is returned.
func Record(ctx context.Context, m *sys.Machine, devices []string, long time.Duration) (*Recording, error) {
	before, _ := processes(m.Root)
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
	after, blind := processes(m.Root)
	r := &Recording{Series: series, Blind: blind, AsRoot: os.Geteuid() == 0}
	uses := users(m, devices)
	seconds := 0.0
	if n := len(series.Samples); n > 1 {
		seconds = (series.Samples[n-1].At - series.Samples[0].At).Seconds()
	}
	if seconds <= 0 {
		return nil, errors.New("the time was too short to see anything")
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
	slices.SortFunc(r.Processes, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.Read+b.Write, a.Read+a.Write), cmp.Compare(a.PID, b.PID))
	})
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
	name          string
	start         string // field 22 of stat: the same number may be another process later
	read, written uint64
}

// processes reads what every process moved so far; blind when some may not be read.
func processes(root fs.FS) (all map[int]counters, blind bool) {
	all = map[int]counters{}
	entries, err := fs.ReadDir(root, "proc")
	if err != nil {
		return all, true
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		dir := "proc/" + e.Name()
		text, err := fs.ReadFile(root, dir+"/io")
		if errors.Is(err, fs.ErrPermission) {
			blind = true
		}
		if err != nil {
			continue // it ended, or is another user's
		}
		c := counters{}
		c.read, c.written = parseIO(string(text))
		if stat, err := fs.ReadFile(root, dir+"/stat"); err == nil {
			c.name, c.start = parseStat(string(stat))
		}
		all[pid] = c
	}
	return all, blind
}

// parseIO reads /proc/PID/io: bytes that were fetched from storage, and those that were to be sent
// to it less those truncated before.
func parseIO(text string) (read, written uint64) {
	var cancelled uint64
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			continue
		}
		switch key {
		case "read_bytes":
			read = n
		case "write_bytes":
			written = n
		case "cancelled_write_bytes":
			cancelled = n
		}
	}
	return read, written - min(cancelled, written)
}

// parseStat reads the name and the start time of /proc/PID/stat. The name stands in parentheses and
// may hold any of them.
func parseStat(text string) (name, start string) {
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return "", ""
	}
	if rest := strings.Fields(text[to+1:]); len(rest) > 19 {
		start = rest[19]
	}
	return text[from+1 : to], start
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
			all[i].Intervals = append(all[i].Intervals, iv)
			reads[i] += float64(u.ReadIOPS + u.WriteIOPS)
			merged[i] += float64(u.ReadMerges + u.WriteMerges)
			if b.Devices[i].Gone && len(all[i].Notes) == 0 {
				all[i].Notes = append(all[i].Notes, s.Devices[i]+" was away for a while: what happened then is not known")
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
