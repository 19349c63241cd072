package fio

import (
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/text"
)

// How fio reads a value, by the type of its option (parse.c): rules 1 to 10 of the facts that
// options.tsv comes from, which were seen in runs of eight versions.

// fault is why fio refuses a value; empty when it takes it.
type fault string

// The faults, as fio tells them apart.
const (
	faultNone       fault = ""
	faultNoValue    fault = "needs a value"
	faultNumber     fault = "is not a number"
	faultRange      fault = "is out of range"
	faultWord       fault = "is not one of its words"
	faultZones      fault = "counts zones, which this option does not take"
	faultPowerOfTwo fault = "is not a power of 2"
	faultFraction   fault = "is not a number of the kind 99.9"
	faultLong       fault = "is too long"
	faultEmpty      fault = "is empty"
	faultGone       fault = "is gone"
	faultArithmetic fault = "is a sum, which this fio was built without"
	faultShape      fault = "is not of the form that fio wants"
)

// Versions in which fio began to read values in another way.
var (
	digitsNeeded  = Version{3, 19} // before, a number without digits was 0
	zonesKnown    = Version{3, 28} // before, a z was dropped as any letter is
	wide32        = Version{3, 12} // since, a plain number's upper half is not looked at
	sumsKnown     = Version{2, 21} // before, a sum in parentheses was a number without digits
	commaEndsWord = Version{2, 2}  // before, only a colon did
	signedNumbers = Version{3, 43} // since, a minus in front is a sign
)

// numberRead is a number as fio reads it.
type numberRead struct {
	value uint64
	// lost is what of the text behind the number fio drops although it looks like a part of it.
	lost string
	// percent is true for a share, whose value fio keeps as the complement; wraps for one beyond 64 bits, of
	// which fio keeps what is left.
	percent, wraps bool
}

var (
	decimalLead = regexp.MustCompile(`^[ \t\n\v\f\r]*([+-]?)(\d+)`)
	hexLead     = regexp.MustCompile(`^[ \t\n\v\f\r]*([+-]?)(?:0[xX])?([0-9a-fA-F]+)`)
	signDigits  = regexp.MustCompile(`^[+-]?\d*`)
	wholeZones  = regexp.MustCompile(`^\s*[+-]?\d+z$`)
	floatLead   = regexp.MustCompile(`^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`)
)

// leading is the number at the start of a text; neither for a text without digits, and for one
// beyond 63 bits, of which beyond is true.
func leading(s string) (v int64, ok bool) {
	v, ok, _ = leadingNumber(s)
	return v, ok
}

func leadingNumber(s string) (v int64, ok, beyond bool) {
	lead, base := decimalLead, 10
	if strings.Contains(s, "0x") || strings.Contains(s, "0X") {
		lead, base = hexLead, 16
	}
	m := lead.FindStringSubmatch(s)
	if m == nil {
		return 0, false, false
	}
	v, err := strconv.ParseInt(strings.TrimPrefix(m[1], "+")+m[2], base, 64)
	if err != nil && v > 0 { // a number too far below is taken
		return 0, false, true
	}
	return v, true, false
}

// numberStart is the number that a value begins with; of one without digits older versions read 0.
func numberStart(s string, v Version) (n uint64, ok bool) {
	at, digits, beyond := leadingNumber(s)
	return uint64(at), s != "" && !beyond && (digits || v.Before(digitsNeeded))
}

// readNumber reads a size or a plain number: its leading digits, and the unit behind them by its
// first letter.
func readNumber(s string, k uint64, v Version) (numberRead, bool) {
	value, ok := numberStart(s, v)
	if !ok {
		return numberRead{}, false
	}
	rest := strings.ToLower(s)
	if len(s) >= 2 {
		rest = rest[len(signDigits.FindString(s)):]
		rest, _, _ = text.CutAny(rest, ":,/-")
	}
	if strings.HasPrefix(rest, "%") {
		return numberRead{value: ^value, percent: true}, true
	}
	other := 2024 - k // 1000 for 1024, and the other way round
	prefix := strings.IndexByte("kmgtp", (rest + " ")[0])
	if prefix < 0 {
		return numberRead{value: value, lost: lostUnit(s)}, true
	}
	lost := ""
	if strings.HasPrefix(rest[1:], "ib") {
		if other < k {
			lost = "ib"
		}
		k = other
	}
	factor := k
	for range prefix {
		factor *= k
	}
	over, product := bits.Mul64(value, factor)
	return numberRead{value: product, wraps: over != 0, lost: lost}, true
}

// unitBehind is a fraction, or letters of a unit, behind the digits that fio reads.
var unitBehind = regexp.MustCompile(`(?i)^\s*[+-]?\d+(\.\d[\w.]*|\s+[kmgtpe]i?b?\b|[*_]\d[\w*]*|[a-z]\w*)`)

var unitBehindHex = regexp.MustCompile(`(?i)^\s*[+-]?0x[0-9a-f]+([kmgtp]\w*)`)

// lostUnit is what a person reads as a part of the number and fio drops: 1.5g, 10 GB, 2*8, 1_000,
// 4x. Bytes need no unit.
func lostUnit(s string) string {
	if strings.Contains(s, "0x") || strings.Contains(s, "0X") {
		if m := unitBehindHex.FindStringSubmatch(s); m != nil { // fio looks for a unit behind decimal digits only
			return m[1]
		}
		return ""
	}
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\t") { // which costs it the unit
		trimmed := strings.TrimLeft(s, " \t")
		if end := len(signDigits.FindString(trimmed)); end > 0 && end < len(trimmed) &&
			strings.ContainsRune("kmgtpKMGTP", rune(trimmed[end])) {
			return trimmed[end:]
		}
	}
	m := unitBehind.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	if lower := strings.ToLower(m[1]); lower == "b" || strings.HasPrefix(lower, "byte") ||
		strings.Trim(lower, ".0") == "" {
		return ""
	}
	return strings.TrimSpace(m[1])
}

// readTime reads a time in microseconds.
func readTime(s string, seconds bool, v Version) (numberRead, bool) {
	n, ok := numberStart(s, v)
	if !ok {
		return numberRead{}, false
	}
	unit := strings.TrimLeft(s, "0123456789+-")
	if unit == "" || !asciiLetter(unit[0]) {
		factor := uint64(1)
		if seconds {
			factor = 1e6
		}
		lost := lostUnit(s)
		if blank := strings.TrimSpace(unit); unit != blank && timeWord.MatchString(blank) && (blank[0] != 's' || !seconds) {
			lost = blank
		}
		return numberRead{value: n * factor, lost: lost}, true
	}
	switch unit = strings.ToLower(unit); {
	case strings.HasPrefix(unit, "us"):
		return numberRead{value: n}, true
	case strings.HasPrefix(unit, "ms"):
		return numberRead{value: n * 1e3}, true
	}
	if factor, known := timeUnits[unit]; known {
		return numberRead{value: n * factor}, true
	}
	return numberRead{value: n, lost: unit}, true
}

var (
	timeUnits = map[string]uint64{ // in microseconds
		"us": 1, "usec": 1, "ms": 1e3, "msec": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6, "d": 86400e6,
	}
	timeWord = regexp.MustCompile(`^(?:us|ms|s|m|h|d|sec|min|hour|day)`)
)

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// build is a fio whose values are read: its version, and what it was built with.
type build struct {
	version Version
	noSums  bool   // without flex and bison, and so without sums in parentheses
	k       uint64 // of the job: 1024, or 1000 by kb_base
}

// fault says why fio refuses a value; bare for an option without one.
func (r *optionRow) fault(value string, bare bool, b build) fault {
	switch {
	case r.kind == typeGone:
		return faultGone
	case r.kind == typeSoftlyGone:
		if bare {
			return faultNoValue
		}
		return faultNone
	case bare:
		if r.kind == typeFlag || r.kind == typeWord && len(r.words) == 0 && ownChecks[r.name] == nil {
			return faultNone
		}
		return faultNoValue
	}
	worst := faultNone
	// A value is a list of parts; one good part is enough.
	for {
		cut := r.cut(&value, b)
		if f := r.partFault(value, b); f == faultNone {
			return faultNone
		} else if worst == faultNone {
			worst = f
		}
		if cut < 0 {
			return worst
		}
		value = value[min(cut+1, len(value)):]
	}
}

// cut is where the first part of a value ends, -1 for the last. A comma at the very end is dropped.
func (r *optionRow) cut(value *string, b build) int {
	v := *value
	switch r.kind { //nolint:exhaustive // the others are split alike
	case typeText, typeWord, typeWordLarge:
		return -1
	case typeFractions:
		return strings.IndexByte(v, ':')
	}
	cut := strings.IndexByte(v, ',')
	if cut >= 0 && cut == len(v)-1 {
		*value = v[:cut]
		return cut
	}
	if cut >= 0 || r.kind == typeWords || r.kind == typeRange {
		return cut
	}
	if cut = strings.IndexByte(v, ':'); cut >= 0 {
		return cut
	}
	if !b.version.Before(signedNumbers) && strings.HasPrefix(v, "-") {
		if cut = strings.IndexByte(v[1:], '-'); cut >= 0 {
			cut++
		}
		return cut
	}
	return strings.IndexByte(v, '-')
}

func (r *optionRow) partFault(v string, b build) fault {
	if r.counts() {
		return r.numberFault(v, b)
	}
	switch r.kind { //nolint:exhaustive // gone ones have no parts
	case typeBool, typeFlag:
		return r.boolFault(v)
	case typeWord, typeWordLarge, typeWords:
		return r.wordFault(v, b)
	case typeText:
		switch {
		case v == "":
			return faultEmpty
		case r.longest > 0 && len(v) > r.longest-1:
			return faultLong
		}
		return faultNone
	case typeFractions:
		if strings.HasPrefix(v, "(") && !b.noSums && !b.version.Before(sumsKnown) {
			return faultNone
		}
		return r.fractionFault(v)
	case typeRange:
		return rangeFault(v, b)
	}
	return faultShape
}

// number reads one part by its option's unit.
func (r *optionRow) number(v string, b build) (numberRead, bool) {
	v, _, _ = strings.Cut(v[:min(len(v), 127)], ",")
	if r.kind == typeTime || r.time {
		return readTime(v, r.seconds, b.version)
	}
	return readNumber(v, b.k, b.version)
}

func (r *optionRow) numberFault(v string, b build) fault {
	if strings.HasSuffix(v, "z") && !b.version.Before(zonesKnown) {
		if r.kind == typeZones && wholeZones.MatchString(v) {
			return faultNone
		}
		return faultZones
	}
	if strings.HasPrefix(v, "(") && !b.version.Before(sumsKnown) {
		if b.noSums {
			return faultArithmetic
		}
		return faultNone
	}
	if v == "" {
		return faultEmpty
	}
	read, ok := r.number(v, b)
	n := read.value
	switch {
	case !ok:
		return faultNumber
	case r.pow2 && (n == 0 || n&(n-1) != 0):
		return faultPowerOfTwo
	case r.outside(n, b):
		return faultRange
	}
	return r.wordIs(func(w optionWord) bool { return w.number == n })
}

// wordIs is faultNone where the option has such a word, or none at all.
func (r *optionRow) wordIs(meant func(optionWord) bool) fault {
	if len(r.words) == 0 || slices.ContainsFunc(r.words, meant) {
		return faultNone
	}
	return faultWord
}

// outside says whether a number is beyond the limits. Of a plain number fio compares 32 bits.
func (r *optionRow) outside(n uint64, b build) bool {
	if b.version.Before(wide32) {
		return r.most != 0 && int64(n) > r.most || r.least != 0 && int64(n) < r.least
	}
	if r.kind != typeNumber {
		return r.most != 0 && n > uint64(r.most) || r.least > 0 && n < uint64(r.least) ||
			r.least < 0 && int64(n) < r.least
	}
	low := int64(int32(uint32(n)))
	if r.most != 0 {
		if low < 0 && low > int64(int32(uint32(r.most))) || low >= 0 && int64(uint32(n)) > r.most {
			return true
		}
	}
	return r.least != 0 && low < r.least
}

func (r *optionRow) boolFault(v string) fault {
	n, ok := leading(v)
	if !ok && decimalLead.MatchString(v) { // fio reads what is beyond 64 bits as -1
		n, ok = -1, true
	}
	if ok && n > math.MaxInt32 {
		n = int64(int32(uint32(n)))
	}
	switch {
	case v == "":
		return faultEmpty
	case !ok:
		return faultNumber
	case r.most != 0 && n > r.most || r.least != 0 && n < r.least:
		return faultRange
	}
	return faultNone
}

// wordFault compares whole words; what stands behind a colon is left to the option's own code.
func (r *optionRow) wordFault(v string, b build) fault {
	ends := ",:"
	if b.version.Before(commaEndsWord) {
		ends = ":"
	}
	word, _, _ := text.CutAny(v, ends)
	return r.wordIs(func(w optionWord) bool { return w.text == word })
}

func (r *optionRow) fractionFault(v string) fault {
	x, err := strconv.ParseFloat(strings.TrimSpace(floatLead.FindString(v)), 64)
	switch {
	case err != nil:
		return faultFraction
	case (r.leastPart != 0 || r.mostPart != 0) && (x > r.mostPart || x < r.leastPart):
		return faultRange
	}
	return faultNone
}

func rangeFault(v string, b build) fault {
	low, high, ok := strings.Cut(v, "-")
	if !ok {
		low, high, ok = strings.Cut(v, ":")
	}
	_, first := readNumber(low, b.k, b.version)
	_, second := readNumber(high, b.k, b.version)
	if !ok || !first || !second {
		return faultShape
	}
	return faultNone
}
