package provision

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// changed plans for an array that plimsoll has made and that is declared otherwise now. One member
// for another, on an array with copies or parity, is replaced; anything else is refused with what
// would have to be done.
func (p *planner) changed(ctx context.Context, w *records.Work, want records.Want,
	d *topology.DeclaredArray,
) (*records.Work, error) {
	rest := want
	rest.Volumes = w.Want.Volumes
	rest.Copies, rest.Data = w.Want.Copies, w.Want.Data // of the number of volumes, which is shown below
	if change := records.Differ(w.Want, rest); change != "" {
		return nil, fmt.Errorf("it was built from another declaration (%s); tear it down first: plimsoll array teardown %s",
			change, d.Name)
	}
	if slices.ContainsFunc(
		d.Volumes,
		func(v topology.DeclaredVolume) bool { return records.SerialOf(v) == "" && v.Path == "" },
	) {
		return nil, p.grown(w, len(d.Volumes))
	}
	declared := &records.Work{Array: w.Array, Want: want}
	var added, gone []string
	var fresh *block.Device
	for _, v := range d.Volumes {
		serial := records.SerialOf(v)
		if w.Has(serial) {
			declared.Members = append(declared.Members, records.Member{Serial: serial})
			continue
		}
		dev, err := p.one(v)
		if err != nil {
			return nil, err
		}
		id := records.Identity(dev)
		if w.Has(id) {
			declared.Members = append(declared.Members, records.Member{Serial: id})
			continue
		}
		added, fresh = append(added, id), dev
	}
	for _, m := range w.Members {
		if !declared.Has(m.Serial) {
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
		return nil, fmt.Errorf("%d of its members are different now: replace them one at a time", len(added))
	case !w.Want.Level.Redundant() || w.Want.Using != "md":
		return nil, fmt.Errorf("volume %s was %s: a member of %s%s cannot be replaced, because the array holds no "+
			"second copy of its data; tear it down and build it again: plimsoll array teardown %s",
			added[0], gone[0], w.Want.Level, with(w.Want.Using), w.Array)
	}
	if other := p.taken[added[0]]; other != "" {
		return nil, fmt.Errorf("%s (serial %s) is also in array %s", fresh.Path, added[0], other)
	}
	if err := p.free(ctx, declared, []*block.Device{fresh}); err != nil {
		return nil, err
	}
	if old := w.Members[w.Member(gone[0])]; fresh.Size < old.Size {
		return nil, fmt.Errorf("%s (serial %s) has %v, less than the %v of the member that it is to replace",
			fresh.Path, added[0], fresh.Size, old.Size)
	}
	return w.Replace(p.UUID, gone[0], fresh, want.Volumes), nil
}

func with(using string) string {
	if using == "lvm" {
		return " under LVM"
	}
	return ""
}

// grown says what would have to be done to have another number of volumes, or larger ones.
func (p *planner) grown(w *records.Work, volumes int) error {
	what := fmt.Sprintf("it has %d volumes and %d are declared", len(w.Members), volumes)
	if volumes == len(w.Members) {
		what = "its volumes are declared differently from when it was built"
	}
	how := "by hand: mdadm --grow --raid-devices, wait for the reshape, then grow the filesystem; its su and sw " +
		"stay those of the old width"
	switch {
	case w.Want.Using == "lvm":
		how = "an LVM stripe keeps its width: new volumes are a second segment with a stripe of its own " +
			"(vgextend, lvextend --stripes), or back up, plimsoll array teardown, apply and restore"
	case w.Want.Level == topology.RAID0:
		how = "an md stripe cannot be widened without moving all data: back up, plimsoll array teardown, apply and restore"
	case w.Want.Level == topology.Single:
		how = "one volume is not an array: declare a new one and copy"
	}
	return fmt.Errorf("%s; plimsoll does not grow or shrink an array: %s", what, how)
}

// enlarged notes members that have grown since the array was built, as an EBS volume can, and plans what makes the
// array use them.
func (p *planner) enlarged(w *records.Work) {
	var grown []string
	for _, m := range w.Members {
		if d, err := disk(p.tree, m.Serial); err == nil && d.Size > m.Size+units.MiB {
			grown = append(grown, fmt.Sprintf("%s from %v to %v", m.Serial, m.Size, d.Size))
		}
	}
	partitions, from := p.unusedGrowth(w)
	if len(grown) == 0 || len(grown) == len(w.Members) && from == records.Nothing {
		return
	}
	how := "its members have not all grown, and the smallest sets the size"
	switch {
	case w.Want.Using == "md" && w.Want.Level == topology.RAID0:
		how = "md's RAID0 never uses it: back up, plimsoll array teardown, apply and restore; LVM's stripes can grow"
	case len(grown) == len(w.Members):
		how = "the steps that use it are shown below, because apply does not take them"
		steps := w.Enlarge(partitions, from)
		p.grew = append(p.grew, &records.Work{Array: w.Array, Want: w.Want, Members: w.Members, Steps: steps})
	}
	p.note("%s: volumes have grown (%s), and the array does not use the added space: "+
		"%s", w.Array, strings.Join(grown, ", "), how)
}

// leftOver is what layers leave unused at most, for their own records and of what they round.
const leftOver = 16 * units.MiB

// unusedGrowth are the members whose partitions do not use what they have now, and the lowest layer of an array
// that does not use all that lies below it; the lowest of all where that cannot be seen.
func (p *planner) unusedGrowth(w *records.Work) (partitions []string, from records.Layer) {
	s := &state{Site: p.Site, w: w, tree: p.tree}
	top, err := s.top()
	least := units.Bytes(math.MaxInt64) // of the members, or of their partitions
	for _, m := range w.Members {
		d, gone := s.device(w.Device(m.Serial))
		if gone != nil {
			if err = gone; w.Want.Partition {
				partitions = append(partitions, m.Serial)
			}
			continue
		}
		if whole := p.tree.Devices[d.Parent]; whole != nil && whole.Size > d.Start+d.Size+leftOver {
			partitions = append(partitions, m.Serial)
		}
		size := d.Size
		if err == nil && top.MD != nil {
			for _, of := range top.MD.Members {
				if of.Name == d.Name {
					size -= of.Offset
				}
			}
		}
		least = min(least, size)
	}
	if err != nil || len(partitions) > 0 {
		return partitions, records.Volume
	}
	switch {
	case top.MD != nil && least > top.MD.Used+leftOver,
		top.LV != nil && least > top.Size/units.Bytes(max(w.Want.Data, 1))+leftOver:
		return nil, records.Volume
	case w.Want.FS == "":
		return nil, records.Nothing
	}
	for _, m := range p.tree.MountsOf(top.Name) {
		if p.Here && m.FS == "xfs" { // its superblock may be older
			if g, err := block.XFSGeometry(m.Point); err == nil {
				m.Size = g.Size
			}
		}
		if m.Size > 0 && m.Size+leftOver >= top.Size {
			return nil, records.Nothing
		}
	}
	return nil, records.Filesystem
}

// replaced drops the steps of a replacement that is complete.
func (s *Site) replaced(w *records.Work) error {
	if w.Replacing == nil || slices.ContainsFunc(w.Steps,
		func(st records.Step) bool { return st.State != records.StepDone }) {
		return nil
	}
	w.Steps, w.Replacing = w.Steps[:w.Replacing.From], nil
	return s.save(w)
}

// memberHolds are the conditions of a replacement.
func (s *state) memberHolds(c records.Cond) (bool, error) {
	top, err := s.top()
	if errors.Is(err, errGone) || err == nil && top.MD == nil {
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
		return s.memberHolds(records.Cond{Is: "insync", Of: c.Want})
	}
	return false, nil
}
