package text

import (
	"math"
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
	point := false
	for i := range len(digits) {
		c := digits[i]
		if point = point || c == '.'; c == '.' {
			continue
		}
		if n.Mant > (math.MaxUint64-uint64(c-'0'))/10 {
			return Num{}
		}
		n.Mant = n.Mant*10 + uint64(c-'0')
		n.OK = true
		if point {
			n.frac++
		}
	}
	n.OK = n.OK && n.frac < MaxPow10
	n.Unit = strings.TrimSpace(s[end:])
	return n
}

// Times returns the value times a whole factor, rounded once.
func (n Num) Times(factor float64) float64 {
	return float64(n.Mant) * factor / Pow10(n.frac)
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
func (n Num) step(factor float64) float64 { return factor / Pow10(n.frac) }

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
	factor, known := decimalUnits[strings.ToLower(n.Unit)]
	return factor, known && n.OK
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

// textFields splits "min=2, max=133, avg= 5.59" into pairs; what has no = is a pair with an empty
// value.
func textFields(s string) [][2]string {
	var list [][2]string
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

// sizeOption prints a block size as fio options take it, "" for none.
func sizeOption(b float64) string {
	if b <= 0 {
		return ""
	}
	return units.Bytes(b).Suffixed()
}

// powers are those of ten that a float64 holds exactly.
var powers = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// MaxPow10 is one above the largest n of Pow10.
const MaxPow10 = len(powers)

// Pow10 is 10 to the power of n, exactly.
func Pow10(n int) float64 { return powers[n] }
