package sys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A name is handed on only where nobody else can put something in its place: each part of the way,
// as the kernel means sticky directories.
func TestWayThatOthersCanChange(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to somebody else")
	}
	for _, c := range []struct {
		says       string
		mode       uint32 // of the directory that holds the folder
		owner      int
		group      int
		folderOf   int
		link       bool
		trusted    uint32
		wantInText string
	}{
		{says: "root's alone", mode: 0o755},
		{says: "of all", mode: 0o777, wantInText: "mode 0777"},
		{says: "of all, sticky", mode: 0o1777},
		{says: "of all, sticky, the folder another's", mode: 0o1777, folderOf: 65534, wantInText: "belongs to"},
		{says: "root's, the folder another's", mode: 0o755, folderOf: 65534},
		{says: "another's", mode: 0o755, owner: 65534, wantInText: "belongs to"},
		{says: "another's, who is trusted", mode: 0o755, owner: 65534, trusted: 65534},
		{says: "a group's of unknown members", mode: 0o775, group: 54321, wantInText: "mode 0775"},
		{says: "root's group", mode: 0o775},
		{says: "a link at its end", mode: 0o755, link: true, wantInText: "symbolic link"},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		name := filepath.Join(dir, "folder")
		err := os.Mkdir(dir, 0o700)
		if c.link {
			err = errors.Join(err, os.Symlink("/etc", name))
		} else {
			err = errors.Join(err, os.Mkdir(name, 0o700), os.Chown(name, c.folderOf, c.folderOf))
		}
		mode := os.FileMode(c.mode & 0o777)
		if c.mode&0o1000 != 0 {
			mode |= os.ModeSticky
		}
		if err = errors.Join(err, os.Chown(dir, c.owner, c.group), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		err = CheckWay(name, c.trusted)
		if c.wantInText == "" && err != nil || c.wantInText != "" && (err == nil || !strings.Contains(err.Error(), c.wantInText)) {
			t.Errorf("%s: %v, want %q", c.says, err, c.wantInText)
		}
		if err := CheckWay(filepath.Join(dir, "new"), c.trusted); c.wantInText != "" && !c.link && c.folderOf == 0 && err == nil {
			t.Errorf("%s: what is not there yet is handed on", c.says)
		}
	}
}
