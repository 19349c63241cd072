// Package bins counts latencies in the bins that fio has for them.
package bins

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// fio's latency bins (stat.h): values below 128 ns have a bin each; above, 64 bins an octave, so a
// bin is at most 1/64 wide. FIO_IO_U_PLAT_GROUP_NR is 29 since 3.0, so the last bin starts at 2^34
// ns (17.2 s) less one bin.
const (
	OctaveBits = 6
	OctaveBins = 1 << OctaveBits
	// Count is the number of bins: 29 groups of 64.
	Count = 29 * OctaveBins
)

// Hist counts latencies in fio's own bins, so histograms of jobs, intervals and hosts merge exactly
// by adding. The zero value is empty and ready to use. It is not safe for concurrent use.
type Hist struct {
	bins  []uint64 // Count long, once something was added
	read  []bin    // until then those of a document: a fleet has many histograms of few bins
	count uint64
}

// bin is one that is not empty.
type bin struct{ at, n uint32 }

// Of returns the bin that fio puts a latency in (plat_val_to_idx).
func Of(d time.Duration) int {
	v := uint64(max(d, 0))
	msb := bits.Len64(v) - 1
	if msb <= OctaveBits {
		return int(v)
	}
	shift := msb - OctaveBits
	base := (shift + 1) << OctaveBits
	return min(base+int((v>>shift)&(OctaveBins-1)), Count-1)
}

// Value returns the latency that stands for bin i, the middle of its range (plat_idx_to_val).
func Value(i int) time.Duration {
	lo, hi := Range(i)
	return lo + (hi-lo)/2
}

// Range returns the least latency of bin i and the least of the bin after it.
func Range(i int) (lo, hi time.Duration) {
	if i < OctaveBins<<1 {
		return time.Duration(i), time.Duration(i + 1)
	}
	shift := i>>OctaveBits - 1
	base := uint64(1) << (shift + OctaveBits)
	k := uint64(i % OctaveBins)
	return time.Duration(base + k<<shift), time.Duration(base + (k+1)<<shift)
}

// Add counts n latencies of d.
func (h *Hist) Add(d time.Duration, n uint64) { h.AddBin(Of(d), n) }

// AddBin counts n latencies in bin i, which must be in [0, Count).
func (h *Hist) AddBin(i int, n uint64) {
	if n == 0 {
		return
	}
	if h.bins == nil {
		h.bins = make([]uint64, Count)
		for _, b := range h.read {
			h.bins[b.at] = uint64(b.n)
		}
		h.read = nil
	}
	h.bins[i] += n
	h.count += n
}

// Merge adds the counts of o.
func (h *Hist) Merge(o *Hist) {
	o.Each(h.AddBin)
}

// Minus returns h less an earlier state of the same counter. Bins that fell (they do not, unless
// the counter was reset in between) count as zero.
func (h *Hist) Minus(earlier *Hist) *Hist {
	d := &Hist{}
	was := make([]uint64, Count)
	earlier.Each(func(i int, n uint64) { was[i] = n })
	h.Each(func(i int, n uint64) { d.AddBin(i, n-min(n, was[i])) })
	return d
}

// Clone returns an independent copy.
func (h *Hist) Clone() *Hist { return &Hist{slices.Clone(h.bins), slices.Clone(h.read), h.count} }

// Count is the number of latencies in h; a nil Hist is empty.
func (h *Hist) Count() uint64 {
	if h == nil {
		return 0
	}
	return h.count
}

// Percentile returns the value below which p percent (0..100) of the latencies lie, by fio's own
// rule (calc_clat_percentiles): the first bin at which the running sum reaches p percent. An empty
// Hist gives 0.
func (h *Hist) Percentile(p float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	want := p / 100 * float64(h.count)
	var sum uint64
	found := Count
	h.Each(func(i int, n uint64) {
		if sum += n; float64(sum) >= want {
			found = min(found, i)
		}
	})
	return Value(min(found, Count-1))
}

// Mean and standard deviation, in nanoseconds, of the bin values: exact to the bin's width.
func (h *Hist) Mean() (mean, stddev float64) {
	if h.Count() == 0 {
		return 0, 0
	}
	var sum, sq float64
	h.Each(func(i int, n uint64) { sum += float64(n) * float64(Value(i)) })
	mean = sum / float64(h.count)
	h.Each(func(i int, n uint64) {
		d := float64(Value(i)) - mean
		sq += float64(n) * d * d
	})
	return mean, math.Sqrt(sq / float64(h.count))
}

// Above returns how many latencies were in bins that lie wholly at or above d.
func (h *Hist) Above(d time.Duration) uint64 {
	var sum uint64
	h.Each(func(i int, n uint64) {
		if lo, _ := Range(i); lo >= d {
			sum += n
		}
	})
	return sum
}

// Each calls f for every bin that is not empty, ascending.
func (h *Hist) Each(f func(bin int, n uint64)) {
	if h == nil {
		return
	}
	for i, n := range h.bins {
		if n > 0 {
			f(i, n)
		}
	}
	for _, b := range h.read {
		f(int(b.at), uint64(b.n))
	}
}

// MarshalJSON writes [[bin, count], …] for the bins that are not empty.
func (h *Hist) MarshalJSON() ([]byte, error) {
	pairs := [][2]uint64{}
	h.Each(func(i int, n uint64) { pairs = append(pairs, [2]uint64{uint64(i), n}) })
	return json.Marshal(pairs)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (h *Hist) UnmarshalJSON(data []byte) error {
	var pairs [][2]uint64
	if err := json.Unmarshal(data, &pairs); err != nil {
		return err
	}
	*h = Hist{read: make([]bin, 0, len(pairs))}
	for _, p := range pairs {
		if p[0] >= Count {
			return fmt.Errorf("latency bin %d: fio has %d", p[0], Count)
		}
		one := bin{uint32(p[0]), uint32(min(p[1], math.MaxUint32))}
		next := len(h.read) == 0 || one.at > h.read[len(h.read)-1].at
		if h.bins == nil && next && one.n > 0 && uint64(one.n) == p[1] {
			h.read, h.count = append(h.read, one), h.count+p[1]
		} else { // too many for a bin, or not as MarshalJSON writes them
			h.AddBin(int(p[0]), p[1])
		}
	}
	return nil
}
