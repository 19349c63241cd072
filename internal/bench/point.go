package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/suite"
)

// Pointed is what the job files of a suite point to themselves: the device that they name, or the directory that all of their files are
// below. It is empty when they name none, and when other scenarios run beside them, whose path is not theirs to choose. Files on several devices or filesystems are an error, since one is watched at a time.
func Pointed(s *suite.Suite) (string, error) {
	if slices.ContainsFunc(s.Scenarios, func(c suite.Scenario) bool { return !c.AsIs }) {
		return "", nil
	}
	var at string
	for _, c := range s.Scenarios {
		for _, path := range c.Outside() {
			to, err := pointsTo(path)
			if err != nil {
				return "", fmt.Errorf("%s: %w", c.Job.Name, err)
			}
			if at == "" {
				at = to
			}
			both, ok := common(at, to)
			if !ok {
				return "", fmt.Errorf("%s: %s and %s are not on one filesystem: plimsoll watches one at a time; make a job file of each", c.Job.Name, at, to)
			}
			at = both
		}
	}
	return at, nil
}

// pointsTo is the device or the directory of a path that a job names, with links resolved.
func pointsTo(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && isBlock(info):
		return Device(path)
	case err == nil && info.IsDir():
	case err == nil || errors.Is(err, fs.ErrNotExist):
		path = filepath.Dir(path)
	default:
		return "", err
	}
	dir, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist: make the directory or name another", path)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// Device is the kernel's own name of a block device that is reached through a link, or a node anywhere; other paths stay as they are.
func Device(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !isBlock(info) || filepath.Dir(path) == "/dev" {
		return path, nil //nolint:nilerr // what is wrong with it is said where it is used
	}
	major, minor := numbers(info)
	link, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", major, minor))
	if err != nil {
		return "", fmt.Errorf("%s is block device %d:%d, of which the kernel knows nothing", path, major, minor)
	}
	name := "/dev/" + strings.ReplaceAll(filepath.Base(link), "!", "/") // as in cciss!c0d0
	if node, err := os.Stat(name); err != nil || !isBlock(node) || rdev(node) != rdev(info) {
		return "", fmt.Errorf("%s is block device %d:%d, and %s is not: name the device by its node below /dev", path, major, minor, name)
	}
	return name, nil
}

// common is the directory on one filesystem that two paths are in; ok is false when there is none, and for different devices.
func common(a, b string) (string, bool) {
	if a == b {
		return a, true
	}
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	if err1 != nil || err2 != nil || !one.IsDir() || !two.IsDir() || device(one) != device(two) {
		return "", false
	}
	for ; ; a = filepath.Dir(a) {
		info, err := os.Stat(a)
		if err != nil || device(info) != device(one) {
			return "", false
		}
		if rel, err := filepath.Rel(a, b); err == nil && filepath.IsLocal(rel) {
			return a, true
		}
	}
}
