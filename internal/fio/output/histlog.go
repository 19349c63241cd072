package output

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/units"
)

// maxHistLine bounds a line: 1,856 counts of up to 20 digits.
const maxHistLine = bins.Count*22 + 64

// impossibleCount is more I/Os than any window of a histogram log holds: an hour at 300 million a
// second. fio before 3.17 wrote whatever lay in memory there (axboe/fio#974; 3.16 wrote counts such
// as 10642393916790 among 4,096 I/Os, 2026-11-21).
const impossibleCount = 1 << 40

// oldHistBins is the number of bins before 2.99, of microseconds.
const oldHistBins = 19 * bins.OctaveBins

// histScan adds up a histogram log: "time, direction, block size, count of bin 0, count of bin 1,
// …". An entry holds the I/Os of its window only; fio (3.33 too) does not write the last window, so
// the sum may be short of the run by up to log_hist_msec.
type histScan struct {
	bins    [3][bins.Count]uint64
	at      [bins.Count]uint64 // of the line at hand, which is added whole or not at all
	columns int                // bins of a line, once known
	// first, second and last are times of entries; second is the first that differs, 0 for none.
	first, second, last uint64
	blocks              [3]uint64 // the largest block size
	garbage             bool      // counts that cannot be
	logLines
}

func readHistLog(r io.Reader, base string, out *fio.Output, row int) error {
	s := &histScan{}
	if err := eachLine(r, 4*maxHistLine, s.line); err != nil {
		return err
	}
	s.into(out, base)
	if s.garbage {
		out.Doubt("%s: it holds impossible counts, as fio before 3.17 wrote them, so all of it is ignored", base)
		return nil
	}
	width, unit := histScale(s.columns)
	switch {
	case unit == time.Microsecond:
		out.Doubt("%s: written before fio 2.99: bins of microseconds", base)
	case width > 1:
		out.Doubt("%s: log_hist_coarseness=%d: latencies are known to within %d of fio's bins", base,
			bits.TrailingZeros(uint(width)), width)
	}
	j := &out.Jobs[row]
	for d, dir := range j.Directions() {
		h := &fio.Hist{}
		for i, n := range s.bins[d] {
			h.Add(bins.Value(min(i*width+width/2, bins.Count-1))*unit, n) // a column stands for its middle
		}
		if h.Count() == 0 || dir.N > 0 { // single latencies were logged too: they know more
			continue
		}
		dir.Runtime = max(dir.Runtime, s.span())
		dir.Bytes = units.Bytes(s.blocks[d] * h.Count())
		l := &dir.Clat
		*l = fio.Latency{N: h.Count(), Hist: h}
		l.Mean, l.StdDev = h.Mean()
		h.Each(func(i int, _ uint64) {
			lo, hi := bins.Range(i)
			if l.Max == 0 {
				l.Min = lo
			}
			l.Max = hi
		})
		percentilesOf(l)
		dir.N = l.N
	}
	return nil
}

// span is the time from the start to the last entry. An entry stands at the end of its window, so
// that with log_unix_epoch the start is one window before the first.
func (s *histScan) span() time.Duration {
	var start uint64
	if s.first > epochTimes {
		start = s.first - (max(s.second, s.first) - s.first)
	}
	return time.Duration(min(s.last-min(s.last, start), math.MaxInt64/1_000_000)) * time.Millisecond
}

// histScale finds how many of fio's bins a column holds (log_hist_coarseness) and their unit from the
// number of columns; 0 of a number that fio does not write.
func histScale(columns int) (width int, unit time.Duration) {
	for shift := range bins.OctaveBits + 1 {
		switch columns << shift {
		case bins.Count:
			return 1 << shift, time.Nanosecond
		case oldHistBins:
			return 1 << shift, time.Microsecond
		}
	}
	return 0, 0
}

func (s *histScan) line(l []byte) {
	s.lines++
	l = bytes.TrimRight(l, "\r \t,")
	if len(l) == 0 {
		return
	}
	t, i, ok1 := histNumber(l, 0)
	dir, i, ok2 := histNumber(l, i)
	bs, i, ok3 := histNumber(l, i)
	if !ok1 || !ok2 || !ok3 || dir > 2 || i >= len(l) {
		s.miss(l, "want time, direction, block size and bins")
		return
	}
	columns := 0
	for i < len(l) {
		v, next, ok := histNumber(l, i)
		if !ok || columns >= bins.Count || v >= impossibleCount {
			why := "want counts of I/Os, at most 1,856"
			if ok && v >= impossibleCount {
				s.garbage, why = true, fmt.Sprintf("bin %d counts %d I/Os, which no drive can do: the log is damaged", columns, v)
			}
			s.miss(l, why)
			return
		}
		s.at[columns] = v
		columns++
		i = next
	}
	if width, _ := histScale(columns); width == 0 || s.columns > 0 && columns != s.columns {
		s.miss(l, fmt.Sprintf("%d bins are not what fio writes, or not those of the lines before", columns))
		return
	}
	for bin, n := range s.at[:columns] {
		s.bins[dir][bin] += n
	}
	if s.columns == 0 {
		s.first = t
	}
	if s.second == 0 && t > s.first {
		s.second = t
	}
	s.columns = columns
	s.last = max(s.last, t)
	s.blocks[dir] = max(s.blocks[dir], bs)
}

// histNumber reads a number at i, and the comma behind it.
func histNumber(l []byte, i int) (v uint64, next int, ok bool) {
	v, n := logField(l[min(i, len(l)):])
	i += n
	return v, i + 1, n > 0 && (i >= len(l) || l[i] == ',')
}
