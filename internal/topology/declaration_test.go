package topology_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The page's own examples are what is tested.
func TestDocumentedDeclaration(t *testing.T) {
	page, err := os.ReadFile("../../docs/plimsoll-yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d YAML examples, want 2", len(blocks))
	}
	for _, b := range blocks {
		if _, err := topology.LoadDeclaration("plimsoll.yaml", b[1]); err != nil {
			t.Error(err)
		}
	}
	for line := range strings.Lines(strings.Split(strings.Split(string(page), "takes it.\n\n```\n")[1], "```")[0]) {
		for spec := range strings.SplitSeq(strings.TrimSpace(line), "   ") {
			if spec = strings.TrimSpace(spec); spec == "" {
				continue
			}
			if _, err := topology.FromFlags(spec, "", "", ""); err != nil {
				t.Errorf("%s: %v", spec, err)
			}
		}
	}

	d, err := topology.LoadDeclaration("plimsoll.yaml", blocks[0][1])
	if err != nil {
		t.Fatal(err)
	}
	top, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	data, wal := top.Array("data"), top.Array("wal")
	if data == nil || data.Level != topology.RAID10 || data.Chunk != 64*units.KiB || data.Copies != 2 || len(data.Volumes) != 8 || data.Stripe() != 256*units.KiB {
		t.Fatalf("%+v", data)
	}
	v := data.Volumes[7]
	if v.Type != "gp3" || v.Sustained.IOPS != 3000 || v.Sustained.Rate != 125*units.MiBPerSec || !v.Network || !v.Merges || v.CountedIO != 256*units.KiB ||
		v.Origin.Kind != topology.Catalogue || v.OriginOf("type").Where != "plimsoll.yaml:8" {
		t.Errorf("%+v", v)
	}
	w := wal.Volumes[7]
	if len(wal.Volumes) != 8 || w.ID != "vol-0a1b2c3d4e5f60009" || w.Sustained.IOPS != 4000 || w.Sustained.Rate != 250*units.MiBPerSec ||
		w.OriginOf("sustained.iops") != (topology.Origin{Kind: topology.Declared, Where: "plimsoll.yaml:23"}) {
		t.Errorf("%+v", w)
	}
	if wal.OriginOf("chunk").Where != "plimsoll.yaml:20" {
		t.Errorf("%+v", wal.Origins)
	}
	if i := top.Instance; i.Baseline.IOPS != 12000 || i.Burst.IOPS != 40000 || i.BurstFor != 30*time.Minute {
		t.Errorf("%+v", i)
	}
	target := top.For(topology.WAL)
	if target == nil || target.Path != "/wal" || target.Array != "wal" || target.Mount.StripeUnit != 256*units.KiB || target.Mount.StripeWide != units.MiB {
		t.Errorf("%+v", target)
	}
	f := d.Arrays[0].Filesystem
	if f.Owner != "postgres:postgres" || f.Mode != "0700" || len(f.Options) != 2 || f.Label != "DATA" {
		t.Errorf("%+v", f)
	}
}

// Every mistake names the file, the line and the key, on one line.
func TestDeclarationMistakes(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"arrays:\n  - name: a\n    lvel: raid10\n", `f.yaml:3: unknown field "lvel"`},
		{"volumes: 4xgp3\n", `f.yaml:1: volumes belongs in an array: arrays: [{name: data, volumes: 4 x gp3, level: raid10}]`},
		{"arays: []\n", `f.yaml:1: unknown field "arays"`},
		{"arrays:\n  - volumes: 8xgp3\n", `f.yaml:2: arrays.name: name "": want`},
		{"arrays:\n  - name: a/b\n", "f.yaml:2: arrays.name:"},
		{"arrays:\n  - name: a\n    level: raid11\n", `f.yaml:3: level: level "raid11": want single, raid0`},
		{"arrays:\n  - name: a\n    role: log\n", `f.yaml:3: role: "log": want data, wal`},
		{"arrays:\n  - name: a\n    level: raid10\n    chunk: 60x\n", `f.yaml:4: chunk: size "60x"`},
		{"arrays:\n  - name: a\n    level: raid10\n    chunk: 6KiB\n", "f.yaml:4: chunk: chunk 6 KiB: want a multiple of 4 KiB"},
		{"arrays:\n  - name: a\n    level: raid1\n    chunk: 64KiB\n", "f.yaml:4: chunk: raid1 has no chunk"},
		{"arrays:\n  - name: a\n    level: raid0\n    copies: 2\n", "f.yaml:4: copies: copies 2"},
		{"arrays:\n  - name: a\n    volumes: 0xgp3\n", "f.yaml:3: volumes"},
		{"arrays:\n  - name: a\n    volumes: 8xgp9\n", `f.yaml:3: volumes: volume type "gp9" is not in the catalogue`},
		{"arrays:\n  - name: a\n    volumes: 8xgp3 100000iops\n", "f.yaml:3: volumes: gp3: 100,000 IOPS are above"},
		{"arrays:\n  - name: a\n    volumes: 8xgp3 raid0\n", `f.yaml:3: volumes "8xgp3 raid0": raid0 is a level, not a type; state it with --level raid0`},
		{"arrays:\n  - name: a\n    volumes: 8xgp3 3000iops 4000iops\n", `f.yaml:3: volumes "8xgp3 3000iops 4000iops": "4000iops" repeats`},
		{"arrays:\n  - name: a\n    volumes: 8xgp3 500\n", `"500" is neither a type nor a size with its unit`},
		{"arrays:\n  - name: a\n    level: raid6\n    volumes: 3xgp3\n", "f.yaml:4: volumes: raid6 needs at least 4 volumes, but there are 3"},
		{"arrays:\n  - name: a\n    level: single\n    volumes: 3xgp3\n", "f.yaml:4: volumes: level single is one volume"},
		{"arrays:\n  - name: a\n    volumes:\n      - {type: gp3, iop: 1}\n", `f.yaml:4: unknown field "iop"`},
		{"arrays:\n  - name: a\n    volumes:\n      - {type: gp3, iops: -1}\n", "f.yaml:4: volumes.iops:"},
		{"arrays:\n  - name: a\n    volumes:\n      - {type: gp3, iops: 0}\n", "f.yaml:4: volumes.iops:"},
		{"arrays:\n  - name: a\n    volumes:\n      - {type: gp3, read_latency: 5}\n", "f.yaml:4: volumes.read_latency: duration"},
		{"arrays:\n  - name: a\n    volumes:\n      - {serial: x, count: 2}\n", "f.yaml:4: volumes: x is one volume, not 2"},
		{"arrays:\n  - name: a\n    volumes:\n      - {path: nvme1n1}\n", "f.yaml:4: volumes.path:"},
		{"arrays:\n  - name: a\n    volumes:\n      - {}\n", "f.yaml:4: volumes: a volume needs a type"},
		{"arrays:\n  - name: a\n    volumes: {serial: X}\n  - name: b\n    volumes: {serial: X}\n", "f.yaml:5: volumes: the volume X is taken by f.yaml:3"},
		{"arrays:\n  - name: a\n    volumes:\n      - {id: vol-0123456789abcdef0}\n      - {serial: vol0123456789abcdef0}\n", "f.yaml:5: volumes: the volume vol-0123456789abcdef0 is taken by f.yaml:4"},
		{"arrays:\n  - name: a\n    role: wal\n  - name: b\n    role: [data, wal]\n", "f.yaml:5: role: the role wal is taken by f.yaml:3"},
		{"arrays:\n  - name: a\n  - name: a\n", "f.yaml:3: name: the name a is taken by f.yaml:2"},
		{"arrays:\n  - name: a\n    filesystem: {mount: /d}\n  - name: b\n    filesystem: {mount: /d/}\n", "f.yaml:5: filesystem.mount: the mount point /d is taken by f.yaml:3"},
		{"arrays:\n  - name: a\n    filesystem: {type: ntfs}\n", `f.yaml:3: filesystem.type: "ntfs": want xfs or ext4`},
		{"arrays:\n  - name: a\n    filesystem: {mount: data}\n", "f.yaml:3: filesystem.mount:"},
		{"arrays:\n  - name: a\n    filesystem: {type: xfs, label: longer-than-12}\n", "f.yaml:3: filesystem.label:"},
		{"arrays:\n  - name: a\n    filesystem: {mode: 0999}\n", "f.yaml:3: filesystem.mode:"},
		{"arrays:\n  - name: a\n    using: zfs\n", "f.yaml:3: using:"},
		{"arrays:\n  - name: a\n    volume_group: vg\n", "f.yaml:3: volume_group: it needs using: lvm"},
		{"instance: m99.huge\n", `f.yaml:1: instance: type "m99.huge" is not in the catalogue`},
		{"instance: {type: c8g.2xlarge, baseline: {iops: many}}\n", "f.yaml:1: instance.baseline.iops:"},
		{"instance: {type: c8g.2xlarge, baseline: {iops: 1, for: 30m}}\n", "f.yaml:1: instance.baseline: the baseline has no end"},
		{"arrays:\n  - name: [a]\n", "f.yaml:2: want a single value here"},
		{"arrays: 7\n", "f.yaml:1: "},
		{"arrays:\n\t- name: a\n", "f.yaml:2: "},
		{"arrays:\n  - name: a\n    name: b\n", "f.yaml:3: "},
	} {
		_, err := topology.LoadDeclaration("f.yaml", []byte(c.yaml))
		if err == nil {
			t.Errorf("no error for\n%swant %s", c.yaml, c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("for\n%sgot  %v\nwant %s", c.yaml, err, c.want)
		}
	}
}

func TestFromFlags(t *testing.T) {
	if d, err := topology.FromFlags("", "", "", ""); d != nil || err != nil {
		t.Error("nothing is declared by no flags", d, err)
	}
	d, err := topology.FromFlags("8x3000iops:125MiB/s", "10", "64k", "c8g.2xlarge")
	if err != nil {
		t.Fatal(err)
	}
	top, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	a := top.Arrays[0]
	v := a.Volumes[0]
	if len(a.Volumes) != 8 || a.Level != topology.RAID10 || a.Chunk != 64*units.KiB || v.Sustained.IOPS != 3000 || v.Sustained.Rate != 125*units.MiBPerSec ||
		!v.Network || v.Origin != (topology.Origin{Kind: topology.Declared, Where: "--volumes"}) {
		t.Errorf("%+v", a)
	}
	if top.For(topology.Data) == nil || top.For(topology.WAL).Array != a.Name {
		t.Errorf("both roles are on the one array: %+v", top.Targets)
	}
	d, err = topology.FromFlags("4 × gp2 3000 GiB", "raid0", "", "m5.12xlarge")
	if err != nil {
		t.Fatal(err)
	}
	top, err = topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	a = top.Arrays[0]
	if len(a.Volumes) != 4 || a.Volumes[3].Sustained.IOPS != 9000 || a.Size != 12000*units.GiB || a.OriginOf("chunk").Kind != topology.Assumed {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct{ volumes, level, chunk, instance, want string }{
		{"gp", "", "", "", `--volumes: volume type "gp" is not in the catalogue`},
		{"8x", "", "", "", "--volumes: volumes \"8x\": want a form such as"},
		{"8xgp3", "raid99", "", "", "--level: level"},
		{"8xgp3", "raid10", "64q", "", "--chunk: size"},
		{"8xgp3", "raid1", "64k", "", "--chunk: raid1 has no chunk"},
		{"", "", "", "c99.none", "--instance: type"},
	} {
		if _, err := topology.FromFlags(c.volumes, c.level, c.chunk, c.instance); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for spec, want := range map[string]string{"8xgp3": "the level is missing", "": "volumes are missing", "2xgp2": "limits follow from the size"} {
		level := ""
		if spec != "8xgp3" {
			level = "raid0"
		}
		d, err := topology.FromFlags(spec, level, "", "")
		if err == nil {
			_, err = topology.FromDeclaration(d)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", spec, err, want)
		}
	}
}

// However the words of a line are ordered and spaced, they mean the same.
func TestVolumeLinesAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "n")
		iops := rapid.IntRange(3000, 16000).Draw(t, "iops")
		words := rapid.Permutation([]string{"gp3", "500GiB", strconv.Itoa(iops) + "iops", "200MiB/s"}).Draw(t, "words")
		sep := rapid.SampledFrom([]string{" ", ":", ", ", "  "}).Draw(t, "sep")
		times := rapid.SampledFrom([]string{"x", " x ", "×", " × ", "*"}).Draw(t, "times")
		spec := strconv.Itoa(n) + times + strings.Join(words, sep)
		d, err := topology.FromFlags(spec, "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		v := d.Arrays[0].Volumes[n-1]
		if len(d.Arrays[0].Volumes) != n || v.Type != "gp3" || v.Size != 500*units.GiB || v.Limits.IOPS != units.IOPS(iops) || v.Limits.Rate != 200*units.MiBPerSec {
			t.Fatalf("%s: %+v", spec, v)
		}
	})
}

func FuzzLoadDeclaration(f *testing.F) {
	page, err := os.ReadFile("../../docs/plimsoll-yaml.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1) {
		f.Add(b[1])
	}
	f.Add([]byte("arrays:\n  - &a {name: x, volumes: 2xgp3}\n  - *a\n  - {<<: *a, name: y}\n"))
	f.Add([]byte("arrays: [{name: a, volumes: [2x io2 500GiB 1000iops, {serial: b}], role: [data]}]"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = data[:min(len(data), 400)] // larger ones are slow and find no more
		d, err := topology.LoadDeclaration("f.yaml", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			return
		}
		top, err := topology.FromDeclaration(d)
		if err != nil {
			return
		}
		for _, a := range top.Arrays {
			if len(a.Volumes) == 0 || a.Level == topology.NoLevel || a.Origin.Where == "" {
				t.Errorf("%+v", a)
			}
		}
	})
}

// What only a simulated machine, and volumes that the catalogue does not know, need.
func TestScaleAndBurst(t *testing.T) {
	d, err := topology.LoadDeclaration("lab", []byte("scale: 0.1\narrays: [{name: a, role: data, volumes: [{iops: 30, burst_iops: 300, burst_credits: 3e3, throughput: 1MiB/s, burst_throughput: 4MiB/s, burst_bytes: 1GiB}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	v := whole.Arrays[0].Volumes[0]
	if whole.Scale != 0.1 || v.Sustained.IOPS != 30 || v.Burst.IOPS != 300 || v.BurstIOs != 3000 || v.Burst.Rate != 4*units.MiBPerSec || v.BurstBytes != units.GiB {
		t.Errorf("%+v", whole)
	}
	for text, want := range map[string]string{
		"scale: 2": "x:1: scale: \"2\": want a number above 0 and at most 1, such as 0.1",
		"arrays: [{name: a, volumes: [{burst_iops: 30}]}]":                     "x:1: volumes: burst_iops goes with burst_credits, and burst_throughput with burst_bytes",
		"arrays: [{name: a, volumes: [{burst_iops: 30, burst_credits: nan}]}]": "x:1: volumes.burst_credits: \"nan\": want a number of I/Os, such as 5.4e6",
	} {
		if _, err := topology.LoadDeclaration("x", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
