package units

import (
	"math"
	"strings"
	"testing"
)

// Every line stands beside its neighbour on the other side of a boundary; the working is in the
// comment.
func TestPrintedValues(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		// Three digits: from 9.995 on the second decimal would make four (9.995 -> 10.0), so one is printed.
		{Number(9.994), "9.99"},
		{Number(9.996), "10"},
		{Number(10.04), "10"},
		{Number(10.06), "10.1"},
		{Number(99.94), "99.9"},
		{Number(99.96), "100"},
		{Number(100.4), "100"},
		{Number(100.6), "101"},
		{Number(0.9994), "0.999"},
		{Number(0.9996), "1"},
		{Number(0.09996), "0.1"},
		{Number(0.04831), "0.0483"},
		{Number(0.00012345), "0.000123"},
		{Number(0.0000123), "0.000012"}, // six decimals at most
		{Number(1234567), "1,234,567"},
		{Number(-1.239), "-1.24"},
		{Number(1e15 + 1), "1,000,000,000,000,001"},
		// 1,023 bytes stay bytes, 1,024 become 1 KiB.
		{Bytes(1023).String(), "1,023 B"},
		{Bytes(1024).String(), "1 KiB"},
		{Bytes(1<<20 - 1).String(), "1,024 KiB"},
		{Bytes(1 << 20).Arg(), "1MiB"},
		{Bytes(1<<20 + 1).Arg(), "1048577B"},
		{Bytes(0).Arg(), "0B"},
		{Bytes(3 << 60).Arg(), "3EiB"},
		{(2 * TiB).String(), "2 TiB"},
		{(5 * GiB).String(), "5 GiB"},
		{Bytes(math.MaxUint64).String(), "16 EiB"},
		{Bytes(0).String(), "0 B"},
		// Rates stay in MiB/s up to 9,999 (9,999.5 would print as 10,000): 9,999.4 MiB/s and 9,999.6 MiB/s = 9.76 GiB/s.
		{(9999.4 * MiBPerSec).String(), "9,999 MiB/s"},
		{(9999.6 * MiBPerSec).String(), "9.77 GiB/s"},
		{Rate(1023).String(), "1,023 B/s"},
		{Rate(1024).String(), "1 KiB/s"},
		{Rate(-2048).String(), "-2 KiB/s"},
		{(1024 * 1024 * MiBPerSec).String(), "1,024 GiB/s"},
		{Rate(999).SI(), "999 B/s"},
		{Rate(1000).SI(), "1 kB/s"},
		{(9999.4 * MBPerSec).SI(), "9,999 MB/s"},
		{(9999.6 * MBPerSec).SI(), "10 GB/s"},
		{(999.94 * MBPerSec).SI(), "999.9 MB/s"},
		{(1000.4 * MBPerSec).SI(), "1,000 MB/s"},
		{(0.5 * MiBPerSec).Arg(), "0.5MiB/s"},
		{(312.5 * MBPerSec).Arg(), "312.5MB/s"},
		{Rate(1234567).Arg(), "1.234567MB/s"},
		{Rate(1234567.5).Arg(), "1234567.5B/s"},
		// One whole unit after rounding: 999.5 µs prints as 1 ms (0.9995 ms), 999.4 µs does not.
		{Latency(999.5e3).String(), "1 ms"},
		{Latency(999.4e3).String(), "999 µs"},
		{Latency(0.4).String(), "0.4 ns"},
		{Latency(-2e6).String(), "-2 ms"},
		{Latency(999999).Arg(), "999.999us"},
		{Latency(1e6).Arg(), "1ms"},
		{Latency(0.5).Arg(), "0.5ns"},
		{IOPS(9.994).String(), "9.99"},
		{IOPS(10.04).String(), "10.0"},
		{IOPS(99.94).String(), "99.9"},
		{IOPS(100.4).String(), "100"},
		{IOPS(9).String(), "9"},
		{IOPS(0.999).String(), "1.00"},
		{IOPS(10.5).String(), "10.5"},
		{IOPS(99).String(), "99"},
		{IOPS(999).String(), "999"},
		{IOPS(1000).String(), "1,000"},
		{Group("-123456.5"), "-123,456.5"},
		{Group("123"), "123"},
		{Group("1234"), "1,234"},
	} {
		if c.got != c.want {
			t.Errorf("printed %q, want %q", c.got, c.want)
		}
	}
}

func TestParsedValues(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1k": 1024, "1kB": 1000, "1m": 1 << 20, "1MB": 1e6, "1g": 1 << 30, "1t": 1 << 40, "1p": 1 << 50, "1e": 1 << 60, "1.5": 2, "1.4": 1,
		"18,446": 18446, "0.5k": 512, "7 KiB": 7168, "15EiB": 15 << 60,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("size %q: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]Rate{
		"8bps": 1, "1kbps": 125, "1Mbps": 125000, "1KiB/s": 1024, "1kB/s": 1000, "2MBps": 2e6, "0": 0, "1GiB/s": 1 << 30,
	} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("rate %q: %f, %v; want %f", text, got, err, want)
		}
	}
	for text, want := range map[string]Latency{"1ns": 1, "1us": 1e3, "1ms": 1e6, "1s": 1e9, "1sec": 1e9, "1msec": 1e6, "0s": 0, "0.25μs": 250} {
		if got, err := ParseLatency(text); err != nil || got != want {
			t.Errorf("latency %q: %f, %v; want %f", text, got, err, want)
		}
	}
	for text, want := range map[string]IOPS{"1k": 1e3, "1m": 1e6, "1g": 1e9, "0": 0, "12.5": 12.5} {
		if got, err := ParseIOPS(text); err != nil || got != want {
			t.Errorf("IOPS %q: %f, %v; want %f", text, got, err, want)
		}
	}
	if l, err := ParseLatency("9300000000s"); err == nil { // 9.3e18 ns are more than a time.Duration holds (2^63 = 9.22e18)
		t.Errorf("300 years: %f", l)
	}
	if r, err := ParseRate("1MiB"); err == nil {
		t.Errorf("a rate without a time: %f", r)
	}
	for _, text := range []string{"16EiB", "1kk", "1iB", "-1k", "+-1"} {
		if b, err := ParseBytes(text); err == nil {
			t.Errorf("size %q: %d, want an error", text, b)
		}
	}
	digits := strings.Repeat("9", 305) // with a prefix it is more than a float64 holds
	if r, err := ParseRate(digits + "EB/s"); err == nil {
		t.Errorf("rate of 305 digits: %f", r)
	}
	for _, text := range []string{"1kg", "1km", "-1", "k", digits + "k"} {
		if n, err := ParseIOPS(text); err == nil {
			t.Errorf("IOPS %q: %f, want an error", text, n)
		}
	}
}

// Values of JSON are plain numbers in base units, and a text is read as people write it.
func TestJSONValues(t *testing.T) {
	b, r, l, n := 28*KiB, 125*MiBPerSec, Latency(1.5e6), IOPS(0.25)
	for _, c := range []struct {
		got  interface{ MarshalJSON() ([]byte, error) }
		want string
	}{{b, "28672"}, {r, "131072000"}, {l, "1500000"}, {n, "0.25"}, {IOPS(1e21), "1000000000000000000000"}} {
		if text, err := c.got.MarshalJSON(); err != nil || string(text) != c.want {
			t.Errorf("%v is %s, %v; want %s", c.got, text, err, c.want)
		}
	}
	for _, text := range []string{`28672`, `"28KiB"`} {
		var back Bytes
		if err := back.UnmarshalJSON([]byte(text)); err != nil || back != b {
			t.Errorf("%s reads as %d, %v", text, back, err)
		}
	}
	for _, text := range []string{`131072000`, `"125MiB/s"`} {
		var back Rate
		if err := back.UnmarshalJSON([]byte(text)); err != nil || back != r {
			t.Errorf("%s reads as %f, %v", text, back, err)
		}
	}
	for _, text := range []string{`1500000`, `"1.5ms"`} {
		var back Latency
		if err := back.UnmarshalJSON([]byte(text)); err != nil || back != l {
			t.Errorf("%s reads as %f, %v", text, back, err)
		}
	}
	for _, text := range []string{`0.25`, `"0.25"`} {
		var back IOPS
		if err := back.UnmarshalJSON([]byte(text)); err != nil || back != n {
			t.Errorf("%s reads as %f, %v", text, back, err)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if text, err := IOPS(v).MarshalJSON(); err == nil {
			t.Errorf("%f is written as %s", v, text)
		}
	}
	for _, bad := range []string{``, `"`, `x`, `-1`, `null`} {
		var back Bytes
		if err := back.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s reads as %d bytes", bad, back)
		}
	}
}

// A latency must fit into 64 bits of nanoseconds: 292 years.
func TestLongestLatency(t *testing.T) {
	for s, ok := range map[string]bool{"9223372036s": true, "9223372037s": false, "0s": true, "-1s": false, "1e30s": false} {
		if _, err := ParseLatency(s); (err == nil) != ok {
			t.Errorf("%s: %v", s, err)
		}
	}
}
