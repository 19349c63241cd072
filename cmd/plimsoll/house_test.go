package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the rooms of docs/architecture.md, top to bottom: a room imports only what stands
// below it. Rooms on one line may not import each other.
var floors = []string{
	"cli",
	"screen",
	"fleet",
	"lab",
	"report",
	"bench postgres provision tune",
	"permit",
	"compare",
	"bundle",
	"advise",
	"verdict",
	"lint diagnose",
	"finding",
	"ceiling",
	"result",
	"suite",
	"workload",
	"script",
	"topology",
	"telemetry",
	"host",
	"cloud",
	"block",
	"fio",
	"stats sys yamlfile",
	"text",
	"units",
}

// walls divide a room, top to bottom, as floors do the house; "." is the room's own package. Rooms
// that are not listed here have side rooms, which know the room and are known to it.
var walls = map[string][]string{
	"diagnose":  {"rules", "layout host run cloud postgres fleet", ".", "live"},
	"cli":       {".", "run array advise", "compare machine", "job", "form"},
	"fio":       {"output", "foreign", "text running", "command", ".", "shell part bins"},
	"lint":      {"settings", "."},
	"provision": {".", "records"},
	"report":    {"runs", "compared plans machine", "words", "page", "."},
}

// doors: what leads outside is opened in one room.
var doors = map[string]string{
	"os/exec":                  "sys sys/killat lab/labtest",
	"html/template":            "report/page",
	"github.com/spf13/cobra":   "cli cli/form cli/run cli/array cli/advise cli/compare cli/machine cli/job",
	"github.com/jackc/pgx/v5":  "postgres",
	"charm.land/bubbletea/v2":  "screen",
	"mvdan.cc/sh/v3/syntax":    "script",
	"github.com/goccy/go-yaml": "yamlfile",
}

// ranks numbers what is printed top to bottom: the larger, the higher.
func ranks(lines []string) map[string]int {
	rank := map[string]int{}
	for i, line := range lines {
		for name := range strings.FieldsSeq(line) {
			rank[name] = len(lines) - i
		}
	}
	return rank
}

func TestRoomsKeepTheirPlaces(t *testing.T) {
	rank := ranks(floors)
	files, err := filepath.Glob("../../internal/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources found", err)
	}
	// A side room, such as lab/ebs, has its room's floor.
	side, err := filepath.Glob("../../internal/*/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, side...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		place, err := filepath.Rel("../../internal", filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		room, _, _ := strings.Cut(place, "/")
		if rank[room] == 0 {
			t.Errorf("%s: room %q is not in the list", file, room)
		}
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range src.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if rooms, ok := doors[imp]; ok && !strings.Contains(" "+rooms+" ", " "+place+" ") {
				t.Errorf("%s imports %s: only %s may", file, imp, rooms)
			}
			to, ok := strings.CutPrefix(imp, "plimsoll/internal/")
			if !ok {
				continue
			}
			below, _, _ := strings.Cut(to, "/")
			if below == room && !withinRoom(place, to) || below != room && rank[below] >= rank[room] {
				t.Errorf("%s imports %s, which is not below it", file, to)
			}
			if slices.Contains([]string{"lab/labtest", "sys/killat", "sys/bounded"}, to) {
				t.Errorf("%s imports %s, which is for tests", file, to)
			}
		}
	}
}

// withinRoom says whether one part of a room may import another.
func withinRoom(from, to string) bool {
	room, part, aside := strings.Cut(from, "/")
	_, other, toSide := strings.Cut(to, "/")
	parts, walled := walls[room]
	if !walled {
		return toSide || aside && from == "lab/labtest" // a guest for tests is a whole one
	}
	if !aside {
		part = "."
	}
	if !toSide {
		other = "."
	}
	rank := ranks(parts)
	return rank[part] > 0 && rank[other] > 0 && rank[part] > rank[other]
}

func TestPartsOfRooms(t *testing.T) {
	for _, c := range []struct {
		from, to string
		may      bool
	}{
		{"fio/output", "fio/text", true},
		{"fio/output", "fio", true},
		{"fio/text", "fio", true},
		{"fio/text", "fio/output", false},
		{"fio/output", "fio/running", true},
		{"fio/running", "fio", true},
		{"fio", "fio/shell", true},
		{"fio/text", "fio/command", true},
		{"fio/command", "fio", true},
		{"fio", "fio/command", false},
		{"lint", "lint/settings", false},
		{"fio", "fio/running", false},
		{"fio/text", "fio/running", false},
		{"fio", "fio/text", false},
		{"fio/other", "fio", false},
		{"lab", "lab/ebs", true},
		{"lab/ebs", "lab", false},
		{"lab/labtest", "lab", true},
		{"cli", "cli/run", true},
		{"cli/run", "cli/compare", true},
		{"cli/compare", "cli/run", false},
		{"cli/array", "cli/run", false},
		{"cli/form", "cli", false},
		{"provision", "provision/records", true},
		{"provision/records", "provision", false},
	} {
		if got := withinRoom(c.from, c.to); got != c.may {
			t.Errorf("%s imports %s: %v", c.from, c.to, got)
		}
	}
}

// outside are the doors to the machine: what opens them, and the rooms that may beside sys. The lists
// only get shorter: what is new asks sys.Machine or its caller.
var outside = []struct {
	what  string
	opens *regexp.Regexp
	rooms string
}{
	{
		"files",
		regexp.MustCompile(`\bos\.(Open|OpenFile|OpenRoot|Create|CreateTemp|ReadFile|WriteFile|Stat|Lstat|ReadDir|Readlink|Remove|RemoveAll|` +
			`Rename|Mkdir|MkdirAll|MkdirTemp|Link|Symlink|Chmod|Chown|Truncate|DirFS|Getwd|Chdir|TempDir|UserHomeDir|UserCacheDir)\b|` +
			`\bfilepath\.(Glob|Walk|WalkDir|EvalSymlinks)\b`),
		"bundle tune postgres lab lab/labtest lab/agent lab/ebs compare cli/form cli/job permit cloud fleet script provision block",
	},
	{
		"the clock", regexp.MustCompile(`\btime\.(Now|Since|Until)\b`),
		"postgres lab lab/agent lab/ebs permit cloud fleet bench",
	},
	{
		"the environment", regexp.MustCompile(`\bos\.(Getenv|LookupEnv|Environ|Setenv|Unsetenv|ExpandEnv)\b`),
		"bundle postgres lab/labtest suite cloud",
	},
	{"arguments", regexp.MustCompile(`\bos\.Args\b`), ""},
}

func TestDoorsToTheMachine(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		place, err := filepath.Rel("../../internal", filepath.Dir(path))
		if err != nil || place == "sys" {
			return err
		}
		for n, line := range strings.Split(read(t, path), "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, door := range outside {
				what := door.opens.FindString(code)
				if what == "" {
					continue
				}
				used[door.what+" "+place] = true
				if !slices.Contains(strings.Fields(door.rooms), place) {
					t.Errorf("%s:%d: %s: %s may not be reached from here; ask sys.Machine, or take it from the caller", path, n+1, what, door.what)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, door := range outside {
		for room := range strings.FieldsSeq(door.rooms) {
			if !used[door.what+" "+room] {
				t.Errorf("%s does not open the door to %s any more: take it off the list", room, door.what)
			}
		}
	}
}

// Each case of each fuzz target has limits.
func TestFuzzTargetsAreBounded(t *testing.T) {
	targets := 0
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		of := regexp.MustCompile(`(?m)^func Fuzz`).FindAllString(string(text), -1)
		bounded := regexp.MustCompile(`\bbounded\.Fuzz\(f, `).FindAllString(string(text), -1)
		if targets += len(of); len(of) != len(bounded) {
			t.Errorf("%s: of %d fuzz targets %d are bounded: use bounded.Fuzz in place of f.Fuzz", path, len(of), len(bounded))
		}
		return nil
	})
	if err != nil || targets < 60 {
		t.Errorf("%d targets: %v", targets, err)
	}
}
