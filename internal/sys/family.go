package sys

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// familyVar is the environment variable by which the kernel keeps the record of who started a
// process: it is inherited by whatever a program forks, cannot be lost with a file, and ends with
// the process. Its value is PID.ID.PROGRAM, the first of the plimsoll that started it.
const familyVar = "PLIMSOLL_FAMILY"

// family is a program with all that it has started, in whatever group or session.
type family struct {
	pid     int    // of the plimsoll
	id      string // of this family
	program string // base name of the program's file
}

// newFamily prepares a family for a program. From now on the orphans of plimsoll's children become
// children of plimsoll, instead of those of process 1, so that they can be waited for.
func newFamily(program string) (*family, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the parent of orphans: %w", err)
	}
	if _, err := readProcess(os.Getpid()); err != nil {
		return nil, fmt.Errorf("/proc must be mounted: %w", err)
	}
	return &family{pid: os.Getpid(), id: rand.Text(), program: filepath.Base(program)}, nil
}

func (f *family) value() string { return fmt.Sprintf("%d.%s.%s", f.pid, f.id, f.program) }

func (f *family) mark() string { return familyVar + "=" + f.value() }

// parseFamily reads a mark's value.
func parseFamily(s string) (family, bool) {
	part := strings.SplitN(s, ".", 3)
	if len(part) != 3 {
		return family{}, false
	}
	pid, err := strconv.Atoi(part[0])
	return family{pid, part[1], part[2]}, err == nil && pid > 0 && part[1] != ""
}

// process is one of /proc.
type process struct {
	pid, parent int
	start       uint64 // clock ticks since boot
	ended       bool   // a zombie
	begins      bool   // exec has not set up its environment yet
}

// readProcess reads /proc/PID/stat: proc_pid_stat(5).
func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	return parseProcess(pid, text)
}

// StatFields are those of /proc/PID/stat from the third on, the state: proc_pid_stat(5). The name before them stands in
// parentheses and may hold anything.
func StatFields(text []byte) []string {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return nil
	}
	return strings.Fields(string(text[end+1:]))
}

func parseProcess(pid int, text []byte) (process, error) {
	p := process{pid: pid}
	field := StatFields(text)
	if len(field) < 20 {
		return p, fmt.Errorf("/proc/%d/stat: %.60q: want 22 fields", pid, text)
	}
	p.ended = field[0][0] == 'Z' || field[0][0] == 'X'
	parent, err1 := strconv.Atoi(field[1])
	flags, err2 := strconv.ParseUint(field[6], 10, 64)
	start, err3 := strconv.ParseUint(field[19], 10, 64)
	const envEnd = 48 // its field, which is 0 for those, too, that have no memory
	p.parent, p.start = parent, start
	p.begins = flags&(kernelThread|exiting) == 0 && len(field) > envEnd && field[envEnd] == "0"
	return p, errors.Join(err1, err2, err3)
}

// PF_KTHREAD and PF_EXITING of the kernel's sched.h; a zombie keeps the latter.
const kernelThread, exiting = 0x00200000, 0x00000004

// Environ is a process's environment, NAME=VALUE each, which only its owner and root may read. Start returns before
// exec has set it up, and until then the kernel shows none: that is waited for, up to a second.
func Environ(pid int) []string {
	whole := false
	for range 1000 {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if len(env) > 0 {
			return strings.Split(strings.TrimSuffix(string(env), "\x00"), "\x00")
		}
		if err != nil || whole { // it has ended, is another's, or has none
			return nil
		}
		p, err := readProcess(pid)
		if err != nil {
			return nil
		}
		if whole = !p.begins; !whole {
			_, _ = unix.Poll(nil, 1)
		}
	}
	return nil
}

// familyOf reads a process's mark from its environment.
func familyOf(pid int) (family, bool) {
	for _, v := range Environ(pid) {
		if value, ok := strings.CutPrefix(v, familyVar+"="); ok {
			return parseFamily(value)
		}
	}
	return family{}, false
}

// processes are all that /proc shows.
func processes() []process {
	names, err := fs.ReadDir(os.DirFS("/"), "proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil { // it may have ended
			all = append(all, p)
		}
	}
	return all
}

// members are the processes for which ours says yes.
func members(ours func(process, family) bool) []process {
	var list []process
	for _, p := range processes() {
		if f, ok := familyOf(p.pid); ok && !p.ended && p.pid != os.Getpid() && ours(p, f) {
			list = append(list, p)
		}
	}
	return list
}

// lives says whether a process is there and has not ended.
func (p process) lives() bool {
	now, err := readProcess(p.pid)
	return err == nil && now.start == p.start && !now.ended
}

// descends says whether a process, or one that it comes from, was started by another. Where /proc hides who
// that was (hidepid=), it may be so.
func (p process) descends(from int) bool {
	for p.parent > 1 && p.parent != from {
		parent, err := readProcess(p.parent)
		if err != nil { // it has just ended, and p has another; or it is hidden
			again, err := readProcess(p.pid)
			if err != nil || again.parent == p.parent {
				return true
			}
			parent = again
		}
		p = parent
	}
	return p.parent == from
}

// kill sends SIGKILL to a process if it is still the one that was seen.
func (p process) kill() {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd) //nolint:errcheck // only a handle
	if now, err := readProcess(p.pid); err == nil && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// has says whether a process is of the family, by its mark.
func (f *family) has(_ process, o family) bool { return o == *f }

// kill kills what lives of the family.
func (f *family) kill() {
	for _, p := range members(f.has) {
		p.kill()
	}
}

// end kills what lives of the family and returns when nothing does. *Alive is what does not end
// within Grace.
func (f *family) end() error {
	_, err := endAll(f.program, f.has)
	return err
}

// endAll kills until nothing is left: what was found may have forked meanwhile. It returns how many
// there were. A process that was found is waited for until it has ended: its mark goes with its
// memory, and its I/O may go on for a moment after that.
func endAll(program string, ours func(process, family) bool) (int, error) {
	deadline := time.Now().Add(Grace)
	seen := map[process]bool{}
	for none := 0; ; {
		begun := lastPID()
		live := left(members(ours), seen)
		// One that forked and ended between the listing of /proc and the look at it has left a child that was
		// not listed: what was seen counts if nothing was started meanwhile, or several times.
		if none++; len(live) > 0 {
			none = 0
		} else if none >= emptyLooks || begun != "" && begun == lastPID() {
			return len(seen), nil
		}
		if time.Now().After(deadline) {
			return len(seen), &Alive{Program: program, processes: live}
		}
		for _, p := range live {
			seen[process{pid: p.pid, start: p.start}] = true
			p.kill()
		}
		for _, p := range live {
			p.await(50 * time.Millisecond)
		}
	}
}

// emptyLooks in a row say that nothing is left where other programs are started all the time.
const emptyLooks = 4

// lastPID is the number of the process that was started last: proc_loadavg(5).
func lastPID() string {
	text, err := os.ReadFile("/proc/loadavg")
	if fields := bytes.Fields(text); err == nil && len(fields) == 5 {
		return string(fields[4])
	}
	return ""
}

// left are the processes that are found now, and those that were seen before and have not ended.
func left(found []process, seen map[process]bool) []process {
	for p := range seen {
		known := slices.ContainsFunc(found, func(o process) bool { return o.pid == p.pid && o.start == p.start })
		if !known && p.lives() {
			found = append(found, p)
		}
	}
	return found
}

// await waits for a process's end, and takes its exit status where it is plimsoll's own child,
// which the dead parent left to it.
func (p process) await(limit time.Duration) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd) //nolint:errcheck // only a handle
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(limit.Milliseconds()))
	_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil) // ECHILD: another's
}

// Alive is what a program left running and what SIGKILL does not end: it sleeps in the kernel.
type Alive struct {
	Program   string
	processes []process
}

func (a *Alive) Error() string {
	var pids []string
	for _, p := range a.processes {
		pids = append(pids, strconv.Itoa(p.pid))
	}
	return fmt.Sprintf(
		"what %s started cannot be killed and may still write (process %s sleeps in the kernel: look at dmesg)", a.Program,
		strings.Join(pids, ", "),
	)
}

// Still waits up to limit for the processes to end and says whether one lives.
func (a *Alive) Still(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for _, p := range a.processes {
		p.await(max(0, time.Until(deadline)))
		if p.lives() {
			return true
		}
	}
	return false
}

// EndStrays kills what a plimsoll that is no more started with WithFamily, and returns how many
// processes that were; with dry they are only counted. A process counts when it runs the program that its
// mark names, in the same PID namespace, and does not descend from the plimsoll of the mark: whatever a living
// one started does, since it is the reaper of orphans. That no namespace of time shifts, as it does the instants
// at which processes were started. *Alive is what does not end.
func EndStrays(dry bool) (int, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return 0, nil //nolint:nilerr // without /proc nothing can be found
	}
	stray := func(p process, f family) bool {
		theirs, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.pid))
		exe, _ := ExeOf(p.pid)
		return theirs == space && filepath.Base(strings.TrimSuffix(exe, " (deleted)")) == f.program && !p.descends(f.pid)
	}
	if dry {
		return len(members(stray)), nil
	}
	return endAll("a run that was killed", stray)
}

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

// Memory is what the processes that live hold of memory that no file is behind: each its own, and the most of one that
// they share.
func (w *Work) Memory() (own uint64) {
	f, shared := w.family.Load(), uint64(0)
	if f == nil {
		return 0
	}
	for _, p := range members(f.has) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		own, shared = own+kibIn(status, "RssAnon"), max(shared, kibIn(status, "RssShmem"))
	}
	return own + shared
}

// Kill ends the processes that live at once.
func (w *Work) Kill() {
	if f := w.family.Load(); f != nil {
		f.kill()
	}
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

// state is the state of a process or a thread, of its stat; 0 when it has ended.
func state(stat string) byte {
	text, _ := os.ReadFile(stat)
	if f := StatFields(text); len(f) > 0 {
		return f[0][0]
	}
	return 0
}
