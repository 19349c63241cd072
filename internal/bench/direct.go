package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pieceSize is the part of a volume that one read of any of its bytes loads from its snapshot: EBS
// snapshots are kept in blocks of 512 KiB (EBS direct APIs, GetSnapshotBlock).
const pieceSize = 512 << 10

// touchSize is a read that touches a piece.
const touchSize = 4 << 10

// direct is a device or file that is read past the page cache, and never written to.
type direct struct {
	fd   int
	name string
	size int64
}

// openDirect opens a device or regular file for reading with O_DIRECT.
func openDirect(name string) (*direct, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	d := &direct{fd: fd, name: name}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if kind := st.Mode & unix.S_IFMT; err == nil && kind != unix.S_IFBLK && kind != unix.S_IFREG {
		err = errors.New("it is neither a block device nor a regular file")
	}
	if err == nil {
		d.size, err = unix.Seek(fd, 0, unix.SEEK_END)
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

func (d *direct) close() { _ = unix.Close(d.fd) } // only read

// read reads at an offset and says how long it took.
func (d *direct) read(buf []byte, at int64) (time.Duration, error) {
	from := time.Now()
	for {
		n, err := unix.Pread(d.fd, buf, at)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = errors.New("it ends before that place")
		}
		if err != nil {
			return 0, fmt.Errorf("%s: reading at %d: %w", d.name, at, err)
		}
		return time.Since(from), nil
	}
}

// aligned is memory that O_DIRECT takes: whole pages.
func aligned(size int) ([]byte, error) {
	size = (size + os.Getpagesize() - 1) / os.Getpagesize() * os.Getpagesize()
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}
