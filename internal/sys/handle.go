package sys

import (
	"fmt"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"
)

// Handle is an open file that the programs of Machine.Run inherit, so that its path leads to the same
// file in them, whatever has become of its name. Programs of another user (Child) do not.
type Handle struct{ *os.File }

// inheritance is of the whole process, as the flags of its descriptors are and syscall.ForkLock is:
// whoever opens or closes a handle, or starts a program that inherits them, holds it for reading, and
// who starts one that must not inherit them (keepHandles) for writing. Else the first would start
// without its handles, and the second with them.
var inheritance sync.RWMutex

// OpenHandle opens a file below the open directory at, or unix.AT_FDCWD; shown is its name in errors.
func OpenHandle(at int, name string, flags int, shown string) (*Handle, error) {
	return inherited(shown, func() (int, error) {
		fd, err := unix.Openat(at, name, flags, 0) // without O_CLOEXEC
		if err != nil {
			err = pathError("open", shown, err)
		}
		return fd, err
	})
}

func inherited(name string, open func() (int, error)) (*Handle, error) {
	inheritance.RLock()
	defer inheritance.RUnlock()
	fd, err := open()
	if err != nil {
		return nil, err
	}
	return &Handle{os.NewFile(uintptr(fd), name)}, nil
}

// Path leads to the file here and in programs that are started while it is open.
func (h *Handle) Path() string { return fmt.Sprintf("/proc/self/fd/%d", h.Fd()) }

// Close closes the handle.
func (h *Handle) Close() error {
	inheritance.RLock()
	defer inheritance.RUnlock()
	return h.File.Close()
}

// start starts a program that inherits the handles.
func start(cmd *exec.Cmd) error {
	inheritance.RLock()
	defer inheritance.RUnlock()
	return cmd.Start()
}

// MemFile is a file for a program that plimsoll starts, such as fio's job: it is in memory and has no
// name in any directory, so that nothing is left of it, whoever is killed. Its path leads to it in
// programs that are started while it is open.
func MemFile(name string, data []byte) (path string, free func(), err error) {
	f, err := inherited(name, func() (int, error) { return unix.MemfdCreate(name, 0) })
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return "", nil, err
	}
	return f.Path(), func() { _ = f.Close() }, nil
}
