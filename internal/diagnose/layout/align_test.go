package layout

import (
	"slices"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/units"
)

// The commands are those of the filesystem that is there.
func TestGeometryCommandsByFilesystem(t *testing.T) {
	for fs, want := range map[string][]string{
		"xfs": {"xfs_info /d", "mkfs.xfs -d su=64k,sw=4 /dev/md0   # destroys what is on it"},
		"ext4": {
			"dumpe2fs -h /dev/md0", "mkfs.ext4 -b 4096 -E stride=16,stripe-width=64 /dev/md0   # destroys what is on it",
		},
		"f2fs": nil,
	} {
		m := &block.Mount{Point: "/d", Device: "md0", FS: fs, Geometry: block.Geometry{BlockSize: 4096}}
		if got := geometryCommands(fault{}, m, 64*units.KiB, 4).Commands; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", fs, got, want)
		}
	}
}
