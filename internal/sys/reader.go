package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads many small files below /proc and /sys at little cost. On the machine itself it uses
// open(2), read(2) and close(2) alone: os.ReadFile asks fcntl(2) four times and epoll besides, which
// made 5,000 files cost 140 ms where this takes 90. It opens for reading only and never waits for
// the other end of a pipe. It is not safe for concurrent use.
type Reader struct {
	root fs.FS
	here bool
	buf  []byte
	dirs []byte
	name []byte
}

// smallFile is what a Reader reads of a file at most: a mountinfo of 10,000 mounts is 2 MiB.
const smallFile = 4 << 20

// Reader returns a reader of the machine's small files.
func (m *Machine) Reader() *Reader {
	return &Reader{
		root: m.Root, here: m.Here && m.Root == os.DirFS("/"),
		buf: make([]byte, 16<<10), dirs: make([]byte, 16<<10),
	}
}

// Here is whether it reads the machine itself, whose clock goes on and whose files change.
func (r *Reader) Here() bool { return r.here }

// Read returns a file's content, which is valid until the next call. Names have no leading slash.
func (r *Reader) Read(name string) ([]byte, error) {
	if !r.here {
		f, err := r.root.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read
		return io.ReadAll(io.LimitReader(f, smallFile))
	}
	fd, err := r.open(name, unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	text, err := r.readAll(fd, strings.HasSuffix(name, "/mountinfo"))
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0) // only read
	return text, err
}

// readAll reads an open file to its end. The kernel gives a file of /proc in pages, of whole records: a
// short first read is the whole of it, unless it has long ones, which begin the next page.
func (r *Reader) readAll(fd uintptr, long bool) ([]byte, error) {
	n := 0
	for {
		if n == len(r.buf) {
			if n >= smallFile {
				return r.buf[:n], nil
			}
			r.buf = append(r.buf, make([]byte, n)...)
		}
		k, _, e := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&r.buf[n])), uintptr(len(r.buf)-n))
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return r.buf[:n], e
		}
		n += int(k)
		if k == 0 || n == int(k) && k < 1<<10 && !long {
			return r.buf[:n], nil
		}
	}
}

// open opens a file or directory. None of these calls waits for a device, so the runtime need not be
// ready for that: what it does around each made a fifth of the cost.
func (r *Reader) open(name string, flags uintptr) (fd uintptr, err error) {
	r.name = append(append(append(r.name[:0], '/'), name...), 0)
	at := unix.AT_FDCWD
	for {
		fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(&r.name[0])),
			unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_LARGEFILE|flags, 0, 0, 0)
		switch e {
		case 0:
			return fd, nil
		case unix.EINTR:
		default:
			return 0, e
		}
	}
}

// Text is a file without the white space around it, "" when it cannot be read.
func (r *Reader) Text(name string) string {
	data, err := r.Read(name)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(data))
}

// Names are the entries of a directory in no order.
func (r *Reader) Names(dir string) ([]string, error) {
	if !r.here {
		entries, err := fs.ReadDir(r.root, dir)
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name()
		}
		return names, err
	}
	fd, err := r.open(dir, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer func() { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0) }()
	var names []string
	for {
		n, err := unix.ReadDirent(int(fd), r.dirs)
		if n <= 0 || err != nil {
			return names, err
		}
		_, _, names = unix.ParseDirent(r.dirs[:n], -1, names)
	}
}

// Link is where a symbolic link leads.
func (r *Reader) Link(name string) (string, error) {
	if !r.here {
		return fs.ReadLink(r.root, name)
	}
	n, err := unix.Readlink("/"+name, r.dirs)
	if err != nil {
		return "", err
	}
	return string(r.dirs[:n]), nil
}

// Place is what statx(2) says of a path without opening it.
type Place struct {
	Mount        int    // number of its mount, as in mountinfo; 0 before Linux 5.8
	Block        bool   // it is a block device itself …
	Major, Minor uint32 // … of this number; else those of its filesystem
	Inode        uint64
}

// ErrNoAnswer is the error of a look at a path whose filesystem does not answer.
var ErrNoAnswer = errors.New("its filesystem did not answer within a second")

// Fails is whether the error of a look is the storage's own: a filesystem that was shut down after an error
// answers so, and so does a device that is gone.
func Fails(err error) bool {
	for _, e := range []error{unix.EIO, unix.EUCLEAN, unix.ESHUTDOWN, unix.ENOTCONN, unix.ENODEV, unix.ENXIO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// lookLimit is how long a filesystem may take to say what a path is.
const lookLimit = time.Second

// soon is what a filesystem says within lookLimit.
func soon[T any](ask func() T) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	return answer(ctx, ask)
}

// Look asks where a path lies. Nothing is opened, and a filesystem that does not answer is waited
// for a second at most.
func Look(path string) (p Place, err error) {
	type seen struct {
		st  unix.Statx_t
		err error
	}
	s, late := soon(func() (s seen) {
		s.err = unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT,
			unix.STATX_TYPE|unix.STATX_INO|unix.STATX_MNT_ID, &s.st)
		return s
	})
	if late != nil {
		s.err = ErrNoAnswer
	}
	if s.err != nil {
		return p, pathError("statx", path, s.err)
	}
	p = Place{
		Block: s.st.Mode&unix.S_IFMT == unix.S_IFBLK, Major: s.st.Dev_major, Minor: s.st.Dev_minor, Inode: s.st.Ino,
	}
	if p.Block {
		p.Major, p.Minor = s.st.Rdev_major, s.st.Rdev_minor
	}
	if s.st.Mask&unix.STATX_MNT_ID != 0 {
		p.Mount = int(s.st.Mnt_id)
	}
	return p, nil
}

// Space is how much of a mounted filesystem its users may still fill: the share of its blocks, and in
// bytes; of its inodes the share that is taken, 0 where it makes them as it needs them (btrfs).
type Space struct {
	Free, Inodes float64
	Bytes        uint64
}

// SpaceOf asks a mounted filesystem once; false where it does not answer within a second.
func SpaceOf(mount string) (s Space, ok bool) {
	st, err := soon(func() (st unix.Statfs_t) {
		_ = unix.Statfs(mount, &st) // no blocks then
		return st
	})
	if err != nil || st.Blocks == 0 {
		return s, false
	}
	s = Space{float64(st.Bavail) / float64(st.Blocks), 0, st.Bavail * uint64(max(st.Frsize, 0))}
	if st.Files > 0 {
		s.Inodes = 1 - float64(st.Ffree)/float64(st.Files)
	}
	return s, true
}

// KernelLog is the kernel's log of the last while, a message a line with its time since boot as
// dmesg(1) prints it. Only root may read it.
func (r *Reader) KernelLog(last time.Duration) (string, error) {
	if !r.here {
		return "", fs.ErrNotExist
	}
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	since := Monotonic() - last
	var out strings.Builder
	record := make([]byte, 8<<10) // the most that the kernel gives at once (CONSOLE_EXT_LOG_MAX)
	for {
		n, err := unix.Read(fd, record)
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EINTR) { // overwritten meanwhile
			continue
		}
		if err != nil || n <= 0 { // EAGAIN: the end
			return out.String(), nil
		}
		kernelRecord(&out, string(record[:n]), since)
	}
}

// kernelRecord writes one record of /dev/kmsg, "6,339,5140900,-;text\n KEY=value", as a line
// (Documentation/ABI/testing/dev-kmsg).
func kernelRecord(out *strings.Builder, record string, since time.Duration) {
	head, message, ok := strings.Cut(record, ";")
	fields := strings.Split(head, ",")
	if !ok || len(fields) < 3 {
		return
	}
	us, err := strconv.ParseUint(fields[2], 10, 53)
	at := time.Duration(us) * time.Microsecond
	if err != nil || at < since {
		return
	}
	message, _, _ = strings.Cut(message, "\n")
	fmt.Fprintf(out, "[%d.%06d] %s\n", at/time.Second, at%time.Second/time.Microsecond, message)
}

// Held is a small file that stays open, so that a further look at it costs half: /proc/PID/stat of a sleeping
// process takes 5 µs then, and 12 µs where it is opened and closed each time. It stays that
// process's file also where the number is given to another.
type Held struct {
	reader *Reader
	name   string
	fd     uintptr
}

// Hold opens a file to be read several times. On a captured machine it is read by its name each time.
func (r *Reader) Hold(name string) (*Held, error) {
	h := &Held{reader: r, name: name}
	var err error
	if r.here {
		h.fd, err = r.open(name, unix.O_NOCTTY)
	}
	return h, err
}

// Read returns the file's content, which is valid until the reader's next call.
func (h *Held) Read() ([]byte, error) {
	if !h.reader.here {
		return h.reader.Read(h.name)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LSEEK, h.fd, 0, io.SeekStart); e != 0 {
		return nil, e
	}
	return h.reader.readAll(h.fd, false)
}

// Close closes the file.
func (h *Held) Close() {
	if h.reader.here {
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, h.fd, 0, 0) // only read
	}
}
