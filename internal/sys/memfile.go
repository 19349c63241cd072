package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MemFile is a file for a program that plimsoll starts, such as fio's job: it is in memory and has no
// name in any directory, so that nothing is left of it, whoever is killed. Its path leads to it in
// programs that are started while it is open.
func MemFile(name string, data []byte) (path string, free func(), err error) {
	fd, err := unix.MemfdCreate(name, 0) // inherited, as the handles of directories are
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), func() { _ = f.Close() }, nil
}
