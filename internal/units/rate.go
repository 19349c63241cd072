package units

import (
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
	v, i := scaled(float64(r), 1024)
	return Number(v) + " " + iecNames[i] + "/s"
}

// scaled divides a rate by a step until it is below it, twice at most and once more from 9,999.5
// on, and says how often.
func scaled(v, step float64) (float64, int) {
	i := 0
	for math.Abs(v) >= step && i < 2 {
		v /= step
		i++
	}
	if math.Abs(v) >= 9999.5 {
		v, i = v/step, i+1
	}
	return v, i
}

// SI prints r with a decimal prefix, as vendors of instances and drives do: "1,051 MB/s". A
// vendor's own figure, such as 312.5 MB/s, is printed whole.
func (r Rate) SI() string {
	v, i := scaled(float64(r), 1000)
	text := Number(v)
	if math.Abs(v) < 1000 {
		text = TrimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return text + " " + []string{"B", "kB", "MB", "GB"}[i] + "/s"
}

// Arg prints r without a space, as programs take it: in MiB/s or MB/s where that is exact, else in
// bytes per second.
func (r Rate) Arg() string {
	for _, u := range []struct {
		one  Rate
		name string
	}{{MiBPerSec, "MiB/s"}, {MBPerSec, "MB/s"}} {
		if text := decimal(r / u.one); len(text) <= 8 {
			return text + u.name
		}
	}
	return decimal(r) + "B/s"
}

// MarshalText prints r as bytes per second, exactly.
func (r Rate) MarshalText() ([]byte, error) { return []byte(decimal(r) + "B/s"), nil }

// MarshalJSON writes r as a plain number of bytes per second.
func (r Rate) MarshalJSON() ([]byte, error) { return marshalFloat(r) }

// UnmarshalJSON reads a number of bytes per second, or a text such as "125MiB/s".
func (r *Rate) UnmarshalJSON(data []byte) error { return readJSON(r, data, ParseRate) }

// UnmarshalText parses what MarshalText, String and SI print.
func (r *Rate) UnmarshalText(text []byte) error { return read(r, string(text), ParseRate) }

// ParseRate reads a throughput such as 125MiB/s, 312.5MB/s, 10Gbps or a plain number of bytes per
// second.
func ParseRate(s string) (Rate, error) {
	num, unit := split(ungroup(s))
	v, err := strconv.ParseFloat(num, 64)
	factor, ok := 1.0, unit == ""
	if bytes, is := strings.CutSuffix(unit, "Bps"); is {
		factor, ok = prefix(bytes+"B", "B")
	} else if strings.HasSuffix(strings.ToLower(unit), "bps") {
		factor, ok = prefix(unit, "bps")
		factor /= 8
	} else if bytes, is := strings.CutSuffix(unit, "/s"); is {
		factor, ok = prefix(bytes, "B")
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
	v, digits := float64(n), 0
	switch a := math.Abs(v); {
	case v == math.Trunc(v), a >= 100:
	case a < 10:
		digits = 2
	default:
		digits = 1
	}
	return Group(strconv.FormatFloat(v, 'f', digits, 64))
}

// MarshalJSON writes n as a plain number of operations per second.
func (n IOPS) MarshalJSON() ([]byte, error) { return marshalFloat(n) }

// UnmarshalJSON reads a number of operations per second, or a text such as "40.1k".
func (n *IOPS) UnmarshalJSON(data []byte) error { return readJSON(n, data, ParseIOPS) }

// UnmarshalText parses 540, 40.1k (thousands, as fio prints them) or 18,462.
func (n *IOPS) UnmarshalText(text []byte) error { return read(n, string(text), ParseIOPS) }

// Arg prints n exactly, without separators.
func (n IOPS) Arg() string { return decimal(n) }

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
func marshalFloat[T ~float64](v T) ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return nil, fmt.Errorf("%f cannot be written as JSON", v)
	}
	return []byte(decimal(v)), nil
}

// decimal is all of a number, without an exponent.
func decimal[T ~float64](v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
