package output

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
)

// logPoints is how many points of time a log is summed up in: when it is longer, two become one.
const logPoints = 2048

// logPoint sums the entries of one direction in one span of time.
type logPoint struct {
	n, sum, min, max uint64
}

// logScan adds up one log, or a part of one: counts in fio's bins and sums over time, in constant
// memory.
type logScan struct {
	bins   [3][bins.Count]uint64
	sq     [3]float64 // sums of squares, for the deviation
	bytes  [3]uint64  // block sizes added up
	points [3][logPoints]logPoint
	step   uint64 // milliseconds a point
	last   uint64 // latest time
	lo, hi uint64 // times that points[*][at] stands for
	at     int

	layout  logLayout
	tail    [16]byte // what stood behind the direction in the last line: most lines repeat it
	tailLen int      // with its end of line; 0 for none, -1 for one too long, as with offsets
	tailBS  uint64

	lines  int // seen, for the numbers of those not understood
	unread []fio.Unread
	missed int
}

// logLayout says what a log's columns are; it is one throughout a file.
type logLayout struct {
	columns int
	both    bool   // log_window_value=both: mean and maximum of the window
	start   uint64 // time of the first entry with log_unix_epoch, else 0
}

func newLogScan(layout logLayout) *logScan {
	s := &logScan{step: 100, layout: layout}
	s.seek(layout.start)
	return s
}

// seek makes the point for time t the current one. What is before the start counts as the start.
func (s *logScan) seek(t uint64) {
	t -= min(t, s.layout.start)
	for t/s.step >= logPoints {
		s.halve()
	}
	s.at = int(t / s.step)
	s.lo = s.layout.start + uint64(s.at)*s.step
	s.hi = s.lo + s.step
}

// halve doubles the span of a point.
func (s *logScan) halve() {
	for d := range s.points {
		p := &s.points[d]
		for i := range logPoints / 2 {
			p[i] = p[2*i].plus(p[2*i+1])
		}
		clear(p[logPoints/2:])
	}
	s.step *= 2
}

func (p logPoint) plus(o logPoint) logPoint {
	switch {
	case o.n == 0:
		return p
	case p.n == 0:
		return o
	}
	return logPoint{n: p.n + o.n, sum: p.sum + o.sum, min: min(p.min, o.min), max: max(p.max, o.max)}
}

// add takes one entry.
func (s *logScan) add(t, v uint64, dir int) {
	if t < s.lo || t >= s.hi {
		s.seek(t)
	}
	s.last = max(s.last, t)
	p := &s.points[dir][s.at]
	if p.n == 0 || v < p.min {
		p.min = v
	}
	p.n++
	p.sum += v
	p.max = max(p.max, v)
	s.sq[dir] += float64(v) * float64(v)
	s.bins[dir][logBin(v)]++
}

// logBin is BinOf without a branch for small values.
func logBin(v uint64) int {
	shift := max(bits.Len64(v)-(bins.OctaveBits+1), 0)
	return min(shift<<bins.OctaveBits+int(v>>shift), bins.Count-1)
}

const (
	logZeros = 0x3030303030303030
	logHighs = 0x8080808080808080
	logSixes = 0x7676767676767676 // added to a byte of 0..9 it leaves the high bit clear
)

// logNumber reads the digits at the start of b, of which at least 8 bytes must be there: up to 8 of
// them at once.
func logNumber(b []byte) (v uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ logZeros
	n = bits.TrailingZeros64(((x+logSixes)|x)&logHighs) >> 3 // 8 if all are digits
	if n == 0 {
		return 0, 0
	}
	x <<= (8 - uint(n)) * 8
	x = (x * (10<<8 + 1)) >> 8 & 0x00FF00FF00FF00FF // pairs, then fours, then all eight
	x = (x * (100<<16 + 1)) >> 16 & 0x0000FFFF0000FFFF
	return (x * (10000<<32 + 1)) >> 32, n
}

// block reads whole lines. It leaves a last line without an end, whose start it returns; final says
// that no more follows.
func (s *logScan) block(b []byte, final bool) (rest int) {
	i := 0
	if !s.layout.both {
		i = s.fast(b)
	}
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			if final {
				s.line(b[i:])
				return len(b)
			}
			return i
		}
		s.line(b[i : i+n])
		i += n + 1
		if !s.layout.both {
			i += s.fast(b[i:])
		}
	}
	return i
}

// fast reads lines "time, value, direction, rest" as long as rest is that of the line before and
// nothing is unusual, and returns where it stopped: at the start of a line.
func (s *logScan) fast(b []byte) int {
	i := 0
	tail0, tail1 := binary.LittleEndian.Uint64(s.tail[:8]), binary.LittleEndian.Uint64(s.tail[8:])
	n := s.tailLen
	if n == 0 {
		return 0
	}
	differs := n < 0
	// A shift by 64 gives 0 in Go, so full words have full masks.
	mask0, mask1 := uint64(1)<<(8*uint(max(min(n, 8), 0)))-1, uint64(1)<<(8*uint(max(n, 8)-8))-1
	var lines int
	var dirs [3]uint64
	lo, span, last, odd := s.lo, s.hi-s.lo, s.last, 0
	points := [3]*logPoint{&s.points[0][s.at], &s.points[1][s.at], &s.points[2][s.at]}
	// The times of neighbouring lines have as many digits. To expect the number of digits of
	// the line before, once it was found right, lets the processor start on the value before it has
	// counted the digits of the time.
	digits := 1
	for len(b)-i >= 64 {
		l := (*[64]byte)(b[i:])
		t, k := logNumber(l[:8])
		if k != digits {
			if k == 0 || k == 8 {
				break
			}
			digits = k
			continue
		}
		if binary.LittleEndian.Uint16(l[digits:]) != logComma {
			break
		}
		at := digits + 2
		v, m := logNumber(l[at:])
		at += m
		if m == 8 {
			more, m := logNumber(l[at:])
			if m > 7 {
				break
			}
			v, at = v*logPow[m]+more, at+m
		}
		dir := int(l[at+2]) - '0'
		if uint(dir) > 2 || m == 0 || binary.LittleEndian.Uint16(l[at:]) != logComma {
			break
		}
		at += 3
		if differs ||
			(binary.LittleEndian.Uint64(l[at:])^tail0)&mask0|(binary.LittleEndian.Uint64(l[at+8:])^tail1)&mask1 != 0 {
			bs, n, ok := logTail(b[i+at:], s.layout.columns-3)
			if odd++; !ok || odd > logOdd && !differs {
				break
			}
			s.lines++
			s.add(t, v, dir)
			s.bytes[dir] += bs
			lo, span, last = s.lo, s.hi-s.lo, max(last, s.last)
			points = [3]*logPoint{&s.points[0][s.at], &s.points[1][s.at], &s.points[2][s.at]}
			i += at + n
			continue
		}
		odd = 0
		if t-lo >= span {
			s.seek(t)
			lo, span = s.lo, s.hi-s.lo
			points = [3]*logPoint{&s.points[0][s.at], &s.points[1][s.at], &s.points[2][s.at]}
		}
		p := points[dir]
		if p.n == 0 || v < p.min {
			p.min = v
		}
		if v > p.max {
			p.max = v
		}
		p.n++
		p.sum += v
		last = max(last, t)
		s.sq[dir] += float64(v) * float64(v)
		s.bins[dir][logBin(v)]++
		dirs[dir]++
		lines++
		i += at + n
	}
	s.lines += lines
	s.last = last
	for d := range dirs {
		s.bytes[d] += dirs[d] * s.tailBS
	}
	return i
}

const logComma = ' '<<8 | ','

// logOdd is after how many lines with another tail the tail to expect is changed.
const logOdd = 16

// logTail reads the columns behind the direction up to the end of the line: the block size, then
// what there may be.
func logTail(b []byte, columns int) (bs uint64, n int, ok bool) {
	i := 0
	for c := range columns {
		if i+2 >= len(b) || b[i] != ',' || b[i+1] != ' ' {
			return 0, 0, false
		}
		i += 2
		start, v := i, uint64(0)
		for i < len(b) && b[i]-'0' <= 9 && i-start < 18 {
			v = v*10 + uint64(b[i]-'0')
			i++
		}
		if i == start {
			return 0, 0, false
		}
		if c == 0 {
			bs = v
		} else if v == 0 && i == start+1 && i < len(b) && b[i] == 'x' { // a priority
			i++
			start = i
			for i < len(b) && (b[i]-'0' <= 9 || b[i]-'a' < 6) && i-start < 8 {
				i++
			}
			if i == start {
				return 0, 0, false
			}
		}
	}
	if i >= len(b) || b[i] != '\n' {
		return 0, 0, false
	}
	return bs, i + 1, true
}

var logPow = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// line reads any line and remembers what it ends with.
func (s *logScan) line(l []byte) {
	s.lines++
	s.tailLen = 0
	text := bytes.TrimRight(l, "\r \t")
	if len(text) == 0 {
		return
	}
	var cols [8]uint64
	n := 0
	rest := text
	value, dir := 1, 2
	if s.layout.both {
		dir = 3
	}
	ends := 0 // offset behind the direction's column
	for ok := true; len(rest) > 0; n++ {
		field, more, comma := bytes.Cut(rest, []byte{','})
		if n < len(cols) {
			cols[n], ok = logField(field)
		}
		if !ok || n >= len(cols) || comma && len(more) == 0 {
			s.miss(text)
			return
		}
		rest = more
		if n == dir {
			ends = len(text) - len(rest)
			if comma {
				ends--
			}
		}
	}
	if n != s.layout.columns || cols[dir] > 2 {
		s.miss(text)
		return
	}
	d := int(cols[dir])
	s.add(cols[0], cols[value], d)
	bs := uint64(0)
	if dir+1 < n {
		bs = cols[dir+1]
	}
	s.bytes[d] += bs
	switch tail := l[ends:]; {
	case len(text) != len(l): // a carriage return, blanks
	case len(tail) >= len(s.tail):
		s.tailLen = -1
	default:
		s.tailLen = copy(s.tail[:], tail)
		s.tail[s.tailLen] = '\n'
		s.tailLen++
		s.tailBS = bs
	}
}

// logField reads a column: a number, or a priority such as 0x0002.
func logField(f []byte) (uint64, bool) {
	f = bytes.TrimSpace(f)
	base := uint64(10)
	if len(f) > 2 && f[0] == '0' && f[1] == 'x' {
		base, f = 16, f[2:]
	}
	var v uint64
	for _, c := range f {
		digit := uint64(c - '0')
		if c >= 'a' && c <= 'f' {
			digit = uint64(c-'a') + 10
		}
		if digit >= base || v > (1<<63-16)/base {
			return 0, false
		}
		v = v*base + digit
	}
	return v, len(f) > 0
}

const maxLogUnread = 100

func (s *logScan) miss(text []byte) {
	if len(s.unread) >= maxLogUnread {
		s.missed++
		return
	}
	s.unread = append(s.unread,
		fio.Unread{Line: s.lines, Text: string(bytes.ToValidUTF8(text[:min(len(text), 200)], []byte("\uFFFD")))})
}

// merge adds the scan of the part of the file that follows.
func (s *logScan) merge(o *logScan) {
	for s.step < o.step {
		s.halve()
	}
	for o.step < s.step {
		o.halve()
	}
	for d := range s.bins {
		for i, n := range o.bins[d] {
			s.bins[d][i] += n
		}
		for i := range s.points[d] {
			s.points[d][i] = s.points[d][i].plus(o.points[d][i])
		}
		s.sq[d] += o.sq[d]
		s.bytes[d] += o.bytes[d]
	}
	s.last = max(s.last, o.last)
	for _, u := range o.unread {
		u.Line += s.lines
		if len(s.unread) < maxLogUnread {
			s.unread = append(s.unread, u)
		} else {
			s.missed++
		}
	}
	s.missed += o.missed
	s.lines += o.lines
}

// latency returns what one direction's entries say as latencies in unit.
func (s *logScan) latency(dir int, unit time.Duration) fio.Latency {
	total := s.total(dir)
	if total.n == 0 {
		return fio.Latency{}
	}
	mean, dev := total.spread(s.sq[dir])
	l := fio.Latency{
		N: total.n, Min: time.Duration(total.min) * unit, Max: time.Duration(total.max) * unit,
		Mean: mean * float64(unit), StdDev: dev * float64(unit), Hist: &fio.Hist{},
	}
	for i, n := range s.bins[dir] {
		if unit == time.Nanosecond {
			l.Hist.AddBin(i, n)
		} else {
			l.Hist.Add(bins.Value(i)*unit, n)
		}
	}
	for _, p := range fioPercentiles {
		l.Percentiles = append(l.Percentiles, fio.Percentile{P: p, Value: l.Capped(l.Hist.Percentile(p))})
	}
	return l
}

// fioPercentiles are those that fio reports by default.
var fioPercentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

func (s *logScan) total(dir int) logPoint {
	var sum logPoint
	for i := range s.points[dir] {
		sum = sum.plus(s.points[dir][i])
	}
	return sum
}
