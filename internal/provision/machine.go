package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// errGone is in the chain of an error about a member that is not attached.
var errGone = errors.New("is not attached")

// state is the machine's block devices at one moment, as seen for one array.
type state struct {
	*Site
	w    *records.Work
	tree *block.Tree
}

// look reads the machine. Udev is given the time to see what was done last.
func (s *Site) look(ctx context.Context, w *records.Work) (*state, error) {
	if err := s.Run(ctx, io.Discard, "udevadm", "settle", "--timeout=30"); err != nil &&
		!errors.Is(err, sys.ErrNotFound) {
		if _, busy := errors.AsType[*sys.Failed](err); !busy { // other devices' events go on: not ours to wait for
			return nil, err
		}
	}
	tree, err := block.Read(s.Machine)
	if err != nil {
		return nil, err
	}
	return &state{s, w, tree}, nil
}

// disk is the device of a serial number. Two of the same cannot be distinguished.
func disk(t *block.Tree, serial string) (*block.Device, error) {
	var found *block.Device
	for _, d := range t.Devices {
		if d.Kind == block.Partition || records.Identity(d) != serial || serial == "" {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("serial %s: both %s and %s have it; detach one of them", serial, found.Path, d.Path)
		}
		found = d
	}
	if found == nil {
		return nil, fmt.Errorf("volume %s %w", serial, errGone)
	}
	return found, nil
}

// device resolves what begins with @, other names as they are.
func (s *state) device(name string) (*block.Device, error) {
	if name == "@array" {
		return s.top()
	}
	serial, isMember := strings.CutPrefix(name, "@")
	if !isMember {
		if d := s.tree.Device(name); d != nil {
			return d, nil
		}
		return nil, fmt.Errorf("%s %w", name, errGone)
	}
	serial, part := strings.CutSuffix(serial, ":1")
	d, err := disk(s.tree, serial)
	if err != nil || !part {
		return d, err
	}
	for _, p := range d.Partitions {
		if dev := s.tree.Devices[p]; dev != nil && dev.Start == units.MiB {
			return dev, nil
		}
	}
	return nil, fmt.Errorf("%s has no partition that begins at 1 MiB: %w", d.Path, errGone)
}

// top is the array's device, whatever name it came up by.
func (s *state) top() (*block.Device, error) {
	switch s.w.Want.Using {
	case "md":
		if d := mdBy(s.tree, s.w.UUID()); d != nil && d.MD.State != "inactive" {
			return d, nil
		}
	case "lvm":
		for _, d := range s.tree.Devices {
			if d.LV != nil && d.LV.VG == s.w.Want.Group && d.LV.Name == s.w.Array {
				return d, nil
			}
		}
	default:
		return s.device(s.w.Device(s.w.Members[0].Serial))
	}
	return nil, fmt.Errorf("%s %w", s.w.Top(), errGone)
}

func mdBy(t *block.Tree, uuid string) *block.Device {
	for _, d := range t.Devices {
		if d.MD != nil && uuid != "" && block.BareUUID(d.MD.UUID) == block.BareUUID(uuid) {
			return d
		}
	}
	return nil
}

// path is what a command is given for a placeholder.
func (s *state) path(arg string) (string, error) {
	if !strings.HasPrefix(arg, "@") {
		return arg, nil
	}
	d, err := s.device(arg)
	if err != nil {
		return "", err
	}
	if arg == "@array" && s.w.Want.Using != "" {
		if info, err := os.Stat(s.at(s.w.Top())); err == nil && info.Mode()&os.ModeDevice != 0 {
			return s.w.Top(), nil
		}
	}
	return d.Path, nil
}

// members are the kernel names of the array's own devices: disks, or their partitions.
func (s *state) members() map[string]bool {
	all := map[string]bool{}
	serials := make([]string, 0, len(s.w.Members)+1)
	for _, m := range s.w.Members {
		serials = append(serials, m.Serial)
	}
	if r := s.w.Replacing; r != nil {
		serials = append(serials, r.Old)
	}
	for _, serial := range serials {
		if d, err := disk(s.tree, serial); err == nil {
			all[d.Name] = true
			for _, p := range d.Partitions {
				all[p] = true
			}
		}
	}
	return all
}

// ours says whether everything below a device is on members of the array.
func (s *state) ours(d *block.Device) bool {
	mine := s.members()
	below := d.Slaves
	if d.MD != nil && len(below) == 0 { // an inactive array shows no slaves
		for _, m := range d.MD.Members {
			below = append(below, m.Name)
		}
	}
	return len(below) > 0 && !slices.ContainsFunc(below, func(n string) bool { return !mine[n] })
}

// whole says whether an md array has all its members. A new RAID5 counts as degraded until its last
// one is computed.
func (s *state) whole(d *block.Device) bool {
	if s.w.Replacing != nil {
		return true // one more, or one fewer, until it is done
	}
	return len(d.Slaves) == len(s.w.Members) &&
		!slices.ContainsFunc(d.MD.Members, func(m block.Member) bool { return strings.Contains(m.State, "faulty") })
}

// export asks blkid to look at a device itself, not at what it remembers; the map is empty for a
// blank one.
func (s *Site) export(ctx context.Context, dev string) (map[string]string, error) {
	out, err := s.Output(ctx, "blkid", "--probe", "--output", "export", dev)
	if failed, ok := errors.AsType[*sys.Failed](err); ok &&
		failed.Code == 2 { // nothing found, or more than one (blkid(8))
		err = nil
		if strings.Contains(failed.Stderr, "ambivalent") {
			return map[string]string{"TYPE": "ambivalent"}, nil
		}
	}
	tags := map[string]string{}
	for line := range strings.Lines(out) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		tags[k] = v
	}
	return tags, err
}

// mdSuperblock is the UUID in a device's md superblock, empty when it has none.
func (s *Site) mdSuperblock(ctx context.Context, dev string) string {
	out, err := s.Output(ctx, "mdadm", "--examine", "--export", dev)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(out) {
		if uuid, ok := strings.CutPrefix(strings.TrimSpace(line), "MD_UUID="); ok {
			return uuid
		}
	}
	return ""
}

// holds says whether a condition holds. Begun is true while the step that asks may be half done:
// what then looks broken was broken by it.
func (s *state) holds(ctx context.Context, c records.Cond, begun bool) (bool, error) {
	switch c.Is {
	case "path":
		_, err := os.Lstat(s.at(c.Of))
		return err == nil, nil
	case "absent":
		_, err := os.Lstat(s.at(c.Of))
		return errors.Is(err, os.ErrNotExist), nil
	case "empty":
		entries, err := os.ReadDir(s.at(c.Of))
		return err == nil && len(entries) == 0, nil
	case "lines":
		data, _, err := s.read(c.Of)
		return (&records.Lines{File: c.Of, Name: s.w.Array, Text: c.Want}).InPlace(data), err
	case "owner":
		return s.owned(c)
	case "array":
		d := mdBy(s.tree, c.Want)
		return d != nil && d.MD.State != "inactive" && s.whole(d) && s.ours(d), nil
	case "inactive":
		d := mdBy(s.tree, c.Want)
		return d != nil && d.MD.State == "inactive", nil
	case "stopped":
		return mdBy(s.tree, c.Want) == nil, nil
	case "vg", "pv", "lv":
		return s.lvmHolds(ctx, c)
	case "synced":
		return s.synced(ctx)
	case "member", "insync", "unreplaced":
		return s.memberHolds(c)
	case "group", "volume", "mountedfrom":
		return s.adoptedHolds(ctx, c)
	}
	d, err := s.device(c.Of)
	if c.Is == "mounted" || c.Is == "filesystem" {
		d, err = s.top()
	}
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch c.Is {
	case "partition":
		return true, nil
	case "mounted":
		m := s.tree.MountOf(c.Of)
		return m != nil && m.Point == path.Clean(c.Of) && m.Device == d.Name, nil
	case "superblock":
		found := s.mdSuperblock(ctx, d.Path)
		return found != "" && block.BareUUID(found) == block.BareUUID(c.Want), nil
	case "table", "filesystem":
		tags, err := s.export(ctx, d.Path)
		if c.Is == "filesystem" {
			return tags["TYPE"]+" "+tags["UUID"] == c.Want, err
		}
		half := begun && tags["TYPE"] == "" && tags["PTTYPE"] != "" && tags["PTUUID"] == ""
		return tags["PTUUID"] == c.Want || half, err
	}
	return false, fmt.Errorf("the journal asks for %.40q, which this plimsoll does not know", c.Is)
}

func (s *state) owned(c records.Cond) (bool, error) {
	info, err := os.Stat(s.at(c.Of))
	if err != nil {
		return false, nil //nolint:nilerr // what is not there is not owned
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	var uid, gid, mode string
	if f := strings.Split(c.Want, ":"); len(f) == 3 {
		uid, gid, mode = f[0], f[1], f[2]
	}
	same := func(want string, have uint32, form string) bool { return want == "" || fmt.Sprintf(form, have) == want }
	return ok && same(uid, st.Uid, "%d") && same(gid, st.Gid, "%d") && same(mode, st.Mode&0o7777, "%04o"), nil
}

func (s *state) synced(ctx context.Context) (bool, error) {
	d, err := s.top()
	if err != nil {
		return false, err
	}
	if r := s.w.Replacing; r != nil {
		if in, err := s.memberHolds(records.Cond{Is: "insync", Of: s.w.Device(r.New)}); err != nil || !in {
			return false, err
		}
	}
	if s.w.Want.Using == "md" {
		return (d.MD.Action == "" || d.MD.Action == "idle") && d.MD.Degraded == 0, nil
	}
	done, err := s.lvmSync(ctx)
	return done >= 1, err
}
