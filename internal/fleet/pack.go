package fleet

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
	err = files(dir, func(name string, f *os.File, info fs.FileInfo) error {
		h := &tar.Header{Name: name, Mode: 0o644, Size: info.Size(), ModTime: info.ModTime()}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := io.CopyN(t, f, info.Size())
		return err
	})
	return errors.Join(err, t.Close(), z.Close())
}

// files calls each for the regular files below a directory, by their names from there; what is none is left out, as
// links that lead elsewhere. Each is opened in the directory that it was seen in, whatever its name leads to by then.
func files(dir string, each func(name string, f *os.File, info fs.FileInfo) error) error {
	d, err := sys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(filesIn(d, "", each), d.Close())
}

func filesIn(d *sys.Dir, below string, each func(name string, f *os.File, info fs.FileInfo) error) error {
	entries, err := d.Entries()
	for _, e := range entries {
		if err != nil {
			return err
		}
		name := path.Join(below, e.Name())
		switch {
		case e.IsDir():
			sub, failed := d.OpenSub(e.Name())
			if failed != nil {
				return failed
			}
			err = errors.Join(filesIn(sub, name, each), sub.Close())
		case e.Type().IsRegular():
			f, failed := d.OpenRegular(e.Name())
			if failed != nil {
				return failed
			}
			info, failed := f.Stat()
			if failed == nil {
				failed = each(name, f, info)
			}
			err = errors.Join(failed, f.Close())
		}
	}
	return err
}

// unarchive makes the files of a host's runs.tgz, as the playbook packs it, below dir, and returns where the runs are.
func unarchive(file, dir string) (string, error) {
	f, err := sys.OpenRegular(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	root, err := sys.MakeRoot(dir, 0o700)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only a handle
	z, err := gzip.NewReader(f)
	if err == nil {
		err = unpackFiles(root, z, mostBytes, tar.TypeDir)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w; want a directory of runs, or what tar -czf FILE runs made of it", file, err)
	}
	return filepath.Join(dir, "runs"), nil
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
	root, err := sys.MakeRoot(dir, 0o755)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return unpackFiles(root, z, limit, tar.TypeReg)
}

// unpackFiles makes the regular files of a tar stream, and passes over entries of another type.
func unpackFiles(root *os.Root, from io.Reader, limit int64, over byte) error {
	t := tar.NewReader(from)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("its bundle cannot be unpacked: %w", err)
		}
		if h.Typeflag == over && over != tar.TypeReg && n < mostFiles {
			continue // what is in it has its way in its name
		}
		if err := fitting(h, n, limit); err != nil {
			return err
		}
		limit -= h.Size
		if err := place(root, h.Name, h.Size, t); err != nil {
			return fmt.Errorf("its bundle cannot be unpacked: %w", err)
		}
	}
}

// fitting refuses what no bundle holds.
func fitting(h *tar.Header, n int, limit int64) error {
	what := ""
	switch {
	case h.Typeflag != tar.TypeReg:
		what = "something that is not a regular file"
	case !filepath.IsLocal(h.Name) || path.Clean(h.Name) != h.Name || strings.ContainsAny(h.Name, "\\\x00"):
		what = "a name that leads elsewhere"
	case strings.Count(h.Name, "/") > mostDepth || len(h.Name) > 500:
		what = "a name that is too long"
	case path.Base(h.Name) == "fleet.json":
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

// pages are the files that a browser may run scripts of. Those of a run are written here.
var pages = regexp.MustCompile(`(?i)\.(md|svg|xml|[xm]?html?|xht)[^\w]*$`)

// place makes a new file of so many bytes, unless it is a page.
func place(root *os.Root, name string, size int64, from io.Reader) error {
	if pages.MatchString(name) {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, from, size)
	return errors.Join(err, f.Close())
}
