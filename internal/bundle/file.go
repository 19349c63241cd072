package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"plimsoll/internal/sys"
)

func writeFile(name string, data []byte) error { return sys.WriteFile(name, data, 0o644) }

func writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeFile(name, append(data, '\n'))
}

// readJSON leaves v alone when there is no such file and says so.
func readJSON(name string, v any) (found bool, err error) {
	data, err := sys.ReadFile(name, sys.JSONLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if data, err = migrate(data); err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

// ErrLocked is in the chain of Lock's error when another plimsoll holds the lock.
var ErrLocked = errors.New("in use by another plimsoll")

// Lock takes an exclusive lock on a file, which is made when missing, or on a block device or directory. The kernel lets go of it
// when the process ends, however it ends.
func Lock(name string) (release func(), err error) {
	f, err := os.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// The one who held it may have removed the file in between: what is locked then is no longer there for others to see.
	held, err1 := f.Stat()
	there, err2 := os.Stat(name)
	if err := errors.Join(err1, err2); err != nil || !os.SameFile(held, there) {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", name, ErrLocked)
	}
	return func() { _ = f.Close() }, nil
}
