package fio_test

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/lint"
	"plimsoll/internal/script"
)

// exitCase is a kind of job with its exit statuses, a digit for each binary.
type exitCase struct{ kind, parseOnly, run string }

// exits reads testdata/fio-exits.tsv: the binaries and the cases.
func exits(t *testing.T) ([]string, []exitCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/fio-exits.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	binaries := strings.Fields(lines[1])[1:]
	var cases []exitCase
	for _, line := range lines[2:] {
		col := strings.Split(line, "\t")
		if len(col) != 3 || len(col[1]) != len(binaries) || len(col[2]) != len(binaries) {
			t.Fatalf("%q: want a status for each of %d binaries", line, len(binaries))
		}
		cases = append(cases, exitCase{col[0], col[1], col[2]})
	}
	if len(binaries) != 21 || len(cases) != 33 {
		t.Fatalf("%d binaries, %d cases; want 21 and 33", len(binaries), len(cases))
	}
	return binaries, cases
}

// job is a job file of one section.
func job(lines ...string) string { return "[a]\nrw=read\nsize=1m\n" + strings.Join(lines, "\n") + "\n" }

// kinds are jobs of the kinds that exits.tsv holds. A command line begins with fio.
var kinds = map[string]string{
	"good job":                              job("iodepth=1"),
	"unknown option":                        job("foo=1"),
	"near-miss option":                      job("iodepht=8"),
	"abbreviated option":                    job("iodept=8"),
	"bad value":                             job("iodepth=foo"),
	"out of range":                          job("rwmixread=101"),
	"below min":                             job("iodepth=0"),
	"not in list":                           "[a]\nrw=foo\nsize=1m\n",
	"bad boolean":                           job("unlink=yes"),
	"no argument":                           job("iodepth"),
	"deprecated":                            job("rwmixcycle=1"),
	"soft-deprecated":                       job("verifysort=1"),
	"unknown engine":                        job("ioengine=foo"),
	"another engine's option":               job("ioengine=sync", "userspace_reap"),
	"z suffix elsewhere":                    job("iodepth=8z"),
	"z suffix on size":                      "[a]\nrw=read\nsize=1z\n",
	"command-line option in a job":          job("output-format=json"),
	"outside a section":                     "bs=4k\n[a]\nsize=1m\n",
	"variable not set":                      job("description=${NOSUCH}"),
	"bad job first, good after":             "[b]\niodepth=foo\nsize=1m\n[a]\nsize=1m\n",
	"good job first, bad after":             "[a]\nsize=1m\n[b]\niodepth=foo\nsize=1m\n",
	"list with one good part":               job("iodepth=foo,8"),
	"no such file":                          "fio nofile.fio",
	"empty file":                            "",
	"cmdline: good":                         "fio --name=a --size=1m --rw=read",
	"cmdline: unknown option":               "fio --name=a --size=1m --rw=read --foo=1",
	"cmdline: bad value":                    "fio --name=a --size=1m --rw=read --iodepth=foo",
	"cmdline: bad value of last job of two": "fio --name=a --size=1m --rw=read --name=b --size=1m --iodepth=foo",
	"cmdline: unique abbreviation":          "fio --name=a --size=1m --rw=read --iodept=8",
	"cmdline: ambiguous abbreviation":       "fio --name=a --size=1m --rw=read --iod=8",
	"cmdline: value missing":                "fio --name=a --size=1m --rw=read --iodepth",
	"cmdline: option before --name":         "fio --size=1m --rw=read --name=a",
	"cmdline: single dash":                  "fio -name=a -size=1m -rw=read",
}

// unseen are the kinds that lint cannot or does not want to see, and why.
var unseen = map[string]string{
	"unknown engine":   "an engine that no name of fio's is near may be a plugin's: an info",
	"variable not set": "the value of a variable is not known",
	"no such file":     "files are not looked for",
	"empty file":       "a file without a section is not a job file",
}

func parsed(text string) *script.File {
	if strings.HasPrefix(text, "fio ") {
		return script.CommandText(text, script.Options{})
	}
	return script.Parse("a.fio", []byte(text), script.Options{})
}

// errorsOf counts the errors of a case: refusals, and values that fio takes for something else.
func errorsOf(c *lint.Case) (refused, misread int) {
	for _, f := range lint.Judge(c).Found {
		switch {
		case f.Severity != finding.Fail:
		case f.Code == "PL128":
			misread++
		default:
			refused++
		}
	}
	return refused, misread
}

// What 21 binaries do with 33 kinds of job: lint has an error exactly where a run refuses one.
func TestLintAgreesWithExits(t *testing.T) {
	binaries, cases := exits(t)
	for i, binary := range binaries {
		version := fio.Version{Major: 3, Minor: 43}
		if number := strings.TrimPrefix(binary, "debian-"); number != "git" {
			var err error
			if version, err = fio.ParseVersion("fio-" + number); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range cases {
			refused := c.run[i] != '0'
			said, misread := errorsOf(lint.NewCase(lint.Case{Scripts: []*script.File{parsed(kinds[c.kind])}, Fio: fio.OptionsOf(version)}))
			switch {
			case binary == "2.1.11" && strings.HasPrefix(c.kind, "cmdline: bad value"):
				// It says "failed parsing", too, and goes on without the option.
			case said > 0 && !refused:
				t.Errorf("%s: fio %s takes it, lint has an error", c.kind, binary)
			case said+misread == 0 && refused && unseen[c.kind] == "":
				t.Errorf("%s: fio %s refuses it, lint says nothing", c.kind, binary)
			}
		}
	}
}
