package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/topology"
)

// members chooses the volumes of an array and refuses those that must not be touched.
func (p *planner) members(ctx context.Context, w *records.Work, d *topology.DeclaredArray) error {
	var chosen []*block.Device
	var open []topology.DeclaredVolume
	var missing []string
	for _, v := range d.Volumes {
		if v.Names() == "" {
			open = append(open, v)
			continue
		}
		dev, err := p.one(v)
		if errors.Is(err, errGone) {
			missing = append(missing, records.Selector(v))
			continue
		}
		if err != nil {
			return err
		}
		if v.Size > 0 && !topology.Alike(dev.Size, v.Size) {
			return fmt.Errorf("volume %s is declared with %v and has %v; correct the file, or attach the intended "+
				"volume", records.Selector(v), v.Size, dev.Size)
		}
		chosen = append(chosen, dev)
	}
	switch len(missing) {
	case 0:
	case 1:
		return fmt.Errorf("volume %s %w; attach it, or correct the file by: plimsoll inspect --all",
			missing[0], errGone)
	default:
		return fmt.Errorf("%d of %d volumes are missing: each of %s %w; attach them, or correct the file by: "+
			"plimsoll inspect --all",
			len(missing), len(d.Volumes), strings.Join(missing, ", "), errGone)
	}
	for len(open) > 0 {
		some, rest := same(open)
		found, err := p.any(ctx, some, chosen)
		if err != nil {
			return err
		}
		chosen, open = append(chosen, found...), rest
	}
	for i, dev := range chosen {
		id := records.Identity(dev)
		if slices.Contains(chosen[:i], dev) {
			return fmt.Errorf("%s (serial %s) is named twice", dev.Path, id)
		}
		if other := p.taken[id]; other != "" {
			return fmt.Errorf("%s (serial %s) is also in array %s", dev.Path, id, other)
		}
		m := records.Member{Serial: id, Size: dev.Size, Path: dev.Path, Model: dev.Model, Destroy: p.destroy[dev.Name] != ""}
		w.Members = append(w.Members, m)
	}
	for _, dev := range chosen {
		p.taken[records.Identity(dev)] = w.Array
	}
	if err := p.equal(d, chosen); err != nil {
		return err
	}
	return p.free(ctx, w, chosen)
}

// one finds the volume that is named.
func (p *planner) one(v topology.DeclaredVolume) (*block.Device, error) {
	if v.Path != "" && v.Serial == "" && v.ID == "" {
		if !strings.HasPrefix(v.Path, "/dev/disk/by-") {
			why := fmt.Errorf("volume %s: kernel names change between boots; name it by serial, id or /dev/disk/by-id",
				v.Path)
			if dev := p.tree.Device(v.Path); dev != nil && records.Identity(dev) != "" {
				why = fmt.Errorf("%w: today it is {serial: %s}", why, records.Identity(dev))
			}
			return nil, why
		}
		dev := p.tree.Device(v.Path)
		if dev == nil {
			return nil, fmt.Errorf("volume %s %w", v.Path, errGone)
		}
		return dev, usable(dev)
	}
	dev, err := disk(p.tree, records.SerialOf(v))
	if errors.Is(err, errGone) { // named by its id all the same
		if with, err := disk(p.tree, records.SerialOf(topology.DeclaredVolume{ID: v.Serial})); err == nil {
			return with, usable(with)
		}
	}
	if err != nil {
		return nil, err
	}
	return dev, usable(dev)
}

// usable refuses what no array is made of.
func usable(d *block.Device) error {
	if d.Kind != block.Disk {
		return fmt.Errorf("%s is a %s; arrays are made of whole drives, with partition: true of a partition that "+
			"plimsoll makes", d.Path, d.Kind)
	}
	if records.Identity(d) == "" {
		return fmt.Errorf("%s has neither serial number nor WWN: it could not be found again after a boot", d.Path)
	}
	return nil
}

// same splits volumes into those described like the first, and the rest.
func same(all []topology.DeclaredVolume) (like, rest []topology.DeclaredVolume) {
	for _, v := range all {
		if records.Selector(v) == records.Selector(all[0]) {
			like = append(like, v)
		} else {
			rest = append(rest, v)
		}
	}
	return like, rest
}

// any finds unused volumes by description. When there are more than all arrays want, which ones is
// not plimsoll's to choose.
func (p *planner) any(
	ctx context.Context,
	wanted []topology.DeclaredVolume,
	chosen []*block.Device,
) ([]*block.Device, error) {
	like, need := wanted[0], len(wanted)
	asked := fmt.Sprintf("%d x %s", need, records.Selector(like))
	if like.Size == 0 && like.Model == "" {
		return nil, fmt.Errorf("%s: say their size too, or name them by serial; unused volumes: %s", asked,
			p.list(p.unused(topology.DeclaredVolume{})))
	}
	var found []*block.Device
	for _, d := range p.unused(like) {
		if !slices.Contains(chosen, d) && p.taken[records.Identity(d)] == "" {
			found = append(found, d)
		}
	}
	all := 0 // of this description, in this array and those that have no volumes yet
	for _, a := range p.decl.Arrays {
		served := slices.Contains(slices.Collect(maps.Values(p.taken)), a.Name)
		for _, v := range a.Volumes {
			if !served && v.Names() == "" && topology.Alike(v.Size, like.Size) && v.Model == like.Model {
				all++
			}
		}
	}
	if len(found) < need {
		return nil, fmt.Errorf("%s: %s%s", asked, only(len(found), "match", "matches"), p.used(like))
	}
	if len(found) > max(all, need) {
		found = p.blankOf(ctx, found)
	}
	if len(found) < need {
		return nil, fmt.Errorf("%s: %s; see: plimsoll inspect --all", asked,
			only(len(found), "like this are blank", "like this is blank"))
	}
	if len(found) > max(all, need) {
		return nil, fmt.Errorf("%s: %d unused volumes match; name those you mean by serial: %s", asked,
			len(found), p.list(found))
	}
	slices.SortFunc(found, func(a, b *block.Device) int {
		return strings.Compare(records.Identity(a),
			records.Identity(b))
	})
	return found[:need], nil
}

// blankOf are the volumes that are blank, or that could not be looked at: one that only looks
// unused is not among those to choose from.
func (p *planner) blankOf(ctx context.Context, found []*block.Device) []*block.Device {
	now := &state{p.Site, &records.Work{}, p.tree}
	refs := make([]string, len(found))
	for i, d := range found {
		refs[i] = "@" + records.Identity(d)
	}
	var blank []*block.Device
	for i, err := range now.blankness(ctx, refs) {
		if err == nil || unseen(err) || p.destroy[found[i].Name] != "" {
			blank = append(blank, found[i])
		}
	}
	return blank
}

// unused are drives that nothing is on or made of, like the one described.
func (p *planner) unused(like topology.DeclaredVolume) []*block.Device {
	var found []*block.Device
	for _, d := range p.tree.Devices {
		network, local := cloud.IsNetwork(d.Model), cloud.IsLocal(d.Model)
		_, rented := cloud.TypeNamed(like.Type)
		switch {
		case d.Kind != block.Disk || d.Size == 0 || records.Identity(d) == "" || len(p.tree.Occupied(d)) > 0 &&
			p.destroy[d.Name] == "":
		case like.Size > 0 && !topology.Alike(d.Size, like.Size):
		case like.Model != "" && !strings.Contains(d.Model, like.Model):
		case rented && local || like.Type == topology.NVMe && network:
		default:
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *block.Device) int { return strings.Compare(a.Path, b.Path) })
	return found
}

// only says that fewer volumes do than were asked for: "no unused volume matches".
func only(n int, do, does string) string {
	switch n {
	case 0:
		return "no unused volume " + does
	case 1:
		return "only 1 unused volume " + does
	}
	return fmt.Sprintf("only %d unused volumes %s", n, do)
}

// used are the volumes that would be like the one described and are in use or not blank, with the reason.
func (p *planner) used(like topology.DeclaredVolume) string {
	var busy, full []string
	for _, d := range p.tree.Devices {
		why := p.tree.Occupied(d)
		if d.Kind != block.Disk || len(why) == 0 || !topology.Alike(d.Size, like.Size) ||
			!strings.Contains(d.Model, like.Model) {
			continue
		}
		one := fmt.Sprintf("%s (serial %s): %s", d.Path, records.Identity(d), strings.Join(why, ", "))
		if p.tree.InUse(d) {
			busy = append(busy, one)
		} else {
			full = append(full, one)
		}
	}
	if len(busy)+len(full) == 0 {
		return "; see: plimsoll inspect --all"
	}
	said := ""
	if slices.Sort(busy); len(busy) > 0 {
		said += "; in use: " + strings.Join(busy, "; ")
	}
	if slices.Sort(full); len(full) > 0 {
		said += "; not blank: " + strings.Join(full, "; ") + "; if what is on one may be lost: --destroy DEV --serial S"
	}
	return said
}

func (p *planner) list(devices []*block.Device) string {
	var all []string
	for _, d := range devices {
		all = append(all, fmt.Sprintf("%s (%s, %v)", records.Identity(d), d.Path, d.Size))
	}
	if len(all) > 8 {
		all = append(all[:8], fmt.Sprintf("%d more", len(all)-8))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// equal refuses volumes of which the smallest or slowest would set the pace for all.
func (p *planner) equal(d *topology.DeclaredArray, chosen []*block.Device) error {
	a, first := chosen[0], d.Volumes[0]
	for _, b := range chosen[1:] {
		one, other := records.Identity(a), records.Identity(b)
		switch {
		case !topology.Alike(a.Size, b.Size):
			return fmt.Errorf("mixed sizes: %s has %v, %s has %v; each member would be used as the smallest",
				one, a.Size, other, b.Size)
		case a.Queue.Rotational != b.Queue.Rotational:
			return fmt.Errorf("mixed drives: one of %s and %s is rotational", one, other)
		case a.Queue.Logical != b.Queue.Logical:
			return fmt.Errorf("mixed sectors: %s has %v, %s has %v",
				one, a.Queue.Logical, other, b.Queue.Logical)
		case cloud.IsInstanceStore(a.Model) != cloud.IsInstanceStore(b.Model):
			return fmt.Errorf("mixed drives: one of %s and %s is local and is lost when the instance stops",
				one, other)
		}
	}
	for _, v := range d.Volumes[1:] {
		if v.Limits != first.Limits || v.Type != first.Type {
			return fmt.Errorf("mixed speeds: %s (%s) and %s (%s) are declared differently; the slowest member "+
				"sets the pace for all", records.Selector(first), cmp.Or(first.Type, "no type"), records.Selector(v),
				cmp.Or(v.Type, "no type"))
		}
	}
	return nil
}

// free refuses volumes that are not blank, by the same check that apply makes. Of one that is named
// to be destroyed only its users stand in the way.
func (p *planner) free(ctx context.Context, w *records.Work, chosen []*block.Device) error {
	if p.looked {
		return nil
	}
	var refs []string
	for _, d := range chosen {
		if p.destroy[d.Name] == "" {
			refs = append(refs, "@"+records.Identity(d))
		} else if err := p.idle(d); err != nil {
			return err
		}
	}
	now := &state{p.Site, w, p.tree}
	var blind error
	for _, err := range now.blankness(ctx, refs) {
		if err != nil && !unseen(err) {
			return err
		}
		blind = cmp.Or(blind, err)
	}
	if blind != nil {
		p.note("whether the volumes are blank could not be determined (%v): run as root to know before apply", blind)
	}
	return nil
}

// idle refuses to destroy what is in use. An md array of volumes that are all to be destroyed is
// stopped.
func (p *planner) idle(d *block.Device) error {
	for _, name := range append([]string{d.Name}, d.Partitions...) {
		dev := p.tree.Devices[name]
		if dev == nil {
			continue
		}
		if m := p.tree.MountsOf(name); len(m) > 0 {
			return fmt.Errorf("--destroy %s: %s is mounted on %s; unmount it first", d.Path, dev.Path, m[0].Point)
		}
		if slices.Contains(p.tree.Swaps, name) {
			return fmt.Errorf("--destroy %s: it is used as swap; swapoff it first", d.Path)
		}
		if why := p.tree.UsersOf(name); len(why) > 0 {
			return fmt.Errorf("--destroy %s: %s; end that first", d.Path, strings.Join(why, "; "))
		}
		for _, h := range dev.Holders {
			up := p.tree.Devices[h]
			if up == nil || up.MD == nil || len(up.Holders)+len(p.tree.MountsOf(h)) > 0 ||
				slices.Contains(p.tree.Swaps, h) {
				return fmt.Errorf("--destroy %s: /dev/%s, made of it, is in use; take that down first", d.Path, h)
			}
			for _, leaf := range p.tree.Leaves(h) {
				if p.destroy[leaf.Name] == "" {
					return fmt.Errorf("--destroy %s: %s also lies on %s, which is not to be destroyed; mdadm "+
						"--stop /dev/%s first", d.Path, up.Path, leaf.Path, h)
				}
			}
		}
		if len(dev.Holders) > 0 {
			return nil
		}
	}
	// Whoever else holds it: the kernel knows.
	f, err := p.exclusive(p.tree, d, os.O_RDONLY)
	if unseen(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--destroy %s: %w", d.Path, err)
	}
	return f.Close()
}
