package machine_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode"
	"unicode/utf8"

	"plimsoll/internal/block"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/report/page"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

var updateInspect = flag.Bool("update-inspect", false, "write testdata/inspect/*.txt")

// machine opens a captured machine; no program is on it.
func captured(t *testing.T, name string) *sys.Machine {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("../../block/testdata", name+".txtar"))
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
			top, err := topology.Detect(t.Context(), captured(t, c.name), paths, decl)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := page.Write(&out, page.Text, machine.Inspect(top), page.Options{Details: true, Width: 80}); err != nil {
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
				t.Errorf("%s differs, go test ./internal/report/machine -update-inspect and read the change:\n%s", file, out.String())
			}
		})
	}
}

// Names from outside cannot break lines, move the cursor or flood the page.
func TestInspectHostileNames(t *testing.T) {
	nasty := "a\nb\x1b[31m\u202e<script>" + strings.Repeat("x", 300)
	m := captured(t, "ec2-single-ebs")
	root := m.Root.(fstest.MapFS)
	for _, name := range []string{
		"proc/sys/kernel/hostname", "sys/devices/pci0000:00/0000:00:1f.0/nvme/nvme1/model", "sys/devices/pci0000:00/0000:00:1f.0/nvme/nvme1/serial",
		"sys/devices/pci0000:00/0000:00:1f.0/nvme/nvme1/nvme1n1/queue/scheduler", "sys/class/dmi/id/product_name",
	} {
		if root[name] == nil {
			t.Fatal(name)
		}
		root[name] = &fstest.MapFile{Data: []byte(nasty)}
	}
	root["proc/self/mountinfo"] = &fstest.MapFile{Data: []byte(
		"1 0 259:2 / / rw - xfs /dev/nvme1n1 rw,x=" + strings.Repeat("y", 300) + "\n" +
			`2 1 259:2 / /m\012n\033` + strings.Repeat("z", 300) + " rw - xfs /dev/nvme1n1 rw\n",
	)}
	top, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: "/"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := page.Write(&out, page.Text, machine.Inspect(top), page.Options{Details: true, Width: 80}); err != nil {
		t.Fatal(err)
	}
	if top.Targets[0].Device != "nvme1n1" || !strings.Contains(out.String(), "<script>") {
		t.Fatalf("the names did not get there:\n%s", out.String())
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > 250 {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("not printable: %q", line)
		}
	}
}

// What is left of a burst stands next to it; volumes that differ in it are not shown as one.
func TestInspectBalances(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 35, 0, 0, time.UTC)
	left := func(share float64) *topology.Balance { return &topology.Balance{Left: share, At: at} }
	gp2 := func(share float64) topology.Volume {
		return topology.Volume{Type: "gp2", Network: true, Sustained: topology.Limits{IOPS: 300}, Burst: topology.Limits{IOPS: 3000}, Balance: left(share)}
	}
	top := &topology.Topology{
		Instance: topology.Instance{Type: "c8g.large", Baseline: topology.Limits{IOPS: 3600}, Burst: topology.Limits{IOPS: 40000}, IOBalance: left(1), RateBalance: left(0)},
		Arrays:   []topology.Array{{Name: "md0", Level: topology.RAID0, Volumes: []topology.Volume{gp2(0.5), gp2(0.5), gp2(0.124)}}},
	}
	var out bytes.Buffer
	if err := page.Write(&out, page.Text, machine.Inspect(top), page.Options{Details: true, Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"burst 40,000 IOPS, IOPS burst left 100 % at 10:35 UTC, throughput burst left 0 % at 10:35 UTC\n",
		"2 × gp2, 300 IOPS, burst 3,000 IOPS, burst left 50 % at 10:35 UTC\n", "1 × gp2, 300 IOPS, burst 3,000 IOPS, burst left 12.4 % at 10:35 UTC\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}

// Devices of a captured machine that are made of each other end: their tree is as deep as any that is real.
func TestInspectEndsInACircle(t *testing.T) {
	devices := map[string]*block.Device{}
	for _, pair := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "a"}} {
		devices[pair[0]] = &block.Device{Name: pair[0], Path: "/dev/" + pair[0], Kind: block.DM, Slaves: []string{pair[1]}}
	}
	top := &topology.Topology{
		Tree:    &block.Tree{Devices: devices},
		Targets: []topology.Target{{Role: topology.Data, Path: "/data", Device: "a", Mount: &block.Mount{Point: "/data", FS: "ext4", Device: "a"}}},
	}
	var out bytes.Buffer
	if err := page.Write(&out, page.Text, machine.Inspect(top), page.Options{Details: true, Width: 80}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); !strings.Contains(out.String(), "/data") || n < 3 || n > 1000 {
		t.Errorf("%d lines", n)
	}
}
