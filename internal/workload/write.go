package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// YAML writes a demand so that Parse reads it back. Lines of comment stand at the top.
func (d *Demand) YAML(comment ...string) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	for _, c := range comment {
		line("# %s", text.Clean(c, 0))
	}
	line("workload: %s", d.Name)
	if d.About != "" {
		line("about: %s", text.Quote(d.About))
	}
	if d.Role == topology.WAL {
		line("role: wal")
	}
	if d.Capacity > 0 {
		line("capacity: %s", d.Capacity.Arg())
	}
	if d.Durability.AFR > 0 {
		line("durability: {afr: %s}", units.ShareArg(d.Durability.AFR))
	} else if d.Durability.Survives != "" {
		line("durability: {survives: %s}", d.Durability.Survives)
	}
	if len(d.AtLeast) > 0 {
		line("at_least:                             # the storage was full meanwhile: the true demand may be larger")
		for _, why := range d.AtLeast {
			line("  - %s", text.Quote(why))
		}
	}
	commits := ""
	streams := 0
	for i := range d.Streams {
		s := &d.Streams[i]
		if s.Commits {
			commits = fmt.Sprintf("commits: {rate: %s/s, clients: %d}", s.IOPS.Arg(), max(s.Threads, 1))
			continue
		}
		if streams == 0 {
			line("streams:")
		}
		streams++
		s.yaml(line)
	}
	if commits != "" {
		line("%s", commits)
	}
	return b.String()
}

func (s *Stream) yaml(line func(string, ...any)) {
	line("  - name: %s", s.Name)
	order := "sequential"
	if s.Random {
		order = "random"
	}
	switch {
	case !s.Writes():
		line("    does: %s read", order)
	case !s.Reads():
		line("    does: %s write", order)
	default:
		line("    does: %s readwrite", order)
		line("    reads: %s", units.ShareArg(s.ReadShare))
	}
	if len(s.Blocks) == 1 {
		line("    block: %s", s.Blocks[0].Size.Arg())
	} else {
		parts := make([]string, len(s.Blocks))
		for i, b := range s.Blocks {
			parts[i] = b.Size.Arg() + ": " + units.ShareArg(b.Share)
		}
		line("    block: {%s}", strings.Join(parts, ", "))
	}
	if s.Threads > 0 {
		line("    threads: %d", s.Threads)
	}
	if s.Depth > 0 {
		line("    depth: %d", s.Depth)
	}
	line("    rate: %s", s.rateText())
	if s.Poisson {
		line("    arrivals: poisson")
	}
	if s.Sync.Kind != "" {
		line("    sync: {%s: %d}", s.Sync.Kind, max(s.Sync.Each, 1))
	}
	if parts := s.Latency.yaml(); len(parts) > 0 {
		line("    latency: {%s}", strings.Join(parts, ", "))
	}
	if b := s.Burst; b != nil {
		after := ""
		if b.After > 0 {
			after = ", after: " + b.After.String()
		}
		line("    burst: {for: %s, every: %s%s}", b.For, b.Every, after)
	}
	if s.Apart {
		line("    apart: true")
	}
}

// rateText is the rate in MiB/s where that is whole, else in IOPS, each so that it reads back the
// same.
func (s *Stream) rateText() string {
	if mib := float64(s.Rate / units.MiBPerSec); mib >= 1 && math.Abs(mib-math.Round(mib)) < 1e-9 {
		return fmt.Sprintf("%.0fMiB/s", mib)
	}
	return s.IOPS.Arg() + " IOPS"
}

func (l Latency) yaml() (parts []string) {
	for _, p := range l.Percentiles {
		parts = append(parts, "p"+strconv.FormatFloat(p.P, 'f', -1, 64)+": "+p.Limit.String())
	}
	var over []string
	for _, o := range l.Over {
		over = append(over, o.Limit.String()+": "+units.ShareArg(o.Share))
	}
	if len(over) > 0 {
		parts = append(parts, "over: {"+strings.Join(over, ", ")+"}")
	}
	return parts
}

// round a duration to a tenth of a second from a second on: what a burst was measured as.
func round(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}
