package fio

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The table has each engine once, in known words, and the installed fio knows those of its time.
func TestEngineTable(t *testing.T) {
	kinds := []EngineKind{EngineData, EngineFiles, EngineMoves, EngineNone, EngineMemory, EngineNetwork, EngineProgram}
	lines := 0
	for line := range strings.Lines(engineText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		col := strings.Split(strings.TrimSpace(line), "\t")
		if len(col) != 4 || !slices.Contains(kinds, EngineKind(col[1])) || col[2] != "one" && col[2] != "iodepth" || col[3] == "" {
			t.Errorf("%q", line)
		}
	}
	if len(engineFacts()) != lines {
		t.Errorf("%d engines in %d lines", len(engineFacts()), lines)
	}
	out, err := exec.Command("fio", "--enghelp").Output()
	if err != nil {
		t.Fatal(err)
	}
	has := strings.Fields(string(out))
	for _, engine := range []string{"psync", "libaio", "io_uring", "null", "cpuio", "filecreate", "ftruncate", "netsplice", "e4defrag"} {
		if _, known := engineFacts()[engine]; !known || !slices.Contains(has, engine) {
			t.Errorf("%s: in the table %v, fio has %v", engine, known, has)
		}
	}
}

func TestEngineFacts(t *testing.T) {
	for _, c := range []struct {
		engine                       string
		one, diskless, moves, cached bool
	}{
		{"psync", true, false, true, true},
		{"libaio", false, false, true, true},
		{"rbd", false, false, true, false},
		{"dirdelete", true, false, false, false},
		{"falloc", true, false, false, false},
		{"null", false, true, false, false},
		{"net", false, false, false, false},
		{"exec", false, false, false, false},
		{"e4defrag", false, false, false, false},
		{"windowsaio", false, false, true, true},
		{"libpmem", false, false, true, false},
	} {
		one, diskless := Synchronous(c.engine), Diskless(c.engine)
		moves, cached := MovesData(c.engine), UsesPageCache(c.engine)
		if one != c.one || diskless != c.diskless || moves != c.moves || cached != c.cached {
			t.Errorf("%s: one in flight %v, diskless %v, moves data %v, uses the page cache %v",
				c.engine, one, diskless, moves, cached)
		}
	}
}

// What engines do is written down once: beside the table only the two are named that plimsoll runs
// by itself.
func TestEnginesAreListedOnce(t *testing.T) {
	may := []string{"libaio", "psync", "sync", "null", "net", "exec", "http", "mmap"} // the last six mean other things, too
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			path == "../fio/engines.go" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		var names []string
		for engine := range engineFacts() {
			if !slices.Contains(may, engine) && strings.Contains(string(source), `"`+engine+`"`) {
				names = append(names, engine)
			}
		}
		if len(names) > 0 {
			t.Errorf("%s knows %v by itself; internal/fio/engines.tsv is for that", path, names)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatal(files, err)
	}
}
