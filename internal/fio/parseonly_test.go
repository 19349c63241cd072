package fio_test

import (
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/sys"
)

// The fio at hand is asked of whole job files: it names each refused option, and takes the rest. On
// values that the table knows the two agree, option by option.
func TestParseOnlyAsksTheInstalledFio(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	v, err := running.Installed(t.Context(), sys.Host())
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	f, err := fio.ParseJobFile("a.fio", []byte("[a]\nrw=radread\niodepth=foo\nsize=1m\nfoo=1\n[b]\nrwmixread=101\nbs=4k\n"), fio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := running.ParseOnly(t.Context(), sys.Host(), f)
	if err != nil || !a.Whole || len(a.Refused) != 4 {
		t.Errorf("%+v, %v: want rw, iodepth, foo and rwmixread, and the rest taken", a, err)
	}
	table := fio.OptionsOf(v)
	asked := 0
	for i, pair := range fio.OracleJobs(t) {
		if i%397 != 0 || !pair.Whole {
			continue
		}
		job := pair.Job
		f := &fio.JobFile{Sections: []fio.Section{{Name: "a", Options: job.Own}}}
		if !running.Literal(f) {
			continue
		}
		a, err := running.ParseOnly(t.Context(), sys.Host(), f)
		if err != nil {
			t.Fatal(err)
		}
		asked++
		for _, r := range table.Refusals(job) {
			if _, refused := a.Refused[r.Option.String()]; !refused && !r.InRun && a.Whole {
				t.Errorf("%s takes %s, the table: %s", v, r.Option, r.Says)
			}
		}
	}
	t.Logf("%d jobs asked", asked)
	if asked < 12 {
		t.Errorf("only %d jobs were asked", asked)
	}
}

// What would make fio run or load something is never handed to it.
func TestOnlyLiteralJobsAreAsked(t *testing.T) {
	for _, line := range []string{
		"size=$ncpus", "size=${X}", "description=`id`", "ioengine=external:/tmp/x.so", "ioengine=./x.so", "merge_blktrace_file=x",
	} {
		f, err := fio.ParseJobFile("a", []byte("[a]\n"+line+"\n"), fio.ParseOptions{})
		if err != nil || running.Literal(f) {
			t.Errorf("%s is asked: %v", line, err)
		}
	}
}
