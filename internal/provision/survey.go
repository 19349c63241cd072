package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/text"
)

// survey gathers what stands in the way of taking one array down.
type survey struct {
	*state
	found []records.Obstacle
}

// Survey looks at the whole stack of each array, and returns what teardown would meet that apply
// did not make. It changes nothing.
func (s *Site) Survey(ctx context.Context, journals []*records.Work) ([]records.Obstacle, error) {
	var all []records.Obstacle
	for _, w := range journals {
		now, err := s.look(ctx, w)
		if err != nil {
			return nil, err
		}
		now.tree.ReadUsers(os.Getpid())
		v := &survey{state: now}
		if err := v.look(ctx); err != nil {
			return nil, fmt.Errorf("array %s: %w", w.Array, err)
		}
		all = append(all, v.found...)
	}
	return all, nil
}

func (v *survey) add(o records.Obstacle) {
	o.Array = v.w.Array
	v.found = append(v.found, o)
}

func (v *survey) inUse(format string, args ...any) {
	v.add(records.Obstacle{What: fmt.Sprintf(format, args...)})
}

func (v *survey) look(ctx context.Context) error {
	if err := v.lines(); err != nil {
		return err
	}
	if err := v.groups(ctx); err != nil {
		return err
	}
	top, err := v.top()
	switch {
	case errors.Is(err, errGone): // stopped, or a member is not attached
	case err != nil:
		return err
	default:
		v.uses(top)
		if err := v.content(ctx, top); err != nil {
			return err
		}
	}
	return v.volumes(ctx)
}

// lines finds lines of others between plimsoll's marks, and lines elsewhere in fstab that need what
// would go.
func (v *survey) lines() error {
	for _, st := range v.w.Steps {
		for _, a := range st.Undo {
			if a.Cut == nil || st.State == records.StepToDo {
				continue
			}
			file := a.Cut.File
			data, _, err := v.read(file)
			if err != nil {
				return err
			}
			for _, line := range a.Cut.Foreign(data) {
				v.add(records.Obstacle{What: fmt.Sprintf("%s has a line between plimsoll's marks that apply did not "+
					"write: %.200q", file, line), Name: file})
			}
			if file == "/etc/fstab" {
				v.needing(data)
			}
		}
	}
	return nil
}

// needing finds lines of fstab, outside of plimsoll's, that mount the array or something on it: the
// next boot would miss it.
func (v *survey) needing(rest []byte) {
	for _, st := range v.w.Steps {
		for _, a := range st.Undo {
			if a.Cut == nil || a.Cut.File != "/etc/fstab" {
				continue
			}
			var err error
			if rest, _, err = a.Cut.Cut(rest); err != nil {
				return // foreign has said so
			}
		}
	}
	uuid := v.w.FilesystemUUID()
	mine := []string{v.w.Top(), "UUID=" + uuid, "/dev/disk/by-uuid/" + uuid}
	if l := v.w.Want.Label; l != "" {
		mine = append(mine, "LABEL="+l, "/dev/disk/by-label/"+l)
	}
	for _, f := range fields(string(rest)) {
		if slices.Contains(mine, f[0]) || len(f) > 1 && v.w.Want.Mount != "" && below(f[0], v.w.Want.Mount) {
			v.inUse("/etc/fstab has another line that needs it: %s; take that out first", strings.Join(f, " "))
		}
	}
}

// below says whether a path is a directory or lies in it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// uses finds whoever uses the array's device, or its filesystem beyond the one mount that apply
// made.
func (v *survey) uses(top *block.Device) {
	names := append([]string{top.Name}, top.Partitions...)
	own, points := map[int]bool{}, map[string]bool{}
	for _, name := range names {
		for _, m := range v.tree.MountsOf(name) {
			if v.w.Mounts(m.Point) && name == top.Name && m.Root == "/" && !points[m.Point] {
				own[m.ID], points[m.Point] = true, true
				continue
			}
			v.inUse("it is also mounted on %s; unmount it first", m.Point)
		}
		if slices.Contains(v.tree.Swaps, name) {
			v.inUse("/dev/%s is used as swap; swapoff it first", name)
		}
		for _, h := range v.tree.Devices[name].Holders {
			v.holder(h)
		}
		for _, u := range v.tree.UsersOf(name) {
			v.inUse("%s: %s; end that first", v.tree.Devices[name].Path, u)
		}
	}
	if len(own) == 0 {
		return
	}
	for _, m := range v.tree.Mounts {
		if own[m.Under] && !own[m.ID] {
			v.inUse("%s is mounted below it, on %s; unmount it first", m.Source, m.Point)
		}
	}
	for point := range points {
		v.files(point)
	}
}

// files finds who uses files of a filesystem, by the names that /proc and /sys give them.
func (v *survey) files(point string) {
	for _, f := range v.tree.SwapFiles {
		if below(f, point) {
			v.inUse("%s is used as swap; swapoff it first", f)
		}
	}
	for _, d := range v.tree.Devices {
		if d.Kind == block.Loop && below(d.Backing, point) {
			v.inUse("the loop device %s lies in its file %s; detach it first", d.Path, d.Backing)
		}
	}
	for _, u := range v.tree.OpenBelow(point, os.Getpid()) {
		v.inUse("%s; end that first", u)
	}
}

// holder names what is made of the array. A logical volume is found among its group's, too, by
// groups.
func (v *survey) holder(name string) {
	d := v.tree.Devices[name]
	switch {
	case d == nil:
		v.inUse("/dev/%s is made of it; take that down first", name)
	case d.LV != nil && v.w.Adopted != "" && d.LV.VG == v.w.Want.Group:
		for _, u := range slices.Concat(v.tree.UsersOf(name), v.tree.Devices[name].Holders) {
			v.inUse("the logical volume %s/%s is in use: %s; end that first", d.LV.VG, d.LV.Name, u)
		}
		if slices.Contains(v.tree.Swaps, name) {
			v.inUse("the logical volume %s/%s is used as swap; swapoff it first", d.LV.VG, d.LV.Name)
		}
	case d.LV != nil:
		v.inUse("the logical volume %s/%s is made of it; take that down first", d.LV.VG, d.LV.Name)
	default:
		v.inUse("%s is made of it; take that down first", d.Path)
	}
}

// content compares what is on the array's device with what apply has put there.
func (v *survey) content(ctx context.Context, top *block.Device) error {
	if v.w.Want.Using == "" {
		return nil // the volume itself; see volumes
	}
	name := v.w.Top()
	found := func(format string, args ...any) {
		v.add(records.Obstacle{What: fmt.Sprintf(format, args...), Name: name})
	}
	tags, err := v.export(ctx, top.Path)
	if err != nil {
		return err
	}
	kind, want := tags["TYPE"], v.w.Want.FS+" "+v.w.FilesystemUUID()
	if kind == "" {
		kind = tags["PTTYPE"]
	}
	made := v.w.Want.FS != "" && v.w.Did("filesystem")
	switch {
	case made && tags["TYPE"]+" "+tags["UUID"] == want,
		v.w.Undoing && kind == "",
		v.w.Adopted != "" && kind == "LVM2_member" && v.w.FilesystemUUID() == tags["UUID"]:
		return nil
	case kind != "":
		found("%s carries %s%s, which apply did not make", name, kind, named(tags))
		return nil
	case made && v.begun("filesystem"):
		return nil // mkfs was cut short
	case made:
		found("%s no longer carries the filesystem that apply made; its contents are not known", name)
		return nil
	case v.w.For != "":
		return nil // of a measurement, built a moment ago: what its last layout left on the volumes shows through
	}
	// Nothing was to be on it, and nothing is recognised: somebody may use it as it is.
	f, err := v.exclusive(v.tree, top, os.O_RDONLY)
	if err != nil && len(v.found) > 0 {
		return nil // who uses it is named already
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	at, err := records.FirstByte(ctx, f, int64(top.Size), true)
	if err == nil && at >= 0 {
		found("%s holds data: byte %d is not zero", name, at)
	}
	return err
}

// begun says whether the step with such a check was begun and not finished.
func (v *survey) begun(check records.CondKind) bool {
	return slices.ContainsFunc(v.w.Steps, func(st records.Step) bool {
		return st.State == records.StepBegun && slices.ContainsFunc(st.Check,
			func(c records.Cond) bool { return c.Is == check })
	})
}

func named(tags map[string]string) string {
	var s string
	if l := tags["LABEL"]; l != "" {
		s = fmt.Sprintf(" labelled %.40q", l)
	}
	if u := tags["UUID"]; u != "" {
		s += fmt.Sprintf(" (UUID %.40s)", u)
	}
	return s
}

// groups finds logical volumes of others in the array's volume group, and volumes that others have
// added to it.
func (v *survey) groups(ctx context.Context) error {
	if v.w.Want.Using != "lvm" || !v.w.Did("vg") && !v.w.Did("lv") {
		return nil
	}
	group := v.w.Want.Group
	rows, err := v.lvm(ctx, "pvs", "pv_name,vg_name")
	if err != nil {
		return err
	}
	mine, there := v.members(), false
	for _, r := range rows {
		if r["vg_name"] != group {
			continue
		}
		there = true
		if d := v.tree.Device(r["pv_name"]); d == nil || !mine[d.Name] {
			v.inUse("the volume group %s also lies on %s, which apply did not give it; take that out first: %s",
				group, r["pv_name"], text.ShellLine([]string{"vgreduce", group, r["pv_name"]}))
		}
	}
	if !there {
		return nil
	}
	rows, err = v.lvm(ctx, "lvs", "lv_name,lv_size,lv_attr", group)
	if err != nil {
		return err
	}
	for _, r := range rows {
		name := r["lv_name"]
		if name == v.w.Array && v.w.Did("lv") {
			continue
		}
		o := records.Obstacle{What: fmt.Sprintf("/dev/%s/%s is a logical volume that apply did not make, of %s bytes",
			group, name, r["lv_size"])}
		if busy := v.busyLV(group, name); busy != "" {
			o.What += "; " + busy
		} else {
			o.Name = "/dev/" + group + "/" + name
			o.Command = records.LVM("lvremove --yes", group+"/"+name).Run
		}
		v.add(o)
	}
	return nil
}

// busyLV says how a logical volume of others is in use.
func (v *survey) busyLV(group, name string) string {
	for _, d := range v.tree.Devices {
		if d.LV == nil || d.LV.VG != group || d.LV.Name != name {
			continue
		}
		if why := v.tree.Using(d); len(why) > 0 {
			return strings.Join(why, "; ") + "; end that first"
		}
	}
	return ""
}
