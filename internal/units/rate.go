package units

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is a throughput in bytes per second. It parses "125MiB/s", "312.5MB/s", "10Gbps" (decimal
// bits).
type Rate float64

// MiBPerSec and MBPerSec are the two units that vendors mix: EBS volumes are limited in MiB/s,
// EC2 instances and drive data sheets in MB/s.
const (
	MiBPerSec Rate = 1 << 20
	MBPerSec  Rate = 1e6
)

// String prints r with an IEC prefix, in MiB/s up to 9,999: "508 KiB/s", "1,003 MiB/s",
// "21.6 GiB/s".
func (r Rate) String() string {
	v, i := float64(r), 0
	for math.Abs(v) >= 1024 && i < 2 {
		v /= 1024
		i++
	}
	if math.Abs(v) >= 9999.5 {
		v, i = v/1024, i+1
	}
	return Number(v) + " " + iecNames[i] + "/s"
}

// SI prints r with a decimal prefix, as vendors of instances and drives do: "1,051 MB/s". A
// vendor's own figure, such as 312.5 MB/s, is printed whole.
func (r Rate) SI() string {
	v, i := float64(r), 0
	for math.Abs(v) >= 1000 && i < 2 {
		v /= 1000
		i++
	}
	if math.Abs(v) >= 9999.5 {
		v, i = v/1000, i+1
	}
	text := Number(v)
	if math.Abs(v) < 1000 {
		text = TrimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return text + " " + []string{"B", "kB", "MB", "GB"}[i] + "/s"
}

// Declared prints a limit in the unit in which it is a round number, which is the one that its
// vendor states it in: "125 MiB/s" for an EBS volume, "312.5 MB/s" for an instance.
func (r Rate) Declared() string {
	if isRound(float64(r/MiBPerSec)*2) || !isRound(float64(r/MBPerSec)*10) {
		return r.String()
	}
	return r.SI()
}

// isRound says whether v is a whole number but for the noise of floating point.
func isRound(v float64) bool { return math.Abs(v-math.Round(v)) < 1e-6*max(1, math.Abs(v)) }

// Arg prints r without a space, as programs take it: in MiB/s or MB/s where that is exact, else in
// bytes per second.
func (r Rate) Arg() string {
	for _, u := range []struct {
		one  Rate
		name string
	}{{MiBPerSec, "MiB/s"}, {MBPerSec, "MB/s"}} {
		text := strconv.FormatFloat(float64(r/u.one), 'f', -1, 64)
		if len(text) <= 8 {
			return text + u.name
		}
	}
	return strconv.FormatFloat(float64(r), 'f', -1, 64) + "B/s"
}

// MarshalText prints r as bytes per second, exactly.
func (r Rate) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(r), 'f', -1, 64) + "B/s"), nil
}

// MarshalJSON writes r as a plain number of bytes per second.
func (r Rate) MarshalJSON() ([]byte, error) { return marshalFloat(float64(r)) }

// UnmarshalJSON reads a number of bytes per second, or a text such as "125MiB/s".
func (r *Rate) UnmarshalJSON(data []byte) error {
	if text, ok := quoted(data); ok {
		return r.UnmarshalText(text)
	}
	return json.Unmarshal(data, (*float64)(r))
}

// UnmarshalText parses what MarshalText, String and SI print.
func (r *Rate) UnmarshalText(text []byte) error {
	v, err := ParseRate(string(text))
	if err != nil {
		return err
	}
	*r = v
	return nil
}

// ParseRate reads a throughput such as 125MiB/s, 312.5MB/s, 10Gbps or a plain number of bytes per
// second.
func ParseRate(s string) (Rate, error) {
	num, unit := split(ungroup(s))
	v, err := strconv.ParseFloat(num, 64)
	bits := strings.HasSuffix(strings.ToLower(unit), "bps") && !strings.HasSuffix(unit, "Bps")
	var factor float64
	var ok bool
	switch {
	case bits:
		factor, ok = prefix(unit, "bps")
		factor /= 8
	case strings.HasSuffix(unit, "Bps"):
		factor, ok = prefix(strings.TrimSuffix(unit, "Bps")+"B", "B")
	case unit == "":
		factor, ok = 1, true
	default:
		var had bool
		unit, had = strings.CutSuffix(unit, "/s")
		factor, ok = prefix(unit, "B")
		ok = ok && had
	}
	if err != nil || !ok || !(v >= 0 && v*factor < math.MaxFloat64) {
		return 0, fmt.Errorf("rate %q: want a number with a unit, such as 125MiB/s or 312.5MB/s", s)
	}
	return Rate(v * factor), nil
}

// IOPS is a number of I/O operations per second.
type IOPS float64

// String prints whole operations with thousands separated: "18,462".
func (n IOPS) String() string {
	digits := 0
	if a := math.Abs(float64(n)); a < 10 && float64(n) != math.Trunc(float64(n)) {
		digits = 2
	} else if a < 100 && float64(n) != math.Trunc(float64(n)) {
		digits = 1
	}
	return Group(strconv.FormatFloat(float64(n), 'f', digits, 64))
}

// MarshalJSON writes n as a plain number of operations per second.
func (n IOPS) MarshalJSON() ([]byte, error) { return marshalFloat(float64(n)) }

// UnmarshalJSON reads a number of operations per second, or a text such as "40.1k".
func (n *IOPS) UnmarshalJSON(data []byte) error {
	if text, ok := quoted(data); ok {
		return n.UnmarshalText(text)
	}
	return json.Unmarshal(data, (*float64)(n))
}

// UnmarshalText parses 540, 40.1k (thousands, as fio prints them) or 18,462.
func (n *IOPS) UnmarshalText(text []byte) error {
	v, err := ParseIOPS(string(text))
	if err != nil {
		return err
	}
	*n = v
	return nil
}

// Arg prints n exactly, without separators.
func (n IOPS) Arg() string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }

// MarshalText prints n as Arg does.
func (n IOPS) MarshalText() ([]byte, error) { return []byte(n.Arg()), nil }

// ParseIOPS reads 540, 40.1k (k, m and g are decimal here: operations are counted, not sized) or
// 18,462.
func ParseIOPS(s string) (IOPS, error) {
	num, unit := split(ungroup(s))
	unit = strings.TrimSuffix(strings.TrimSpace(strings.TrimSuffix(strings.ToLower(unit), "iops")), " ")
	v, err := strconv.ParseFloat(num, 64)
	p := strings.Index("kmg", unit)
	if err != nil || p < 0 || len(unit) > 1 || !(v >= 0 && v < math.MaxFloat64/1e9) {
		return 0, fmt.Errorf("IOPS %q: want a number, such as 540 or 40.1k", s)
	}
	if unit != "" {
		v *= math.Pow(1000, float64(p+1))
	}
	return IOPS(v), nil
}

// Group puts commas between thousands of a printed number.
func Group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if frac != "" {
		whole += "." + frac
	}
	return sign + whole
}

// marshalFloat writes a number without an exponent, which some readers of JSON do not take.
func marshalFloat(v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("%f cannot be written as JSON", v)
	}
	return strconv.AppendFloat(nil, v, 'f', -1, 64), nil
}
