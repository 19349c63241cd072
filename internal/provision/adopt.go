package provision

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Adopt looks at an md array that others have made and writes a journal of it as if apply had: the
// array, its line in mdadm.conf, what is on it (a filesystem, or a volume group with its logical
// volumes), its lines in /etc/fstab and its mounts. Teardown then undoes that, newest first.
// Serials name every member; one too few or too many is refused, and so is what cannot be undone by
// these steps. The members' partition tables stay. Nothing is changed; Save keeps the journal.
func (s *Site) Adopt(ctx context.Context, device string, serials []string) (*records.Work, error) {
	tree, err := block.Read(s.Machine)
	if err != nil {
		return nil, err
	}
	d := tree.Device(device)
	switch {
	case d == nil:
		return nil, fmt.Errorf("--adopt %s: there is no such device; see: cat /proc/mdstat", device)
	case d.MD == nil:
		return nil, fmt.Errorf("--adopt %s: it is a %s, and only md arrays are adopted", device, d.Kind)
	case d.MD.UUID == "":
		return nil, fmt.Errorf("--adopt %s: it has no UUID that could be read; run as root", device)
	}
	w := &records.Work{Array: adoptedName(d), Adopted: d.Path, Want: records.Want{
		Level: topology.Level(d.MD.Level), Using: "md", Chunk: d.MD.Chunk, Data: 1,
	}}
	journals, _, err := s.Journals()
	if err != nil {
		return nil, err
	}
	for _, j := range journals {
		if block.BareUUID(j.UUID()) == block.BareUUID(d.MD.UUID) {
			return nil, fmt.Errorf("--adopt %s: plimsoll already has a journal for this array; plimsoll array teardown %s",
				device, j.Array)
		}
		if j.Array == w.Array {
			w.Array += "-adopted"
		}
	}
	if err := adoptMembers(w, tree, d, serials); err != nil {
		return nil, fmt.Errorf("--adopt %s: %w; nothing was touched", device, err)
	}
	a := &adoption{state: &state{s, w, tree}, top: d}
	if err := a.steps(ctx); err != nil {
		return nil, fmt.Errorf("--adopt %s: %w; nothing was touched", device, err)
	}
	for i := range w.Steps {
		w.Steps[i].State = records.StepDone
	}
	w.Started = s.now()
	return w, nil
}

// Save keeps an adopted array's journal, so that Teardown finds it.
func (s *Site) Save(w *records.Work) error {
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer release()
	return s.save(w)
}

// adoptedName is the array's name of its superblock, or its kernel name.
func adoptedName(d *block.Device) string {
	_, name, _ := strings.Cut(d.MD.Name, ":")
	if name = cmp.Or(name, d.MD.Name); topology.NameOK(name) {
		return name
	}
	return d.Name
}

// adoptMembers compares the array's members with the serials that were given.
func adoptMembers(w *records.Work, tree *block.Tree, d *block.Device, serials []string) error {
	var found []string
	for _, name := range d.Slaves {
		m := tree.Devices[name]
		if m == nil {
			return fmt.Errorf("its member %s cannot be seen", name)
		}
		disk := m
		if m.Kind == block.Partition {
			if disk = tree.Devices[m.Parent]; disk == nil || m.Start != units.MiB {
				return fmt.Errorf("its member %s is a partition that does not begin at 1 MiB: take it down by hand",
					m.Path)
			}
			w.Want.Partition = true
		}
		id := records.Identity(disk)
		switch {
		case disk.Kind != block.Disk:
			return fmt.Errorf("its member %s is a %s: take that down first", m.Path, disk.Kind)
		case id == "":
			return fmt.Errorf("its member %s has no serial number to name it by: take it down by hand", m.Path)
		case !slices.Contains(serials, id):
			return fmt.Errorf("its member %s (serial %s) is not named; name every member by --serial: %s",
				m.Path, id, text.ShellLine(memberSerials(tree, d)))
		}
		found = append(found, id)
		w.Members = append(w.Members, records.Member{Serial: id, Size: disk.Size, Path: disk.Path, Model: disk.Model})
	}
	for _, id := range serials {
		if !slices.Contains(found, id) {
			return fmt.Errorf("--serial %s is not a member of the array; its members are %s",
				id, strings.Join(memberSerials(tree, d), ", "))
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("it has no members; mdadm --stop %s removes it", text.ShellQuote(d.Path))
	}
	return nil
}

func memberSerials(tree *block.Tree, d *block.Device) []string {
	var all []string
	for _, leaf := range tree.Leaves(d.Name) {
		all = append(all, cmp.Or(records.Identity(leaf), leaf.Path))
	}
	return all
}

// adoption gathers what lies on an array.
type adoption struct {
	*state
	top *block.Device
}

// held adds a step that is in place while a condition holds, and is undone only then.
func (a *adoption) held(title, touches string, c records.Cond, undo records.Action) {
	a.w.Add(records.Step{
		Title: title, Touches: []string{touches}, Check: []records.Cond{c},
		Undo: []records.Action{undo.When(c.Is, c.Of, c.Want)},
	})
}

func (a *adoption) steps(ctx context.Context) error {
	a.array()
	names := []string{a.top.Path, a.top.Name}
	tags, err := a.export(ctx, a.top.Path)
	if err != nil {
		return err
	}
	mounted := []*block.Device{a.top}
	switch kind := tags["TYPE"]; {
	case kind == "LVM2_member":
		if mounted, err = a.group(ctx, tags["UUID"]); err != nil {
			return err
		}
	case kind != "":
		a.filesystem(tags)
	case tags["PTTYPE"] != "" || len(a.top.Partitions) > 0:
		return fmt.Errorf("it is partitioned (%s): take its partitions down by hand first", tags["PTTYPE"])
	}
	a.conf()
	for _, d := range mounted {
		a.fstab(ctx, d, names)
		for _, m := range a.tree.MountsOf(d.Name) {
			if m.Root != "/" {
				return fmt.Errorf("a part of it is mounted on %s: unmount that first", m.Point)
			}
			a.held("mounted on "+m.Point, m.Point, records.Cond{Is: "mountedfrom", Of: m.Point, Want: d.Path},
				records.Run("umount", m.Point))
			if d == a.top && a.w.Want.Mount == "" {
				a.w.Want.Mount = m.Point
			}
		}
	}
	return nil
}

// array is the md array itself. A superblock that lies at the beginning is zeroed with both ends;
// one of another version by mdadm.
func (a *adoption) array() {
	md, w := a.top.MD, a.w
	st := records.Step{
		Title:   fmt.Sprintf("the md array %s: %s, %s", a.top.Path, md.Level, text.Plural(len(w.Members), "member")),
		Touches: append([]string{a.top.Path}, w.Paths()...),
		Check:   []records.Cond{{Is: "array", Of: a.top.Path, Want: md.UUID}},
		Undo:    []records.Action{{Stop: w.Devices()}},
	}
	for _, at := range w.Devices() {
		if md.Metadata != "1.2" {
			st.Undo = append(st.Undo, records.Run("mdadm", "--zero-superblock", at).When("superblock", at, md.UUID))
		}
	}
	if md.Metadata == "1.2" {
		st.Undo = append(st.Undo, w.Zeros())
	}
	w.Add(st)
}

func (a *adoption) filesystem(tags map[string]string) {
	a.w.Want.FS, a.w.Want.Label = tags["TYPE"], tags["LABEL"]
	st := a.w.Filesystem(tags["TYPE"] + " " + tags["UUID"])
	st.Title = fmt.Sprintf("%s on it%s", tags["TYPE"], named(tags))
	a.w.Add(st)
}

// group is a volume group on the array, and its logical volumes. One that lies on other volumes,
// too, is not touched.
func (a *adoption) group(ctx context.Context, uuid string) ([]*block.Device, error) {
	rows, err := a.lvm(ctx, "pvs", "pv_name,vg_name")
	if err != nil {
		return nil, err
	}
	group := ""
	for _, r := range rows {
		if d := a.tree.Device(r["pv_name"]); d == a.top {
			group = r["vg_name"]
		}
	}
	for _, r := range rows {
		if d := a.tree.Device(r["pv_name"]); group != "" && r["vg_name"] == group && d != a.top {
			return nil, fmt.Errorf("the volume group %s also lies on %s: take it out first (%s)",
				group, r["pv_name"], text.ShellLine([]string{"vgreduce", group, a.top.Path}))
		}
	}
	a.held("a physical volume on it", a.top.Path, records.Cond{Is: "filesystem", Want: "LVM2_member " + uuid},
		records.LVM("pvremove --yes", "@array"))
	if group == "" {
		return nil, nil
	}
	a.w.Want.Group = group
	a.held("the volume group "+group, "/dev/"+group, records.Cond{Is: "group", Of: group}, records.LVM("vgremove", group))
	if rows, err = a.lvm(ctx, "lvs", "lv_name", group); err != nil {
		return nil, err
	}
	var volumes []*block.Device
	for _, r := range rows {
		lv := group + "/" + r["lv_name"]
		a.held("the logical volume "+lv, "/dev/"+lv, records.Cond{Is: "volume", Of: lv}, records.LVM("lvremove --yes", lv))
		for _, d := range a.tree.Devices {
			if d.LV != nil && d.LV.VG == group && d.LV.Name == r["lv_name"] {
				volumes = append(volumes, d)
			}
		}
	}
	return volumes, nil
}

// conf is the array's line in mdadm.conf.
func (a *adoption) conf() {
	for _, file := range []string{"/etc/mdadm/mdadm.conf", "/etc/mdadm.conf"} {
		data, _, err := a.read(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "ARRAY" &&
				slices.ContainsFunc(f, func(word string) bool {
					uuid, ok := strings.CutPrefix(strings.ToUpper(word), "UUID=")
					return ok && block.BareUUID(uuid) == block.BareUUID(a.top.MD.UUID)
				}) {
				a.line(file, line)
			}
		}
	}
}

// fstab are the lines of /etc/fstab that name a device, its filesystem or a link to it.
func (a *adoption) fstab(ctx context.Context, d *block.Device, also []string) {
	data, _, err := a.read("/etc/fstab")
	if err != nil {
		return
	}
	tags, err := a.export(ctx, d.Path)
	if err != nil {
		tags = map[string]string{"UUID": d.UUID, "LABEL": d.Label}
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 2 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if a.tree.Device(f[0]) == d || d == a.top && slices.Contains(also, f[0]) ||
			tags["UUID"] != "" && f[0] == "UUID="+tags["UUID"] ||
			tags["LABEL"] != "" && f[0] == "LABEL="+tags["LABEL"] {
			a.line("/etc/fstab", line)
		}
	}
}

// line is one line of a file of /etc, without marks.
func (a *adoption) line(file, line string) {
	l := &records.Lines{File: file, Name: a.w.Array, Text: strings.TrimRight(line, "\n")}
	if data, _, err := a.read(file); err != nil || !l.InPlace(data) {
		l.Bare = true // not by a runbook of plimsoll's, which puts marks around it
	}
	st := records.Step{
		Title:   "a line in " + file + ": " + strings.Join(strings.Fields(line), " "),
		Touches: []string{file},
		Undo:    []records.Action{{Cut: l}},
	}
	if file == "/etc/fstab" && a.has("/run/systemd/system") {
		st.Undo = append(st.Undo, records.Run("systemctl", "daemon-reload"))
	}
	a.w.Add(st)
}

// adoptedHolds are the conditions of adopted arrays.
func (s *state) adoptedHolds(ctx context.Context, c records.Cond) (bool, error) {
	if c.Is == "mountedfrom" {
		m, d := s.tree.MountOf(c.Of), s.tree.Device(c.Want)
		return m != nil && d != nil && m.Point == path.Clean(c.Of) && m.Device == d.Name, nil
	}
	rows, err := s.lvm(ctx, "vgs", "vg_name")
	group, name, _ := strings.Cut(c.Of, "/")
	if there := has(rows, "vg_name", group); err != nil || !there || c.Is == "group" {
		return there, err
	}
	rows, err = s.lvm(ctx, "lvs", "lv_name", group)
	return has(rows, "lv_name", name), err
}
