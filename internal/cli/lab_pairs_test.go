package cli_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/compare"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// laidOut are a layout's keys, and the volumes of the guest that it takes: "v4" the first four of v.
type laidOut struct{ keys, volumes string }

// labPair is two layouts under one job, the ratio of their figures that the volumes' limits and md's placement give,
// and whether the model has it.
type labPair struct {
	name   string
	a, b   laidOut
	job    string
	truth  float64
	hidden bool
}

func labPairs() []labPair {
	raid0 := func(chunk int, volumes string) laidOut {
		return laidOut{fmt.Sprintf("level: raid0, chunk: %dKiB", chunk), volumes}
	}
	pieces := func(bs, chunk float64) float64 { return 1 + (bs-4)/chunk } // offsets are multiples of bs = 7 x 4 KiB
	return []labPair{
		{
			"chunk 64 or 512, 28 KiB, IOPS bind", raid0(64, "v4"), raid0(512, "v4"), "rw: randread, bs: 28k",
			pieces(28, 64) / pieces(28, 512), false,
		},
		{"chunk 16 or 64, 64 KiB, IOPS bind", raid0(16, "v4"), raid0(64, "v4"), "rw: randread, bs: 64k", 4, false},
		{"chunk 16 or 256, 16 KiB, no I/O is cut", raid0(16, "v4"), raid0(256, "v4"), "rw: randread, bs: 16k", 1, false},
		{
			"chunk 64 or 512, 28 KiB, bytes bind", raid0(64, "w4"), raid0(512, "w4"), "rw: randread, bs: 28k",
			queued(28, 512) / queued(28, 64), false,
		},
		{
			"chunk 64 or 512, writes of 128 KiB, bytes bind", raid0(64, "w4"), raid0(512, "w4"), "rw: randwrite, bs: 128k",
			queued(128, 512) / queued(128, 64), false,
		},
		{
			"RAID10 of four or RAID0 of two, reads",
			laidOut{"level: raid10, chunk: 64KiB, assume_clean: true", "v4"},
			raid0(64, "v2"), "rw: randread, bs: 8k", 0.5, false,
		},
		{
			"RAID10 of four or RAID0 of two, writes",
			laidOut{"level: raid10, chunk: 64KiB, assume_clean: true", "v4"},
			raid0(64, "v2"), "rw: randwrite, bs: 8k", 1, false,
		},
		{"four or eight", raid0(64, "v4"), raid0(64, "v8"), "rw: randread, bs: 8k", 2, false},
		{
			"md or LVM", raid0(64, "v4"),
			laidOut{"level: raid0, chunk: 64KiB, using: lvm", "v4"},
			"rw: randread, bs: 28k",
			1, false,
		},
		{"a slow member in one of them", raid0(64, "v4"), raid0(64, "v3 s1"), "rw: randread, bs: 8k", 0.5, true},
		{
			"su and sw right or wrong",
			laidOut{"level: raid0, chunk: 64KiB, filesystem: {type: xfs, mount: /srv/a}", "v8"},
			laidOut{"level: raid0, chunk: 64KiB, filesystem: {type: xfs, mount: /srv/a, su: 128KiB, sw: 3}", "v8"},
			"rw: randread, bs: 28k", 0, false, // which is refused before anything is built
		},
		{"partitions aligned or not", laidOut{}, laidOut{}, "rw: randread, bs: 28k", 1, false},
	}
}

// queued is how many I/Os of bs KiB a second four volumes of 5 MiB/s complete with 64 in flight, at random in 160 MiB,
// each volume one piece after the other: now and then one has nothing to do, the more rarely the smaller the pieces.
func queued(bs, chunk int) float64 {
	const ios, size, rate = 200_000, 160 << 10, 5 << 10
	r := rand.New(rand.NewPCG(52, 1))
	var free [4]float64 // when a volume has nothing left to do
	var flight [64]float64
	now := 0.0
	for range ios {
		next := 0
		for i, at := range flight {
			if at < flight[next] {
				next = i
			}
		}
		now = flight[next]
		at := r.IntN(size/bs) * bs
		for end := at + bs; at < end; {
			piece := min(chunk-at%chunk, end-at)
			of := &free[at/chunk%len(free)]
			*of = max(*of, now) + float64(piece)/rate
			flight[next] = max(flight[next], *of)
			at += piece
		}
	}
	return ios / now
}

// unknown is how far a ratio of queued may be off: by where the file lies, and by chance.
const unknown = 0.005

// mounted are two arrays on partitions, those of the second from sector 2049, which plimsoll does not build.
const mounted = `
part() { n=$1 s=$2; shift 2; p=(); for d in "$@"; do sgdisk -a 1 -n 1:$s:0 $d >/dev/null || exit 1; p+=(${d}p1); done; udevadm settle
	mdadm --create /dev/md/$n --run --level=0 --chunk=64 --raid-devices=4 --homehost=any --name=$n "${p[@]}" && udevadm settle &&
	mkfs.ext4 -q /dev/md/$n && mkdir -p /$n && mount /dev/md/$n /$n; }
part a 2048 "${v[@]:0:4}" && part b 2049 "${v[@]:4:4}"
`

// TestLabPairs builds, measures and takes down twelve pairs of layouts by plimsoll ab on volumes whose limits are
// known, and holds what ab says against what they must give. PLIMSOLL_LAB_PAIRS=. tries all, a pattern those that it
// matches.
func TestLabPairs(t *testing.T) {
	only := os.Getenv("PLIMSOLL_LAB_PAIRS")
	if only == "" {
		t.Skip("SKIPPED: PLIMSOLL_LAB_PAIRS says which pairs of layouts are tried (. is all): each takes a minute and more")
	}
	spec, err := lab.ParseSpec("pairs", []byte(`
volumes:
  - {name: v, count: 8, size: 96MiB, iops: 300, throughput: 64MiB/s}
  - {name: w, count: 4, size: 64MiB, iops: 2000, throughput: 5MiB/s}
  - {name: s, count: 1, size: 96MiB, iops: 150, throughput: 64MiB/s, sold_as: v}
`))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	sold := map[string]string{
		"v": "iops: 300, throughput: 64MiB/s", "s": "iops: 300, throughput: 64MiB/s",
		"w": "iops: 2000, throughput: 5MiB/s",
	}
	yaml := func(l laidOut) string {
		var volumes []string
		for of := range strings.FieldsSeq(l.volumes) {
			n := 0
			for _, v := range g.Volumes {
				if v.Group == of[:1] && n < int(of[1]-'0') {
					n++
					volumes = append(volumes, fmt.Sprintf("{serial: %s, merge: 256KiB, %s}", v.Serial, sold[v.Group]))
				}
			}
		}
		keys := l.keys
		if !strings.Contains(keys, "filesystem") {
			keys += ", filesystem: {type: ext4, mount: /srv/a}"
		}
		return fmt.Sprintf("arrays:\n  - {name: a, role: data, %s,\n     volumes: [%s]}\n", keys, strings.Join(volumes, ", "))
	}
	right, falsely, tried := 0, 0, 0
	for _, p := range labPairs() {
		if !regexp.MustCompile(only).MatchString(p.name) {
			continue
		}
		put := func(name, text string) {
			if err := g.Put(t.Context(), "/root/"+name, 0o644, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		variants := "--layout a.yaml --layout b.yaml --yes"
		if p.a.volumes == "" {
			do(t, g, mounted)
			variants = "--variant a:data=/a --variant b:data=/b --volumes 4x300iops:64MiB/s --chunk 64KiB"
		} else {
			put("a.yaml", yaml(p.a))
			put("b.yaml", yaml(p.b))
		}
		// Of 64 I/Os in flight on 80 MiB few are neighbours that a volume merges, which neither truth nor model has. A file
		// of w is twice as large: of forty chunks of 512 KiB a member, one more is 2.5 % of its bytes.
		size := "80MiB"
		if strings.Contains(p.a.volumes, "w") {
			size = "160MiB"
		}
		put("work.yaml", "scenarios:\n  - {id: 1, name: work, role: data, size: "+size+", fio: {ioengine: libaio, "+
			"direct: 1, iodepth: 16, numjobs: 4, "+p.job+"}}\n")
		if p.truth == 0 {
			r := said(t, g, "plimsoll ab work.yaml "+variants+" --dry-run; test $? = 2", nil)
			if tried++; strings.Contains(r.Stderr, "su=128k,sw=3 does not fit") {
				right++
			}
			continue
		}
		do(t, g, "rm -rf runs; plimsoll ab work.yaml "+variants+" --shared-host lab --rounds 4 --runtime 8s --ramp 1s "+
			"--cooldown 0s --margin 5% --seed 1 --progress plain >out 2>err || { cat out err; exit 1; }")
		var table compare.Table
		said(t, g, "plimsoll compare runs/* --margin 5% --json", &table)
		if len(table.Rows) != 1 || len(table.Rows[0].Cells) != 2 {
			t.Fatalf("%s: %+v", p.name, table)
		}
		a, b := table.Rows[0].Cells[0], table.Rows[0].Cells[1]
		tried++
		word, model := compare.Word("none"), b.Ceiling/a.Ceiling
		if b.Change != nil {
			word = b.Change.Word
		}
		switch differs := word == compare.Faster || word == compare.Slower; {
		case differs && math.Abs(p.truth-1) > unknown && (word == compare.Faster) == (p.truth > 1),
			word == compare.Same && math.Abs(p.truth-1) <= table.Margin:
			right++
		case differs:
			falsely++
		}
		between := ""
		if b.Change != nil {
			between = fmt.Sprintf(" [%.3f, %.3f]", b.Change.Ratio.Lo, b.Change.Ratio.Hi)
		}
		t.Logf("| %s | %.3f | %.3f | %.3f%s | %s | %.0f %%, %.0f %% |", p.name, p.truth, model,
			b.Figure.Center/a.Figure.Center, between, word, 100*a.Share, 100*b.Share)
		for _, c := range []compare.Cell{a, b} {
			for _, s := range c.Invalid {
				t.Logf("%s: struck out: %s", p.name, s.Why)
			}
		}
		if foreseen := math.Abs(math.Log(model/p.truth)) < 0.05; foreseen == p.hidden {
			t.Errorf("%s: the model says x%.3f, and the truth is x%.3f", p.name, model, p.truth)
		}
		if p.hidden && len(table.Unforeseen) == 0 {
			t.Errorf("%s: no word of what the model does not have", p.name)
		}
		if left := said(t, g, "cat /proc/mdstat | grep ^md; ls /var/lib/plimsoll/journal", nil).Stdout; p.a.volumes != "" &&
			left != "" {
			t.Errorf("%s: left: %s", p.name, left)
		}
	}
	t.Logf("%d of %d words right, %d false differences", right, tried, falsely)
	if float64(right) < 0.95*float64(tried) || falsely > tried/20 {
		t.Error("less than the oracle asks for")
	}
}
