package lint

import (
	"fmt"
	"slices"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/script"
)

// severities are those of one rule over several documents, by document.
func severities(code finding.Code, documents ...[2]string) map[string]finding.Severity {
	c := Case{}
	for _, d := range documents {
		c.Scripts = append(c.Scripts, script.Parse(d[0], []byte(d[1]), script.Options{}))
	}
	found := map[string]finding.Severity{}
	for _, f := range Judge(NewCase(c)).Found {
		if f.Code == code {
			found[f.File] = f.Severity
		}
	}
	return found
}

// What surrounds a job file decides what can be known of it.
func TestContextOfAJobFile(t *testing.T) {
	const (
		buffered = "[a]\nrw=read\nsize=9g\nioengine=libaio\niodepth=4\n"
		shared   = "[a]\nrw=read\nsize=9g\nioengine=psync\nfilename=/f\nnumjobs=4\n"
		suite    = "#!/bin/bash\n. common/rc\n_require_fio\nfio jobs/a.fio\n"
		none     = finding.Severity("")
	)
	for name, c := range map[string]struct {
		code finding.Code
		job  [2]string
		by   string // a script run.sh beside jobs/
		want finding.Severity
	}{
		"alone":                         {"PL104", [2]string{"jobs/a.fio", buffered}, "", finding.Warn},
		"started as it stands":          {"PL104", [2]string{"jobs/a.fio", buffered}, "fio jobs/a.fio\n", finding.Warn},
		"started with direct":           {"PL104", [2]string{"jobs/a.fio", buffered}, "fio --direct=1 jobs/a.fio\n", none},
		"started with what is unknown":  {"PL104", [2]string{"jobs/a.fio", buffered}, "fio $OPTS jobs/a.fio\n", finding.Info},
		"by a variable":                 {"PL104", [2]string{"jobs/a.fio", buffered}, "for f in x; do fio --direct=1 jobs/$f.fio; done\n", none},
		"another file is started":       {"PL104", [2]string{"jobs/a.fio", buffered}, "fio --direct=1 jobs/b.fio\n", finding.Warn},
		"its own option comes behind":   {"PL104", [2]string{"jobs/a.fio", buffered + "direct=0\n"}, "fio --direct=1 jobs/a.fio\n", finding.Warn},
		"an example":                    {"PL107", [2]string{"fio/examples/a.fio", shared}, "", finding.Info},
		"no example":                    {"PL107", [2]string{"fio/jobs/a.fio", shared}, "", finding.Warn},
		"a functional suite starts it":  {"PL107", [2]string{"jobs/a.fio", shared}, suite, none},
		"and somebody else does, too":   {"PL107", [2]string{"jobs/a.fio", shared}, "fio jobs/a.fio\n", finding.Warn},
		"sections started one by one":   {"PL151", [2]string{"jobs/a.fio", seriesOf3}, "fio --section=qd4 jobs/a.fio\n", none},
		"sections started all together": {"PL151", [2]string{"jobs/a.fio", seriesOf3}, "fio --eta=never jobs/a.fio\n", finding.Warn},
	} {
		t.Run(name, func(t *testing.T) {
			documents := [][2]string{c.job}
			if c.by != "" {
				documents = append(documents, [2]string{"run.sh", c.by})
			}
			if got := severities(c.code, documents...)[c.job[0]]; got != c.want {
				t.Errorf("%s: %q, want %q", c.code, got, c.want)
			}
		})
	}
}

const seriesOf3 = "[global]\nrw=read\nsize=1m\nfilename=f\n[qd1]\niodepth=1\n[qd4]\niodepth=4\n[qd16]\niodepth=16\n"

// Warnings say only what the file proves; the nearest case that it does not is an info, or nothing.
func TestWarningsAreProvable(t *testing.T) {
	const none = finding.Severity("")
	for i, c := range []struct {
		code finding.Code
		text string
		want finding.Severity
	}{
		{"PL103", "[global]\niodepth=8\n[a]\nrw=read\nioengine=psync\n[b]\nrw=read\nioengine=libaio\n", finding.Info},
		{"PL103", "[global]\niodepth=8\n[a]\nrw=read\nioengine=psync\n", finding.Warn},
		{"PL103", "[global]\niodepth=8\n[a]\nrw=read\nioengine=psync\niodepth=4\n[b]\nrw=read\nioengine=libaio\n", finding.Warn},
		{"PL104", "fio --name=a --size=9g --rw=read --ioengine=libaio --iodepth=$D\n", finding.Info},
		{"PL105", "fio --name=a --size=64m --rw=write --directory=/d\n", finding.Warn},
		{"PL105", "fio --name=a --size=512m --rw=write --directory=/d\n", finding.Warn},
		{"PL105", "fio --name=a --size=64m --rw=write --direct=0 --directory=/d\n", finding.Info},
		{"PL155", "fio --name=a --size=64g --rw=write --directory=/d\n", finding.Warn},
		{"PL155", "fio --name=a --size=64g --rw=write --directory=/d --direct=0\n", finding.Info},
		{"PL155", "fio --name=a --size=64g --rw=write --directory=/mnt/pmem0\n", finding.Info},
		{"PL155", "fio --name=a --size=64g --rw=write --directory=/d --rate=5m\n", finding.Info},
		{"PL155", "[a]\nsize=64g\nrw=write\nioengine=psync\ndirectory=/d\n", finding.Info},
		{"PL155", "fio --name=fill --size=64g --rw=write --directory=/d\n", none},
		{"PL129", "fio --name=a --size=100m --rw=read --bs=1m --runtime=60 --directory=/d\n", finding.Warn},
		{"PL129", "fio --name=a --nrfiles=90 --filesize=1k --rw=write --bs=1k --runtime=600 --directory=/d\n", finding.Warn},
		{"PL129", "fio --name=a --size=100m --rw=randread --bs=4k --runtime=60 --directory=/d\n", finding.Info},
		{"PL129", "fio --name=a --size=100m --rw=read --bs=1m --runtime=10 --directory=/d\n", finding.Info},
		{"PL129", "fio --name=a --size=300m --rw=read --bs=512k --runtime=1000 --numjobs=10 --directory=/d\n", finding.Info},
		{"PL152", "fio --name=a --read_iolog=x --numjobs=10 --ioengine=libaio --direct=1\n", finding.Warn},
		{"PL152", "fio --name=a --read_iolog=x:y --numjobs=2 --ioengine=libaio --direct=1\n", none},
		{"PL154", "fio --name=libaio --size=9g --rw=read --directory=/d\n", finding.Warn},
		{"PL154", "fio --name=libaio-4k --size=9g --rw=read --directory=/d --ioengine=libaio --direct=1\n", none},
		{"PL154", "fio --name=io_uring_cmd --size=9g --rw=read --filename=/dev/ng0n1 --ioengine=io_uring_cmd\n", none},
		{"PL154", "fio --name=libaio --size=9g --rw=read --directory=/d --ioengine=$E\n", none},
		{"PL154", "[libaio]\nsize=9g\nrw=read\ndirectory=/d\n", none}, // who starts it may give the engine
		{"PL154", "for m in randread randwrite; do fio --name=randread --rw=$m --size=9g; done\n", finding.Info},
		{"PL165", "[a]\nrw=write\nsize=9g\ndirectory=/d\ndo_verify=1\n", finding.Warn},
		{"PL165", "[a]\nrw=write\nsize=9g\ndirectory=/d\ndo_verify=1\nverify=md5\n", none},
		{"PL165", "[a]\nrw=write\nsize=9g\ndirectory=/d\ndo_verify=0\n", none},
		{"PL165", "[global]\nrw=write\nsize=9g\nfilename=\ndo_verify=1\n[a]\n", none}, // a script fills it in
		{"PL107", "fio --name=a --size=9g --rw=read --filename=/f --numjobs=$N --direct=1\n", finding.Info},
		{"PL107", "fio --name=a --size=9g --rw=randread --filename=/f --numjobs=$N --direct=1\n", none},
		{
			"PL107", "for m in read randread; do fio --name=a --size=9g --rw=$m --filename=/f --numjobs=4 --direct=1; done\n",
			finding.Warn,
		},
		{"PL107", "for m in randread randwrite; do fio --name=a --size=9g --rw=$m --filename=/f --numjobs=4 --direct=1; done\n", none},
		{"PL107", "M='read write'\nfor m in $M; do fio --name=a --size=9g --rw=$m --filename=/f --numjobs=4 --direct=1; done\n", finding.Warn},
		{"PL107", "for m in $M; do fio --name=a --size=9g --rw=$m --filename=/f --numjobs=4 --direct=1; done\n", none},
		{"PL107", "for m in read write; do m=rand$m; fio --name=a --size=9g --rw=$m --filename=/f --numjobs=4 --direct=1; " +
			"done\n", none},
		{
			"PL107", "for n in 1 4; do fio --name=a --size=9g --rw=read --filename=/f --numjobs=${n} --direct=1; done\n",
			finding.Warn,
		},
		{
			"PL103", "for d in 1 32; do fio --name=a --size=9g --rw=read --filename=/f --iodepth=$d --direct=1; done\n",
			finding.Warn,
		},
		{"PL150", "[global]\nrw=randwrite\n[a]\nfilename=/1\n[b]\nfilename=/1\n[c]\nfilename=/2\n[d]\nfilename=/2\n", none},
		{"PL150", "[global]\nrw=randwrite\n[a]\nfilename=/1\n[b]\nfilename=/2\n[c]\nfilename=/2\n", finding.Warn},
		{"PL105", "fio --name=a --size=64m --rw=write --ioengine=rados --pool=p\n", none},
		{"PL105", "fio --name=a --size=64m --rw=write --fsync=$N --directory=/d\n", none},
		{"PL106", "fio --name=a --size=64k --bs=4k --rw=randread --iodepth=32 --ioengine=libaio --direct=1 --loops=9\n", finding.Warn},
		{"PL106", "fio --name=a --size=64k --bs=4k --rw=randread --iodepth=16 --ioengine=libaio --direct=1 --loops=9\n", finding.Info},
		{"PL107", "fio --name=a --size=9g --rw=read --filename=/f --numjobs=4 --direct=1\n", finding.Warn},
		{"PL107", "fio --name=a --size=9g --rw=read --filename=/f --numjobs=4\n", finding.Warn},
		{"PL107", "fio --name=prefill --size=9g --rw=write --filename=/f --numjobs=4\n", finding.Info},
		{"PL107", "fio --name=a --size=9g --rw=read --filename=/f --numjobs=4 --output=/dev/null &\n", none},
		{"PL103", "fio --name=a --size=9g --rw=read --filename='C\\:\\x' --iodepth=8\n", none},
		{"PL103", "fio --name=a --size=9g --rw=read --filename=/x --iodepth=8\n", finding.Warn},
		{"PL111", "fio --name=a --rw=write --fsync=1 --ioengine=io_uring --iodepth=16 --direct=1\n", finding.Info},
		{"PL111", "fio --name=a --rw=write --fsync=1 --iodepth=16\n", none}, // PL103 says it
		{"PL120", "[a]\nrwmixread=70\nsize=1g\n", finding.Info},
		{"PL120", "[a]\nrw=randread\nrwmixread=70\nsize=1g\n", finding.Info},
		{"PL137", "[a]\nrw=read\nramp_time=60\nruntime=30\n", finding.Info},
		{"PL137", "[a]\nrw=read\nramp_time=300\nruntime=30\n", finding.Warn},
		{"PL138", "[a]\nrw=read\nruntime=60\nruntime=1m\n", finding.Info},
		{"PL138", "[a]\nrw=read\nruntime=60\nruntime=6m\n", finding.Warn},
		{"PL138", "[a]\nrw=read\npercentage_random=0,0,0\npercentage_random=0\n", finding.Info},
		{"PL138", "[a]\nrw=read\npercentage_random=0,5,0\npercentage_random=0\n", finding.Warn},
		{"PL138", "D='--bs=4k --rw=read'\nfio --name=a $D --bs=8k\n", none},
		{"PL138", "fio --name=a --bs=4k --rw=read --bs=8k\n", finding.Warn},
		{"PL145", "fio --name=fill --filename=/dev/sdb --rw=write --bs=1m\nfio --name=fill2 --filename=/dev/sdb --rw=randwrite --norandommap\n", finding.Info},
		{"PL149", "fio --name=a --filename=/f --rw=randwrite --numjobs=4 --verify=pattern --verify_pattern=0xff\n", none},
		{"PL149", "fio --name=a --filename=/f --rw=write --numjobs=4 --verify=md5\n", finding.Info},
		{"PL149", "fio --name=a --filename=/f --rw=randrw --numjobs=4 --verify=md5\n", finding.Warn},
		{"PL151", "[global]\nfilename=/f\n[randomreader]\nrw=randread\n[randomwriter]\nrw=randwrite\n[sequentialwriter]\nrw=write\n", finding.Info},
		{"PL151", "[global]\nfilename=/f\nnew_group\n[qd1]\niodepth=1\n[qd4]\niodepth=4\n[qd8]\niodepth=8\n", finding.Warn},
		{"PL151", "[global]\nfilename=/f\n[a]\nstonewall\nrw=randread\n[b]\nrw=randwrite\n", finding.Warn},
		{"PL151", "[global]\nfilename=/f\n[a]\nrw=randread\n[b]\nrw=randwrite\n", finding.Info},
		{"PL151", "[global]\nfilename=/f\n[a]\nrw=randread\n[b]\nstonewall\nrw=randwrite\n", none},
		{"PL151", "[global]\nfilename=/f\n[write]\nrw=write\n[read]\nrw=read\n", none}, // PL139 says it
		{"PL151", "[global]\ndirectory=/d\nsize=1g\n[seqRead]\nrw=read\n[seqWrite]\nrw=write\n[randRead]\nrm=randread\nrw=randread\n", finding.Warn},
		{"PL104", "fio --name=prepare --size=9g --rw=write --ioengine=libaio --iodepth=8\n", finding.Info},
		{"PL153", "[wal]\nrw=write\nsize=1g\ndirect=1\n", finding.Info},
		{"PL153", "[wal]\nrw=write\nsize=1g\n", finding.Warn},
	} {
		t.Run(fmt.Sprintf("%d %s", i, c.code), func(t *testing.T) {
			if got := severities(c.code, [2]string{"x", c.text})["x"]; got != c.want {
				t.Errorf("%q, want %q\n%s", got, c.want, c.text)
			}
		})
	}
}

// The types of volume that texts are searched for are those of EBS that burst on credits.
func TestCreditTypes(t *testing.T) {
	var all []string
	for _, v := range cloud.VolumeTypes() {
		if v.EBS() && v.Credits() {
			all = append(all, v.Type)
		}
	}
	if got := slices.Sorted(slices.Values(creditTypes)); !slices.Equal(got, slices.Sorted(slices.Values(all))) {
		t.Errorf("%q, and the catalogue has %q", got, all)
	}
}
