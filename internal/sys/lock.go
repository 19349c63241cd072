package sys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLocked is in the chain of Lock's error when another plimsoll holds the lock.
var ErrLocked = errors.New("in use by another plimsoll")

// Lock takes an exclusive lock on a directory or a block device. The kernel lets go of it when the
// process ends, however it ends.
func Lock(name string) (release func(), err error) {
	f, err := os.OpenFile(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && info.Mode().Type() != fs.ModeDevice {
		err = fmt.Errorf("%s is neither a directory nor a block device", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return hold(f, func() (fs.FileInfo, error) { return os.Stat(name) })
}

// LockSelf takes an exclusive lock on the directory itself, as Lock does; an error calls it by its name.
func (d *Dir) LockSelf() (release func(), err error) {
	release, err = Lock(d.Path())
	if held, ok := errors.AsType[*Locked](err); ok {
		held.Name = d.name
	}
	return release, err
}

// Lock takes an exclusive lock on a file in the directory, which is made when it is missing. A
// link, a pipe, a socket, a device or a file of another user under that name is refused, and
// nothing waits for it.
func (d *Dir) Lock(name string) (release func(), err error) {
	f, err := d.lockFile(name)
	if err != nil {
		return nil, err
	}
	return hold(f, func() (fs.FileInfo, error) { return d.Lstat(name) })
}

// lockFile opens a regular file to be locked, and makes it when it is missing.
func (d *Dir) lockFile(name string) (*os.File, error) {
	f, err := d.Create(name, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = d.open(name, unix.O_RDWR, 0)
	}
	return regular(f, err)
}

// hold locks an open file, of which there tells what stands under its name now.
func hold(f *os.File, there func() (fs.FileInfo, error)) (release func(), err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, holder(f)
		}
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	// The one who held it may have removed the file in between: what is locked then is no longer
	// there for others.
	held, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if now, err := there(); err != nil || !os.SameFile(held, now) {
		return nil, fmt.Errorf("%s: %w", f.Name(), ErrLocked)
	}
	return func() { _ = f.Close() }, nil
}

// Locked is a lock that another process has. ErrLocked is in its chain.
type Locked struct {
	Name    string
	PID     int    // of the holder; 0 when /proc/locks does not say, as for one in another container
	Program string // its name in the kernel, 15 bytes at most
}

func (l *Locked) Error() string {
	if l.PID == 0 {
		return fmt.Sprintf("%s: %v", l.Name, ErrLocked)
	}
	return fmt.Sprintf("%s: locked by %q (process %d)", l.Name, l.Program, l.PID)
}

func (l *Locked) Unwrap() error { return ErrLocked }

// ByOther says that the holder is known and not a plimsoll.
func (l *Locked) ByOther() bool {
	own, _ := os.ReadFile("/proc/self/comm")
	return l.PID != 0 && l.Program != strings.TrimSpace(string(own)) && l.Program != "plimsoll"
}

// holder finds out who has an open file locked.
func holder(f *os.File) *Locked {
	l := &Locked{Name: f.Name()}
	var st unix.Stat_t
	locks, err := os.ReadFile("/proc/locks")
	if err != nil || unix.Fstat(int(f.Fd()), &st) != nil {
		return l
	}
	if l.PID = holderIn(locks, st.Dev, st.Ino); l.PID == 0 {
		return l
	}
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", l.PID))
	if l.Program = strings.TrimSpace(string(comm)); err != nil || l.Program == "" {
		l.PID = 0 // it has ended meanwhile
	}
	return l
}

// holderIn reads /proc/locks (proc_locks(5)) for the process that has a flock on an inode: a line is
// "1: FLOCK ADVISORY READ 123 08:01:4711 0 EOF", with the device in hexadecimal digits. Lines of
// those that wait have "->" behind the number.
func holderIn(locks []byte, dev, inode uint64) int {
	place := fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), inode)
	for line := range bytes.Lines(locks) {
		field := strings.Fields(string(line))
		if len(field) < 6 || field[1] != "FLOCK" || field[5] != place {
			continue
		}
		if pid, err := strconv.Atoi(field[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
