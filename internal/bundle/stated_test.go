package bundle

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
)

// TestVolumesThatATextStates: what is read of sentences that people write, and what is left alone.
func TestVolumesThatATextStates(t *testing.T) {
	for _, tt := range []struct{ line, volumes, level string }{
		{"# m5.12xlarge 192GiB RAM gp2 3000GiB x 4 Raid0", "4xgp2 3000GiB", "raid0"},
		{"We striped 4 x gp3 500 GB with RAID 0.", "4xgp3 500GiB", "raid0"},
		{"### Limits (RAID10 8×gp3)", "8xgp3", "raid10"},
		{"8×gp3 (16,000 IOPS, 1,000 MB/s) in raid-10", "8xgp3 16000iops 1000MB/s", "raid10"},
		{"2x 200GiB io2 (32000 IOPS)", "2xio2 200GiB 32000iops", ""},
		{"2 x pd-ssd 500 GB in raid 0", "2xpd-ssd 500GiB", "raid0"},
		{"4x hyperdisk-balanced-high-availability 1TiB", "4xhyperdisk-balanced-high-availability 1TiB", ""},
		{"2 x premium seats, 4 x ultra", "", ""},
		{"the volume is a gp3 of 500 GiB", "", ""},
		{"gp2 allows 3 IOPS per GiB", "", ""},
		{"0x gp3 or 1999x gp3", "", ""},
	} {
		got := storageIn([]string{tt.line})
		if len(got) == 0 {
			got = []stated{{}}
		}
		if got[0].volumes != tt.volumes || got[0].level != tt.level {
			t.Errorf("%q: %q %q, want %q %q", tt.line, got[0].volumes, got[0].level, tt.volumes, tt.level)
		}
	}
}

// TestStorageNeedsBothHalves: volumes count with a level, from their line or from the array of as many
// members, above the result and with as many members as fio's disk lines show.
func TestStorageNeedsBothHalves(t *testing.T) {
	built := "```\nmdadm --create /dev/md0 --level=0 --chunk=64 --raid-devices=4 /dev/sd[b-e]\n```\n"
	members := func(n int) []fio.Disk {
		list := []fio.Disk{{Name: "md0"}}
		for range n {
			list = append(list, fio.Disk{Name: "sd", Member: true})
		}
		return list
	}
	for _, tt := range []struct {
		name, text string
		disks      []fio.Disk
		line       int
		level      topology.Level
	}{
		{"array by its members", "4x gp2 3000GiB\n" + built, members(4), 20, topology.RAID0},
		{"level beside it", "RAID10 of 4x gp2 3000GiB\n", nil, 20, topology.RAID10},
		{"no level", "4x gp2 3000GiB\n", nil, 20, topology.NoLevel},
		{"array of others", "8x gp2 3000GiB\n" + built, nil, 20, topology.NoLevel},
		{"other disk lines", "4x gp2 3000GiB\n" + built, members(8), 20, topology.NoLevel},
		{"a single disk", "4x gp2 3000GiB\n" + built, []fio.Disk{{Name: "sda"}}, 20, topology.NoLevel},
		{"gp2 without its size", "4x gp2\n" + built, nil, 20, topology.NoLevel},
		{"stated again below", "4x gp2 3000GiB raid0\n\n\n4x gp2 3000GiB raid10\n", nil, 2, topology.RAID0},
	} {
		d := ReadDocument("a.md", []byte(tt.text), nil)
		decl, where, ok := d.storage(&fio.Output{Disks: tt.disks, Line: tt.line, End: tt.line})
		got := topology.NoLevel
		if ok {
			got = decl.Arrays[0].Level
		}
		if got != tt.level || ok && !strings.Contains(where, "line 1") && !strings.Contains(where, "lines 1 and ") {
			t.Errorf("%s: %v %q, want %v", tt.name, got, where, tt.level)
		}
	}
}

// TestSeedsStateTheirVolumes reads the documents that the product grows from.
func TestSeedsStateTheirVolumes(t *testing.T) {
	read := func(name string) ([]*fio.Output, Found) {
		outs, docs, err := Gather([]string{"../../testdata/seeds/" + name}, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		return outs, Found{Outputs: outs, Documents: docs}
	}
	_, found := read("raid0-4xgp2-m5.12xlarge.md")
	results, err := found.Results()
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if r.Topology == nil || len(r.Topology.Arrays) != 1 {
			t.Fatalf("%s: no array of the text", r.Name)
		}
		a := r.Topology.Arrays[0]
		if len(a.Volumes) != 4 || a.Volumes[0].Type != "gp2" || a.Level != topology.RAID0 || a.Chunk.Arg() != "64KiB" ||
			a.Origin.Kind != topology.Assumed {
			t.Errorf("%s: %+v", r.Name, a)
		}
	}
	_, found = read("disk-benchmark-guide.md") // ten tables, no output of fio
	if results, err = found.Results(); err != nil || len(results) != 10 {
		t.Fatalf("the guide: %d results, %v", len(results), err)
	}
	if r := results[0]; r.Total.Write.IOPS != 536 || r.Total.Read.IOPS != 0 || r.Total.Write.Clat.Mean != 1.858e6 ||
		r.Total.Write.BW != 536*8192 {
		t.Errorf("%s: %+v, %+v", r.Name, r.Total.Write, r.Total.Sync)
	}
	if r := results[4]; r.Total.Read.IOPS != 13100 || r.Total.Write.IOPS != 5600 {
		t.Errorf("%s: %v, %v", r.Name, r.Total.Read.IOPS, r.Total.Write.IOPS)
	}
	_, found = read("workload-to-jobfile.md") // its author took 1000= for I/Os above a second
	if results, err = found.Results(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"says that 7.0 % of its I/Os", "says that 35.0 % of its I/Os"} {
		if all := strings.Join(results[i].Doubts, "\n"); !strings.Contains(all, want) {
			t.Errorf("%s: no %q in %s", results[i].Name, want, all)
		}
	}
}

// TestDevicesOfATextAreDoubted: fio counted another disk than the text mounts for the job, and a text names a
// generation of a type that no device of it is.
func TestDevicesOfATextAreDoubted(t *testing.T) {
	for _, tt := range []struct{ name, text, disk, says string }{
		{"another disk", "```\nmount /dev/nvme1n1 /mnt\n```\n", "nvme2n1", "mounts nvme1n1 on /mnt (line 2)"},
		{"its partition", "```\nmount /dev/nvme1n1p1 /mnt\n```\n", "nvme1n1", ""},
		{"mounted elsewhere", "```\nmount /dev/nvme1n1 /mn\n```\n", "nvme2n1", ""},
		{"each machine's", "```\nmount /dev/sdb /mnt\nmount /dev/nvme2n1 /mnt\n```\n", "sdb", ""},
		{"a name of no kernel", "```\nmount /dev/vg/lv /mnt\n```\n", "dm-0", ""},
		{"two generations", "io1 is fast.\nsdb is an io2 volume.\n", "sdb", "line 2 calls its volume io2, and line 1 says io1"},
		{"generations compared", "gp3 is cheaper than gp2.\nsdb is a gp3 volume.\n", "sdb", ""},
		{"each a device's", "sda is an io1 volume.\nsdb is an io2 volume.\n", "sdb", ""},
		{"of another kind", "gp2 is slow.\nsdb is an io2 volume.\n", "sdb", ""},
	} {
		d := ReadDocument("a.md", []byte(tt.text), nil)
		o := &fio.Output{
			Format: fio.Text, Source: "a.md", Line: 9, End: 9, Disks: []fio.Disk{{Name: tt.disk}},
			Jobs: []fio.Job{{
				Name: "w", Options: fio.Options{"directory": "/mnt/x", "rw": "read"}, Read: fio.Direction{IOPS: 5, N: 9},
			}},
		}
		results, err := Found{Outputs: []*fio.Output{o}, Documents: map[string]*Document{"a.md": d}}.Results()
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(results[0].Doubts, "\n")
		said := strings.Contains(all, "the text mounts") || strings.Contains(all, "calls its volume")
		if said != (tt.says != "") || !strings.Contains(all, tt.says) {
			t.Errorf("%s: %q, want %q", tt.name, all, tt.says)
		}
	}
}

// TestClaims: a share of I/Os above or below any time, and not shares of something else.
func TestClaims(t *testing.T) {
	for text, want := range map[string][]claim{
		"over ~35% operations have a latency above 1s on nvme2 compared to ~7% on nvme1": {
			{1, 0.35, time.Second, "nvme2"}, {1, 0.07, time.Second, "nvme1"},
		},
		"5 % of the writes took longer than 1 second.":             {{1, 0.05, time.Second, ""}},
		"99 % of the I/Os took more than 1 ms":                     {{1, 0.99, time.Millisecond, ""}},
		"75% of all reads completed within 250 microseconds":       {{1, 0.25, 250 * time.Microsecond, ""}},
		"only 12.5% of requests are under 1.5ms on sda":            {{1, 0.875, 1500 * time.Microsecond, "sda"}},
		"5 % of reads more than 1 so":                              nil,
		"CPU utilisation was 80 % over 60 s":                       nil,
		"reads are 12 % faster":                                    nil,
		"300 % of the reads took longer than 1 s":                  nil,
		"the writes vary by 5 %. Those of more than 1 s are cut.":  nil,
		"a share of 5 % above the 1 s mark is not one of requests": nil,
	} {
		if got := claims([]string{text}); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// TestClaimsAgainstBounds: a claim inside what buckets and percentiles allow is not denied, one outside
// is, at any time; without figures nothing is.
func TestClaimsAgainstBounds(t *testing.T) {
	ms := time.Millisecond
	with := func(buckets []fio.Bucket, p ...fio.Percentile) *result.Result {
		r := &result.Result{}
		r.Total.Read = fio.Direction{N: 1000, Clat: fio.Latency{N: 1000, Mean: 1, Percentiles: p}}
		r.Total.Buckets = buckets
		return r
	}
	buckets := []fio.Bucket{{Upto: 2 * ms, Value: 0.9}, {Upto: 4 * ms, Value: 0.06}, {Upto: 10 * ms, Value: 0.04}}
	for _, c := range []struct {
		text   string
		r      *result.Result
		denied bool
	}{
		{"10 % of the reads took longer than 2 ms", with(buckets), false},
		{"4 % of the reads took longer than 2 ms", with(buckets), true},
		{"7 % of the reads took longer than 3 ms", with(buckets), false}, // 4 to 10 %
		{"20 % of the reads took longer than 3 ms", with(buckets), true},
		{"96 % of the reads took less than 4 ms", with(buckets), false},
		{"50 % of the reads took less than 4 ms", with(buckets), true},
		{"2 % of the reads took longer than 3 ms", with(nil, fio.Percentile{P: 99, Value: 2 * ms}), true},
		{"0.8 % of the reads took longer than 3 ms", with(nil, fio.Percentile{P: 99, Value: 2 * ms}), false},
		{"20 % of the reads took longer than 3 ms", with(nil), false},
	} {
		d := &Document{claims: claims([]string{c.text})}
		if got := d.denied(c.r, &fio.Output{Line: 9, End: 9}, true); len(d.claims) != 1 || (len(got) > 0) != c.denied {
			t.Errorf("%s: %q, want denied %v", c.text, got, c.denied)
		}
	}
}

func FuzzStated(f *testing.F) {
	f.Add("gp2 3000GiB x 4 Raid0\nover 35% above 1s on a compared to 7% on b\n```\nmdadm -C /dev/md0 -l0 -n4 a b c d\n```\n")
	seed, _ := os.ReadFile("../../testdata/seeds/workload-to-jobfile.md")
	for piece := range slices.Chunk(seed, 1000) {
		f.Add(string(piece))
	}
	bounded.Fuzz(f, func(_ *testing.T, text string) {
		if len(text) > 1500 { // each line is read as the first ones are; long texts would make few executions
			return
		}
		d := ReadDocument("a.md", []byte(text), nil)
		d.storage(&fio.Output{})
	})
}

// TestOwnDrivesAreNotOnTheNetwork: a machine with drives of its own may have been measured on these, and
// what it allows over its storage network is then no bound: i3en.2xlarge reaches 20,000 IOPS there, and
// its two drives 100,000 and more. Where the volumes are named it is one, and where it has no drives.
// A whole output of fio that counts no device is of a file on another machine's filesystem, or may be.
func TestOwnDrivesAreNotOnTheNetwork(t *testing.T) {
	for _, tt := range []struct {
		text   string
		bound  bool
		doubts string
		groups int
		disks  int
	}{
		{"We ran on c5.2xlarge.", false, "fio counted no device, as on a network filesystem", 1, 0},
		{"We ran on c5.2xlarge.", true, "the instance is assumed to be c5.2xlarge", 1, 1},
		{"We ran on c5.2xlarge.", true, "the instance is assumed to be c5.2xlarge", 0, 0}, // an excerpt
		{"We ran on c5.2xlarge with 2x gp3 500GiB in RAID 0.", true, "the volumes are assumed to be gp3", 1, 0},
		{"We ran on i3en.2xlarge with 2 NVMe in RAID0.", false, "it has 2 local drives, and nothing says that its volumes were measured", 0, 0},
		{"We ran on i3en.2xlarge.", false, "it has 2 local drives", 0, 0},
		{"i3en.2xlarge, 4x gp3 500GiB in RAID 0", true, "the volumes are assumed to be gp3", 0, 0},
		{"We ran on c5.2xlarge with NVMe in RAID0.", true, "the instance is assumed to be c5.2xlarge", 0, 0},
	} {
		o := &fio.Output{Source: "a.md", Line: 9, Jobs: []fio.Job{{Name: "a", Options: fio.Options{"rw": "randread", "bs": "4k"}}}}
		o.Groups, o.Disks = make([]fio.Group, tt.groups), make([]fio.Disk, tt.disks)
		found := Found{Outputs: []*fio.Output{o}, Documents: map[string]*Document{"a.md": ReadDocument("a.md", []byte(tt.text), nil)}}
		results, err := found.Results()
		if err != nil {
			t.Fatal(err)
		}
		r := results[0]
		if got := r.Topology.Instance.Known(); got != tt.bound || !strings.Contains(strings.Join(r.Doubts, "; "), tt.doubts) {
			t.Errorf("%s: bound %t, %q", tt.text, got, r.Doubts)
		}
	}
}
