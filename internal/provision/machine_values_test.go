package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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

// asMD is an array of two drives, S0 and S1, as md runs it, mounted on /data. What programs print is
// given by their names; those that are not listed are not installed.
func asMD(t *testing.T, prints map[string]string) *state {
	t.Helper()
	w := workOf(2, 10*units.GiB, records.Want{Level: "raid1", Using: "md", Data: 1, Mount: "/data", FS: "xfs", Group: "g"})
	w.Steps = []records.Step{
		{Check: []records.Cond{{Is: "array", Want: ourUUID}}, State: records.StepDone},
		{Check: []records.Cond{{Is: "filesystem", Want: "xfs 1234"}}, State: records.StepDone},
		{Check: []records.Cond{{Is: "mounted", Of: "/data"}}},
	}
	s := site(t, machine(nil, nil))
	s.Run = func(_ context.Context, out io.Writer, argv ...string) error {
		text, ok := prints[argv[0]]
		if !ok {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		}
		if code, failed := strings.CutPrefix(text, "fails with "); failed {
			number, said, _ := strings.Cut(code, ": ")
			return &sys.Failed{Argv: argv, Code: int(number[0] - '0'), Stderr: said}
		}
		_, err := io.WriteString(out, text)
		return err
	}
	md := &block.Device{Name: "md0", Path: "/dev/md0", Kind: block.MD, Slaves: []string{"sda", "sdb"}, MD: &block.Raid{
		Level: "raid1", State: "clean", UUID: block.BareUUID(ourUUID), Members: []block.Member{{Name: "sda", State: "in_sync"}, {Name: "sdb", State: "in_sync"}},
	}}
	drive := func(name, serial string) *block.Device {
		return &block.Device{Name: name, Path: "/dev/" + name, Serial: serial, Kind: block.Disk, Size: 10 * units.GiB, Holders: []string{"md0"}}
	}
	tree := &block.Tree{
		Devices: map[string]*block.Device{"md0": md, "sda": drive("sda", "S0"), "sdb": drive("sdb", "S1"), "sdc": drive("sdc", "S2")},
		Mounts:  []block.Mount{{ID: 1, Under: 1, Point: "/", Root: "/"}, {ID: 2, Under: 1, Point: "/data", Device: "md0", Root: "/", Source: "/dev/md0"}},
	}
	return &state{s, w, tree}
}

// Each condition, where it holds and where it just does not.
func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		cond   records.Cond
		change func(*state)
		want   bool
	}{
		"array":            {records.Cond{Is: "array", Want: ourUUID}, nil, true},
		"another array":    {records.Cond{Is: "array", Want: strings.Replace(ourUUID, "0", "1", 1)}, nil, false},
		"array, no UUID":   {records.Cond{Is: "array"}, nil, false},
		"inactive array":   {records.Cond{Is: "array", Want: ourUUID}, func(s *state) { s.tree.Devices["md0"].MD.State = "inactive" }, false},
		"a member short":   {records.Cond{Is: "array", Want: ourUUID}, func(s *state) { s.tree.Devices["md0"].Slaves = []string{"sda"} }, false},
		"a faulty member":  {records.Cond{Is: "array", Want: ourUUID}, func(s *state) { s.tree.Devices["md0"].MD.Members[1].State = "faulty" }, false},
		"another's member": {records.Cond{Is: "array", Want: ourUUID}, func(s *state) { s.tree.Devices["md0"].Slaves[1] = "sdc" }, false},
		"while replacing": {records.Cond{Is: "array", Want: ourUUID}, func(s *state) {
			s.w.Replacing = &records.Replacement{Old: "S2", New: "S1"}
			s.tree.Devices["md0"].Slaves = []string{"sda", "sdb", "sdc"}
		}, true},
		"inactive":            {records.Cond{Is: "inactive", Want: ourUUID}, func(s *state) { s.tree.Devices["md0"].MD.State = "inactive" }, true},
		"not inactive":        {records.Cond{Is: "inactive", Want: ourUUID}, nil, false},
		"stopped":             {records.Cond{Is: "stopped", Want: ourUUID}, func(s *state) { delete(s.tree.Devices, "md0") }, true},
		"not stopped":         {records.Cond{Is: "stopped", Want: ourUUID}, nil, false},
		"mounted":             {records.Cond{Is: "mounted", Of: "/data"}, nil, true},
		"mounted, a slash":    {records.Cond{Is: "mounted", Of: "/data/"}, nil, true},
		"below the mount":     {records.Cond{Is: "mounted", Of: "/data/x"}, nil, false},
		"another is mounted":  {records.Cond{Is: "mounted", Of: "/data"}, func(s *state) { s.tree.Mounts[1].Device = "sdc" }, false},
		"nothing is mounted":  {records.Cond{Is: "mounted", Of: "/data"}, func(s *state) { s.tree.Mounts = s.tree.Mounts[:1] }, false},
		"no array to mount":   {records.Cond{Is: "mounted", Of: "/data"}, func(s *state) { delete(s.tree.Devices, "md0") }, false},
		"mountedfrom":         {records.Cond{Is: "mountedfrom", Of: "/data", Want: "/dev/md0"}, nil, true},
		"mounted from other":  {records.Cond{Is: "mountedfrom", Of: "/data", Want: "/dev/sdc"}, nil, false},
		"mounted below":       {records.Cond{Is: "mountedfrom", Of: "/data/x", Want: "/dev/md0"}, nil, false},
		"filesystem":          {records.Cond{Is: "filesystem", Want: "xfs 1234"}, nil, true},
		"another filesystem":  {records.Cond{Is: "filesystem", Want: "xfs 12345"}, nil, false},
		"superblock":          {records.Cond{Is: "superblock", Of: "@S0", Want: "0a:1b"}, nil, true},
		"another superblock":  {records.Cond{Is: "superblock", Of: "@S0", Want: "0a:1c"}, nil, false},
		"member":              {records.Cond{Is: "member", Of: "@S0"}, nil, true},
		"no member":           {records.Cond{Is: "member", Of: "@S2"}, nil, false},
		"in sync":             {records.Cond{Is: "insync", Of: "@S0"}, nil, true},
		"not in sync":         {records.Cond{Is: "insync", Of: "@S0"}, func(s *state) { s.tree.Devices["md0"].MD.Members[0].State = "spare" }, false},
		"unreplaced":          {records.Cond{Is: "unreplaced", Of: "@S0", Want: "@S1"}, func(s *state) { s.tree.Devices["md0"].MD.Members[0].State = "spare" }, true},
		"replaced":            {records.Cond{Is: "unreplaced", Of: "@S0", Want: "@S1"}, nil, false},
		"synced":              {records.Cond{Is: "synced"}, nil, true},
		"synced, idle":        {records.Cond{Is: "synced"}, func(s *state) { s.tree.Devices["md0"].MD.Action = "idle" }, true},
		"not synced":          {records.Cond{Is: "synced"}, func(s *state) { s.tree.Devices["md0"].MD.Action = "resync" }, false},
		"degraded":            {records.Cond{Is: "synced"}, func(s *state) { s.tree.Devices["md0"].MD.Degraded = 1 }, false},
		"new one in sync":     {records.Cond{Is: "synced"}, func(s *state) { s.w.Replacing = &records.Replacement{Old: "S2", New: "S1"} }, true},
		"new one not in sync": {records.Cond{Is: "synced"}, func(s *state) { s.w.Replacing = &records.Replacement{Old: "S0", New: "S2"} }, false},
		"partition": {records.Cond{Is: "partition", Of: "@S2:1"}, func(s *state) {
			s.tree.Devices["sdc"].Partitions = []string{"sdc1"}
			s.tree.Devices["sdc1"] = &block.Device{Name: "sdc1", Start: units.MiB}
		}, true},
		"partition elsewhere": {records.Cond{Is: "partition", Of: "@S2:1"}, func(s *state) {
			s.tree.Devices["sdc"].Partitions = []string{"sdc1"}
			s.tree.Devices["sdc1"] = &block.Device{Name: "sdc1", Start: 2 * units.MiB}
		}, false},
		"no partition":      {records.Cond{Is: "partition", Of: "@S2:1"}, nil, false},
		"group":             {records.Cond{Is: "group", Of: "g"}, nil, true},
		"no group":          {records.Cond{Is: "group", Of: "h"}, nil, false},
		"volume":            {records.Cond{Is: "volume", Of: "g/v"}, nil, true},
		"no volume":         {records.Cond{Is: "volume", Of: "g/w"}, nil, false},
		"no volume of none": {records.Cond{Is: "volume", Of: "h/v"}, nil, false},
	} {
		s := asMD(t, map[string]string{
			"blkid": "TYPE=xfs\nUUID=1234\n", "mdadm": "MD_LEVEL=1\nMD_UUID=0A:1B\n",
			"vgs": `{"report":[{"vg":[{"vg_name":"g"}]}]}`, "lvs": `{"report":[{"lv":[{"lv_name":"v"}]}]}`,
		})
		if c.change != nil {
			c.change(s)
		}
		if got, err := s.holds(t.Context(), c.cond, false); got != c.want || err != nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	s := asMD(t, nil)
	if _, err := s.holds(t.Context(), records.Cond{Is: "nonsense", Of: "@S0"}, false); err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Error(err)
	}
}

// Paths, directories and owners below the root.
func TestConditionsOfFiles(t *testing.T) {
	s := asMD(t, nil)
	s.w.Array = "t"
	dir := filepath.Join(s.Root, "d")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(filepath.Join(s.Root, "full"), 0o750), os.WriteFile(filepath.Join(s.Root, "full", "x"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	begin, end := (&records.Lines{Name: "t"}).Marks()
	if err := os.WriteFile(filepath.Join(s.Root, "fstab"), []byte(begin+"\nUUID=1 /d xfs\n"+end+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid())
	for c, want := range map[records.Cond]bool{
		{Is: "path", Of: "/d"}: true, {Is: "path", Of: "/no"}: false, {Is: "absent", Of: "/d"}: false, {Is: "absent", Of: "/no"}: true,
		{Is: "empty", Of: "/d"}: true, {Is: "empty", Of: "/full"}: false, {Is: "empty", Of: "/no"}: false,
		{Is: "lines", Of: "/fstab", Want: "UUID=1 /d xfs"}: true, {Is: "lines", Of: "/fstab", Want: "UUID=2 /d xfs"}: false, {Is: "lines", Of: "/no", Want: "x"}: false,
		{Is: "owner", Of: "/d", Want: own + ":0700"}: true, {Is: "owner", Of: "/d", Want: own + ":0750"}: false, {Is: "owner", Of: "/d", Want: "::"}: true,
		{Is: "owner", Of: "/d", Want: "4242::"}: false, {Is: "owner", Of: "/d", Want: ":4242:"}: false, {Is: "owner", Of: "/no", Want: "::"}: false,
	} {
		if got, err := s.holds(t.Context(), c, false); got != want || err != nil {
			t.Errorf("%+v: %v %v", c, got, err)
		}
	}
}

// A table that was being written counts as apply's while the step is begun.
func TestTablesHalfWritten(t *testing.T) {
	for name, c := range map[string]struct {
		prints string
		begun  bool
		want   bool
	}{
		"ours":                 {"PTTYPE=gpt\nPTUUID=77\n", false, true},
		"another":              {"PTTYPE=gpt\nPTUUID=78\n", true, false},
		"half, begun":          {"PTTYPE=gpt\n", true, true},
		"half":                 {"PTTYPE=gpt\n", false, false},
		"a filesystem, begun":  {"TYPE=xfs\nPTTYPE=gpt\n", true, false},
		"nothing":              {"fails with 2: ", true, false},
		"several at one place": {"fails with 2: ambivalent result", true, false},
	} {
		s := asMD(t, map[string]string{"blkid": c.prints})
		if got, err := s.holds(t.Context(), records.Cond{Is: "table", Of: "@S0", Want: "77"}, c.begun); got != c.want || err != nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	s := asMD(t, map[string]string{"blkid": "fails with 4: broken"})
	if _, err := s.holds(t.Context(), records.Cond{Is: "table", Of: "@S0", Want: "77"}, false); err == nil {
		t.Error("blkid failed, and nobody says so")
	}
}

// LVM's words: its physical volumes, their group and the volume, and how far copies agree.
func TestConditionsOfLVM(t *testing.T) {
	pvs := func(rows ...string) string {
		return `{"report":[{"pv":[` + strings.Join(rows, ",") + `]}]}`
	}
	row := func(name, group string) string { return fmt.Sprintf(`{"pv_name":%q,"vg_name":%q}`, name, group) }
	for name, c := range map[string]struct {
		cond     records.Cond
		pvs, lvs string
		want     bool
		err      string
	}{
		"pv of ours":          {records.Cond{Is: "pv", Of: "@S0", Want: "g"}, pvs(row("/dev/sda", "g")), "", true, ""},
		"pv of none":          {records.Cond{Is: "pv", Of: "@S0", Want: "g"}, pvs(row("/dev/sda", "")), "", true, ""},
		"pv of another":       {records.Cond{Is: "pv", Of: "@S0", Want: "g"}, pvs(row("/dev/sda", "h")), "", false, ""},
		"no pv":               {records.Cond{Is: "pv", Of: "@S0", Want: "g"}, pvs(row("/dev/sdb", "g")), "", false, ""},
		"group":               {records.Cond{Is: "vg", Of: "g"}, pvs(row("/dev/sda", "g"), row("/dev/sdc", "h")), "", true, ""},
		"no group":            {records.Cond{Is: "vg", Of: "g"}, pvs(row("/dev/sda", "h")), "", false, ""},
		"group on others too": {records.Cond{Is: "vg", Of: "g"}, pvs(row("/dev/sda", "g"), row("/dev/sdc", "g")), "", false, "also lies on /dev/sdc"},
		"volume":              {records.Cond{Is: "lv", Of: "g/t"}, pvs(row("/dev/sda", "g")), `{"report":[{"lv":[{"lv_name":"t","lv_active":"active"}]}]}`, true, ""},
		"inactive":            {records.Cond{Is: "lv", Of: "g/t"}, pvs(row("/dev/sda", "g")), `{"report":[{"lv":[{"lv_name":"t","lv_active":""}]}]}`, false, ""},
		"inactive, any":       {records.Cond{Is: "lv", Of: "g/t", Want: "any"}, pvs(row("/dev/sda", "g")), `{"report":[{"lv":[{"lv_name":"t","lv_active":""}]}]}`, true, ""},
		"another volume":      {records.Cond{Is: "lv", Of: "g/t"}, pvs(row("/dev/sda", "g")), `{"report":[{"lv":[{"lv_name":"u","lv_active":"active"}]}]}`, false, ""},
		"volume of no group":  {records.Cond{Is: "lv", Of: "g/t"}, pvs(), `{"report":[{"lv":[{"lv_name":"t","lv_active":"active"}]}]}`, false, ""},
	} {
		s := asMD(t, map[string]string{"pvs": c.pvs, "lvs": c.lvs})
		got, err := s.holds(t.Context(), c.cond, false)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	for percent, want := range map[string]float64{"12.50": 0.125, "100.00": 1, "": 1} {
		s := asMD(t, map[string]string{"lvs": `{"report":[{"lv":[{"lv_name":"u","sync_percent":"1"},{"lv_name":"t","sync_percent":"` + percent + `"}]}]}`})
		s.w.Want.Using = "lvm"
		s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: "g", Name: "t"}}
		if got, err := s.lvmSync(t.Context()); got != want || err != nil {
			t.Errorf("%s: %v %v", percent, got, err)
		}
		if done, err := s.synced(t.Context()); done != (want == 1) || err != nil {
			t.Errorf("%s: %v %v", percent, done, err)
		}
	}
	if _, err := asMD(t, map[string]string{"lvs": `{"report":[]}`}).lvmSync(t.Context()); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

// The top device by its level, its name and its UUID; names that are placeholders.
func TestTopDevices(t *testing.T) {
	s := asMD(t, nil)
	s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: "g", Name: "t"}}
	s.tree.Devices["dm-1"] = &block.Device{Name: "dm-1", LV: &block.Vol{VG: "h", Name: "t"}}
	for using, want := range map[string]string{"md": "md0", "lvm": "dm-0", "": "sda"} {
		s.w.Want.Using = using
		if d, err := s.top(); err != nil || d.Name != want {
			t.Errorf("%s: %v %v", using, d, err)
		}
	}
	s.w.Want.Using = "md"
	for arg, want := range map[string]string{"@array": "/dev/md0", "@S1": "/dev/sdb", "plain": "plain"} {
		if got, err := s.path(arg); got != want || err != nil {
			t.Errorf("%s: %s %v", arg, got, err)
		}
	}
	for _, gone := range []string{"@S9", "@S0:1", "@"} {
		if _, err := s.path(gone); !errors.Is(err, errGone) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	s.tree.Devices["sdd"] = &block.Device{Name: "sdd", Path: "/dev/sdd", Serial: "S1", Kind: block.Disk}
	if _, err := s.path("@S1"); err == nil || !strings.Contains(err.Error(), "have it; detach one of them") {
		t.Error(err)
	}
	s.tree.Devices["sdd"].Kind = block.Partition
	if _, err := s.path("@S1"); err != nil {
		t.Error(err)
	}
	s.tree.Devices["md0"].MD.State = "inactive"
	if _, err := s.top(); !errors.Is(err, errGone) {
		t.Error(err)
	}
	if records.Identity(&block.Device{WWN: "W"}) != "W" || records.Identity(&block.Device{WWN: "W", Serial: "S"}) != "S" {
		t.Error("identity")
	}
	inactive := asMD(t, nil)
	d := inactive.tree.Devices["md0"]
	if d.Slaves = nil; !inactive.ours(d) {
		t.Error("an inactive array shows no slaves")
	}
	if d.MD.Members = nil; inactive.ours(d) {
		t.Error("nothing is below it")
	}
}

// Who uses an array beyond the one mount of apply's own.
func TestUsersOfAnArray(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*state)
		want   string
	}{
		"its own mount": {func(*state) {}, ""},
		"a second mount": {func(s *state) {
			s.tree.Mounts = append(s.tree.Mounts, block.Mount{ID: 3, Under: 1, Point: "/other", Device: "md0", Root: "/"})
		}, "it is also mounted on /other"},
		"twice on its point": {func(s *state) {
			s.tree.Mounts = append(s.tree.Mounts, block.Mount{ID: 3, Under: 1, Point: "/data", Device: "md0", Root: "/"})
		}, "it is also mounted on /data"},
		"a part of it":   {func(s *state) { s.tree.Mounts[1].Root = "/sub" }, "it is also mounted on /data"},
		"swap":           {func(s *state) { s.tree.Swaps = []string{"md0"} }, "/dev/md0 is used as swap"},
		"another's swap": {func(s *state) { s.tree.Swaps = []string{"sdc"} }, ""},
		"a holder":       {func(s *state) { s.tree.Devices["md0"].Holders = []string{"dm-9"} }, "/dev/dm-9 is made of it"},
		"a logical volume": {func(s *state) {
			s.tree.Devices["md0"].Holders = []string{"dm-9"}
			s.tree.Devices["dm-9"] = &block.Device{LV: &block.Vol{VG: "h", Name: "v"}}
		}, "the logical volume h/v is made of it"},
		"another device": {func(s *state) {
			s.tree.Devices["md0"].Holders = []string{"x"}
			s.tree.Devices["x"] = &block.Device{Path: "/dev/x"}
		}, "/dev/x is made of it"},
		"mounted below": {func(s *state) {
			s.tree.Mounts = append(s.tree.Mounts, block.Mount{ID: 3, Under: 2, Point: "/data/x", Device: "sdc", Source: "/dev/sdc"})
		}, "/dev/sdc is mounted below it, on /data/x"},
		"a swap file": {func(s *state) { s.tree.SwapFiles = []string{"/data/swap", "/database/swap"} }, "/data/swap is used as swap"},
		"a loop device": {func(s *state) {
			s.tree.Devices["loop0"] = &block.Device{Kind: block.Loop, Path: "/dev/loop0", Backing: "/data/img"}
		}, "the loop device /dev/loop0 lies in its file /data/img"},
		"a loop elsewhere": {func(s *state) {
			s.tree.Devices["loop0"] = &block.Device{Kind: block.Loop, Path: "/dev/loop0", Backing: "/database/img"}
		}, ""},
	} {
		s := asMD(t, nil)
		c.change(s)
		v := &survey{state: s}
		v.uses(s.tree.Devices["md0"])
		var all []string
		for _, o := range v.found {
			all = append(all, o.What)
		}
		if got := strings.Join(all, "|"); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || len(all) > 1 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for path, want := range map[string]bool{"/data": true, "/data/x": true, "/database": false, "/": false} {
		if below(path, "/data") != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// What lies on the array's device, against what apply has put there.
func TestContentOfAnArray(t *testing.T) {
	for name, c := range map[string]struct {
		prints string
		change func(*records.Work)
		want   string
	}{
		"its own":            {"TYPE=xfs\nUUID=1234\n", nil, ""},
		"another":            {"TYPE=xfs\nUUID=9\n", nil, "/dev/md/t carries xfs"},
		"a table":            {"PTTYPE=gpt\n", nil, "/dev/md/t carries gpt"},
		"nothing any more":   {"", nil, "no longer carries the filesystem that apply made"},
		"nothing, undoing":   {"", func(w *records.Work) { w.Undoing = true }, ""},
		"another, undoing":   {"TYPE=ext4\nUUID=9\n", func(w *records.Work) { w.Undoing = true }, "/dev/md/t carries ext4"},
		"mkfs was cut short": {"", func(w *records.Work) { w.Steps[1].State = records.StepBegun }, ""},
		"one volume":         {"TYPE=ext4\n", func(w *records.Work) { w.Want.Using = "" }, ""},
		"LVM, adopted":       {"TYPE=LVM2_member\nUUID=1234\n", func(w *records.Work) { w.Adopted = "/dev/md0" }, ""},
		"LVM, not adopted":   {"TYPE=LVM2_member\nUUID=1234\n", nil, "/dev/md/t carries LVM2_member (UUID 1234), which apply did not make"},
		"LVM of others":      {"TYPE=LVM2_member\nUUID=9\n", func(w *records.Work) { w.Adopted = "/dev/md0" }, "/dev/md0 carries LVM2_member"},
		"ext4, adopted":      {"TYPE=ext4\nUUID=1234\n", func(w *records.Work) { w.Adopted = "/dev/md0" }, "/dev/md0 carries ext4"},
	} {
		s := asMD(t, map[string]string{"blkid": c.prints})
		if c.change != nil {
			c.change(s.w)
		}
		v := &survey{state: s}
		err := v.content(t.Context(), s.tree.Devices["md0"])
		got := ""
		for _, o := range v.found {
			got += o.What
		}
		if err != nil || !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
	}
}

// Lines of fstab beyond plimsoll's own that need the array.
func TestLinesThatNeedAnArray(t *testing.T) {
	s := asMD(t, nil)
	s.w.Want.Label = "L"
	l := &records.Lines{File: "/etc/fstab", Name: "t", Text: "UUID=1234 /data xfs noatime 0 0"}
	s.w.Steps = append(s.w.Steps, records.Step{Undo: []records.Action{{Cut: l}}, State: records.StepDone})
	begin, end := l.Marks()
	own := begin + "\n" + l.Text + "\n" + end + "\n"
	for line, want := range map[string]bool{
		"": false, "UUID=1234 /x xfs": true, "LABEL=L /x xfs": true, "/dev/md/t /x xfs": true, "/dev/disk/by-uuid/1234 /x xfs": true, "/dev/disk/by-label/L /x xfs": true,
		"UUID=12 /x xfs": false, "/data/swap none swap": true, "/data/swap none": true, "/database/swap none swap": false, "# UUID=1234 /x": false, "/data/x": false,
	} {
		v := &survey{state: s}
		v.needing([]byte(own + line + "\n"))
		if (len(v.found) == 1) != want {
			t.Errorf("%q: %+v", line, v.found)
		}
	}
}

// Actions by what is set in them, in this order; what an action leaves as it is known.
func TestActions(t *testing.T) {
	s := asMD(t, map[string]string{"true": "", "false": "fails with 1: false: it is so\nUsage: none\nmore"})
	for name, c := range map[string]struct {
		a    records.Action
		want string
	}{
		"run":           {records.Action{Run: []string{"true", "@S0"}}, ""},
		"run fails":     {records.Action{Run: []string{"false"}}, "it is so"},
		"run of a lost": {records.Action{Run: []string{"true", "@S9"}}, "is not attached"},
		"left out":      {records.Action{If: &records.Cond{Is: "stopped", Want: ourUUID}, Run: []string{"false"}}, ""},
		"not left out":  {records.Action{If: &records.Cond{Is: "array", Want: ourUUID}, Run: []string{"false"}}, "it is so"},
		"nothing":       {records.Action{}, "does not know"},
		"zero":          {records.Action{Zero: []string{"@S9"}}, "is not attached"},
		"erase":         {records.Action{Erase: []string{"@S9"}}, "is not attached"},
		"blank":         {records.Action{Blank: []string{"@S0"}}, "is in use: /dev/md0 is made of it; end that first"},
		"stop":          {records.Action{Stop: []string{"@S0"}}, "mdadm"},
	} {
		err := s.act(t.Context(), c.a, false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "Usage") {
			t.Errorf("%s: its manual is in the error: %v", name, err)
		}
	}
	for _, c := range []struct {
		a    records.Action
		want bool
	}{
		{records.Action{Blank: []string{"@S0", "@S1"}}, true},
		{records.Action{Run: []string{"x", "@S0"}}, true},
		{records.Action{Run: []string{"x", "@S0", "@S1"}}, false},
		{records.Action{Run: []string{"x", "@array"}}, false},
		{records.Action{Run: []string{"x", "@array", "@S0"}}, true},
		{records.Action{Zero: []string{"@S0"}}, false},
	} {
		if c.a.Local() != c.want {
			t.Errorf("%+v", c.a)
		}
	}
	var done []string
	each := func(refs ...string) error {
		done = nil
		return s.each(refs, func(ref string) error {
			done = append(done, ref)
			switch ref {
			case "gone":
				return fmt.Errorf("x %w", errGone)
			case "bad":
				return io.ErrNoProgress
			}
			return nil
		})
	}
	if err := each("gone", "b"); !errors.Is(err, errGone) || !slices.Equal(done, []string{"gone", "b"}) {
		t.Errorf("%v %v", err, done)
	}
	if err := each("bad", "b"); !errors.Is(err, io.ErrNoProgress) || len(done) != 1 {
		t.Errorf("%v %v", err, done)
	}
	long := sys.Brief(&sys.Failed{Argv: []string{"/sbin/x"}, Stderr: "x: a\n\nb\nc\nd\ne\n"})
	if failed, ok := errors.AsType[*sys.Failed](long); !ok || failed.Stderr != "a; b; c; d" {
		t.Errorf("%v", long)
	}
	if err := sys.Brief(io.ErrNoProgress); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

// The initramfs is renewed for what comes into mdadm.conf, and for nothing else.
func TestInitramfsIsRenewed(t *testing.T) {
	add := func(file string, state records.StepState) *records.Work {
		return &records.Work{Steps: []records.Step{{State: records.StepDone}, {State: state, Do: []records.Action{{}, {Add: &records.Lines{File: file}}}}}}
	}
	for name, c := range map[string]struct {
		w    *records.Work
		want bool
	}{
		"mdadm.conf":             {add("/etc/mdadm/mdadm.conf", records.StepToDo), true},
		"mdadm.conf, begun":      {add("/etc/mdadm.conf", records.StepBegun), true},
		"mdadm.conf, done":       {add("/etc/mdadm/mdadm.conf", records.StepDone), false},
		"fstab":                  {add("/etc/fstab", records.StepToDo), false},
		"left from another time": {&records.Work{InitramfsStale: true}, true},
		"nothing":                {&records.Work{}, false},
	} {
		p := &planner{Site: site(t, machine(nil, nil))}
		plan := &Plan{Arrays: []*records.Work{{}, c.w}}
		if p.initramfs(plan); (plan.Initramfs != nil) != c.want {
			t.Errorf("%s: %q", name, plan.Initramfs)
		}
	}
}

// Lines between plimsoll's marks are looked at where a step has put them in.
func TestSurveyedLines(t *testing.T) {
	for name, c := range map[string]struct {
		state records.StepState
		text  string
		want  int
	}{
		"as written": {records.StepDone, "UUID=1234 /data xfs", 0},
		"another's":  {records.StepDone, "UUID=1234 /data xfs\nUUID=9 /x xfs", 1},
		"to be done": {records.StepToDo, "UUID=1234 /data xfs\nUUID=9 /x xfs", 0},
		"was begun":  {records.StepBegun, "UUID=1234 /data xfs\nUUID=9 /x xfs", 1},
		"needs it":   {records.StepDone, "UUID=1234 /data xfs\n%end\nUUID=1234 /y xfs", 1},
	} {
		s := asMD(t, nil)
		l := &records.Lines{File: "/etc/fstab", Name: "t", Text: "UUID=1234 /data xfs"}
		s.w.Steps = append(s.w.Steps, records.Step{Undo: []records.Action{{}, {Cut: l}}, State: c.state})
		begin, end := l.Marks()
		text := begin + "\n" + c.text + "\n" + end + "\n"
		if before, after, ok := strings.Cut(c.text, "%end\n"); ok {
			text = begin + "\n" + before + end + "\n" + after + "\n"
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(s.Root, "etc"), 0o755), os.WriteFile(filepath.Join(s.Root, "etc/fstab"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		v := &survey{state: s}
		if err := v.lines(); err != nil || len(v.found) != c.want {
			t.Errorf("%s: %+v %v", name, v.found, err)
		}
	}
}

// Where an array stands: by its UUID, its name or its link; one volume by where it is mounted, or by
// its serial and what is on it.
func TestWhereAnArrayStands(t *testing.T) {
	one := []topology.DeclaredVolume{{Serial: "S2"}}
	var destroyed map[string]string
	for name, c := range map[string]struct {
		change func(*state)
		want   string
		first  []topology.DeclaredVolume
	}{
		"by its UUID":          {func(*state) {}, "md0", nil},
		"nothing of its":       {func(s *state) { s.w.Steps = nil }, "", nil},
		"by its name":          {func(s *state) { s.w.Steps = nil; s.tree.Devices["md0"].MD.Name = "t" }, "md0", nil},
		"by its name and host": {func(s *state) { s.w.Steps = nil; s.tree.Devices["md0"].MD.Name = "host:t" }, "md0", nil},
		"by its link":          {func(s *state) { s.w.Steps = nil; s.tree.Devices["md0"].Links = []string{"/dev/md/t"} }, "md0", nil},
		"another's name":       {func(s *state) { s.w.Steps = nil; s.tree.Devices["md0"].MD.Name = "host:u" }, "", nil},
		"LVM": {func(s *state) {
			s.w.Want.Using = "lvm"
			s.w.Steps = nil
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: "g", Name: "t"}}
		}, "dm-0", nil},
		"LVM, another group": {func(s *state) {
			s.w.Want.Using = "lvm"
			s.w.Steps = nil
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: "h", Name: "t"}}
		}, "", nil},
		"LVM, another name": {func(s *state) {
			s.w.Want.Using = "lvm"
			s.w.Steps = nil
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: "g", Name: "u"}}
		}, "", nil},
		"one, mounted":          {func(s *state) { s.w.Want.Using, s.w.Steps = "", nil; s.tree.Mounts[1].Device = "sdc" }, "sdc", []topology.DeclaredVolume{{}}},
		"one, mounted, another": {func(s *state) { s.w.Want.Using, s.w.Steps = "", nil; s.tree.Mounts[1].Device = "sda" }, "", one},
		"one, elsewhere": {func(s *state) {
			s.w.Want.Using, s.w.Steps = "", nil
			s.tree.Mounts[1].Device, s.tree.Mounts[1].Point = "sdc", "/other"
		}, "", []topology.DeclaredVolume{{}}},
		"one by what is on it": {func(s *state) { s.w.Want.Using, s.w.Steps = "", nil; s.tree.Devices["sdc"].Signature = "xfs" }, "sdc", one},
		"one with another":     {func(s *state) { s.w.Want.Using, s.w.Steps = "", nil; s.tree.Devices["sdc"].Signature = "ext4" }, "", one},
		"one, partitioned": {func(s *state) {
			s.w.Want.Using, s.w.Want.Partition, s.w.Steps = "", true, nil
			s.tree.Devices["sdc"].Signature = "xfs"
		}, "", one},
		"one of no filesystem": {func(s *state) { s.w.Want.Using, s.w.Want.FS, s.w.Steps = "", "", nil; s.tree.Mounts[1].Device = "sdc" }, "", one},
	} {
		s := asMD(t, nil)
		destroyed = nil
		c.change(s)
		p := &planner{Site: s.Site, tree: s.tree, destroy: destroyed}
		got := ""
		if d := p.standing(s.w, &topology.DeclaredArray{Volumes: c.first}); d != nil {
			got = d.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What keeps a volume from being destroyed: whoever uses it, or an array of others, too.
func TestIdleVolumes(t *testing.T) {
	both := map[string]string{"sda": "S0", "sdb": "S1"}
	for name, c := range map[string]struct {
		change  func(*state)
		destroy map[string]string
		want    string
	}{
		"its array is given up, too": {func(s *state) { s.tree.Mounts = s.tree.Mounts[:1] }, both, ""},
		"the array is mounted":       {func(*state) {}, both, "/dev/md0, made of it, is in use"},
		"the array is swap":          {func(s *state) { s.tree.Mounts = s.tree.Mounts[:1]; s.tree.Swaps = []string{"md0"} }, both, "/dev/md0, made of it, is in use"},
		"the array holds another":    {func(s *state) { s.tree.Mounts = s.tree.Mounts[:1]; s.tree.Devices["md0"].Holders = []string{"dm-0"} }, both, "/dev/md0, made of it, is in use"},
		"another's array, too":       {func(s *state) { s.tree.Mounts = s.tree.Mounts[:1] }, map[string]string{"sda": "S0"}, "/dev/md0 also lies on /dev/sdb"},
		"it is mounted":              {func(s *state) { s.tree.Mounts[1].Device = "sda" }, both, "/dev/sda is mounted on /data"},
		"it is swap":                 {func(s *state) { s.tree.Swaps = []string{"sda"} }, both, "it is used as swap"},
		"a partition is mounted": {func(s *state) {
			s.tree.Devices["sda"].Partitions = []string{"sda1"}
			s.tree.Devices["sda"].Holders = nil
			s.tree.Devices["sda1"] = &block.Device{Name: "sda1", Path: "/dev/sda1"}
			s.tree.Mounts[1].Device = "sda1"
		}, both, "/dev/sda1 is mounted on /data"},
		"what holds it is not md": {func(s *state) {
			s.tree.Devices["sda"].Holders = []string{"dm-0"}
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0"}
		}, both, "/dev/dm-0, made of it, is in use"},
	} {
		s := asMD(t, nil)
		c.change(s)
		p := &planner{Site: s.Site, tree: s.tree, destroy: c.destroy}
		err := p.idle(s.tree.Devices["sda"])
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A program that fails leaves a condition open: what could not be seen is neither there nor gone. What is not attached
// is not there.
func TestConditionsThatCannotBeSeen(t *testing.T) {
	const no = "fails with 5: no"
	fine := map[string]string{
		"blkid": "TYPE=xfs\nUUID=1234\n", "pvs": `{"report":[{"pv":[{"pv_name":"/dev/sda","vg_name":"g"}]}]}`,
		"vgs": `{"report":[{"vg":[{"vg_name":"g"}]}]}`, "lvs": `{"report":[{"lv":[{"lv_name":"t","lv_active":"active","sync_percent":"100"}]}]}`,
	}
	for name, c := range map[string]struct {
		cond  records.Cond
		using string
		fails string
	}{
		"a filesystem":            {records.Cond{Is: "filesystem", Want: "xfs 1234"}, "md", "blkid"},
		"a table":                 {records.Cond{Is: "table", Of: "@S0", Want: "77"}, "md", "blkid"},
		"a physical volume":       {records.Cond{Is: "pv", Of: "@S0", Want: "g"}, "lvm", "pvs"},
		"a group":                 {records.Cond{Is: "vg", Of: "g"}, "lvm", "pvs"},
		"a volume, by its group":  {records.Cond{Is: "lv", Of: "g/t"}, "lvm", "pvs"},
		"a volume":                {records.Cond{Is: "lv", Of: "g/t"}, "lvm", "lvs"},
		"copies that agree":       {records.Cond{Is: "synced"}, "lvm", "lvs"},
		"another's group":         {records.Cond{Is: "group", Of: "g"}, "md", "vgs"},
		"another's volume":        {records.Cond{Is: "volume", Of: "g/t"}, "md", "lvs"},
		"another's, by its group": {records.Cond{Is: "volume", Of: "g/t"}, "md", "vgs"},
	} {
		prints := maps.Clone(fine)
		prints[c.fails] = no
		s := asMD(t, prints)
		s.w.Want.Using, s.w.Array = c.using, "t"
		s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: "g", Name: "t"}}
		if got, err := s.holds(t.Context(), c.cond, false); got || err == nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
		prints[c.fails] = fine[c.fails]
		if _, err := s.holds(t.Context(), c.cond, false); err != nil {
			t.Errorf("%s, seen: %v", name, err)
		}
	}
	// Two disks of one serial are an error of every condition of a member; one that is gone is none.
	for _, is := range []records.CondKind{"partition", "table", "superblock", "member", "insync", "unreplaced"} {
		s := asMD(t, fine)
		if got, err := s.holds(t.Context(), records.Cond{Is: is, Of: "@S9"}, false); got || err != nil {
			t.Errorf("%s of what is gone: %v %v", is, got, err)
		}
		s.tree.Devices["sdd"] = &block.Device{Name: "sdd", Serial: "S1", Kind: block.Disk}
		if got, err := s.holds(t.Context(), records.Cond{Is: is, Of: "@S1"}, false); got || err == nil {
			t.Errorf("%s of two: %v %v", is, got, err)
		}
		s = asMD(t, fine)
		if s.tree.Devices["md0"].MD.State = "inactive"; is == "member" || is == "insync" || is == "unreplaced" {
			if got, err := s.holds(t.Context(), records.Cond{Is: is, Of: "@S0"}, false); got || err != nil {
				t.Errorf("%s of no array: %v %v", is, got, err)
			}
		}
	}
	// Where a single volume's serial is that of two disks, it is not known which is the array's.
	s := asMD(t, fine)
	s.w.Want.Using = ""
	s.tree.Devices["sdd"] = &block.Device{Name: "sdd", Serial: "S0", Kind: block.Disk}
	for _, is := range []records.CondKind{"mounted", "filesystem", "member", "synced"} {
		if got, err := s.holds(t.Context(), records.Cond{Is: is, Of: "@S1"}, false); got || err == nil || errors.Is(err, errGone) {
			t.Errorf("%s: %v %v", is, got, err)
		}
	}
	// Udev that is not there, or still busy with others' events, is no reason to stop; that it was interrupted is.
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"done": {nil, true}, "not installed": {sys.ErrNotFound, true}, "busy": {&sys.Failed{Argv: []string{"udevadm"}, Code: 1}, true}, "interrupted": {context.Canceled, false},
	} {
		s := site(t, machine(volumes(1, 10, 1), nil))
		s.Run = func(context.Context, io.Writer, ...string) error { return c.err }
		if now, err := s.look(t.Context(), &records.Work{Array: "t"}); (err == nil) != c.want || c.want && (now == nil || now.w.Array != "t" || now.tree == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
