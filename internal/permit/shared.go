package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"plimsoll/internal/sys"
)

// sharePrefix begins the names of the directories that the hosts of a fleet have on storage which
// all of them see.
const sharePrefix = "fleet-"

// Join makes a directory for one host of a fleet on storage that all its hosts see, below
// plimsoll's folder in path, and holds the one lock that the fleet has there. leave removes what is
// empty and lets go.
func Join(path, fleet, host string) (dir string, leave func(), err error) {
	name := sharePrefix + host
	if filepath.Base(name) != name {
		return "", nil, fmt.Errorf("%q is not a name for a directory", name)
	}
	if _, err := checkPath(path); err != nil {
		return "", nil, err
	}
	at, err := sys.OpenPath(path)
	if err != nil {
		return "", nil, WriteError(path, err)
	}
	folder, group, err := joinFolder(at, fleet)
	if err != nil {
		_, err = (&Place{Path: path}).locked(nil, err)
		return "", nil, errors.Join(err, at.Close())
	}
	leave = func() {
		_ = folder.Remove(name) // fails while anything is in it, as it should
		last, done := group.Leave()
		if last {
			_ = folder.Remove("lock")
			if stands(at, folder) {
				_ = at.Remove(folderName)
			}
		}
		done()
		_ = folder.Close()
		_ = at.Close()
	}
	if err := folder.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		leave()
		return "", nil, err
	}
	return filepath.Join(path, folderName, name), leave, nil
}

// joinFolder opens plimsoll's folder and takes the fleet's lock in it. The last host of an earlier
// fleet may remove the folder meanwhile.
func joinFolder(at *sys.Dir, fleet string) (folder *sys.Dir, group *sys.SharedLock, err error) {
	for range 5 {
		if folder, err = openFolder(at); err != nil {
			return nil, nil, err
		}
		// Until a host has the lock none is here: whatever is, a killed run left.
		group, err = folder.LockGroup("lock", fleet, func() error { return removeShares(folder) })
		if err == nil && stands(at, folder) {
			return folder, group, nil
		}
		if err == nil {
			_, done := group.Leave()
			done()
			err = fs.ErrNotExist
		}
		_ = folder.Close()
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	return nil, nil, err
}

func removeShares(folder *sys.Dir) error {
	entries, err := folder.Entries()
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), sharePrefix) {
			err = errors.Join(err, folder.RemoveAll(e.Name()))
		}
	}
	return err
}
