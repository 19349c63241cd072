package provision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// found are differences in words: what, wanted, had.
func found(all []Difference) string {
	var words []string
	for _, d := range all {
		words = append(words, fmt.Sprintf("%s: %s, %s", d.What, d.Want, d.Have))
	}
	return strings.Join(words, "|")
}

// comparing is a striped array of two drives with XFS on /data, all as it was declared, and what its
// machine's programs print and its files hold.
func comparing(t *testing.T, prints, files map[string]string) *comparison {
	t.Helper()
	s := asMD(t, prints)
	s.Machine.Root = machine(nil, files).Root
	s.w.Want = records.Want{
		Level: topology.RAID0, Using: "md", Data: 2, Chunk: 64 * units.KiB, FS: "xfs", Label: "L", Mount: "/data", Options: "noatime,nofail",
	}
	m := &s.tree.Mounts[1]
	m.Options = []string{"rw", "noatime", "logbufs=8"}
	m.Geometry = block.Geometry{Known: true, StripeUnit: 64 * units.KiB, StripeWide: 128 * units.KiB}
	md := s.tree.Devices["md0"]
	md.Links = []string{"/dev/md/t"}
	return &comparison{planner: &planner{Site: s.Site, tree: s.tree, decl: &topology.Declaration{}}, w: s.w, dev: md}
}

// What verify says of the filesystem, its geometry and its line in /etc/fstab. Two of 64 KiB with data are
// 128 KiB wide.
func TestFilesystemsThatDiffer(t *testing.T) {
	const tags, line = "TYPE=xfs\nLABEL=L\nUUID=1234\n", "UUID=1234 /data xfs defaults,nofail 0 2\n"
	for name, c := range map[string]struct {
		tags, fstab string
		change      func(*comparison)
		want        string
	}{
		"as declared":         {tags, line, nil, ""},
		"another type":        {"TYPE=ext4\nLABEL=L\nUUID=1234\n", line, nil, "filesystem: xfs, ext4"},
		"no type":             {"LABEL=L\nUUID=1234\n", line, nil, "filesystem: xfs, none"},
		"another label":       {"TYPE=xfs\nLABEL=M\nUUID=1234\n", line, nil, "label: L, M"},
		"no label":            {"TYPE=xfs\nUUID=1234\n", line, nil, "label: L, none"},
		"none is wanted":      {"TYPE=xfs\nUUID=1234\n", line, func(c *comparison) { c.w.Want.Label = "" }, ""},
		"another UUID":        {"TYPE=xfs\nLABEL=L\nUUID=5\n", "UUID=5 /data xfs nofail\n", nil, "filesystem UUID: 1234, 5"},
		"of no journal":       {"TYPE=xfs\nLABEL=L\nUUID=5\n", "UUID=5 /data xfs nofail\n", func(c *comparison) { c.w.Steps = nil }, ""},
		"half a stripe":       {tags, line, func(c *comparison) { c.tree.Mounts[1].StripeUnit /= 2 }, "stripe unit (su): 64 KiB, 32 KiB"},
		"one volume wide":     {tags, line, func(c *comparison) { c.tree.Mounts[1].StripeWide /= 2 }, "stripe width (su x sw): 128 KiB, 64 KiB"},
		"geometry not known":  {tags, line, func(c *comparison) { c.tree.Mounts[1].Geometry = block.Geometry{} }, ""},
		"no stripes":          {tags, line, func(c *comparison) { c.w.Want.Level, c.tree.Mounts[1].StripeUnit = topology.RAID1, 1 }, ""},
		"not mounted":         {tags, line, func(c *comparison) { c.tree.Mounts = c.tree.Mounts[:1] }, ""},
		"by its label":        {tags, "LABEL=L /data xfs nofail\n", nil, ""},
		"by a link":           {tags, "/dev/md/t /data xfs nofail\n", nil, ""},
		"by another's UUID":   {tags, "UUID=9 /data xfs nofail\n", nil, "fstab: UUID=1234, UUID=9"},
		"another device":      {tags, "/dev/sdc /data xfs nofail\n", nil, "fstab: UUID=1234, /dev/sdc"},
		"without nofail":      {tags, "UUID=1234 /data xfs defaults,xnofail\n", nil, "fstab options: including nofail, defaults,xnofail"},
		"with a slash":        {tags, "UUID=1234 /data/ xfs nofail\n", nil, ""},
		"three fields":        {tags, "UUID=1234 /data xfs\n", nil, "fstab: a line for /data, none"},
		"another mount":       {tags, "UUID=1234 /data2 xfs nofail\n", nil, "fstab: a line for /data, none"},
		"the first line":      {tags, line + "UUID=9 /data xfs defaults\n", nil, ""},
		"no mount is wanted":  {tags, "", func(c *comparison) { c.w.Want.Mount = "" }, ""},
		"of what is known":    {"", line, func(c *comparison) { c.dev.Signature, c.dev.Label, c.dev.UUID = "xfs", "L", "1234" }, ""},
		"known, another type": {"", line, func(c *comparison) { c.dev.Signature, c.dev.Label, c.dev.UUID = "ext4", "L", "1234" }, "filesystem: xfs, ext4"},
	} {
		prints := map[string]string{"blkid": c.tags}
		if c.tags == "" {
			prints = nil // not installed
		}
		comp := comparing(t, prints, map[string]string{"etc/fstab": c.fstab})
		if c.change != nil {
			c.change(comp)
		}
		if err := comp.filesystem(t.Context()); err != nil || found(comp.diffs) != c.want {
			t.Errorf("%s: %q %v, want %q", name, found(comp.diffs), err, c.want)
		}
	}
	comp := comparing(t, map[string]string{"blkid": "fails with 4: no"}, nil)
	if err := comp.filesystem(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "; run as root") {
		t.Error(err)
	}
}

// What verify says of mounts: where, of what, how, and who owns it. Options for mount and systemd are not
// the kernel's.
func TestMountsThatDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*comparison)
		want   string
	}{
		"as declared":      {func(*comparison) {}, ""},
		"not mounted":      {func(c *comparison) { c.tree.Mounts = c.tree.Mounts[:1] }, "mounted: on /data, no"},
		"another device":   {func(c *comparison) { c.tree.Mounts[1].Device, c.tree.Mounts[1].Source = "sdc", "/dev/sdc" }, "mounted on /data: /dev/md0, /dev/sdc"},
		"without a source": {func(c *comparison) { c.tree.Mounts[1].Device, c.tree.Mounts[1].Source = "sdc", "" }, "mounted on /data: /dev/md0, sdc"},
		"elsewhere, too": {func(c *comparison) {
			c.tree.Mounts = append(c.tree.Mounts, block.Mount{ID: 3, Under: 1, Point: "/x", Device: "md0", Root: "/"})
		}, "mounted: on /data only, on /x too"},
		"another option":   {func(c *comparison) { c.w.Want.Options = "discard" }, "mount options: including discard, rw,noatime,logbufs=8"},
		"another value":    {func(c *comparison) { c.w.Want.Options = "logbufs=4" }, "mount options: including logbufs=4, rw,noatime,logbufs=8"},
		"the value":        {func(c *comparison) { c.w.Want.Options = "logbufs=8" }, ""},
		"not the kernel's": {func(c *comparison) { c.w.Want.Options = "nofail,defaults,auto,_netdev,x-systemd.after=a" }, ""},
		"each that is not": {func(c *comparison) { c.w.Want.Options = "a,b" }, "mount options: including a, rw,noatime,logbufs=8|mount options: including b, rw,noatime,logbufs=8"},
		"its owner":        {func(c *comparison) { c.w.Want.Owner = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()) }, ""},
		"another owner":    {func(c *comparison) { c.w.Want.Owner = "12345" }, "owner and mode of /data: 12345, another"},
		"its mode":         {func(c *comparison) { c.w.Want.Mode = "0750" }, ""},
		"another mode":     {func(c *comparison) { c.w.Want.Mode = "750" }, ""},
		"a mode beside it": {func(c *comparison) { c.w.Want.Mode = "0751" }, "owner and mode of /data: 0751, another"},
		"a group by name":  {func(c *comparison) { c.w.Want.Owner = "postgres:postgres" }, "owner and mode of /data: postgres:postgres, another"},
	} {
		comp := comparing(t, nil, nil)
		data := filepath.Join(comp.Root, "data")
		if err := os.MkdirAll(data, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(data, 0o750); err != nil {
			t.Fatal(err)
		}
		c.change(comp)
		if err := comp.mounts(t.Context()); err != nil || found(comp.diffs) != c.want {
			t.Errorf("%s: %q %v, want %q", name, found(comp.diffs), err, c.want)
		}
	}
	// Whose a mount point is, is looked at only where that was asked for.
	comp := comparing(t, nil, nil)
	if err := comp.mounts(t.Context()); err != nil || found(comp.diffs) != "" {
		t.Errorf("%q %v", found(comp.diffs), err)
	}
	comp = comparing(t, nil, nil)
	comp.w.Want.Owner = "nobody-of-that-name"
	if err := comp.mounts(t.Context()); err == nil || !strings.Contains(err.Error(), "/etc/passwd knows no nobody-of-that-name") {
		t.Error(err)
	}
}

// What the next boot will use: the array's line in mdadm.conf, and an initramfs that is not older.
func TestBootsThatDiffer(t *testing.T) {
	const debian, other = "etc/mdadm/mdadm.conf", "etc/mdadm.conf"
	line := "ARRAY /dev/md/t metadata=1.2 UUID=" + ourUUID + "\n"
	old, now := time.Unix(1000, 0), time.Unix(1001, 0)
	for name, c := range map[string]struct {
		files map[string]string
		times map[string]time.Time
		want  string
	}{
		"as declared":        {map[string]string{debian: line}, nil, ""},
		"no line":            {map[string]string{debian: "HOMEHOST x\n"}, nil, "/etc/mdadm/mdadm.conf: an ARRAY line with UUID=" + block.BareUUID(ourUUID) + ", none"},
		"another array's":    {map[string]string{debian: "ARRAY /dev/md/t UUID=1:2:3:4\n"}, nil, "/etc/mdadm/mdadm.conf: an ARRAY line with UUID=" + block.BareUUID(ourUUID) + ", none"},
		"another name":       {map[string]string{debian: strings.Replace(line, "md/t", "md127", 1)}, nil, "/etc/mdadm/mdadm.conf: ARRAY /dev/md/t, ARRAY /dev/md127"},
		"a comment":          {map[string]string{debian: "# " + line}, nil, "/etc/mdadm/mdadm.conf: an ARRAY line with UUID=" + block.BareUUID(ourUUID) + ", none"},
		"another word":       {map[string]string{debian: "DEVICE " + line[6:]}, nil, "/etc/mdadm/mdadm.conf: an ARRAY line with UUID=" + block.BareUUID(ourUUID) + ", none"},
		"of Red Hat":         {map[string]string{other: line}, nil, ""},
		"an older initramfs": {map[string]string{debian: line, "boot/initrd.img-6.1": ""}, map[string]time.Time{"boot/initrd.img-6.1": old, debian: now}, "/boot/initrd.img-6.1: newer than /etc/mdadm/mdadm.conf, older: it does not know this array"},
		"of the same time":   {map[string]string{debian: line, "boot/initrd.img-6.1": ""}, map[string]time.Time{"boot/initrd.img-6.1": now, debian: now}, ""},
		"dracut's":           {map[string]string{debian: line, "boot/initramfs-6.1.img": ""}, map[string]time.Time{"boot/initramfs-6.1.img": old, debian: now}, "/boot/initramfs-6.1.img: newer than /etc/mdadm/mdadm.conf, older: it does not know this array"},
		"of another kernel":  {map[string]string{debian: line, "boot/initrd.img-5.10": ""}, map[string]time.Time{"boot/initrd.img-5.10": old, debian: now}, ""},
	} {
		comp := comparing(t, nil, nil)
		root := fstest.MapFS{"proc/sys/kernel/osrelease": {Data: []byte("6.1\n")}}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text), ModTime: c.times[file]}
		}
		comp.Machine.Root = root
		if comp.boot(); found(comp.diffs) != c.want {
			t.Errorf("%s: %q, want %q", name, found(comp.diffs), c.want)
		}
	}
}

// Lines of others between plimsoll's marks, in the files that the steps' undoing cuts them out of.
func TestLinesOfOthers(t *testing.T) {
	l := &records.Lines{File: "/etc/fstab", Name: "t", Text: "UUID=1 /d xfs"}
	begin, end := l.Marks()
	text := begin + "\n" + l.Text + "\nUUID=2 /e xfs\n" + end + "\n"
	comp := comparing(t, nil, map[string]string{"etc/fstab": text, "etc/mdadm.conf": text})
	comp.w.Steps = []records.Step{{Undo: []records.Action{{Run: []string{"x"}}, {Cut: l}}}}
	if comp.foreignLines(); found(comp.diffs) != "/etc/fstab, between plimsoll's marks: apply's own lines only, UUID=2 /e xfs" {
		t.Errorf("%q", found(comp.diffs))
	}
}

// The whole of verify: an array that is missing, and one without a difference but for what no program tells.
func TestVerifyOfNothing(t *testing.T) {
	s := site(t, machine(volumes(2, 10, 1), nil))
	decl, err := topology.LoadDeclaration("p.yaml", []byte("arrays:\n  - {name: data, role: data, level: raid0, chunk: 64KiB, volumes: 2 x gp3 10GiB}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.Verify(t.Context(), decl); err != nil || found(all) != "array: there, missing" || all[0].Array != "data" {
		t.Errorf("%+v %v", all, err)
	}
	if got := (Difference{"a", "chunk", "64 KiB", "4 KiB"}).String(); got != "chunk: 4 KiB, wanted 64 KiB" {
		t.Error(got)
	}
}

// A label in the second sector counts for LVM, over no metadata or that of the group alone.
func TestLabelsOfMembers(t *testing.T) {
	head := func(n int, label, text string) []byte {
		b := make([]byte, n)
		copy(b[512:], label)
		if len(b) > 4608 {
			copy(b[4608:], text)
		}
		return b
	}
	const whole = 4608 + 256
	for name, c := range map[string]struct {
		ref  string
		want records.Want
		head []byte
		ok   bool
	}{
		"no metadata":      {"@S0", records.Want{Using: "lvm", Group: "g"}, head(whole, "LABELONE", ""), true},
		"of the group":     {"@S0", records.Want{Using: "lvm", Group: "g"}, head(whole, "LABELONE", "g {"), true},
		"of another":       {"@S0", records.Want{Using: "lvm", Group: "g"}, head(whole, "LABELONE", "h {"), false},
		"called alike":     {"@S0", records.Want{Using: "lvm", Group: "g"}, head(whole, "LABELONE", "g2 {"), false},
		"no label":         {"@S0", records.Want{Using: "lvm", Group: "g"}, head(whole, "LABELTWO", ""), false},
		"cut short":        {"@S0", records.Want{Using: "lvm", Group: "g"}, head(whole-1, "LABELONE", ""), false},
		"md":               {"@S0", records.Want{Using: "md"}, head(whole, "LABELONE", ""), false},
		"the disk of one":  {"@S0", records.Want{Using: "lvm", Group: "g", Partition: true}, head(whole, "LABELONE", ""), false},
		"on its partition": {"@S0:1", records.Want{Using: "lvm", Group: "g", Partition: true}, head(whole, "LABELONE", ""), true},
	} {
		if got := (&records.Work{Want: c.want}).Label(c.ref, c.head); got != c.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	md := func(uuid string) *block.Device { return &block.Device{MD: &block.Raid{UUID: uuid}} }
	lv := func(group string) *block.Device { return &block.Device{LV: &block.Vol{VG: group}} }
	steps := []records.Step{{Check: []records.Cond{{Is: "array", Want: ourUUID}}}}
	for name, c := range map[string]struct {
		using string
		up    *block.Device
		want  bool
	}{
		"its array":          {"md", md(ourUUID), false},
		"without dashes":     {"md", md(block.BareUUID(ourUUID)), false},
		"another array":      {"md", md("1:2:3:4"), true},
		"an array not known": {"md", md(""), false},
		"a volume on md's":   {"md", lv("g"), true},
		"its group":          {"lvm", lv("g"), false},
		"another group":      {"lvm", lv("h"), true},
		"an array on LVM's":  {"lvm", md(ourUUID), true},
		"something else":     {"md", &block.Device{}, true},
	} {
		v := &survey{state: &state{w: &records.Work{Want: records.Want{Using: c.using, Group: "g"}, Steps: steps}}}
		if got := v.stranger(c.up); got != c.want {
			t.Errorf("%s: a stranger %v", name, got)
		}
	}
	for start, want := range map[units.Bytes]bool{units.MiB: false, 0: true, units.MiB + 512: true, 63 * 512: true} {
		if (&survey{}).strange(&block.Device{Start: start}) != want {
			t.Errorf("a partition from %d", start)
		}
	}
}

// surveyed is what a survey of the one drive of onFile meets.
func surveyed(v *survey) string {
	var all []string
	for _, o := range v.found {
		all = append(all, o.What)
	}
	return strings.Join(all, "|")
}

// A member's bytes: nothing, apply's own, or somebody's, with the signature where wipefs knows one.
func TestBytesOfAMember(t *testing.T) {
	const size = 16 * units.MiB
	label := append(append([]byte("LABELONE"), make([]byte, 4608-520)...), "g {"...)
	for name, c := range map[string]struct {
		at     int64
		bytes  []byte
		wipefs string
		change func(*state)
		want   string
	}{
		"nothing":       {0, nil, "", nil, ""},
		"somebody's":    {7, []byte("x"), "", nil, "the member /dev/fake0 (serial S0): byte 7 is not zero, and nothing there is plimsoll's"},
		"at its end":    {int64(size) - 1, []byte("x"), "", nil, fmt.Sprintf("the member /dev/fake0 (serial S0): byte %d is not zero, and nothing there is plimsoll's", int64(size)-1)},
		"in its middle": {int64(size) / 2, []byte("x"), "", nil, ""}, // which is read by apply only
		"a signature":   {7, []byte("x"), `{"signatures":[{"type":"xfs","offset":"0x0"}]}`, nil, "the member /dev/fake0 (serial S0): it carries xfs at 0x0, which apply did not put there"},
		"its own label": {512, label, "", nil, ""},
		"part of an array": {7, []byte("x"), "", func(s *state) {
			s.tree.Devices["fake0"].Holders = []string{"dm-0"}
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/dm-0", LV: &block.Vol{VG: "g"}}
		}, ""},
		"part of another": {7, []byte("x"), "", func(s *state) {
			s.tree.Devices["fake0"].Holders = []string{"dm-0"}
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/dm-0", LV: &block.Vol{VG: "h"}}
		}, "/dev/dm-0 is made of /dev/fake0, and is not apply's; take that down first"},
		"mounted": {0, nil, "", func(s *state) { s.tree.Mounts = []block.Mount{{Device: "fake0", Point: "/m"}} }, "/dev/fake0 is mounted on /m, and not by apply; unmount it first"},
		"swap":    {0, nil, "", func(s *state) { s.tree.Swaps = []string{"fake0"} }, "/dev/fake0 is used as swap; swapoff it first"},
		"mounted by apply": {0, nil, "", func(s *state) {
			s.w.Want = records.Want{}
			s.tree.Mounts = []block.Mount{{Device: "fake0", Point: "/m"}}
		}, ""},
		"its disk, by somebody": {0, nil, "", func(s *state) {
			s.w.Want = records.Want{Partition: true}
			s.tree.Mounts = []block.Mount{{Device: "fake0", Point: "/m"}}
		}, "/dev/fake0 is mounted on /m, and not by apply; unmount it first"},
	} {
		s, file := onFile(t, size, &records.Work{Want: records.Want{Using: "lvm", Group: "g"}})
		s.Run = func(_ context.Context, out io.Writer, argv ...string) error {
			if c.wipefs == "" {
				return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
			}
			_, err := io.WriteString(out, c.wipefs)
			return err
		}
		put(t, file, c.at, c.bytes)
		if c.change != nil {
			c.change(s)
		}
		v := &survey{state: s}
		d := s.tree.Devices["fake0"]
		if err := v.member(t.Context(), d, "@S0", d); err != nil || surveyed(v) != c.want {
			t.Errorf("%s: %q %v, want %q", name, surveyed(v), err, c.want)
		}
	}
	// A drive is looked at once something was written to it, and a drive that is not attached is passed over.
	for name, c := range map[string]struct {
		step records.Step
		want bool
	}{
		"written": {records.Step{State: records.StepDone, Undo: []records.Action{{Zero: []string{"@S0"}}}}, true}, "begun": {records.Step{State: records.StepBegun, Undo: []records.Action{{Zero: []string{"@S0"}}}}, true},
		"not yet": {records.Step{State: records.StepToDo, Undo: []records.Action{{Zero: []string{"@S0"}}}}, false}, "only looked at": {records.Step{State: records.StepDone}, false},
	} {
		s, file := onFile(t, size, &records.Work{Want: records.Want{Using: "lvm", Group: "g"}, Steps: []records.Step{c.step}})
		put(t, file, 7, []byte("x"))
		v := &survey{state: s}
		if err := v.volumes(t.Context()); err != nil || (len(v.found) == 1) != c.want {
			t.Errorf("%s: %q %v", name, surveyed(v), err)
		}
		s.w.Members = append(s.w.Members, records.Member{Serial: "gone"})
		if err := v.volumes(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Partitions that apply did not make, where it makes one of its own, and members that it did not add.
	s, _ := onFile(t, size, &records.Work{Want: records.Want{Using: "md", Partition: true}, Steps: []records.Step{
		{State: records.StepDone, Undo: []records.Action{{Zero: []string{"@S0"}}}, Check: []records.Cond{{Is: "array", Want: ourUUID}}},
	}})
	s.tree.Devices["fake0"].Partitions = []string{"fake0p2"}
	s.tree.Devices["fake0p2"] = &block.Device{Name: "fake0p2", Path: "/dev/fake0p2", Parent: "fake0", Kind: block.Partition, Start: 2 * units.MiB}
	s.tree.Devices["md0"] = &block.Device{Name: "md0", Path: "/dev/md0", MD: &block.Raid{UUID: ourUUID, Members: []block.Member{{Name: "fake0"}, {Name: "sdz"}}}}
	s.tree.Devices["md1"] = &block.Device{Name: "md1", Path: "/dev/md1", MD: &block.Raid{UUID: "1:2:3:4", Members: []block.Member{{Name: "sdy"}}}}
	v := &survey{state: s}
	if err := v.volumes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := surveyed(v); !strings.Contains(got, "/dev/sdz was added to /dev/md0 as a member") || strings.Contains(got, "sdy") ||
		!strings.Contains(got, "/dev/fake0p2 is a partition that apply did not make") || len(v.found) != 2 {
		t.Error(got)
	}
}

// What --destroy gives up is erased: 4 MiB at both ends of a drive, 2 MiB at both ends of its partitions, and 8 KiB
// from the page of each signature that is left, until none is, sixteen times at most.
func TestErasedSpans(t *testing.T) {
	const size, mib = 24 * units.MiB, 1 << 20
	const sig = 10*mib + 4096 + 100
	s, file := onFile(t, size, &records.Work{Want: records.Want{Using: "md"}})
	left := []string{fmt.Sprintf(`{"signatures":[{"type":"x","offset":"%d"}]}`, sig), ""}
	asked := 0
	s.Run = func(_ context.Context, out io.Writer, _ ...string) error {
		asked++
		_, err := io.WriteString(out, left[min(asked, len(left))-1])
		return err
	}
	s.tree.Devices["fake0"].Partitions = []string{"fake0p1", "fake0p9"} // of which one is not known
	s.tree.Devices["fake0p1"] = &block.Device{Name: "fake0p1", Start: 12 * units.MiB, Size: 5 * units.MiB}
	put(t, file, 0, bytes.Repeat([]byte{1}, int(size)))
	if err := s.erase(t.Context(), "@S0"); err != nil || asked != 2 {
		t.Fatal(err, asked)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	zero := []records.Span{
		{At: 0, N: 4 * mib}, {At: 10*mib + 4096, N: 8192}, {At: 12 * mib, N: 2 * mib}, {At: 15 * mib, N: 2 * mib}, {At: 20 * mib, N: 4 * mib},
	}
	want := bytes.Repeat([]byte{1}, int(size))
	for _, z := range zero {
		copy(want[z.At:z.At+z.N], make([]byte, z.N))
	}
	if at := slices.IndexFunc(zero, func(z records.Span) bool { return !bytes.Equal(data[z.At:z.At+z.N], want[z.At:z.At+z.N]) }); at >= 0 || !bytes.Equal(data, want) {
		t.Errorf("span %d was not erased, or more was", at)
	}
	left, asked = left[:1], 0
	if err := s.erase(t.Context(), "@S0"); err == nil || !strings.Contains(err.Error(), "its signatures come back") || asked != 16 {
		t.Error(err, asked)
	}
	put(t, file, 0, []byte("x"))
	s.tree.Mounts = []block.Mount{{Device: "fake0p1", Point: "/m"}}
	if err := s.erase(t.Context(), "@S0"); err == nil || !strings.Contains(err.Error(), "is mounted on /m; nothing on it was touched") {
		t.Error(err)
	}
	if data, _ := os.ReadFile(file); data[0] != 'x' {
		t.Error("it was touched")
	}
}

// Of a partitioned member the disk and its partition are looked at; of an adopted one the partition alone, for the table
// is others'. The copy of apply's own table at the end counts where the head is empty.
func TestBytesOfPartitionedMembers(t *testing.T) {
	const size = 16 * units.MiB
	table := []records.Step{{State: records.StepDone, Check: []records.Cond{{Is: "table", Of: "@S0", Want: ourUUID}}, Undo: []records.Action{{Zero: []string{"@S0"}}}}}
	for name, c := range map[string]struct {
		adopted    string
		disk, part int64 // a byte that is not zero; -1 for none
		copied     bool  // the table, at the end
		want       string
	}{
		"blank":                  {"", -1, -1, false, ""},
		"on the disk":            {"", 7, -1, false, "the member /dev/fake0 (serial S0): byte 7 is not zero, and nothing there is plimsoll's"},
		"on the partition":       {"", -1, 7, false, "the member /dev/fake0p1 (serial S0): byte 7 is not zero, and nothing there is plimsoll's"},
		"on both":                {"", 9, 7, false, "the member /dev/fake0 (serial S0): byte 9 is not zero, and nothing there is plimsoll's|the member /dev/fake0p1 (serial S0): byte 7 is not zero, and nothing there is plimsoll's"},
		"adopted, the disk":      {"/dev/md0", 7, -1, false, ""},
		"adopted, the partition": {"/dev/md0", 9, 7, false, "the member /dev/fake0p1 (serial S0): byte 7 is not zero, and nothing there is plimsoll's"},
		"a copy of the table":    {"", -1, -1, true, ""},
		"a copy, and more":       {"", 7, -1, true, "the member /dev/fake0 (serial S0): byte 7 is not zero, and nothing there is plimsoll's"},
	} {
		s, file := onFile(t, size, &records.Work{Want: records.Want{Using: "md", Partition: true}, Adopted: c.adopted, Steps: table})
		if err := errors.Join(os.WriteFile(file+"p1", nil, 0o600), os.Truncate(file+"p1", int64(size/2))); err != nil {
			t.Fatal(err)
		}
		s.tree.Devices["fake0"].Partitions = []string{"fake0p1"}
		s.tree.Devices["fake0p1"] = &block.Device{Name: "fake0p1", Path: "/dev/fake0p1", Parent: "fake0", Kind: block.Partition, Start: units.MiB, Size: size / 2}
		if c.disk >= 0 {
			put(t, file, c.disk, []byte("x"))
		}
		if c.part >= 0 {
			put(t, file+"p1", c.part, []byte("x"))
		}
		if c.copied {
			put(t, file, int64(size)-512, gpt(t))
		}
		v := &survey{state: s}
		if err := v.volumes(t.Context()); err != nil || surveyed(v) != c.want {
			t.Errorf("%s: %q %v, want %q", name, surveyed(v), err, c.want)
		}
	}
}
