package fio

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// ErrPercent is in the chain of ParseSize's error for a percentage, whose bytes depend on the file
// or device.
var ErrPercent = errors.New("a percentage is not a number of bytes")

// ParseSize reads a size as fio does (parse.c, __get_mult_bytes): k, kb and ki are powers of kbBase
// (1024 unless kb_base=1000), and kib is the other one: with the default, 4k is 4,096 and 4KiB is
// 4,000. fio ignores fractions and unknown suffixes (it reads 4.5k as 4); here they are errors.
func ParseSize(s string, kbBase int) (units.Bytes, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	base := 10
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		text, base = rest, 16
	}
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || base == 16 && text[end] >= 'a' && text[end] <= 'f') {
		end++
	}
	v, err := strconv.ParseUint(text[:end], base, 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: want a whole number with an optional k, m, g, t or p, such as 128k", clip(s))
	}
	suffix := text[end:]
	if suffix == "%" || suffix == "%%" { // fio 3.33 takes 100%% for 100%
		return 0, fmt.Errorf("size %q: %w", clip(s), ErrPercent)
	}
	factor, ok := sizeFactor(suffix, kbBase)
	if !ok {
		return 0, fmt.Errorf("size %q: fio reads the number %d and ignores %q; want k, m, g, t or p",
			clip(s), v, clip(suffix))
	}
	hi, lo := bits.Mul64(v, factor)
	if hi != 0 {
		return 0, fmt.Errorf("size %q is beyond 64 bits", clip(s))
	}
	return units.Bytes(lo), nil
}

func sizeFactor(suffix string, kbBase int) (uint64, bool) {
	if suffix == "" || suffix == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgtp", suffix[0]) + 1
	k := uint64(1024)
	if kbBase == 1000 {
		k = 1000
	}
	switch suffix[1:] {
	case "", "b", "i":
	case "ib":
		k = 2024 - k
	default:
		return 0, false
	}
	f := uint64(1)
	for range power {
		f *= k
	}
	return f, power > 0
}

// ParseTime reads a time as fio does (parse.c, get_mult_time): us, ms, s, m, h and d, and
// defaultUnit for a plain number (seconds for runtime, microseconds for thinktime). fio takes an
// unknown suffix for microseconds; here it is an error.
func ParseTime(s string, defaultUnit time.Duration) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	v, err := strconv.ParseInt(text[:end], 10, 64)
	unit := defaultUnit
	switch text[end:] {
	case "":
	case "us", "usec":
		unit = time.Microsecond
	case "ms", "msec":
		unit = time.Millisecond
	case "s":
		unit = time.Second
	case "m":
		unit = time.Minute
	case "h":
		unit = time.Hour
	case "d":
		unit = 24 * time.Hour
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return 0, fmt.Errorf("time %q: want a whole number with an optional us, ms, s, m, h or d, such as 90s", clip(s))
	}
	if v > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("time %q is beyond 292 years", clip(s))
	}
	return time.Duration(v) * unit, nil
}
