package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/bundle"
)

// TestInterruptWhileParsing interrupts commands while they read and judge what takes them a minute of
// CPU time. The signal comes when all or half of it was read, however fast the machine is; then plimsoll ends
// with 130, and has not judged the rest.
func TestInterruptWhileParsing(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	const files = 40
	for _, c := range []struct {
		args, file, front, text string
		named                   bool // each file, all of which are read before any is parsed
	}{
		{"lint", "x%d.sh", "lint x.sh", "fio commands", true},
		{"import --summary", "x%d.txt", "import --summary x.txt", "3.x", false},
	} {
		dir, size := t.TempDir(), 0
		for _, f := range fronts() {
			if f.String() != c.front {
				continue
			}
			text := f.texts[c.text](1 << 20)
			for i := range files {
				size += len(text)
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(c.file, i)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		args, until := append(strings.Fields(c.args), "."), size/2
		if c.named {
			args, until = args[:len(args)-1], size
			for i := range files {
				args = append(args, fmt.Sprintf(c.file, i))
			}
		}
		cmd := exec.CommandContext(t.Context(), "plimsoll", args...)
		cmd.Dir = dir
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := interruptAt(cmd, until); err != nil {
			t.Errorf("%s: %v\n%.500s", c.args, err, said.String())
		}
		// It would take a minute of CPU time and more, also on the fastest machine several seconds.
		if cpu := cmd.ProcessState.UserTime(); c.front == "lint x.sh" && cpu.Seconds() > 15 {
			t.Errorf("%s: it went on for %v", c.args, cpu)
		}
	}
}

// TestInterruptOfReports interrupts commands that read runs when they have read the first two of many
// results: the others would take the fastest machine seconds. They end with 130, and neither print nor write anything.
func TestInterruptOfReports(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	const results, size = 400, 1 << 20
	dir := t.TempDir()
	one, err := os.ReadFile("../report/runs/testdata/real/01-sync-latency/result.json")
	if err != nil {
		t.Fatal(err)
	}
	one = append(bytes.TrimSuffix(bytes.TrimSpace(one), []byte("}")), `,"reasons":["ab"`+strings.Repeat(`,"ab"`, size/5)+"]}"...)
	if err := os.WriteFile(filepath.Join(dir, "large"), one, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"runs/a", "runs/b"} {
		if err := manyResults(filepath.Join(dir, name), filepath.Join(dir, "large"), results); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{
		"report runs/a", "report runs/a --format html --out page", "compare runs/a runs/b", "report runs --format openmetrics",
	} {
		cmd := exec.CommandContext(t.Context(), "plimsoll", strings.Fields(command)...)
		cmd.Dir = dir
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := interruptAt(cmd, 2*size); err != nil || strings.Contains(said.String(), "sync-latency") {
			t.Errorf("%s: %v, want exit 130 and no report\n%.300s", command, err, said.String())
		}
		if _, err := os.Stat(filepath.Join(dir, "page")); err == nil {
			t.Errorf("%s wrote a report", command)
		}
	}
}

// interruptAt starts a command, interrupts it when it has read so many bytes, and wants it to end with
// 130.
func interruptAt(cmd *exec.Cmd, bytes int) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for readSoFar(cmd.Process.Pid) < bytes {
		select {
		case err := <-ended:
			return fmt.Errorf("it ended before it was interrupted: %w", err)
		default:
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	var failed *exec.ExitError
	if err := <-ended; !errors.As(err, &failed) || failed.ExitCode() != 130 {
		return fmt.Errorf("it ended with %w", err)
	}
	return nil
}

// manyResults makes a run of many scenarios, of which all have the same result.
func manyResults(dir, of string, n int) error {
	data, err := os.ReadFile("../report/runs/testdata/real/run.json")
	if err != nil {
		return err
	}
	var run bundle.Run
	if err := json.Unmarshal(data, &run); err != nil {
		return err
	}
	first := run.Suite.Scenarios[0]
	run.Schema, run.Suite.Scenarios = bundle.Schema, nil
	for i := range n {
		first.ID = i + 1
		run.Suite.Scenarios = append(run.Suite.Scenarios, first)
		at := filepath.Join(dir, bundle.DirName(first))
		if err := errors.Join(os.MkdirAll(at, 0o700), os.Link(of, filepath.Join(at, "result.json"))); err != nil {
			return err
		}
	}
	if data, err = json.Marshal(run); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "run.json"), data, 0o600)
}

// readSoFar is how many bytes a process has read, of all files.
func readSoFar(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	_, rest, _ := strings.Cut(string(text), "rchar: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line)
	return n
}
