package advise

import (
	"fmt"
	"math"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// grouped is a stream as its I/Os reach a layout's volumes. One flush of the log runs at a time, so
// that there are at most 1/S of them a second, and what is committed meanwhile goes with the next
// one (docs/postgres.md): commits that come faster share a write. A commit's own bytes stay: 8 KiB
// are what one writes while full pages are logged.
func (r *Request) grouped(l Layout, s *workload.Stream) *workload.Stream {
	if !s.Commits || s.Threads < 2 {
		return s
	}
	t, _ := cloud.TypeNamed(l.Spec.Type)
	typical := r.syncedOn(l.Spec.Type, t.Typical)
	if l.Local {
		typical = r.syncedOn(localType, localLatency)
	}
	each, _ := r.latencyOf(typical, s)
	together := units.Bytes(math.Floor(float64(s.IOPS) * each.Seconds()))
	if together = min(together, units.Bytes(s.Threads)); together < 2 || len(s.Blocks) != 1 {
		return s
	}
	flush := *s
	flush.IOPS = s.IOPS / units.IOPS(together)
	flush.Blocks = []workload.Block{{Size: s.Blocks[0].Size * together, Share: 1}}
	return &flush
}

// tooFew says why commits do not reach their rate when a synced write takes lat: clients that wait
// for their flush get c/3S to c/2S of them through (ceiling.CommitsOf), of which the lower is
// counted on.
func tooFew(typ string, s *workload.Stream, lat time.Duration, source string) string {
	clients := max(s.Threads, 1)
	m := ceiling.CommitsOf(clients, units.LatencyOf(lat), 0, 0)
	if m.Low >= s.IOPS {
		return ""
	}
	need := 1
	for ceiling.CommitsOf(need, units.LatencyOf(lat), 0, 0).Low < s.IOPS && need < 1<<20 {
		need++
	}
	return fmt.Sprintf(
		"%s: a synced write takes %v, which allows %s %v of %v commits per second (%v at best); %s would do [%s]", typ,
		units.LatencyOf(lat), text.Plural(clients, "client"), m.Low, s.IOPS, m.High, text.Plural(need, "client"), source,
	)
}
