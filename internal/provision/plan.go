package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// planner makes plans from what is declared and what the machine shows; it changes nothing.
type planner struct {
	*Site
	tree     *block.Tree
	decl     *topology.Declaration
	journals []*Work
	destroy  map[string]string // serial by kernel name
	taken    map[string]string // array by serial
	made     map[string]bool   // directories that a step of this plan makes
	notes    []string
}

// Plan says what apply would do. Destroy names devices, with their serials, whose content may be lost. Its errors say
// what to change, in the file or on the machine.
func (s *Site) Plan(ctx context.Context, decl *topology.Declaration, destroy map[string]string) (*Plan, error) {
	tree, err := block.Read(s.Machine)
	if err != nil {
		return nil, err
	}
	if err := tree.ReadSegments(ctx, s.Machine); err != nil {
		tree.Notes = append(tree.Notes, err.Error())
	}
	journals, err := s.Journals()
	if err != nil {
		return nil, err
	}
	p := &planner{Site: s, tree: tree, decl: decl, journals: journals, taken: map[string]string{}, made: map[string]bool{}}
	if p.destroy, err = named(tree, destroy); err != nil {
		return nil, err
	}
	plan := &Plan{File: decl.Name}
	if len(decl.Arrays) == 0 {
		return nil, fmt.Errorf("%s: no arrays are declared: there is nothing to build", decl.Name)
	}
	for _, w := range journals {
		for _, m := range w.Members {
			p.taken[m.Serial] = w.Array
		}
	}
	for i := range decl.Arrays {
		w, err := p.array(ctx, &decl.Arrays[i])
		if err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", decl.Arrays[i].Origin.Where, decl.Arrays[i].Name, err)
		}
		plan.Arrays = append(plan.Arrays, w)
	}
	for name, serial := range p.destroy {
		if !slices.ContainsFunc(plan.Arrays, func(w *Work) bool {
			return slices.ContainsFunc(w.Members, func(m Member) bool { return m.Serial == serial })
		}) {
			return nil, fmt.Errorf("--destroy /dev/%s: it is not a member of any array in %s, and stays as it is", name, decl.Name)
		}
	}
	plan.Notes = p.notes
	return plan, nil
}

// named checks that each device to destroy is the one with that serial.
func named(t *block.Tree, destroy map[string]string) (map[string]string, error) {
	all := map[string]string{}
	for dev, serial := range destroy {
		d := t.Device(dev)
		if d == nil {
			return nil, fmt.Errorf("--destroy %s: there is no such device", dev)
		}
		if identity(d) != serial || serial == "" {
			return nil, fmt.Errorf("--destroy %s --serial %s: its serial is %s; nothing was touched", dev, serial, cmp.Or(identity(d), "not known"))
		}
		all[d.Name] = serial
	}
	return all, nil
}

// array plans one array: from its journal, as found, or from blank volumes.
func (p *planner) array(ctx context.Context, d *topology.DeclaredArray) (*Work, error) {
	want, err := settle(d)
	if err != nil {
		return nil, err
	}
	for _, w := range p.journals {
		if w.Array != d.Name {
			continue
		}
		if w.Torn {
			return nil, fmt.Errorf("it is half taken down; finish that first: plimsoll teardown %s", w.Array)
		}
		if change := differ(w.Want, want); change != "" {
			return nil, fmt.Errorf("it was built from another declaration (%s); tear it down first: plimsoll teardown %s", change, d.Name)
		}
		return w, nil
	}
	w := &Work{Array: d.Name, Want: want}
	if dev := p.standing(w, d); dev != nil {
		diffs, err := p.compare(ctx, w, d, dev)
		if err != nil {
			return nil, err
		}
		if len(diffs) > 0 {
			return nil, fmt.Errorf("%s is there already and not as declared: %s", dev.Path, diffs[0])
		}
		w.Found = true
		for _, leaf := range p.tree.Leaves(dev.Name) {
			w.Members = append(w.Members, Member{Serial: identity(leaf), Size: leaf.Size, Path: leaf.Path, Model: leaf.Model})
		}
		return w, nil
	}
	if err := p.members(ctx, w, d); err != nil {
		return nil, err
	}
	if err := p.collisions(ctx, w); err != nil {
		return nil, err
	}
	if err := p.programs(w); err != nil {
		return nil, err
	}
	return w, p.steps(ctx, w)
}

var (
	mountPoint = regexp.MustCompile(`^/[A-Za-z0-9_./+@-]+$`)
	labelText  = regexp.MustCompile(`^[A-Za-z0-9_.+-]*$`)
	optionText = regexp.MustCompile(`^[A-Za-z0-9_.=:/+-]+$`)
	ownerText  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	groupText  = regexp.MustCompile(`^[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,126}$`)
	nameText   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)
)

func nameOK(s string) bool { return nameText.MatchString(s) }

// settle fills in what the declaration leaves open, and refuses what cannot be built or does not fit.
func settle(d *topology.DeclaredArray) (Want, error) {
	if !nameOK(d.Name) {
		return Want{}, fmt.Errorf("name %.40q: want up to 32 letters, digits, dots, hyphens and underscores", d.Name)
	}
	n := len(d.Volumes)
	if n == 0 || d.Each {
		return Want{}, errors.New("which volumes is not said; name them by serial, id or by-id path, or say count and size, such as 4 x gp2 3000GiB")
	}
	w := Want{
		Level: d.Level, Copies: d.Copies, Chunk: d.Chunk, Using: cmp.Or(d.Using, "md"), Group: d.VolumeGroup,
		Segment: d.Segment, Clean: d.AssumeClean, Partition: d.Partition, Volumes: selectors(d.Volumes),
	}
	if w.Level == topology.NoLevel && n == 1 {
		w.Level = topology.Single
	}
	switch w.Level {
	case topology.NoLevel:
		return w, fmt.Errorf("its level is missing; say raid10, raid0 or another for %d volumes", n)
	case topology.Linear:
		return w, errors.New("level linear uses one volume after the other; plimsoll builds none, say raid0")
	case topology.Single:
		if w.Using == "md" {
			w.Using = ""
		}
	case topology.RAID10:
		w.Copies = cmp.Or(w.Copies, 2)
		if n%w.Copies != 0 {
			return w, fmt.Errorf("raid10 with %d copies needs a multiple of %[1]d volumes for whole stripes, here are %d", w.Copies, n)
		}
	case topology.RAID1:
		if w.Copies = cmp.Or(w.Copies, n); w.Copies != n {
			return w, fmt.Errorf("raid1 keeps a copy on each volume: %d volumes are %[1]d copies, not %d; say raid10", n, w.Copies)
		}
	case topology.RAID0, topology.RAID5, topology.RAID6:
	}
	w.Data = topology.Array{Level: w.Level, Copies: w.Copies, Volumes: make([]topology.Volume, n)}.DataMembers()
	if striped(w.Level) && w.Chunk == 0 {
		w.Chunk = 512 * units.KiB // mdadm(8) --chunk
		if w.Using == "lvm" {
			w.Chunk = 64 * units.KiB // lvmcreate(8) --stripesize
		}
	}
	if striped(w.Level) && w.Chunk&(w.Chunk-1) != 0 && (w.Using == "lvm" || w.Level != topology.RAID0) {
		return w, fmt.Errorf("chunk %v: want a power of two", w.Chunk)
	}
	if w.Clean && (w.Level == topology.RAID5 || w.Level == topology.RAID6) {
		return w, fmt.Errorf("assume_clean: the parity of %s would be wrong wherever a volume is not zero; leave it out and let it be computed", w.Level)
	}
	if w.Segment != "" && w.Level != topology.RAID0 {
		return w, fmt.Errorf("segment %s goes with level raid0, not %s", w.Segment, w.Level)
	}
	if w.Using == "lvm" {
		w.Group = cmp.Or(w.Group, d.Name)
		if !groupText.MatchString(w.Group) {
			return w, fmt.Errorf("volume_group %.40q: want letters, digits, dots, hyphens and underscores", w.Group)
		}
	}
	return w, w.filesystem(d.Filesystem)
}

func striped(l topology.Level) bool {
	return slices.Contains([]topology.Level{topology.RAID0, topology.RAID10, topology.RAID5, topology.RAID6}, l)
}

// filesystem takes over what is to be on the array.
func (w *Want) filesystem(f *topology.DeclaredFilesystem) error {
	if f == nil {
		return nil
	}
	w.FS, w.Label, w.Owner, w.Mode, w.ByLabel = cmp.Or(f.Type, "xfs"), f.Label, f.Owner, f.Mode, f.Fstab == "label"
	if !labelText.MatchString(f.Label) {
		return fmt.Errorf("label %.40q: want letters, digits, dots, hyphens and underscores", f.Label)
	}
	if f.Owner != "" && !ownerText.MatchString(f.Owner) {
		return fmt.Errorf("owner %.60q: want user or user:group", f.Owner)
	}
	if f.Mount == "" {
		if f.Owner != "" || f.Mode != "" || len(f.Options) > 0 {
			return errors.New("options, owner and mode are of a mount point, and none is given")
		}
	} else if w.Mount = path.Clean(f.Mount); !mountPoint.MatchString(w.Mount) {
		return fmt.Errorf("mount %.60q: want a path of letters, digits and ._+@-", f.Mount)
	}
	if striped(w.Level) {
		su, sw := cmp.Or(f.StripeUnit, w.Chunk), cmp.Or(f.StripeData, w.Data)
		if su != w.Chunk || sw != w.Data {
			return fmt.Errorf("su=%s,sw=%d does not fit: %s with chunk %v has %d data members, so su=%s,sw=%d; or leave them out", short(su), sw, w.Level, w.Chunk, w.Data, short(w.Chunk), w.Data)
		}
	} else if f.StripeUnit > 0 || f.StripeData > 0 {
		return fmt.Errorf("su and sw are of striped arrays; %s has no stripe: leave them out", w.Level)
	}
	options := slices.Clone(f.Options)
	if len(options) == 0 {
		options = []string{"noatime"}
	}
	for _, o := range options {
		if !optionText.MatchString(o) {
			return fmt.Errorf("option %.40q: want letters, digits and _.=:/+-", o)
		}
		if o == "discard" {
			return errors.New("option discard: every deletion would wait for the drive; leave it out and enable fstrim.timer")
		}
		if k, _, _ := strings.Cut(o, "="); k == "sunit" || k == "swidth" || k == "stripe" {
			return fmt.Errorf("option %s: the filesystem is made to fit the array; leave it out", o)
		}
	}
	if !slices.Contains(options, "nofail") {
		options = append(options, "nofail") // a missing volume must not keep the machine from booting
	}
	w.Options = strings.Join(options, ",")
	return nil
}

// short is a size as mkfs takes it: 64k.
func short(b units.Bytes) string {
	for _, u := range []struct {
		one  units.Bytes
		name string
	}{{units.MiB, "m"}, {units.KiB, "k"}} {
		if b >= u.one && b%u.one == 0 {
			return fmt.Sprintf("%d%s", uint64(b/u.one), u.name)
		}
	}
	return fmt.Sprint(uint64(b))
}

// differ is the first difference between two wants, "" for none.
func differ(was, now Want) string {
	for _, f := range []struct{ what, was, now string }{
		{"level", string(was.Level), string(now.Level)},
		{"copies", fmt.Sprint(was.Copies), fmt.Sprint(now.Copies)},
		{"chunk", was.Chunk.String(), now.Chunk.String()},
		{"using", was.Using, now.Using},
		{"volume_group", was.Group, now.Group},
		{"segment", was.Segment, now.Segment},
		{"assume_clean", fmt.Sprint(was.Clean), fmt.Sprint(now.Clean)},
		{"partition", fmt.Sprint(was.Partition), fmt.Sprint(now.Partition)},
		{"filesystem.type", was.FS, now.FS},
		{"filesystem.label", was.Label, now.Label},
		{"filesystem.mount", was.Mount, now.Mount},
		{"filesystem.options", was.Options, now.Options},
		{"filesystem.owner", was.Owner, now.Owner},
		{"filesystem.mode", was.Mode, now.Mode},
		{"filesystem.fstab", fmt.Sprint(was.ByLabel), fmt.Sprint(now.ByLabel)},
		{"volumes", was.Volumes, now.Volumes},
	} {
		if f.was != f.now {
			return fmt.Sprintf("%s was %s, is %s", f.what, cmp.Or(f.was, "none"), cmp.Or(f.now, "none"))
		}
	}
	return ""
}

func (p *planner) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(p.notes, n) {
		p.notes = append(p.notes, n)
	}
}

// has says whether a path is there, as the machine's root shows it.
func (p *planner) has(name string) bool {
	_, err := fs.Stat(p.Machine.Root, strings.TrimPrefix(name, "/"))
	return err == nil
}

// text is a file of the machine, empty when it is not there.
func (p *planner) text(name string) string {
	data, err := fs.ReadFile(p.Machine.Root, strings.TrimPrefix(name, "/"))
	if err != nil {
		return ""
	}
	return string(data)
}

// collisions refuses names and places that are taken.
func (p *planner) collisions(ctx context.Context, w *Work) error {
	want := w.Want
	for _, d := range p.tree.Devices {
		if want.Label != "" && d.Label == want.Label {
			return fmt.Errorf("label %s: %s has it already", want.Label, d.Path)
		}
		if d.LV != nil && want.Using == "lvm" && d.LV.VG == want.Group {
			return fmt.Errorf("volume group %s is there already; choose another volume_group", want.Group)
		}
	}
	for _, line := range fields(p.text("etc/mdadm/mdadm.conf") + "\n" + p.text("etc/mdadm.conf")) {
		if want.Using == "md" && len(line) > 1 && line[0] == "ARRAY" && line[1] == w.Top() {
			return fmt.Errorf("mdadm.conf has another array as %s; choose another name, or take the line out", w.Top())
		}
	}
	if want.Using == "lvm" {
		rows, err := p.lvm(ctx, "vgs", "vg_name")
		if err == nil && slices.ContainsFunc(rows, func(r map[string]string) bool { return r["vg_name"] == want.Group }) {
			return fmt.Errorf("volume group %s is there already; choose another volume_group", want.Group)
		}
	}
	for _, o := range p.journals {
		if want.Using == "lvm" && o.Want.Using == "lvm" && o.Want.Group == want.Group {
			return fmt.Errorf("volume group %s belongs to array %s; choose another volume_group", want.Group, o.Array)
		}
	}
	for _, o := range p.decl.Arrays {
		if group := cmp.Or(o.VolumeGroup, o.Name); want.Using == "lvm" && o.Using == "lvm" && o.Name != w.Array && group == want.Group {
			return fmt.Errorf("volume group %s is also that of array %s; give each its own", want.Group, o.Name)
		}
	}
	if want.Mount == "" {
		return nil
	}
	if m := p.tree.MountOf(want.Mount); m != nil && m.Point == want.Mount {
		return fmt.Errorf("mount point %s is in use by %s", want.Mount, m.Source)
	}
	for _, line := range fields(p.text("etc/fstab")) {
		if len(line) > 1 && path.Clean(line[1]) == want.Mount {
			return fmt.Errorf("mount point %s has a line in /etc/fstab already: %s", want.Mount, strings.Join(line, " "))
		}
	}
	if entries, err := fs.ReadDir(p.Machine.Root, strings.TrimPrefix(want.Mount, "/")); err == nil && len(entries) > 0 {
		return fmt.Errorf("mount point %s holds %q and would hide it; empty it, or choose another", want.Mount, entries[0].Name())
	}
	return nil
}

// fields are the words of each line that is no comment.
func fields(text string) [][]string {
	var all [][]string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && !strings.HasPrefix(f[0], "#") {
			all = append(all, f)
		}
	}
	return all
}

// programs refuses to begin what could not be finished.
func (p *planner) programs(w *Work) error {
	need := []string{"blkid", "wipefs"}
	switch w.Want.Using {
	case "md":
		need = append(need, "mdadm")
	case "lvm":
		need = append(need, "pvcreate", "vgcreate", "lvcreate")
	}
	if w.Want.Partition {
		need = append(need, "sgdisk")
	}
	if w.Want.FS != "" {
		need = append(need, "mkfs."+w.Want.FS)
	}
	packages := map[string]string{"sgdisk": "gdisk", "mkfs.xfs": "xfsprogs", "mkfs.ext4": "e2fsprogs", "mdadm": "mdadm", "blkid": "util-linux", "wipefs": "util-linux"}
	for _, name := range need {
		if p.program(name) == "" {
			return fmt.Errorf("%s: %w; install %s", name, sys.ErrNotFound, cmp.Or(packages[name], "lvm2"))
		}
	}
	return nil
}

// program is where a program is installed, "" when it is not.
func (p *planner) program(name string) string {
	for _, dir := range []string{"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/", "/usr/local/sbin/", "/usr/local/bin/"} {
		if p.has(dir + name) {
			return dir + name
		}
	}
	return ""
}
