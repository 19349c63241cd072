package rules

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/host"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// Nine machines that a reviewer composed in the form of inspect --capture (2026-11-26), with what an expert
// would say of each: what was planted, and what is true of it besides. Nothing else may be said.
func TestComposedMachines(t *testing.T) {
	for name, want := range map[string]string{
		"c1-virtio":   "PL322 info",
		"c2-md10nvme": "PL306 warning, PL309 info, PL322 info",
		"c3-lvmhdd":   "PL306 info, PL309 info, PL310 info, PL322 info",
		"c4-ebs4":     "PL309 info, PL322 info",
		"c5-luks":     "PL306 warning, PL217 info, PL322 info",
		"c6-zfs":      "PL322 info",
		"c7-raid5hdd": "PL215 error, PL216 warning, PL309 info, PL322 info",
		"c8-btrfs":    "PL219 info, PL309 info, PL322 info",
		"c9-mpath":    "PL309 info, PL322 info",
	} {
		archive, err := os.ReadFile("testdata/machines/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		path := "/"
		if strings.Contains(string(archive), " /data ") {
			path = "/data"
		}
		m := &sys.Machine{
			Root: block.Captured(archive), Now: time.Now,
			Run: func(_ context.Context, _ io.Writer, argv ...string) error {
				return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
			},
		}
		found, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: path, topology.WAL: path}, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, f := range Judge(&diagnose.Case{Topology: found, Host: host.Read(t.Context(), m)}, nil) {
			got = append(got, fmt.Sprintf("%s %s", f.Code, f.Severity))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s\nwant %s", name, s, want)
		}
	}
}
