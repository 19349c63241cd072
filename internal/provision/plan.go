package provision

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/host"
	"plimsoll/internal/permit"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// planner makes plans from what is declared and what the machine shows; it changes nothing.
type planner struct {
	*Site
	tree     *block.Tree
	decl     *topology.Declaration
	journals []*records.Work
	broken   []*records.BrokenJournal
	destroy  map[string]string // serial by kernel name
	taken    map[string]string // array by serial
	made     map[string]bool   // directories that a step of this plan makes
	notes    []string
	grew     []*records.Work
	imagined bool // the volumes are not there, and the machine may be another
}

// Plan says what apply would do. Destroy names devices, with their serials, whose content may be
// lost. Its errors say what to change, in the file or on the machine.
func (s *Site) Plan(ctx context.Context, decl *topology.Declaration, destroy map[string]string) (*Plan, error) {
	tree, err := block.Read(s.Machine)
	if err != nil {
		return nil, err
	}
	if err := tree.ReadSegments(ctx, s.Machine); err != nil {
		tree.Notes = append(tree.Notes, err.Error())
	}
	tree.ReadUsers(os.Getpid())
	journals, broken, err := s.Journals()
	if err != nil {
		return nil, err
	}
	rename(tree, journals)
	// An apply that came no further than refusing a volume has left nothing to go on from: it is
	// planned again.
	begun := map[string]time.Time{}
	journals = slices.DeleteFunc(journals, func(w *records.Work) bool {
		if w.Untouched() {
			begun[w.Array] = w.Started
		}
		return w.Untouched()
	})
	p := &planner{
		Site:     s,
		tree:     tree,
		decl:     decl,
		journals: journals,
		broken:   broken,
		taken:    map[string]string{},
		made:     map[string]bool{},
	}
	for _, b := range broken {
		p.note("%v", b)
	}
	if p.destroy, err = records.Destroyed(tree, destroy); err != nil {
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
		if at, ok := begun[w.Array]; ok && !w.Found {
			w.Started = at // which says that this plan knows of that journal
		}
		plan.Arrays = append(plan.Arrays, w)
	}
	for name, serial := range p.destroy {
		if !slices.ContainsFunc(plan.Arrays, func(w *records.Work) bool { return w.Has(serial) }) {
			return nil, fmt.Errorf("--destroy /dev/%s: it is not a member of any array in %s, and stays as it is", name,
				decl.Name)
		}
	}
	p.initramfs(plan)
	plan.Notes, plan.Grown = p.notes, p.grew
	return plan, nil
}

// array plans one array: from its journal, as found, or from blank volumes.
func (p *planner) array(ctx context.Context, d *topology.DeclaredArray) (*records.Work, error) {
	want, err := records.Settle(d)
	if err != nil {
		return nil, err
	}
	for _, b := range p.broken {
		if b.Array == d.Name {
			return nil, b
		}
	}
	for _, w := range p.journals {
		if w.Array != d.Name {
			continue
		}
		if w.Undoing {
			return nil, fmt.Errorf("its teardown has begun; finish that first: plimsoll array teardown %s", w.Array)
		}
		if records.Differ(w.Want, want) != "" {
			return p.changed(ctx, w, want, d)
		}
		p.enlarged(w)
		return w, nil
	}
	w := &records.Work{Array: d.Name, Want: want}
	if dev := p.standing(w, d); dev != nil {
		diffs, err := p.compare(ctx, w, d, dev)
		if err != nil {
			return nil, err
		}
		if len(diffs) > 0 {
			return nil, fmt.Errorf("%s exists already and is not as declared: %s", dev.Path, diffs[0])
		}
		w.Found = true
		for _, leaf := range p.tree.Leaves(dev.Name) {
			w.Members = append(w.Members,
				records.Member{Serial: records.Identity(leaf), Size: leaf.Size, Path: leaf.Path, Model: leaf.Model})
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

// initramfs adds the renewal of the initramfs, which has a copy of mdadm.conf.
func (p *planner) initramfs(plan *Plan) {
	for _, w := range plan.Arrays {
		if w.InitramfsStale || slices.ContainsFunc(w.Steps, func(st records.Step) bool {
			return st.State != records.StepDone &&
				slices.ContainsFunc(st.Do,
					func(a records.Action) bool { return a.Add != nil && path.Base(a.Add.File) == "mdadm.conf" })
		}) {
			if plan.Initramfs = host.Renewal(p.Installed); plan.Initramfs == nil {
				p.note("neither update-initramfs nor dracut is installed: the initramfs, if there is one, is left alone")
			}
			return
		}
	}
}

func (p *planner) note(format string, args ...any) {
	p.notes = text.Once(p.notes, fmt.Sprintf(format, args...))
}

// has says whether a path is there, as the machine's root shows it.
func (s *Site) has(name string) bool {
	_, err := fs.Stat(s.Machine.Root, strings.TrimPrefix(name, "/"))
	return err == nil
}

// text is a file of the machine, empty when it is not there.
func (s *Site) text(name string) string {
	data, err := fs.ReadFile(s.Machine.Root, strings.TrimPrefix(name, "/"))
	if err != nil {
		return ""
	}
	return string(data)
}

// collisions refuses names and places that are taken.
func (p *planner) collisions(ctx context.Context, w *records.Work) error {
	want, point := w.Want, w.Want.Mount
	for _, d := range p.tree.Devices {
		if want.Label != "" && d.Label == want.Label {
			return fmt.Errorf("label %s: %s already has this label", want.Label, d.Path)
		}
		if d.LV != nil && want.Using == "lvm" && d.LV.VG == want.Group {
			return fmt.Errorf("volume group %s already exists; choose another volume_group", want.Group)
		}
	}
	for _, line := range fields(p.text("etc/mdadm/mdadm.conf") + "\n" + p.text("etc/mdadm.conf")) {
		if want.Using == "md" && len(line) > 1 && line[0] == "ARRAY" && line[1] == w.Top() {
			return fmt.Errorf("mdadm.conf has another array as %s; choose another name, or take the line out", w.Top())
		}
	}
	if want.Using == "lvm" {
		if rows, err := p.lvm(ctx, "vgs", "vg_name"); err == nil && has(rows, "vg_name", want.Group) {
			return fmt.Errorf("volume group %s already exists; choose another volume_group", want.Group)
		}
	}
	for _, o := range p.journals {
		if want.Using == "lvm" && o.Want.Using == "lvm" && o.Want.Group == want.Group {
			return fmt.Errorf("volume group %s belongs to array %s; choose another volume_group", want.Group, o.Array)
		}
	}
	for _, o := range p.decl.Arrays {
		if group := cmp.Or(o.VolumeGroup, o.Name); want.Using == "lvm" && o.Using == "lvm" && o.Name != w.Array &&
			group == want.Group {
			return fmt.Errorf("volume group %s is also that of array %s; give each its own", want.Group, o.Name)
		}
	}
	if point == "" {
		return nil
	}
	if err := p.reach(point); err != nil {
		return err
	}
	if state := filepath.Dir(p.Journal); strings.HasPrefix(filepath.Join(p.Root, point)+"/", state+"/") {
		return fmt.Errorf("mount point %s lies in %s, which plimsoll keeps its own records in; choose another", point, state)
	}
	if m := p.tree.MountOf(point); m != nil && m.Point == point {
		return fmt.Errorf("mount point %s is in use by %s", point, m.Source)
	}
	for _, line := range fields(p.text("etc/fstab")) {
		if len(line) > 1 && path.Clean(line[1]) == point {
			return fmt.Errorf("mount point %s has a line in /etc/fstab already: %s", point, strings.Join(line, " "))
		}
	}
	if entries, err := fs.ReadDir(p.Machine.Root, strings.TrimPrefix(point, "/")); err == nil && len(entries) > 0 {
		return fmt.Errorf("mount point %s holds %q and would hide it; empty it, or choose another", point,
			entries[0].Name())
	}
	return nil
}

// reach refuses a mount point whose way others can change, or will be able to once an array of the
// plan that it lies below has its owner.
func (p *planner) reach(point string) error {
	for _, o := range p.decl.Arrays {
		if fs := o.Filesystem; fs != nil && strings.HasPrefix(point, path.Clean(fs.Mount)+"/") && !rootsOwn(fs.Owner) {
			return fmt.Errorf("mount point %s lies under %s of array %s, which will then belong to %s, who could "+
				"put something else in its place: mount it outside of that", point, fs.Mount, o.Name, fs.Owner)
		}
	}
	if p.imagined {
		return nil
	}
	for dir := path.Dir(point); dir != "/" && !p.has(dir); dir = path.Dir(dir) {
		point = dir // apply makes it, as root
	}
	return permit.Way(p.at(point), "lead to a mount point")
}

func rootsOwn(owner string) bool {
	user, _, _ := strings.Cut(owner, ":")
	return user == "" || user == "root" || user == "0"
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
func (p *planner) programs(w *records.Work) error {
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
	for _, name := range need {
		if !p.Installed(name) {
			return fmt.Errorf("%s is not installed: install %s", name, cmp.Or(packageOf[name], name))
		}
	}
	return nil
}

// Imagine plans for volumes that are not there, on a laptop or before they are bought: the steps
// are those that Plan will find when they are, with placeholders for serial numbers that are not
// declared. Files are named as on the machine that it runs on.
func (s *Site) Imagine(decl *topology.Declaration) (*Plan, error) {
	if len(decl.Arrays) == 0 {
		return nil, fmt.Errorf("%s: no arrays are declared: there is nothing to build", decl.Name)
	}
	p := &planner{Site: s, tree: &block.Tree{}, decl: decl, made: map[string]bool{}, imagined: true}
	p.note("the plan is hypothetical: no device was inspected; NAMES IN CAPITALS are placeholders")
	plan := &Plan{File: decl.Name}
	for i := range decl.Arrays {
		d := &decl.Arrays[i]
		w, err := p.imagine(d)
		if err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", d.Origin.Where, d.Name, err)
		}
		plan.Arrays = append(plan.Arrays, w)
	}
	p.initramfs(plan)
	plan.Notes = p.notes
	return plan, nil
}

func (p *planner) imagine(d *topology.DeclaredArray) (*records.Work, error) {
	want, err := records.Settle(d)
	if err != nil {
		return nil, err
	}
	w := &records.Work{Array: d.Name, Want: want}
	for i, v := range d.Volumes {
		if t, _ := cloud.TypeNamed(v.Type); t.EBS() && v.Names() == "" {
			p.note("the serial number of an EBS volume is its ID without the dash")
		}
		place := fmt.Sprintf("%s-%d", strings.ToUpper(d.Name), i+1)
		w.Members = append(w.Members, records.Member{
			Serial: cmp.Or(records.SerialOf(v), "SERIAL-OF-"+place),
			Size:   v.Size,
			Path:   cmp.Or(v.Path, "/dev/"+place),
			Model:  strings.TrimSpace(v.Type + " " + v.Model),
		})
	}
	return w, p.steps(context.Background(), w)
}
