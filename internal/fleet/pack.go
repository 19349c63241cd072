package fleet

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"plimsoll/internal/sys"
)

// The most that a host's bundle may be: it comes from a machine that may send anything.
const (
	mostPacked = 1 << 30 // as sent
	mostBytes  = 4 << 30 // unpacked
	mostFiles  = 20_000
	mostDepth  = 4
)

// pack writes the regular files below dir as tar and zstd.
func pack(w io.Writer, dir string) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return packFile(t, name, filepath.ToSlash(rel))
	})
	return errors.Join(err, t.Close(), z.Close())
}

func packFile(t *tar.Writer, name, as string) error {
	f, err := sys.OpenRegular(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: as, Mode: 0o644, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	_, err = io.CopyN(t, f, info.Size())
	return err
}

// unpack makes the files of an archive below dir, which must not exist: regular files with local
// names only, limit bytes at most.
func unpack(r io.Reader, dir string, limit int64) error {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20),
		zstd.WithDecoderMaxMemory(16<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return unpackFiles(root, z, limit)
}

// unpackFiles makes the files of a tar stream.
func unpackFiles(root *os.Root, from io.Reader, limit int64) error {
	t := tar.NewReader(from)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("its bundle cannot be unpacked: %w", err)
		}
		if err := fitting(h, n, limit); err != nil {
			return err
		}
		limit -= h.Size
		if err := unpackFile(root, h, t); err != nil {
			return err
		}
	}
}

// fitting refuses what no bundle holds.
func fitting(h *tar.Header, n int, limit int64) error {
	what := ""
	switch {
	case h.Typeflag != tar.TypeReg:
		what = "something that is no regular file"
	case !filepath.IsLocal(h.Name) || path.Clean(h.Name) != h.Name || strings.ContainsAny(h.Name, "\\\x00"):
		what = "a name that leads elsewhere"
	case strings.Count(h.Name, "/") > mostDepth || len(h.Name) > 500:
		what = "a name that is too long"
	case slices.Contains([]string{"fleet.json"}, path.Base(h.Name)):
		what = "another fleet's document"
	case n >= mostFiles:
		what = "too many files"
	case h.Size < 0 || h.Size > limit:
		what = "more than it may"
	default:
		return nil
	}
	return fmt.Errorf("its bundle holds %s: %.80q", what, h.Name)
}

func unpackFile(root *os.Root, h *tar.Header, from io.Reader) error {
	if dir := path.Dir(h.Name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("its bundle cannot be unpacked: %w", err)
		}
	}
	f, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("its bundle cannot be unpacked: %w", err)
	}
	_, err = io.CopyN(f, from, h.Size)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("its bundle cannot be unpacked: %w", err)
	}
	return nil
}
