package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// fioFile is how fio names the files that it makes itself: JOB.THREAD.FILE (fio(1),
// filename_format), and the state of verify.
var fioFile = regexp.MustCompile(`^.+\.[0-9]{1,4}\.[0-9]{1,5}$|^(local|server)-.+-verify\.state$`)

// leastFioFile leaves out what is named alike by chance, such as the pages of a manual or a
// version's number: nobody measures with less.
const leastFioFile = units.MiB

// OtherFile is a file that looks like one of fio's, which plimsoll did not make.
type OtherFile struct {
	Path string
	Size units.Bytes
}

// OtherFiles lists files below dir, on its own filesystem, that are named and as large as what fio
// makes when it is run by hand. A name proves nothing: they are only listed.
func OtherFiles(dir string) ([]OtherFile, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	home := sys.Device(info)
	var all []OtherFile
	err = filepath.WalkDir(dir+string(filepath.Separator), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
				return fs.SkipDir
			}
			return err
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		case d.IsDir() && (sys.Device(info) != home || d.Name() == folderName):
			return fs.SkipDir
		case looksLikeFio(info):
			all = append(all, OtherFile{filepath.Clean(name), units.Bytes(info.Size())})
		}
		return nil
	})
	return all, err
}

func looksLikeFio(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && fioFile.MatchString(info.Name()) && units.Bytes(info.Size()) >= leastFioFile
}

// RemoveOther removes one such file, which the user has named. It is looked at by handle of its
// directory: a link, a file of another kind, name or size, or one with a second name is refused.
func RemoveOther(file string) error {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only a handle
	name := filepath.Base(file)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--destroy %s: it does not exist", file)
	}
	if err != nil {
		return err
	}
	if !looksLikeFio(info) {
		return fmt.Errorf("--destroy %s: it is not a file that fio makes by itself (a regular file called "+
			"JOB.THREAD.FILE, of 1 MiB or more); remove it by other means", file)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return fmt.Errorf("--destroy %s: it has %d names; remove it by other means", file, st.Nlink)
	}
	return root.Remove(name)
}
