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
			"3 PL158 info, 3 PL102 error, 6 PL158 info, 6 PL102 error",
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

// The repros of the review of 2026-11-26 (D4, D8, D9, D10, D12 to D18), and the storage commands of the seeds.
func TestReprosOfTheThirdReview(t *testing.T) {
	const synchronous = "-name=a -ioengine=psync -iodepth=32 -rw=randread -size=10G -direct=1 -filename=/mnt/x"
	double := strings.ReplaceAll(" "+synchronous, " -", " --")
	for name, c := range map[string]struct{ text, want string }{
		"eval.sh":   {"c=\"fio " + synchronous + "\"\neval $c\n", "2 PL103 warning"},
		"list.yaml": {"containers:\n- name: x\n  args: [\"-rw=randread\", \"-name=a\", \"-size=9G\", \"-directory=/d\", \"-direct=1\", \"-iodepth=4\"]\n", "3 PL103 warning"},
		"nojob.sh":  {"cat > /tmp/p.fio << EOF\n[global]\nrw=write\nsize=1m\nfilename=/mnt/x\nEOF\nfio /tmp/p.fio\n", "2 PL100 error"},
		"tee.sh":    {"sudo tee /tmp/p.fio << EOF\n[global]\nrw=write\ngroup_reporting=1[nvme0]\nEOF\nfio /tmp/p.fio\n", "2 PL100 error"},
		"two.sh":    {"cat > p.fio << E\n[global]\nrw=write\nsize=9g\nE\ncat >> p.fio << E\n[a]\nbs=4k\nE\nfio p.fio\n", ""},
		"append.sh": {"cat > p.fio << E\n[global]\nrw=write\nsize=9g\nE\nfor d in $D; do echo [job-$d] >> p.fio; done\nfio p.fio\n", ""},
		"part.sh":   {"cat > p.fio << E\n[global]\nrw=write\nsize=9g\nE\nfio p.fio job.fio\n", ""},
		"global.fio": {
			"[global]\nname=perf-seq-read\nrw=write\nfilename=/dev/nvme9n1\ndirect=1\n[nvme0]\nbs=4k\n", "3 PL154 info, 4 PL113 info",
		},
		"plus.sh":     {"cmd=\"fio\"\ncmd+=\"" + double + "\"\n${cmd}\n", "3 PL103 warning"},
		"self.sh":     {"c=\"fio --name=a\"\nc=\"$c" + double[9:] + "\"\n$c\n", "3 PL103 warning"},
		"perhaps.sh":  {"c=\"fio --name=a --rw=read --iodepth=32\"\nif x; then c+=\" --ioengine=libaio\"; fi\n$c\n", ""},
		"function.sh": {"c=\"fio --name=a --rw=read --iodepth=32\"\nadd() { c+=\" --ioengine=libaio\"; }\n$c\n", ""},
		"Jenkinsfile": {"node {\n command = \"sudo fio " + synchronous + "\"\n sshCommand remote: remote, command: command\n}\n", "2 PL147 info"},
		"x.go":        {"package main\nfunc main() { exec.Command(\"fio\", \"--name=a\").Run() }\n", "2 PL147 info"},
		"x.ipynb":     {"{\"cells\":[{\"source\":[\"!fio --name=a --rw=read\\n\"]}]}\n", "1 PL147 info"},
		"x.bat":       {"C:\\fio\\fio.exe --name=a --rw=read ^\r\n  --foo=1\r\n", "1 PL147 info"},
		"y.bat":       {"echo done\n", ""},
		"x.py":        {"import os\nos.system(\"fio " + synchronous + "\")\n", "2 PL147 info"},
		"ambiguous.sh": {
			"fio --filename=/tmp/x --rw=write --bs=64k --size=10g --ioengine=libaio --iodepth=64 -t group_reporting\n",
			"1 PL141 error, 1 PL155 warning, 1 PL104 warning, 1 PL102 error",
		},
		"escapes.md": {"```\nfio --name=a --rw=randread\x1b[0m --size=9g --direct=1 --directory=/d\n```\n", ""},
		"long.yml":   {"- run: fio --name=a --description=" + strings.Repeat("x ", 1<<15) + "\n", "1 PL100 info"},
		"barrier.sh": {"mount -o nobarrier,noatime /dev/vg/lv /data\nmount -o barrier=0 /dev/vg/lv /d\n", "1 PL164 info, 2 PL164 info, 2 PL131 error"},
		"fstab.sh":   {"echo \"/dev/vg/lv  /data  ext4  defaults, barrier=0  0  2\" | sudo tee -a /etc/fstab\n", "1 PL163 error"},
		"fstab0.sh":  {"echo \"/dev/vg/lv  /data  ext4  defaults,barrier=0  0  2\" | sudo tee -a /etc/fstab\n", ""},
		"md.sh":      {"echo '/dev/md0 /data xfs noatime 0 0' >> /etc/fstab\n", "1 PL163 info"},
		"verify.sh":  {"fio --verify_only --name=a --filename=/mnt/x --bs=4k\n", "1 PL165 warning"},
		"verify0.sh": {"fio --verify_only --verify=$V --name=a --filename=/mnt/x --bs=4k\n", ""},
		// the seeds
		"five.sh":    {"mdadm --create /dev/md0 --level=0 --raid-devices=5 /dev/sda /dev/sdb /dev/sdc /dev/sdd\n", "1 PL162 error"},
		"spare.sh":   {"mdadm -C /dev/md0 -l 1 -n 2 -x 1 /dev/sda /dev/sdb /dev/sdc\n", ""},
		"missing.sh": {"mdadm -C /dev/md0 -l 1 -n 2 /dev/sda missing\n", ""},
		"glob.sh":    {"mdadm -C /dev/md0 -l 0 -n 4 /dev/nvme[1-8]n1\nmdadm -C /dev/md1 -l 0 -n 4 $DEVICES\n", ""},
		"both.sh": {
			"mdadm -C /dev/md0 -l 0 -n 2 /dev/sda /dev/sdb\nmdadm -C /dev/md1 -l 0 -n 2 /dev/sdb /dev/sdc\n", "2 PL162 error",
		},
		"again.sh": {
			"mdadm -C /dev/md0 -l 0 -n 2 /dev/sda /dev/sdb\nmdadm --stop /dev/md0\nmdadm -C /dev/md1 -l 0 -n 2 /dev/sdb /dev/sdc\n", "",
		},
		"zero.sh": {
			"mdadm -C /dev/md0 -l 0 -n 2 /dev/sda /dev/sdb\nmdadm --zero-superblock /dev/sdb\nmdadm -C /dev/md1 -l 0 -n 2 /dev/sdb /dev/sdc\n", "",
		},
		"either.sh": {
			"if x; then mdadm -C /dev/md0 -l 0 -n 2 /dev/sda /dev/sdb; else mdadm -C /dev/md1 -l 0 -n 2 /dev/sda /dev/sdb; fi\n", "",
		},
		"appendj.sh": {"cat > p.fio << EOF\n[global]\nrw=write\nEOF\necho \"[job-1]\" >> p.fio\nfio p.fio\n", ""},
		"conf.sh": {
			"mdadm --detail --scan >> /etc/mdadm.conf\nx\nmdadm --detail --scan | sudo tee -a /etc/mdadm.conf\n",
			"3 PL163 info",
		},
		"sed.sh": {"sed -i.bak \"\\@^ARRAY@d\" /etc/mdadm.conf\n", "1 PL163 info"},
		"new.sh": {"sed -i '/^ARRAY/d' /etc/mdadm.conf\nmdadm --detail --scan >> /etc/mdadm.conf\n", ""},
	} {
		var said []string
		for _, f := range Judge(NewCase(Case{Scripts: []*script.File{textOf(name, c.text)}})).Found {
			said = append(said, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.Severity))
		}
		if got := strings.Join(said, ", "); got != c.want {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.want, c.text[:min(len(c.text), 300)])
		}
	}
	for command, want := range map[string]string{
		"fio -engine=libaio -name=a -filename=/mnt/x -size=9g\n": "With one hyphen fio takes it for -e (--eta), and may run without it.",
		"fio -t --name=a --size=9g\n":                            "options begin with it, and fio refuses ambiguous ones.",
	} {
		if got := lint("PL102", command); len(got) != 1 || !strings.Contains(got[0].Message, want) {
			t.Errorf("%q: %+v, want %q", command, got, want)
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
