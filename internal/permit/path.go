package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// reserved are what a job file cannot hold in a value, since fio has no escape for them: ; and #
// begin a comment wherever they stand, and variables and keywords are replaced. A file named with
// one would be made elsewhere, over whatever is there.
var reserved = strings.Fields("; # ${ $pagesize $mb_memory $ncpus")

// CheckPaths refuses paths of the roles that cannot be measured on, before anything else is looked
// at.
func CheckPaths(paths map[topology.Role]string) error {
	for _, role := range topology.Roles {
		if path, ok := paths[role]; ok {
			if _, err := checkPath(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPath(path string) (os.FileInfo, error) {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return nil, fmt.Errorf("path %q: a control character in a path cannot be passed to fio; use another directory",
			path)
	}
	for _, part := range reserved {
		if strings.Contains(path, part) {
			return nil, fmt.Errorf("%s: fio would read %q in a job file as something other than a name; use "+
				"another directory, or a link or bind mount to it",
				path, part)
		}
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: make the directory or name another", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !isBlock(info) {
		return nil, fmt.Errorf("%s is neither a directory nor a block device", path)
	}
	return info, nil
}

// PathOf is the path that the job files of a suite name themselves: a device, or the directory that
// all of their files are below. It is empty when they name none, and when scenarios that use the
// role's path run as well. Files on several devices or filesystems are an error, since one is
// watched at a time.
func PathOf(s *suite.Suite) (string, error) {
	if slices.ContainsFunc(s.Scenarios, func(c suite.Scenario) bool { return !c.AsIs }) {
		return "", nil
	}
	var at string
	for _, c := range s.Scenarios {
		for _, path := range c.Outside() {
			to, err := storageOf(path)
			if err != nil {
				return "", fmt.Errorf("%s: %w", c.Job.Name, err)
			}
			if at == "" {
				at = to
			}
			both, ok := common(at, to)
			if !ok {
				return "", fmt.Errorf("%s: %s and %s are not on one filesystem: plimsoll watches one at a "+
					"time; make a job file of each", c.Job.Name, at, to)
			}
			at = both
		}
	}
	return at, nil
}

// storageOf is the device or the directory of a path that a job names, with links resolved.
func storageOf(path string) (string, error) {
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

// Device is the kernel's own name of a block device that is reached through a link, or a node
// anywhere; other paths stay as they are.
func Device(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !isBlock(info) || filepath.Dir(path) == "/dev" {
		return path, nil //nolint:nilerr // what is wrong with it is reported where it is used
	}
	major, minor := numbers(info)
	link, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", major, minor))
	if err != nil {
		return "", fmt.Errorf("%s is block device %d:%d, which the kernel does not know", path, major, minor)
	}
	name := "/dev/" + strings.ReplaceAll(filepath.Base(link), "!", "/") // as in cciss!c0d0
	if node, err := os.Stat(name); err != nil || !isBlock(node) || sys.DeviceNumber(node) != sys.DeviceNumber(info) {
		return "", fmt.Errorf("%s is block device %d:%d, and %s is not: name the device by its node below /dev",
			path, major, minor, name)
	}
	return name, nil
}

// common is the directory on one filesystem that two paths are in; ok is false when there is none,
// and for different devices.
func common(a, b string) (string, bool) {
	if a == b {
		return a, true
	}
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	if err1 != nil || err2 != nil || !one.IsDir() || !two.IsDir() || sys.Device(one) != sys.Device(two) {
		return "", false
	}
	for ; ; a = filepath.Dir(a) {
		info, err := os.Stat(a)
		if err != nil || sys.Device(info) != sys.Device(one) {
			return "", false
		}
		if rel, err := filepath.Rel(a, b); err == nil && filepath.IsLocal(rel) {
			return a, true
		}
	}
}

// Way is the rule for every path that is handed on by name, to a program or to a mount: nobody but
// root, the caller and the users named can put something else in its place, by any part of the way
// to it. What says what is to be done there.
func Way(path, what string, uids ...uint32) error {
	if err := sys.CheckWay(path, uids...); err != nil {
		return fmt.Errorf(
			"%s cannot %s: %w, and its name is passed to other programs; name a place that only root and you can "+
				"change, such as "+
				"one beside it, or remove that permission there (chown root, chmod go-w, or chmod +t where all may make files)",
			path,
			what,
			err,
		)
	}
	return nil
}
