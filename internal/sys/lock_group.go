package sys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// groupWait is how long LockGroup waits for another group to leave.
	groupWait = 2 * time.Second
	// beginWait is how long it waits for whoever has the lock alone. That can be a member which
	// removes what an earlier group left and writes the group's name: more than 2 s on a busy disk.
	beginWait  = 10 * time.Second
	groupPause = 20 * time.Millisecond
	longGroup  = 200 // bytes of a group's name
)

// SharedLock is a lock that several processes hold together, on one machine or on several that see
// the same directory.
type SharedLock struct {
	held  fs.File
	leave func() (last bool)
}

// Leave lets go of the lock. Of the last that holds it last is true, and the lock is still held
// until done is called.
func (g *SharedLock) Leave() (last bool, done func()) {
	return g.leave(), func() { _ = g.held.Close() }
}

// LockGroup takes a lock on a file in the directory, which all processes that give the same name of
// a group share, and that no other process has, neither by Lock nor for another group. The file
// holds the group's name. begin is called while no other process has the lock, by one of the group
// before any has it. The kernel lets go of a process' share when it ends, however it ends.
func (d *Dir) LockGroup(name, group string, begin func() error) (*SharedLock, error) {
	for start := time.Now(); ; <-time.After(groupPause) {
		g, alone, err := d.lockGroup(name, group, begin)
		wait := groupWait
		if alone {
			wait = beginWait
		}
		if !errors.Is(err, ErrLocked) || time.Since(start) > wait {
			return g, err
		}
	}
}

// lockGroup tries once. alone says that another process has the lock for itself.
func (d *Dir) lockGroup(name, group string, begin func() error) (g *SharedLock, alone bool, err error) {
	f, err := d.lockFile(name)
	if err != nil {
		return nil, false, err
	}
	lock := func(how int) error { return unix.Flock(int(f.Fd()), how|unix.LOCK_NB) }
	g = &SharedLock{held: f, leave: func() bool { return lock(unix.LOCK_EX) == nil }}
	if lock(unix.LOCK_EX) == nil { // nobody has it: what the file holds is of a group that is gone
		if err = begin(); err == nil {
			err = errors.Join(f.Truncate(0), writeAt(f, group), f.Sync())
		}
	}
	if err == nil && lock(unix.LOCK_SH) != nil {
		alone, err = true, fmt.Errorf("%s: %w", f.Name(), ErrLocked)
	}
	if err == nil {
		err = d.ofGroup(f, name, group)
	}
	if err != nil {
		return nil, alone, errors.Join(err, f.Close())
	}
	return g, false, nil
}

// ofGroup checks that the locked file is that of the group, and still stands under its name.
func (d *Dir) ofGroup(f fs.File, name, group string) error {
	held, err := f.Stat()
	if err != nil {
		return err
	}
	if now, err := d.Lstat(name); err != nil || !os.SameFile(held, now) {
		return fmt.Errorf("%s: %w", name, ErrLocked)
	}
	data, err := d.ReadSmall(name, longGroup)
	if err != nil || string(data) != group {
		return fmt.Errorf("%s: %w", name, ErrLocked)
	}
	return nil
}

func writeAt(w io.WriterAt, s string) error {
	_, err := w.WriteAt([]byte(s), 0)
	return err
}
