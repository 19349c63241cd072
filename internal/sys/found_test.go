package sys

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFound: a file that nobody named counts if only root or the caller decides what is in it.
func TestFound(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files of other users need root")
	}
	const other = 65534
	for name, c := range map[string]struct {
		make func(dir string) error
		want string // "" for a file that is read
	}{
		"own":                {func(string) error { return nil }, ""},
		"another's":          {func(d string) error { return os.Chown(d+"/f", other, 0) }, "it belongs to "},
		"written by others":  {func(d string) error { return os.Chmod(d+"/f", 0o646) }, "others can write to it (mode 0646)"},
		"written by a group": {func(d string) error { return errors.Join(os.Chmod(d+"/f", 0o664), os.Chown(d+"/f", 0, other)) }, "others can write to it"},
		"written by root":    {func(d string) error { return os.Chmod(d+"/f", 0o664) }, ""},
		"written by a user that an ACL names": {
			func(d string) error { return errors.Join(os.Chmod(d+"/f", 0o600), writableByACL(d+"/f", acl, other)) },
			"others can write to it",
		},
		"in one that an ACL opens": {func(d string) error { return writableByACL(d, acl, other) }, "others can replace it"},
		"in another's":             {func(d string) error { return os.Chown(d, other, 0) }, "its directory belongs to "},
		"in an open one":           {func(d string) error { return os.Chmod(d, 0o777) }, "others can replace it"},
		"in a sticky one":          {func(d string) error { return os.Chmod(d, 0o777|os.ModeSticky) }, ""},
		"hard link":                {func(d string) error { return os.Link(d+"/f", d+"/g") }, "it has 2 names"},
		"own link": {func(d string) error {
			return errors.Join(os.Rename(d+"/f", d+"/g"), os.Symlink("g", d+"/f"))
		}, ""},
		"another's link": {func(d string) error {
			return errors.Join(os.Rename(d+"/f", d+"/g"), os.Symlink("g", d+"/f"), os.Lchown(d+"/f", other, other))
		}, "it belongs to "},
		"own link to another's": {func(d string) error {
			return errors.Join(os.Rename(d+"/f", d+"/g"), os.Symlink(d+"/g", d+"/f"), os.Chown(d+"/g", other, 0))
		}, "it belongs to "},
		"link to itself": {func(d string) error { return errors.Join(os.Remove(d+"/f"), os.Symlink("f", d+"/f")) }, "too many"},
		"fifo":           {func(d string) error { return errors.Join(os.Remove(d+"/f"), unix.Mkfifo(d+"/f", 0o600)) }, "not a regular file"},
		"none":           {func(d string) error { return os.Remove(d + "/f") }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(dir+"/f", []byte("x"), 0o644), c.make(dir)); err != nil {
				t.Fatal(err)
			}
			data, err := ReadFound(dir+"/f", 10)
			switch {
			case c.want == "" && (err != nil || string(data) != "x"):
				t.Errorf("%q %v", data, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%q %v, want %s", data, err, c.want)
			}
			t.Chdir(dir)
			if here := Found("f"); (here == nil) != (err == nil) {
				t.Errorf("in the directory itself: %v, by its path: %v", here, err)
			}
		})
	}
}

// writableByACL lets a user write to a file beside its owner and the group of root; or to what will be
// in a directory, by the list system.posix_acl_default.
func writableByACL(name, list string, uid uint32) error {
	acl := binary.LittleEndian.AppendUint32(nil, 2) // POSIX_ACL_XATTR_VERSION
	const none = math.MaxUint32
	for _, e := range []struct {
		tag, may uint16
		id       uint32
	}{{0x01, 7, none}, {0x02, 7, uid}, {0x04, 0, none}, {0x10, 7, none}, {0x20, 5, none}} {
		acl = binary.LittleEndian.AppendUint16(acl, e.tag)
		acl = binary.LittleEndian.AppendUint16(acl, e.may)
		acl = binary.LittleEndian.AppendUint32(acl, e.id)
	}
	return unix.Setxattr(name, list, acl, 0)
}
