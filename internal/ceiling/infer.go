package ceiling

import (
	"math"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// InferChunk guesses an array's chunk from the I/Os that its device counted (ios= of fio's disk
// statistics) and those that the jobs issued at block size bs over the same time: a run with
// ramp_time counts its ramp in ios only, so scale issued up first. Confidence is 1 where the ratio
// is exactly that of one chunk, 0 where it lies half-way between two; chunk is 0 when nothing can
// be inferred, because nothing was split or the ratio fits no chunk.
//
// examples/MS-28k-r-r-15.log: 8,560,869 / 8,194,307 = 1.045, and 512 KiB gives 1.046875.
func InferChunk(bs units.Bytes, ios, issued float64) (chunk units.Bytes, confidence float64) {
	const slack = 0.005 // other I/O on the device, edges of the ramp
	if bs == 0 || issued <= 0 || ios/issued < 1+slack {
		return 0, 0
	}
	ratio := ios / issued
	near, second := math.Inf(1), math.Inf(1)
	for c := 4 * units.KiB; c <= 16*units.MiB; c *= 2 {
		p := topology.Pieces(bs, c)
		if p == 1 {
			continue
		}
		miss := math.Abs(ratio - p)
		if miss < near {
			near, second, chunk = miss, near, c
		} else if miss < second {
			second = miss
		}
	}
	if chunk == 0 || near > 0.05*ratio {
		return 0, 0
	}
	// Half-way between two candidates both are missed by the same: confidence 0.
	return chunk, 1 - near/second
}
