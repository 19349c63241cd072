package fio

import (
	"os"
	"os/exec"
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
		engine                        string
		one, diskless, moves, touches bool
	}{
		{"psync", true, false, true, true},
		{"libaio", false, false, true, true},
		{"rbd", false, false, true, true},
		{"dirdelete", true, false, false, true},
		{"falloc", true, false, false, true},
		{"null", false, true, false, false},
		{"net", false, false, false, false},
		{"exec", false, false, false, false},
		{"e4defrag", false, false, false, true},
	} {
		one, diskless, moves, touches := Synchronous(c.engine), Diskless(c.engine), MovesData(c.engine), TouchesFiles(c.engine)
		if one != c.one || diskless != c.diskless || moves != c.moves || touches != c.touches {
			t.Errorf("%s: one in flight %v, diskless %v, moves data %v, touches files %v", c.engine, one, diskless, moves, touches)
		}
	}
}

// What engines do is written down once: no other list of them is kept.
func TestEnginesAreListedOnce(t *testing.T) {
	for name, of := range map[string]string{
		"../lint/job.go": "netsplice", "../permit/options.go": "filecreate", "../diagnose/pl4xx_window.go": "netsplice", "workloadof.go": "filecreate",
	} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), `"`+of+`"`) {
			t.Errorf("%s lists engines of its own; internal/fio/engines.tsv has them", name)
		}
	}
}
