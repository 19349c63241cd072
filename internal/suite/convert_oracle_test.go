package suite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
)

// The oracle of convert: what was converted says the same when it is read again, by us and by fio.

// made is a job file made at random: names are those of fio's table.
func made(rng *rand.Rand, names []string) *fio.JobFile {
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	option := func() fio.Option {
		o := fio.Option{Name: names[rng.IntN(len(names))]}
		info, _ := fio.BuiltinOptions().Lookup(o.Name)
		switch {
		case o.Name == "create_only" || o.Name == "name" || o.Name == "filename":
			o.Value = one("0", "1", `it's "it"`)
		case info.Optional && rng.IntN(2) == 0, rng.IntN(12) == 0:
			o.Bare = true
		case len(info.Words) > 0:
			o.Value = one(info.Words...)
		default:
			o.Value = one("1", "4k", "0", "64m", "a b", `it's "quoted"`, `/x/a\:b`, "$HOME", "${jobname}.log", "é", "-1", "4k/60:8k", "-", "--rw=x", "*")
		}
		return o
	}
	options := func() (all []fio.Option) {
		for range rng.IntN(7) {
			all = append(all, option())
		}
		place := one("", "filename=/data/f", "directory=/data", `filename=/data/a\:b`, "filename=/dev/x:/dev/y")
		if name, value, set := strings.Cut(place, "="); set {
			all = append(all, fio.Option{Name: name, Value: value})
		}
		for _, end := range []string{one("", "stonewall"), one("", "time_based"), one("", "write_bw_log", "write_lat_log")} {
			if end != "" {
				all = append(all, fio.Option{Name: end, Bare: true})
			}
		}
		for _, end := range []string{one("", "size=22m"), one("", "runtime=9"), one("", "loops=3"), one("", "number_ios=16")} {
			if name, value, set := strings.Cut(end, "="); set {
				all = append(all, fio.Option{Name: name, Value: value})
			}
		}
		return all
	}
	f := &fio.JobFile{Name: "made.fio"}
	for i := range 1 + rng.IntN(3) {
		if rng.IntN(3) == 0 {
			f.Sections = append(f.Sections, fio.Section{Name: "global", Options: options()})
		}
		f.Sections = append(f.Sections, fio.Section{Name: one("a", "b c", "wal", "x'y", "seq-read") + strconv.Itoa(i), Options: options()})
	}
	return f
}

func TestConversionsSayTheSame(t *testing.T) {
	cases, seeds := 2000, []uint64{1}
	if testing.Short() {
		cases = 300
	}
	if n, err := strconv.Atoi(os.Getenv("CONVERT_CASES")); err == nil { // the large form, with three seeds from CONVERT_SEED on
		first, _ := strconv.ParseUint(os.Getenv("CONVERT_SEED"), 10, 64)
		cases, seeds = n, []uint64{first, first + 1, first + 2}
	}
	table, err := os.ReadFile("../fio/options.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(table)) {
		fields := strings.Split(line, "\t")
		if fields[0] != "option" {
			continue
		}
		name := fields[1]
		if _, known := fio.BuiltinOptions().Lookup(name); known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 200 {
		t.Fatalf("%d options in fio's table", len(names))
	}
	refused, suites := 0, 0
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 0))
		for range cases {
			job := made(rng, names)
			if !againAsCommand(t, job) {
				refused++
			}
			if job.Writable() == nil {
				again, err := fio.ParseJobFile("made.fio", job.Text(), fio.ParseOptions{})
				if err != nil || len(command.Differences(job, again)) > 0 {
					t.Errorf("as a job file: %v %v\n%s", err, command.Differences(job, again), job.Text())
				}
			}
			if againAsSuite(t, job) {
				suites++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	t.Logf("%d jobs, %d not held by a command line, %d held by a suite", cases*len(seeds), refused, suites)
	if refused > cases*len(seeds)/2 || suites < cases*len(seeds)/50 {
		t.Errorf("%d refused, %d suites: too few are tried", refused, suites)
	}
}

// The jobs of the corpora of lint, as people wrote them in public repositories.
func TestConversionsOfPublicJobs(t *testing.T) {
	jobs := 0
	for _, name := range []string{"corpus-lint.txtar", "corpus-lint-2.txtar"} {
		archive, err := txtar.ParseFile("../lint/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			for _, j := range script.Parse(file.Name, file.Data, script.Options{}).Jobs {
				if len(j.File.Jobs()) == 0 {
					continue
				}
				jobs++
				againAsCommand(t, j.File)
				if j.File.Writable() == nil {
					again, err := fio.ParseJobFile("made.fio", j.File.Text(), fio.ParseOptions{})
					if err != nil || len(command.Differences(j.File, again)) > 0 {
						t.Errorf("%s:%d: as a job file: %v %v", file.Name, j.Line, err, command.Differences(j.File, again))
					}
				}
				againAsSuite(t, j.File)
				if t.Failed() {
					t.Fatalf("%s:%d", file.Name, j.Line)
				}
			}
		}
	}
	if jobs < 200 {
		t.Errorf("%d jobs of the corpora were tried", jobs)
	}
}

// againAsCommand writes a job as a command, reads it as a shell and fio do, and says whether it is the same;
// if not, an option without its value, or one of fio itself in a job, has to be why.
func againAsCommand(t *testing.T, job *fio.JobFile) bool {
	t.Helper()
	argv := command.Line(job)
	words, err := shell.Split(shell.Line(argv))
	if err != nil || !slices.Equal(words, argv) {
		t.Errorf("the shell reads %q, want %q (%v)", words, argv, err)
	}
	swallows := slices.ContainsFunc(job.Sections, func(s fio.Section) bool {
		return slices.ContainsFunc(s.Options, func(o fio.Option) bool { return o.Bare && command.TakesNext(o.Name) || command.Setting(o.Name) })
	})
	for _, dashes := range []string{"--", "-"} {
		spelled := slices.Clone(argv)
		for i, w := range spelled {
			if rest, is := strings.CutPrefix(w, "--"); is {
				spelled[i] = dashes + rest
			}
		}
		again, err := command.Parse(spelled)
		var differ []string
		if err == nil {
			differ = command.Differences(job, again)
		}
		if (err != nil || len(differ) > 0) && !swallows {
			t.Errorf("as a command: %v, %v differ\n%s\n%q", err, differ, job.Text(), spelled)
		}
		if err != nil || len(differ) > 0 {
			return false
		}
	}
	return true
}

// setByPlimsoll are the options of which a scenario has its own.
var setByPlimsoll = []string{
	"filename", "filename_format", "directory", "time_based", "group_reporting", "stonewall", "name", "size", "runtime",
	"ramp_time", "allow_file_create", "offset_increment", "rw",
}

// againAsSuite writes a job as a suite and compares what plimsoll would start; false where no suite holds it.
func againAsSuite(t *testing.T, job *fio.JobFile) bool {
	t.Helper()
	text, err := suite.YAML(job)
	if err != nil {
		return false
	}
	s, err := suite.Parse("made.yaml", []byte(text))
	if err != nil {
		return false // which convert says
	}
	var left [][]string
	for _, c := range s.Scenarios {
		placed := c.Place("/data/.plimsoll/data.dat")
		for _, own := range placed.EachJob() {
			if strings.Contains(own.Filename(), ":/") {
				t.Errorf("a job works on %s\n%s\n%s", own.Filename(), job.Text(), text)
			}
			left = append(left, kept(own))
		}
	}
	n := 0
	for _, own := range job.EachJob() {
		only, set := own.Get("create_only")
		if set && only != "0" && len(job.Jobs()) > 1 && !slices.ContainsFunc(left, func(l []string) bool { return slices.Equal(l, kept(own)) }) {
			continue
		}
		if n >= len(left) || !slices.Equal(left[n], kept(own)) {
			t.Errorf("[%s] became %q, want %q\n%s\n%s", own.Name, left, kept(own), job.Text(), text)
			return true
		}
		n++
		_, timed := own.Get("time_based")
		if _, runs := own.Get("runtime"); (!timed || !runs) && len(s.Scenarios) == len(job.Jobs()) && !strings.Contains(text, "the job ended when") {
			t.Errorf("[%s] ends by itself, and the suite does not say that it no longer does\n%s\n%s", own.Name, job.Text(), text)
		}
	}
	return true
}

// kept are the options of a job that a suite has to keep.
func kept(s fio.Section) (all []string) {
	for i, o := range s.Options {
		o.Name = fio.BuiltinOptions().Main(o.Name)
		later := slices.ContainsFunc(s.Options[i+1:], func(p fio.Option) bool { return fio.BuiltinOptions().Main(p.Name) == o.Name })
		if !later && !slices.Contains(setByPlimsoll, o.Name) {
			all = append(all, o.String())
		}
	}
	slices.Sort(all)
	return all
}

// TestFioReadsConversionsAlike lets fio itself say which options it reads of each job, from a job file and from the
// command line that it was converted to: 200 jobs, two starts of fio.
func TestFioReadsConversionsAlike(t *testing.T) {
	program, err := exec.LookPath("fio")
	if err != nil {
		t.Skip("SKIPPED: no fio here")
	}
	rng := rand.New(rand.NewPCG(7, 0))
	choices := strings.Fields(`rw=randwrite bs=16k size=22m iodepth=4 fdatasync=1 loops=3 number_ios=16 io_size=1m verify=crc32c ` +
		`write_bw_log write_lat_log write_iops_log write_lat_log=named time_based runtime=9 group_reporting direct=1 stonewall rwmixread=70 ` +
		`filename=/nonexistent/x filename=/nonexistent/a\:b description=it's"quoted" bssplit=4k/60:8k/40 numjobs=2 thread invalidate=0`)
	job := &fio.JobFile{Name: "all.fio"}
	for i := range 200 {
		s := fio.Section{Name: fmt.Sprintf("j%d", i)}
		for range 1 + rng.IntN(6) {
			name, value, has := strings.Cut(choices[rng.IntN(len(choices))], "=")
			s.Options = append(s.Options, fio.Option{Name: name, Value: value, Bare: !has})
		}
		if i == 50 {
			job.Sections = append(job.Sections, fio.Section{Name: "global", Options: []fio.Option{{Name: "write_bw_log", Bare: true}, {Name: "bs", Value: "8k"}}})
		}
		job.Sections = append(job.Sections, s)
	}
	file := filepath.Join(t.TempDir(), "all.fio")
	if err := os.WriteFile(file, job.Text(), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := func(args ...string) map[string][]string {
		out, err := exec.CommandContext(t.Context(), program, append([]string{"--debug=parse", "--parse-only"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%.2000s", err, out)
		}
		return optionsRead(string(out))
	}
	fromFile, fromCommand := asked(file), asked(command.Line(job)[1:]...)
	for i, s := range job.EachJob() {
		own, other := fromFile[s.Name], fromCommand[s.Name]
		if i > 50 && i < len(job.Sections) && slices.ContainsFunc(job.Sections[:i], func(s fio.Section) bool { return s.Global() }) &&
			!slices.Contains(own, "write_bw_log="+s.Name) {
			own = append(own, "write_bw_log="+s.Name) // the global one, which fio reads once
			slices.Sort(own)
		}
		if len(own) == 0 || !slices.Equal(own, other) {
			t.Errorf("[%s] fio reads %q of the job file, %q of the command", s.Name, own, other)
		}
	}
}

// optionsRead are the options of each job in what fio --debug=parse prints.
func optionsRead(out string) map[string][]string {
	jobs := map[string][]string{}
	job := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if _, name, section := strings.Cut(line, "Parsing section ["); section {
			job = strings.TrimSuffix(name, "]")
		}
		_, option, is := strings.Cut(line, " handle_option=")
		if !is {
			continue
		}
		name, value, _ := strings.Cut(option, ", ptr=")
		switch {
		case name == "name":
			job = value
			continue
		case value == "(null)" && strings.HasPrefix(name, "write_"):
			value = job
		}
		if o := name + "=" + value; !slices.Contains(jobs[job], o) {
			jobs[job] = append(jobs[job], o)
		}
	}
	for job, all := range jobs {
		named := func(o string) bool { // fio keeps the name that it has when the option stands without one, too
			name, value, _ := strings.Cut(o, "=")
			return value == job && slices.ContainsFunc(all, func(p string) bool { return p != o && strings.HasPrefix(p, name+"=") })
		}
		jobs[job] = slices.DeleteFunc(slices.Clone(all), named)
		slices.Sort(jobs[job])
	}
	return jobs
}
