package text

import (
	"testing"
	"time"
)

// Numbers as fio 2 and 3 print them, with their units.
func TestNumbers(t *testing.T) {
	for s, want := range map[string]struct {
		value float64 // as a count with a decimal suffix
		ok    bool
		unit  string
	}{
		"":                     {0, false, ""},
		"k":                    {0, false, "k"},
		".":                    {0, false, ""},
		"0":                    {0, true, ""},
		"\x201699.5K":          {1_699_500, true, "K"},
		"40.1k":                {40_100, true, "k"},
		"2m":                   {2e6, true, "m"},
		"2M":                   {2e6, true, "M"},
		"2g":                   {2e9, true, "g"},
		"2G":                   {2e9, true, "G"},
		"2t":                   {2e12, true, "t"},
		"2T":                   {2e12, true, "T"},
		"2P":                   {0, false, "P"},
		"1.2.3":                {0, false, ""},
		"nan":                  {0, true, ""}, // old fio divides by zero where nothing ran
		"-nan":                 {0, true, ""},
		"inf":                  {0, true, ""},
		"-inf%":                {0, true, ""},
		"inf%":                 {0, true, ""},
		"infinite":             {0, false, "infinite"},
		"18446744073709551615": {18446744073709551615, true, ""},
		"18446744073709551616": {0, false, ""},
	} {
		n := ParseNum(s)
		value, ok := n.Value()
		if value != want.value || ok != want.ok || n.Unit != want.unit {
			t.Errorf("%q: %v %t, unit %q; want %v %t %q", s, value, ok, n.Unit, want.value, want.ok, want.unit)
		}
	}
}

// Units of bytes and bits. Kernels and old programs print small letters, and KB is 1,000 or 1,024 by what
// printed it.
func TestUnitsOfBytes(t *testing.T) {
	for s, want := range map[string]struct{ at1000, at1024 float64 }{
		"1B": {1, 1}, "1": {1, 1}, "2KiB/s": {2048, 2048}, "2Ki": {2048, 2048}, "2KB": {2000, 2048}, "2kB": {2000, 2048}, "2k": {2000, 2048},
		"2MB/s": {2e6, 2 << 20}, "2mb": {0, 0}, "2m": {2e6, 2 << 20}, "1.5MiB": {1.5 * (1 << 20), 1.5 * (1 << 20)}, "3GB": {3e9, 3 << 30},
		"1TB": {1e12, 1 << 40}, "1PB": {1e15, 1 << 50}, "1EB": {1e18, 1 << 60}, "8Kbit/s": {1000, 1024}, "8Kibit": {1024, 1024}, "8bit/s": {1, 1},
		"1ZB": {0, 0}, "1KK": {0, 0}, "1 MiB / s": {0, 0}, "1 M i B/s": {1 << 20, 1 << 20},
	} {
		for kb, value := range map[float64]float64{1000: want.at1000, 1024: want.at1024} {
			n := ParseNum(s)
			factor, ok := n.bytes(kb)
			if ok != (value != 0) || ok && n.Times(factor) != value {
				t.Errorf("%q with a KB of %v: %v, %t; want %v", s, kb, n.Times(factor), ok, value)
			}
		}
	}
}

// A share, a duration, and a figure that is kept within what was printed.
func TestSharesTimesAndRounding(t *testing.T) {
	for s, want := range map[string]float64{"97.27%": 0.9727, "0.7%": 0.007, "100%": 1, "5 %": 0.05, "5": 0.05, "5k%": -1, "%": -1, "": -1} {
		if got, ok := ParseShare(s); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %t, want %v", s, got, ok, want)
		}
	}
	for s, want := range map[string]time.Duration{
		"180001msec": 180001 * time.Millisecond, "7usec": 7 * time.Microsecond, "7us": 7 * time.Microsecond, "3nsec": 3, "3ns": 3,
		"2sec": 2 * time.Second, "2s": 2 * time.Second, "1.5ms": 1500 * time.Microsecond, "2min": -1, "msec": -1,
	} {
		if got, ok := ParseNum(s).duration(); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %t, want %v", s, got, ok, want)
		}
	}
	for _, c := range []struct {
		printed        string
		v, factor, cut float64
		want           float64
	}{
		{"40.1k", 40_120, 1e3, 0, 40_120}, // within half a step of 100
		{"40.1k", 40_151, 1e3, 0, 40_150},
		{"40.1k", 40_049, 1e3, 0, 40_050},
		{"40.1k", 40_190, 1e3, 50, 40_190}, // up to 50 were cut off
		{"0", 17, 1, 0, 17},                // what was not printed bounds nothing
		{"40", 17, 0, 0, 17},
	} {
		if got := ParseNum(c.printed).clamp(c.v, c.factor, c.cut); got != c.want {
			t.Errorf("%v within %s: %v, want %v", c.v, c.printed, got, c.want)
		}
	}
}

// A fraction of so many digits is no number of fio's: its line is not understood, and nothing fails.
func TestNumbersOfManyDigits(t *testing.T) {
	r := &Reader{}
	for i, line := range []string{
		"a: (groupid=0, jobs=1): err= 0: pid=1: Wed Jun 14 06:26:51 2023",
		"  read: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/1000msec)",
		"   iops        : min=0.0000000000000000001, max=2",
	} {
		r.Line(i+1, line)
	}
	r.Finish()
	if outs := r.Take(); len(outs) != 1 || len(outs[0].Unread) != 1 || outs[0].Unread[0].Line != 3 {
		t.Errorf("got %+v", outs)
	}
}
