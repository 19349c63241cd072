package permit

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// segment is a System V segment, as /proc/sysvipc/shm shows it.
type segment struct{ id, size, attached int }

// segmentsOf are the segments that belong to a user.
func segmentsOf(uid uint32) []segment {
	text, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return nil
	}
	var all []segment
	for row := range strings.Lines(string(text)) {
		var key, id, perms, size, cpid, lpid, attached, owner int
		n, _ := fmt.Sscan(row, &key, &id, &perms, &size, &cpid, &lpid, &attached, &owner)
		if n == 8 && owner == int(uid) {
			all = append(all, segment{id, size, attached})
		}
	}
	return all
}

// removeSegment removes a segment that belongs to a user. It is false while somebody has it
// attached, and true where there is none.
func removeSegment(id int, uid uint32) bool {
	for _, s := range segmentsOf(uid) {
		if s.id != id {
			continue
		}
		if s.attached > 0 {
			return false
		}
		_, _, _ = unix.Syscall(unix.SYS_SHMCTL, uintptr(id), unix.IPC_RMID, 0)
	}
	return true
}

// held adds to the record what the servers that initdb starts left, of which nothing says more than
// their own segment: each holds the device and the inode of the directory of data that it is for, by
// which PostgreSQL itself tells whether it may remove one, and the number of the file in /dev/shm that
// lists the others (PGShmemHeader in storage/pg_shmem.h, dsm_control_header in storage/ipc/dsm.c of
// PostgreSQL 9.4 to 18, on machines of 64 bits). That leads only to what is the server's user's.
func (s *Server) held(folder *sys.Dir) {
	info, err := folder.Lstat("pg-data")
	if err != nil || s.UID == 0 {
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	version, _ := folder.ReadSmall("pg-data/PG_VERSION", 16)
	for _, found := range segmentsOf(s.UID) {
		control, ok := found.isFor(st.Dev, st.Ino)
		if !ok {
			continue
		}
		if !slices.Contains(s.SysV, found.id) {
			s.SysV = append(s.SysV, found.id)
		}
		for _, name := range sharedFiles(control, strings.TrimSpace(string(version))) {
			s.SharedMemory = text.Once(s.SharedMemory, name)
		}
	}
}

// The beginning of a server's segment: its magic number, its maker, two sizes, the control segment, an
// address, and the directory of data.
const (
	segmentMagic   = 679834894
	segmentHeader  = 56
	segmentControl = 24
	segmentDevice  = 40
	segmentInode   = 48
)

// isFor says whether a segment is that of a server for a directory of data, and which control segment
// it names.
func (s segment) isFor(device, inode uint64) (control uint32, ok bool) {
	if s.size < segmentHeader || strconv.IntSize != 64 {
		return 0, false
	}
	data, err := unix.SysvShmAttach(s.id, 0, unix.SHM_RDONLY)
	if err != nil {
		return 0, false
	}
	defer unix.SysvShmDetach(data) //nolint:errcheck // it was only read
	return headerFor(data, device, inode)
}

func headerFor(data []byte, device, inode uint64) (control uint32, ok bool) {
	order := binary.NativeEndian
	if len(data) < segmentHeader || order.Uint32(data) != segmentMagic ||
		order.Uint64(data[segmentDevice:]) != device || order.Uint64(data[segmentInode:]) != inode {
		return 0, false
	}
	return order.Uint32(data[segmentControl:]), true
}

// The beginning of a control segment: its magic number, how many entries are used, how many fit.
const (
	controlMagic  = 0x9a503d32
	controlHeader = 16
	mostControl   = 1 << 20
)

// sharedFiles are the names below /dev/shm of a control segment and of those that it lists.
func sharedFiles(control uint32, version string) []string {
	if control == 0 {
		return nil
	}
	name := fmt.Sprintf("PostgreSQL.%d", control)
	data, err := sys.ReadFile(filepath.Join("/dev/shm", name), mostControl)
	if err != nil {
		return []string{name} // Sweep passes over what is not there
	}
	return append(listed(data, version), name)
}

// listed are the names in a control segment. An entry was 24 bytes until PostgreSQL 13, and is 40.
func listed(data []byte, version string) []string {
	order, entry := binary.NativeEndian, 40
	if major, err := strconv.Atoi(version); err != nil || major < 14 {
		entry = 24
	}
	if len(data) < controlHeader || order.Uint32(data) != controlMagic {
		return nil
	}
	var names []string
	used := order.Uint32(data[4:])
	for i := 0; i < int(used) && controlHeader+(i+1)*entry <= len(data); i++ {
		at := data[controlHeader+i*entry:]
		if handle, uses := order.Uint32(at), order.Uint32(at[4:]); handle != 0 && uses != 0 {
			names = append(names, fmt.Sprintf("PostgreSQL.%d", handle))
		}
	}
	return names
}
