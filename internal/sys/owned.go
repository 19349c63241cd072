package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrReplaceable is in the chain of the error about a program that others can replace.
var ErrReplaceable = errors.New("others could have put it there")

// CheckProgram refuses, as root, a program that somebody else than root and the user it runs as can
// replace: whoever owns it or can write to it, or to any directory or link that leads to it, decides
// what runs. A program of the caller's own user needs no check: it could do no more than its owner.
func CheckProgram(name string, uid uint32) error {
	if os.Geteuid() != 0 {
		return nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if err := onlyOf(path, 0, uid); err != nil {
		return fmt.Errorf("%s: %w, and %s would run it: install it where only root can write, or run plimsoll as "+
			"another user", path, err, UserName(uid))
	}
	return nil
}

// CheckWay refuses a path that is handed on by name where somebody else than root, the caller and the
// users could put another in its place meanwhile, by any directory or link on the way to it, or
// because its last part is a link. Whether something is there yet does not matter.
func CheckWay(path string, uids ...uint32) error {
	uids = append(uids, 0, uint32(os.Geteuid()))
	dir := filepath.Dir(path)
	if err := onlyOf(dir, uids...); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link: name what it leads to", path)
	}
	parent, err := os.Stat(dir)
	if err == nil && parent.Mode()&fs.ModeSticky != 0 && !slices.Contains(uids, Owner(info)) && !unmapped(Owner(info)) {
		// Its owner may rename it there, whoever owns the directory.
		err = fmt.Errorf("%s belongs to %s: %w", path, UserName(Owner(info)), ErrReplaceable)
	}
	return err
}

// onlyOf refuses a path that others than the users can change, by the file itself or by anything on
// the way to it.
func onlyOf(path string, uids ...uint32) error {
	at, parts := "/", split(path)
	if err := ownedBy(at, uids); err != nil {
		return err
	}
	for links := 0; len(parts) > 0; {
		next := filepath.Join(at, parts[0])
		if err := ownedBy(next, uids); err != nil {
			return err
		}
		parts = parts[1:]
		target, err := os.Readlink(next)
		if err != nil { // not a link
			at = next
			continue
		}
		if links++; links > mostLinks {
			return fmt.Errorf("%s: %w", next, unix.ELOOP)
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		parts = slices.Concat(split(target), parts)
	}
	return nil
}

// ownedBy refuses one name that others than the users own or can write to. Into a directory with the
// sticky bit others can put something, but not in place of what is theirs: what lies in it is looked
// at by itself.
func ownedBy(name string, uids []uint32) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if owner := Owner(info); !slices.Contains(uids, owner) && !unmapped(owner) {
		return fmt.Errorf("%s belongs to %s: %w", name, UserName(owner), ErrReplaceable)
	}
	mode := info.Mode()
	if mode&fs.ModeSymlink != 0 || mode.IsDir() && mode&fs.ModeSticky != 0 {
		return nil
	}
	if writableByOthers(name, info, uids) {
		return fmt.Errorf("%s can be written to by others (mode %04o): %w", name, mode.Perm(), ErrReplaceable)
	}
	return nil
}

// unmapped says that a user is none of this user namespace, as root of the machine in a container:
// nobody in here can act as that user.
func unmapped(uid uint32) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.FormatUint(uint64(uid), 10) {
		return false
	}
	mapped, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && !slices.Equal(strings.Fields(string(mapped)), []string{"0", "0", "4294967295"})
}

// writableByOthers does not count a group that has only the users: several systems give every user one and a
// umask of 002.
func writableByOthers(name string, info fs.FileInfo, uids []uint32) bool {
	mode := info.Mode().Perm()
	return mode&0o002 != 0 || mode&0o020 != 0 && (hasACL(name) || !groupIsOf(Group(info), uids))
}

// hasACL says that a file has more rights than its mode shows, which then is the most that any of
// them may do (acl(5)).
func hasACL(name string) bool {
	n, err := unix.Lgetxattr(name, acl, nil)
	return err == nil && n > 0
}

// groupIsOf says that a group has no members but root and the users by /etc/group and /etc/passwd, as
// Debian's staff, which may write to /usr/local, or as a user's own group.
func groupIsOf(gid uint32, uids []uint32) bool {
	if gid == 0 {
		return true
	}
	id := strconv.FormatUint(uint64(gid), 10)
	groups, err1 := os.ReadFile("/etc/group")
	users, err2 := os.ReadFile("/etc/passwd")
	if err1 != nil || err2 != nil {
		return false
	}
	known, trusted := false, map[string]bool{"": true, "root": true}
	for line := range strings.Lines(string(users)) {
		f := strings.Split(line, ":")
		if len(f) < 4 {
			continue
		}
		uid, err := strconv.ParseUint(f[2], 10, 32)
		if trusted[f[0]] = err == nil && (uid == 0 || slices.Contains(uids, uint32(uid))); f[3] == id && !trusted[f[0]] {
			return false
		}
	}
	for line := range strings.Lines(string(groups)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == 4 && f[2] == id {
			known = true
			for name := range strings.SplitSeq(f[3], ",") {
				if !trusted[name] {
					return false
				}
			}
		}
	}
	return known
}
