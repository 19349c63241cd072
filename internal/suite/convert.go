package suite

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// YAML writes a job file as a suite (docs/suites.md). Jobs that run one after the other become
// scenarios of their own; jobs that run together, and files whose meaning hangs on their order,
// stay one scenario that holds the file's text.
func YAML(job *fio.JobFile) (string, error) {
	var b strings.Builder
	jobs := job.Jobs()
	name := slug(strings.TrimSuffix(strings.TrimSuffix(job.Name, ".fio"), ".job"))
	fmt.Fprintf(&b, "%sname: %s\nscenarios:\n", SettingsComment(job, "#"), name)
	id := 0
	for _, phase := range job.Phases() {
		first := job.Effective(phase[0])
		only, set := first.Get("create_only")
		if len(phase) == 1 && set && only != "0" && len(jobs) > 1 {
			fmt.Fprintf(&b, "  # [%s] only makes its files (create_only), as plimsoll run does by itself: left out\n",
				strings.ReplaceAll(fio.Clip(first.Name), "\n", " "))
			continue
		}
		id++
		var err error
		if len(phase) == 1 {
			err = writeScenario(&b, id, first)
		} else {
			part, name := job.Only(phase), name
			if len(phase) < len(jobs) {
				name = slug(first.Name)
			}
			err = writeTogether(&b, id, name, &part)
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// writeTogether writes a scenario that holds the text of a job file whose jobs run at the same
// time.
func writeTogether(b *strings.Builder, id int, name string, part *fio.JobFile) error {
	if err := part.Writable(); err != nil {
		return err
	}
	role, size := together(part)
	placed, err := unplace(part)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "  - id: %d\n    name: %s\n    role: %s\n", id, name, role)
	writeSize(b, size)
	fmt.Fprintf(b, "    # in a suite, jobs that run together share one file; %s\n", placed)
	b.WriteString("    job: |\n")
	for line := range strings.Lines(string(part.Text())) {
		b.WriteString(strings.TrimRight("      "+line, " \n") + "\n")
	}
	return nil
}

// unplace takes the files of jobs that run together out of their text, since a suite gives them one, and
// says what they had. fio adds files up: what stayed would be worked on beside that one.
func unplace(part *fio.JobFile) (string, error) {
	var names, dirs []string
	for _, s := range part.EachJob() {
		if name := s.Filename(); !slices.Contains(names, name) {
			names = append(names, name)
		}
		if dir := Directory(s); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(names) > 1 {
		return "", fmt.Errorf("the jobs that run together have files of their own (filename=%s), and in a suite they would "+
			"share one: start the job file itself, plimsoll run FILE.fio", fio.Clip(strings.Join(names, ", filename=")))
	}
	part.Sections = slices.Clone(part.Sections)
	for i := range part.Sections {
		s := &part.Sections[i]
		s.Options = slices.DeleteFunc(slices.Clone(s.Options), func(o fio.Option) bool {
			return o.Name == "filename" || o.Name == "directory"
		})
	}
	clean := func(s string) string { return strings.ReplaceAll(s, "\n", " ") }
	switch {
	case names[0] != "":
		return "these had filename=" + clean(names[0]), nil
	case dirs[0] != "":
		return "these had one each, directory=" + clean(strings.Join(dirs, ", directory=")), nil
	}
	return "these had one each", nil
}

// timing are the options that a scenario states in fields of its own.
var timing = map[string]string{"size": "size", "runtime": "runtime", "ramp_time": "ramp"}

// placedBySuite are those that plimsoll sets when it runs a scenario: what they were stands in a
// comment.
var placedBySuite = strings.Fields("filename filename_format directory time_based group_reporting stonewall name")

func writeScenario(b *strings.Builder, id int, s fio.Section) error {
	w, err := fio.WorkloadOf(s.Name, s)
	if err != nil {
		return err
	}
	role := topology.Data
	if w.SyncEvery > 0 && w.Sequential {
		role = topology.WAL
	}
	last := map[string]fio.Option{}
	var order []string
	for _, o := range s.Options {
		name := fio.BuiltinOptions().Main(o.Name)
		order = append(slices.DeleteFunc(order, func(n string) bool { return n == name }), name)
		last[name] = o
	}
	fmt.Fprintf(b, "  - id: %d\n    name: %s\n    title: %s\n    role: %s\n", id, slug(s.Name), quoteYAML(s.Name), role)
	writeSize(b, w.Size)
	if w.Jobs > 1 && w.Filename == "" && Directory(s) != "" { // fio gives each job a file there
		fmt.Fprintf(b, "    files: %s\n", FilePerJob)
	}
	if runtime := cmp.Or(w.Runtime, DefaultRuntime); w.TimeBased && w.Runtime > 0 {
		fmt.Fprintf(b, "    runtime: %s\n", runtime)
	} else { // also a scenario of few I/Os is repeated until its time is over
		fmt.Fprintf(
			b,
			"    # the job ended when its work was done%s; a scenario always runs for its runtime\n    runtime: %s\n",
			map[bool]string{true: ", at the latest after " + w.Runtime.String()}[w.Runtime > 0],
			runtime,
		)
	}
	if w.Ramp > 0 {
		fmt.Fprintf(b, "    ramp: %s\n", w.Ramp)
	}
	var placed, options []string
	if _, ok := last["rw"]; !ok {
		options = append(options, "      rw: read\n") // fio's default
	}
	for _, name := range order {
		o := last[name]
		switch {
		case slices.Contains(placedBySuite, name) || timing[name] == "size" && w.Size == 0:
			placed = append(placed, strings.ReplaceAll(o.String(), "\n", " "))
		case timing[name] != "":
		case o.Bare:
			options = append(options, fmt.Sprintf("      %s:\n", quoteYAML(name)))
		default:
			options = append(options, fmt.Sprintf("      %s: %s\n", quoteYAML(name), quoteYAML(o.Pad+o.Value)))
		}
	}
	if len(placed) > 0 {
		fmt.Fprintf(b, "    # set by plimsoll when it runs; the job had: %s\n", strings.Join(placed, ", "))
	}
	fmt.Fprintf(b, "    fio:\n%s", strings.Join(options, ""))
	return nil
}

// together is the role of jobs that run at once, and the size of the file they share.
func together(job *fio.JobFile) (role topology.Role, size units.Bytes) {
	role = topology.Data
	for _, s := range job.EachJob() {
		w, err := fio.WorkloadOf("", s)
		if err == nil && w.SyncEvery > 0 && w.Sequential {
			role = topology.WAL
		}
		size = max(size, w.Size)
	}
	return role, size
}

func writeSize(b *strings.Builder, size units.Bytes) {
	if size > 0 {
		text, _ := size.MarshalText() // of a number: it cannot fail
		fmt.Fprintf(b, "    size: %s\n", text)
	}
}

var plainYAML = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17}[kKmMgGtTs]?|[a-zA-Z][a-zA-Z_0-9-]*)$`)

// quoteYAML quotes whatever YAML could take for something else than text, or for a number that it
// would print otherwise.
func quoteYAML(s string) string {
	if plainYAML.MatchString(s) &&
		!slices.Contains(strings.Fields("true false null yes no on off y n"), strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

var notOfSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes a scenario's name of a job's: lower-case letters, digits and hyphens.
func slug(s string) string {
	s = notOfSlug.ReplaceAllString(strings.ToLower(s[strings.LastIndexByte(s, '/')+1:]), "-")
	s = strings.TrimLeft(s, "-")
	return cmp.Or(strings.Trim(s[:min(len(s), 48)], "-"), "job")
}

// SettingsComment keeps options of fio itself, which a job file cannot hold.
func SettingsComment(job *fio.JobFile, mark string) string {
	if len(job.Settings) == 0 {
		return ""
	}
	var argv []string
	for _, o := range job.Settings {
		argv = append(argv, "--"+o.String())
	}
	return mark + " run with: " + strings.ReplaceAll(shell.Line(argv), "\n", " ") + "\n"
}
