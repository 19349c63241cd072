package block

import (
	"bytes"
	"fmt"
	"strings"

	"plimsoll/internal/sys"
)

// InUse answers which processes have files on some devices. It compares the mount of each descriptor
// with the process's own mounts and never asks for a file itself: stat(2) of one on a server that
// does not answer would wait without end.
type InUse struct {
	read    *sys.Reader
	numbers map[string]bool // major:minor of the devices
	names   map[string]bool // kernel names, and nodes below /dev
	spaces  map[string]map[string]bool
}

// mostDescriptors of a process are looked at; a server with more has one on its data among them.
const mostDescriptors = 2000

// NewInUse prepares the question for the devices of a stack.
func NewInUse(r *sys.Reader, s *Stack) *InUse {
	u := newInUse(r)
	for _, d := range s.Tree.Devices {
		u.numbers[number(d.Major, d.Minor)] = true
		u.names[d.Name], u.names[strings.TrimPrefix(d.Path, "/dev/")] = true, true
	}
	if s.Mount != nil && s.Mount.Major == 0 { // btrfs: 0:N is the filesystem's own
		u.numbers[number(s.Mount.Major, s.Mount.Minor)] = true
	}
	return u
}

func newInUse(r *sys.Reader) *InUse {
	return &InUse{read: r, numbers: map[string]bool{}, names: map[string]bool{}, spaces: map[string]map[string]bool{}}
}

func number(major, minor uint32) string { return fmt.Sprintf("%d:%d", major, minor) }

// Beside asks the same of what else lies on the disks of a stack: other partitions, and what is made of
// them. It is nil where there is nothing.
func Beside(r *sys.Reader, s *Stack) *InUse {
	u := newInUse(r)
	var climb func(name string)
	climb = func(name string) {
		dir := classBlock + "/" + name
		if number := r.Text(dir + "/dev"); number != "" && s.Tree.Devices[name] == nil {
			u.numbers[number], u.names[name] = true, true
			if dm := r.Text(dir + "/dm/name"); dm != "" {
				u.names["mapper/"+dm] = true
			}
		}
		above, _ := r.Names(dir + "/holders")
		parts, _ := r.Names(dir)
		for _, p := range parts {
			if strings.HasPrefix(p, name) {
				above = append(above, p)
			}
		}
		for _, a := range above {
			if s.Tree.Devices[a] == nil && !u.names[a] {
				climb(a)
			}
		}
	}
	for name := range s.Tree.Devices {
		climb(name)
	}
	if len(u.numbers) == 0 {
		return nil
	}
	return u
}

// By is whether a process has a file, or the device itself, open. False also where it may not be
// looked into.
func (u *InUse) By(pid string) bool {
	fds, _ := u.read.Names("proc/" + pid + "/fd")
	var ids map[string]bool
	for i, fd := range fds {
		if i > mostDescriptors {
			break
		}
		to, err := u.read.Link("proc/" + pid + "/fd/" + fd)
		if err != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "/proc/") {
			continue
		}
		if node, ok := strings.CutPrefix(to, "/dev/"); ok {
			if u.names[node] {
				return true
			}
			continue
		}
		if ids == nil {
			ids = u.mounts(pid)
		}
		if len(ids) > 0 && ids[u.mountOf(pid, fd)] {
			return true
		}
	}
	return false
}

// mountOf is the number of the mount that a descriptor's file is on.
func (u *InUse) mountOf(pid, fd string) string {
	text, _ := u.read.Read("proc/" + pid + "/fdinfo/" + fd)
	_, after, _ := bytes.Cut(text, []byte("mnt_id:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// mounts are the numbers of the mounts of the devices as a process sees them; those of one
// namespace are read once.
func (u *InUse) mounts(pid string) map[string]bool {
	space, err := u.read.Link("proc/" + pid + "/ns/mnt")
	if err == nil && u.spaces[space] != nil {
		return u.spaces[space]
	}
	ids := map[string]bool{}
	text, _ := u.read.Read("proc/" + pid + "/mountinfo")
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 2 && u.numbers[string(f[2])] {
			ids[string(f[0])] = true
		}
	}
	if err == nil {
		u.spaces[space] = ids
	}
	return ids
}
