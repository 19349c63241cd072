package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Replacement is a member that gives way to another one.
type Replacement struct {
	Old string `json:"old"` // serial numbers
	New string `json:"new"`
	// OldPath is the kernel name of the old one when it was planned.
	OldPath string `json:"old_path,omitempty"`
	// From is how many steps the array had before: those after it are the replacement's.
	From int `json:"from"`
}

// changed plans for an array that plimsoll has made and that is declared otherwise now. One member
// for another, on an array with copies or parity, is replaced; anything else is refused with what
// would have to be done.
func (p *planner) changed(ctx context.Context, w *Work, want Want, d *topology.DeclaredArray) (*Work, error) {
	rest := want
	rest.Volumes = w.Want.Volumes
	rest.Copies, rest.Data = w.Want.Copies, w.Want.Data // of the number of volumes, which is shown below
	if change := differ(w.Want, rest); change != "" {
		return nil, fmt.Errorf("it was built from another declaration (%s); tear it down first: plimsoll array teardown %s",
			change, d.Name)
	}
	if slices.ContainsFunc(
		d.Volumes,
		func(v topology.DeclaredVolume) bool { return serialOf(v) == "" && v.Path == "" },
	) {
		return nil, p.grown(w, len(d.Volumes))
	}
	now := &planner{Site: p.Site, tree: p.tree, decl: p.decl, destroy: p.destroy, taken: map[string]string{}}
	declared := &Work{Array: w.Array, Want: want}
	for serial, array := range p.taken {
		if array != w.Array {
			now.taken[serial] = array
		}
	}
	var added, gone []string
	var fresh *block.Device
	for _, v := range d.Volumes {
		serial := serialOf(v)
		if slices.ContainsFunc(w.Members, func(m Member) bool { return m.Serial == serial }) {
			declared.Members = append(declared.Members, Member{Serial: serial})
			continue
		}
		dev, err := now.one(v)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(w.Members, func(m Member) bool { return m.Serial == identity(dev) }) {
			declared.Members = append(declared.Members, Member{Serial: identity(dev)})
			continue
		}
		added, fresh = append(added, identity(dev)), dev
	}
	for _, m := range w.Members {
		if !slices.ContainsFunc(declared.Members, func(o Member) bool { return o.Serial == m.Serial }) {
			gone = append(gone, m.Serial)
		}
	}
	switch {
	case len(added) != len(gone):
		return nil, p.grown(w, len(d.Volumes))
	case len(added) == 0: // the same ones, by other names
		p.enlarged(w)
		return w, nil
	case len(added) != 1:
		return nil, fmt.Errorf("%d of its members are others now: replace one after the other", len(added))
	case !w.Want.Level.Redundant() || w.Want.Using != "md":
		return nil, fmt.Errorf("volume %s was %s: a member of %s%s cannot be replaced, for the array holds no "+
			"second copy of its data; tear it down and build it again: plimsoll array teardown %s",
			added[0], gone[0], w.Want.Level, with(w.Want.Using), w.Array)
	}
	if now.taken[added[0]] != "" {
		return nil, fmt.Errorf("%s (serial %s) is also in array %s", fresh.Path, added[0], now.taken[added[0]])
	}
	if err := p.free(ctx, declared, []*block.Device{fresh}); err != nil {
		return nil, err
	}
	if old := w.Members[slices.IndexFunc(w.Members,
		func(m Member) bool { return m.Serial == gone[0] })]; fresh.Size < old.Size {
		return nil, fmt.Errorf("%s (serial %s) has %v, less than the %v of the member that it is to replace",
			fresh.Path, added[0], fresh.Size, old.Size)
	}
	return w.replace(p.UUID, gone[0], fresh, want.Volumes), nil
}

func with(using string) string {
	if using == "lvm" {
		return " under LVM"
	}
	return ""
}

// serialOf is the serial number that a declared volume is named by, "" where it is not.
func serialOf(v topology.DeclaredVolume) string {
	if v.Serial != "" {
		return v.Serial
	}
	return strings.Replace(v.ID, "vol-", "vol", 1) // the NVMe serial of an EBS volume is its id without the hyphen
}

// grown says what would have to be done to have another number of volumes, or larger ones.
func (p *planner) grown(w *Work, volumes int) error {
	what := fmt.Sprintf("it has %d volumes and %d are declared", len(w.Members), volumes)
	if volumes == len(w.Members) {
		what = "its volumes are declared otherwise than when it was built"
	}
	how := "by hand: mdadm --grow --raid-devices, wait for the reshape, then grow the filesystem; its su and sw " +
		"stay those of the old width"
	switch {
	case w.Want.Using == "lvm":
		how = "an LVM stripe keeps its width: new volumes are a second segment with a stripe of its own " +
			"(vgextend, lvextend --stripes), or back up, plimsoll array teardown, apply and restore"
	case w.Want.Level == topology.RAID0:
		how = "a stripe of md is not widened without moving all data: back up, plimsoll array teardown, apply and restore"
	case w.Want.Level == topology.Single:
		how = "one volume is no array: declare a new one and copy"
	}
	return fmt.Errorf("%s; plimsoll does not grow or shrink an array: %s", what, how)
}

// enlarged notes members that have grown since the array was built, as an EBS volume can.
func (p *planner) enlarged(w *Work) {
	for _, m := range w.Members {
		d, err := disk(p.tree, m.Serial)
		if err != nil || d.Size <= m.Size+units.MiB {
			continue
		}
		how := "mdadm --grow " + w.Top() + " --size=max once all have grown, then grow the filesystem"
		switch {
		case w.Want.Using == "lvm":
			how = "pvresize each, then lvextend --extents +100%FREE " + w.Top() + ", then grow the filesystem"
		case w.Want.Level == topology.RAID0:
			how = "RAID0 does not use it: back up, plimsoll array teardown, apply and restore"
		case w.Want.Level == topology.Single && !w.Want.Partition:
			how = "grow the filesystem (xfs_growfs, resize2fs)"
		case w.Want.Level == topology.Single:
			how = "grow the partition, then the filesystem (growpart, xfs_growfs or resize2fs)"
		}
		p.note("%s: %s has grown from %v to %v, which the array does not use; plimsoll does not grow arrays; by "+
			"hand: %s", w.Array, m.Serial, m.Size, d.Size, how)
		return
	}
}

// replace is the array's work with the steps that put another volume in a member's place.
func (w *Work) replace(uuid func() string, old string, fresh *block.Device, volumes string) *Work {
	id := identity(fresh)
	next := *w
	next.Want.Volumes = volumes
	next.Replacing = &Replacement{Old: old, New: id, From: len(w.Steps)}
	next.Members = slices.Clone(w.Members)
	for i := range next.Members {
		if next.Members[i].Serial == old {
			next.Replacing.OldPath = next.Members[i].Path
			next.Members[i] = Member{Serial: id, Size: fresh.Size, Path: fresh.Path, Model: fresh.Model}
		}
	}
	guid := uuid()
	next.Steps = renamed(w.Steps, old, id, w.tableGUID("@"+old), guid)
	part := ""
	if w.Want.Partition {
		part = ":1"
	}
	newOne, oldOne, top := "@"+id+part, "@"+old+part, w.Top()
	next.add(Step{Title: fmt.Sprintf("check that %s is blank", fresh.Path), Do: []Action{{Blank: []string{"@" + id}}}})
	if w.Want.Partition {
		at := "@" + id
		next.add(Step{
			Title:   "partition it: GPT, one partition from 1 MiB",
			Touches: []string{fresh.Path},
			Check:   []Cond{{Is: "partition", Of: newOne}, {Is: "table", Of: at, Want: guid}},
			Do: []Action{
				{Blank: []string{at}},
				{
					Run: []string{
						"sgdisk",
						"--clear",
						"--disk-guid=" + strings.ToUpper(guid),
						"--set-alignment=1",
						"--new=1:1MiB:0",
						"--typecode=1:fd00",
						"--change-name=1:" + w.Array,
						at,
					},
				},
			},
			Undo: []Action{{Zero: []string{at}}},
		})
	}
	next.add(Step{
		Title: "add it to " + top, Touches: []string{top, fresh.Path}, Check: []Cond{{Is: "member", Of: newOne}},
		Do: []Action{{Blank: []string{newOne}}, {Run: []string{"mdadm", top, "--add", newOne}}},
	})
	next.add(Step{
		Title:   "rebuild " + top + " onto it; the array may be used meanwhile",
		Touches: []string{top},
		Check:   []Cond{{Is: "synced"}},
		Do: []Action{
			{
				If:  &Cond{Is: "unreplaced", Of: newOne, Want: oldOne},
				Run: []string{"mdadm", top, "--replace", oldOne, "--with", newOne},
			},
			{Await: true},
		},
	})
	next.add(Step{
		Title: "take the volume " + old + " out of it, where it is still attached", Touches: []string{top},
		Check: []Cond{{Is: "array", Of: top, Want: w.uuid()}},
		Do: []Action{
			{If: &Cond{Is: "member", Of: oldOne}, Run: []string{"mdadm", top, "--remove", oldOne}},
			{If: &Cond{Is: "superblock", Of: oldOne, Want: w.uuid()}, Zero: []string{oldOne}},
		},
	})
	return &next
}

// renamed are steps with another serial number, and another GUID of its partition table, in all
// that they check, undo and restore.
func renamed(steps []Step, old, id, guid, newGUID string) []Step {
	text := func(s string) string {
		for _, part := range []string{"", ":1"} {
			if s == "@"+old+part {
				return "@" + id + part
			}
		}
		if guid != "" && s == guid {
			return newGUID
		}
		return s
	}
	all := func(list []string) []string {
		out := slices.Clone(list)
		for i := range out {
			out[i] = text(out[i])
		}
		return out
	}
	actions := func(list []Action) []Action {
		out := slices.Clone(list)
		for i := range out {
			a := &out[i]
			a.Run, a.Blank, a.Erase, a.Zero, a.Stop = all(a.Run), all(a.Blank), all(a.Erase), all(a.Zero), all(a.Stop)
			if a.If != nil {
				a.If = &Cond{Is: a.If.Is, Of: text(a.If.Of), Want: text(a.If.Want)}
			}
		}
		return out
	}
	out := slices.Clone(steps)
	for i := range out {
		st := &out[i]
		st.Do, st.Undo, st.Again = actions(st.Do), actions(st.Undo), actions(st.Again)
		st.Check = slices.Clone(st.Check)
		for j, c := range st.Check {
			// The GUID belongs to this one disk: the condition before it names it.
			st.Check[j] = Cond{Is: c.Is, Of: text(c.Of), Want: text(c.Want)}
		}
	}
	return out
}

// replaced drops the steps of a replacement that is complete.
func (s *Site) replaced(w *Work) error {
	if w.Replacing == nil || slices.ContainsFunc(w.Steps, func(st Step) bool { return st.State != StepDone }) {
		return nil
	}
	w.Steps, w.Replacing = w.Steps[:w.Replacing.From], nil
	return s.save(w)
}

// memberHolds are the conditions of a replacement:
//
//	member      the device Of is in the array, in whatever state
//	insync      the device Of is in the array, and in sync
//	unreplaced  the device Of is a spare of the array, and Want in sync: one has to replace the
//	            other
func (s *state) memberHolds(c Cond) (bool, error) {
	top, err := s.top()
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d, err := s.device(c.Of)
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, m := range top.MD.Members {
		if m.Name != d.Name {
			continue
		}
		if c.Is != "unreplaced" {
			return c.Is == "member" || strings.Contains(m.State, "in_sync"), nil
		}
		if m.State != "spare" {
			return false, nil
		}
		return s.memberHolds(Cond{Is: "insync", Of: c.Want})
	}
	return false, nil
}

// rebuilding says that the steps of a replacement are not done yet, and that a step before them
// looks at the new volume, which is not what it will be, or at copies, which do not agree before.
func (w *Work) rebuilding(i int) bool {
	return w.Replacing != nil && i < w.Replacing.From && slices.ContainsFunc(w.Steps[i].Check, func(c Cond) bool {
		return c.Is == "synced" || strings.TrimSuffix(c.Of, ":1") == "@"+w.Replacing.New
	})
}
