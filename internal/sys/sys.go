// Package sys is the one door from plimsoll to the machine it runs on. Everything that reads /sys
// or /proc, or starts another program, is handed a *Machine; tests hand in a captured tree of files
// and put recorded programs first in PATH.
package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Machine is everything plimsoll may touch outside its own memory and the directories it is given.
type Machine struct {
	// Root is "/": names in it have no leading slash, such as sys/block or proc/mdstat.
	Root fs.FS
	// Run starts a program, copies its standard output to stdout and waits for it. Its failure is a
	// *Failed. When ctx ends the program is asked to stop with SIGINT and killed after Grace. It
	// has a limit of time, ChangeLimit unless WithLimit gave another: *Late.
	Run func(ctx context.Context, stdout io.Writer, argv ...string) error
	// Put writes a tunable below /sys or /proc; name is absolute.
	Put func(name string, data []byte) error
	// Now is the wall clock.
	Now func() time.Time
	// Environ is the environment, as os.Environ has it; empty of a captured machine, which has none.
	Environ []string
	// Here is true for the machine plimsoll runs on and false for a captured one, about which no
	// network service is asked.
	Here bool
}

// Host is the machine that plimsoll runs on.
func Host() *Machine {
	return &Machine{
		Root: os.DirFS("/"),
		Run:  run,
		Put:  func(name string, data []byte) error { return os.WriteFile(name, data, 0) },
		Now:  time.Now,
		Here: true,

		Environ: os.Environ(),
	}
}

// LookupEnv is a variable of the environment, and whether it is set.
func (m *Machine) LookupEnv(name string) (value string, ok bool) {
	for _, v := range m.Environ {
		if key, value, found := strings.Cut(v, "="); found && key == name {
			return value, true
		}
	}
	return "", false
}

// Getenv is a variable of the environment, "" where it is not set.
func (m *Machine) Getenv(name string) string {
	value, _ := m.LookupEnv(name)
	return value
}

// Program is where a program of the machine is, without a leading slash; "" where it is not.
func (m *Machine) Program(name string) string {
	for dir := range strings.FieldsSeq("usr/sbin usr/bin sbin bin usr/local/sbin usr/local/bin") {
		at := dir + "/" + name
		if _, err := fs.Stat(m.Root, at); err == nil {
			return at
		}
	}
	return ""
}

// Installed says whether the machine has a program.
func (m *Machine) Installed(name string) bool { return m.Program(name) != "" }

// Failed is a program that did not exit with 0.
type Failed struct {
	Argv   []string
	Code   int            // exit status; -1 when a signal ended it
	Signal syscall.Signal // that ended it; 0 when none did
	Stderr string         // what it printed there, trimmed
}

// failure is the Failed of a program that was waited for; other errors stay as they are.
func failure(argv []string, err error, stderr string) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	failed := &Failed{Argv: argv, Code: exit.ExitCode(), Stderr: stderr}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		failed.Signal = status.Signal()
	}
	return failed
}

// pipe says that it, or what a shell of it ran, was ended for printing to nobody.
func (f *Failed) pipe() bool {
	return f.Signal == syscall.SIGPIPE || f.Code == 128+int(syscall.SIGPIPE)
}

func (f *Failed) Error() string {
	name := filepath.Base(f.Argv[0])
	said := strings.TrimPrefix(f.Stderr, name+": ") // most programs begin with their name
	switch {
	case f.Signal != 0:
		said = strings.TrimSuffix("ended by "+unix.SignalName(f.Signal)+": "+said, ": ")
	case said == "":
		said = fmt.Sprintf("exit status %d", f.Code)
	}
	return name + ": " + said
}

// ErrNotFound is in the chain of Run's error when the program is not installed.
var ErrNotFound = exec.ErrNotFound

// OutputLimit is the most that Output keeps of what a program prints.
const OutputLimit = 16 << 20

// Output runs a program and returns what it printed, OutputLimit at most. It may take QueryLimit,
// unless WithLimit gave another.
func (m *Machine) Output(ctx context.Context, argv ...string) (string, error) {
	if ctx.Value(limitKey{}) == nil {
		ctx = WithLimit(ctx, QueryLimit)
	}
	out := &Capped{Limit: OutputLimit}
	err := m.Run(ctx, out, argv...)
	if flood := out.Err(); flood != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(argv[0]), flood)
	}
	return out.buf.String(), err
}

var errFlood = fmt.Errorf("it printed more than %d MiB", OutputLimit>>20)

// Capped keeps what is written to it up to a limit, in bytes, and refuses what is over it.
type Capped struct {
	Limit int

	buf  bytes.Buffer
	over bool
}

func (c *Capped) Write(p []byte) (int, error) {
	if c.buf.Len()+len(p) > c.Limit {
		c.over = true
		return 0, errFlood
	}
	return c.buf.Write(p)
}

func (c *Capped) String() string { return c.buf.String() }

// Err says that something was refused.
func (c *Capped) Err() error {
	if c.over {
		return errFlood
	}
	return nil
}

// Brief leaves out the manual that some programs print after what is wrong.
func Brief(err error) error {
	failed, ok := errors.AsType[*Failed](err)
	if !ok {
		return err
	}
	var lines []string
	for line := range strings.Lines(failed.Stderr) {
		if line = strings.TrimSpace(line); strings.HasPrefix(strings.ToLower(line), "usage") || len(lines) == 4 {
			break
		}
		if line != "" {
			lines = append(lines, strings.TrimPrefix(line, filepath.Base(failed.Argv[0])+": "))
		}
	}
	short := *failed
	short.Stderr = strings.Join(lines, "; ")
	return &short
}

// MakeRoot makes a directory, unless it is there, in which names lead nowhere else.
func MakeRoot(dir string, perm fs.FileMode) (*os.Root, error) {
	if err := os.MkdirAll(dir, perm); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// Meminfo is a line of /proc/meminfo in bytes, such as MemTotal; 0 where it is not known: proc_meminfo(5).
func Meminfo(root fs.FS, name string) uint64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	return kibIn(text, name)
}

// kibIn reads a line such as "MemTotal:   24684 kB" of those of /proc, whose kB are KiB.
func kibIn(text []byte, name string) uint64 {
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name+":" {
			if kib, err := strconv.ParseUint(f[1], 10, 50); err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// Clock reads one of clock_gettime(2)'s clocks; those that plimsoll reads exist on every Linux.
func Clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Monotonic is the clock that no one sets, by which the kernel's log counts.
func Monotonic() time.Duration { return Clock(unix.CLOCK_MONOTONIC) }

// ClockError is by how much the wall clock was off when it was last compared with its source of time, and how
// far it may be off at most, as the kernel knows from what keeps it: adjtimex(2).
func ClockError() (offset, most time.Duration, err error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("adjtimex: %w", err)
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		return 0, 0, errors.New("nothing keeps it (chrony, timesyncd and the like)")
	}
	unit := time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		unit = time.Nanosecond
	}
	return time.Duration(t.Offset) * unit, time.Duration(t.Maxerror) * time.Microsecond, nil
}

// Stat says what a name leads to, links followed, as stat(2) does. What is then opened by the name may
// be another file: a decision about writing is made on what is open (Dir, OpenRegular).
func Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Exists says whether a name leads to anything that can be looked at.
func Exists(name string) bool {
	_, err := Stat(name)
	return err == nil
}

// IsDir says whether a name leads to a directory.
func IsDir(name string) bool {
	info, err := Stat(name)
	return err == nil && info.IsDir()
}

// IsFile says whether a name leads to a regular file.
func IsFile(name string) bool {
	info, err := Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Unmount takes away the mount of a number of mountinfo, by a handle: what its name leads to by then
// stays where it is another one. What still uses it keeps it until it ends.
func Unmount(point string, id int) error {
	fd, err := unix.Open(point, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return pathError("open", point, err)
	}
	defer unix.Close(fd) //nolint:errcheck // only a handle
	held := fmt.Sprintf("/proc/self/fd/%d", fd)
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st); err != nil || int(st.Mnt_id) != id {
		return errors.Join(fmt.Errorf("%s is another mount by now and stays", point), err)
	}
	if err := unix.Unmount(held, unix.MNT_DETACH); err != nil {
		return pathError("umount", point, err)
	}
	return nil
}
