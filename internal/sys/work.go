package sys

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
)

// Work shows whether the family of a program does anything. It is given to the program's start by
// WithWork, and empty before.
type Work struct{ family atomic.Pointer[family] }

type workKey struct{}

// WithWork returns a context in which w looks at what the program that is started has for a family
// (WithFamily).
func WithWork(ctx context.Context, w *Work) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// Look returns how many bytes the processes that live have moved in all, and whether one of their
// threads sleeps in the kernel without heeding signals, as one does that waits for a device. What
// the program itself reads and writes by read(2) and write(2) does not count, only what its
// children do so: it prints its progress. Of a program that is stopped (SIGSTOP) nothing is counted,
// whatever its children do: it will never end.
func (w *Work) Look() (moved uint64, waits bool) {
	f := w.family.Load()
	if f == nil {
		return 0, false
	}
	for _, p := range members(f.has) {
		if p.parent == os.Getpid() && state(fmt.Sprintf("/proc/%d/stat", p.pid)) == 'T' {
			return 0, false
		}
		io := readIO(p.pid)
		moved += io["read_bytes"] + io["write_bytes"]
		if p.parent != os.Getpid() {
			moved += io["rchar"] + io["wchar"]
		}
		waits = waits || threadWaits(p.pid)
	}
	return moved, waits
}

// readIO reads /proc/PID/io: proc_pid_io(5).
func readIO(pid int) map[string]uint64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	all := map[string]uint64{}
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		if n, err := strconv.ParseUint(string(value), 10, 64); err == nil {
			all[string(name)] = n
		}
	}
	return all
}

// threadWaits says whether a thread of a process is in state D.
func threadWaits(pid int) bool {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return slices.ContainsFunc(names, func(name string) bool { return state(name) == 'D' })
}

// state is the state of a process or a thread, of its stat: proc_pid_stat(5); 0 when it has ended.
func state(stat string) byte {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0
	}
	text = bytes.TrimSpace(text[bytes.LastIndexByte(text, ')')+1:])
	if len(text) == 0 {
		return 0
	}
	return text[0]
}
