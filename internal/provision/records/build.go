package records

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Blank erases what --destroy names, and checks that nothing is on the members. Whatever first
// writes to them begins with the same check: days may lie between, where apply was cut short.
func (w *Work) Blank() {
	var erase []string
	for _, m := range w.Members {
		if m.Destroy {
			erase = append(erase, "@"+m.Serial)
		}
	}
	if len(erase) > 0 {
		w.Add(Step{
			Title: fmt.Sprintf("erase %s, as --destroy says: all data on %s is lost",
				text.Plural(len(erase), "volume"), map[bool]string{true: "it", false: "them"}[len(erase) == 1]),
			Touches: w.plannedAll(erase),
			Do:      []Action{{Stop: erase}, {Erase: erase}},
		})
	}
	w.Add(Step{
		Title: fmt.Sprintf(
			"check that %s blank: no signature, not in use, only zeros at both ends and at 4,096 places in between",
			text.Plural(len(w.Members), "volume is", "volumes are"),
		),
		Do: []Action{{Blank: w.Disks()}},
	})
}

// Partition puts one GPT partition on each volume. The table's GUID is ours, so that it is known
// again.
func (w *Work) Partition(uuid func() string) {
	st := Step{
		Title:   fmt.Sprintf("partition %s: GPT, one partition from 1 MiB", text.Plural(len(w.Members), "volume")),
		Touches: w.Paths(),
		Do:      []Action{{Blank: w.Disks()}},
	}
	for _, m := range w.Members {
		w.partition(&st, m.Serial, uuid())
	}
	st.Undo = []Action{{Zero: w.Disks()}}
	w.Add(st)
}

// partition adds to a step what puts the table and the partition on one volume.
func (w *Work) partition(st *Step, serial, guid string) {
	at := "@" + serial
	code := cmp.Or(map[string]string{"md": "fd00", "lvm": "8e00"}[w.Want.Using], "8300")
	st.Check = append(st.Check, Cond{"partition", at + ":1", ""}, Cond{"table", at, guid})
	st.Do = append(st.Do, Run("sgdisk", "--clear", "--disk-guid="+strings.ToUpper(guid), "--set-alignment=1",
		"--new=1:1MiB:0", "--typecode=1:"+code, "--change-name=1:"+w.Array, at))
}

// Mdadm creates the md array. Its UUID is chosen here, so that it is known again whatever name it
// comes up by.
func (w *Work) Mdadm(uuid string) {
	hex := block.BareUUID(uuid)
	uuid = hex[:8] + ":" + hex[8:16] + ":" + hex[16:24] + ":" + hex[24:]
	want, devices, top := w.Want, w.Devices(), w.Top()
	argv := []string{
		"mdadm", "--create", top, "--run", "--homehost=any", "--name=" + w.Array, "--uuid=" + uuid, "--metadata=1.2",
		"--level=" + strings.TrimPrefix(string(want.Level), "raid"), "--raid-devices=" + strconv.Itoa(len(w.Members)),
	}
	about := fmt.Sprintf("%s, %d members", want.Level, len(w.Members))
	if want.Level == topology.RAID10 {
		argv = append(argv, fmt.Sprintf("--layout=n%d", want.Copies))
	}
	if want.Level.Striped() {
		argv = append(argv, "--chunk="+strings.ToUpper(want.Chunk.Suffixed()))
		about += fmt.Sprintf(", chunk %v", want.Chunk)
	}
	if want.Clean {
		argv = append(argv, "--assume-clean")
		about += ", without an initial copy, because all members are blank"
	}
	w.Add(Step{
		Title:   "create " + top + ": " + about,
		Touches: append([]string{top}, w.Paths()...),
		Check:   []Cond{{"array", top, uuid}},
		Do:      []Action{{Blank: devices}, Run(append(argv, devices...)...)},
		Again: []Action{
			Action{Stop: devices}.When("inactive", "", uuid), // what udev put together of too few members
			Run(append([]string{"mdadm", "--assemble", top, "--uuid=" + uuid}, devices...)...).
				When("stopped", "", uuid),
		},
		Undo: []Action{{Stop: devices}, w.Zeros()},
	})
}

// LVM runs a command of LVM's, which may begin with options, without leaving copies of its metadata in
// /etc/lvm; each physical volume has one anyway (lvm.conf(5), backup).
func LVM(command string, args ...string) Action {
	return Run(slices.Concat(strings.Fields(command),
		[]string{"--quiet", "--config", "backup/backup=0 backup/archive=0"}, args)...)
}

// VolumeGroup makes physical volumes, their group and the logical volume over all of it.
func (w *Work) VolumeGroup() {
	want, group := w.Want, w.Want.Group
	pv := Step{
		Title: fmt.Sprintf("make %s for LVM, data from 1 MiB",
			text.Plural(len(w.Members), "physical volume")),
		Touches: w.Paths(),
		Do:      []Action{{Blank: w.Devices()}},
	}
	for _, at := range w.Devices() {
		pv.Check = append(pv.Check, Cond{"pv", at, group})
		pv.Do = append(pv.Do, LVM("pvcreate --yes", "--dataalignment", "1m", at))
		pv.Undo = append(pv.Undo, LVM("pvremove --yes", at).When("pv", at, ""))
	}
	pv.Undo = append(pv.Undo, w.Zeros())
	w.Add(pv)
	w.Add(Step{
		Title:   "create the volume group " + group + ": extents of 4 MiB",
		Touches: []string{"/dev/" + group},
		Check:   []Cond{{"vg", group, ""}},
		Do: []Action{
			LVM("vgcreate --yes", append([]string{"--physicalextentsize", "4m", group}, w.Devices()...)...),
		},
		Undo: []Action{LVM("vgremove", group).When("vg", group, "")},
	})
	argv := []string{"--wipesignatures", "y", "--extents", "100%FREE", "--name", w.Array}
	stripes := func() {
		argv = append(argv, "--stripes", strconv.Itoa(want.Data), "--stripesize", want.Chunk.Suffixed())
	}
	about := fmt.Sprintf("%s over %s", want.Level, text.Plural(len(w.Members), "volume"))
	switch want.Level {
	case topology.RAID0:
		argv = append(argv, "--type", cmp.Or(want.Segment, "striped"))
		stripes()
	case topology.RAID10:
		argv = append(argv, "--type", "raid10", "--mirrors", strconv.Itoa(want.Copies-1))
		stripes()
	case topology.RAID1:
		argv = append(argv, "--type", "raid1", "--mirrors", strconv.Itoa(want.Copies-1))
	case topology.RAID5, topology.RAID6:
		argv = append(argv, "--type", string(want.Level))
		stripes()
	case topology.Single, topology.Linear, topology.NoLevel:
		argv = append(argv, "--type", "linear")
	}
	if want.Level.Striped() {
		about += fmt.Sprintf(", stripe size %v", want.Chunk)
	}
	if want.Clean {
		argv = append(argv, "--nosync")
		about += ", without an initial copy, because all members are blank"
	}
	lv := group + "/" + w.Array
	w.Add(Step{
		Title:   "create " + w.Top() + ": " + about,
		Touches: []string{w.Top()},
		Check:   []Cond{{"lv", lv, ""}},
		Do:      []Action{LVM("lvcreate --yes", append(argv, group)...)},
		Again:   []Action{LVM("vgchange", "--activate", "y", group)},
		Undo:    []Action{LVM("lvremove --yes", "--force", lv).When("lv", lv, "any")},
	})
}

// logUnit is the most that XFS's log is padded to. A log write is rounded up to the log's stripe
// unit, and mkfs.xfs takes that from su up to 256 KiB: then an 8 KiB commit can write 256 KiB of
// log. 32 KiB is what mkfs.xfs itself falls back to above.
const logUnit = 32 * units.KiB

// Arithmetic is how the filesystem's geometry follows from the array's, for people.
func (w *Work) Arithmetic() string {
	want := w.Want
	if !want.Level.Striped() {
		return ""
	}
	n := len(w.Members)
	data := map[topology.Level]string{
		topology.RAID0:  fmt.Sprintf("%d volumes, all with data", n),
		topology.RAID10: fmt.Sprintf("%d volumes / %d copies = %d with data", n, want.Copies, want.Data),
		topology.RAID5:  fmt.Sprintf("%d volumes - 1 of parity = %d with data", n, want.Data),
		topology.RAID6:  fmt.Sprintf("%d volumes - 2 of parity = %d with data", n, want.Data),
	}[want.Level]
	s := fmt.Sprintf("%s; stripe = %v x %d = %v", data, want.Chunk, want.Data, want.Chunk*units.Bytes(want.Data))
	blocks := uint64(want.Chunk / (4 * units.KiB))
	switch want.FS {
	case "xfs":
		s += fmt.Sprintf("; xfs su=%s,sw=%d (sunit=%d, swidth=%d blocks of 4 KiB), log su=%s", want.Chunk.Suffixed(),
			want.Data, blocks, blocks*uint64(want.Data), min(want.Chunk, logUnit).Suffixed())
	case "ext4":
		s += fmt.Sprintf("; ext4 stride = %v / 4 KiB = %d, stripe_width = %[2]d x %[3]d = %[4]d", want.Chunk, blocks,
			want.Data, blocks*uint64(want.Data))
	}
	return s
}

// Mkfs puts the filesystem on the array, with the geometry that follows from the array's.
func (w *Work) Mkfs(uuid string) {
	want := w.Want
	st := w.Filesystem(want.FS + " " + uuid)
	st.Title = fmt.Sprintf("create an %s filesystem on %s", want.FS, w.Top())
	blocks := uint64(want.Chunk / (4 * units.KiB))
	var argv []string
	switch want.FS {
	case "xfs":
		// -f: nothing of ours or others' is on what was created two steps ago, but old bytes may
		// look like a filesystem.
		argv = []string{"mkfs.xfs", "-q", "-f", "-m", "uuid=" + uuid}
		if want.Level.Striped() {
			argv = append(argv, "-d", fmt.Sprintf("su=%s,sw=%d", want.Chunk.Suffixed(), want.Data), "-l",
				"su="+min(want.Chunk, logUnit).Suffixed())
			st.Title += fmt.Sprintf(", su=%s,sw=%d", want.Chunk.Suffixed(), want.Data)
		}
	case "ext4":
		extended := []string{}
		if want.Level.Striped() {
			extended = append(extended, fmt.Sprintf("stride=%d,stripe_width=%d", blocks, blocks*uint64(want.Data)))
			st.Title += fmt.Sprintf(", stride=%d, stripe_width=%d", blocks, blocks*uint64(want.Data))
		}
		// Tables that are written in the background would disturb the first hours' measurements.
		extended = append(extended, "lazy_itable_init=0,lazy_journal_init=0")
		argv = []string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-U", uuid, "-E", strings.Join(extended, ",")}
	}
	if want.Label != "" {
		argv = append(argv, "-L", want.Label)
		st.Title += ", label " + want.Label
	}
	st.Do = []Action{Run(append(argv, "@array")...)}
	if want.Using == "" { // on the volume, or its partition, itself: then blank until now
		st.Do = slices.Insert(st.Do, 0, Action{Blank: w.Devices()})
		st.Undo = []Action{w.Zeros()}
	}
	w.Add(st)
}

// Filesystem is a step that is in place while the array carries a filesystem, TYPE UUID.
func (w *Work) Filesystem(is string) Step {
	return Step{
		Touches: []string{w.Top()},
		Check:   []Cond{{"filesystem", "", is}},
		Undo:    []Action{Run("wipefs", "--all", "--quiet", "@array").When("filesystem", "", is)},
	}
}

// FilesystemUUID is what mkfs is given.
func (w *Work) FilesystemUUID() string {
	_, uuid, _ := strings.Cut(w.wanted("filesystem", ""), " ")
	return uuid
}

// Layer is what of an array may not use all that lies below it.
type Layer int

// The layers above the members and their partitions.
const (
	Volume Layer = iota // of md or LVM
	Filesystem
	Nothing // all is used
)

// Enlarge is what makes the array use members that have all grown: the partitions of these, and the layers from one
// on. A step without Undo cannot be undone.
func (w *Work) Enlarge(partitions []string, from Layer) []Step {
	var all []Step
	add := func(of Layer, title string, run ...string) *Step {
		st := Step{Title: title, Do: []Action{Run(run...)}}
		if of < from {
			return &st
		}
		all = append(all, st)
		return &all[len(all)-1]
	}
	for i, m := range w.Members {
		if slices.Contains(partitions, m.Serial) {
			add(Volume, "grow the partition of "+m.Path, "growpart", "@"+m.Serial, "1")
		}
		if w.Want.Using == "lvm" {
			at, size := w.Devices()[i], m.Size
			if w.Want.Partition {
				size -= 2 * units.MiB // the table's two ends
			}
			add(Volume, "grow the physical volume on "+m.Path, "pvresize", at).Undo = []Action{
				Run("pvresize", "--yes", "--setphysicalvolumesize", fmt.Sprintf("%dB", uint64(size)), at),
			}
		}
	}
	switch w.Want.Using {
	case "lvm":
		add(Volume, "grow the logical volume", "lvextend", "--extents", "+100%FREE", w.Top())
	case "md":
		add(Volume, "use all of each member; copies and parity of what is new are made",
			"mdadm", "--grow", w.Top(), "--size=max")
	}
	switch w.Want.FS {
	case "xfs":
		add(Filesystem, "grow the filesystem, which is mounted", "xfs_growfs", w.Want.Mount)
	case "ext4":
		add(Filesystem, "grow the filesystem", "resize2fs", w.Top())
	}
	return all
}
