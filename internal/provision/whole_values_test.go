package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// running is a machine on which md runs a RAID1 of S0 and S1, called t, that is named in mdadm.conf.
func running(more map[string]string) *sys.Machine {
	const md = "sys/class/block/md0/"
	files := map[string]string{
		md + "dev": "9:0\n", md + "md/level": "raid1\n", md + "md/array_state": "clean\n", md + "md/uuid": ourUUID + "\n", md + "slaves/sda": "", md + "slaves/sdb": "",
		md + "md/dev-sda/state": "in_sync\n", md + "md/dev-sdb/state": "in_sync\n", "run/udev/data/b9:0": "E:MD_NAME=any:t\nE:MD_UUID=" + ourUUID + "\n",
		"etc/mdadm/mdadm.conf": "ARRAY /dev/md/t metadata=1.2 UUID=" + ourUUID + "\n",
	}
	maps.Copy(files, more)
	return machine([]drive{{name: "sda", serial: "S0", gib: 10}, {name: "sdb", serial: "S1", gib: 10}, {name: "sdc", serial: "S2", gib: 10}}, files)
}

const declared = "arrays:\n  - {name: t, level: raid1, volumes: [{serial: S0}, {serial: S1}]}\n"

// keep writes a journal of an array whose steps are done.
func keep(t *testing.T, s *Site, w *records.Work) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(s.Journal, 0o700), s.save(w)); err != nil {
		t.Fatal(err)
	}
}

// The whole of verify: arrays that stand as they are declared, by name or by their journal, and what differs.
func TestVerifiedArrays(t *testing.T) {
	journal := func(array string, serials ...string) *records.Work {
		w := &records.Work{Array: array, Steps: []records.Step{{State: records.StepDone}}}
		for _, s := range serials {
			w.Members = append(w.Members, records.Member{Serial: s})
		}
		return w
	}
	for name, c := range map[string]struct {
		more map[string]string
		kept *records.Work
		want string
	}{
		"as declared":         {nil, nil, ""},
		"as its journal has":  {nil, journal("t", "S0", "S1"), ""},
		"another in journal":  {nil, journal("t", "S0", "S9"), "volume S9: a member, not a member"},
		"another's journal":   {nil, journal("u", "S8", "S9"), ""},
		"another level":       {map[string]string{"sys/class/block/md0/md/level": "raid0\n"}, nil, "level: raid1, raid0"},
		"not in mdadm.conf":   {map[string]string{"etc/mdadm/mdadm.conf": ""}, nil, "/etc/mdadm/mdadm.conf: an ARRAY line with UUID=" + ourUUID + ", none"},
		"called another name": {map[string]string{"run/udev/data/b9:0": "E:MD_NAME=any:u\n"}, nil, "array: there, missing"},
	} {
		s := site(t, running(c.more))
		if c.kept != nil {
			keep(t, s, c.kept)
		}
		decl, err := topology.LoadDeclaration("p.yaml", []byte(declared))
		if err != nil {
			t.Fatal(err)
		}
		if all, err := s.Verify(t.Context(), decl); err != nil || found(all) != c.want {
			t.Errorf("%s: %q %v, want %q", name, found(all), err, c.want)
		}
	}
}

// What a plan makes of an array that is there before it, of one whose teardown has begun, and of nothing.
func TestPlansOfWhatIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		more map[string]string
		kept *records.Work
		err  string
	}{
		"as declared":      {declared, nil, nil, ""},
		"another level":    {declared, map[string]string{"sys/class/block/md0/md/level": "raid0\n"}, nil, "/dev/md0 exists already and is not as declared: level: raid0, wanted raid1"},
		"half taken down":  {declared, nil, &records.Work{Array: "t", Undoing: true, Members: []records.Member{{Serial: "S0"}}, Steps: []records.Step{{}}}, "its teardown has begun; finish that first: plimsoll array teardown t"},
		"another's, half":  {declared, nil, &records.Work{Array: "u", Undoing: true, Members: []records.Member{{Serial: "S9"}}, Steps: []records.Step{{}}}, ""},
		"no arrays":        {"arrays: []\n", nil, nil, "no arrays are declared: there is nothing to build"},
		"what cannot be":   {"arrays:\n  - {name: t, level: linear, volumes: [{serial: S0}, {serial: S1}]}\n", nil, nil, "plimsoll does not build it"},
		"its own journal":  {declared, nil, &records.Work{Array: "t", Want: records.Want{Level: "raid1", Copies: 2, Data: 1, Using: "md", Volumes: "S0, S1"}, Members: []records.Member{{Serial: "S0"}, {Serial: "S1"}}, Steps: []records.Step{{State: records.StepDone, Undo: []records.Action{{Zero: []string{"@S0"}}}}, {}}}, ""},
		"untouched so far": {declared, nil, &records.Work{Array: "t", Members: []records.Member{{Serial: "S9"}}, Steps: []records.Step{{State: records.StepDone}, {}}}, ""},
	} {
		s := site(t, running(c.more))
		if c.kept != nil {
			keep(t, s, c.kept)
		}
		p, err := plan(t, s, c.yaml, nil)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if err != nil {
			continue
		}
		w := p.Arrays[0]
		its := name == "its own journal"
		if w.Found == its || len(w.Members) != 2 || w.Members[0].Serial != "S0" || !its && (w.Members[0].Path != "/dev/sda" || w.Members[0].Size != 10*units.GiB) || its && p.Steps() != 1 {
			t.Errorf("%s: %+v", name, w)
		}
	}
	// An array is neither planned nor imagined of nothing; where no initramfs can be renewed, that is noted.
	s := site(t, machine(volumes(2, 50, 1), nil))
	if p, err := s.Imagine(&topology.Declaration{Name: "p.yaml"}); err == nil || err.Error() != "p.yaml: no arrays are declared: there is nothing to build" {
		t.Errorf("%+v %v", p, err)
	}
	for yaml, want := range map[string]bool{declared: false, "arrays:\n  - {name: t, level: raid1, volumes: 2 x gp3 10GiB}\n": true} {
		decl, err := topology.LoadDeclaration("p.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Imagine(decl)
		if err != nil || strings.Contains(strings.Join(p.Notes, "|"), "the serial number of an EBS volume") != want {
			t.Errorf("%s: %+v %v", yaml, p, err)
		}
	}
	const yaml = "arrays:\n  - {name: a, level: raid0, volumes: 2 x 50GiB}\n"
	delete(s.Machine.Root.(fstest.MapFS), "usr/sbin/update-initramfs")
	if p, err := plan(t, s, yaml, nil); err != nil || p.Initramfs != nil || !strings.Contains(strings.Join(p.Notes, "|"), "neither update-initramfs nor dracut is installed") {
		t.Errorf("%+v %v", p, err)
	}
}

// A volume that takes a member's place: it must be as large, blank, and nobody else's.
func TestMembersThatAreReplaced(t *testing.T) {
	const yaml = "arrays:\n  - {name: a, level: raid1, volumes: [{serial: vol0a01}, {serial: vol0a02}]}\n"
	with := func(volume string) string { return strings.Replace(yaml, "{serial: vol0a02}", volume, 1) }
	small := append(volumes(2, 50, 1), drive{name: "nvme3n1", serial: "vol0a03", gib: 49}, drive{name: "nvme4n1", serial: "vol0a04", gib: 51, sig: "xfs"})
	for name, c := range map[string]struct {
		yaml   string
		drives []drive
		kept   *records.Work
		err    string
	}{
		"another":            {with("{serial: vol0a03}"), nil, nil, ""},
		"by its link":        {with("{path: /dev/disk/by-id/nvme-vol0a03}"), nil, nil, ""},
		"the same, by link":  {with("{path: /dev/disk/by-id/nvme-vol0a02}"), nil, nil, ""},
		"the same, turned":   {strings.Replace(yaml, "{serial: vol0a01}, {serial: vol0a02}", "{id: vol-0a02}, {path: /dev/disk/by-id/nvme-vol0a01}", 1), nil, nil, ""},
		"smaller":            {with("{serial: vol0a03}"), small, nil, "/dev/nvme3n1 (serial vol0a03) has 49 GiB, less than the 50 GiB of the member that it is to replace"},
		"not blank":          {with("{serial: vol0a04}"), small, nil, "/dev/nvme4n1 (serial vol0a04) is not blank: it carries xfs"},
		"another array's":    {with("{serial: vol0a03}"), nil, &records.Work{Array: "b", Members: []records.Member{{Serial: "vol0a03"}}, Steps: []records.Step{{State: records.StepDone, Undo: []records.Action{{}}}}}, "/dev/nvme3n1 (serial vol0a03) is also in array b"},
		"another's is other": {with("{serial: vol0a03}"), nil, &records.Work{Array: "b", Members: []records.Member{{Serial: "vol0a04"}}, Steps: []records.Step{{State: records.StepDone, Undo: []records.Action{{}}}}}, ""},
		"by its kernel name": {with("{path: /dev/nvme3n1}"), nil, nil, "kernel names change between boots"},
	} {
		s := made(t, 2, yaml)
		if c.drives != nil {
			s.Machine = machine(c.drives, nil)
		}
		if c.kept != nil {
			keep(t, s, c.kept)
		}
		p, err := plan(t, s, c.yaml, nil)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if err != nil {
			continue
		}
		w := p.Arrays[0]
		if strings.HasPrefix(name, "the same") { // is in place, and nothing is to be done
			if w.Replacing != nil || p.Steps() != 0 {
				t.Errorf("%s: %+v, %d steps", name, w.Replacing, p.Steps())
			}
			continue
		}
		if w.Replacing == nil || w.Replacing.New != "vol0a03" || w.Replacing.Old != "vol0a02" {
			t.Errorf("%s: %+v", name, w.Replacing)
		}
	}
}

// A teardown in its parts: what is not there, what others have put in the way and was given up, and where it stops.
func TestTeardownInParts(t *testing.T) {
	s, ran := ofRoot(t)
	if err := os.Remove(s.Journal); err != nil {
		t.Fatal(err)
	}
	if err := s.Teardown(t.Context(), nil, records.GiveUp{}); err != nil || len(*ran) != 0 {
		t.Errorf("nothing was made: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(s.Journal)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty directory is left: %v", err)
	}
	if err := s.Teardown(t.Context(), []string{"a"}, records.GiveUp{}); err == nil || !strings.Contains(err.Error(), "plimsoll has built no array of that name here") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(s.Journal, "bad.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Made("bad"); err == nil || !strings.Contains(err.Error(), "array bad: its journal cannot be read") {
		t.Error(err)
	}
	if broken := new(records.BrokenJournal); !errors.As(fmt.Errorf("x: %w", &records.BrokenJournal{Err: io.ErrNoProgress}), &broken) || !errors.Is(broken, io.ErrNoProgress) {
		t.Error("the cause of a broken journal")
	}
	// Of what was given up, commands run that the steps do not take along; from the first one on the teardown has begun.
	for name, c := range map[string]struct {
		given []records.Obstacle
		ran   string
		begun bool
		err   string
	}{
		"nothing":        {nil, "", false, ""},
		"a member":       {[]records.Obstacle{{Name: "/dev/sda", Serial: "S0"}}, "", false, ""},
		"a volume":       {[]records.Obstacle{{Name: "/dev/g/x", Command: []string{"true", "g/x"}}, {Name: "/etc/fstab"}}, "true g/x", true, ""},
		"one that fails": {[]records.Obstacle{{Name: "/dev/g/x", Command: []string{"umount", "g/x"}}}, "umount g/x", true, "array t: --destroy /dev/g/x: "},
	} {
		s, ran := ofRoot(t)
		var said []string
		s.Emit = func(e Event) { said = append(said, string(e.What)+" "+e.Title) }
		w := workOf(2, 10*units.GiB, records.Want{})
		w.Steps, w.Given = []records.Step{{}}, c.given
		err := s.discard(t.Context(), w)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) || strings.Join(*ran, "|") != c.ran || w.Undoing != c.begun {
			t.Errorf("%s: %v, ran %q, begun %v", name, err, *ran, w.Undoing)
		}
		if c.begun != (len(said) == 1 && said[0] == "undoing destroy /dev/g/x, as --destroy says") {
			t.Errorf("%s: %q", name, said)
		}
	}
	// Steps that are to do are passed over, the newest first; Ctrl-C stops between two.
	ctx, cancel := context.WithCancel(t.Context())
	s, ran = ofRoot(t)
	undo := func(dir string) []records.Action { return []records.Action{{Run: []string{"rmdir", dir}}} }
	w := workOf(2, 10*units.GiB, records.Want{})
	w.Steps = []records.Step{{State: records.StepDone, Undo: undo("/a")}, {State: records.StepBegun, Undo: undo("/b")}, {Undo: undo("/c")}}
	for _, dir := range []string{"/a", "/b", "/c"} {
		if err := os.Mkdir(s.at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Emit = func(e Event) {
		if e.What == Undone {
			cancel()
		}
	}
	err := s.teardownArray(ctx, w)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "array t: stopped before step 1 of 3 was undone: ") || strings.Join(*ran, "|") != "rmdir /b" {
		t.Errorf("%v, ran %q", err, *ran)
	}
	if err := s.teardownArray(t.Context(), w); err != nil || strings.Join(*ran, "|") != "rmdir /b|rmdir /a" {
		t.Errorf("%v, ran %q", err, *ran)
	}
}

// Devices by their names, members on partitions, and arrays of others on a machine.
func TestDevicesOfAnArray(t *testing.T) {
	s := asMD(t, nil)
	if d, err := s.device("/dev/sdc"); err != nil || d.Name != "sdc" {
		t.Errorf("%v %v", d, err)
	}
	if d, err := s.device("/dev/sdz"); d != nil || !errors.Is(err, errGone) {
		t.Errorf("%v %v", d, err)
	}
	// One volume with a partition: its device is the partition from 1 MiB.
	s.w.Want.Using, s.w.Want.Partition = "", true
	if _, err := s.top(); !errors.Is(err, errGone) {
		t.Error(err)
	}
	s.tree.Devices["sda"].Partitions = []string{"sda9", "sda2", "sda1"}
	s.tree.Devices["sda1"] = &block.Device{Name: "sda1", Kind: block.Partition, Start: units.MiB}
	s.tree.Devices["sda2"] = &block.Device{Name: "sda2", Kind: block.Partition, Start: 2 * units.MiB}
	if d, err := s.top(); err != nil || d.Name != "sda1" {
		t.Errorf("%v %v", d, err)
	}
	// While a member on a partition is replaced, its partition is what must be in sync.
	s = asMD(t, nil)
	s.w.Want.Partition, s.w.Replacing = true, &records.Replacement{Old: "S2", New: "S1"}
	if ok, err := s.synced(t.Context()); ok || err != nil {
		t.Errorf("it has no partition yet: %v %v", ok, err)
	}
	s.tree.Devices["sdb"].Partitions = []string{"sdb1"}
	s.tree.Devices["sdb1"] = &block.Device{Name: "sdb1", Kind: block.Partition, Start: units.MiB}
	s.tree.Devices["md0"].MD.Members[1].Name = "sdb1"
	if ok, err := s.synced(t.Context()); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	// mdadm that fails, or says nothing, has seen no superblock.
	for name, text := range map[string]string{"it fails": "fails with 1: no", "nothing": "", "another line": "X_MD_UUID=0A:1B\n"} {
		if got := asMD(t, map[string]string{"mdadm": text}).mdSuperblock(t.Context(), "/dev/sda"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	// Only arrays of members alone are stopped, and none that is clear.
	var stopped []string
	s = asMD(t, nil)
	s.tree.Devices["md1"] = &block.Device{Name: "md1", MD: &block.Raid{State: "inactive", Members: []block.Member{{Name: "sda"}}}}
	s.tree.Devices["md2"] = &block.Device{Name: "md2", MD: &block.Raid{State: "clear", Members: []block.Member{{Name: "sda"}}}}
	s.tree.Devices["md3"] = &block.Device{Name: "md3", Slaves: []string{"sda", "sdc"}, MD: &block.Raid{State: "clean"}}
	s.Run = func(_ context.Context, _ io.Writer, argv ...string) error {
		stopped = append(stopped, strings.Join(argv, " "))
		return nil
	}
	if err := s.stop(t.Context()); err != nil || len(stopped) != 2 || !strings.Contains(strings.Join(stopped, "|"), "mdadm --stop /dev/md0") || !strings.Contains(strings.Join(stopped, "|"), "mdadm --stop /dev/md1") {
		t.Errorf("%v %q", err, stopped)
	}
	// Who uses a device and its partitions, in words.
	s = asMD(t, nil)
	s.tree.Devices["sdc"].Partitions = []string{"sdc1", "sdc9"}
	s.tree.Devices["sdc"].Holders = nil
	s.tree.Devices["sdc1"] = &block.Device{Name: "sdc1", Path: "/dev/sdc1", Holders: []string{"dm-0"}}
	s.tree.Mounts = []block.Mount{{Device: "sdc", Point: "/m"}}
	s.tree.Users = []block.User{{Device: "sdc1", What: "x has it open"}, {Device: "sda", What: "y has it open"}}
	if got := strings.Join(s.tree.Using(s.tree.Devices["sdc"]), "|"); got != "/dev/sdc is mounted on /m|/dev/dm-0 is made of /dev/sdc1|/dev/sdc1: x has it open" {
		t.Error(got)
	}
	p := &planner{Site: s.Site, tree: s.tree}
	s.tree.Mounts = nil
	if err := p.idle(s.tree.Devices["sdc"]); err == nil || !strings.Contains(err.Error(), "x has it open; end that first") {
		t.Error(err)
	}
}

// A line in mdadm.conf leaves the initramfs behind, and the journal says so before it is written; one of fstab does not.
func TestLinesOfTheInitramfs(t *testing.T) {
	for file, want := range map[string]bool{"/etc/mdadm/mdadm.conf": true, "/etc/mdadm.conf": true, "/etc/fstab": false} {
		s := asMD(t, nil)
		if err := errors.Join(os.MkdirAll(s.Journal, 0o700), os.MkdirAll(s.at(filepath.Dir(file)), 0o755)); err != nil {
			t.Fatal(err)
		}
		l := &records.Lines{File: file, Name: "t", Text: "x"}
		saved := func() bool { all, _, _ := s.Journals(); return len(all) == 1 && all[0].InitramfsStale }
		err := s.lines(l, func(*records.Lines) error {
			if saved() != want {
				t.Errorf("%s: the journal says %v", file, !want)
			}
			return io.ErrNoProgress
		})
		if !errors.Is(err, io.ErrNoProgress) || s.w.InitramfsStale != want {
			t.Errorf("%s: %v, stale %v", file, err, s.w.InitramfsStale)
		}
		if err := s.act(t.Context(), records.Action{Add: l}, false); err != nil || !strings.Contains(s.files(file), "\nx\n") {
			t.Errorf("%s: %v", file, err)
		}
		if err := s.act(t.Context(), records.Action{Cut: l}, false); err != nil || s.files(file) != "" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// files is a file below the root, empty where there is none.
func (s *state) files(name string) string {
	data, _ := os.ReadFile(s.at(name))
	return string(data)
}
