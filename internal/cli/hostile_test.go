package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/goccy/go-yaml"
	"golang.org/x/sys/unix"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	atwork "plimsoll/internal/diagnose/live"
	"plimsoll/internal/lab"
	"plimsoll/internal/permit"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/result"
	"plimsoll/internal/sys"
	"plimsoll/internal/tune"
)

// unprinted is the record of which nothing prints a field.
const unprinted = "pg-server.json"

// specimen is a record as it lies on disk, and the commands that print of it.
type specimen struct {
	name string
	file string // that is made hostile
	of   any    // what the record is read into; nil: the file shows all its fields
	// commands are words; DIR is where the record is, FORMATS each format of a report in turn. The first
	// is the one that says whether the record can be read.
	commands []string
	// past is what the first says where it has read the record and ends all the same, as it must here.
	past string
}

// TestHostileRecords sets every text of every record, of a suite, a demand, a layout, a job file and
// of fio's output to one that steers a terminal and begins lines of its own, and reads all that is
// printed and written of it. The fields are those that the types have (reflection) and the files
// show, not a list: a new one is tried from the first day.
//
// All fields of a record are set at once, but for those that it cannot be read with: these one by
// one, for the error. That is the first command of each record. With PLIMSOLL_HOSTILE=all (make bench) there
// are the others, and each field is set alone, too, since one may hide another. Then values of each record are
// spoilt, see spoil.
func TestHostileRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	dir := t.TempDir()
	layOut(t, dir)
	walkAll(t, dir, specimens())
}

// TestHostileMachineRecords does the same with what plimsoll believes because only root or the caller can have written
// it: the journals of apply, and what tune has changed. They are walked in a mount namespace of their own, where the
// places that they lie in, or that would be written to, are empty.
func TestHostileMachineRecords(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has namespaces of its own")
	}
	if os.Getenv("PLIMSOLL_TEST_APART") == "" {
		cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_APART=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Error(err)
		}
		return
	}
	t.Setenv("PATH", t.TempDir()) // udevadm and others, for each of some hundred commands, would take most of the time
	dir := t.TempDir()
	layOutMachine(t, dir)
	walkAll(t, dir, machineSpecimens())
	// A journal that makes no sense, and no other: nobody is asked about nothing.
	if err := os.WriteFile("/var/lib/plimsoll/journal/a.json", []byte(`{"schema": 2, "array": "a\u001b[2J"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, complaint, code := runHere(t.Context(), t, []string{"array", "teardown"})
	if code != 1 || printed != "" || !strings.Contains(complaint, "array a: its journal cannot be read") {
		t.Errorf("exit status %d\n%s\n%s", code, printed, complaint)
	}
}

func walkAll(t *testing.T, dir string, specimens []specimen) {
	t.Helper()
	all := os.Getenv("PLIMSOLL_HOSTILE") == "all"
	for _, s := range specimens {
		t.Run(s.name, func(t *testing.T) {
			h := &hostileWalk{t: t, specimen: s, dir: dir, seen: map[int]bool{}}
			h.walk(all)
			seen := len(h.seen)
			spoilt := h.spoil(all)
			t.Logf("%d fields, %d with which it is refused, %d seen; %d values spoilt; %d outputs",
				h.doc.fields(), h.refused, seen, spoilt, h.outputs)
			if h.doc.fields() == 0 || (s.name == unprinted) != (seen == 0) {
				t.Error("nothing was tried")
			}
		})
	}
}

// noPlace is where nobody can make a directory.
const noPlace = "/proc/none"

func specimens() []specimen {
	run := []string{
		"report DIR/run --format FORMATS", "runs DIR --format FORMATS", "compare DIR/run DIR/other --format FORMATS",
		"report DIR/run --format FIGURES -o DIR/out", "report DIR/run --format html -o DIR/out",
		"run --resume DIR/run --dry-run", "sweep --resume DIR/run --dry-run",
	}
	fleet := []string{"report DIR/fleet --format FORMATS", "runs DIR --format FORMATS"}
	layout := []string{
		"array plan DIR/plimsoll.yaml --imagine --format FORMATS", "ceiling --topology DIR/plimsoll.yaml --format FORMATS",
		"array plan DIR/plimsoll.yaml --imagine --format sh",
	}
	return []specimen{
		{name: "run.json", file: "run/run.json", of: bundle.Run{}, commands: run},
		{name: "result.json", file: "run/01-sync-latency/result.json", of: result.Result{}, commands: run},
		{name: "fleet.json", file: "fleet/fleet.json", of: bundle.Fleet{}, commands: fleet},
		{name: "ab.json", file: "ab/ab.json", of: compare.AB{}, commands: []string{
			"compare DIR/ab --format FORMATS", "ab --resume DIR/ab", "runs DIR --format FORMATS",
		}},
		{name: unprinted, file: "data/.plimsoll/pg-server.json", of: permit.Server{}, commands: []string{"clean --dry-run DIR/data"}},
		{name: "saved facts", file: "facts.json", of: atwork.Facts{}, commands: []string{"why --from DIR/facts.json --format FORMATS"}},
		{name: "plimsoll.yaml", file: "plimsoll.yaml", commands: layout},
		{name: "a suite", file: "suite.yaml", commands: []string{
			"suites DIR/suite.yaml --data /data --wal /wal", "run DIR/suite.yaml --data DIR --dry-run --format FORMATS",
			"suites DIR/suite.yaml --format FORMATS",
		}},
		{name: "a demand", file: "demand.yaml", commands: []string{
			"workload DIR/demand.yaml --format FORMATS", "advise DIR/demand.yaml --format FORMATS",
			"compare DIR/run --demand DIR/demand.yaml --format FORMATS",
		}},
		{name: "a table", file: "table.yaml", commands: []string{"compare DIR/run --against DIR/table.yaml --format FORMATS"}},
		{name: "fio's JSON", file: "fio.json", commands: []string{
			"import DIR/fio.json --summary --format FORMATS", "import DIR/fio.json --format FORMATS --out DIR/out",
			"workload from DIR/fio.json",
		}},
		{name: "fio's text", file: "fio.log", commands: []string{
			"import DIR/fio.log --summary --format FORMATS", "import DIR/fio.log --format FORMATS --out DIR/out",
		}},
		{name: "a job file", file: "job.fio", commands: []string{
			"convert DIR/job.fio", "convert DIR/job.fio --to suite", "lint DIR/job.fio --format FORMATS", "workload from DIR/job.fio",
			"ceiling DIR/job.fio --volumes 8xgp3 --format FORMATS", "run DIR/job.fio --data DIR --dry-run",
		}},
		{name: "a document", file: "doc.md", commands: []string{
			"lint DIR/doc.md --format FORMATS", "import DIR/doc.md --summary --format FORMATS",
		}},
		// Nothing is started: there is no place for what the guest would leave.
		{name: "a lab's file", file: "lab.yaml", of: lab.Spec{}, past: noPlace, commands: []string{
			"lab run DIR/lab.yaml --out " + noPlace, "lab shell DIR/lab.yaml --out " + noPlace,
		}},
	}
}

func machineSpecimens() []specimen {
	return []specimen{
		// Nobody is there to be asked, so that what would be undone is shown, and nothing is done.
		{name: "a journal", file: "/var/lib/plimsoll/journal/a.json", of: records.Work{}, past: "there is no terminal on which to ask", commands: []string{
			"array teardown", "array teardown a", "array verify DIR/plimsoll.yaml", "array plan DIR/plimsoll.yaml",
		}},
		// The setting cannot be put back: its filesystem is read-only.
		{name: "tune.json", file: "tune.json", of: tune.Record{}, past: "read-only file system", commands: []string{"tune --revert --state DIR/tune.json"}},
	}
}

// layOutMachine makes the records of a machine on which an array was built and a setting changed.
func layOutMachine(t *testing.T, dir string) {
	t.Helper()
	for _, place := range []string{"/var/lib", "/etc/udev", "/proc/sys/vm", "/sys/block", "/sys/class/block"} {
		if err := unix.Mount("none", place, "tmpfs", 0, "mode=0755"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(place, err)
		}
	}
	layout, err := os.ReadFile("../lab/testdata/plimsoll.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"/proc/sys/vm/swappiness":           "60\n",
		filepath.Join(dir, "plimsoll.yaml"): string(layout),
		filepath.Join(dir, "tune.json"): `{"schema": 1, "changes": [
			{"file": "/proc/sys/vm/swappiness", "value": "60", "code": "PL401", "at": "/proc/sys/vm/swappiness", "old": "1"},
			{"file": "/sys/block/*/queue/scheduler", "value": "none", "code": "PL301", "at": "/sys/block/nosuch/queue/scheduler", "old": "x"}],
			"files": [{"path": "/etc/udev/rules.d/99-plimsoll.rules", "old": null}]}`,
		"/var/lib/plimsoll/journal/a.json": `{"schema": 2, "array": "a", "started": "2026-11-23T08:00:00Z",
			"want": {"level": "raid1", "data_members": 1, "using": "md", "fs": "ext4", "mount": "/srv/a", "volumes": "x"},
			"members": [{"serial": "vol0none", "size": 1048576, "path": "/dev/nvme9n1"}],
			"steps": [
				{"title": "make a", "state": "done", "check": [{"is": "md", "of": "@array"}], "do": [{"run": ["mdadm", "--create"]}],
					"undo": [{"run": ["mdadm", "--stop", "@array"]}, {"zero": ["@vol0none"]}]},
				{"title": "mount a", "state": "done", "undo": [{"run": ["umount", "/srv/a"]}, {"cut": {"file": "/etc/plimsoll-none"}}]}]}`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("", "/proc/sys/vm", "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// layOut makes one of each record.
func layOut(t *testing.T, dir string) {
	t.Helper()
	kept := "../report/runs/testdata/real"
	b, err := bundle.Open(kept)
	if err != nil {
		t.Fatal(err)
	}
	b.Run.Schema = bundle.Schema
	put := func(name string, v any) {
		t.Helper()
		data, ok := v.([]byte)
		if !ok {
			if data, err = json.MarshalIndent(v, "", " "); err != nil {
				t.Fatal(err)
			}
		}
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	variant := func(labels map[string]string) bundle.Run {
		run := b.Run
		run.Labels = labels
		return run
	}
	other := b.Run
	other.ID += "-2" // the same run is counted once
	for where, run := range map[string]bundle.Run{
		"run": b.Run, "other": other, "ab/1": variant(map[string]string{"variant": "a", "round": "1"}),
		"ab/2": variant(map[string]string{"variant": "b", "round": "1"}),
	} {
		put(where+"/run.json", run)
		for i, s := range b.Scenarios {
			data, err := json.Marshal(s.Result)
			var v any
			if err = errors.Join(err, json.Unmarshal(data, &v)); err != nil {
				t.Fatal(err)
			}
			put(fmt.Sprintf("%s/%02d-%s/result.json", where, i+1, s.Name), shortened(v))
		}
	}
	put("ab/ab.json", compare.AB{Schema: 1, Variants: []string{"a", "b"}, Rounds: 1, Command: []string{"3", "--variant", "a"}})
	put("data/.plimsoll/pg-server.json", permit.Server{})
	for name, from := range map[string]string{
		"facts.json": "../diagnose/live/testdata/trials/4-slow-member.json", "plimsoll.yaml": "../lab/testdata/plimsoll.yaml",
		"suite.yaml": "../suite/builtin/db.yaml", "demand.yaml": "../workload/testdata/logging-app.yaml",
		"table.yaml": "../compare/tables/guide.yaml", "fio.json": "testdata/one.json",
		"fio.log": "../../testdata/seeds/MS-28k-r-r-15.log", "doc.md": "../../testdata/seeds/ebs-across-instances.md", "lab.yaml": "../lab/presets/vm-burst-ends.yaml",
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		put(name, data)
	}
	put("job.fio", []byte("; about\n[global]\nrw=randread\nbs=4k\nsize=1m\n[a]\nfilename=x\ndescription=y\n[b]\nname=z\nioengine=libaio\nnosuch=1\n"))
	_, said, code := runHere(t.Context(), t, []string{"fleet", "import", filepath.Join(dir, "run"), filepath.Join(dir, "other"), "--out", filepath.Join(dir, "f")})
	made, err := filepath.Glob(filepath.Join(dir, "f", "*"))
	if err != nil || len(made) != 1 {
		t.Fatalf("fleet import: %d\n%s", code, said)
	}
	if err := os.Rename(made[0], filepath.Join(dir, "fleet")); err != nil {
		t.Fatal(err)
	}
}

// runHere runs plimsoll in this process, all its output behind the door of a pipe.
func runHere(ctx context.Context, t *testing.T, args []string) (printed, complaint string, code int) {
	t.Helper()
	var said [2]string
	var files [2]*os.File
	for i := range files {
		file, err := sys.TempFile()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // it has no name
		files[i] = file
	}
	out, errs := form.NewStream(files[0]), form.NewStream(files[1])
	env := &form.Env{Machine: sys.Host(), Version: Version, In: strings.NewReader(""), Out: out, Err: errs, Args: args}
	code = execute(ctx, env, out)
	_ = errs.Flush()
	for i, file := range files {
		text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<30))
		if err != nil {
			t.Fatal(err)
		}
		said[i] = string(text)
	}
	return said[0], said[1], code
}

// hostileWalk makes one record hostile.
type hostileWalk struct {
	specimen
	t       *testing.T
	dir     string
	doc     hostileText
	seen    map[int]bool // fields that were printed
	outputs int
	refused int
}

// hostileText is a record of which chosen fields are hostile.
type hostileText interface {
	fields() int
	with(hostile map[int]bool) []byte
}

func (h *hostileWalk) walk(all bool) {
	data, err := os.ReadFile(h.path())
	if err != nil {
		h.t.Fatal(err)
	}
	h.doc = h.read(data)
	every := make([]int, h.doc.fields())
	for i := range every {
		every[i] = i
	}
	hostile := map[int]bool{}
	h.take(hostile, every, func() bool { return h.accepted(hostile) })
	h.put(hostile)
	commands := h.commands
	if !all {
		commands = commands[:1]
	}
	for _, command := range commands {
		h.print(command)
	}
	for i := 0; all && i < h.doc.fields(); i++ {
		h.put(map[int]bool{i: true})
		for _, command := range h.commands {
			h.print(command)
		}
	}
	if err := os.WriteFile(h.path(), data, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// take adds as many of the fields as the record can be read with.
func (h *hostileWalk) take(to map[int]bool, fields []int, ok func() bool) {
	for _, i := range fields {
		to[i] = true
	}
	if len(fields) == 0 || ok() {
		return
	}
	for _, i := range fields {
		delete(to, i)
	}
	if len(fields) == 1 {
		h.refused++
		return
	}
	h.take(to, fields[:len(fields)/2], ok)
	h.take(to, fields[len(fields)/2:], ok)
}

// accepted says that the record can be read: what is printed of it is longer than an error.
func (h *hostileWalk) accepted(hostile map[int]bool) bool {
	h.put(hostile)
	first, _, _ := strings.Cut(h.commands[0], "FORMATS")
	printed, complaint, code := h.say(strings.TrimSuffix(first, "--format "))
	if h.past != "" {
		return strings.Contains(complaint, h.past)
	}
	return code == 0 || printed != "" && !strings.Contains(complaint, "plimsoll: ")
}

func (h *hostileWalk) path() string {
	if filepath.IsAbs(h.file) {
		return h.file
	}
	return filepath.Join(h.dir, h.file)
}

func (h *hostileWalk) put(hostile map[int]bool) {
	if err := os.WriteFile(h.path(), h.doc.with(hostile), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// print runs a command in each form of its output.
func (h *hostileWalk) print(command string) {
	forms := []page.Format{""}
	switch {
	case strings.Contains(command, "FORMATS"):
		forms = page.Formats()
	case strings.Contains(command, "FIGURES"):
		forms = runs.ExportFormats()
	}
	for _, form := range forms {
		h.say(strings.NewReplacer("FORMATS", string(form), "FIGURES", string(form)).Replace(command))
	}
}

// say runs a command, and looks at what it says and writes.
func (h *hostileWalk) say(command string) (printed, complaint string, code int) {
	h.t.Helper()
	words := strings.Fields(command)
	for i := range words {
		words[i] = strings.Replace(words[i], "DIR", h.dir, 1)
	}
	printed, complaint, code = runHere(h.t.Context(), h.t, words)
	h.look(command, printed)
	if err := inItsForm(command, printed); code != 1 && code != 2 && err != nil {
		h.t.Errorf("%s: %v\n%.300q", command, err, printed)
	}
	h.look(command+" (standard error)", complaint)
	out := filepath.Join(h.dir, "out")
	_ = filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		h.look(command+": "+filepath.Base(name), string(text))
		return nil
	})
	if err := os.RemoveAll(out); err != nil {
		h.t.Fatal(err)
	}
	return printed, complaint, code
}

var (
	rawText   = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]`)
	ownLine   = regexp.MustCompile(`\n[ \t|]*\n[ \t|]*\n[ \t|]*z(\d+)z`)
	fieldSeen = regexp.MustCompile(`z(\d+)z`)
)

// steer is the text that a field gets. Of three line ends none may be left: one alone may be that of
// a text which was wrapped.
func steer(field int) string {
	return fmt.Sprintf("a\x1b]0;p\x07\x1b[2J\u009b31m\u202e\u0085\u2066\u2028\x7f\r\n\n\nz%dz", field)
}

func (h *hostileWalk) look(command, said string) {
	h.t.Helper()
	h.outputs++
	if at := rawText.FindStringIndex(said); at != nil {
		h.t.Errorf("%s: raw: %q", command, said[max(0, at[0]-80):min(len(said), at[1]+80)])
	}
	if at := ownLine.FindStringIndex(said); at != nil {
		h.t.Errorf("%s: a line of its own: %q", command, said[max(0, at[0]-80):min(len(said), at[1]+20)])
	}
	for _, m := range fieldSeen.FindAllStringSubmatch(said, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			h.seen[n] = true
		}
	}
}

// inItsForm holds an output against its own format.
func inItsForm(command, said string) error {
	switch {
	case strings.HasSuffix(command, " json"), strings.HasSuffix(command, " sarif"):
		if !json.Valid([]byte(said)) {
			return errors.New("no JSON")
		}
	case strings.HasSuffix(command, " junit"):
		return xml.Unmarshal([]byte(said), new(struct{}))
	case strings.HasSuffix(command, " csv"):
		_, err := csv.NewReader(strings.NewReader(said)).ReadAll()
		return err
	}
	return nil
}

// read finds the texts of a record: of JSON and YAML the strings, of other files the lines.
func (h *hostileWalk) read(data []byte) hostileText {
	var v any
	switch filepath.Ext(h.file) {
	case ".json":
		if err := json.Unmarshal(data, &v); err != nil {
			h.t.Fatal(err)
		}
	case ".yaml":
		if err := yaml.Unmarshal(data, &v); err != nil {
			h.t.Fatal(err)
		}
	default:
		return hostileLines(strings.Split(string(data), "\n"))
	}
	v = shortened(v)
	if h.of != nil {
		h.fill(&v)
	}
	return &hostileTree{v}
}

// fill adds what the record's type has and this one does not hold, as far as it can be read with
// it.
func (h *hostileWalk) fill(v *any) {
	var whole any
	marshal, unmarshal := json.Marshal, json.Unmarshal
	if filepath.Ext(h.file) == ".yaml" {
		marshal, unmarshal = yaml.Marshal, yaml.Unmarshal
	}
	data, err := marshal(filled(reflect.TypeOf(h.of), nil).Interface())
	if err == nil {
		err = unmarshal(data, &whole)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	n := 0
	merge(*v, whole, func() bool { n++; return true })
	every := make([]int, n)
	for i := range every {
		every[i] = i
	}
	wanted, base := map[int]bool{}, *v
	build := func() {
		i := -1
		*v = merge(base, whole, func() bool { i++; return wanted[i] })
	}
	dropped := h.refused
	h.take(wanted, every, func() bool {
		build()
		h.doc = &hostileTree{*v}
		return h.accepted(nil)
	})
	build()
	h.t.Logf("%d parts of the type were added, %d could not be", len(wanted), h.refused-dropped)
	h.refused = dropped
}

// shortened is a document with two of each list: the others have the same fields.
func shortened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = shortened(v[key])
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
		return v[:min(len(v), 2)]
	}
	return v
}

// merge is a document with what it lacks of another, where add wants it.
func merge(have, whole any, add func() bool) any {
	switch all := whole.(type) {
	case map[string]any:
		old, ok := have.(map[string]any)
		if !ok {
			return have
		}
		made := maps.Clone(old)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if old[key] != nil {
				made[key] = merge(old[key], all[key], add)
			} else if add() {
				made[key] = all[key]
			}
		}
		return made
	case []any:
		old, ok := have.([]any)
		if !ok || len(all) == 0 {
			return have
		}
		if len(old) == 0 && add() {
			return all
		}
		made := slices.Clone(old)
		for i := range made {
			made[i] = merge(made[i], all[0], add)
		}
		return made
	}
	return have
}

// anyKey is that of each map which has one only because the type has the map.
const anyKey = "anykey"

// filled is a value of which everything is there: one of each list, nothing empty. What holds itself
// ends after the second.
func filled(t reflect.Type, above []reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if n := len(slices.DeleteFunc(slices.Clone(above), func(a reflect.Type) bool { return a != t })); n > 1 {
		return v
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes([]byte(`"x"`))
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(filled(t.Elem(), above).Addr())
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), above)))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(filled(t.Elem(), above))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		key := filled(t.Key(), above)
		if key.Kind() == reflect.String {
			key.SetString(anyKey)
		}
		v.SetMapIndex(key, filled(t.Elem(), above))
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)))
			return v
		}
		for f := range t.Fields() {
			if f.IsExported() {
				v.FieldByIndex(f.Index).Set(filled(f.Type, append(above, t)))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			v.Set(reflect.ValueOf("x"))
		}
	default:
		switch {
		case v.CanInt():
			v.SetInt(1)
		case v.CanUint():
			v.SetUint(1)
		}
	}
	return v
}

// hostileTree is a document of JSON, of which YAML is a superset.
type hostileTree struct{ of any }

func (h *hostileTree) fields() int {
	n := 0
	changed(h.of, func(s string) string { n++; return s })
	return n
}

func (h *hostileTree) with(hostile map[int]bool) []byte {
	i := -1
	made := changed(h.of, func(s string) string {
		if i++; hostile[i] {
			return steer(i)
		}
		return s
	})
	data, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		panic(err)
	}
	var ascii bytes.Buffer // YAML does not take them all as they are
	for _, unit := range utf16.Encode([]rune(string(data))) {
		if unit < 0x7f {
			ascii.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
		}
	}
	return ascii.Bytes()
}

// changed is a document with each string, and each key of a map, as change makes it.
func changed(v any, change func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		made := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := changed(v[key], change)
			if key == anyKey {
				key = change(key)
			}
			made[key] = value
		}
		return made
	case []any:
		made := make([]any, len(v))
		for i := range v {
			made[i] = changed(v[i], change)
		}
		return made
	case string:
		return change(v)
	}
	return v
}

// hostileLines is a text whose lines end with what is hostile, but for the line ends and what begins a
// comment.
type hostileLines []string

func (h hostileLines) fields() int { return len(h) }

func (h hostileLines) with(hostile map[int]bool) []byte {
	lines := slices.Clone([]string(h))
	for i := range lines {
		if hostile[i] {
			lines[i] += strings.NewReplacer("\n", "", "\u2028", "", ";", "").Replace(steer(i))
		}
	}
	return []byte(strings.Join(lines, "\n"))
}
