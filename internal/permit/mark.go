package permit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// markPrefix begins the name of the mark by which a run is known again in the places that it writes
// to.
const markPrefix = "run-"

// Mark names a run in a place: by its ID and by the directory that its record lies in, so that a copy
// of the record, or another with its ID, is another run. Its name reveals neither.
func Mark(id string, record fs.FileInfo) string {
	var inode uint64
	if st, ok := record.Sys().(*syscall.Stat_t); ok {
		inode = st.Ino
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n", id, inode))
	return markPrefix + hex.EncodeToString(sum[:16])
}

// isMark tells whether a name in the folder is that of a mark.
func isMark(name string) bool {
	hexed, ok := strings.CutPrefix(name, markPrefix)
	raw, err := hex.DecodeString(hexed)
	return ok && err == nil && len(raw) == 16
}

// PutMark leaves a run's mark in a place that is locked and written to.
func (p *Place) PutMark(mark string) error {
	if p.folder == nil || !p.writes() {
		return nil
	}
	if err := p.folder.RemoveAll(mark); err != nil {
		return err
	}
	f, err := p.folder.Create(mark, 0o600)
	if err != nil {
		return WriteError(p.Path, err)
	}
	return f.Close()
}

// DropMark removes a run's mark when nothing of it is left to do.
func (p *Place) DropMark(mark string) error {
	if p.folder == nil {
		return nil
	}
	return p.folder.RemoveAll(mark)
}

// CheckMark refuses a place that is written to and that only a record names, unless the run's mark
// is in plimsoll's folder there: the caller's own, in a folder that nobody else can write to. What a
// run may do to a device is asked for by --destroy, which no record holds.
func (p *Place) CheckMark(mark string) error {
	if !p.writes() {
		return nil
	}
	if folder, err := p.dir.OpenSub(folderName); err == nil {
		defer folder.Close() //nolint:errcheck // only a handle
		if private(p.dir, folder) == nil && ownMark(folder, mark) {
			return nil
		}
	}
	return fmt.Errorf("%s is named in the run's record, but has no mark of that run: if it is the place to write "+
		"to, name it with --%s %s", p.Path, p.Role, p.Path)
}

// CheckSame refuses a raw device that is not the one which a run was begun on: after a reboot, or when
// drives were swapped, a name stands for another one. Of the facts that tell two devices apart those
// count that are known of both.
func (p *Place) CheckSame(began *block.Device) error {
	if p.Device == nil || began == nil {
		return nil
	}
	for _, fact := range []struct{ what, was, is string }{
		{"serial", began.Serial, p.Device.Serial},
		{"WWN", began.WWN, p.Device.WWN},
		{"backing file", began.Backing, p.Device.Backing},
		{"device-mapper UUID", began.DM, p.Device.DM},
		{"array UUID", raidID(began), raidID(p.Device)},
		{"size", began.Size.Arg(), p.Device.Size.Arg()},
		{"start on its disk", began.Start.Arg(), p.Device.Start.Arg()},
	} {
		if fact.was != fact.is && fact.was != "" && fact.is != "" {
			return fmt.Errorf("%s is not the device that the run started on: its %s is %s and was %s: start a new run",
				p.Path, fact.what, text.Quote(fact.is), text.Quote(fact.was))
		}
	}
	return nil
}

func raidID(d *block.Device) string {
	if d.MD == nil {
		return ""
	}
	return d.MD.UUID
}

// ownMark tells whether a mark is the caller's or root's, a regular file with one name.
func ownMark(folder *sys.Dir, mark string) bool {
	info, err := folder.Lstat(mark)
	return err == nil && info.Mode().IsRegular() && sys.Names(info) == 1 && sys.Ours(info)
}
