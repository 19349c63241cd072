// Package units holds the four quantities that plimsoll is about: bytes, bytes per second, I/O
// operations per second and latencies. Values are in base units; prefixes appear only when a value
// is parsed or printed. IEC prefixes (Ki, Mi) are powers of 1024, SI prefixes (k with B, M with B)
// powers of 1000. A bare prefix (28k, 5g) is a power of 1024, as fio reads it.
//
// String prints for people: three significant digits, thousands separated, a space before the
// unit. Arg prints for programs: exact and without a space, for command lines and files.
package units

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bytes is a size. It parses "28k", "28KiB", "3TB" (10^12) and "4096".
type Bytes uint64

// The IEC multiples.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

var iecNames = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// String prints b with the largest IEC prefix that leaves at least 1 before the point: "28 KiB",
// "1.5 GiB", "219 GiB".
func (b Bytes) String() string {
	v, i := float64(b), 0
	for v >= 1024 && i < len(iecNames)-1 {
		v /= 1024
		i++
	}
	return Number(v) + " " + iecNames[i]
}

// Arg prints b exactly and without a space, as programs take it: "28KiB".
func (b Bytes) Arg() string { return b.whole(iecNames) }

// whole prints b in the last of some names of powers of 1024 of which it is a whole multiple.
func (b Bytes) whole(names []string) string {
	v, i := uint64(b), 0
	for v != 0 && v%1024 == 0 && i < len(names)-1 {
		v /= 1024
		i++
	}
	return strconv.FormatUint(v, 10) + names[i]
}

// Suffixed prints b exactly as fio, mkfs, mdadm and LVM take it, with one letter for a power of 1024: "64k",
// "5g".
func (b Bytes) Suffixed() string { return b.whole([]string{"", "k", "m", "g", "t"}) }

// ShareArg prints a share as flags and files take it: 0.002 is "0.2%". Twelve digits hide the rounding of
// sums.
func ShareArg(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e14)/1e12, 'f', -1, 64) + "%"
}

// Number prints v with three significant digits, thousands separated and without trailing zeros;
// whole numbers are printed whole: "0.048", "1.38", "12.5", "238,133".
func Number(v float64) string {
	a := math.Abs(v)
	digits := 2
	switch {
	case v == math.Trunc(v), a >= 99.95:
		digits = 0
	case a >= 9.995:
		digits = 1
	case a > 0 && a < 0.9995:
		digits = min(2-int(math.Floor(math.Log10(a))), 6)
	}
	s := Group(TrimZeros(strconv.FormatFloat(v, 'f', digits, 64)))
	if s == "-0" {
		return "0"
	}
	return s
}

// TrimZeros cuts the zeros off a fraction: "12.50" is "12.5", "3.00" is "3".
func TrimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// MarshalText prints b exactly: the largest IEC prefix of which it is a whole multiple.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.Arg()), nil }

// MarshalJSON writes b as a plain number: programs that read our JSON want no prefixes.
func (b Bytes) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, uint64(b), 10), nil }

// UnmarshalJSON reads a number of bytes, or a text such as "3TiB".
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && text != "" {
		return read(b, text, ParseBytes)
	}
	if string(data) == "null" || json.Unmarshal(data, (*uint64)(b)) != nil {
		return fmt.Errorf("size %s: want a number of bytes", data)
	}
	return nil
}

// UnmarshalText parses what MarshalText and String print, and fio's short forms.
func (b *Bytes) UnmarshalText(text []byte) error { return read(b, string(text), ParseBytes) }

// read sets a quantity to what a text says.
func read[T any](to *T, text string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err == nil {
		*to = v
	}
	return err
}

// readJSON sets a quantity to a number or to what a text says.
func readJSON[T ~float64](to *T, data []byte, parse func(string) (T, error)) error {
	var text string
	if json.Unmarshal(data, &text) == nil && text != "" {
		return read(to, text, parse)
	}
	var v float64
	err := json.Unmarshal(data, &v)
	if err == nil {
		*to = T(v)
	}
	return err
}

// ParseBytes reads a size: a number and an optional prefix, such as 4096, 28k, 28KiB, 1.5GiB or
// 3TB.
func ParseBytes(s string) (Bytes, error) {
	num, unit := split(ungroup(s))
	factor, ok := prefix(unit, "B")
	if whole, err := strconv.ParseUint(num, 10, 64); err == nil && ok && whole <= math.MaxUint64/uint64(factor) {
		return Bytes(whole * uint64(factor)), nil // exact beyond 2^53
	}
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || !ok || !(v >= 0 && v*factor < math.MaxUint64) {
		return 0, fmt.Errorf("size %q: want a number with an optional k, m, g or t, such as 128k or 5GiB", s)
	}
	return Bytes(math.Round(v * factor)), nil
}

var grouped = regexp.MustCompile(`^\s*[0-9]{1,3}(,[0-9]{3})+($|[^0-9,])`)

// ungroup takes the commas between thousands out of the number at the start of s. Any other comma
// stays and is an error later: "1,5GiB" is not 15 GiB.
func ungroup(s string) string {
	if grouped.MatchString(s) {
		return strings.ReplaceAll(s, ",", "")
	}
	return s
}

// split separates the number at the start of s from the unit behind it.
func split(s string) (num, unit string) {
	s = strings.TrimSpace(s)
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// prefix returns the factor of unit, whose base is base ("B", "B/s"): "", k, KiB and KB of base
// "B".
func prefix(unit, base string) (float64, bool) {
	rest := strings.ToLower(unit)
	full := strings.ToLower(base)
	power, kilo := 0.0, 1024.0
	if rest != "" && rest != full {
		p := strings.IndexByte("kmgtpe", rest[0])
		if p < 0 {
			return 0, false
		}
		power, rest = float64(p+1), rest[1:]
		switch rest {
		case "", "i", "i" + full: // 28k, 28Ki, 28KiB: binary
		case full:
			kilo = 1000
		default:
			return 0, false
		}
	}
	return math.Pow(kilo, power), true
}
