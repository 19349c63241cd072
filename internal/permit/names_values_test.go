package permit

import (
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// The files of a section by its names, its format, or fio's own; how many are looked at, and what leads out
// of the directory.
func TestNamesOfASection(t *testing.T) {
	for options, c := range map[string]struct {
		jobs, n, owners int
		first, last     string
		err             string
	}{
		"":                                 {1, 1, 1, "x.0.0", "x.0.0", ""},
		"nrfiles=3":                        {2, 6, 2, "x.0.0", "x.1.2", ""},
		"nrfiles=0":                        {1, 1, 1, "x.0.0", "x.0.0", ""},
		"nrfiles=10000":                    {1, 10000, 1, "x.0.0", "x.0.9999", ""},
		"nrfiles=10001":                    {1, 0, 0, "", "", "want a number up to 10000"},
		"nrfiles=many":                     {1, 0, 0, "", "", "want a number up to 10000"},
		"nrfiles=5000":                     {2, 10000, 2, "x.0.0", "x.1.4999", ""},
		"nrfiles=5001":                     {2, 0, 0, "", "", "more than plimsoll handles"},
		"filename_format=f.$filenum":       {1, 1, 1, "f.0", "f.0", ""},
		"filename_format=$jobname-$jobnum": {2, 2, 2, "x-0", "x-1", ""},
		"filename_format=../f":             {1, 0, 0, "", "", "below a directory, not there"},
		"filename_format=/f":               {1, 0, 0, "", "", "below a directory, not there"},
		"filename=/a:/b":                   {4, 2, 1, "/a", "/b", ""},
		"filename=a\ndirectory=/d":         {4, 1, 1, "a", "a", ""},
		"filename=/a\ndirectory=/d":        {1, 0, 0, "", "", "must be below directory=/d"},
		"filename=b/../../a\ndirectory=/d": {1, 0, 0, "", "", "must be below directory=/d"},
		"filename=a..b\ndirectory=/d":      {1, 1, 1, "a..b", "a..b", ""},
		"nrfiles=2\nnrfiles=3":             {1, 3, 1, "x.0.0", "x.0.2", ""},
		"filename=/a\nnrfiles=10001":       {1, 1, 1, "/a", "/a", ""},
		"filename_format=f.$jobnum.$filenum.$jobname": {1, 1, 1, "f.0.0.x", "f.0.0.x", ""},
	} {
		section := job(t, "[x]\nrw=read\n"+options+"\n").Job.Sections[0]
		names, owners, err := namesOf(section, fio.Workload{Jobs: c.jobs})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || len(names) != c.n || owners != c.owners {
			t.Errorf("%q of %d jobs: %d names of %d, %v", options, c.jobs, len(names), owners, err)
			continue
		}
		if c.n > 0 && (names[0] != c.first || names[len(names)-1] != c.last) {
			t.Errorf("%q: from %s to %s, want %s to %s", options, names[0], names[len(names)-1], c.first, c.last)
		}
	}
	if names, owners, err := namesOf(job(t, "[x]\nrw=read\n").Job.Sections[0], fio.Workload{}); len(names) != 1 || owners != 1 || err != nil {
		t.Errorf("a job that is not counted: %q %d %v", names, owners, err)
	}
	for name, want := range map[string]bool{"": false, "a": false, "a/b": false, "/a": true, "..": true, "a/..": true, "../a": true, "a..": false, "..a": false} {
		if got := leaves(name); got != want {
			t.Errorf("%q leads out: %v", name, got)
		}
	}
	for options, want := range map[string]units.Bytes{"size=4k": 4096, "size=1": 1, "size=50%": 0, "size=x": 0, "": 0} {
		if got := sizeOf(job(t, "[x]\nrw=read\n"+options+"\n").Job.Sections[0], "size"); got != want {
			t.Errorf("%q: %d, want %d", options, got, want)
		}
	}
	for options, want := range map[string]bool{"direct=1": true, "direct=0": false, "": false, "direct=1\ndirect=0": false} {
		if got := isSet(job(t, "[x]\nrw=read\n"+options+"\n").Job.Sections[0], "direct"); got != want {
			t.Errorf("%q: %v", options, got)
		}
	}
}
