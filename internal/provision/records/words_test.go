package records

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What an action is called for people: each kind in its own words, with the names of plan time.
func TestWordsOfActions(t *testing.T) {
	w := workOf(2, units.GiB, Want{Using: "md"})
	w.Replacing = &Replacement{Old: "S9", OldPath: "/dev/nvme9n1"}
	for want, all := range map[string][]Action{
		"mdadm --run /dev/sda": {{Run: []string{"mdadm", "--run", "@S0"}}},
		"look for signatures, users and non-zero bytes on /dev/sda /dev/sdb1":   {{Blank: []string{"@S0", "@S1:1"}}},
		"open exclusively, and erase every signature and both ends of /dev/sdb": {{Erase: []string{"@S1"}}},
		"zero the first and last 2 MiB of /dev/nvme9n1p1":                       {{Zero: []string{"@S9:1"}}},
		"mdadm --stop /dev/md/t":                                {{Stop: []string{"@S0"}}},
		"add to /etc/fstab: a line":                             {{Add: &Lines{File: "/etc/fstab", Text: "a line"}}},
		"remove from /etc/fstab the line: a line":               {{Cut: &Lines{File: "/etc/fstab", Text: "a\t line ", Bare: true}}},
		"remove from /etc/fstab the lines marked # plimsoll t:": {{Cut: &Lines{File: "/etc/fstab", Name: "t", Text: "a line"}}},
		"wait until the members of /dev/md/t agree":             {{Await: true}},
		"":                                     {{}},
		"pvcreate /dev/sda /dev/sdb":           {{Run: []string{"pvcreate", "@S0"}}, {Run: []string{"pvcreate", "@S1"}}},
		"pvcreate /dev/sda; pvremove /dev/sdb": {{Run: []string{"pvcreate", "@S0"}}, {Run: []string{"pvremove", "@S1"}}},
		"pvcreate -q /dev/sda; pvcreate /dev/sdb": {{Run: []string{"pvcreate", "-q", "@S0"}}, {Run: []string{"pvcreate", "@S1"}}},
		"mkdir /a; mkdir /b":                      {{Run: []string{"mkdir", "/a"}}, {Run: []string{"mkdir", "/b"}}},
		"sync; sync":                              {{Run: []string{"sync"}}, {Run: []string{"sync"}}},
		"sync":                                    {{Blank: []string{"@S0"}}, {Run: []string{"sync"}}},
		"mkfs.xfs -L 'a b' /dev/md/t":             {{Run: []string{"mkfs.xfs", "-L", "a b", "@array"}}},
	} {
		if got := strings.Join(w.Commands(all), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, c := range map[string]Cond{
		"not all of its members are in it; see: mdadm --detail /dev/md/t": {Is: "array", Of: "@array"},
		"its lines are not in /etc/fstab":                                 {Is: "lines", Of: "/etc/fstab"},
		"/dev/md/t is not mounted on /data":                               {Is: "mounted", Of: "/data"},
		"/dev/md/t does not carry the filesystem xfs u":                   {Is: "filesystem", Want: "xfs u"},
		"/data does not have the owner and mode postgres 700":             {Is: "owner", Of: "/data", Want: "postgres 700"},
		"its copies do not agree":                                         {Is: "synced"},
		"no pv /dev/sda":                                                  {Is: "pv", Of: "@S0"},
	} {
		if got := w.Lacking(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The device that people type is that of the level above: adopted, md, LVM, a partition or a disk.
func TestTops(t *testing.T) {
	for want, w := range map[string]*Work{
		"/dev/md127":     {Array: "t", Adopted: "/dev/md127", Want: Want{Using: "md"}},
		"/dev/md/t":      {Array: "t", Want: Want{Using: "md"}},
		"/dev/g/t":       {Array: "t", Want: Want{Using: "lvm", Group: "g"}},
		"/dev/sda":       {Array: "t", Members: []Member{{Path: "/dev/sda"}}},
		"/dev/nvme0n1p1": {Array: "t", Members: []Member{{Path: "/dev/nvme0n1"}}, Want: Want{Partition: true}},
	} {
		if got := w.Top(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What a journal says of itself: identifiers from the checks of its steps, and what was begun.
func TestWhatAWorkSays(t *testing.T) {
	w := &Work{Want: Want{Using: "md"}, Steps: []Step{
		{Check: []Cond{{Is: "table", Of: "@S0", Want: "guid"}}},
		{Check: []Cond{{Is: "array", Of: "/dev/md/t", Want: "uuid"}}, State: StepDone},
		{Check: []Cond{{Is: "filesystem", Want: "xfs fsid"}}, State: StepBegun},
		{Check: []Cond{{Is: "path", Of: "/data"}, {Is: "mounted", Of: "/data"}}},
		{Check: []Cond{{Is: "mountedfrom", Of: "/wal"}}},
	}}
	if w.UUID() != "uuid" || w.FilesystemUUID() != "fsid" || w.TableGUID("@S0") != "guid" || w.TableGUID("@S1") != "" {
		t.Errorf("%q %q %q", w.UUID(), w.FilesystemUUID(), w.TableGUID("@S0"))
	}
	if empty := (&Work{}); empty.UUID() != "" || empty.FilesystemUUID() != "" {
		t.Error("an identifier of nothing")
	}
	for check, want := range map[CondKind]bool{"array": true, "filesystem": true, "table": false, "mounted": false, "lines": false} {
		if w.Did(check) != want {
			t.Errorf("did %s: %v", check, !want)
		}
	}
	for point, want := range map[string]bool{"/data": true, "/wal": true, "/": false} {
		if w.Mounts(point) != want {
			t.Errorf("mounts %s: %v", point, !want)
		}
	}
	undo := []Action{{Await: true}}
	for name, c := range map[string]struct {
		w    Work
		want bool
	}{
		"nothing begun":             {Work{Steps: []Step{{Undo: undo}}}, true},
		"begun, nothing to undo":    {Work{Steps: []Step{{State: StepBegun}}}, true},
		"begun, something to undo":  {Work{Steps: []Step{{State: StepBegun, Undo: undo}}}, false},
		"done, something to undo":   {Work{Steps: []Step{{}, {State: StepDone, Undo: undo}}}, false},
		"a teardown that has begun": {Work{Undoing: true, Steps: []Step{{Undo: undo}}}, false},
	} {
		if c.w.Untouched() != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	for want, all := range map[bool][]Action{
		true: {{Blank: []string{"@A", "@B"}}, {Run: []string{"sgdisk", "@A"}}},
		false: {
			{Run: []string{"mdadm", "@array"}},
			{Run: []string{"mdadm", "@array", "@A", "@B"}},
			{Run: []string{"sync"}},
			{},
			{Zero: []string{"@A"}},
		},
	} {
		for _, a := range all {
			if a.Local() != want {
				t.Errorf("%+v: %v", a, !want)
			}
		}
	}
	if Identity(&block.Device{Serial: "s", WWN: "w"}) != "s" || Identity(&block.Device{WWN: "w"}) != "w" {
		t.Error("a volume is found by its serial number, else by its WWN")
	}
}

// The mark that is looked for is that of the lowest level: a table below all, then md, LVM, a filesystem.
func TestMarkOfALevel(t *testing.T) {
	id := uuidBytes(t)
	md := make([]byte, 8192)
	copy(md[4096:], append([]byte{0xfc, 0x4e, 0x2b, 0xa9}, append(make([]byte, 12), id...)...))
	table := make([]byte, 8192)
	copy(table[512:], gpt(t))
	lvm := make([]byte, 8192)
	copy(lvm[4096:], append([]byte{1, 2, 3, 4}, []byte(" LVM2 x[5A%r0N*>")...))
	copy(lvm[4608:], "g {")
	xfs := make([]byte, 8192)
	copy(xfs, append([]byte("XFSB"), append(make([]byte, 28), id...)...))
	checks := []Step{{Check: []Cond{
		{Is: "table", Of: "@S0", Want: ourUUID}, {Is: "array", Want: ourUUID}, {Is: "filesystem", Want: "xfs " + ourUUID},
	}}}
	for name, c := range map[string]struct {
		want Want
		ref  string
		head []byte
		ok   bool
	}{
		"md":                         {Want{Using: "md"}, "@S0", md, true},
		"md on a partition":          {Want{Using: "md", Partition: true}, "@S0:1", md, true},
		"md where a table should be": {Want{Using: "md", Partition: true}, "@S0", md, false},
		"the table of a disk":        {Want{Using: "md", Partition: true}, "@S0", table, true},
		"a table where md should be": {Want{Using: "md"}, "@S0", table, false},
		"lvm":                        {Want{Using: "lvm", Group: "g"}, "@S0", lvm, true},
		"lvm of another group":       {Want{Using: "lvm", Group: "h"}, "@S0", lvm, false},
		"a filesystem":               {Want{}, "@S0", xfs, true},
		"a filesystem under md":      {Want{Using: "md"}, "@S0", xfs, false},
	} {
		w := &Work{Want: c.want, Steps: checks}
		if where, ok := w.Mark(c.ref, c.head); ok != c.ok {
			t.Errorf("%s: %v %v", name, where, ok)
		}
	}
	label := func(text string) []byte {
		head := make([]byte, 8192)
		copy(head[512:], "LABELONE")
		copy(head[4608:], text)
		return head
	}
	for name, c := range map[string]struct {
		want Want
		ref  string
		head []byte
		ok   bool
	}{
		"no metadata yet":       {Want{Using: "lvm", Group: "g"}, "@S0", label(""), true},
		"the group's":           {Want{Using: "lvm", Group: "g"}, "@S0", label("g {"), true},
		"another group's":       {Want{Using: "lvm", Group: "g"}, "@S0", label("h {"), false},
		"of a partition":        {Want{Using: "lvm", Group: "g", Partition: true}, "@S0:1", label(""), true},
		"of the disk around it": {Want{Using: "lvm", Group: "g", Partition: true}, "@S0", label(""), false},
		"under md":              {Want{Using: "md", Group: "g"}, "@S0", label(""), false},
		"no label":              {Want{Using: "lvm", Group: "g"}, "@S0", make([]byte, 8192), false},
		"a short head":          {Want{Using: "lvm", Group: "g"}, "@S0", label("")[:4700], false},
	} {
		if got := (&Work{Want: c.want}).Label(c.ref, c.head); got != c.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Where a member gives way to another one, the record names both, and its steps are those of the new one.
func TestReplacedByHand(t *testing.T) {
	w := workOf(2, units.GiB, Want{Using: "md", Volumes: "S0, S1", Level: topology.RAID1})
	w.Steps = []Step{{Check: []Cond{{Is: "array", Of: "@array", Want: ourUUID}}, Do: []Action{{Run: []string{"mdadm", "@S0", "@S1"}}}}}
	next := w.Replace(func() string { return "guid" }, "S1", &block.Device{Serial: "N", Path: "/dev/sdn", Size: 2 * units.GiB, Model: "m"}, "N, S0")
	if r := next.Replacing; r == nil || *r != (Replacement{Old: "S1", New: "N", OldPath: "/dev/sdb", From: 1}) {
		t.Fatalf("%+v", next.Replacing)
	}
	if m := next.Members[1]; m != (Member{Serial: "N", Size: 2 * units.GiB, Path: "/dev/sdn", Model: "m"}) || w.Members[1].Serial != "S1" || next.Want.Volumes != "N, S0" {
		t.Errorf("%+v, and before %+v", m, w.Members[1])
	}
	var titles []string
	for _, st := range next.Steps[1:] {
		titles = append(titles, st.Title)
	}
	want := []string{
		"check that /dev/sdn is blank", "add it to /dev/md/t", "rebuild /dev/md/t onto it; the array may be used meanwhile",
		"take the volume S1 out of it, where it is still attached",
	}
	if !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
	if run := next.Steps[0].Do[0].Run; run[1] != "@S0" || run[2] != "@N" {
		t.Errorf("%q", run)
	}
	last := next.Steps[4].Do
	if last[0].If.Of != "@S1" || last[1].Zero[0] != "@S1" || last[1].If.Want != ourUUID {
		t.Errorf("%+v", last)
	}
	w.Want.Partition = true
	if n := len(w.Replace(func() string { return "guid" }, "S1", &block.Device{Serial: "N"}, "").Steps); n != 6 {
		t.Errorf("%d steps with a partition", n)
	}
}

// Two declarations that want the same differ in nothing, and one that does not says in what.
func TestDifferences(t *testing.T) {
	a := Want{Level: topology.RAID0, Data: 2, Chunk: 64 * units.KiB, FS: "xfs", Mount: "/data"}
	if d := Differ(a, a); d != "" {
		t.Error(d)
	}
	b := a
	b.Chunk = 128 * units.KiB
	if d := Differ(a, b); d == "" {
		t.Error("another chunk makes no difference")
	}
	broken := &BrokenJournal{Array: "t", File: "/j/t.json", Err: errors.ErrUnsupported}
	if !errors.Is(broken, errors.ErrUnsupported) || !strings.Contains(broken.Error(), "array t: its journal cannot be read (unsupported operation)") ||
		!strings.Contains(broken.Error(), "put /j/t.json back from a backup") {
		t.Error(broken)
	}
	refused := &Obstructed{Obstacles: []Obstacle{{Array: "t", What: "a is in use"}, {Array: "t", What: "b", Name: "/dev/b", Serial: "S"}, {Array: "u", What: "c", Name: "g"}}}
	if got := refused.Error(); got != "nothing was touched, because there is more than apply made: t: a is in use; t: b; if it may be lost: "+
		"--destroy /dev/b --serial S; u: c; if it may be lost: --destroy g" {
		t.Error(got)
	}
}

// Volumes that --destroy names are erased before all are looked at; a run without it erases nothing.
func TestBlankFirst(t *testing.T) {
	w := workOf(2, units.GiB, Want{})
	w.Blank()
	if len(w.Steps) != 1 || !slices.Equal(w.Steps[0].Do[0].Blank, []string{"@S0", "@S1"}) || !strings.HasPrefix(w.Steps[0].Title, "check that 2 volumes are blank") {
		t.Errorf("%+v", w.Steps)
	}
	w = workOf(2, units.GiB, Want{})
	w.Members[1].Destroy = true
	w.Blank()
	if len(w.Steps) != 2 || !slices.Equal(w.Steps[0].Do[0].Stop, []string{"@S1"}) || !slices.Equal(w.Steps[0].Do[1].Erase, []string{"@S1"}) ||
		!slices.Equal(w.Steps[0].Touches, []string{"/dev/sdb"}) || w.Steps[0].Title != "erase 1 volume, as --destroy says: all data on it is lost" {
		t.Errorf("%+v", w.Steps)
	}
}
