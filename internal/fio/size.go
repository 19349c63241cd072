package fio

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// ErrPercent is in the chain of ParseSize's error for a percentage, whose bytes depend on the file
// or device.
var ErrPercent = errors.New("a percentage is not a number of bytes")

// ParseSize reads one number with an optional unit as fio 3.33 does (parse.c, __get_mult_bytes): k, kb and
// ki are powers of kbBase (1024 unless kb_base=1000), and kib is the other one: with the default, 4k is
// 4,096 and 4KiB is 4,000. What fio takes for another number than it looks like is an error: it reads
// 4.5k as 4, and -4k as 16 EiB.
func ParseSize(s string, kbBase int) (units.Bytes, error) {
	text := strings.TrimSpace(s)
	if b, err := partSize(text, kbBase); err != nil || !strings.ContainsAny(text, separators) {
		return b, err
	}
	return 0, fmt.Errorf("size %q is more than one number: want one, such as 128k", Clip(s))
}

// partSize reads the number that a part of a value begins with (numberParts).
func partSize(text string, kbBase int) (units.Bytes, error) {
	fail := func(format string, args ...any) (units.Bytes, error) {
		return 0, fmt.Errorf("size %q"+format, append([]any{Clip(text)}, args...)...)
	}
	read, ok := readNumber(text, uint64(kbBase), parsedVersion)
	_, _, beyond := leadingNumber(text)
	switch {
	case ok && read.percent:
		return fail(": %w", ErrPercent)
	case ok && strings.HasPrefix(text, "-"):
		return fail(" is negative: want a whole number with an optional k, m, g, t or p, such as 128k")
	case read.wraps || beyond:
		return fail(" is beyond 64 bits")
	case !ok:
		return fail(": want a whole number with an optional k, m, g, t or p, such as 128k")
	case read.lost != "" && read.lost != "ib":
		return fail(": fio reads the number %d and ignores %q; want k, m, g, t or p", read.value, Clip(read.lost))
	}
	return units.Bytes(read.value), nil
}

// separators end a number in fio's eyes: what stands behind them is another one, or nothing.
const separators = ",:-/"

// parsedVersion is the fio whose reading of values ParseSize and WorkloadOf follow.
var parsedVersion = Version{3, 33}

// numberParts are the parts of a value of numbers as fio tells them apart: at commas, behind the last comma at
// colons, and behind the last colon at dashes. 4k- is 4k and nothing, which leaves the second place as it was.
// A part reaches to the next comma, since fio takes all of it for hexadecimal where it has an 0x.
func numberParts(value string) []string {
	row, b := &optionRow{kind: typeLarge}, build{version: parsedVersion}
	var parts []string
	for {
		cut := row.cut(&value, b)
		part, _, _ := strings.Cut(value, ",")
		if _, digits, beyond := leadingNumber(part); !digits && !beyond && strings.IndexAny(part, separators) == 0 {
			part = ""
		}
		parts = append(parts, part)
		if cut < 0 {
			return parts
		}
		value = value[min(cut+1, len(value)):]
	}
}

// ParseTime reads a time as fio does (parse.c, get_mult_time): us, ms, s, m, h and d, and
// defaultUnit for a plain number (seconds for runtime, microseconds for thinktime). fio takes an
// unknown suffix for microseconds; here it is an error.
func ParseTime(s string, defaultUnit time.Duration) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	suffix := strings.TrimLeft(text, "0123456789")
	v, err := strconv.ParseInt(strings.TrimSuffix(text, suffix), 10, 64)
	factor, known := timeUnits[suffix]
	unit := time.Duration(factor) * time.Microsecond
	if suffix == "" {
		unit, known = defaultUnit, true
	}
	if err != nil || !known {
		return 0, fmt.Errorf("time %q: want a whole number with an optional us, ms, s, m, h or d, such as 90s", Clip(s))
	}
	if v > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("time %q is beyond 292 years", Clip(s))
	}
	return time.Duration(v) * unit, nil
}
