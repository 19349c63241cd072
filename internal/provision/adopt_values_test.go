package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// undone are the commands of an adoption's steps, newest first.
func undone(w *records.Work) string {
	var all []string
	for _, st := range slices.Backward(w.Steps) {
		all = append(all, w.Commands(st.Undo)...)
	}
	return strings.Join(all, "|")
}

// An array is called as its superblock says, behind the host's name, where that can be a file's name.
func TestNamesOfAdopted(t *testing.T) {
	for name, want := range map[string]string{"host:data": "data", "data": "data", "": "md0", "host:": "host:", "host:a/b": "md0", "host:a:b": "a:b"} {
		if want != "md0" && !topology.NameOK(want) {
			want = "md0"
		}
		if got := adoptedName(&block.Device{Name: "md0", MD: &block.Raid{Name: name}}); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// Members are whole disks with a serial, or partitions of them from 1 MiB, and all are named.
func TestMembersOfAdopted(t *testing.T) {
	tree := func() *block.Tree {
		return &block.Tree{Devices: map[string]*block.Device{
			"md0":  {Name: "md0", Path: "/dev/md0", Slaves: []string{"sda", "sdb"}},
			"sda":  {Name: "sda", Path: "/dev/sda", Serial: "A", Kind: block.Disk, Size: 10, Model: "M"},
			"sdb":  {Name: "sdb", Path: "/dev/sdb", Serial: "B", Kind: block.Disk, Size: 20},
			"sdb1": {Name: "sdb1", Path: "/dev/sdb1", Kind: block.Partition, Parent: "sdb", Start: units.MiB},
		}}
	}
	for name, c := range map[string]struct {
		change  func(*block.Tree)
		serials string
		want    string // the members, or the error
	}{
		"whole disks":       {func(*block.Tree) {}, "A B", "A 10 /dev/sda M, B 20 /dev/sdb "},
		"a partition":       {func(tr *block.Tree) { tr.Devices["md0"].Slaves[1] = "sdb1" }, "A B", "A 10 /dev/sda M, B 20 /dev/sdb , partition"},
		"from elsewhere":    {func(tr *block.Tree) { tr.Devices["md0"].Slaves[1], tr.Devices["sdb1"].Start = "sdb1", 2*units.MiB }, "A B", "does not begin at 1 MiB"},
		"of a disk unknown": {func(tr *block.Tree) { tr.Devices["md0"].Slaves[1], tr.Devices["sdb1"].Parent = "sdb1", "sdz" }, "A B", "does not begin at 1 MiB"},
		"not to be seen":    {func(tr *block.Tree) { tr.Devices["md0"].Slaves[1] = "sdz" }, "A B", "its member sdz cannot be seen"},
		"no disk":           {func(tr *block.Tree) { tr.Devices["sdb"].Kind = block.Loop }, "A B", "its member /dev/sdb is a loop: take that down first"},
		"no serial":         {func(tr *block.Tree) { tr.Devices["sdb"].Serial = "" }, "A", "has no serial number to name it by"},
		"one not named":     {func(*block.Tree) {}, "A", "its member /dev/sdb (serial B) is not named"},
		"one too many":      {func(*block.Tree) {}, "A B C", "--serial C is not a member of the array; its members are A, B"},
		"no members":        {func(tr *block.Tree) { tr.Devices["md0"].Slaves = nil }, "", "it has no members; mdadm --stop /dev/md0"},
	} {
		tr, w := tree(), &records.Work{}
		c.change(tr)
		err := adoptMembers(w, tr, tr.Devices["md0"], strings.Fields(c.serials))
		var got []string
		for _, m := range w.Members {
			got = append(got, fmt.Sprintf("%s %d %s %s", m.Serial, uint64(m.Size), m.Path, m.Model))
		}
		if w.Want.Partition {
			got = append(got, "partition")
		}
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
	}
}

// adopting is an adoption of asMD's array with files of /etc and programs of its own.
func adopting(t *testing.T, prints, files map[string]string) *adoption {
	t.Helper()
	s := asMD(t, prints)
	s.w.Steps, s.w.Want = nil, records.Want{Level: topology.RAID1, Using: "md", Data: 1}
	s.w.Adopted = "/dev/md0"
	for name, text := range files {
		at := filepath.Join(s.Root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return &adoption{state: s, top: s.tree.Devices["md0"]}
}

// What is on an adopted array is undone before it: mounts, lines, a filesystem or a group with its volumes.
func TestStepsOfAdopted(t *testing.T) {
	const stop, zero = "mdadm --stop /dev/md0", "zero the first and last 2 MiB of /dev/sda /dev/sdb"
	const vgs = `{"report":[{"vg":[{"vg_name":"g"}]}]}`
	pvs := func(rows ...string) string {
		var all []string
		for _, r := range rows {
			pv, vg, _ := strings.Cut(r, " ")
			all = append(all, fmt.Sprintf(`{"pv_name":%q,"vg_name":%q}`, pv, vg))
		}
		return `{"report":[{"pv":[` + strings.Join(all, ",") + `]}]}`
	}
	const lvs = `{"report":[{"lv":[{"lv_name":"v"}]}]}`
	remove := func(what string) string {
		return what[:8] + " --yes --quiet --config 'backup/backup=0 backup/archive=0' " + what[9:]
	}
	for name, c := range map[string]struct {
		prints map[string]string
		change func(*adoption)
		want   string
	}{
		"blank":           {map[string]string{"blkid": "fails with 2: "}, func(a *adoption) { a.tree.Mounts = nil }, stop + "|" + zero},
		"a filesystem":    {map[string]string{"blkid": "TYPE=xfs\nUUID=1\n"}, func(a *adoption) { a.tree.Mounts = nil }, "wipefs --all --quiet /dev/md0|" + stop + "|" + zero},
		"mounted":         {map[string]string{"blkid": "TYPE=xfs\nUUID=1\n"}, func(*adoption) {}, "umount /data|wipefs --all --quiet /dev/md0|" + stop + "|" + zero},
		"a part of it is": {map[string]string{"blkid": "TYPE=xfs\nUUID=1\n"}, func(a *adoption) { a.tree.Mounts[1].Root = "/sub" }, "a part of it is mounted on /data: unmount that first"},
		"a table":         {map[string]string{"blkid": "PTTYPE=gpt\n"}, func(*adoption) {}, "it is partitioned (gpt): take its partitions down by hand first"},
		"partitions":      {map[string]string{"blkid": "fails with 2: "}, func(a *adoption) { a.top.Partitions = []string{"md0p1"} }, "it is partitioned ()"},
		"older metadata": {
			map[string]string{"blkid": "fails with 2: "},
			func(a *adoption) { a.tree.Mounts, a.top.MD.Metadata = nil, "0.90" },
			stop + "|mdadm --zero-superblock /dev/sda /dev/sdb",
		},
		"LVM without a group": {map[string]string{"blkid": "TYPE=LVM2_member\nUUID=1\n", "pvs": pvs("/dev/md0 ")}, func(*adoption) {}, remove("pvremove /dev/md0") + "|" + stop + "|" + zero},
		"LVM on other volumes": {
			map[string]string{"blkid": "TYPE=LVM2_member\nUUID=1\n", "pvs": pvs("/dev/md0 g", "/dev/sdc g")},
			func(*adoption) {},
			"the volume group g also lies on /dev/sdc: take it out first (vgreduce g /dev/md0)",
		},
		"and another group's": {map[string]string{"blkid": "TYPE=LVM2_member\nUUID=1\n", "pvs": pvs("/dev/md0 g", "/dev/sdc h"), "vgs": vgs, "lvs": lvs}, func(a *adoption) {
			a.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/dm-0", LV: &block.Vol{VG: "g", Name: "v"}}
			a.tree.Devices["dm-1"] = &block.Device{Name: "dm-1", Path: "/dev/dm-1", LV: &block.Vol{VG: "h", Name: "v"}}
			a.tree.Mounts = []block.Mount{{Device: "dm-0", Point: "/lv", Root: "/"}, {Device: "dm-1", Point: "/other", Root: "/"}}
		}, "umount /lv|" + remove("lvremove g/v") + "|vgremove --quiet --config 'backup/backup=0 backup/archive=0' g|" + remove("pvremove /dev/md0") + "|" + stop + "|" + zero},
	} {
		a := adopting(t, c.prints, nil)
		a.top.MD.Metadata = "1.2"
		c.change(a)
		err := a.steps(t.Context())
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && undone(a.w) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, undone(a.w), c.want)
		}
		if name == "mounted" && (a.w.Want.Mount != "/data" || a.w.Want.FS != "xfs") || strings.HasPrefix(name, "and") && (a.w.Want.Group != "g" || a.w.Want.Mount != "") {
			t.Errorf("%s: %+v", name, a.w.Want)
		}
	}
}

// Lines of mdadm.conf and fstab that are the array's: by its UUID in any writing, its device, a link, its
// filesystem's UUID or label.
func TestLinesOfAdopted(t *testing.T) {
	files := map[string]string{
		"etc/mdadm/mdadm.conf": "HOMEHOST x\nARRAY /dev/md9 UUID=1:2:3:4\nARRAY /dev/md0 uuid=" + strings.ToUpper(block.BareUUID(ourUUID)) + "\n# ARRAY UUID=" + ourUUID + "\nARRAY\n",
		"etc/fstab":            "# UUID=1 /old xfs\nUUID=1 /a xfs\nUUID=11 /b xfs\nLABEL=L /c xfs\nLABEL=LL /d xfs\n/dev/md0 /e xfs\n/dev/sdc /f xfs\nmd0\nmd0 /g xfs\n",
	}
	a := adopting(t, map[string]string{"blkid": "TYPE=xfs\nUUID=1\nLABEL=L\n"}, files)
	a.conf()
	a.fstab(t.Context(), a.top, []string{"/dev/md0", "md0"})
	var got []string
	for _, st := range a.w.Steps {
		l := st.Undo[0].Cut
		got = append(got, l.Text)
		if !l.Bare || l.Name != "t" || len(st.Undo) != 1 {
			t.Errorf("%+v", st)
		}
	}
	want := []string{"ARRAY /dev/md0 uuid=" + strings.ToUpper(block.BareUUID(ourUUID)), "UUID=1 /a xfs", "LABEL=L /c xfs", "/dev/md0 /e xfs", "md0 /g xfs"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	// Without blkid what the kernel knows counts; what is not known fits no line.
	for name, c := range map[string]struct {
		uuid, label string
		want        int
	}{"both": {"1", "L", 3}, "a UUID": {"1", "", 2}, "a label": {"", "L", 2}, "neither": {"", "", 1}} {
		a := adopting(t, nil, map[string]string{"etc/fstab": "UUID=1 /a xfs\nUUID= /b xfs\nLABEL=L /c xfs\nLABEL= /d xfs\n/dev/md0 /e xfs\n"})
		a.top.UUID, a.top.Label = c.uuid, c.label
		if a.fstab(t.Context(), a.top, nil); len(a.w.Steps) != c.want {
			t.Errorf("%s: %d lines, want %d", name, len(a.w.Steps), c.want)
		}
	}
	// A volume on it has no other names; a line between marks is cut with them, and systemd reads fstab again.
	a = adopting(t, nil, map[string]string{"etc/fstab": "md0 /g xfs\n"})
	if a.fstab(t.Context(), &block.Device{Name: "dm-0"}, []string{"md0"}); len(a.w.Steps) != 0 {
		t.Errorf("%+v", a.w.Steps)
	}
	marked := &records.Lines{File: "/etc/fstab", Name: "t", Text: "/dev/md0 /e xfs"}
	begin, end := marked.Marks()
	a = adopting(t, nil, map[string]string{"etc/fstab": begin + "\n" + marked.Text + "\n" + end + "\n"})
	a.Machine.Root = machine(nil, map[string]string{"run/systemd/system/x": ""}).Root
	a.fstab(t.Context(), a.top, nil)
	if undo := a.w.Steps[0].Undo; undo[0].Cut.Bare || len(undo) != 2 || undo[1].Run[1] != "daemon-reload" {
		t.Errorf("%+v", undo)
	}
}

// What is said of a condition that does not hold, and which actions leave the devices as they are known.
func TestWordsOfSteps(t *testing.T) {
	w := workOf(1, 1, records.Want{Using: "md"})
	for is, want := range map[records.CondKind]string{
		"array": "not all of its members are in it; see: mdadm --detail /x", "lines": "its lines are not in /x", "mounted": "/dev/md/t is not mounted on /x",
		"filesystem": "/dev/md/t does not carry the filesystem w", "owner": "/x does not have the owner and mode w", "synced": "its copies do not agree", "path": "no path /x",
	} {
		if got := w.Lacking(records.Cond{Is: is, Of: "/x", Want: "w"}); got != want {
			t.Errorf("%s: %q, want %q", is, got, want)
		}
	}
	for name, c := range map[string]struct {
		a    records.Action
		want bool
	}{
		"looks": {records.Action{Blank: []string{"@S0", "@S1"}}, true}, "one member": {records.Action{Run: []string{"pvcreate", "@S0"}}, true}, "two": {records.Action{Run: []string{"mdadm", "@S0", "@S1"}}, false},
		"the array": {records.Action{Run: []string{"mkfs", "@array"}}, false}, "one and the array": {records.Action{Run: []string{"x", "@array", "@S0"}}, true}, "neither": {records.Action{Run: []string{"x"}}, false}, "zeroes": {records.Action{Zero: []string{"@S0"}}, false},
	} {
		if got := c.a.Local(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Four lines of what a program says, without its name and the manual behind it.
	for said, want := range map[string]string{
		"a\nb\nc\nd\ne\n": "a; b; c; d", "x: a\n\nb\nUsage: x\nc\n": "a; b", "usage\n": "", "y: a\n": "y: a",
	} {
		failed := &sys.Failed{Argv: []string{"/sbin/x"}, Stderr: said}
		short, ok := errors.AsType[*sys.Failed](sys.Brief(failed))
		if !ok || short.Stderr != want || failed.Stderr != said {
			t.Errorf("%q: %q", said, short.Stderr)
		}
	}
	if err := errors.New("x"); !errors.Is(sys.Brief(err), err) || sys.Brief(nil) != nil {
		t.Error("other errors stay")
	}
	// A member that is not attached keeps nobody from the others; another error does.
	s := &state{}
	var done []string
	err := s.each([]string{"a", "gone", "b"}, func(ref string) error {
		if ref == "gone" {
			return errGone
		}
		done = append(done, ref)
		return nil
	})
	if !errors.Is(err, errGone) || !slices.Equal(done, []string{"a", "b"}) {
		t.Errorf("%v %q", err, done)
	}
	bad := errors.New("bad")
	if err := s.each([]string{"a", "b"}, func(string) error { done = append(done, "x"); return bad }); !errors.Is(err, bad) || len(done) != 3 {
		t.Errorf("%v %q", err, done)
	}
}

// What replaces a member is known by its serial number or volume ID, and the steps go when it is complete.
func TestReplacementsByHand(t *testing.T) {
	for v, want := range map[topology.DeclaredVolume]string{{Serial: "s", ID: "vol-1"}: "s", {ID: "vol-1"}: "vol1", {}: "", {Serial: "vol-2"}: "vol-2"} {
		if got := records.SerialOf(v); got != want {
			t.Errorf("%+v: %s", v, got)
		}
	}
	if with("lvm") != " under LVM" || with("md") != "" {
		t.Error("with")
	}
	for done, want := range map[records.StepState]int{records.StepDone: 1, records.StepBegun: 2} {
		s := site(t, machine(nil, nil))
		if err := os.MkdirAll(s.Journal, 0o700); err != nil {
			t.Fatal(err)
		}
		w := &records.Work{Array: "t", Steps: []records.Step{{State: records.StepDone}, {State: done}}, Replacing: &records.Replacement{From: 1}}
		if err := s.replaced(w); err != nil || len(w.Steps) != want || (w.Replacing == nil) != (want == 1) {
			t.Errorf("%v: %+v %v", done, w, err)
		}
	}
}

// Volumes that have grown by more than a mebibyte, and what would use it.
func TestGrownVolumesByHand(t *testing.T) {
	for name, c := range map[string]struct {
		want  records.Want
		grown units.Bytes
		note  string
	}{
		"a mebibyte":       {records.Want{Level: topology.RAID1, Using: "md"}, units.MiB, ""},
		"more":             {records.Want{Level: topology.RAID1, Using: "md"}, units.MiB + 1, "mdadm --grow /dev/md/t --size=max"},
		"LVM":              {records.Want{Level: topology.RAID0, Using: "lvm", Group: "g"}, units.GiB, "lvextend --extents +100%FREE /dev/g/t"},
		"RAID0":            {records.Want{Level: topology.RAID0, Using: "md"}, units.GiB, "md's RAID0 never uses it"},
		"one volume":       {records.Want{Level: topology.Single, FS: "ext4"}, units.GiB, "resize2fs /dev/sda"},
		"one, partitioned": {records.Want{Level: topology.Single, Partition: true}, units.GiB, "growpart /dev/sda 1"},
		"one that shrank":  {records.Want{Level: topology.Single}, 0, ""},
	} {
		p := &planner{Site: site(t, machine(nil, nil)), tree: &block.Tree{Devices: map[string]*block.Device{
			"sda": {Name: "sda", Path: "/dev/sda", Serial: "S0", Kind: block.Disk, Size: 10*units.GiB + c.grown},
		}}}
		p.enlarged(workOf(1, 10*units.GiB, c.want))
		got := strings.Join(p.notes, "|")
		for _, w := range p.grew {
			for _, st := range w.Steps {
				got += "|" + strings.Join(w.Commands(st.Do), "|")
			}
		}
		if !strings.Contains(got, c.note) || (got == "") != (c.note == "") {
			t.Errorf("%s: %q, want %q", name, got, c.note)
		}
	}
	for name, c := range map[string]struct {
		want    records.Want
		volumes int
		says    string
	}{
		"more":   {records.Want{Using: "md", Level: topology.RAID5}, 4, "it has 3 volumes and 4 are declared; plimsoll does not grow or shrink an array: by hand: mdadm --grow"},
		"others": {records.Want{Using: "md", Level: topology.RAID0}, 3, "its volumes are declared differently from when it was built; plimsoll does not grow or shrink an array: an md stripe"},
		"LVM":    {records.Want{Using: "lvm", Level: topology.RAID0}, 2, "an LVM stripe keeps its width"},
		"one":    {records.Want{Level: topology.Single}, 2, "one volume is not an array: declare a new one and copy"},
	} {
		if err := (&planner{}).grown(workOf(3, 1, c.want), c.volumes); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What has grown is shown as far as it is not used: the partitions, md's share of the members, the filesystem; a
// member that alone has grown is noted for as long as it is larger.
func TestWhatGrowthIsUsed(t *testing.T) {
	const old, now = 10 * units.GiB, 20 * units.GiB
	const grows = "shown below|mdadm --grow /dev/md/t --size=max"
	mirror := records.Want{Level: topology.RAID1, Using: "md", FS: "ext4", Mount: "/d", Data: 1}
	whole := records.Want{Level: topology.Single, FS: "ext4", Mount: "/d"}
	part := records.Want{Level: topology.Single, FS: "ext4", Mount: "/d", Partition: true}
	for name, c := range map[string]struct {
		want                      records.Want
		members                   []units.Bytes
		used, partition, usedByFS units.Bytes
		says                      string
	}{
		"nothing is used":       {mirror, []units.Bytes{now, now}, old, 0, old, grows + "|resize2fs /dev/md/t"},
		"md uses it":            {mirror, []units.Bytes{now, now}, now, 0, old, "shown below|resize2fs /dev/md/t"},
		"all is used":           {mirror, []units.Bytes{now, now}, now, 0, now, ""},
		"all but what is left":  {mirror, []units.Bytes{now, now}, now - leftOver, 0, now - 2*leftOver, ""},
		"one of two":            {mirror, []units.Bytes{now, old}, old, 0, old, "have not all grown"},
		"one volume":            {whole, []units.Bytes{now}, 0, 0, old, "shown below|resize2fs /dev/sda"},
		"one volume, used":      {whole, []units.Bytes{now}, 0, 0, now, ""},
		"a partition":           {part, []units.Bytes{now}, 0, old, old, "shown below|growpart /dev/sda 1|resize2fs /dev/sda1"},
		"a partition that grew": {part, []units.Bytes{now}, 0, now - 2*units.MiB, old, "shown below|resize2fs /dev/sda1"},
		"a partition, all used": {part, []units.Bytes{now}, 0, now - 2*units.MiB, now - 2*units.MiB, ""},
	} {
		w := workOf(len(c.members), old, c.want)
		w.Steps = []records.Step{{Check: []records.Cond{{Is: "array", Want: "aa:bb"}}}}
		tree := &block.Tree{Devices: map[string]*block.Device{}}
		top := "sda"
		for i, size := range c.members {
			disk := "sd" + string(rune('a'+i))
			tree.Devices[disk] = &block.Device{
				Name: disk, Path: "/dev/" + disk, Serial: fmt.Sprint("S", i), Kind: block.Disk, Size: size,
			}
		}
		switch {
		case c.want.Using == "md":
			top = "md0"
			tree.Devices[top] = &block.Device{Name: top, Path: "/dev/md0", Kind: block.MD, Size: c.used, MD: &block.Raid{
				UUID: "aa:bb", State: "clean", Used: c.used,
				Members: []block.Member{{Name: "sda", Offset: units.MiB}, {Name: "sdb"}},
			}}
		case c.want.Partition:
			top = "sda1"
			tree.Devices["sda"].Partitions = []string{top}
			tree.Devices[top] = &block.Device{
				Name: top, Path: "/dev/sda1", Kind: block.Partition, Parent: "sda", Start: units.MiB, Size: c.partition,
			}
		}
		tree.Mounts = []block.Mount{{Point: "/d", Device: top, FS: "ext4", Geometry: block.Geometry{Size: c.usedByFS}}}
		p := &planner{Site: site(t, machine(nil, nil)), tree: tree}
		p.enlarged(w)
		got := strings.Join(p.notes, "|")
		for _, w := range p.grew {
			for _, st := range w.Steps {
				got += "|" + strings.Join(w.Commands(st.Do), "|")
			}
		}
		_, steps, _ := strings.Cut(c.says, "|")
		_, shown, _ := strings.Cut(got, "|")
		says, _, _ := strings.Cut(c.says, "|")
		if !strings.Contains(got, says) || shown != steps || (got == "") != (c.says == "") {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

// The initramfs is renewed once, for arrays whose journal says that it is older, and the journal forgets it.
func TestOneRenewalForAll(t *testing.T) {
	for name, c := range map[string]struct {
		stale   []bool
		command []string
		runs    int
	}{"one of two": {[]bool{false, true}, []string{"renew"}, 1}, "both": {[]bool{true, true}, []string{"renew"}, 1}, "none": {[]bool{false, false}, []string{"renew"}, 0}, "no program": {[]bool{true}, nil, 0}} {
		s := site(t, machine(nil, nil))
		if err := os.MkdirAll(s.Journal, 0o700); err != nil {
			t.Fatal(err)
		}
		runs := 0
		s.Run = func(context.Context, io.Writer, ...string) error { runs++; return nil }
		var all []*records.Work
		for i, stale := range c.stale {
			all = append(all, &records.Work{Array: fmt.Sprint("a", i), InitramfsStale: stale})
		}
		err := s.renewInitramfs(t.Context(), all, c.command)
		if err != nil || runs != c.runs || slices.ContainsFunc(all, func(w *records.Work) bool { return w.InitramfsStale }) {
			t.Errorf("%s: %d %v", name, runs, err)
		}
		if kept, _ := os.ReadDir(s.Journal); (len(kept) > 0) != slices.Contains(c.stale, true) {
			t.Errorf("%s: %v", name, kept)
		}
	}
}

// What cannot be seen of an array is not adopted.
func TestAdoptionsRefused(t *testing.T) {
	const no, lvm = "fails with 5: no", "TYPE=LVM2_member\nUUID=1\n"
	const pvs, vgs, lvs = `{"report":[{"pv":[{"pv_name":"/dev/md0","vg_name":"g"}]}]}`, `{"report":[{"vg":[{"vg_name":"g"}]}]}`, `{"report":[{"lv":[{"lv_name":"v"}]}]}`
	for name, prints := range map[string]map[string]string{
		"its bytes":         {"blkid": no},
		"its group":         {"blkid": lvm, "pvs": no, "vgs": vgs, "lvs": lvs},
		"its group's parts": {"blkid": lvm, "pvs": pvs, "vgs": vgs, "lvs": no},
	} {
		if err := adopting(t, prints, nil).steps(t.Context()); err == nil {
			t.Errorf("%s cannot be seen, and nobody says so", name)
		}
	}
	// What is not md, has no UUID, or has a journal already is not adopted; one of the same name gets another.
	for name, c := range map[string]struct {
		device string
		files  map[string]string
		other  *records.Work // a journal
		want   string
	}{
		"no device":    {"/dev/md9", nil, nil, "there is no such device; see: cat /proc/mdstat"},
		"a disk":       {"/dev/sda", nil, nil, "it is a disk, and only md arrays are adopted"},
		"no UUID":      {"/dev/md0", map[string]string{"md/uuid": ""}, nil, "it has no UUID that could be read; run as root"},
		"its journal":  {"/dev/md0", nil, &records.Work{Array: "x", Steps: []records.Step{{Check: []records.Cond{{Is: "array", Want: ourUUID}}}}}, "plimsoll already has a journal for this array; plimsoll array teardown x"},
		"of its name":  {"/dev/md0", nil, &records.Work{Array: "md0", Steps: []records.Step{{}}}, "md0-adopted"},
		"of another's": {"/dev/md0", nil, &records.Work{Array: "md1", Steps: []records.Step{{}}}, "md0"},
	} {
		const md = "sys/class/block/md0/"
		files := map[string]string{
			md + "dev": "9:0\n", md + "md/level": "raid1\n", md + "md/uuid": ourUUID + "\n", md + "md/metadata_version": "1.2\n", md + "slaves/sda": "", md + "slaves/sdb": "",
		}
		for file, text := range c.files {
			files[md+file] = text
		}
		s := site(t, machine([]drive{{name: "sda", serial: "S0", gib: 10}, {name: "sdb", serial: "S1", gib: 10}}, files))
		s.Run = asMD(t, map[string]string{"blkid": "fails with 2: "}).Run
		if c.other != nil {
			c.other.Members = []records.Member{{Serial: "S9"}}
			if err := errors.Join(os.MkdirAll(s.Journal, 0o700), s.save(c.other)); err != nil {
				t.Fatal(err)
			}
		}
		w, err := s.Adopt(t.Context(), c.device, []string{"S0", "S1"})
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && w.Array != c.want {
			t.Errorf("%s: %+v %v, want %q", name, w, err, c.want)
		}
		if err == nil && (w.Steps[0].State != records.StepDone || !w.Started.Equal(s.Now()) || w.Want.Data != 1) {
			t.Errorf("%s: %+v", name, w)
		}
	}
}
