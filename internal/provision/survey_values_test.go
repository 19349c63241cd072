package provision

import (
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/units"
)

// What is made of an array: of an adopted one its own group's volumes go with it, unless somebody uses them.
func TestHoldersOfAnArray(t *testing.T) {
	lv := func(group string) func(*state) {
		return func(s *state) {
			s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/dm-0", LV: &block.Vol{VG: group, Name: "v"}}
		}
	}
	for name, c := range map[string]struct {
		adopted string
		change  func(*state)
		want    string
	}{
		"not known":               {"", func(*state) {}, "/dev/dm-0 is made of it; take that down first"},
		"a device":                {"", func(s *state) { s.tree.Devices["dm-0"] = &block.Device{Path: "/dev/dm-0"} }, "/dev/dm-0 is made of it; take that down first"},
		"a volume":                {"", lv("g"), "the logical volume g/v is made of it; take that down first"},
		"adopted, its volume":     {"/dev/md0", lv("g"), ""},
		"adopted, another's":      {"/dev/md0", lv("h"), "the logical volume h/v is made of it; take that down first"},
		"adopted, it is swap":     {"/dev/md0", func(s *state) { lv("g")(s); s.tree.Swaps = []string{"dm-0"} }, "the logical volume g/v is used as swap; swapoff it first"},
		"adopted, another's swap": {"/dev/md0", func(s *state) { lv("g")(s); s.tree.Swaps = []string{"dm-1"} }, ""},
		"adopted, something on it": {
			"/dev/md0", func(s *state) { lv("g")(s); s.tree.Devices["dm-0"].Holders = []string{"dm-1"} },
			"the logical volume g/v is in use: dm-1; end that first",
		},
		"adopted, somebody has it open": {
			"/dev/md0", func(s *state) { lv("g")(s); s.tree.Users = []block.User{{Device: "dm-0", What: "x has it open"}} },
			"the logical volume g/v is in use: x has it open; end that first",
		},
	} {
		s := asMD(t, nil)
		s.w.Adopted = c.adopted
		c.change(s)
		v := &survey{state: s}
		if v.holder("dm-0"); surveyed(v) != c.want {
			t.Errorf("%s: %q, want %q", name, surveyed(v), c.want)
		}
	}
}

// What others have in an array's volume group: volumes that were given to it, and logical volumes, which may be given
// up while nobody uses them.
func TestGroupsOfAnArray(t *testing.T) {
	const its = `{"pv_name":"/dev/sda","vg_name":"g"}`
	pvs := func(rows ...string) string { return `{"report":[{"pv":[` + strings.Join(rows, ",") + `]}]}` }
	lvs := func(names ...string) string {
		var all []string
		for _, n := range names {
			all = append(all, `{"lv_name":"`+n+`","lv_size":"4096"}`)
		}
		return `{"report":[{"lv":[` + strings.Join(all, ",") + `]}]}`
	}
	const mine = "/dev/g/x is a logical volume that apply did not make, of 4096 bytes"
	done := func(checks ...records.CondKind) (all []records.Step) {
		for _, c := range checks {
			all = append(all, records.Step{State: records.StepDone, Check: []records.Cond{{Is: c}}})
		}
		return all
	}
	for name, c := range map[string]struct {
		using    string
		steps    []records.Step
		pvs, lvs string
		change   func(*state)
		want     string
	}{
		"its own":            {"lvm", done("vg", "lv"), pvs(its), lvs("t"), nil, ""},
		"another's volume":   {"lvm", done("vg", "lv"), pvs(its), lvs("t", "x"), nil, mine},
		"of no LVM":          {"md", done("vg", "lv"), pvs(its), lvs("t", "x"), nil, ""},
		"of no group yet":    {"lvm", done("pv"), pvs(its), lvs("t", "x"), nil, ""},
		"a group and no lv":  {"lvm", done("vg"), pvs(its), lvs("x"), nil, mine},
		"a volume and no vg": {"lvm", done("lv"), pvs(its), lvs("t", "x"), nil, mine},
		"called like it":     {"lvm", done("vg"), pvs(its), lvs("t"), nil, "/dev/g/t is a logical volume that apply did not make, of 4096 bytes"},
		"to be done":         {"lvm", []records.Step{{Check: []records.Cond{{Is: "vg"}}}}, pvs(its), lvs("x"), nil, ""},
		"another's group":    {"lvm", done("vg", "lv"), pvs(`{"pv_name":"/dev/sda","vg_name":"h"}`), lvs("x"), nil, ""},
		"more than its own": {
			"lvm", done("vg", "lv"), pvs(its, `{"pv_name":"/dev/sdc","vg_name":"g"}`, `{"pv_name":"/dev/sdc","vg_name":"h"}`), lvs("t"), nil,
			"the volume group g also lies on /dev/sdc, which apply did not give it; take that out first: vgreduce g /dev/sdc",
		},
		"on what is not seen": {
			"lvm", done("vg", "lv"), pvs(its, `{"pv_name":"/dev/sdz","vg_name":"g"}`), lvs("t"), nil,
			"the volume group g also lies on /dev/sdz, which apply did not give it; take that out first: vgreduce g /dev/sdz",
		},
		"mounted": {
			"lvm", done("vg", "lv"), pvs(its), lvs("x"), func(s *state) { s.tree.Mounts = []block.Mount{{Device: "dm-0", Point: "/m"}} },
			mine + "; /dev/dm-0 is mounted on /m; end that first",
		},
		"swap": {"lvm", done("vg", "lv"), pvs(its), lvs("x"), func(s *state) { s.tree.Swaps = []string{"dm-0"} }, mine + "; /dev/dm-0 is used as swap; end that first"},
		"of the same name": {"lvm", done("vg", "lv"), pvs(its), lvs("x"), func(s *state) {
			s.tree.Devices["dm-0"].LV.VG = "h"
			s.tree.Swaps = []string{"dm-0"}
		}, mine},
		"of the same group": {"lvm", done("vg", "lv"), pvs(its), lvs("x"), func(s *state) {
			s.tree.Devices["dm-0"].LV.Name = "y"
			s.tree.Swaps = []string{"dm-0"}
		}, mine},
	} {
		s := asMD(t, map[string]string{"pvs": c.pvs, "lvs": c.lvs})
		s.w.Want.Using, s.w.Steps = c.using, c.steps
		s.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/dm-0", LV: &block.Vol{VG: "g", Name: "x"}}
		if c.change != nil {
			c.change(s)
		}
		v := &survey{state: s}
		if err := v.groups(t.Context()); err != nil || surveyed(v) != c.want {
			t.Errorf("%s: %q %v, want %q", name, surveyed(v), err, c.want)
		}
		for _, o := range v.found { // what is in use is not given up, and what is not has a command
			free := o.What == mine || strings.HasPrefix(o.What, "/dev/g/t")
			if free != (o.Name != "") || free != (len(o.Command) > 0) || free && (o.Name != strings.Fields(o.What)[0] || o.Command[len(o.Command)-1] != strings.TrimPrefix(o.Name, "/dev/")) {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
}

// An array on which nothing was to be made holds nothing while all of its bytes are zero, its middle too; what uses it
// already is not named twice.
func TestBytesOfAnArray(t *testing.T) {
	const size = 16 * units.MiB
	for name, c := range map[string]struct {
		at   int64
		used bool
		fs   string
		want string
	}{
		"nothing":              {-1, false, "", ""},
		"data":                 {7, false, "", "/dev/md/t holds data: byte 7 is not zero"},
		"in its middle":        {int64(size) / 2, false, "", "/dev/md/t holds data: byte 8388608 is not zero"},
		"at its first byte":    {0, false, "", "/dev/md/t holds data: byte 0 is not zero"},
		"what is in use":       {-1, true, "", "in use"},
		"a filesystem is gone": {-1, false, "xfs", "/dev/md/t no longer carries the filesystem that apply made; its contents are not known"},
	} {
		w := &records.Work{Want: records.Want{Using: "md", FS: c.fs}, Steps: []records.Step{{State: records.StepDone, Check: []records.Cond{{Is: "filesystem", Want: c.fs + " 1"}}}}}
		s, file := onFile(t, size, w)
		if c.at >= 0 {
			put(t, file, c.at, []byte("x"))
		}
		s.Run = asMD(t, map[string]string{"blkid": "fails with 2: "}).Run
		v := &survey{state: s}
		top := s.tree.Devices["fake0"]
		if c.used {
			top = &block.Device{Name: "gone", Path: "/dev/gone", Size: size} // which cannot be opened
			v.inUse("in use")
		}
		if err := v.content(t.Context(), top); err != nil || surveyed(v) != c.want {
			t.Errorf("%s: %q %v, want %q", name, surveyed(v), err, c.want)
		}
	}
	// What a layout of the same measurement has left shows through before the next one has its filesystem; a filesystem
	// that somebody made meanwhile does not.
	for prints, want := range map[string]string{"fails with 2:\x20": "", "TYPE=ext4": "/dev/md/t carries ext4, which apply did not make"} {
		s, file := onFile(t, size, &records.Work{For: "runs/ab", Want: records.Want{Using: "md", FS: "xfs"}})
		put(t, file, 7, []byte("x"))
		s.Run = asMD(t, map[string]string{"blkid": prints}).Run
		v := &survey{state: s}
		if err := v.content(t.Context(), s.tree.Devices["fake0"]); err != nil || surveyed(v) != want {
			t.Errorf("%s: %q %v, want %q", prints, surveyed(v), err, want)
		}
	}
	s, _ := onFile(t, size, &records.Work{Want: records.Want{Using: "md"}})
	s.Run = asMD(t, map[string]string{"blkid": "fails with 2: "}).Run
	if err := (&survey{state: s}).content(t.Context(), &block.Device{Path: "/dev/gone", Size: size}); err == nil {
		t.Error("what cannot be opened, and nobody uses, is not known to be empty")
	}
}
