package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Included reads a file that a job file names. Whoever wrote the job file may have chosen it to see what is in
// it, or may have counted on a file that somebody puts into the working directory. So it is read if
// everybody may read it, or if it is the caller's or root's, as the job file is, and lies below the job file's
// directory or the working one; and below the working directory only, where the job file is elsewhere, if
// nobody else put it there (Found).
func Included(job, name string) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	// What was opened counts, whichever links led there and whatever has become of them.
	file, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err == nil {
		err = mayInclude(job, name, file)
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(name, f, TextLimit)
}

func mayInclude(job, name, file string) error {
	own, others := Found(name), errors.Is(Found(job), ErrOthers)
	beside := below(filepath.Dir(job), file)
	switch {
	case own != nil && !beside && !filepath.IsAbs(name):
		return fmt.Errorf("%s is not read, because it is %w; put a copy beside the job file", name, own)
	case own == nil && !others && (beside || below(".", file)), readByAll(file):
		return nil
	}
	return fmt.Errorf("%s is not read, because not everybody may read it and a job file may be anybody's; "+
		"put a copy beside the job file", name)
}

// below says whether a file, by its name without links, lies in a directory or in one below it.
func below(dir, file string) bool {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return err == nil && (dir == "/" || strings.HasPrefix(file, dir+"/"))
}

// readByAll says whether everybody may read a file, by its name without links, and reach it.
func readByAll(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o004 == 0 {
		return false
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}
