package fio

import (
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
)

// What fio takes for something else; what it stores instead was read from its memory in real runs
// (grammar.md of the facts that options.tsv comes from).
func TestMisreadings(t *testing.T) {
	for line, want := range map[string]string{
		"size=1.5g":             `is read as 1 byte: fio drops ".5g"`,
		"size=10 GB":            `is read as 10 bytes: fio drops "GB"`,
		"size= 4k":              "is read as 4 bytes: after a space fio does not see the unit",
		"size=1_000":            `is read as 1 byte: fio drops "_000"`,
		"size=4e9":              `is read as 4 bytes: fio drops "e9"`,
		"bs=4kib":               "is read as 4,000 bytes: with kb_base=1024 the unit KiB is 1,000 and k is 1,024",
		"bs=4KiB,8k":            "is read as 4,000 bytes: with kb_base=1024 the unit KiB is 1,000 and k is 1,024",
		"bs=4k-8k":              "is not a range: fio takes 4 KiB for reads and 8 KiB for writes",
		"bsrange=4k-1.5m":       `is read as 1 byte: fio drops ".5m"`,
		"bssplit=1.5k/50:4k/50": `is read as 1 byte: fio drops ".5k"`,
		"runtime=10min":         `is read as 10 µs: fio does not know "min"`,
		"runtime=10sec":         `is read as 10 µs: fio does not know "sec"`,
		"runtime=1h30m":         `is read as 1 µs: fio does not know "h30m"`,
		"runtime=10 m":          `is read as 10 s: fio does not know "m"`,
		"startdelay=5s-10s":     `is read as 5 µs: fio does not know "s-10s"`,
		"iodepth=2*8":           `is read as 2: fio drops "*8"`,
		"rate=1.5m":             `is read as 1 byte: fio drops ".5m"`,
		"size=64k:128k:1m":      "holds 3 values, and fio has room for one: the last (1m) counts",
		"runtime=1:30":          "holds 2 values, and fio has room for one: the first (1) counts",
		"iodepth=1,4":           "holds 2 values, and fio has room for one: the first (1) counts",
		"iodepth=-1":            "is out of range (1 at least): fio before 3.43 runs the job without it, and newer ones refuse it",
		"rwmixread=-1":          "is read as 4,294,967,295: fio has no number below 0 here",
		"bs=4k,-4k":             "is read as 16 EiB: fio has no number below 0 here",
		"threads=1":             "is an option of fio's profile tiobench, and does nothing without it",
	} {
		f, err := ParseJobFile("a", []byte("[a]\n"+line+"\n"), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := f.Effective(0).Options
		got := BuiltinOptions().Misreadings(JobText{Own: all, All: all})
		if len(got) != 1 || got[0].Says != want {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
	for _, plain := range []string{
		"size=4k", "size=4KB", "size=10GB", "size=100%", "size=4g,", "bs=4k,8k", "bs=512b", "bs=512B", "size=4ki", "size=4kilo",
		"runtime=60", "runtime=60s", "runtime=1h", "runtime=60 s", "startdelay=5-10", "thinktime=10ms", "thinktime=10usec",
		"bsrange=4k-8k", "bssplit=4k/50:8k/50", "iodepth=8 ", "rate=1m,2m", "size=0x1000", "iodepth=08", "filesize=1m-2m",
		"kb_base=1000\nbs=4kib", "kb_base=1000\nbs=4k", "size=3z", "size=(4*1k)", "percentile_list=99.9", "bs=4096.0", "write_bw_log=a-b",
		"verify_pattern=0x1.5", "latency_target=50ms", "rate=1m:2m", "rate_iops=10,20", "bs=4k:8k", "filesize=1m:2m", "size=1t", "iodepth= 8", "nice=-5", "flow=-8", "randseed=-1",
		"loops=-1", "bs=4k-", "uid=-1",
	} {
		f, err := ParseJobFile("a", []byte("[a]\n"+plain+"\n"), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := f.Effective(0).Options
		if got := BuiltinOptions().Misreadings(JobText{Own: all, All: all}); len(got) > 0 {
			t.Errorf("%s: %+v", strings.ReplaceAll(plain, "\n", " "), got)
		}
	}
}

// FuzzRefusals reads any value of any option in every version.
func FuzzRefusals(f *testing.F) {
	f.Add("bs", "4k-8k", 33)
	f.Add("zonesize", "-1", 43)
	f.Add("bssplit", "4k/50:/", 1)
	old, tables := OptionsOf(Version{2, 1}), make([]*OptionTable, 45) // made once: they cost more than what is tried
	for minor := range tables {
		tables[minor] = OptionsOf(Version{3, minor})
	}
	bounded.Fuzz(f, func(_ *testing.T, name, value string, minor int) {
		all := []Option{{Name: "ioengine", Value: "io_uring"}, {Name: name, Value: value}}
		j := JobText{Own: all, All: all, Before: []string{}}
		for _, t := range []*OptionTable{old, tables[uint(minor)%uint(len(tables))]} {
			t.Refusals(j)
			t.Misreadings(j)
		}
	})
}
