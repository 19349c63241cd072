package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/sys/bounded"
)

func TestParseCommandLine(t *testing.T) {
	argv, err := shell.Split("fio --output-format=json --output out.json --eta never --bs=4k -direct 1 --name=a --rw randread --time_based " +
		"--runtime 5 --name=global --bs=8k --name b --group_reporting=1 --unknown --minimal extra.fio -- --x")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(argv)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(f.Text()), "[global]\nbs=4k\ndirect=1\n\n[a]\nrw=randread\ntime_based\nruntime=5\n\n[global]\nbs=8k\n\n[b]\ngroup_reporting=1\nunknown\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var settings []string
	for _, o := range f.Settings {
		settings = append(settings, o.String())
	}
	if want := []string{"output-format=json", "output=out.json", "eta=never", "minimal"}; !slices.Equal(settings, want) {
		t.Errorf("settings %q", settings)
	}
	if want := []string{"extra.fio", "--x"}; !slices.Equal(f.Files, want) {
		t.Errorf("files %q", f.Files)
	}
	for _, bad := range []string{"fio --name", "fio --name=a --rw", "fio --output"} {
		if _, err := Parse(strings.Fields(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// A word behind an option goes where fio puts it: fio says "unable to open" of a word that it takes
// for a job file.
func TestNextWordIsFios(t *testing.T) {
	for _, option := range []string{"rw read", "direct 1", "group_reporting 1", "time_based 1", "minimal x", "size 1m", "stonewall 0", "readonly x", "thinktime 5"} {
		name, _, _ := strings.Cut(option, " ")
		words := append([]string{"fio", "--parse-only", "--name=a", "--size=1m"}, strings.Fields("--"+option)...)
		out, _ := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
		isFile := strings.Contains(string(out), "unable to open")
		f, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		if isFile != (len(f.Files) == 1) {
			t.Errorf("--%s: fio says %q, we take files %q", name, out, f.Files)
		}
	}
}

// showCmd is the command line that the installed fio makes of a job file, "" when it refuses it.
func showCmd(t *testing.T, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.fio")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "fio", "--parse-only", "--showcmd", file)
	cmd.Dir = filepath.Dir(file)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Command line and job file turn into each other without losing an option: fio's own showcmd
// agrees.
func TestConversionLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		text := randomJobFile(r)
		before := showCmd(t, []byte(text))
		if before == "" {
			t.Fatalf("fio refuses the generated\n%s", text)
		}
		f, err := fio.ParseJobFile("job.fio", []byte(text), fio.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		argv := Line(f)
		split, err := shell.Split(shell.Line(argv))
		if err != nil || !slices.Equal(split, argv) {
			t.Fatalf("%v: %q becomes %q", err, argv, split)
		}
		if out, err := exec.CommandContext(t.Context(), "fio", append([]string{"--parse-only"}, argv[1:]...)...).CombinedOutput(); err != nil {
			t.Fatalf("fio refuses %q: %s", argv, out)
		}
		back, err := Parse(split)
		if err != nil {
			t.Fatal(err)
		}
		if after := showCmd(t, back.Text()); after != before {
			t.Fatalf("fio reads\n%s\nand after the conversion\n%s\nof\n%s", before, after, text)
		}
	}
}

// randomJobFile takes what a job file may hold, quotes and blanks included. Sections hold no name=
// of their own, which conversion folds into the section's, on purpose.
func randomJobFile(r *rand.Rand) string {
	options := []string{
		"rw=randread", "readwrite=randrw", "bs=8k", "blocksize=4k,64k", "iodepth=32", "numjobs=4", "time_based", "runtime=60s", "direct=1",
		"size=1m", "ioengine=psync", "description=it's a \"test\" of $words", "norandommap", "group_reporting=1", "rate=16m,5m", "bssplit=4k/60:64k/40",
		"fsync=1", "thinktime=5ms", "filename=/tmp/a\\:b", "write_bw_log=x", "randrepeat=0", "stonewall", "startdelay=5", "percentile_list=50:99.9",
		"size = 4k", "exec_prerun=echo a && b | c > /dev/null", "filename_format=$jobname.$jobnum",
	}
	var b strings.Builder
	section := func(name string) {
		fmt.Fprintf(&b, "[%s]\n", name)
		for range r.IntN(7) {
			b.WriteString(options[r.IntN(len(options))] + "\n")
		}
	}
	if r.IntN(2) == 0 {
		section("global")
	}
	for i := range 1 + r.IntN(3) {
		section([]string{"a", "b c", "job's", "j-1", "x=y"}[r.IntN(5)] + fmt.Sprint(i))
		b.WriteString("size=1m\n")
	}
	return b.String()
}

func TestNameOptionIsFolded(t *testing.T) {
	f, err := fio.ParseJobFile("x", []byte("[a]\nname=b\nrw=read\nname=c\n"), fio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Line(f), []string{"fio", "--name=c", "--rw=read"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWritable(t *testing.T) {
	for _, argv := range [][]string{{"--name=a", "--exec_prerun=a; b"}, {"--name=a", "--description=a#b"}, {"--name=a;b"}, {"--name=a", "--description=a\nb"}} {
		f, err := Parse(argv)
		if err != nil {
			t.Fatal(err)
		}
		if f.Writable() == nil {
			t.Errorf("%q can be no job file", argv)
		}
	}
}

func FuzzParseCommandLine(f *testing.F) {
	f.Add("fio --name=a --bs=4k -direct 1 x.fio -- y")
	bounded.Fuzz(f, func(_ *testing.T, text string) {
		if job, err := Parse(strings.Fields(text)); err == nil {
			_ = Line(job)
		}
	})
}

// Letters that stand for options of fio itself are ones that fio takes, with a value where the option takes one, and others
// it refuses. Each start costs a tenth of a second, so that some are tried.
func TestShortsAreThoseOfFio(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NOT TESTED: fio is not installed")
	}
	for _, c := range "foEqt" {
		word := "-" + string(c)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		said, _ := exec.CommandContext(ctx, "fio", "--parse-only", word).CombinedOutput()
		stop()
		wants := strings.Contains(string(said), "requires an argument")
		refused := !wants && strings.Contains(string(said), "unrecognized option")
		name, known := Short(word)
		if known == refused || known && wants != TakesNext(name) {
			t.Errorf("%s is %q: fio refuses it: %v, wants a value: %v", word, name, refused, wants)
		}
	}
	f, err := Parse([]string{"fio", "-o", "x.log", "-m", "--name=a"})
	if err != nil || len(f.Settings) != 2 || f.Settings[0].Name != "output" || f.Settings[0].Value != "x.log" || len(f.Jobs()) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestJobsOfALineAreBounded(t *testing.T) {
	if _, err := Parse(strings.Fields(strings.Repeat("--name=a ", 4097))); err == nil {
		t.Error("4,097 jobs on a command line are read")
	}
}
