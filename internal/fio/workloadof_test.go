package fio

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/fio/shell"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

func job(t *testing.T, command string) Section {
	t.Helper()
	argv, err := shell.Split(command)
	if err != nil {
		t.Fatal(err)
	}
	var s Section
	for _, word := range argv {
		name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case word == "fio":
		case name == "name":
			s.Name = value
		default:
			s.Options = append(s.Options, Option{Name: name, Value: value, Bare: !has})
		}
	}
	f := JobFile{Sections: []Section{s}}
	return f.Effective(0)
}

func TestWorkloadOf(t *testing.T) {
	const k, m, g = units.KiB, units.MiB, units.GiB
	for command, want := range map[string]Workload{
		"fio --name=j": {Engine: "psync", ReadShare: 1, Sequential: true, ReadBS: 4 * k, Jobs: 1, Depth: 1, Buffered: true},
		"fio --name=j --rw=randrw --rwmixread=70 --bs=8k --ioengine=libaio --iodepth=64 --numjobs=4 --direct=1 --filename=/data/x --size=5G --time_based --runtime=60s --ramp_time=5": {
			Engine: "libaio", Direct: true, ReadShare: 0.7, Mixed: true,
			ReadBS: 8 * k, WriteBS: 8 * k, Jobs: 4, Depth: 64, Size: 5 * g, SharedFile: true,
			Filename: "/data/x", TimeBased: true, Runtime: time.Minute, Ramp: 5 * time.Second,
		},
		// each filename= adds its files
		"fio --name=j --rw=read --filename=/data/x:/data/y --filename=z": {
			Engine: "psync", ReadShare: 1, Sequential: true, ReadBS: 4 * k, Jobs: 1, Depth: 1, Buffered: true, SharedFile: true,
			Filename: "/data/x:/data/y:z",
		},
		// iodepth does nothing on a synchronous engine
		"fio --name=j --rw=write --iodepth=32 --ioengine=pvsync2 --fdatasync=1 --sync=dsync": {
			Engine: "pvsync2", Sequential: true, WriteBS: 4 * k, Jobs: 1, Depth: 1, DepthAsked: 32, SyncEvery: 1, SyncCall: "fdatasync", SyncWrites: true, Buffered: true,
		},
		// a read never syncs
		"fio --name=j --rw=read --fdatasync=1 --sync=1": {Engine: "psync", ReadShare: 1, Sequential: true, ReadBS: 4 * k, Jobs: 1, Depth: 1, Buffered: true},
		// sizes by direction; an empty one is fio's default
		"fio --name=j --readwrite=rw --blocksize=,64k --rate=16m,5m --rate_iops=,100": {
			Engine: "psync", Sequential: true, ReadShare: 0.5, Mixed: true,
			ReadBS: 4 * k, WriteBS: 64 * k, Jobs: 1, Depth: 1, Buffered: true,
			ReadRate: units.Rate(16 * m), WriteRate: units.Rate(5 * m), WriteIOPS: 100,
		},
		"fio --name=j --rw=rw --bs=16k, --rwmixwrite=25": {
			Engine: "psync", Sequential: true, ReadShare: 0.75, Mixed: true,
			ReadBS: 16 * k, WriteBS: 4 * k, Jobs: 1, Depth: 1, Buffered: true,
		},
		"fio --name=j --rw=randread --bssplit=4k/60:64k/40": {Engine: "psync", ReadShare: 1, ReadBS: 28 * k, ReadLeast: 4 * k, ReadSizes: Sizes{{4 * k, 0.6}, {64 * k, 0.4}}, Jobs: 1, Depth: 1, Buffered: true},
		"fio --name=j --rw=randread --bssplit=4k/50:8k:12k": {Engine: "psync", ReadShare: 1, ReadBS: 7 * k, ReadLeast: 4 * k, ReadSizes: Sizes{{4 * k, 0.5}, {8 * k, 0.25}, {12 * k, 0.25}}, Jobs: 1, Depth: 1, Buffered: true},
		"fio --name=j --rw=randwrite --bsrange=4k-16k": {
			Engine: "psync", WriteBS: 10 * k, WriteLeast: 4 * k, Jobs: 1, Depth: 1, Buffered: true,
			WriteSizes: Sizes{{4 * k, 0.25}, {8 * k, 0.25}, {12 * k, 0.25}, {16 * k, 0.25}},
		},
		// fio 3.33 made 16,145, 15,742 and 8,112 of 40,000 I/Os of this range that large
		"fio --name=j --rw=randread --bsrange=4k-10k --blockalign=16k": {
			Engine: "psync", ReadShare: 1, ReadBS: 6963, ReadLeast: 4 * k, Jobs: 1, Depth: 1, Buffered: true, ReadAlign: 16 * k,
			ReadSizes: Sizes{{4 * k, 0.4}, {8 * k, 0.4}, {10 * k, 0.2}},
		},
		// what the shares leave is the last size's
		"fio --name=j --rw=randwrite --bssplit=4k/60:8k/0:16k/20": {
			Engine: "psync", WriteBS: 9011, WriteLeast: 4 * k, Jobs: 1, Depth: 1, Buffered: true,
			WriteSizes: Sizes{{4 * k, 0.6}, {16 * k, 0.4}},
		},
		"fio --name=j --bs=4k --bsrange=4k-16k --bs=32k":            {Engine: "psync", Sequential: true, ReadShare: 1, ReadBS: 32 * k, Jobs: 1, Depth: 1, Buffered: true},
		"fio --name=j --bs=4KiB --buffered=0":                       {Engine: "psync", Sequential: true, ReadShare: 1, ReadBS: 4000, Jobs: 1, Depth: 1, Direct: true},
		"fio --name=j --kb_base=1000 --bs=4k --direct=1 --buffered": {Engine: "psync", Sequential: true, ReadShare: 1, ReadBS: 4000, Jobs: 1, Depth: 1, Buffered: true},
		"fio --name=j --size=50% --offset_increment=1g --filename=a:b --thinktime=100 --startdelay=5-10 --stonewall --verify=crc32c": {
			Engine: "psync", Sequential: true, ReadShare: 1, ReadBS: 4 * k, Jobs: 1, Depth: 1, Buffered: true, SharedFile: true, Filename: "a:b",
			OffsetIncrement: g, ThinkTime: 100 * time.Microsecond, StartDelay: 10 * time.Second, Stonewall: true, VerifyOn: true,
		},
		"fio --name=j --rw=randtrim --time_based=0": {Engine: "psync", TrimShare: 1, TrimBS: 4096, Jobs: 1, Depth: 1, Buffered: true},
	} {
		want.Name = "j"
		command = strings.Replace(command, "--buffered", "--buffered=1", 1)
		command = strings.Replace(command, "--buffered=1=0", "--buffered=0", 1)
		got, err := WorkloadOf("j", job(t, command))
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", command, diff)
		}
	}
}

func TestWorkloadOfNamesTheOption(t *testing.T) {
	for command, want := range map[string]string{
		"fio --name=j --rw=radread":              `[j] rw: "radread" is not an I/O direction that fio knows`,
		"fio --name=j --numjobs='${NUM_JOBS}'":   `[j] numjobs: size "${NUM_JOBS}": want a whole number with an optional k, m, g, t or p, such as 128k`,
		"fio --name=j --bs=4.5k":                 `[j] bs: size "4.5k": fio reads the number 4 and ignores ".5k"; want k, m, g, t or p`,
		"fio --name=j --runtime=1.5h":            `[j] runtime: time "1.5h": want a whole number with an optional us, ms, s, m, h or d, such as 90s`,
		"fio --name=j --bs=0":                    `[j] bs: a block has no bytes`,
		"fio --name=j --size=99999999999999999p": `[j] size: size "99999999999999999p" is beyond 64 bits`,
	} {
		if _, err := WorkloadOf("j", job(t, command)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
}

// What fio 3.33 made of these: bytes of an I/O with --bs=S (2026-11-21).
func TestParseSizeIsFios(t *testing.T) {
	for _, c := range []struct {
		text         string
		k1024, k1000 units.Bytes
	}{
		{"4k", 4096, 4000},
		{"4K", 4096, 4000},
		{"4kb", 4096, 4000},
		{"4ki", 4096, 4000},
		{"4kib", 4000, 4096},
		{"4KiB", 4000, 4096},
		{"0x1000", 4096, 4096},
		{"1m", 1 << 20, 1e6},
		{"1MiB", 1e6, 1 << 20},
		{"5000", 5000, 5000},
		{"5000b", 5000, 5000},
		{"3t", 3 << 40, 3e12},
		{"4kk", 4096, 4000},
		{"+4k", 4096, 4000},
	} {
		for base, want := range map[int]units.Bytes{1024: c.k1024, 1000: c.k1000} {
			if got, err := ParseSize(c.text, base); err != nil || got != want {
				t.Errorf("%s with kb_base=%d: %d, %v; fio reads %d", c.text, base, got, err, want)
			}
		}
	}
	if _, err := ParseSize("50%", 1024); !errors.Is(err, ErrPercent) {
		t.Errorf("50%%: %v", err)
	}
	for _, bad := range []string{"", "k", "-1", "4x", "1.5g", "0x10k", "4k-", "4k,8k", "4k/50"} {
		if v, err := ParseSize(bad, 1024); err == nil {
			t.Errorf("%q: %d", bad, v)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"60": time.Minute, "60s": time.Minute, "1m": time.Minute, "10ms": 10 * time.Millisecond, "7us": 7 * time.Microsecond,
		"2H": 2 * time.Hour, "1d": 24 * time.Hour, "5msec": 5 * time.Millisecond, "0": 0,
	} {
		if got, err := ParseTime(text, time.Second); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if got, _ := ParseTime("5", time.Microsecond); got != 5*time.Microsecond {
		t.Errorf("plain thinktime: %s", got)
	}
	for _, bad := range []string{"", "s", "1min", "-5", "99999999999d"} {
		if v, err := ParseTime(bad, time.Second); err == nil {
			t.Errorf("%q: %s", bad, v)
		}
	}
}

func TestOptionTable(t *testing.T) {
	builtin := BuiltinOptions()
	printed, err := sys.Host().Output(t.Context(), "fio", "--version")
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseVersion(printed)
	if err != nil {
		t.Fatal(err)
	}
	installed := OptionsOf(v)
	for name, table := range map[string]*OptionTable{"built in": builtin, "installed": installed} {
		for _, known := range []string{"rw", "readwrite", "blocksize", "userspace_reap", "single-instance", "ss", "exec_prerun"} {
			if ok, near := table.Check(known); !ok || near != "" {
				t.Errorf("%s: %s is not known, near %q", name, known, near)
			}
		}
		for wrong, want := range map[string]string{
			"iodpeth": "iodepth", "num_jobs": "numjobs", "block_size": "blocksize", "group-reporting": "group_reporting", "RW": "rw",
			"runtme": "runtime", "zzzzzz": "", "iodepthh": "iodepth", "rwmixreads": "rwmixread", "fdata_sync": "fdatasync", "--rw": "rw",
		} {
			if ok, near := table.Check(wrong); ok || near != want {
				t.Errorf("%s: %s: known %v, near %q, want %q", name, wrong, ok, near, want)
			}
		}
	}
	// All that fio prints of itself is in its table, with scripts/fio-versions.sh for each version.
	help, err := sys.Host().Output(t.Context(), "fio", "--cmdhelp=all")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(help) {
		name, _, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		if known, _ := installed.Check(name); !known {
			t.Errorf("%s prints %s, which its table lacks", v, name)
		}
	}
	for name, main := range map[string]string{"log_unix_epoch": "log_unix_epoch", "allrandrepeat": "allrandrepeat", "plids": "plids"} {
		if got := builtin.Main(name); got != main {
			t.Errorf("%s: main name %s", name, got)
		}
	}
	for _, alias := range []string{"allrandrepeat", "log_max_value"} { // options of their own until 3.36, aliases since
		if known, _ := installed.Check(alias); !known {
			t.Errorf("%s does not know %s", v, alias)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	f.Add("4k")
	bounded.Fuzz(f, func(_ *testing.T, s string) {
		_, _ = ParseSize(s, 1024)
		_, _ = ParseTime(s, time.Second)
	})
}

// fio 3.33 held bssplit=4k/50:60k/50 with rate_iops=700 to 88 IOPS: 700 × 4 KiB of bytes in blocks
// of 32 KiB.
func TestHeldIOPS(t *testing.T) {
	w, err := WorkloadOf("j", job(t, "fio --name=j --rw=randrw --bssplit=4k/50:60k/50,8k --rate_iops=700,100"))
	if err != nil {
		t.Fatal(err)
	}
	if read, write := w.HeldIOPS(); read != 87.5 || write != 100 {
		t.Errorf("held to %v and %v IOPS", read, write)
	}
}
