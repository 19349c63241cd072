package fio

import (
	"math"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// textNum is a number as fio's text prints it: exact digits and the unit behind them.
type textNum struct {
	mant uint64
	frac int    // digits after the point
	unit string // what follows: "k", "MiB/s", "msec", "%"
	ok   bool
}

func parseTextNum(s string) textNum {
	s = strings.TrimSpace(s)
	switch strings.TrimRight(strings.TrimPrefix(s, "-"), "%") { // old fio divides by zero where nothing ran
	case "nan", "inf":
		return textNum{ok: true}
	}
	var n textNum
	i, point := 0, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c-'0' > 9 {
			break
		}
		if n.mant > (math.MaxUint64-uint64(c-'0'))/10 {
			return textNum{}
		}
		n.mant = n.mant*10 + uint64(c-'0')
		n.ok = true
		if point {
			n.frac++
		}
	}
	n.ok = n.ok && n.frac < len(pow10)
	n.unit = strings.TrimSpace(s[i:])
	return n
}

// times returns the value times a whole factor, rounded once.
func (n textNum) times(factor float64) float64 {
	return float64(n.mant) * factor / pow10[n.frac]
}

// step is the value of the last digit printed, times factor: twice the rounding error.
func (n textNum) step(factor float64) float64 { return factor / pow10[n.frac] }

// clamp keeps a figure that was worked out from others inside the interval that rounds to what fio
// printed: fio counts bytes and I/Os that were in flight at the ends of a run differently. cut is
// what fio cuts off before it rounds. What was not printed bounds nothing.
func (n textNum) clamp(v, factor, cut float64) float64 {
	if n.mant == 0 || factor == 0 {
		return v
	}
	half := n.step(factor) / 2
	return min(max(v, n.times(factor)-half), n.times(factor)+half+cut)
}

// kilo reads a count with a decimal suffix, as fio prints IOPS and latencies: 40.1k, 1699.5K.
func (n textNum) kilo() (factor float64, ok bool) {
	switch n.unit {
	case "":
		return 1, n.ok
	case "k", "K":
		return 1e3, n.ok
	case "m", "M":
		return 1e6, n.ok
	case "g", "G":
		return 1e9, n.ok
	case "t", "T":
		return 1e12, n.ok
	}
	return 0, false
}

// bytes returns the factor of a unit of bytes or bits: "MiB/s", "KB", "Gibit/s", "Gi". kb is what
// KB stands for: 1000 in fio 3, and in fio 2 1024 unless kb_base=1000.
func (n textNum) bytes(kb float64) (factor float64, ok bool) {
	u := strings.ReplaceAll(strings.TrimSuffix(n.unit, "/s"), " ", "")
	factor = 1
	if rest, bits := strings.CutSuffix(u, "bit"); bits {
		u, factor = rest, 1.0/8
	} else {
		u = strings.TrimSuffix(u, "B")
	}
	if rest, binary := strings.CutSuffix(u, "i"); binary {
		u, kb = rest, 1024
	}
	p := 0
	if u != "" {
		p = strings.Index("KMGTPE", strings.ToUpper(u)) + 1
		if p == 0 || len(u) != 1 {
			return 0, false
		}
	}
	return factor * math.Pow(kb, float64(p)), n.ok
}

// textUnit knows the words for time.
func textUnit(s string) (time.Duration, bool) {
	switch strings.TrimSpace(s) {
	case "nsec", "ns":
		return time.Nanosecond, true
	case "usec", "us":
		return time.Microsecond, true
	case "msec", "ms":
		return time.Millisecond, true
	case "sec", "s":
		return time.Second, true
	}
	return 0, false
}

// duration reads "180001msec".
func (n textNum) duration() (time.Duration, bool) {
	unit, ok := textUnit(n.unit)
	if !ok || !n.ok {
		return 0, false
	}
	return jsonDuration(n.times(1), unit), true
}

// textFields splits "min=2, max=133, avg= 5.59" into pairs; what has no = is a pair with an empty
// value.
func textFields(s string) [][2]string {
	var list [][2]string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			i := strings.LastIndexByte(part, '=') // ">=64=0.0%" has two
			if i < 0 {
				list = append(list, [2]string{part, ""})
				continue
			}
			list = append(list, [2]string{strings.TrimSpace(part[:i]), strings.TrimSpace(part[i+1:])})
		}
	}
	return list
}

// percentShare reads 97.27% as 0.9727.
func percentShare(s string) (float64, bool) {
	n := parseTextNum(strings.TrimSuffix(strings.TrimSpace(s), "%"))
	if !n.ok || n.unit != "" || n.frac+2 >= len(pow10) {
		return 0, false
	}
	n.frac += 2
	return n.times(1), true
}

// sizeOption prints a block size as fio options take it.
func sizeOption(b float64) string {
	text, err := units.Bytes(b).MarshalText()
	if err != nil || b <= 0 {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(string(text), "B"), "i"))
}
