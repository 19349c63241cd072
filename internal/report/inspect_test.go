package report_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"plimsoll/internal/block"
	"plimsoll/internal/report"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"strings"
	"testing"
	"unicode/utf8"
)

var updateInspect = flag.Bool("update-inspect", false, "write testdata/inspect/*.txt")

// machine opens a captured machine; no program is on it.
func machine(t *testing.T, name string) *sys.Machine {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("../block/testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return &sys.Machine{
		Root: block.Captured(archive),
		Run: func(_ context.Context, _ io.Writer, argv ...string) error {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		},
	}
}

func TestInspectGolden(t *testing.T) {
	for _, c := range []struct{ name, data, wal, volumes string }{
		{name: "this-vm", data: "/work/main", wal: "/dev/shm"},
		{name: "ec2-16xgp3-raid10", data: "/data", wal: "/wal", volumes: "8xgp3"},
		{name: "ec2-4xgp2-raid0", data: "/mnt/p_iops_vol0/x", volumes: "gp2"},
		{name: "ec2-degraded-recovering", data: "/data", wal: "/wal"},
		{name: "ec2-resyncing", data: "/data", wal: "/wal"},
		{name: "ec2-single-ebs", data: "/srv/db/x", wal: "/srv/db/x"},
		{name: "p4510-md-partitions-double-mount", data: "/opt/fio/t0", wal: "/opt/fio/t1"},
		{name: "p4510-lvm-raid0-striped", data: "/opt/fio/t0", wal: "/opt/fio/t1"},
		{name: "lvm-over-md-over-partitions", data: "/srv/data", wal: "/srv/wal"},
		{name: "lvm-over-md-over-partitions", data: "/srv/wide", wal: "/dev/md0"},
	} {
		t.Run(c.name+filepath.Base(c.data), func(t *testing.T) {
			decl, err := topology.FromFlags(c.volumes, "", "", "")
			if err != nil {
				t.Fatal(err)
			}
			paths := map[topology.Role]string{topology.Data: c.data, topology.WAL: c.wal}
			top, err := topology.Detect(t.Context(), machine(t, c.name), paths, decl)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := report.Inspect(&out, top, 80); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			file := filepath.Join("testdata/inspect", c.name+"-"+filepath.Base(c.data)+".txt")
			if *updateInspect {
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("%s differs, go test ./internal/report -update-inspect and read the change:\n%s", file, out.String())
			}
		})
	}
}
