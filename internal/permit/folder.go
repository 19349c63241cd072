package permit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Lock keeps other runs away from a place and opens plimsoll's folder in it, which is made when it
// is missing. The returned function lets go of both, and removes the folder when nothing is left in
// it. A device's lock is waited for a while: udev takes it for a moment whenever somebody has
// written to the device.
func (p *Place) Lock(ctx context.Context) (release func(), err error) {
	if p.Device != nil {
		return p.locked(p.lockDevice(ctx))
	}
	folder, err := openFolder(p.dir)
	switch {
	case err == nil:
		p.folder = folder
	case !p.writes() && (errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS)):
		return p.locked(p.dir.LockSelf()) // what is there is read, and nothing made
	default:
		return nil, WriteError(p.Path, err)
	}
	unlock, err := p.locked(folder.Lock("lock"))
	if err == nil && !stands(p.dir, folder) { // the run that held the lock removed it, with the folder
		unlock()
		_, err = p.locked(nil, sys.ErrLocked)
	}
	if err != nil {
		p.folder = nil
		return nil, errors.Join(err, folder.Close())
	}
	return func() {
		p.folder = nil
		_ = folder.Remove("lock") // while it is held: Lock notices a file that is gone
		if stands(p.dir, folder) {
			_ = p.dir.Remove(folderName) // fails while anything else is in it, as it should
		}
		unlock()
		_ = folder.Close()
	}, nil
}

// lockWait is how long a device's lock is waited for, lockPause the time between two tries.
const (
	lockWait  = 10 * time.Second
	lockPause = 100 * time.Millisecond
)

// lockDevice tries to lock the place's device until its patience is over or ctx ends.
func (p *Place) lockDevice(ctx context.Context) (release func(), err error) {
	for tries := int(cmp.Or(p.Patience, lockWait)/lockPause) + 1; ; tries-- {
		release, err = sys.Lock(p.Path)
		if tries <= 1 || !errors.Is(err, sys.ErrLocked) {
			return release, err
		}
		if p.Waits != nil {
			p.Waits(err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// locked puts the error of a lock into words.
func (p *Place) locked(unlock func(), err error) (func(), error) {
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if by, ok := errors.AsType[*sys.Locked](err); ok && by.ByOther() {
		return nil, fmt.Errorf("%s is locked by %s (process %d): wait until that is done, or end it", p.Path,
			text.Quote(by.Program), by.PID)
	}
	if errors.Is(err, sys.ErrLocked) {
		return nil, fmt.Errorf("%s: another plimsoll is measuring here; wait until it is done", p.Path)
	}
	if errors.Is(err, sys.ErrNotRegular) {
		return nil, fmt.Errorf("%w: plimsoll did not make it; remove it, or name another path", err)
	}
	if err != nil {
		return nil, WriteError(p.Path, err)
	}
	return unlock, nil
}

// Share gives a second role on the same directory the folder that the first has locked.
func (p *Place) Share(o *Place) { p.folder = o.folder }

// openFolder opens plimsoll's folder in a directory, which must belong to the caller and nobody
// else: whoever can write to it decides what is written over.
func openFolder(dir *sys.Dir) (*sys.Dir, error) {
	err := dir.Mkdir(folderName, 0o700)
	if err == nil {
		err = sign(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return ownFolder(dir)
}

// signed is the mode of plimsoll's folder: with a sticky bit, though nobody else may enter it.
const signed = 0o700 | fs.ModeSticky

// entered is the mode that it has beside while a server works in it, which runs as another user.
const entered = 0o011

// sign gives the folder, while nothing is in it, the mode by which it is known among whatever else is the
// caller's: only its owner can set one. A filesystem that keeps none goes without.
func sign(dir *sys.Dir) error {
	folder, err := dir.OpenSub(folderName)
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // only a handle
	if entries, err := folder.Entries(); err != nil || len(entries) > 0 {
		return err
	}
	_ = folder.Chmod(".", signed)
	return nil
}

// checkFolder refuses a directory whose folder openFolder would refuse. None need be there.
func checkFolder(dir *sys.Dir) error {
	folder, err := ownFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return folder.Close()
}

func ownFolder(dir *sys.Dir) (*sys.Dir, error) {
	shown := filepath.Join(dir.Name(), folderName)
	folder, err := dir.OpenSub(folderName)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return nil, fmt.Errorf("%s is not plimsoll's directory but a link or a file: remove it, or name another path",
			shown)
	}
	if err != nil {
		return nil, err
	}
	if err := private(dir, folder); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder, nil
}

// private refuses a folder that others than the caller can write to.
func private(dir, folder *sys.Dir) error {
	info, err := folder.Info()
	if err != nil {
		return err
	}
	switch owner := sys.Owner(info); {
	case int(owner) != os.Geteuid():
		return fmt.Errorf("%s belongs to %s: remove it with plimsoll clean as that user or as root, or name "+
			"another path",
			folder.Name(), sys.UserName(owner))
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written to by others (mode %04o): remove it with plimsoll clean, or name "+
			"another path",
			folder.Name(), info.Mode().Perm())
	}
	return madeHere(dir, folder)
}

// madeHere refuses a folder that plimsoll did not make in the directory: a mount, or one without its sign that others,
// who own the directory or can write to it, may have moved there from elsewhere.
func madeHere(dir, folder *sys.Dir) error {
	parent, err1 := dir.Info()
	info, err2 := folder.Info()
	switch err := errors.Join(err1, err2); {
	case err != nil:
		return err
	case sys.Device(parent) != sys.Device(info) || !dir.SameMount(folder):
		return fmt.Errorf("%s is a mount of its own, or on a different filesystem from %s: unmount it, or name another path",
			folder.Name(), dir.Name())
	case info.Mode()&^entered == fs.ModeDir|signed && (sys.Ours(info) || sys.Ours(parent)):
		return nil
	}
	return dir.CheckMoved(folder)
}

// stands tells whether the folder is still what its name leads to.
func stands(dir, folder *sys.Dir) bool {
	there, err1 := dir.Lstat(folderName)
	held, err2 := folder.Info()
	return err1 == nil && err2 == nil && os.SameFile(there, held)
}

// Clear removes what a crashed run left in a place that is locked, and says so.
func (p *Place) Clear(note func(string)) error {
	if p.folder != nil {
		ended, err := endServer(p.folder, false)
		if err != nil {
			return err
		}
		if ended != 0 {
			note("ended the database server of a run that was killed")
		}
	}
	left := p.leftovers()
	if p.Prefilled() {
		left = slices.DeleteFunc(left, func(name string) bool { return !slices.Contains(databaseNames(), name) })
	}
	if len(left) == 0 {
		return nil
	}
	if err := p.remove(left); err != nil {
		return fmt.Errorf("what an earlier run left in %s cannot be removed: %w", p.folder.Name(), err)
	}
	note(fmt.Sprintf("removed what an earlier run left in %s", p.folder.Name()))
	return nil
}

// Empty removes what this run made.
func (p *Place) Empty() error { return p.remove(p.leftovers()) }

// Left says by what the files are removed that a run had to leave in a place: err is why.
func (p *Place) Left(err error) string {
	why, when := err.Error(), ""
	if number, ok := errors.AsType[unix.Errno](err); ok {
		why = number.Error()
		switch {
		case slices.Contains([]unix.Errno{unix.EIO, unix.EUCLEAN, unix.ENXIO, unix.ENODEV}, number):
			when = ", once the device works again"
		case number == unix.EROFS: // to which ext4 goes over when its journal cannot be written
			when = ", once it can be written to again"
		}
	}
	return fmt.Sprintf("%s: %s; to remove what the run left there%s, run: plimsoll clean %s", p.Path, why, when,
		text.ShellQuote(p.Path))
}

// leftovers are the files of runs in the folder, with those of which a device that fails does not say
// whether they are there.
func (p *Place) leftovers() []string {
	if p.folder == nil {
		return nil
	}
	return slices.DeleteFunc(p.names(), func(name string) bool {
		_, err := p.folder.Lstat(name)
		return errors.Is(err, fs.ErrNotExist)
	})
}

func (p *Place) remove(names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, p.folder.RemoveAll(name))
	}
	return errors.Join(errs...)
}

// Prefilled tells whether the role's files are there from an earlier run, written whole and large
// enough. Only a marker and files of the caller's own count, in a folder that nobody else can
// write to. The marker holds which files were written whole.
func (p *Place) Prefilled() bool {
	if p.Device != nil || p.Total() == 0 {
		return false
	}
	folder := p.folder
	if folder == nil { // before the run has it: for the space that will be needed
		if p.dir == nil {
			return false
		}
		var err error
		if folder, err = p.dir.OpenSub(folderName); err != nil {
			return false
		}
		defer folder.Close() //nolint:errcheck // only a handle
		if private(p.dir, folder) != nil {
			return false
		}
	}
	data, err := folder.ReadSmall(p.markerName(), 4096)
	var mark Files
	if err != nil || json.Unmarshal(data, &mark) != nil || !mark.holds(p.Files) || !ownFile(folder, p.markerName()) {
		return false
	}
	return mark.Jobs <= mostNames && mark.there(p, folder)
}

// ownFile tells whether a name is a regular file of the caller's that has no other name.
func ownFile(folder *sys.Dir, name string) bool {
	info, err := folder.Lstat(name)
	return err == nil && info.Mode().IsRegular() && int(sys.Owner(info)) == os.Geteuid() && sys.Names(info) == 1
}

// Keep leaves files that were written whole for the next run, with a marker that tells so. A
// crashed run leaves no marker, so its files are not trusted.
func (p *Place) Keep() error {
	if p.folder == nil {
		return nil
	}
	mark, err := json.Marshal(p.Files)
	if err != nil {
		return err
	}
	if err := p.folder.RemoveAll(p.markerName()); err != nil {
		return err
	}
	f, err := p.folder.Create(p.markerName(), 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(mark)
	return errors.Join(err, f.Sync(), f.Close())
}
