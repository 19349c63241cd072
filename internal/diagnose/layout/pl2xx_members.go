package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func idleMember(c *facts, m measurement) (f fault) {
	idle, all := c.IdleMembers(m)
	if len(idle) == 0 {
		return f
	}
	f = m.Finds(
		"%d of %s did no I/O (%s): the volume is concatenated rather than striped, or the file lies on few members.",
		len(idle), text.Plural(all, "member"), strings.Join(idle, ", "))
	for _, d := range c.MemberIOs(m) {
		f = f.Saw("I/Os of "+d.Name, uint64(d.N), "", "disk statistics, scenario "+m.Label())
	}
	if a := c.ArrayOf(m); a != nil && a.Level.Striped() && a.Origin.Kind == topology.Declared {
		f.Severity = finding.Invalid
		f.Message += fmt.Sprintf(" The declared %s of %d was not measured.", a.Level, len(a.Volumes))
	}
	return f
}

// chunkSeen is the chunk that device counters show where they contradict the one that the case
// states; 0 when nothing was split.
func chunkSeen(c *facts, m measurement) (units.Bytes, bool) {
	a := c.ArrayOf(m)
	if a == nil || m.Result == nil || !a.Level.Striped() || a.Chunk == 0 || len(m.Workloads) != 1 ||
		a.OriginOf("chunk").Kind == topology.Detected ||
		m.DisksPartial != "" {
		return 0, false
	}
	w := m.Workloads[0]
	if idle, _ := c.IdleMembers(m); len(idle) > 0 || w.ReadBS == 0 || w.ReadBS > a.Chunk {
		return 0, false
	}
	stated, seen := c.Splits(m)
	if seen == 0 || m.Total.Read.N < diagnose.EnoughReads || math.Abs(seen-stated) < diagnose.ChunkSlack*stated+0.02 {
		return 0, false
	}
	if seen < 1+diagnose.ChunkSlack && seen > 1-diagnose.ChunkSlack {
		return 0, true
	}
	chunk, sure := ceiling.InferChunk(w.ReadBS, seen, 1)
	return chunk, chunk > 0 && sure >= diagnose.SureChunk && chunk != a.Chunk
}

func wrongChunk(c *facts, m measurement) (f fault) {
	chunk, ok := chunkSeen(c, m)
	if !ok || !m.Any(fio.Workload.Reads) {
		return f
	}
	a := c.ArrayOf(m)
	stated, seen := c.Splits(m)
	measured := chunk.String() + " was measured"
	if chunk == 0 {
		measured = "no splits were measured"
	}
	return m.Finds("The declared chunk is %s, but %s.", a.Chunk, measured).
		Saw("device I/Os per I/O", text.Factor(seen), fmt.Sprintf("%s with a chunk of %s", text.Factor(stated), a.Chunk),
			"disk statistics over issued I/Os, ramp excluded")
}

// What makes a member a straggler. A queue alone proves nothing: under a closed loop it gathers on
// whichever volume is marginally behind, and healthy, identical members showed 3.3 ms and 94 ms a
// request in one run of the lab (2 and 153 ms in writes) while the array ran at its limit. A slow
// one (a quarter of its peers) showed 98 % use beside peers that idled, and the array far below its
// limit.
const (
	stragglerLeast = 200e3 // ns by which it must be slower there; below lies the noise of a guest's timers

	stragglerShort = 0.85 // … of its ceiling …

	// stragglerFree of the ceiling: no queue is suspect. Random writes of the lab stay at 0.943 to
	// 0.958 by uneven spread.
	stragglerFree = 0.90
)

func checkStraggler(c *facts, report reporter) {
	deep, sure := map[string][]diagnose.Lag{}, map[string]*fault{} // by array
	var names []string
	for _, m := range c.Measured() {
		l, ok := c.LagIn(m)
		if a := c.ArrayOf(m); !ok || a != nil && a.Degraded > 0 || !l.Deep && reachedAny(m) {
			continue
		}
		subject, worst := topOf(m), l.Slow[0]
		if g, probed := c.Probed(c.ArrayOf(m)); probed && l.Deep &&
			(g.Shared || g.Least >= diagnose.ProbeEven*g.Peers || g.Slowest != worst.Name) {
			continue // a closed loop's queue gathers somewhere: alone this member is like the others
		}
		if !slices.Contains(names, subject) {
			names = append(names, subject)
		}
		busy := l.Reached > 0 && l.Reached < stragglerShort && l.BusyAlone()
		switch {
		case !l.Deep && l.Ratio() >= diagnose.StragglerShallow && worst.Wait-l.Peers >= stragglerLeast:
			sure[subject] = diagnose.Join(sure[subject], lagFinding(l, subject, finding.Warn, "without a queue"))
		case l.Deep && busy && l.Ratio() >= diagnose.StragglerShallow:
			sure[subject] = diagnose.Join(sure[subject], lagFinding(l, subject, finding.Warn,
				finding.Says("while its peers idle and the array reaches %v of its ceiling", l.Reached)))
		case l.Deep:
			deep[subject] = append(deep[subject], l)
		}
	}
	for _, n := range names {
		if sure[n] == nil {
			sure[n] = suspect(n, deep[n])
		}
		if sure[n] != nil {
			report(*sure[n])
		}
	}
}

// reachedAny says that a run gave what its ceiling allows, be that of the hardware or of a stated
// latency.
func reachedAny(m measurement) bool {
	if m.Ceiling == nil {
		return false
	}
	b := m.Ceiling.Binding()
	return b != nil && !b.SelfMeasured() && m.IOPS() >= diagnose.NearCeiling*b.IOPS
}

// suspect makes an info of the members on which queues gathered in deep runs, nil when nothing
// speaks against them. That one member leads in several runs is no evidence: fio repeats its
// offsets, and so their uneven spread, from run to run (three of three in the lab).
func suspect(subject string, runs []diagnose.Lag) *fault {
	var found *fault
	for _, l := range runs {
		how := "which means a closed loop's queue or a slow volume: probe it"
		if l.Reached >= stragglerFree {
			how = finding.Says("where the queue gathers while the array reaches %v of its ceiling", l.Reached)
		}
		// Of a run that was watched it is known how the queue moved and what a probe gave.
		watched := len(l.M.Devices) > 0
		if l.Ratio() >= diagnose.StragglerDeep && (l.Reached < stragglerFree || !watched) {
			found = diagnose.Join(found, lagFinding(l, subject, finding.Info, how))
		}
	}
	return found
}

func lagFinding(l diagnose.Lag, subject string, s finding.Severity, how string) fault {
	where := "disk statistics of fio, ticks over ios, scenario " + l.M.Label()
	if len(l.M.Devices) > 0 {
		where = "telemetry, scenario " + l.M.Label()
	}
	f := finding.New(subject, "").As(s).In(l.M.IDs())
	for _, d := range l.Slow {
		f = f.Saw("time per request on "+d.Name, units.Latency(d.Wait),
			units.Latency(l.Peers).String()+" (median of the faster half)", where).
			Saw("utilisation of "+d.Name, d.Util, text.Percent(l.PeersUtil)+" (median of its peers)", where)
		f = f.Run("fio --name=probe --filename=%s --readonly --rw=randread --bs=8k "+
			"--iodepth=16 --ioengine=libaio --direct=1 --runtime=5 --time_based", "/dev/"+d.Name)
	}
	whose := "its"
	if len(l.Slow) > 1 {
		whose = "their"
	}
	_, take := l.Take()
	f.Say("%s, up to %s the %s of %s peers, %s.", take, text.Times(l.Ratio()), units.Latency(l.Peers), whose, how)
	return f
}

// topOf names the array of a run for findings on it: the first device that fio or telemetry lists.
func topOf(m measurement) string {
	for _, d := range m.Disks {
		if !d.Member {
			return d.Name
		}
	}
	if len(m.Devices) > 0 {
		return m.Devices[0].Name
	}
	return m.Label()
}
