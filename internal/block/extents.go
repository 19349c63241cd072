package block

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// Extent is where a part of a file lies on the device of its filesystem, in bytes.
type Extent struct{ Start, Length int64 }

// The kernel's interface (Documentation/filesystems/fiemap.rst, linux/fiemap.h).
const (
	fiemapIoctl = 0xC020660B
	// fiemapNowhere are extents without blocks that can be read: unknown, delayed, encoded, inline,
	// in a shared tail, or unwritten.
	fiemapNowhere = 0x2 | 0x4 | 0x8 | 0x200 | 0x400 | 0x800
	fiemapLast    = 0x1
	fiemapCount   = 512
)

type fiemapExtent struct {
	logical, physical, length uint64
	_                         [2]uint64
	flags                     uint32
	_                         [3]uint32
}

type fiemapRequest struct {
	start, length               uint64
	flags, mapped, count, resvd uint32
	extents                     [fiemapCount]fiemapExtent
}

// extents are the written parts of an open file; those without blocks on the device are left out.
func extents(fd int) ([]Extent, error) {
	var all []Extent
	req := &fiemapRequest{}
	for {
		req.length, req.count, req.flags, req.mapped = ^uint64(0)-req.start, fiemapCount, 0, 0
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fiemapIoctl, uintptr(unsafe.Pointer(req)))
		if errno != 0 {
			return nil, errno
		}
		last := false
		from := req.start
		if all, last = req.written(all); last || req.start <= from {
			return all, nil // the end, or a filesystem that leads nowhere
		}
	}
}

// written adds what an answer of the kernel says that can be read, and makes the request go on behind
// it; last at the end of the file.
func (r *fiemapRequest) written(all []Extent) (_ []Extent, last bool) {
	for _, e := range r.extents[:min(r.mapped, fiemapCount)] {
		if e.flags&fiemapNowhere == 0 && e.physical < 1<<62 && e.length < 1<<62 {
			all = append(all, Extent{int64(e.physical), int64(e.length)})
		}
		r.start = e.logical + e.length
		if e.flags&fiemapLast != 0 {
			return all, true
		}
	}
	return all, r.mapped == 0
}

// Extents are the written parts of all regular files below a directory (or of one file) on its
// filesystem, the newest file first. It follows no link, crosses into no other filesystem, and opens
// files for reading only.
func Extents(top string) (all []Extent, files int, err error) {
	info, err := os.Lstat(top)
	if err != nil {
		return nil, 0, err
	}
	device := sys.Device(info)
	type file struct {
		name    string
		changed time.Time
	}
	var found []file
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir // it went meanwhile, or may not be read
			}
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return nil
		case sys.Device(info) != device && d.IsDir():
			return fs.SkipDir
		case info.Mode().IsRegular() && sys.Device(info) == device && info.Size() > 0:
			found = append(found, file{name, info.ModTime()})
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(found, func(a, b file) int { return cmp.Compare(b.changed.UnixNano(), a.changed.UnixNano()) })
	for _, f := range found {
		own, err := fileExtents(f.name)
		if errors.Is(err, unix.EOPNOTSUPP) {
			return nil, 0, fmt.Errorf("%s: its filesystem does not say where its files lie (FIEMAP)", f.name)
		}
		if err != nil {
			continue // it went meanwhile, or may not be read
		}
		all = append(all, own...)
		files++
	}
	return all, files, nil
}

func fileExtents(name string) ([]Extent, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	return extents(fd)
}
