package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Leftover is a folder of plimsoll's in which runs left files, or a directory with files that were to take the
// place of others.
type Leftover struct {
	Folder string
	Files  []string    // names of what runs make there; what was, or would be, removed
	Size   units.Bytes // of the files
	Others []string    // names that are not plimsoll's: left alone, and the folder with them
	Server int         // process of a database server that a killed run left: it was, or would be, ended; 0 for none
	InUse  bool        // a run holds it: left alone
}

// Clean removes what runs that were killed, or kept their files, left below dir on its own
// filesystem, and reports each folder. It follows no symbolic link and knows files by name. With
// dry nothing is removed.
func Clean(dir string, dry bool, found func(Leftover)) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	top, err := sys.OpenPath(dir)
	if err != nil {
		return err
	}
	if info, err = top.Info(); err != nil {
		return errors.Join(err, top.Close())
	}
	c := &cleaner{home: sys.Device(info), dry: dry, found: found}
	err = c.below(top, 0)
	return errors.Join(append(c.errs, err, top.Close())...)
}

// cleaner walks down a tree, each directory opened in the one above: what others put in the place
// of one meanwhile is not reached.
type cleaner struct {
	home  uint64
	dry   bool
	found func(Leftover)
	errs  []error
}

// deepest is how far down folders are looked for: a handle is held for each level.
const deepest = 200

func (c *cleaner) below(dir *sys.Dir, depth int) error {
	if depth > deepest {
		return fmt.Errorf("%s is more than %d directories deep: clean it by its own name", dir.Name(), deepest)
	}
	entries, err := dir.Entries()
	if passable(err) {
		return nil // what cannot be read cannot be cleaned; what is gone is clean
	}
	if err != nil {
		return err
	}
	left, size, err := dir.EndWrites(c.dry)
	c.errs = append(c.errs, err)
	if len(left) > 0 {
		c.found(Leftover{Folder: dir.Name(), Files: left, Size: units.Bytes(size)})
	}
	c.errs = append(c.errs, c.unfinished(dir, entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil && !passable(err) { // said, and the rest is cleaned
			c.errs = append(c.errs, err)
		}
		if err != nil || !e.IsDir() || sys.Device(info) != c.home {
			continue
		}
		if e.Name() == folderName {
			if l, err := cleanFolder(dir, c.dry); err != nil {
				c.errs = append(c.errs, err)
			} else {
				c.found(l)
			}
			continue
		}
		sub, err := dir.OpenSub(e.Name())
		if passable(err) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) { // it was replaced
			continue
		}
		if err == nil {
			var info fs.FileInfo
			if info, err = sub.Info(); err == nil && sys.Device(info) == c.home {
				err = c.below(sub, depth+1)
			}
			err = errors.Join(err, sub.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begun is the name of the directory that a scenario's files are in until it is done (bundle.Writer).
var begun = regexp.MustCompile(`^\.[0-9]{2,3}-[a-z0-9._-]*\.tmp$`)

// unfinished removes what a killed run had begun to write of a scenario: a run that is resumed does without it.
func (c *cleaner) unfinished(dir *sys.Dir, entries []fs.DirEntry) error {
	l, record := Leftover{Folder: dir.Name()}, false
	for _, e := range entries {
		name := e.Name()
		record = record || name == "run.json"
		if e.IsDir() && begun.MatchString(name) {
			l.Files, l.Size = append(l.Files, name), l.Size+sizeBelow(dir, name)
		}
	}
	if !record || len(l.Files) == 0 {
		return nil
	}
	release, err := dir.LockSelf()
	if l.InUse = errors.Is(err, sys.ErrLocked); l.InUse {
		c.found(l)
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	for _, name := range l.Files {
		if c.dry {
			continue
		}
		if err := dir.RemoveAll(name); err != nil {
			return err
		}
	}
	c.found(l)
	return nil
}

func passable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}

// runNames are what runs make in their folder.
func runNames() []string {
	all := []string{"lock"}
	for _, role := range topology.Roles {
		all = append(all, (&Place{Role: role}).names()...)
	}
	return all
}

// cleanFolder cleans the folder in a directory while holding its lock. It may be anybody's: below
// the handle nothing leads elsewhere.
func cleanFolder(parent *sys.Dir, dry bool) (Leftover, error) {
	l := Leftover{Folder: filepath.Join(parent.Name(), folderName)}
	folder, err := parent.OpenSub(folderName)
	if err != nil {
		return l, err
	}
	defer folder.Close() //nolint:errcheck // only a handle
	if err := madeHere(parent, folder); err != nil {
		return l, err
	}
	if err := folder.CheckOthers("."); err != nil {
		return l, err
	}
	if _, err := folder.Lstat("lock"); err == nil ||
		!dry { // taken even where there is none, lest a run begin meanwhile
		release, err := folder.Lock("lock")
		switch {
		case errors.Is(err, sys.ErrLocked):
			l.InUse = true
			return l, nil
		case errors.Is(err, sys.ErrNotRegular):
			return l, fmt.Errorf("%w: plimsoll did not make it; nothing was removed", err)
		case err != nil:
			return l, err
		}
		defer release()
	}
	if l.Server, err = endServer(folder, dry); err != nil {
		return l, err
	}
	entries, err := folder.Entries()
	if err != nil {
		return l, err
	}
	for _, e := range entries {
		name := e.Name()
		if !slices.Contains(runNames(), name) && !strings.HasPrefix(name, sharePrefix) && !isMark(name) &&
			!sys.IsWrite(name) {
			l.Others = append(l.Others, name)
			continue
		}
		if name != "lock" && !isMark(name) {
			l.Files = append(l.Files, name)
		}
		l.Size += sizeBelow(folder, name)
		remove := folder.RemoveAll
		if name == "lock" { // that it holds, and may have made in a folder of another user's
			remove = folder.Remove
		}
		if dry {
			continue
		}
		if err := remove(name); err != nil {
			return l, err
		}
	}
	if dry || len(l.Others) > 0 || !stands(parent, folder) {
		return l, nil
	}
	return l, parent.Remove(folderName)
}

// sizeBelow is what a file takes, or all files of a directory; what cannot be read counts nothing.
func sizeBelow(folder *sys.Dir, name string) units.Bytes {
	var sum units.Bytes
	_ = fs.WalkDir(folder.FS(), name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // it counts nothing
		}
		if info, err := d.Info(); err == nil {
			sum += units.Bytes(info.Size())
		}
		return nil
	})
	return sum
}
