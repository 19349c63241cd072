package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
)

// The repros of the review of 2026-11-21, on files that nobody of the project had seen: what is said of each,
// by line and rule.
func TestReprosOfTheReview(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"ar.sh": {
			"ARGS=(--name=a --rw=randread)\nARGS+=(--foo=1)\nfio \"${ARGS[@]}\"\nO=\"--name=b\"\nO+=\" --foo=2\"\nfio $O\n",
			"3 PL102 error, 6 PL102 error",
		},
		"bp2.fio": {"[a]\nrw=write\nbs=64k\nsize=10G\ndirect=1\nioengine=libaio\nbuffer_pattern=0xdeadbeef\nbuffer_compress_percentage=${P}\n", ""},
		"h.md": {
			"<pre><code>\nfio --name=a --foo=1\n</code></pre>\n\n<details>\n\n```console\n$ fio --name=a --foo=1\n```\n</details>\n",
			"2 PL158 info, 2 PL102 error, 8 PL158 info, 8 PL102 error",
		},
		"o.fio":  {"[g]\nrw=randread\nsize=10G\ndirect=1\nrwmixcycle=1\n", "5 PL124 error"},
		"of.fio": {"[global]\nioengine=libaio\ndirect=1\noutput-format=json\n[a]\nrw=read\nsize=10G\nfilename=/tmp/x\n", "4 PL102 error"},
		"ok.fio": {"[a]\nrw=read\nsize=100G\ndirect=1\n", ""},
		"p.fio":  {"[a]\nrw=read\nsize=10G\ndirec=1\n", "4 PL102 error"},
		"st.fio": {
			"[global]\nioengine=libaio\ndirect=1\nbs=4k\nrw=randread\nfilename=/mnt/x\nsize=40G\n[qd1]\niodepth=1\n[qd32]\niodepth=32\n",
			"10 PL151 info",
		},
		"th.fio": {"[a]\nrw=read\nsize=10G\nthreads=1\n", "4 PL128 error"},
		"u.fio":  {"[a]\nrw=${R}\nnumjobs=${J}\nioengine=libaio\niodepth=32\ndirect=1\nfilename=/dev/sdb\n", ""},
		"x.fio": {
			"[j]\nrw=read\nbs=4k\nsize=64k\nreplay_redirect=/dev/a\nbssplit=4k/50:8k/50\nbssplit=4k/100\nfilename=rf2/a\n",
			"4 PL106 info, 7 PL138 warning",
		},
		"r.fio":     {"[j]\nrw=write\nsize=64k\nfilename=a\nfilename=b\n", "3 PL106 info"}, // G2: fio adds files
		"w.yml":     {"- run: fio --name=a --foo=1\n", "1 PL158 info, 1 PL102 error"},
		"logs.sh":   {"kubectl logs -l kbench=fio -f\nscreen -S fio -d -m\nkubestr fio -f x.fio\necho \"Running fio with stuff\"\n", ""},       // M3
		"cmd.md":    {"Run `fio --name=a --size=1g --foo=1` here.\n", "1 PL102 error"},                                                         // S7
		"twice.sh":  {"fio --direct=1 --bs=4k-64k --size=10g --rw=randrw --name=a --name=b\n", "1 PL128 error"},                                // M1
		"uring.sh":  {"fio --name=a --ioengine=io_uring_cmd --rw=read --size=1g --filename=/dev/ng0n1 --read_mode=prefetch\n", "1 PL112 info"}, // M9
		"object.sh": {"fio --name=a --ioengine=http --rw=read --size=1g --http_s3_security_token=x\n", ""},                                     // M9
	} {
		var said []string
		for _, f := range Judge(NewCase(Case{Scripts: []*script.File{textOf(name, c.text)}})).Found {
			said = append(said, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.Severity))
		}
		if got := strings.Join(said, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What fio 3.33 refuses and lint passed over: options of the command line in a job file, and values (G4).
func TestRefusalsOfTheReview(t *testing.T) {
	refused := func(text string) bool {
		return slices.ContainsFunc(lint("PL102", text), func(f finding.Finding) bool { return f.Severity == finding.Fail })
	}
	for o := range strings.FieldsSeq(`output=x output-format=json minimal eta=never status-interval=1 readonly section=a showcmd
		client=x max-jobs=3`) {
		if !refused("[a]\nrw=read\nsize=10G\n" + o + "\n") {
			t.Errorf("silent on %s in a job file", o)
		}
	}
	for o := range strings.FieldsSeq(`direct=true direct=yes direct=on direct=2 thread=yes group_reporting=true time_based=yes
		norandommap=true end_fsync=true verify=crc32k verify=1 zonemode=foo fallocate=foo sync=foo mem=foo clocksource=foo
		file_service_type=foo unified_rw_reporting=foo rwmixread=101 iodepth=0 iodepth=abc nice=30 dedupe_percentage=101
		percentile_list=101 io_size=200% random_distribution=zoned:60/10:30/20 ioengine=sync,psync`) {
		if !refused("fio --name=a --rw=randrw --size=10G --" + o + "\n") {
			t.Errorf("silent on %s", o)
		}
	}
}
