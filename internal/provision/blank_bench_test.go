package provision

import (
	"testing"

	"plimsoll/internal/units"
)

// BenchmarkBlank is the check of a volume of 3 TiB, a sparse file under a loop device: the reads'
// own cost, without a drive's latency.
func BenchmarkBlank(b *testing.B) {
	bench := loopsFor(b, 1, 3*units.TiB)
	now := bench.now()
	for b.Loop() {
		if err := now.checkBlank(b.Context(), "@S0"); err != nil {
			b.Fatal(err)
		}
	}
}
