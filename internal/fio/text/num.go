package text

import (
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// Num is a number as fio's text prints it: exact digits and the unit behind them.
type Num struct {
	Mant uint64
	frac int    // digits after the point
	Unit string // what follows: "k", "MiB/s", "msec", "%"
	OK   bool
}

// ParseNum reads a number with what stands behind it; OK is false where there is none.
func ParseNum(s string) Num {
	s = strings.TrimSpace(s)
	switch strings.TrimRight(strings.TrimPrefix(s, "-"), "%") { // old fio divides by zero where nothing ran
	case "nan", "inf":
		return Num{OK: true}
	}
	var n Num
	end := len(s) - len(strings.TrimLeft(s, "0123456789.,"))
	digits, ok := units.Plain(s[:end])
	if end > 0 && !ok {
		return n
	}
	if whole, frac, _ := strings.Cut(digits, "."); digits != "" {
		mant, err := strconv.ParseUint(whole+frac, 10, 64)
		if err != nil {
			return Num{}
		}
		n = Num{Mant: mant, frac: len(frac), OK: len(frac) < MaxPow10}
	}
	n.Unit = strings.TrimSpace(s[end:])
	return n
}

// Times returns the value times a whole factor, rounded once.
func (n Num) Times(factor float64) float64 {
	return float64(n.Mant) * factor / math.Pow10(n.frac)
}

// Value reads a count with a decimal suffix; ok is false for what is none.
func (n Num) Value() (v float64, ok bool) {
	k, ok := n.kilo()
	if !ok {
		return 0, false
	}
	return n.Times(k), true
}

// step is the value of the last digit printed, times factor: twice the rounding error.
func (n Num) step(factor float64) float64 { return factor / math.Pow10(n.frac) }

// clamp keeps a figure that was worked out from others inside the interval that rounds to what fio
// printed: fio counts bytes and I/Os that were in flight at the ends of a run differently. cut is
// what fio cuts off before it rounds. What was not printed bounds nothing.
func (n Num) clamp(v, factor, cut float64) float64 {
	if n.Mant == 0 || factor == 0 {
		return v
	}
	half := n.step(factor) / 2
	return min(max(v, n.Times(factor)-half), n.Times(factor)+half+cut)
}

// kilo reads a count with a decimal suffix, as fio prints IOPS and latencies: 40.1k, 1699.5K.
func (n Num) kilo() (factor float64, ok bool) {
	factor = decimalUnits[strings.ToLower(n.Unit)]
	return factor, factor > 0 && n.OK
}

var (
	decimalUnits = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
	timeUnits    = map[string]time.Duration{
		"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
	}
)

// bytes returns the factor of a unit of bytes or bits: "MiB/s", "KB", "Gibit/s", "Gi". kb is what
// KB stands for: 1000 in fio 3, and in fio 2 1024 unless kb_base=1000.
func (n Num) bytes(kb float64) (factor float64, ok bool) {
	u := strings.ReplaceAll(strings.TrimSuffix(n.Unit, "/s"), " ", "")
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
	return factor * math.Pow(kb, float64(p)), n.OK
}

// bytesIn reads a number of bytes; of fio 2's KB settle looks whether it was 1000.
func bytesIn(s string) (b float64, ok bool) {
	n := ParseNum(s)
	factor, ok := n.bytes(1024)
	return n.Times(factor), ok
}

// UnitOf knows the words for time.
func UnitOf(s string) (time.Duration, bool) {
	unit, known := timeUnits[strings.TrimSuffix(strings.TrimSpace(s), "ec")]
	return unit, known
}

// duration reads "180001msec".
func (n Num) duration() (time.Duration, bool) {
	unit, ok := UnitOf(n.Unit)
	if !ok || !n.OK {
		return 0, false
	}
	return fio.Duration(n.Times(1), unit), true
}

// eachField reads the fields of a line by their names; good says that all could be read.
func eachField(line string, read func(name, value string) bool) (good bool) {
	good = true
	for _, f := range textFields(line) {
		good = read(f[0], f[1]) && good
	}
	return good
}

// textFields splits "min=2, max=133, avg= 5.59" into pairs; what has no = is a pair with an empty
// value.
func textFields(s string) (list [][2]string) {
	for part := range strings.SplitSeq(s, ",") {
		if n := len(list); n > 0 && part != "" && part[0]-'0' <= 9 && endsInDigit(list[n-1][1]) { // 27,101 or 3,5
			list[n-1][1] += "," + strings.TrimSpace(part)
			continue
		}
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

func endsInDigit(s string) bool { return s != "" && s[len(s)-1]-'0' <= 9 }

// ParseShare reads 97.27% as 0.9727, also where a line left the sign out.
func ParseShare(s string) (float64, bool) {
	s = strings.TrimSuffix(strings.TrimSpace(s), "%")
	if strings.TrimPrefix(s, "-") == "nan" { // old fio divides by zero where nothing ran
		return 0, true
	}
	s, _ = units.Plain(s)
	v, err := units.ParsePercent(s + "%")
	return v, err == nil
}

// MaxPow10 is above the digits of a number behind its point: a float64 holds such powers exactly.
const MaxPow10 = 19
