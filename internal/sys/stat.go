package sys

import (
	"io/fs"
	"os"
)

// Stat says what a name leads to, links followed, as stat(2) does. What is then opened by the name may
// be another file: a decision about writing is made on what is open (Dir, OpenRegular).
func Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Exists says whether a name leads to anything that can be looked at.
func Exists(name string) bool {
	_, err := Stat(name)
	return err == nil
}

// IsDir says whether a name leads to a directory.
func IsDir(name string) bool {
	info, err := Stat(name)
	return err == nil && info.IsDir()
}

// IsFile says whether a name leads to a regular file.
func IsFile(name string) bool {
	info, err := Stat(name)
	return err == nil && info.Mode().IsRegular()
}
