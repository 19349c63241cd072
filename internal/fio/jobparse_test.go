package fio

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
)

// showCmd is the command line that the installed fio makes of a job file, "" when it refuses it.
func showCmd(t *testing.T, text []byte, env ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.fio")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "fio", "--parse-only", "--showcmd", file)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = filepath.Dir(file)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// ours is the same line from our reading, with fio's main names.
func ours(f *JobFile) string {
	words := []string{"fio"}
	var globals []Option
	for _, s := range f.Sections {
		options := s.Options
		if s.Global() { // fio prints all of them again at each [global]
			globals = append(globals, options...)
			options = globals
		} else {
			words = append(words, "--name="+s.Name)
		}
		for _, o := range options {
			name := BuiltinOptions().Main(o.Name)
			switch {
			case o.Bare:
				words = append(words, "--"+name)
			case strings.Contains(o.Value, " "):
				words = append(words, "--"+name+`="`+o.Pad+o.Value+`"`)
			default:
				words = append(words, "--"+name+"="+o.Pad+o.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

var jobTexts = map[string]string{
	"comments":         "; head\n[a]\ndirect=1 ; c\nbs=4k;c\nbs=8k#d\nrw=read\n  # in the middle\n\t; and\n",
	"blanks":           "[a]\nsize = 1m\nrw =read\nruntime\t=\t3\n\n   iodepth=4   \n",
	"bare":             "[a]\ntime_based\nruntime=3\ngroup_reporting\nnorandommap=0\n",
	"crlf":             "[a]\r\nrw=read\r\nsize=1m\r\n",
	"global prefix":    "[globalx]\nrw=read\n[b]\nbs=4k\n",
	"globals in order": "[global]\nbs=4k\n[a]\nrw=read\n[global]\nbs=8k\ndirect=1\n[b]\nrw=write\n",
	"same name":        "[a]\nrw=read\n[a]\nrw=write\n",
	"aliases":          "[a]\nreadwrite=read\nblocksize=16k\nbs=4k\n",
	"no last bracket":  "[abc\nrw=read\n",
	"behind bracket":   "[a]x\nrw=read\n",
	"trailing comment": "[d] ; trailing\nrw=read\n",
	"blank in name":    "[e f]\nrw=read\n",
	"environment":      "[a]\nbs=${FOO}k\nfilename=${FOO}x${NONE}y$jobname\n",
	"not closed":       "[a]\nfilename=${FOO\n",
	"no end of line":   "[a]\nrw=read",
	"empty section":    "[a]\n[b]\nrw=read\n",
	"description":      "[a]\ndescription=some words here\n",
}

func TestParseJobFileAgreesWithFio(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for name, text := range jobTexts {
		t.Run(name, func(t *testing.T) {
			f, err := ParseJobFile("job.fio", []byte(text), ParseOptions{Env: func(n string) (string, bool) {
				return map[string]string{"FOO": "5"}[n], n == "FOO"
			}})
			if err != nil {
				t.Fatal(err)
			}
			want := showCmd(t, []byte(text), "FOO=5")
			if got := ours(f); got != want {
				t.Errorf("fio reads %q\nwe read   %q", want, got)
			}
			if again := showCmd(t, f.Text()); again != want {
				t.Errorf("fio reads our text as %q, the original as %q", again, want)
			}
		})
	}
}

func TestParseJobFileRefusesWhatFioRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"rw=read\n":            `x.fio:1: option "rw=read" stands before the first [section]`,
		"\ufeff[a]\nrw=read\n": "x.fio:1: a byte order mark stands before the first section; fio does not skip it",
		"[a]\n" + strings.Repeat("x", 5000) + "\n":      "x.fio:2: the line has 5001 bytes; fio reads 4095",
		"[a]\nrw=read\ninclude other.fio\n":             "x.fio:3: include lines are not followed here",
		"; c\n\n" + strings.Repeat("y", 70) + "=1\n":    `x.fio:3: option "` + strings.Repeat("y", 60) + `…" stands before the first [section]`,
		"{\n\"fio version\": " + strings.Repeat("1", 9): "x.fio:1: this is JSON, not a job file; plimsoll import reads what fio wrote",
	} {
		if _, err := ParseJobFile("x.fio", []byte(text), ParseOptions{}); err == nil || err.Error() != want {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
		if got := showCmd(t, []byte(text)); got != "" && !strings.Contains(text, "xxx") && !strings.Contains(text, "include") {
			t.Errorf("fio takes %.40q as %q", text, got)
		}
	}
}

func TestIncludes(t *testing.T) {
	files := map[string]string{
		"jobs/common.fio": "bs=4k\ninclude deep.fio\n",
		"jobs/deep.fio":   "direct=1\n",
		"loop.fio":        "include loop.fio\n",
		"section.fio":     "[b]\n",
	}
	opts := ParseOptions{Include: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}}
	f, err := ParseJobFile("jobs/main.fio", []byte("[global]\ninclude common.fio\n[a]\nrw=read\n"), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(f.Text()), "[global]\nbs=4k\ndirect=1\n\n[a]\nrw=read\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if o := f.Sections[0].Options[1]; o.File != "jobs/deep.fio" || o.Line != 1 {
		t.Errorf("included option is at %s:%d", o.File, o.Line)
	}
	for text, want := range map[string]string{
		"[a]\ninclude loop.fio\n":    "m.fio:2: loop.fio:1: loop.fio:1:",
		"[a]\ninclude section.fio\n": "m.fio:2: section.fio:1: an included file may hold options only",
		"[a]\ninclude none.fio\n":    "m.fio:2: include none.fio: file does not exist",
	} {
		_, err := ParseJobFile("m.fio", []byte(text), opts)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if strings.Contains(text, "none") && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: the cause is lost", text)
		}
	}
}

func TestEffective(t *testing.T) {
	f, err := ParseJobFile("x", []byte("[global]\nname=g\nbs=4k\n[a]\nrw=read\n[global]\nbs=8k\n[b]\nname=c\nrw=write\n"), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	jobs := f.Jobs()
	if len(jobs) != 2 {
		t.Fatalf("jobs %v", jobs)
	}
	a, b := f.Effective(jobs[0]), f.Effective(jobs[1])
	if bs, _ := a.Get("bs"); a.Name != "a" || bs != "4k" {
		t.Errorf("%s has bs %s: a global section reaches the jobs behind it only", a.Name, bs)
	}
	if bs, _ := b.Get("bs"); b.Name != "c" || bs != "8k" {
		t.Errorf("%s has bs %s", b.Name, bs)
	}
}

// fio puts in what its environment says of a variable, also where plimsoll has put one in: what is
// left is not handed on.
func TestVariablesAreNotHandedOn(t *testing.T) {
	for value, ok := range map[string]bool{
		"a": true, "é": true, "\xe9": false, "$a": true, "${a": true, "a}": true, "${a}": false,
		".${NOPE}./x": false, "${}": false,
	} {
		job := JobFile{Sections: []Section{{Name: "j", Options: []Option{{Name: "description", Value: value}}}}}
		if err := job.Writable(); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func FuzzParseJobFile(f *testing.F) {
	for _, text := range jobTexts {
		f.Add([]byte(text))
	}
	bounded.Fuzz(f, func(t *testing.T, text []byte) {
		job, err := ParseJobFile("x", text, ParseOptions{})
		if err != nil {
			return
		}
		for _, i := range job.Jobs() {
			s := job.Effective(i)
			_, _ = WorkloadOf(s.Name, s)
		}
		if job.Writable() != nil {
			return
		}
		again, err := ParseJobFile("x", job.Text(), ParseOptions{})
		if err != nil {
			t.Fatalf("own text is refused: %v\n%s", err, job.Text())
		}
		if got, want := string(again.Text()), string(job.Text()); got != want {
			t.Fatalf("text changes:\n%q\n%q", want, got)
		}
	})
}

// TestJobFileCosts: what a job file may hold is counted while it is read: 5,000 sections could take 798 MB.
func TestJobFileCosts(t *testing.T) {
	many := func(n int) string { return "[global]\nrw=read\n" + strings.Repeat("[j]\n", n) }
	inherit := func(jobs, options int) string {
		return "[global]\n" + strings.Repeat("bs=4k\n", options) + strings.Repeat("[j]\n", jobs)
	}
	for text, want := range map[string]string{
		many(4096):                             "",
		many(4097):                             "f:4099: more than 4096 jobs, the most that fio runs: use numjobs, or several files",
		inherit(2000, 124):                     "",
		inherit(2000, 125):                     "f:2126: the jobs have more than 250000 options with those of [global]: use several files",
		strings.Repeat("[a]\n", 1<<18):         "f:4097: more than 4096 jobs, the most that fio runs: use numjobs, or several files",
		"[a]\n" + strings.Repeat("b\n", 2048):  "",
		"[a]\n" + strings.Repeat("b\n", 1<<18): "f:2050: more than 2048 options of one section, or of all [global]: fio has fewer than 300",
	} {
		_, err := ParseJobFile("f", []byte(text), ParseOptions{})
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%d bytes: %s, want %s", len(text), got, want)
		}
	}
}

func BenchmarkParseJobFile(b *testing.B) {
	text := []byte(jobTexts["globals in order"] + jobTexts["comments"] + jobTexts["blanks"])
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ParseJobFile("x", text, ParseOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
