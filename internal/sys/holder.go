package sys

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

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
