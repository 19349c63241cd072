package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/verdict"
)

func twoHosts(t *testing.T, ceiling float64) string {
	t.Helper()
	each := map[time.Duration]uint64{time.Millisecond: 100}
	dir, _ := importAll(t, hostRun{name: "h1", seconds: 20, each: each, jitter: 1, ceiling: ceiling, kernel: "6.1"},
		hostRun{name: "h2", seconds: 20, each: each, jitter: 1, ceiling: ceiling, kernel: "6.1"})
	return dir
}

// A fleet whose hosts had nothing to be judged by is measured; nothing passed.
func TestFleetThatNothingJudged(t *testing.T) {
	f, err := bundle.OpenFleet(twoHosts(t, 0))
	if err != nil || f.Verdict != verdict.Measured {
		t.Errorf("%v: %v", f.Verdict, err)
	}
}

// Neither the document of a fleet run nor that of a host can be changed without being noticed, by whoever
// reads the figures.
func TestDamagedFleet(t *testing.T) {
	change := func(t *testing.T, name, from, to string) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte(from)) {
			t.Fatalf("%s in %s: %v", from, name, err)
		}
		if err := os.WriteFile(name, bytes.ReplaceAll(data, []byte(from), []byte(to)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(t *testing.T, dir string){
		"fleet.json was changed": func(t *testing.T, dir string) { change(t, filepath.Join(dir, "fleet.json"), `"iops": `, `"iops": 9`) },
		"result.json was changed": func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "hosts/h1/03-rand-read/result.json"), `"state": "done"`, `"state":  "done"`)
		},
		"hosts/h2": func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "hosts/h2/03-rand-read")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := twoHosts(t, 1000)
		damage(t, dir)
		f, err := bundle.OpenFleet(dir)
		if err != nil {
			t.Fatal(err)
		}
		if f.Inspect(dir); f.Verdict != verdict.Invalid || len(f.Damaged) == 0 || !strings.Contains(strings.Join(f.Damaged, "; "), name) {
			t.Errorf("%s: the fleet is %v, damaged %q", name, f.Verdict, f.Damaged)
		}
		if b, err := bundle.OpenRun(dir); err == nil && len(b.Damaged) == 0 {
			t.Errorf("%s: as one run nothing is damaged", name)
		}
	}
	whole := twoHosts(t, 1000)
	f, err := bundle.OpenFleet(whole)
	if f.Inspect(whole); err != nil || len(f.Damaged) > 0 {
		t.Errorf("nothing was changed: %q, %v", f.Damaged, err)
	}
}

// A run that was copied counts once, whatever its copies are called.
func TestRunThatIsThereTwice(t *testing.T) {
	root := t.TempDir()
	dir := hostRun{name: "h1", seconds: 20, each: map[time.Duration]uint64{time.Millisecond: 100}}.build(t, filepath.Join(root, "one"))
	for _, name := range []string{"a", "b"} {
		if err := copyBundle(filepath.Join(root, "dup", name), dir); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := Import{Dirs: []string{filepath.Join(root, "dup")}, Out: filepath.Join(root, "runs"), Now: epoch}.Run()
	if err == nil || !strings.Contains(err.Error(), "are one run") {
		t.Errorf("two copies of one run: %v", err)
	}
}

// What is no protocol is shown with its line: most often a login prints a banner.
func TestBannerIsNamed(t *testing.T) {
	var m message
	err := newLineReader(strings.NewReader("Welcome to db1\n")).next(&m)
	if err == nil || !strings.Contains(err.Error(), `"Welcome to db1"`) || !strings.Contains(err.Error(), "banner") {
		t.Errorf("%v", err)
	}
}
