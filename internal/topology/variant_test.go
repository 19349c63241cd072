package topology

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/units"
)

const variedYAML = `# the base
scale: 0.1
instance: c8g.2xlarge
arrays:
  - name: data
    role: data
    level: raid0
    chunk: 512KiB
    volumes: 8 x gp3 256GiB 3000iops
    filesystem: {type: xfs, mount: /data, mode: "0700", owner: "104:110", options: [noatime]}
  - name: wal
    role: wal
    volumes: {serial: w1, type: gp3, size: 10GiB}
    filesystem: {mount: /wal}
`

// A layout is the file with keys changed: what is not changed stays as it was declared.
func TestLayoutWith(t *testing.T) {
	base := Layout{"base", []byte(variedYAML)}
	serials := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	pinned, err := base.Pinned([][]string{serials, {"w1"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pinned.With("four", []KeyChange{
		{"chunk", "64KiB"},
		{"data.using", "lvm"},
		{"data.volumes.count", "4"},
		{"data.filesystem.options", "noatime,nodiratime"},
		{"wal.filesystem.type", "ext4"},
		{"wal.chunk", ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := got.Declaration()
	if err != nil {
		t.Fatalf("%v\n%s", err, got.YAML)
	}
	a := d.Arrays[0]
	if a.Chunk != 64*units.KiB || a.Using != "lvm" || len(a.Volumes) != 4 || a.Volumes[3].Serial != "d" || a.Volumes[3].Type != "gp3" ||
		a.Volumes[0].Size != 256*units.GiB ||
		a.Volumes[0].Limits.IOPS != 3000 ||
		a.Level != RAID0 {
		t.Errorf("%+v\n%s", a, got.YAML)
	}
	if f := a.Filesystem; f.Mode != "0700" || f.Owner != "104:110" || fmt.Sprint(f.Options) != "[noatime nodiratime]" ||
		f.Mount != "/data" {
		t.Errorf("%+v\n%s", f, got.YAML)
	}
	if w := d.Arrays[1]; w.Filesystem.Type != "ext4" || w.Volumes[0].Serial != "w1" || w.Chunk != 0 || d.Scale != 0.1 ||
		d.Instance.Type != "c8g.2xlarge" {
		t.Errorf("%+v\n%s", w, got.YAML)
	}
	same, err := pinned.With("same", nil)
	if err != nil || string(same.YAML) != string(pinned.YAML) {
		t.Errorf("%v: %s", err, same.YAML)
	}
}

func TestLayoutRefuses(t *testing.T) {
	base := Layout{"base", []byte(variedYAML)}
	for _, c := range []struct{ key, value, want string }{
		{"array.mount", "/x", "want array.KEY"},
		{"other.chunk", "4KiB", "want array.KEY"},
		{"array.filesystem.mount", "/x", "want array.KEY"},
		{"volumes.count", "9", "want a number from 1 to 8"},
		{"volumes.count", "0", "want a number from 1"},
	} {
		if _, err := base.With("v", []KeyChange{{c.key, c.value}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
	}
	// What cannot be is found when the file is read.
	for _, c := range []KeyChange{{"data.chunk", "5KiB"}, {"data.level", "raid7"}, {"data.using", "zfs"}, {"data.level", "raid6"}} {
		changes := []KeyChange{c}
		if c.Value == "raid6" {
			changes = append(changes, KeyChange{"data.volumes.count", "3"})
		}
		l, err := base.With("v", changes)
		if err == nil {
			_, err = l.Declaration()
		}
		if err == nil {
			t.Errorf("%v is accepted", c)
		}
	}
	if !IsLayoutKey("array.chunk") || !IsLayoutKey("level") || !IsLayoutKey("wal.volumes.count") ||
		IsLayoutKey("fio.bs") ||
		IsLayoutKey("tune.scheduler") ||
		IsLayoutKey("data") {
		t.Error("keys")
	}
}
