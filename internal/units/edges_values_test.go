package units

import "testing"

// Values at the very bounds, where one neighbour prints or reads otherwise; why is in the comment.
func TestValuesAtTheirBounds(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(9.995), "10"},          // from 9.995 on one decimal
		{Number(-1e-9), "0"},           // no sign of nothing
		{Number(0.000001), "0.000001"}, // six decimals
		{Number(0.0000004), "0"},       // and no seventh
		{Number(12345.5), "12,346"},    // from 99.95 on none; half to even: 12,345.5 is 12,346
		{(64 * KiB).Suffixed(), "64k"},
		{(2 * MiB).Suffixed(), "2m"},
		{(1536 * KiB).Suffixed(), "1536k"},
		{(5 * GiB).Suffixed(), "5g"},
		{(1024 * GiB).Suffixed(), "1t"},
		{Bytes(1 << 60).Suffixed(), "1048576t"}, // t is the last letter
		{KiB.Suffixed(), "1k"},
		{Bytes(512).Suffixed(), "512"},
		{Bytes(1025).Suffixed(), "1025"},
		{Bytes(0).Suffixed(), "0"},
		{ShareArg(0.002), "0.2%"},
		{ShareArg(0.1 + 0.2), "30%"}, // 0.30000000000000004
		{ShareArg(1.0 / 3), "33.333333333333%"},
		{ShareArg(0), "0%"},
		{Latency(1e9).Arg(), "1s"},  // one of each unit is of that unit
		{Latency(1e3).Arg(), "1us"}, //
		{Latency(1).Arg(), "1ns"},   //
		{Latency(1e9 - 1).Arg(), "999.999999ms"},
		{Latency(1e9).String(), "1 s"},
		{Latency(-999.5e3).String(), "-1 ms"}, // rounded, it is one
		{Latency(-999.4e3).String(), "-999 µs"},
		{(9999.5 * MiBPerSec).String(), "9.77 GiB/s"}, // it would print as 10,000 MiB/s
		{(9999.5 * MBPerSec).SI(), "10 GB/s"},
		{(1000 * MBPerSec).SI(), "1,000 MB/s"}, // grouped from 1,000 on
		{(80000 * MBPerSec).SI(), "80 GB/s"},
		{Rate(12345678).Arg(), "12345678B/s"}, // 12.345678 MB/s has nine letters
		{Rate(1234567.5).Arg(), "1234567.5B/s"},
		{Rate(1.5e6).Arg(), "1.5MB/s"},
		{IOPS(-9.5).String(), "-9.50"}, // two decimals below ten, one below a hundred, of either sign
		{IOPS(-12.5).String(), "-12.5"},
		{IOPS(-100.6).String(), "-101"},
		{IOPS(1234.5).Arg(), "1234.5"},
		{TrimZeros("100"), "100"}, // only a fraction has zeros to lose
		{TrimZeros("1.0"), "1"},
		{Group("-1234"), "-1,234"},
		{Group("1234567.25"), "1,234,567.25"},
		{LatencyOf(1500).Arg(), "1.5us"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if d := Latency(1.5).Duration(); d != 2 { // whole nanoseconds, half away from zero
		t.Errorf("%d ns", d)
	}
	if d := Latency(1.4).Duration(); d != 1 {
		t.Errorf("%d ns", d)
	}
	for text, want := range map[string]Bytes{"16777215TiB": 16777215 << 40, "18446744073709551615B": 1<<64 - 1, "17179869183g": 17179869183 << 30} {
		if got, err := ParseBytes(text); err != nil || got != want { // a TiB less than 2^64 bytes
			t.Errorf("%s: %d %v", text, got, err)
		}
	}
	for _, text := range []string{"16777216TiB", "17179869184g", "18446744073709551616"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}
