package records

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/topology"
)

var (
	mountPoint = regexp.MustCompile(`^/[A-Za-z0-9_./+@-]+$`)
	labelText  = regexp.MustCompile(`^[A-Za-z0-9_.+-]*$`)
	optionText = regexp.MustCompile(`^[A-Za-z0-9_.=:/+-]+$`)
	ownerText  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	groupText  = regexp.MustCompile(`^[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,126}$`)
)

// Settle fills in what the declaration leaves open, and refuses what cannot be built or does not
// fit.
func Settle(d *topology.DeclaredArray) (Want, error) {
	if !topology.NameOK(d.Name) {
		return Want{}, fmt.Errorf("name %.40q: want up to 32 letters, digits, dots, hyphens and underscores", d.Name)
	}
	n := len(d.Volumes)
	if n == 0 || d.Each {
		return Want{}, errors.New("the volumes are not specified; name them by serial, id or by-id path, or give " +
			"a count and " +
			"size, such as 4 x gp2 3000GiB")
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
		return w, errors.New("level linear uses one volume after the other, and plimsoll does not build it: say raid0")
	case topology.Single:
		if w.Using == "md" {
			w.Using = ""
		}
	case topology.RAID10:
		if d.Layout != "" && d.Layout[0] != 'n' {
			return w, fmt.Errorf("layout %s: plimsoll builds near copies only; leave layout out, or build the array by hand",
				d.Layout)
		}
		w.Copies = cmp.Or(w.Copies, 2)
		if n%w.Copies != 0 {
			return w, fmt.Errorf("raid10 with %d copies needs a multiple of %[1]d volumes for whole stripes, but there are %d",
				w.Copies, n)
		}
	case topology.RAID1:
		if w.Copies = cmp.Or(w.Copies, n); w.Copies != n {
			return w, fmt.Errorf("raid1 keeps a copy on each volume: %d volumes are %[1]d copies, not %d; say raid10", n,
				w.Copies)
		}
	case topology.RAID0, topology.RAID5, topology.RAID6:
	}
	w.Data = topology.Array{Level: w.Level, Copies: w.Copies, Volumes: make([]topology.Volume, n)}.DataMembers()
	if w.Level.Striped() && w.Chunk == 0 {
		w.Chunk = topology.DefaultChunk(w.Using)
	}
	if w.Level.Striped() && w.Chunk&(w.Chunk-1) != 0 && (w.Using == "lvm" || w.Level != topology.RAID0) {
		return w, fmt.Errorf("chunk %v: want a power of two", w.Chunk)
	}
	if w.Clean && (w.Level == topology.RAID5 || w.Level == topology.RAID6) {
		return w, fmt.Errorf("assume_clean: the parity of %s would be wrong wherever a volume is not zero; leave it out "+
			"and let it be computed", w.Level)
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

// systemDirs are the directories below / that hold the system itself (hier(7)), where a filesystem
// that is mounted would hide it.
var systemDirs = strings.Fields("bin boot dev etc lib lib32 lib64 libx32 proc root run sbin sys usr")

// mountAt takes over a mount point that is written as it is meant and hides nothing of the system.
func (w *Want) mountAt(mount string) error {
	w.Mount = path.Clean(mount)
	if !mountPoint.MatchString(w.Mount) {
		return fmt.Errorf("mount %.60q: want a path of letters, digits and ._+@-", mount)
	}
	if slices.Contains(strings.Split(mount, "/"), "..") {
		return fmt.Errorf("mount %.60q: want a path without .., such as %s", mount, w.Mount)
	}
	if top, _, _ := strings.Cut(w.Mount[1:], "/"); slices.Contains(systemDirs, top) {
		return fmt.Errorf("mount %.60q: /%s is the system's own; want a place for data, such as /data", mount, top)
	}
	return nil
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
			return errors.New("options, owner and mode apply to a mount point, but none is given")
		}
	} else if err := w.mountAt(f.Mount); err != nil {
		return err
	}
	if w.Level.Striped() {
		su, sw := cmp.Or(f.StripeUnit, w.Chunk), cmp.Or(f.StripeData, w.Data)
		if su != w.Chunk || sw != w.Data {
			return fmt.Errorf(
				"su=%s,sw=%d does not fit: %s with chunk %v has %d data members, so su=%s,sw=%d; or leave them out",
				su.Suffixed(), sw, w.Level, w.Chunk, w.Data, w.Chunk.Suffixed(), w.Data,
			)
		}
	} else if f.StripeUnit > 0 || f.StripeData > 0 {
		return fmt.Errorf("su and sw apply to striped arrays; %s has no stripe: leave them out", w.Level)
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

// Differ is the first difference between two wants, "" for none.
func Differ(was, now Want) string {
	a, b := reflect.ValueOf(was), reflect.ValueOf(now)
	for i, f := range reflect.VisibleFields(a.Type()) {
		before, after := fmt.Sprint(a.Field(i)), fmt.Sprint(b.Field(i))
		if what := f.Tag.Get("as"); what != "" && before != after {
			return fmt.Sprintf("%s was %s, is %s", what, cmp.Or(before, "none"), cmp.Or(after, "none"))
		}
	}
	return ""
}

// selectors are the volumes as declared, in one text that does not depend on their order.
func selectors(volumes []topology.DeclaredVolume) string {
	var all []string
	for _, v := range volumes {
		all = append(all, Selector(v))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// SerialOf is the serial number that a declared volume is named by, "" where it is not: that of an EBS
// volume is its id without the hyphen.
func SerialOf(v topology.DeclaredVolume) string {
	return cmp.Or(v.Serial, strings.Replace(v.ID, "vol-", "vol", 1))
}

// Selector is how one volume was declared, in a text.
func Selector(v topology.DeclaredVolume) string {
	if one := v.Names(); one != "" {
		return one
	}
	size := ""
	if v.Size > 0 {
		size = v.Size.String()
	}
	return strings.Join(strings.Fields(v.Model+" "+v.Type+" "+size), " ")
}
