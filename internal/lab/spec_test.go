package lab

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func TestPresets(t *testing.T) {
	all, err := Presets()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 15 {
		t.Errorf("%d presets, want 15", len(all))
	}
	for _, s := range all {
		if s.Description == "" || len(s.Setup) == 0 {
			t.Errorf("%s: no description or nothing set up", s.Name)
		}
		d, err := topology.LoadDeclaration("plimsoll.yaml", []byte(declaration(t, s)))
		if err != nil {
			t.Errorf("%s: its declaration is not understood: %v\n%s", s.Name, err, declaration(t, s))
			continue
		}
		if len(d.Arrays) != len(s.Arrays) || len(s.Arrays) == 0 {
			t.Errorf("%s: %d arrays declared, want %d", s.Name, len(d.Arrays), len(s.Arrays))
		}
	}
}

func TestDeclarationOfWhatWasSold(t *testing.T) {
	s, err := Preset("slow-member")
	if err != nil {
		t.Fatal(err)
	}
	d, err := topology.LoadDeclaration("plimsoll.yaml", []byte(declaration(t, s)))
	if err != nil {
		t.Fatal(err)
	}
	volumes := d.Arrays[0].Volumes
	if len(volumes) != 8 {
		t.Fatalf("%d volumes, want 8", len(volumes))
	}
	for _, v := range volumes {
		if v.Limits.IOPS != 300 || v.Limits.Rate != 12.5*units.MiBPerSec || len(v.Serial) != 20 {
			t.Errorf("declared %+v: want 300 IOPS, 12.5MiB/s and a serial of 20 characters", v)
		}
	}
}

func TestDeclarationWithoutLimits(t *testing.T) {
	s, err := ParseSpec("lab.yaml", []byte("volumes: [{name: a, throughput: 10MiB/s}, {name: b}]\narrays: [{name: x, volumes: a}, {name: y, volumes: [b]}]"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := topology.LoadDeclaration("plimsoll.yaml", []byte(declaration(t, s)))
	if err != nil {
		t.Fatalf("%v\n%s", err, declaration(t, s))
	}
	if a := d.Arrays[0].Volumes[0].Limits; a.IOPS != 0 || a.Rate != 10*units.MiBPerSec || d.Arrays[1].Volumes[0].Limits.Rate != 0 {
		t.Errorf("declared %+v", d.Arrays)
	}
}

// A burst that has no credits would never come: it is refused, not left out.
func TestBurstsHaveCredits(t *testing.T) {
	for text, want := range map[string]string{
		"burst: {iops: 12k, credits: 1e6, throughput: 1GB/s, byte_credits: 10GiB}": "",
		"burst: {iops: 12k}":                     "burst: iops goes with credits",
		"burst: {throughput: 1GB/s}":             "burst: throughput goes with byte_credits",
		"burst: {iops: 12k, byte_credits: 1GiB}": "burst: iops goes with credits",
	} {
		for where, spec := range map[string]string{
			"lab.yaml:1: instance: ":    "instance: {iops: 6000, throughput: 250MB/s, " + text + "}\nvolumes: [{name: data}]\n",
			"lab.yaml:1: volume data: ": "volumes: [{name: data, iops: 300, throughput: 1MiB/s, " + text + "}]\n",
		} {
			_, err := ParseSpec("lab.yaml", []byte(spec))
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), where+want) {
				t.Errorf("%s: %v, want %s%s", spec, err, where, want)
			}
		}
	}
}

func TestSpecIsRead(t *testing.T) {
	s, err := ParseSpec("lab.yaml", []byte(`
scale: 0.5
instance: {iops: 6000, throughput: 250MB/s, burst: {iops: 12k, credits: 1e6}}
volumes:
  - {name: data, count: 4, size: 512MiB, iops: 3000, throughput: 125MiB/s, latency: {read: 0.6ms, write: 1ms, jitter: 0.2}}
  - {name: log, cache: volatile, first_touch: 5ms, unwritten: 40us}
`))
	if err != nil {
		t.Fatal(err)
	}
	b := s.Volumes[0].behaviour(s.Scale, 200*time.Microsecond)
	if b.IOPS != 1500 || b.Throughput != 62.5*units.MiBPerSec || b.ReadLatency != 400*time.Microsecond || b.Merge != 256*units.KiB {
		t.Errorf("behaviour %+v", b)
	}
	b = s.Volumes[1].behaviour(s.Scale, 0)
	if !b.Volatile || b.FirstTouch != 5*time.Millisecond || b.Unwritten != 40*time.Microsecond || s.Volumes[1].Size != units.GiB || s.Volumes[1].Count != 1 {
		t.Errorf("behaviour %+v of %+v", b, s.Volumes[1])
	}
	in := limits(s.Instance.IOPS, s.Instance.Throughput, s.Instance.Burst, 0, s.Scale)
	if in.IOPS != 3000 || in.BurstIOPS != 6000 || in.Credits != 5e5 || in.Throughput != 125*units.MBPerSec {
		t.Errorf("instance %+v", in)
	}
}

func TestSpecIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"volumes: []":                                  "0 volumes",
		"volumes: [{name: data, count: 25}]":           "25 volumes",
		"volumes: [{name: 'a b'}]":                     "lower-case letters",
		"volumes: [{name: a}, {name: a}]":              "name of its own",
		"volumes: [{name: a, iops: -1}]":               "iops",
		"volumes: [{name: a, size: 1000}]":             "multiple of 4 kib",
		"volumes: [{name: a, like: floppy}]":           "ebs or nvme",
		"volumes: [{name: a, cache: big}]":             "none or volatile",
		"volumes: [{name: a, sold_as: b}]":             "sold_as",
		"volumes: [{name: a, speed: 9}]":               "unknown field",
		"scale: 2\nvolumes: [{name: a}]":               "scale",
		"volumes: [{name: a}]\narrays: [{volumes: b}]": "no volumes are named",
	} {
		if _, err := ParseSpec("lab.yaml", []byte(text)); err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
	if _, err := Preset("../spec"); err == nil {
		t.Error("a preset outside the presets was found")
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte("volumes: [{name: a, iops: 100}]"))
	bounded.Fuzz(f, func(t *testing.T, text []byte) {
		s, err := ParseSpec("f", text)
		if err != nil {
			return
		}
		for i := range s.Volumes {
			for n := range s.Volumes[i].Count {
				if serial := s.Volumes[i].serial(i, n); len(serial) != 20 {
					t.Errorf("serial %q", serial)
				}
			}
		}
		_ = declaration(t, s)
	})
}

func declaration(t *testing.T, s *Spec) string {
	t.Helper()
	text, err := s.Declaration()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
