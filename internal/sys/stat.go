package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

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
