package sys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The most that plimsoll reads of a file that is read whole. docs/safety.md states them.
const (
	TextLimit   = 16 << 20  // job files, what they include, scripts, documents
	ConfigLimit = 4 << 20   // plimsoll.yaml, suites, lab specifications, records of plimsoll's own, /etc/fstab
	JSONLimit   = 256 << 20 // the files of a bundle: a result has a row for each second
)

// ErrNotRegular is in the chain of OpenRegular's error about a FIFO, a device, a socket or a
// directory.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a file for reading if it is a regular one. It does not wait, as open(2) does
// for who writes a FIFO. A pipe that plimsoll was given open, such as /dev/stdin or the shell's
// <(command), is fine.
func OpenRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) { // a socket
			return nil, fmt.Errorf("%s is %w: it is a socket or a device without a driver", name, ErrNotRegular)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !given(name, info.Mode()) {
		err = fmt.Errorf("%s is %w: it is %s", name, ErrNotRegular, kind(info.Mode()))
	}
	if err == nil {
		err = stored(f)
	}
	if err != nil {
		_ = f.Close() // only read
		return nil, err
	}
	return f, nil
}

// given says whether a name stands for a pipe that was open when plimsoll was started.
func given(name string, mode fs.FileMode) bool {
	if mode&fs.ModeNamedPipe == 0 {
		return false
	}
	number, isFD := strings.CutPrefix(name, "/dev/fd/")
	return name == "/dev/stdin" || isFD && !strings.Contains(number, "/")
}

// stored refuses what the kernel makes up while it is read, such as /proc/kmsg, which waits for what
// happens next, /proc/kcore, which is as large as all addresses, or trace_pipe. They show themselves as
// regular files, and a link to one may lie anywhere.
func stored(f *os.File) error {
	var on unix.Statfs_t
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = unix.Fstatfs(int(fd), &on) }); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	switch on.Type {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC,
		unix.CGROUP2_SUPER_MAGIC, unix.SECURITYFS_MAGIC, unix.BPF_FS_MAGIC, unix.NSFS_MAGIC, unix.SELINUX_MAGIC:
		return fmt.Errorf("%s is %w: the kernel generates it as it is read; give a copy instead", f.Name(), ErrNotRegular)
	}
	return nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// ReadFile reads a regular file whole. One of more than limit bytes is refused.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err == nil && info.Size() > limit {
		err = tooLarge(name, limit)
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(name, f, limit)
}

// ReadAll reads a stream to its end. One of more than limit bytes is refused; name is what the
// error calls it.
func ReadAll(name string, r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, tooLarge(name, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

func tooLarge(name string, limit int64) error {
	return fmt.Errorf("%s is larger than %d MiB, the most that plimsoll reads of such a file", name, limit>>20)
}

// Text reads a regular file as ReadFile does, up to TextLimit: what a job file's include and the
// like name.
func Text(name string) ([]byte, error) { return ReadFile(name, TextLimit) }

// answer is what ask returns, which is given up when ctx ends, and goes on until plimsoll ends.
func answer[T any](ctx context.Context, ask func() T) (T, error) {
	done := make(chan T, 1)
	go func() { done <- ask() }()
	select {
	case v := <-done:
		return v, nil
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Reading calls f, which only reads and computes, and gives it up when ctx ends. f then goes on until
// plimsoll ends: it must change nothing, and what it works out is not looked at.
func Reading(ctx context.Context, f func() error) error {
	failed, err := answer(ctx, f)
	return cmp.Or(err, failed)
}

// Interruptible reads from r until ctx ends, although r may wait without end, as a terminal or a pipe
// may. A reading that was given up goes on and takes what comes next.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx: ctx, from: r}
}

type interruptible struct {
	ctx  context.Context //nolint:containedctx // io.Reader leaves no other place
	from io.Reader
}

func (i *interruptible) Read(p []byte) (n int, err error) {
	buf := make([]byte, len(p)) // p is the caller's again when this returns
	read, gone := answer(i.ctx, func() func() (int, error) {
		n, err := i.from.Read(buf)
		return func() (int, error) { return copy(p, buf[:n]), err }
	})
	if gone != nil {
		return 0, gone
	}
	return read()
}
