package topology

import (
	"path"
	"strings"
)

// tally is what was done so far of what one limit of a control group limits: I/Os or bytes.
type tally struct {
	own    float64 // by the group, as its file says
	others float64 // by all other groups of version 1, as theirs say
	// device is what the device has done, and open at most what was sent to it and is not done.
	device, open float64
	known        bool // the device's own counters were there
}

// done is what a group did between two tallies.
//
// Version 1 counts a group's I/Os as they are asked for, and those that wait at the limit with them:
// a limit of 100 per second lets 1,000 be counted at once and none in the ten seconds that follow
// (measured on 6.18; older kernels count what they let go). The device did no more than the group,
// and the group no less than what the device did that no other group can have asked for.
func (after tally) done(before tally) float64 {
	own := max(0, after.own-before.own)
	if !after.known || !before.known {
		return own
	}
	device := max(0, after.device-before.device)
	return min(device, max(own, device-(after.others-before.others)-before.open))
}

// largestRequest bounds the bytes of one request (BLK_DEF_MAX_SECTORS_CAP: 1,280 KiB).
const largestRequest = 1280 << 10

// tallies reads what was done of each limit.
func (g *Groups) tallies() []tally {
	all := make([]tally, len(g.limits))
	var sums map[served]float64
	var devices map[string]counters
	for i := range g.limits {
		l, t := &g.limits[i], &all[i]
		if l.Version == 2 {
			t.own = g.count(l)
			continue
		}
		if sums == nil {
			sums, devices = g.served(), g.devices()
		}
		way := servedOf(l)
		t.own = g.servedBy(path.Dir(strings.TrimPrefix(l.File, "/")), way.file)[way]
		t.others = sums[way] - t.own
		if c, ok := devices[l.Number]; ok {
			t.known = true
			t.device, t.open = c.of(l.What)
		}
	}
	return all
}

// served is a counter of a group of version 1.
type served struct{ file, number, way string }

func servedOf(l *GroupLimit) served {
	s := served{"blkio.throttle.io_serviced", l.Number, "Read"}
	if strings.HasSuffix(l.What, "bps") {
		s.file = "blkio.throttle.io_service_bytes"
	}
	if l.What[0] == 'w' {
		s.way = "Write"
	}
	return s
}

// served sums what the groups of version 1 count.
func (g *Groups) served() map[served]float64 {
	sums := map[served]float64{}
	for _, dir := range g.dirs {
		for _, file := range []string{"blkio.throttle.io_serviced", "blkio.throttle.io_service_bytes"} {
			for k, n := range g.servedBy(dir, file) {
				sums[k] += n
			}
		}
	}
	return sums
}

// servedBy reads "8:0 Read 7" of one file of a group.
func (g *Groups) servedBy(dir, file string) map[served]float64 {
	counts := map[served]float64{}
	for line := range strings.Lines(g.read.Text(dir + "/" + file)) {
		if f := strings.Fields(line); len(f) == 3 && g.names[f[0]] != "" {
			counts[served{file, f[0], f[1]}] = number(f[2])
		}
	}
	return counts
}

// counters are those of a line of /proc/diskstats (Documentation/admin-guide/iostats.rst).
type counters struct{ reads, readBytes, writes, writeBytes, open float64 }

// of is what the device did of what is limited, and the most of it that it had open.
func (c counters) of(what string) (done, open float64) {
	switch what {
	case "riops":
		return c.reads, c.open
	case "wiops":
		return c.writes, c.open
	case "rbps":
		return c.readBytes, c.open * largestRequest
	}
	return c.writeBytes, c.open * largestRequest
}

// devices reads /proc/diskstats, by major:minor. An I/O that was merged into another is one that a
// group asked for.
func (g *Groups) devices() map[string]counters {
	const sector = 512
	all := map[string]counters{}
	for line := range strings.Lines(g.read.Text("proc/diskstats")) {
		f := strings.Fields(line)
		if len(f) < 12 || g.names[f[0]+":"+f[1]] == "" {
			continue
		}
		n := func(i int) float64 { return number(f[2+i]) }
		all[f[0]+":"+f[1]] = counters{
			reads: n(1) + n(2), readBytes: sector * n(3), writes: n(5) + n(6), writeBytes: sector * n(7), open: n(9),
		}
	}
	return all
}
