package units

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/sys/bounded"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "4096": 4096, "28k": 28 << 10, "28K": 28 << 10, "28KiB": 28 << 10, "1.5GiB": 3 << 29, "5g": 5 << 30,
		"3TB": 3e12, "125 MB": 125e6, "18446744073709551615": 1<<64 - 1, "256MiB": 256 << 20, "1Gi": 1 << 30,
	} {
		got, err := ParseBytes(text)
		if err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "4x", "-1", "1e400g", "28KiBs", "1,5GiB", "1,00k", "99999999999999t", "NaN"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestBytesPrint(t *testing.T) {
	for b, want := range map[Bytes]string{
		0: "0 B", 28 << 10: "28 KiB", 3 << 29: "1.5 GiB", 1000: "1,000 B", 235149655244: "219 GiB", 1 << 62: "4 EiB", 1000 << 20: "1,000 MiB",
	} {
		if b.String() != want {
			t.Errorf("%d prints as %s, want %s", uint64(b), b, want)
		}
	}
}

func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bytes(rapid.Uint64().Draw(t, "bytes"))
		text, _ := b.MarshalText()
		var back Bytes
		if err := back.UnmarshalText(text); err != nil || back != b {
			t.Fatalf("%d wrote %s, read %d, %v", uint64(b), text, uint64(back), err)
		}
	})
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"125MiB/s": 125 << 20, "312.5MB/s": 312.5e6, "10Gbps": 1.25e9, "100": 100, "5B/s": 5, "1.25 GB/s": 1.25e9,
		"625MBps": 625e6, "4kB/s": 4000,
	} {
		got, err := ParseRate(text)
		if err != nil || got != want {
			t.Errorf("%q: got %f, %v; want %f", text, got, err, want)
		}
	}
	for _, text := range []string{"", "125MiB", "fast", "-3MB/s", "1MB/h"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: got %f, want an error", text, got)
		}
	}
}

func TestRatePrint(t *testing.T) {
	for r, want := range map[Rate]string{
		125 << 20: "125 MiB/s", 1003 << 20: "1,003 MiB/s", 0: "0 B/s", 3733 << 20: "3,733 MiB/s", 512: "512 B/s", 20480 << 20: "20 GiB/s",
		802 << 10: "802 KiB/s",
	} {
		if r.String() != want {
			t.Errorf("%f prints as %s, want %s", float64(r), r, want)
		}
	}
	for r, want := range map[Rate]string{312.5e6: "312.5 MB/s", 1.25e9: "1,250 MB/s", 52.5e6: "52.5 MB/s"} {
		if r.SI() != want {
			t.Errorf("%f prints as %s, want %s", float64(r), r.SI(), want)
		}
	}
}

func TestRateAsArgument(t *testing.T) {
	for _, text := range []string{
		"125 MiB/s", "312.5 MB/s", "4,750 MB/s", "1,000 MiB/s", "3,900 MB/s", "593.8 MB/s", "81.3 MB/s", "2,000 MiB/s",
	} {
		r, err := ParseRate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if back, err := ParseRate(r.Arg()); err != nil || back != r {
			t.Errorf("%s as an argument is %s, which reads as %f, %v", text, r.Arg(), float64(back), err)
		}
	}
}

func TestLatency(t *testing.T) {
	for text, want := range map[string]Latency{
		"1.858ms": 1.858e6, "600us": 6e5, "42 µs": 42e3, "2s": 2e9, "250 nsec": 250, "0.6 msec": 6e5, "1,858 us": 1.858e6,
	} {
		got, err := ParseLatency(text)
		if err != nil || got != want {
			t.Errorf("%q: got %f, %v; want %f", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"", "5", "1,5ms", "-1ms", "2h", "1e300s", "NaNms"} {
		if got, err := ParseLatency(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
	for l, want := range map[Latency]string{
		0: "0 s", 420: "420 ns", 55560: "55.6 µs", 12345600: "12.3 ms", 1.234e9: "1.23 s", 1.858e6: "1.86 ms", 999.6e3: "1 ms",
		161e6: "161 ms", 5400e9: "5,400 s", 999.4: "999 ns",
	} {
		if l.String() != want {
			t.Errorf("%f ns prints as %s, want %s", float64(l), l, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0483: "0.0483", 1.375: "1.38", 12.34: "12.3", 99.96: "100", 238133: "238,133", -0.001: "-0.001", 1e-9: "0", 1000.6: "1,001",
	} {
		if Number(v) != want {
			t.Errorf("%g prints as %s, want %s", v, Number(v), want)
		}
	}
}

func TestIOPS(t *testing.T) {
	for text, want := range map[string]IOPS{"540": 540, "40.1k": 40100, "18,462": 18462, "1.2M": 1.2e6, "137k IOPS": 137000} {
		got, err := ParseIOPS(text)
		if err != nil || got != want {
			t.Errorf("%q: got %f, %v; want %f", text, got, err, want)
		}
	}
	if got, err := ParseIOPS("40x"); err == nil {
		t.Errorf("40x: got %f, want an error", got)
	}
	for n, want := range map[IOPS]string{18462: "18,462", 536: "536", 1234567.4: "1,234,567", 12.34: "12.3", 0.5: "0.50"} {
		if n.String() != want {
			t.Errorf("%f prints as %s, want %s", float64(n), n, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"28k", "125MiB/s", "40.1k", "10Gbps", "1.5GiB", "-", ".", "kib"} {
		f.Add(s)
	}
	bounded.Fuzz(f, func(t *testing.T, s string) {
		if b, err := ParseBytes(s); err == nil {
			text, _ := b.MarshalText()
			if back, err := ParseBytes(string(text)); err != nil || back != b {
				t.Errorf("%q gave %d, which prints as %s and reads as %d, %v", s, uint64(b), text, uint64(back), err)
			}
		}
		if r, err := ParseRate(s); err == nil && r < 0 {
			t.Errorf("%q gave a negative rate %f", s, float64(r))
		}
		if l, err := ParseLatency(s); err == nil {
			if back, err := ParseLatency(l.Arg()); err != nil || math.Abs(float64(back-l)) > 1e-9*float64(l) {
				t.Errorf("%q gave %f, which prints as %s and reads as %f, %v", s, float64(l), l.Arg(), float64(back), err)
			}
		}
		if n, err := ParseIOPS(s); err == nil && n < 0 {
			t.Errorf("%q gave negative IOPS %f", s, float64(n))
		}
	})
}
