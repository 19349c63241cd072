package output

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"plimsoll/internal/fio"
)

// logSum sums the entries of one direction.
type logSum struct {
	n, sum, min, max uint64
}

// logScan adds up one log: counts in fio's bins and sums, in constant memory.
type logScan struct {
	hists [3]fio.Hist
	sq    [3]float64 // sums of squares, for the deviation
	bytes [3]uint64  // block sizes added up
	total [3]logSum
	last  uint64 // latest time

	layout logLayout
	logLines
}

// logLines counts the lines of a log and keeps those that were not understood.
type logLines struct {
	lines  int
	unread []fio.Unread
	missed int
}

const maxLogUnread = 100

func (s *logLines) miss(text []byte, why string) {
	if len(s.unread) >= maxLogUnread {
		s.missed++
		return
	}
	s.unread = append(s.unread, fio.Unread{
		Line: s.lines, Text: string(bytes.ToValidUTF8(text[:min(len(text), 200)], []byte("\uFFFD"))), Why: why,
	})
}

// into notes in an output what was not understood of a log.
func (s *logLines) into(out *fio.Output, base string) {
	for _, u := range s.unread {
		u.File = base
		out.Unread = append(out.Unread, u)
	}
	if s.missed > 0 {
		out.Unread = append(out.Unread, fio.Unread{File: base, Why: fmt.Sprintf("%d further lines", s.missed)})
	}
}

// eachLine reads lines without their ends. One that is longer than the longest is none of fio's, and comes in pieces.
func eachLine(r io.Reader, longest int, line func([]byte)) error {
	b := bufio.NewReaderSize(r, longest)
	for {
		l, err := b.ReadSlice('\n')
		if len(l) > 0 {
			line(bytes.TrimSuffix(l, []byte{'\n'}))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// logLayout says what a log's columns are; it is one throughout a file.
type logLayout struct {
	columns int
	both    bool   // log_window_value=both: mean and maximum of the window
	start   uint64 // time of the first entry with log_unix_epoch, else 0
}

// add takes one entry.
func (s *logScan) add(t, v uint64, dir int) {
	s.last = max(s.last, t)
	p := &s.total[dir]
	if p.n == 0 || v < p.min {
		p.min = v
	}
	p.n++
	p.sum += v
	p.max = max(p.max, v)
	s.sq[dir] += float64(v) * float64(v)
	s.hists[dir].Add(time.Duration(min(v, math.MaxInt64)), 1) //nolint:gosec // it fits
}

// line reads numbers with commas between them.
func (s *logScan) line(l []byte) {
	s.lines++
	text := bytes.TrimRight(l, "\r \t")
	if len(text) == 0 {
		return
	}
	var cols [8]uint64
	n := 0
	for i := 0; ; i++ { // over the comma
		v, k := logField(text[i:])
		if i += k; k == 0 || n == len(cols) || i < len(text) && text[i] != ',' {
			s.miss(text, "")
			return
		}
		cols[n] = v
		if n++; i == len(text) {
			break
		}
	}
	value, dir := 1, 2
	if s.layout.both {
		dir = 3
	}
	if n != s.layout.columns || cols[dir] > 2 {
		s.miss(text, "")
		return
	}
	d := int(cols[dir])
	s.add(cols[0], cols[value], d)
	if dir+1 < n {
		s.bytes[d] += cols[dir+1]
	}
}

// logField reads the column at the start of b: a number, or a priority such as 0x0002. n is how many bytes it takes
// with the blanks around it, 0 where it is none.
func logField(b []byte) (v uint64, n int) {
	for n < len(b) && b[n] == ' ' {
		n++
	}
	base := uint64(10)
	if len(b) > n+2 && b[n] == '0' && b[n+1] == 'x' {
		base, n = 16, n+2
	}
	start := n
	for ; n < len(b); n++ {
		digit := uint64(b[n] - '0')
		if c := b[n]; base == 16 && c >= 'a' && c <= 'f' {
			digit = uint64(c-'a') + 10
		}
		if digit >= base {
			break
		}
		if v > (1<<63-16)/base {
			return 0, 0
		}
		v = v*base + digit
	}
	if n == start {
		return 0, 0
	}
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
		n++
	}
	return v, n
}

// latency returns what one direction's entries say as latencies in nanoseconds.
func (s *logScan) latency(dir int, samples fio.Samples) fio.Latency {
	l := fio.Latency{
		N: samples.N, Min: time.Duration(s.total[dir].min), Max: time.Duration(s.total[dir].max),
		Mean: samples.Mean, StdDev: samples.StdDev, Hist: &s.hists[dir],
	}
	percentilesOf(&l)
	return l
}
