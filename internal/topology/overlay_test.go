package topology

import (
	"testing"

	"plimsoll/internal/block"
)

func TestUpperDirectoryIsFollowed(t *testing.T) {
	overlay := func(upper string) block.Mount {
		return block.Mount{ID: 9, Under: 1, Point: "/merged", FS: "overlay", Options: []string{"rw", "lowerdir=/l", "upperdir=" + upper, "workdir=/w"}}
	}
	root := block.Mount{ID: 1, Point: "/", FS: "ext4", Device: "vda1", Root: "/"}
	inContainer := overlay("/var/lib/docker/overlay2/abc/diff")
	inContainer.ID, inContainer.Under, inContainer.Point = 1, 0, "/"
	hosts := block.Mount{ID: 5, Under: 1, Point: "/etc/hosts", FS: "xfs", Device: "nvme1n1p1", Root: "/var/lib/docker/containers/abc/hosts"}
	other := block.Mount{ID: 6, Under: 1, Point: "/data", FS: "xfs", Device: "nvme2n1", Root: "/var/lib/postgresql"}
	for name, c := range map[string]struct {
		mounts []block.Mount
		of     block.Mount
		want   string
	}{
		"on the host":                        {[]block.Mount{root, overlay("/upper/dir")}, overlay("/upper/dir"), "vda1"},
		"in a container":                     {[]block.Mount{inContainer, other, hosts}, inContainer, "nvme1n1p1"},
		"in a container, its files unknown":  {[]block.Mount{inContainer, other}, inContainer, ""},
		"without an upper directory":         {[]block.Mount{root}, block.Mount{FS: "overlay", Options: []string{"ro", "lowerdir=/a:/b"}}, ""},
		"a relative one, as of another root": {[]block.Mount{root}, overlay("upper"), ""},
	} {
		if got, how := upperDevice(&block.Tree{Mounts: c.mounts}, &c.of); got != c.want || (how == "") != (c.want == "") {
			t.Errorf("%s: %q (%s), want %q", name, got, how, c.want)
		}
	}
}
