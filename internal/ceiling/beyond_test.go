package ceiling

import (
	"math"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// An I/O as large as a number can say is not placed piece by piece, which would never end, and costs as much of the volumes as its bytes.
func TestEnormousIO(t *testing.T) {
	for _, level := range []topology.Level{topology.RAID0, topology.RAID10, topology.RAID5, topology.RAID6} {
		for _, chunk := range []units.Bytes{4 * units.KiB, 64 * units.KiB, 512 * units.KiB} {
			for _, v := range []topology.Volume{{}, {CountedIO: 256 * units.KiB}, {CountedIO: 256 * units.KiB, Merges: true}} {
				a := &topology.Array{Level: level, Chunk: chunk, Volumes: []topology.Volume{v, v, v, v, v, v}}
				if level == topology.RAID10 {
					a.Copies = 2
				}
				cost := func(bs units.Bytes, share float64) Cost {
					return CostOf(a, fio.Workload{ReadBS: bs, WriteBS: bs, ReadShare: share, Direct: true, Jobs: 1, Depth: 1})
				}
				for _, share := range []float64{0, 1} {
					small, large := cost(units.GiB, share), cost(1<<60, share)
					const times = 1 << 30
					for name, of := range map[string][2]float64{
						"I/Os": {small.IOs, large.IOs}, "bytes": {small.Bytes, large.Bytes},
					} {
						if got := of[1] / of[0] / times; math.Abs(got-1) > 0.01 {
							t.Errorf("%v, chunk %v, %+v, reads %v: %s x%v", level, chunk, v, share, name, got)
						}
					}
				}
			}
		}
	}
}
