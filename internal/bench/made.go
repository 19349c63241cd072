package bench

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// Job files from elsewhere name files of their own, outside of plimsoll's folder. Those that were not there before are written down in
// the folder before fio starts, and removed at the end, by the next run, or by plimsoll clean.

// record is the file that names what jobs make, in JSON, from the directory that the folder is in.
func (p *place) record() string { return filepath.Join(p.path, folder, string(p.role)+".made") }

// note writes the record; those files that jobs of this run make were not there when it is written.
func (p *place) note() error {
	if len(p.made) == 0 {
		return nil
	}
	text, err := json.Marshal(p.made)
	if err != nil {
		return err
	}
	return sys.WriteFile(p.record(), text, 0o644)
}

// recorded are the files that an earlier run, or this one, made and wrote down.
func (p *place) recorded() []string {
	if p.device != nil {
		return nil
	}
	root, err := os.OpenRoot(p.path)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only a handle
	return madeIn(root, filepath.Base(p.record()))
}

// unmake removes what the record names, and the record; it stays where that does not work, for plimsoll clean.
func (p *place) unmake() error {
	if p.device != nil || !exists(p.record()) {
		return nil
	}
	root, err := os.OpenRoot(p.path)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err := removeMade(root, filepath.Base(p.record())); err != nil {
		return err
	}
	return root.Remove(folder + "/" + filepath.Base(p.record()))
}

func removeMade(root *os.Root, name string) error {
	var errs []error
	for _, file := range madeIn(root, name) {
		errs = append(errs, root.Remove(file))
	}
	return errors.Join(errs...)
}

// madeIn are the files that a record in the folder below root names, as far as they are there. A record may have been left by anybody and
// long ago: only regular files of the record's own owner count, that came into being after it.
func madeIn(root *os.Root, name string) []string {
	record := folder + "/" + name
	info, err := root.Lstat(record)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := root.ReadFile(record)
	var files []string
	if err != nil || json.Unmarshal(text, &files) != nil {
		return nil
	}
	return slices.DeleteFunc(files, func(file string) bool {
		made, err := root.Lstat(file)
		return err != nil || !filepath.IsLocal(file) || !made.Mode().IsRegular() || owner(made) != owner(info) ||
			born(filepath.Join(root.Name(), file), made).Before(info.ModTime())
	})
}

func owner(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return 0
}

// born is when a file came into being; when it was last written, on filesystems that do not know.
func born(name string, info fs.FileInfo) time.Time {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return info.ModTime()
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
