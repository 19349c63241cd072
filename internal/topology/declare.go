package topology

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/units"
)

// checkAcross finds what contradicts itself between arrays.
func (d *Declaration) checkAcross() error {
	seen := map[string]Origin{}
	claim := func(what, key string, at Origin) error {
		if other, ok := seen[what]; ok {
			line := 0
			_, _ = fmt.Sscanf(at.Where[strings.LastIndexByte(at.Where, ':')+1:], "%d", &line)
			return wrong(line, key, "%s is taken by %s", what, other.Where)
		}
		seen[what] = at
		return nil
	}
	var errs []error
	for i := range d.Arrays {
		a := &d.Arrays[i]
		errs = append(errs, claim("the name "+a.Name, "name", a.origin("name")))
		for _, r := range a.Roles {
			errs = append(errs, claim("the role "+string(r), "role", a.origin("role")))
		}
		if f := a.Filesystem; f != nil && f.Mount != "" {
			errs = append(errs, claim("the mount point "+path.Clean(f.Mount), "filesystem.mount", f.Origin))
		}
		if f := a.Filesystem; f != nil && f.Label != "" {
			errs = append(errs, claim("the label "+f.Label, "filesystem.label", f.Origin))
		}
		for _, v := range a.Volumes {
			for _, id := range []string{cmp.Or(v.ID, ebsID(v.Serial), v.Serial), v.Path} {
				if id != "" {
					errs = append(errs, claim("the volume "+id, "volumes", v.Origin))
				}
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// FromDeclaration is the topology of a declaration alone, for a layout that need not exist. Each
// array must then say its level, unless it is one volume, and its volumes. An instance alone is
// enough: its limit on network storage bounds whatever is attached.
func FromDeclaration(decl *Declaration) (*Topology, error) {
	t := &Topology{}
	if decl == nil || len(decl.Arrays) == 0 && decl.Instance == nil {
		return nil, errors.New("no volumes are declared; give --volumes such as 8xgp3, or a plimsoll.yaml with arrays")
	}
	t.Scale = decl.Scale
	if err := t.declareInstance(decl.Instance); err != nil {
		return nil, err
	}
	for i := range decl.Arrays {
		d := &decl.Arrays[i]
		a := d.alone()
		if len(d.Volumes) == 0 {
			return nil, fmt.Errorf("%s: volumes are missing; say which, such as 8xgp3", d.Origin.Where)
		}
		if a.Level == NoLevel {
			return nil, fmt.Errorf("%s: the level is missing; state that of the %d volumes with --level, or level: in a file, "+
				"such as raid10", d.Origin.Where, len(d.Volumes))
		}
		if err := t.overlay(&a, d); err != nil {
			return nil, err
		}
		if a.Chunk == 0 && a.Level.Striped() {
			a.Chunk = DefaultChunk(d.Using)
			a.setOrigin("chunk",
				Origin{Assumed, "the default of " + map[bool]string{true: "lvcreate", false: "mdadm"}[d.Using == LVM]})
		}
		a.Size = a.capacity()
		t.Arrays = append(t.Arrays, a)
		for _, role := range d.Roles {
			t.Targets = append(t.Targets, declaredTarget(role, &a, d.Filesystem))
		}
	}
	t.capVolumes()
	if err := t.impossible(); err != nil {
		return nil, err
	}
	return t, nil
}

// alone is the array of a declaration that lies over none.
func (d *DeclaredArray) alone() Array {
	a := Array{Name: cmp.Or(d.Name, "declared"), Level: d.Level, Origin: d.Origin}
	if a.Level == NoLevel && len(d.Volumes) == 1 {
		a.Level = Single
	}
	return a
}

func declaredTarget(role Role, a *Array, f *DeclaredFilesystem) Target {
	target := Target{Role: role, Array: a.Name}
	if f == nil || f.Mount == "" {
		return target
	}
	target.Path = f.Mount
	target.Mount = &block.Mount{Point: f.Mount, FS: f.Type, Options: f.Options}
	if a.Chunk > 0 {
		target.Mount.StripeUnit = cmp.Or(f.StripeUnit, a.Chunk)
		target.Mount.StripeWide = target.Mount.StripeUnit * units.Bytes(cmp.Or(f.StripeData, a.Geometry().StripeMembers()))
		target.Mount.Known = true
	}
	return target
}

// capacity is what an array of these volumes holds, metadata aside; 0 when a size is not known.
func (a *Array) capacity() units.Bytes {
	var sum, least units.Bytes
	for i, v := range a.Volumes {
		if v.Size == 0 {
			return 0
		}
		sum += v.Size
		if i == 0 || v.Size < least {
			least = v.Size
		}
	}
	if a.Level == Linear || a.Level == Single {
		return sum
	}
	if a.Level == RAID10 { // whose copies need not divide its members
		return least * units.Bytes(len(a.Volumes)) / units.Bytes(a.Geometry().WriteCopies())
	}
	return least * units.Bytes(a.DataMembers())
}

func (a *Array) setOrigin(figure string, o Origin) {
	if a.Origins == nil {
		a.Origins = map[string]Origin{}
	}
	a.Origins[figure] = o
}

// declare lays a declaration over what was detected.
func (t *Topology) declare(decl *Declaration) error {
	if decl == nil {
		return nil
	}
	t.Scale = decl.Scale
	if err := t.declareInstance(decl.Instance); err != nil {
		return err
	}
	claims, err := t.claims(decl)
	if err != nil {
		return err
	}
	for i := range decl.Arrays {
		d := &decl.Arrays[i]
		for _, name := range claims[i].arrays {
			if err := t.overlay(t.Array(name), d); err != nil {
				return err
			}
		}
		if len(claims[i].arrays) > 0 || claims[i].yielded {
			continue
		}
		if !t.attach(d) {
			t.note("array %s (%s) is not found below the paths under test", d.Name, d.Origin.Where)
			continue
		}
		a := d.alone()
		if err := t.overlay(&a, d); err != nil {
			return err
		}
		t.Arrays = append(t.Arrays, a)
	}
	return nil
}

// attach gives a declared array to targets of its role that have none, as where /sys is out of
// reach.
func (t *Topology) attach(d *DeclaredArray) bool {
	found := false
	for i := range t.Targets {
		if target := &t.Targets[i]; target.Array == "" && slices.Contains(d.Roles, target.Role) {
			target.Array = cmp.Or(d.Name, "declared")
			found = true
		}
	}
	return found
}

// sign is what a declared array is recognised by, the surest first.
type sign int

const (
	byFlags sign = iota // which name nothing, and are about every array under test
	byVolumes
	byMount
	byName
	byRole
)

func (s sign) String() string {
	return [...]string{"flags", "named volumes", "mount point", "name", "role"}[s]
}

// claim is the arrays that a declared one is about. yielded says that its role's path lies on an
// array that another one is about by a surer sign.
type claim struct {
	arrays  []string
	by      sign
	yielded bool
}

// claims finds what each declared array is about. An array belongs to the declaration with the
// surest sign; where both roles have one path and nothing but roles tells two declarations apart,
// to that of the data. Two with the same sign contradict each other.
func (t *Topology) claims(decl *Declaration) ([]claim, error) {
	all := make([]claim, len(decl.Arrays))
	owner := map[string]int{}
	for i := range all {
		d, c := &decl.Arrays[i], &all[i]
		c.arrays, c.by = t.match(decl, d)
		for _, name := range c.arrays {
			o, taken := owner[name]
			switch {
			case !taken || c.by < all[o].by:
				owner[name] = i
			case c.by > all[o].by:
			case c.by == byRole:
				if slices.Contains(d.Roles, Data) {
					owner[name] = i
				}
			case c.by != byFlags:
				other := decl.Arrays[o]
				return nil, fmt.Errorf("%s: arrays %s and %s (%s) both refer to %s by their %s; declare it once",
					d.Origin.Where, other.Name, d.Name, other.Origin.Where, name, c.by)
			}
		}
	}
	for i := range all {
		c := &all[i]
		had := len(c.arrays)
		c.arrays = slices.DeleteFunc(c.arrays, func(name string) bool { return owner[name] != i && c.by != byFlags })
		c.yielded = had > 0 && len(c.arrays) == 0
	}
	return all, nil
}

// match finds the arrays that a declared one is about, by the surest sign first: its volumes, its
// mount point, its name, and at last its role. Flags name none of these and are about every array
// under test.
func (t *Topology) match(decl *Declaration, d *DeclaredArray) ([]string, sign) {
	names := func(ok func(*Array) bool) []string {
		var found []string
		for i := range t.Arrays {
			if ok(&t.Arrays[i]) {
				found = append(found, t.Arrays[i].Name)
			}
		}
		return found
	}
	if decl.Name == "" {
		return names(func(*Array) bool { return true }), byFlags
	}
	if found := names(func(a *Array) bool {
		return slices.ContainsFunc(a.Volumes, func(v Volume) bool {
			return slices.ContainsFunc(d.Volumes, func(dv DeclaredVolume) bool { return t.same(v, dv) })
		})
	}); len(found) > 0 {
		return found, byVolumes
	}
	var roles, mounts []string
	for _, target := range t.Targets {
		if target.Array == "" {
			continue
		}
		if d.Filesystem != nil && target.Mount != nil && path.Clean(d.Filesystem.Mount) == target.Mount.Point {
			mounts = append(mounts, target.Array)
		}
		if slices.Contains(d.Roles, target.Role) {
			roles = append(roles, target.Array)
		}
	}
	if len(mounts) > 0 {
		return slices.Compact(mounts), byMount
	}
	if found := names(func(a *Array) bool { return t.called(a, d) }); len(found) > 0 {
		return found, byName
	}
	return slices.Compact(roles), byRole
}

// called says whether an array goes by a declared name: that of its device, of md's superblock or
// of a logical volume.
func (t *Topology) called(a *Array, d *DeclaredArray) bool {
	if a.Name == d.Name {
		return true
	}
	if t.Tree == nil || t.Tree.Devices[a.Name] == nil {
		return false
	}
	dev := t.Tree.Devices[a.Name]
	if dev.MD != nil {
		_, after, _ := strings.Cut(dev.MD.Name, ":") // host:name
		return after == d.Name || dev.MD.Name == d.Name || slices.Contains(dev.Links, "/dev/md/"+d.Name)
	}
	return dev.LV != nil && dev.LV.Name == d.Name && (d.VolumeGroup == "" || d.VolumeGroup == dev.LV.VG)
}

// same says whether a declared volume names this one.
func (t *Topology) same(v Volume, d DeclaredVolume) bool {
	switch {
	case v.Device == "":
		return false
	case d.Serial != "":
		return d.Serial == v.Serial || v.ID != "" && ebsID(d.Serial) == v.ID
	case d.ID != "":
		return d.ID == v.ID
	case d.Path != "":
		dev := t.Tree.Device(d.Path)
		return dev != nil && slices.Contains(t.Tree.Below(dev.Name), v.Device)
	}
	return false
}

// overlay lays one declared array over one that was detected, or over an empty one.
func (t *Topology) overlay(a *Array, d *DeclaredArray) error {
	was := *a
	if d.Level != NoLevel {
		if was.Level != d.Level && was.Level != NoLevel {
			t.beats(a, "level", was.Level, d.Level, d.origin("level"))
		}
		a.Level = d.Level
		a.setOrigin("level", d.origin("level"))
	}
	if d.Chunk > 0 {
		if was.Chunk != d.Chunk && was.Chunk != 0 {
			t.beats(a, "chunk", was.Chunk, d.Chunk, d.origin("chunk"))
		}
		a.Chunk = d.Chunk
		a.setOrigin("chunk", d.origin("chunk"))
	}
	if err := t.overlayVolumes(a, d); err != nil {
		return err
	}
	if d.Copies > 0 {
		a.Copies = d.Copies
		a.setOrigin("copies", d.origin("copies"))
	} else if a.Level != was.Level || a.Copies == 0 {
		a.Copies = map[Level]int{RAID1: len(a.Volumes), RAID10: 2}[a.Level]
	}
	if g, ok := d.placed(); ok {
		a.Copies, a.Near, a.Offset = g.Copies, g.Near, g.Offset
		a.setOrigin("layout", d.origin("layout"))
	}
	if len(a.Volumes) > 1 && a.Level == Single {
		a.Level = NoLevel
		t.note("%s: %d volumes are declared for what looks like one; say its level, or the ceiling stays unknown",
			d.Origin.Where, len(a.Volumes))
	}
	return nil
}

// beats notes that a declared figure replaces a detected one.
func (t *Topology) beats(a *Array, what string, old, now any, o Origin) {
	t.note("%s of %s is %v as declared (%s); the machine shows %v", what, a.Name, now, o.Where, old)
}

func (t *Topology) overlayVolumes(a *Array, d *DeclaredArray) error {
	if len(d.Volumes) == 0 {
		return nil
	}
	wanted := slices.Clone(d.Volumes)
	if d.Each {
		for len(wanted) < len(a.Volumes) {
			wanted = append(wanted, d.Volumes[0])
		}
	}
	if len(wanted) != len(a.Volumes) {
		if len(a.Volumes) > 0 {
			t.beats(a, "the number of volumes", len(a.Volumes), len(wanted), d.origin("volumes"))
		}
		a.Volumes = make([]Volume, len(wanted))
	}
	// Those that name a volume go to it, the others fill the places left in their order.
	left := make([]int, 0, len(a.Volumes))
	for i := range a.Volumes {
		j := slices.IndexFunc(wanted, func(w DeclaredVolume) bool { return t.Tree != nil && t.same(a.Volumes[i], w) })
		if j < 0 {
			left = append(left, i)
			continue
		}
		if err := a.Volumes[i].declare(wanted[j]); err != nil {
			return err
		}
		wanted = slices.Delete(wanted, j, j+1)
	}
	for i, w := range wanted {
		v := &a.Volumes[left[i]]
		if id := w.Names(); id != "" && v.Device != "" {
			t.note("%s: the volume %s is not in %s", w.Origin.Where, id, a.Name)
		}
		if err := v.declare(w); err != nil {
			return err
		}
	}
	return nil
}
