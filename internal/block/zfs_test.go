package block

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// What zfs get and zpool get print (zfsprops(7), -H and -p): names and values between tabs.
func TestReadDataset(t *testing.T) {
	m := &sys.Machine{Run: func(_ context.Context, out io.Writer, argv ...string) error {
		says := map[string]string{
			"zfs tank/pg data": "sync\tdisabled\nlogbias\tlatency\nrecordsize\t1048576\n", "zpool tank": "ashift\t12\n",
			"zfs old": "sync\tstandard\nlogbias\tthroughput\nrecordsize\t16384\n",
		}[argv[0]+" "+argv[len(argv)-1]]
		if says == "" {
			return fmt.Errorf("%s: %w", strings.Join(argv, " "), sys.ErrNotFound)
		}
		_, err := io.WriteString(out, says)
		return err
	}}
	for source, want := range map[string]Dataset{
		"tank/pg data": {"disabled", "latency", units.MiB, "tank", 12},
		"old":          {"standard", "throughput", 16 * units.KiB, "old", 0},
	} {
		mt := Mount{FS: "zfs", Source: source}
		if mt.ReadDataset(t.Context(), m); mt.ZFS == nil || *mt.ZFS != want {
			t.Errorf("%s: %+v, want %+v", source, mt.ZFS, want)
		}
	}
	for _, mt := range []Mount{{FS: "zfs", Source: "none"}, {FS: "zfs", Source: "-r"}, {FS: "ext4", Source: "old"}} {
		if mt.ReadDataset(t.Context(), m); mt.ZFS != nil {
			t.Errorf("%+v: %+v", mt, mt.ZFS)
		}
	}
}
