package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptWhileParsing interrupts commands while they read and judge what takes them a minute of
// CPU time. The signal comes when all or half of it was read, however fast the machine is; then plimsoll ends
// with 130, and has not judged the rest.
func TestInterruptWhileParsing(t *testing.T) {
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
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for readSoFar(cmd.Process.Pid) < until {
			select {
			case err := <-ended:
				t.Fatalf("%s ended before it was interrupted: %v\n%.500s", c.args, err, said.String())
			default:
			}
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		var failed *exec.ExitError
		if err := <-ended; !errors.As(err, &failed) || failed.ExitCode() != 130 {
			t.Errorf("%s: %v, want exit 130", c.args, err)
		}
		// It would take a minute of CPU time and more, also on the fastest machine several seconds.
		if cpu := cmd.ProcessState.UserTime(); c.front == "lint x.sh" && cpu.Seconds() > 15 {
			t.Errorf("%s: it went on for %v", c.args, cpu)
		}
	}
}

// readSoFar is how many bytes a process has read, of all files.
func readSoFar(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	_, rest, _ := strings.Cut(string(text), "rchar: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line)
	return n
}
