package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"plimsoll/internal/bundle"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Leftover is a folder of plimsoll's in which runs left files.
type Leftover struct {
	Folder string
	Files  []string    // names, seen from the folder, of what runs make there; what was, or would be, removed
	Size   units.Bytes // of the files
	Others []string    // names that are not plimsoll's: left alone, and the folder with them
	InUse  bool        // a run holds it: left alone
}

// Clean removes what runs that were killed, or kept their files, left below dir on its own filesystem, and tells of each folder. It
// follows no symbolic link and knows files by name. With dry nothing is removed.
func Clean(dir string, dry bool, tell func(Leftover)) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	home := device(info)
	var errs []error
	err = filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
				return fs.SkipDir // what cannot be read cannot be cleaned; what is gone is clean
			}
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err != nil || device(info) != home {
			return fs.SkipDir
		}
		if d.Name() != folder {
			return nil
		}
		if l, err := cleanFolder(filepath.Dir(name), dry); err != nil {
			errs = append(errs, err)
		} else {
			tell(l)
		}
		return fs.SkipDir
	})
	return errors.Join(append(errs, err)...)
}

func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Dev
	}
	return 0
}

// rdev is the number of the device that a node stands for.
func rdev(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Rdev
	}
	return 0
}

// takeMade adds the files outside of the folder that a record in it names, and removes them.
func (l *Leftover) takeMade(parent *os.Root, name string, dry bool) (files []string, err error) {
	if filepath.Ext(name) != ".made" {
		return nil, nil
	}
	for _, file := range madeIn(parent, name) {
		files = append(files, "../"+file)
		if info, err := parent.Lstat(file); err == nil {
			l.Size += units.Bytes(info.Size())
		}
	}
	if dry {
		return files, nil
	}
	return files, removeMade(parent, name)
}

// names are what runs make in their folder.
func names() []string {
	all := []string{"lock"}
	for _, role := range topology.Roles {
		p := &place{role: role}
		for _, file := range []string{p.file(), p.file() + ".laid", p.fresh(), p.jobDir(), p.record()} {
			all = append(all, filepath.Base(file))
		}
	}
	return all
}

// cleanFolder cleans the folder in a directory while holding its lock.
func cleanFolder(dir string, dry bool) (Leftover, error) {
	l := Leftover{Folder: filepath.Join(dir, folder)}
	// Below this handle nothing leads elsewhere, whoever else writes there.
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return l, err
	}
	defer parent.Close() //nolint:errcheck // only a handle
	info, err := parent.Lstat(folder + "/lock")
	if err == nil && !info.Mode().IsRegular() {
		return l, fmt.Errorf("%s/lock is not plimsoll's: it is no regular file; nothing was removed", l.Folder)
	}
	if err == nil || !dry { // taken even where there is none, lest a run begin meanwhile
		release, err := bundle.Lock(filepath.Join(l.Folder, "lock"))
		if errors.Is(err, bundle.ErrLocked) {
			l.InUse = true
			return l, nil
		}
		if err != nil {
			return l, err
		}
		defer release()
	}
	entries, err := fs.ReadDir(parent.FS(), folder)
	if err != nil {
		return l, err
	}
	for _, e := range entries {
		if !slices.Contains(names(), e.Name()) {
			l.Others = append(l.Others, e.Name())
			continue
		}
		if e.Name() != "lock" {
			l.Files = append(l.Files, e.Name())
		}
		made, err := l.takeMade(parent, e.Name(), dry)
		if err != nil {
			return l, err
		}
		l.Files = append(l.Files, made...)
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			l.Size += units.Bytes(info.Size())
		}
		if dry {
			continue
		}
		if err := parent.RemoveAll(folder + "/" + e.Name()); err != nil {
			return l, err
		}
	}
	if dry || len(l.Others) > 0 {
		return l, nil
	}
	return l, parent.Remove(folder)
}
