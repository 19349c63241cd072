package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// volumes compares each member with what apply has put on it.
func (v *survey) volumes(ctx context.Context) error {
	mine := v.members()
	for _, d := range v.tree.Devices {
		if d.MD == nil || v.w.UUID() == "" || block.BareUUID(d.MD.UUID) != block.BareUUID(v.w.UUID()) {
			continue
		}
		for _, m := range d.MD.Members {
			if !mine[m.Name] {
				v.inUse("/dev/%s was added to %s as a member, which apply did not do; take it out first: %s", m.Name, d.Path,
					text.ShellLine([]string{"mdadm", d.Path, "--fail", "/dev/" + m.Name, "--remove", "/dev/" + m.Name}))
			}
		}
	}
	written := slices.ContainsFunc(v.w.Steps, func(
		st records.Step,
	) bool {
		return st.State != records.StepToDo && len(st.Undo) > 0
	})
	for i, m := range v.w.Members {
		d, err := disk(v.tree, m.Serial)
		if errors.Is(err, errGone) || !written {
			continue // teardown names it, and waits for it
		}
		if err != nil {
			return err
		}
		if err := v.volume(ctx, d, v.w.Devices()[i]); err != nil {
			return err
		}
	}
	return nil
}

// volume looks at one member: at the disk, and at the partition on it that apply made.
func (v *survey) volume(ctx context.Context, d *block.Device, ref string) error {
	refs := []string{"@" + records.Identity(d)}
	if v.w.Want.Partition && v.w.Adopted != "" { // the partitions are others', and stay
		refs = []string{ref}
	} else if v.w.Want.Partition {
		refs = append(refs, ref)
		for _, name := range d.Partitions {
			if p := v.tree.Devices[name]; p != nil && v.strange(p) {
				v.add(records.Obstacle{What: fmt.Sprintf("%s is a partition that apply did not make",
					p.Path), Name: d.Path, Serial: records.Identity(d)})
			}
		}
	}
	for _, r := range refs {
		dev, err := v.device(r)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return err
		}
		if err := v.member(ctx, dev, r, d); err != nil {
			return err
		}
	}
	return nil
}

// strange says whether a partition is other than the one from 1 MiB.
func (v *survey) strange(p *block.Device) bool { return int64(p.Start) != 1<<20 }

// member compares the bytes of a disk or partition with apply's. Those of a member in use are taken
// from its signature: nothing else can be put on it while it is held.
func (v *survey) member(ctx context.Context, dev *block.Device, ref string, d *block.Device) error {
	for _, h := range dev.Holders {
		if up := v.tree.Devices[h]; up != nil && v.stranger(up) {
			v.inUse("%s is made of %s, and is not apply's; take that down first", up.Path, dev.Path)
		}
	}
	if v.w.Want.Using != "" ||
		ref != v.w.Devices()[v.w.Member(records.Identity(d))] {
		for _, m := range v.tree.MountsOf(dev.Name) {
			v.inUse("%s is mounted on %s, and not by apply; unmount it first", dev.Path, m.Point)
		}
		for _, u := range v.tree.UsersOf(dev.Name) {
			v.inUse("%s: %s; end that first", dev.Path, u)
		}
		if slices.Contains(v.tree.Swaps, dev.Name) {
			v.inUse("%s is used as swap; swapoff it first", dev.Path)
		}
	}
	f, err := os.Open(v.node(dev))
	if err != nil {
		return fmt.Errorf("%s %w: %w", dev.Path, errUnseen, err)
	}
	defer f.Close() //nolint:errcheck // only read
	head, err := records.ReadHead(f, int64(dev.Size))
	if err != nil {
		return fmt.Errorf("%s: %w", dev.Path, err)
	}
	at, err := records.FirstByte(ctx, f, int64(dev.Size), false)
	if err != nil || at < 0 {
		return err
	}
	if len(dev.Holders) > 0 {
		return nil // named above where it is a stranger's; a group's label is LVM's own
	}
	mark, ours := v.w.Mark(ref, head)
	if !ours && v.w.Label(ref, head) {
		mark, ours = records.LabelSpan, true
	}
	if ours {
		found, err := v.others(ctx, ref, dev, mark)
		if len(found) > 0 {
			v.foreign(dev, d, "beside apply's mark it carries "+joined(found)+", which apply did not put there")
		}
		return err
	}
	if guid := v.w.TableGUID(ref); guid != "" && records.Zeros(head) {
		if _, ok, err := records.BackupTable(f, int64(dev.Size), guid); ok || err != nil {
			return err
		}
	}
	what := fmt.Sprintf("byte %d is not zero, and nothing there is plimsoll's", at)
	if found, err := v.signatures(ctx, v.node(dev)); err == nil && len(found) > 0 {
		what = "it carries " + joined(found) + ", which apply did not put there"
	} else if err != nil && !errors.Is(err, sys.ErrNotFound) {
		return err
	}
	v.foreign(dev, d, what)
	return nil
}

// foreign says what somebody else has put on a member.
func (v *survey) foreign(dev, d *block.Device, what string) {
	v.add(records.Obstacle{What: fmt.Sprintf("the member %s (serial %s): %s",
		dev.Path, records.Identity(d), what), Name: d.Path, Serial: records.Identity(d)})
}

// stranger says whether a device that is made of a member is not part of the array.
func (v *survey) stranger(up *block.Device) bool {
	switch {
	case v.w.Want.Using == "md" && up.MD != nil:
		return block.BareUUID(up.MD.UUID) != block.BareUUID(v.w.UUID()) && up.MD.UUID != ""
	case v.w.Want.Using == "lvm" && up.LV != nil:
		return up.LV.VG != v.w.Want.Group
	}
	return true
}
