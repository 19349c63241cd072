package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Difference is something on the machine that is not as the file says.
type Difference struct {
	Array string `json:"array"`
	What  string `json:"what"`
	Want  string `json:"want"`
	Have  string `json:"have"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s, wanted %s", d.What, d.Have, d.Want)
}

// Verify compares the machine with what is declared. No difference is a proof as far as it looked:
// array, members by serial number, redundancy, filesystem and its geometry, mount, fstab,
// mdadm.conf and initramfs.
func (s *Site) Verify(ctx context.Context, decl *topology.Declaration) ([]Difference, error) {
	tree, err := block.Read(s.Machine)
	if err != nil {
		return nil, err
	}
	if err := tree.ReadSegments(ctx, s.Machine); err != nil {
		return nil, err
	}
	journals, _, err := s.Journals()
	if err != nil {
		return nil, err
	}
	p := &planner{Site: s, tree: tree, decl: decl, journals: journals}
	all := []Difference{}
	for i := range decl.Arrays {
		d := &decl.Arrays[i]
		want, err := records.Settle(d)
		if err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", d.Origin.Where, d.Name, err)
		}
		w := &records.Work{Array: d.Name, Want: want}
		for _, j := range journals {
			if j.Array == d.Name {
				w.Members, w.Steps = j.Members, j.Steps
			}
		}
		dev := p.standing(w, d)
		if dev == nil {
			all = append(all, Difference{d.Name, "array", "there", "missing"})
			continue
		}
		diffs, err := p.compare(ctx, w, d, dev)
		if err != nil {
			return nil, err
		}
		all = append(all, diffs...)
	}
	return all, nil
}

// standing finds the array on the machine by the UUID of its journal or by its name; nil when it is
// not there.
func (p *planner) standing(w *records.Work, d *topology.DeclaredArray) *block.Device {
	want := w.Want
	if uuid := w.UUID(); uuid != "" {
		if dev := mdBy(p.tree, uuid); dev != nil {
			return dev
		}
	}
	for _, dev := range p.tree.Devices {
		if p.givenUp(dev) {
			continue
		}
		switch {
		case want.Using == "md" && dev.MD != nil:
			_, name, _ := strings.Cut(dev.MD.Name, ":")
			if name == w.Array || dev.MD.Name == w.Array || slices.Contains(dev.Links, "/dev/md/"+w.Array) {
				return dev
			}
		case want.Using == "lvm" && dev.LV != nil:
			if dev.LV.VG == want.Group && dev.LV.Name == w.Array {
				return dev
			}
		}
	}
	if want.Using != "" || want.FS == "" {
		return nil
	}
	v := d.Volumes[0]
	for _, dev := range p.tree.Devices {
		if p.givenUp(dev) {
			continue
		}
		serial := records.SerialOf(v)
		leaf := dev
		if dev.Kind == block.Partition && p.tree.Devices[dev.Parent] != nil {
			leaf = p.tree.Devices[dev.Parent]
		}
		if serial != "" && records.Identity(leaf) != serial || want.Partition != (dev.Kind == block.Partition) ||
			leaf.Kind != block.Disk {
			continue
		}
		if m := p.tree.MountOf(want.Mount); m != nil && m.Point == want.Mount && m.Device == dev.Name ||
			serial != "" && dev.Signature == want.FS {
			return dev
		}
	}
	return nil
}

// givenUp says that all volumes below a device are to be destroyed: then nothing stands there.
func (p *planner) givenUp(dev *block.Device) bool {
	leaves := p.tree.Leaves(dev.Name)
	return len(leaves) > 0 &&
		!slices.ContainsFunc(leaves, func(d *block.Device) bool { return p.destroy[d.Name] == "" })
}

// comparison gathers differences of one array.
type comparison struct {
	*planner
	w     *records.Work
	dev   *block.Device
	diffs []Difference
}

func (c *comparison) differ(what, want, have string) {
	if want != have {
		c.diffs = append(c.diffs, Difference{c.w.Array, what, want, have})
	}
}

func (p *planner) compare(
	ctx context.Context,
	w *records.Work,
	d *topology.DeclaredArray,
	dev *block.Device,
) ([]Difference, error) {
	c := &comparison{planner: p, w: w, dev: dev}
	c.layout()
	c.volumes(d)
	if w.Want.FS != "" {
		if err := c.filesystem(ctx); err != nil {
			return nil, err
		}
	}
	if w.Want.Mount != "" {
		if err := c.mounts(ctx); err != nil {
			return nil, err
		}
	}
	if w.Want.Using == "md" {
		c.boot()
	}
	c.foreignLines()
	return c.diffs, nil
}

func (c *comparison) layout() {
	want := c.w.Want
	switch {
	case c.dev.MD != nil:
		md := c.dev.MD
		c.differ("level", string(want.Level), md.Level)
		if want.Level.Striped() {
			c.differ("chunk", want.Chunk.String(), md.Chunk.String())
		}
		if want.Level == topology.RAID10 {
			c.differ(
				"copies",
				fmt.Sprint(want.Copies),
				fmt.Sprint(md.Layout&0xff),
			) // near copies (drivers/md/raid10.c setup_geo)
		}
		if md.Degraded > 0 {
			c.differ("members in place", fmt.Sprint(md.Disks), fmt.Sprint(md.Disks-md.Degraded))
		}
		if md.Action != "" && md.Action != "idle" && md.Action != "check" {
			c.differ("synchronised", "yes", md.Action+" at "+text.Percent(md.Progress))
		}
	case c.dev.LV != nil:
		segment := map[topology.Level]string{
			topology.RAID0:  cmp.Or(want.Segment, "striped"),
			topology.Single: "linear",
		}[want.Level]
		c.differ("segment type", cmp.Or(segment, string(want.Level)), c.dev.LV.Segment)
		if want.Level.Striped() {
			c.differ("stripe size", want.Chunk.String(), c.dev.LV.Chunk.String())
		}
	}
}

func (c *comparison) volumes(d *topology.DeclaredArray) {
	leaves := c.tree.Leaves(c.dev.Name)
	c.differ("volumes", fmt.Sprint(len(d.Volumes)), fmt.Sprint(len(leaves)))
	var have []string
	for _, leaf := range leaves {
		have = append(have, records.Identity(leaf))
	}
	wanted := []string{}
	for _, m := range c.w.Members {
		wanted = append(wanted, m.Serial)
	}
	if len(wanted) == 0 {
		for _, v := range d.Volumes {
			if dev := c.tree.Device(v.Path); v.Path != "" && dev != nil {
				wanted = append(wanted, records.Identity(dev))
			} else if id := records.SerialOf(v); id != "" {
				wanted = append(wanted, id)
			}
		}
	}
	for _, serial := range wanted {
		if !slices.Contains(have, serial) {
			c.differ("volume "+serial, "a member", "not a member")
		}
	}
	for _, name := range c.tree.Below(c.dev.Name) {
		part := c.tree.Devices[name]
		if part.Kind == block.Partition && part.Start%units.MiB != 0 {
			c.differ("partition "+part.Path, "begins at a multiple of 1 MiB",
				fmt.Sprintf("begins at byte %d", uint64(part.Start)))
		}
	}
}

func (c *comparison) filesystem(ctx context.Context) error {
	want := c.w.Want
	tags, err := c.export(ctx, c.dev.Path)
	switch {
	case errors.Is(err, sys.ErrNotFound):
		tags = map[string]string{"TYPE": c.dev.Signature, "LABEL": c.dev.Label, "UUID": c.dev.UUID}
	case err != nil:
		return fmt.Errorf("%w; run as root", err)
	}
	c.differ("filesystem", want.FS, cmp.Or(tags["TYPE"], "none"))
	c.differ("label", cmp.Or(want.Label, "none"), cmp.Or(tags["LABEL"], "none"))
	if uuid := c.w.FilesystemUUID(); uuid != "" {
		c.differ("filesystem UUID", uuid, tags["UUID"])
	}
	if all := c.tree.MountsOf(c.dev.Name); len(all) > 0 && want.Level.Striped() && all[0].Known {
		c.differ("stripe unit (su)", want.Chunk.String(), all[0].StripeUnit.String())
		c.differ("stripe width (su x sw)", (want.Chunk * units.Bytes(want.Data)).String(), all[0].StripeWide.String())
	}
	uuid := tags["UUID"]
	for _, line := range fields(c.text("etc/fstab")) {
		if len(line) < 4 || path.Clean(line[1]) != want.Mount {
			continue
		}
		dev := c.tree.Device(line[0])
		if line[0] != "UUID="+uuid && line[0] != "LABEL="+tags["LABEL"] && (dev == nil || dev.Name != c.dev.Name) {
			c.differ("fstab", "UUID="+uuid, line[0])
		}
		if !slices.Contains(strings.Split(line[3], ","), "nofail") {
			c.differ("fstab options", "including nofail", line[3])
		}
		return nil
	}
	if want.Mount != "" {
		c.differ("fstab", "a line for "+want.Mount, "none")
	}
	return nil
}

func (c *comparison) mounts(ctx context.Context) error {
	want := c.w.Want
	m := c.tree.MountOf(want.Mount)
	if m == nil || m.Point != want.Mount {
		c.differ("mounted", "on "+want.Mount, "no")
		return nil
	}
	if m.Device != c.dev.Name {
		c.differ("mounted on "+want.Mount, c.dev.Path, cmp.Or(m.Source, m.Device))
		return nil
	}
	for _, other := range c.tree.MountsOf(c.dev.Name) {
		if other.Point != want.Mount {
			c.differ("mounted", "on "+want.Mount+" only", "on "+other.Point+" too")
		}
	}
	for o := range strings.SplitSeq(want.Options, ",") {
		if o == "nofail" || o == "defaults" || o == "auto" || o == "_netdev" || strings.HasPrefix(o, "x-") {
			continue // for mount and systemd, not for the kernel
		}
		name, value, _ := strings.Cut(o, "=")
		if have, ok := m.Option(name); !ok || value != have {
			c.differ("mount options", "including "+o, strings.Join(m.Options, ","))
		}
	}
	owner, err := c.owner(ctx, want)
	if err != nil || owner == "::" {
		return err
	}
	st := &state{Site: c.Site, w: c.w, tree: c.tree}
	ok, err := st.owned(records.Cond{Of: want.Mount, Want: owner})
	if err == nil && !ok {
		c.differ("owner and mode of "+want.Mount, strings.TrimSpace(want.Owner+" "+want.Mode), "another")
	}
	return err
}

// foreignLines names what others have put between plimsoll's marks, where teardown would refuse to
// go.
func (c *comparison) foreignLines() {
	for _, file := range []string{"/etc/fstab", "/etc/mdadm/mdadm.conf", "/etc/mdadm.conf"} {
		for _, st := range c.w.Steps {
			for _, a := range st.Undo {
				if a.Cut == nil || a.Cut.File != file {
					continue
				}
				for _, line := range a.Cut.Foreign([]byte(c.text(strings.TrimPrefix(file, "/")))) {
					c.differ(file+", between plimsoll's marks", "apply's own lines only", line)
				}
			}
		}
	}
}

// boot compares what the next boot will use.
func (c *comparison) boot() {
	file, found := "/etc/mdadm.conf", false
	if c.has("/etc/mdadm") {
		file = "/etc/mdadm/mdadm.conf"
	}
	for _, line := range fields(c.text(file)) {
		if line[0] != "ARRAY" {
			continue
		}
		for _, f := range line[1:] {
			if uuid, ok := strings.CutPrefix(f, "UUID="); ok && block.BareUUID(uuid) == block.BareUUID(c.dev.MD.UUID) {
				found = true
				c.differ(file, "ARRAY "+c.w.Top(), "ARRAY "+line[1])
			}
		}
	}
	if !found {
		c.differ(file, "an ARRAY line with UUID="+c.dev.MD.UUID, "none")
		return
	}
	conf, err := fs.Stat(c.Machine.Root, strings.TrimPrefix(file, "/"))
	if err != nil {
		return
	}
	release := strings.TrimSpace(c.text("proc/sys/kernel/osrelease"))
	for _, name := range []string{"boot/initrd.img-" + release, "boot/initramfs-" + release + ".img"} {
		if info, err := fs.Stat(c.Machine.Root, name); err == nil && info.ModTime().Before(conf.ModTime()) {
			c.differ("/"+name, "newer than "+file, "older: it does not know this array")
		}
	}
}
