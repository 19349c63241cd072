package block

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
)

// FuzzInUse: a process may call its files and mounts as it likes. Only one with a descriptor on a mount
// of the device, or on the device, uses it.
func FuzzInUse(f *testing.F) {
	f.Add("/data/x", "pos:\t0\nmnt_id:\t31\n", "31 22 8:0 / /data rw - ext4 /dev/sda rw\n")
	f.Add("/dev/sda", "", "")
	f.Add("socket:[1]", "mnt_id:", "31 22 8:0\n\n 8:0 8:0 8:0\n")
	bounded.Fuzz(f, func(t *testing.T, link, info, mounts string) {
		m := &sys.Machine{Root: fstest.MapFS{
			"proc/7/fd/3":      {Data: []byte(link), Mode: fs.ModeSymlink},
			"proc/7/fdinfo/3":  {Data: []byte(info)},
			"proc/7/mountinfo": {Data: []byte(mounts)},
		}}
		stack := &Stack{Tree: &Tree{Devices: map[string]*Device{"sda": {Name: "sda", Path: "/dev/sda", Major: 8}}}}
		uses := NewInUse(m.Reader(), stack).By("7")
		if uses && link != "/dev/sda" && (link == "" || link[0] != '/' || mounts == "") {
			t.Errorf("%q uses it", link)
		}
	})
}
