package layout

import (
	"fmt"
	"math"
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
			"disk statistics over issued I/Os, ramp taken out")
}
