package permit

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
)

// Every option that fio has is judged once, and no entry is of an option that it has not.
func TestEveryOptionHasAReach(t *testing.T) {
	text, err := os.ReadFile("../fio/options.tsv")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		col := strings.Split(line, "\t")
		if col[0] != "option" || strings.HasPrefix(col[4], "profile:") {
			continue
		}
		if o, ok := fio.BuiltinOptions().Lookup(col[1]); ok && o.Name == col[1] {
			known[col[1]] = true
		}
	}
	if len(known) < 250 {
		t.Fatalf("only %d options were found in fio's table", len(known))
	}
	for name := range known {
		if _, ok := reaches()[name]; !ok {
			t.Errorf("%s has no entry in reach.tsv", name)
		}
	}
	for name, r := range reaches() {
		if !known[name] {
			t.Errorf("reach.tsv has %s, which fio has not", name)
		}
		switch r.reach {
		case reachNone, reachFiles, reachLog, reachRun, reachExec:
		case reachRefused:
			if r.reason == "-" || r.reason == "" {
				t.Errorf("%s is refused without a reason", name)
			}
		default:
			t.Errorf("%s has the unknown reach %q", name, r.reach)
		}
	}
}

func section(options ...fio.Option) fio.Section { return fio.Section{Name: "x", Options: options} }

// Each option that reaches out is refused, whatever its value, or by its alias; a switch that is
// off is not.
func TestDangerousOptionsAreRefused(t *testing.T) {
	for name, r := range reaches() {
		o := fio.Option{Name: name, Value: "1", Line: 3}
		err := Consent{}.checkOptions("j.fio", section(o))
		switch {
		case r.reach == reachRefused && (err == nil || !strings.Contains(err.Error(), r.reason)):
			t.Errorf("%s: %v, want a refusal: it %s", name, err, r.reason)
		case r.reach == reachExec && (err == nil || !strings.Contains(err.Error(), "--allow-exec")):
			t.Errorf("%s: %v, want a refusal that names --allow-exec", name, err)
		case r.reach == reachExec:
			if err := (Consent{Exec: true}).checkOptions("j.fio", section(o)); err != nil {
				t.Errorf("%s with --allow-exec: %v", name, err)
			}
		case r.reach == reachNone && err != nil:
			t.Errorf("%s: %v, want none", name, err)
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"ioengine", "external:/x.so", "runs code of that library"},
		{"ba", "$pagesize*2", "would evaluate with bc in a shell"},
		{"prio", "4-$ncpus", "would evaluate with bc in a shell"},
		{"hugepage-size", "$pagesize", "would evaluate with bc in a shell"},
		{"filename", "\u00a0/d/f", "a blank that fio does not treat as one"},
		{"directory", "/d\u2003", "a blank that fio does not treat as one"},
		{"size", "1m\u0085", "a blank that fio does not treat as one"},
		{"filename", `y\`, "ends with a backslash"},
		{"directory", `/d\ `, "ends with a backslash"},
		{"ioengine", "libpmem", "cannot see"},
		{"ioengine", "/x.so", "runs code of that library"},
		{"ioengine", "exec", "runs programs"},
		{"ioengine", "net", "network"},
		{"ioengine", "rbd", "cannot see"},
		{"ioengine", "io_uring_cmd", "cannot see"},
		{"ioengine", "sg", "cannot see"},
		{"mem", "mmap:/etc/passwd", "writes over the file"},
		{"mem", "shmhuge", "leaves its shared memory behind"},
		{"iomem", "mmapshared:/etc/passwd", "writes over the file"},
		{"buffer_pattern", "'/etc/shadow'", "reads another file"},
		{"write_bw_log", "/etc/x", "outside of the run"},
		{"write_lat_log", "../x", "outside of the run"},
		{"fill_fs", "1", "fills the filesystem"},
		{"of_next_year", "1", "does not know"},
	} {
		err := Consent{}.checkOptions("j.fio", section(fio.Option{Name: c.name, Value: c.value, Line: 3}))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "j.fio:3: ") {
			t.Errorf("%s=%s: %v, want a refusal with %q", c.name, c.value, err, c.want)
		}
	}
	for _, c := range []struct{ name, value string }{
		{"filename", " \t/d/f "},
		{"filename", `a\b`},
		{"fill_device", "0"},
		{"ba", "$pagesize"},
		{"verify_dump", "0"},
		{"mem", "mmaphuge"},
		{"ioengine", "null"},
		{"ioengine", "libaio"},
		{"write_bw_log", ""},
		{"write_bw_log", "mine"},
		{"buffer_pattern", "0xdeadbeef"},
	} {
		if err := (Consent{}).checkOptions("j.fio", section(fio.Option{Name: c.name, Value: c.value})); err != nil {
			t.Errorf("%s=%s: %v, want none", c.name, c.value, err)
		}
	}
}

// A mix writes, also one whose share of reads is all: where zones are kept, and of a device that is mapped.
func TestMixesWrite(t *testing.T) {
	for options, want := range map[string]bool{
		"rw=rw\nrwmixread=100": true, "rw=randrw:8\nrwmixwrite=0": true, "rw=readwrite\nrwmixread=100": true,
		"rw=randrw\nrwmixread=99": true, "rw=randread\nrwmixread=100": false, "rw=randread:8": false, "rw=read": false,
	} {
		section := effective(t, options+"\nfilename=/d/x")
		list, err := accessesOf(section)
		w, err2 := fio.WorkloadOf("x", section)
		if err != nil || err2 != nil || len(list) != 1 || list[0].writes != want || suite.Writes([]fio.Workload{w}) != want {
			t.Errorf("%q: %+v, %v, %v", options, list, err, err2)
		}
	}
}

// Logs go to the run's directory, by the job's name where they have none; commands run where plimsoll does.
func TestLogsAreKeptWithTheRun(t *testing.T) {
	job := fio.JobFile{Sections: []fio.Section{
		{Name: "global", Options: []fio.Option{{Name: "write_lat_log", Value: "all"}}},
		{Name: "../../etc/x", Options: []fio.Option{
			{Name: "write_iops_log", Bare: true}, {Name: "exec_prerun", Value: "./x"},
		}},
	}}
	keepLogs(&job, "/run", "/it's here")
	eff := job.Effective(1)
	for name, want := range map[string]string{
		"write_lat_log": "/run/all", "write_iops_log": "/run/..-..-etc-x", "exec_prerun": `(cd '/it'\''s here' && ./x)`,
	} {
		if got, _ := eff.Get(name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
}
