package ceiling_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// mdCase is a row of testdata/md-counts.tsv: a job on an array, and what one of its I/Os cost md's
// members in the lab.
type mdCase struct {
	name    string
	oracle  oArray
	section oSection
	array   topology.Array
	load    fio.Workload
	counted usage
}

func mdCases(t *testing.T) (all []mdCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/md-counts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var level, layout, rw, split, align string
		var n, chunk, depth int
		var c mdCase
		if _, err := fmt.Sscan(line, &level, &layout, &n, &chunk, &rw, &split, &align, &depth, &c.counted.readIOs, &c.counted.writeIOs,
			&c.counted.readBytes, &c.counted.writeBytes); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		c.name = strings.Join(strings.Fields(line)[:8], " ")
		c.counted.readBytes *= 1024
		c.counted.writeBytes *= 1024
		c.oracle = oArray{level: level, layout: layout, chunk: int64(chunk) * kib, vols: make([]oVolume, n)}
		c.array = topology.Array{Level: topology.Level(level), Chunk: units.Bytes(chunk) * units.KiB, Volumes: make([]topology.Volume, n)}
		if level == "raid10" {
			c.oracle.copies, c.array.Copies = 2, 2
			if layout != "near" {
				c.array.Near, c.array.Offset = 1, layout == "offset"
			}
		}
		job := fmt.Sprintf("[j]\nioengine=libaio\ndirect=1\nrw=%s\nbssplit=%s\nblockalign=%s\niodepth=%d\nsize=512m\n", rw, split, align, depth)
		f, err := fio.ParseJobFile("md.fio", []byte(job), fio.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range f.EachJob() {
			if c.load, err = fio.WorkloadOf("j", s); err != nil {
				t.Fatal(err)
			}
		}
		c.section = oSection{jobs: 1, depth: depth, region: 64 * gib, sequential: c.load.Sequential}
		var b oBlocks
		for part := range strings.SplitSeq(split, ":") {
			var size, share int64
			if _, err := fmt.Sscanf(part, "%dk/%d", &size, &share); err != nil {
				t.Fatal(part, err)
			}
			b.sizes = append(b.sizes, oSize{size * kib, float64(share) / 100})
		}
		if _, err := fmt.Sscanf(align, "%dk", &b.align); err != nil {
			t.Fatal(align, err)
		}
		b.align *= kib
		if c.section.write = b; c.load.ReadShare > 0 {
			c.section.read, c.section.readShare, c.section.write = b, 1, oBlocks{}
		}
		all = append(all, c)
	}
	return all
}

// within says how many times md's I/Os the model counts, by what docs/ceiling.md says of it.
func (c *mdCase) within() (least, most float64) {
	longest := int64(0)
	for _, b := range append(c.section.read.sizes, c.section.write.sizes...) {
		longest = max(longest, b.bytes)
	}
	parity := c.oracle.parity() > 0
	switch {
	case c.section.sequential: // the block layer joins full stripes, of which the model counts each chunk
		return 1.9, 3.2
	case parity && c.load.ReadShare == 0 && c.load.Depth == 1: // md joins rows of two stripes now and then
		return 0.98, 1.31
	case parity && c.load.ReadShare == 0:
		return 0.95, 1.15
	case c.oracle.level == "raid10" && longest > c.oracle.chunk*2 && c.load.ReadShare == 0: // plugged: chunks that lie side by side are one
		return 0.98, 2.01
	case c.oracle.level == "raid0" && longest > c.oracle.chunk: // cut by lengths of a chunk first, then at the chunks
		return 0.74, 1.02
	case len(c.section.read.sizes)+len(c.section.write.sizes) > 1: // 400 draws
		return 0.95, 1.10
	}
	return 0.97, 1.03
}

// TestMdCounts compares the simulation and the model with md itself: bytes to 2 % (to 10 % where
// sizes were drawn, or a stream's ends are in it), I/Os as within says.
func TestMdCounts(t *testing.T) {
	cases := mdCases(t)
	for _, c := range cases {
		var sim usage
		for _, u := range c.oracle.issue(c.section, c.section.readShare > 0, 4000, c.section.depth == 1) {
			sim.readIOs, sim.writeIOs = sim.readIOs+u.readIOs, sim.writeIOs+u.writeIOs
			sim.readBytes, sim.writeBytes = sim.readBytes+u.readBytes, sim.writeBytes+u.writeBytes
		}
		model, md := ceiling.CostOf(&c.array, c.load), c.counted
		if math.Abs((sim.readIOs+sim.writeIOs)/model.IOs-1) > 0.01 || math.Abs((sim.readBytes+sim.writeBytes)/model.Bytes-1) > 0.01 {
			t.Errorf("%s: simulated %+v, the model has %+v", c.name, sim, model)
		}
		slack := 0.02
		if c.section.sequential || len(c.section.read.sizes)+len(c.section.write.sizes) > 1 {
			slack = 0.1
		}
		least, most := c.within()
		ios, bytes := model.IOs/(md.readIOs+md.writeIOs), model.Bytes/(md.readBytes+md.writeBytes)
		if math.Abs(bytes-1) > slack || ios < least || ios > most {
			t.Errorf("%s: %.3f of md's I/Os (want %.2f to %.2f), %.3f of its bytes; md %+v, the model %+v", c.name, ios, least, most, bytes, md, model)
		}
	}
	if len(cases) < 90 {
		t.Errorf("%d cases", len(cases))
	}
}
