package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/sys"
)

// lines are command lines of each form of each command, which end soon and say the same each time.
// Each is typed again with every flag of its command.
var lines = []struct{ form, line string }{
	{"", "suites"},
	{"an argument", "suites 6"},
	{"", "suites j.fio"},
	{"", "suites app.yaml"},
	{"", "lint ."},
	{"", "lint k.fio"},
	{"", "ceiling 8 --volumes 8xgp3 --level raid10"},
	{"", "ceiling j.fio --volumes 8xgp3 --level raid10"},
	{"", "ceiling 3 --volumes 8xgp3 --level raid10"},
	{"--together", "ceiling 1 3 --together --volumes 8xgp3 --level raid10"},
	{"--sweep", "ceiling 1 --sweep iodepth=1..4 --volumes 8xgp3 --level raid10"},
	{"", "ceiling app.yaml --volumes 8xgp3 --level raid10"},
	{"--claim", "ceiling --claim 40000IOPS --volumes 8xgp3 --level raid10"},
	{"--sweep", "ceiling 3 --sweep iodepth=1..4 --volumes 8xgp3 --level raid10"},
	{"--together", "ceiling 2 6 --together --volumes 8xgp3 --level raid10"},
	{"", "ceiling 3 --volumes 8xgp3 --level raid10 --instance c6a.xlarge,m5a.xlarge"},
	{"", "ceiling 1 --volumes 8xgp3 --level raid10 --instance c6a.xlarge,m5a.xlarge"},
	{"", "ceiling 8 --volumes 8xgp3 --level raid10 --instance c6a.xlarge,m5a.xlarge"},
	{"", "import one.json"},
	{"", "import doc.md"},
	{"", "import round.log"},
	{"--summary", "import doc.md --summary"},
	{"--summary", "import round.log --summary"},
	{"the report of a run", "report"},
	{"the figures of runs", "report runs --format csv"},
	{"", "runs"},
	{"--history", "runs --history"},
	{"sides", "compare a b"},
	{"--demand", "compare one.json --demand app.yaml"},
	{"--against a run", "compare a --against b"},
	{"--against earlier runs or a table", "compare a --against last:3"},
	{"", "compare a --against table.yaml"},
	{"", "advise app.yaml"},
	{"", "advise --iops 16000 --capacity 500GiB"},
	{"", "advise --sync-commits 1000 --capacity 100GiB"},
	{"", "workload app.yaml"},
	{"", "workload app.yaml --job"},
	{"", "catalog"},
	{"", "catalog gp3"},
	{"", "catalog c6a.xlarge m6a.xlarge"},
	{"", "explain"},
	{"", "explain PL204"},
	{"", "convert j.fio"},
	{"", "array plan plan.yaml --imagine"},
	{"", "run 3 --dry-run --json --progress none"},
	{"", "run j.fio --dry-run --json --progress none"},
	{"", "run two.yaml --dry-run --json --progress none"},
	{"", "run app.yaml --dry-run --json --progress none"},
	{"", "sweep rand-read-latency --dry-run --json --progress none"},
	{"", "sweep rand-read-latency --most 'read.clat.p99 <= 2ms' --dry-run --json --progress none"},
}

// values are what is given to flags, by the command's and the flag's name or by the flag's alone; a
// second word and those behind it are typed too, for a flag that needs another one.
var values = map[string]string{
	"data": "d", "wal": "w", "size": "16MiB", "runtime": "7", "ramp": "3", "cooldown": "9", "only": "nosuch", "phase": "nosuch",
	"label": "n=2", "out": "elsewhere", "probe-time": "7s --probe", "resume": "a", "destroy": "data.bin", "rounds": "5",
	"serial": "X --destroy data.bin", "until": "3%", "budget": "7m --rounds 3", "seed": "4711 --rounds 3", "order": "file --rounds 3",
	"stop": "2%", "shared-host": "reason", "sustained": "true --stop 2%", "against": "table.yaml", "first-touch": "skip", "progress": "plain",
	"disable": "PL418=x", "fail-on": "warning", "volumes": "4xgp3", "level": "raid0", "chunk": "16KiB", "topology": "plan.yaml",
	"instance": "m5a.xlarge", "format": "csv", "pg-bin": "/usr/bin", "pg-user": "nobody", "pg-scale": "7", "pg-memory": "2GiB",
	"pg-clients": "3", "pg-set": "work_mem=8MB", "axes": "iodepth=1..2", "most": "read.clat.p99<=2ms",
	"read-latency": "0.6ms", "write-latency": "0.7ms", "sweep": "iodepth=1..4", "claim": "40000IOPS",
	"lint --disable": "PL114", "lint --fail-on": "info", "severity": "warning", "fio": "3.16", "baseline": "base.json",
	"update-baseline": "true --baseline new.json", "config": "lint.yaml", "global": "global.fio", "exclude": "*.md",
	"memory": "512GiB", "free": "1KiB", "job": "other.fio", "in": "b", "suite": "db", "scenario": "v", "host": "elsewhere",
	"by": "side", "last": "1", "compare --fail-on": "regression", "base": "2", "margin": "40%", "demand": "app.yaml",
	"iops": "9000", "mix": "70r --iops 9000", "block": "16k --iops 9000", "capacity": "3TiB", "latency": "0.2ms", "clients": "4", "sync-commits": "50",
	"sync-latency": "9ms", "afr": "0.01%", "survives": "instance", "series": "cw.csv", "device": "x", "copies": "2",
	"every": "60", "headroom": "90%", "region": "us-east-1", "prices": "prices.csv", "why": "m5.large", "vcpus": "64",
	"arch": "x86_64", "family": "m5", "types": "io2", "max-volumes": "1", "yaml": "1", "filename": "/x", "iodepth": "3",
	"to": "suite", "workload --job": "true", "workload --size": "7GiB", "workload --runtime": "700",
	"advise --memory": "512GiB", "advise --level": "raid10 --volumes 4xgp3", "advise --chunk": "256KiB --volumes 4xgp3",
	"advise --volumes": "4xgp3", "advise --instance": "c8g.2xlarge",
}

// elsewhere are flags whose effect is another test's: what they change is not printed, or needs
// another machine.
var elsewhere = map[string]string{
	"allow-exec":    "run-options.txtar: shell commands of a job file",
	"installed":     "lint.txtar: the table of the installed fio",
	"fix":           "lint.txtar: files that can be repaired",
	"first-touch":   "run.txtar",
	"run --against": "gates_test.go and run-rounds.txtar: it judges what was measured",
	"import --job":  "import.txtar: of output that does not name its options",
	"ask":           "workload.txtar: questions on standard input",
	"region":        "advise.txtar: a guard, by which a region without prices is refused",
	"in":            "names.txtar: it says where a run is looked for that is no path",
	"margin":        "gates_test.go: it weighs rounds",
	"destroy":       "run-outside.txtar: consent to what else is refused",
	"keep-files":    "run-outside.txtar",
}

// flagFiles make the directory that the lines work in.
func flagFiles(t *testing.T) {
	t.Helper()
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	gateRun(t, "runs", "base", began, 1000, gateValid)
	for i, name := range []string{"a", "b"} {
		if err := os.Rename(gateRun(t, ".", name, began.Add(time.Duration(i+1)*time.Hour), 1000+float64(i), gateValid), name); err != nil {
			t.Fatal(err)
		}
	}
	gateRun(t, "runs", "new", began.Add(9*time.Hour), 900, gateValid)
	for name, content := range map[string]string{
		"j.fio":      "[a]\nrw=randwrite\nbs=4k\nsize=128m\niodepth=16\nioengine=libaio\ndirect=1\n",
		"doc.md":     "# x\n\n```sh\nfio --name=a --rw=randread --bs=28k --size=64k\nmkfs.xfs -d su=64k,sw=8 /dev/md0\n```\n",
		"app.yaml":   "workload: log\ncapacity: 1GiB\nstreams:\n  - name: log\n    does: sequential write\n    block: 64KiB\n    rate: 9MiB/s\n    arrivals: paced\n    sync: none\n",
		"two.yaml":   "scenarios:\n  - id: 1\n    name: two\n    size: 1GiB\n    job: |\n      [a]\n      rw=read\n      runtime=9\n      [b]\n      rw=write\n      runtime=9\n",
		"table.yaml": "name: mine\nfigures:\n  - {scenario: v, figure: iops, value: \"1000\"}\n",
		"plan.yaml":  "arrays: [{name: x, level: raid0, chunk: 64KiB, volumes: {count: 2, type: gp3, size: 10GiB}}]\n",
		"k.fio":      "[a]\nrw=randread\nbs=4k\nsize=1g\nfdp=1\n[b]\nrw=randwrite\nbs=4k\nsize=1g\ndirect=0\n", "lint.yaml": "disable: [PL114]\n", "global.fio": "[global]\nbs=28k\nnosuch=1\n", "data.bin": "x",
		"other.fio": "[b]\nrw=read\nbs=1m\niodepth=2\n", "prices.csv": "x", "cw.csv": "x", "d/x": "x", "w/x": "x",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one, err := os.ReadFile("testdata-one.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link("testdata-round.log", "round.log"); err != nil {
		t.Fatal(err)
	}
	doc, _ := os.ReadFile("doc.md")
	for name, content := range map[string][]byte{"one.json": one, "doc.md": slices.Concat(doc, []byte("\n```\n"), one, []byte("```\n"))} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// moving is what differs between two runs of one line: times, random names and seeds, and how much of
// the disk others use.
var moving = regexp.MustCompile(`\d{8}T\d{6}Z|\d{4}-\d\d-\d\dT[\d:.]+Z|"seed": *\d+|\d{4}-\d\d-\d\d \d\d:\d\d|` +
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|randseed=\d+|[0-9a-f]{8}(:[0-9a-f]{8}){3}|` +
	`"free_bytes": *\d+|free [\d.]+ [KMGT]iB|"inodes": *[\d.e-]+`)

// outcome is all that a line does: its exit code, what it prints, and the files that it leaves, which
// are removed.
func outcome(t *testing.T, m *sys.Machine, line string) string {
	t.Helper()
	was := leftFiles(t)
	var out, errs bytes.Buffer
	args, err := shell.Split(line + " --details") // what a flag changes may be a detail
	if err != nil {
		t.Fatal(err)
	}
	env := &form.Env{Machine: m, Version: Version, In: strings.NewReader(""), Out: &out, Err: &errs, Args: args}
	root := newRootCmd(env)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	said := ""
	if err != nil && err.Error() != "" {
		said = form.Readable(err)
	}
	var left []string
	for _, name := range leftFiles(t) {
		if !slices.Contains(was, name) {
			left = append(left, name)
		}
	}
	for i, name := range left {
		if data, err := os.ReadFile(name); err == nil {
			left[i] += " " + moving.ReplaceAllString(withoutLoops(string(data)), "-")
		}
	}
	for _, name := range left {
		name, _, _ = strings.Cut(name, " ")
		_ = os.RemoveAll(name)
	}
	all := fmt.Sprintf("exit %d\n%s\n%s\n%s\n%q", form.ExitCode(err), said, &out, &errs, left)
	return moving.ReplaceAllString(withoutLoops(all), "-")
}

// withoutLoops leaves the loop devices out of what JSON says of the machine: the tests of other rooms make and
// remove some at the same time.
func withoutLoops(text string) string {
	var b strings.Builder
	end := ""
	for line := range strings.Lines(text) {
		if m := loopDevice.FindStringSubmatch(line); m != nil && end == "" {
			end = m[1] + "}"
		}
		if end == "" {
			b.WriteString(line)
		} else if strings.HasPrefix(line, end) {
			end = ""
		}
	}
	return b.String()
}

var loopDevice = regexp.MustCompile(`^( *)"loop\d+": \{\n$`)

// rememberingMachine is this machine with a clock that stands, which asks a program once for what it prints: fio's version and options.
func rememberingMachine() *sys.Machine {
	m, known := sys.Host(), map[string][]byte{}
	m.Now = func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }
	run := m.Run
	m.Run = func(ctx context.Context, stdout io.Writer, argv ...string) error {
		key := strings.Join(argv, "\x00")
		if known[key] == nil {
			var out bytes.Buffer
			if err := run(ctx, &out, argv...); err != nil {
				return err
			}
			known[key] = out.Bytes()
		}
		_, err := stdout.Write(known[key])
		return err
	}
	return m
}

func leftFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// inFlagFiles changes into a directory that the lines work in.
func inFlagFiles(t *testing.T) {
	t.Helper()
	one, err := os.ReadFile("testdata/one.json")
	if err != nil {
		t.Fatal(err)
	}
	round, err := os.ReadFile("../../testdata/seeds/MS-28k-r-r-16.log")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, data := range map[string][]byte{"testdata-one.json": one, "testdata-round.log": round} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flagFiles(t)
	if code, errs := typedCommand(t, "lint . --baseline base.json --update-baseline"); code != 0 && code != 3 {
		t.Fatal(errs)
	}
}

// TestEveryFlagIsReadOrRefused: each flag of a command, typed behind a line of each of its forms,
// changes what the line does or is refused with the reason (G1 of the third review by users).
func TestEveryFlagIsReadOrRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	inFlagFiles(t)
	m := rememberingMachine()
	tried, silent := 0, 0
	read := map[string]bool{} // by some line of the form
	way, of := "", ""
	seen := map[string][]string{}
	for _, l := range lines {
		began := time.Now()
		args, err := shell.Split(l.line)
		if err != nil {
			t.Fatal(err)
		}
		cmd, _, err := Commands().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		if l.form != "" || cmd.CommandPath() != of { // a line without a form has the one before it
			way, of = l.form, cmd.CommandPath()
		}
		seen[cmd.CommandPath()] = append(seen[cmd.CommandPath()], l.form)
		base := outcome(t, m, l.line)
		if again := outcome(t, m, l.line); again != base {
			t.Errorf("plimsoll %s does not say the same twice (-first +second):\n%.3000s", l.line, cmp.Diff(base, again))
		}
		if strings.HasPrefix(base, "exit 2") || strings.HasPrefix(base, "exit 1") {
			t.Errorf("plimsoll %s: %s", l.line, base[:min(len(base), 200)])
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := strings.TrimPrefix(cmd.CommandPath(), "plimsoll ") + " --" + f.Name
			if f.Name == "help" || slices.Contains(form.TalkFlags(), f.Name) || elsewhere[f.Name] != "" || elsewhere[name] != "" || slices.Contains(args, "--"+f.Name) {
				return
			}
			tried++
			key := fmt.Sprintf("%s, %s: %s", cmd.CommandPath(), way, typedFlag(cmd, f))
			if read[key] {
				return
			}
			read[key] = outcome(t, m, l.line+" "+typedFlag(cmd, f)) != base
		})
		t.Logf("%s: %s", l.line, time.Since(began))
	}
	for key, is := range read {
		if !is {
			silent++
			t.Errorf("%s is taken and changes nothing", key)
		}
	}
	everyForm(t, Commands(), seen)
	t.Logf("%d flags tried on %d lines, %d silent", tried, len(lines), silent)
}

// typedFlag is a flag with its value, and what it needs beside it.
func typedFlag(cmd *cobra.Command, f *pflag.Flag) string {
	value := values[f.Name]
	if own, ok := values[strings.TrimPrefix(cmd.CommandPath(), "plimsoll ")+" --"+f.Name]; ok {
		value = own
	}
	value, more, _ := strings.Cut(value, " ")
	if value == "" || f.Value.Type() == "bool" {
		value = "true"
	}
	return "--" + f.Name + "=" + value + " " + more
}

// everyForm finds forms that no line has.
func everyForm(t *testing.T, cmd *cobra.Command, seen map[string][]string) {
	for of := range strings.SplitSeq(cmd.Annotations[form.FormsAnnotation], "\n") {
		if of != "" && !slices.Contains(seen[cmd.CommandPath()], of) {
			t.Errorf("%s: no line tries the form %q", cmd.CommandPath(), of)
		}
	}
	for _, sub := range cmd.Commands() {
		everyForm(t, sub, seen)
	}
}
