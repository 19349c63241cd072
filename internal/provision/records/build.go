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
			Title: fmt.Sprintf("erase %s, as --destroy says: what is on them is lost",
				text.Plural(len(erase), "volume", "volumes")),
			Touches: w.plannedAll(erase),
			Do:      []Action{{Stop: erase}, {Erase: erase}},
		})
	}
	w.Add(Step{
		Title: fmt.Sprintf("check that %s blank: no signature, no user, zero bytes at both ends and in 4,096 places between",
			text.Plural(len(w.Members), "volume is", "volumes are")),
		Do: []Action{{Blank: w.Disks()}},
	})
}

// Partition puts one GPT partition on each volume. The table's GUID is ours, so that it is known
// again.
func (w *Work) Partition(uuid func() string) {
	st := Step{
		Title:   fmt.Sprintf("partition %s: GPT, one partition from 1 MiB", text.Plural(len(w.Members), "volume", "volumes")),
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
	st.Check = append(st.Check, Cond{Is: "partition", Of: at + ":1"}, Cond{Is: "table", Of: at, Want: guid})
	st.Do = append(st.Do, Action{Run: []string{
		"sgdisk", "--clear", "--disk-guid=" + strings.ToUpper(guid), "--set-alignment=1", "--new=1:1MiB:0",
		"--typecode=1:" + code, "--change-name=1:" + w.Array, at,
	}})
}

// Mdadm creates the md array. Its UUID is chosen here, so that it is known again whatever name it
// comes up by.
func (w *Work) Mdadm(uuid string) {
	hex := block.BareUUID(uuid)
	uuid = hex[:8] + ":" + hex[8:16] + ":" + hex[16:24] + ":" + hex[24:]
	want := w.Want
	argv := []string{
		"mdadm",
		"--create",
		w.Top(),
		"--run",
		"--homehost=any",
		"--name=" + w.Array,
		"--uuid=" + uuid,
		"--metadata=1.2",
		"--level=" + strings.TrimPrefix(string(want.Level), "raid"),
		"--raid-devices=" + strconv.Itoa(len(w.Members)),
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
		about += ", without a first copy, for all members are blank"
	}
	st := Step{
		Title:   "create " + w.Top() + ": " + about,
		Touches: append([]string{w.Top()}, w.Paths()...),
		Check:   []Cond{{Is: "array", Of: w.Top(), Want: uuid}},
		Do:      []Action{{Blank: w.Devices()}, {Run: append(argv, w.Devices()...)}},
		Again: []Action{
			{If: &Cond{Is: "inactive", Want: uuid}, Stop: w.Devices()}, // what udev put together of too few members
			{
				If:  &Cond{Is: "stopped", Want: uuid},
				Run: append([]string{"mdadm", "--assemble", w.Top(), "--uuid=" + uuid}, w.Devices()...),
			},
		},
		Undo: []Action{{Stop: w.Devices()}, w.Zeros()},
	}
	w.Add(st)
}

// NoBackup keeps LVM from leaving copies of its metadata in /etc/lvm; each physical volume has one
// anyway (lvm.conf(5), backup).
const NoBackup = "backup/backup=0 backup/archive=0"

// VolumeGroup makes physical volumes, their group and the logical volume over all of it.
func (w *Work) VolumeGroup() {
	want, group := w.Want, w.Want.Group
	pv := Step{
		Title: fmt.Sprintf("make %s for LVM, data from 1 MiB",
			text.Plural(len(w.Members), "physical volume", "physical volumes")),
		Touches: w.Paths(),
		Do:      []Action{{Blank: w.Devices()}},
	}
	for _, at := range w.Devices() {
		pv.Check = append(pv.Check, Cond{Is: "pv", Of: at, Want: group})
		pv.Do = append(pv.Do,
			Action{Run: []string{"pvcreate", "--yes", "--quiet", "--config", NoBackup, "--dataalignment", "1m", at}})
		pv.Undo = append(pv.Undo, Action{
			If:  &Cond{Is: "pv", Of: at},
			Run: []string{"pvremove", "--yes", "--quiet", "--config", NoBackup, at},
		})
	}
	pv.Undo = append(pv.Undo, w.Zeros())
	w.Add(pv)
	w.Add(Step{
		Title:   "create the volume group " + group + ": extents of 4 MiB",
		Touches: []string{"/dev/" + group},
		Check:   []Cond{{Is: "vg", Of: group}},
		Do: []Action{
			{
				Run: append(
					[]string{"vgcreate", "--yes", "--quiet", "--config", NoBackup, "--physicalextentsize", "4m", group},
					w.Devices()...),
			},
		},
		Undo: []Action{
			{If: &Cond{Is: "vg", Of: group}, Run: []string{"vgremove", "--quiet", "--config", NoBackup, group}},
		},
	})
	argv := []string{
		"lvcreate",
		"--yes",
		"--quiet",
		"--config",
		NoBackup,
		"--wipesignatures",
		"y",
		"--extents",
		"100%FREE",
		"--name",
		w.Array,
	}
	stripes := func() {
		argv = append(argv, "--stripes", strconv.Itoa(want.Data), "--stripesize", want.Chunk.Suffixed())
	}
	about := fmt.Sprintf("%s over %d", want.Level, len(w.Members))
	switch want.Level {
	case topology.RAID0:
		segment := want.Segment
		if segment == "" {
			segment = "striped"
		}
		argv = append(argv, "--type", segment)
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
		about += ", without a first copy, for all members are blank"
	}
	w.Add(Step{
		Title:   "create " + w.Top() + ": " + about,
		Touches: []string{w.Top()},
		Check:   []Cond{{Is: "lv", Of: group + "/" + w.Array}},
		Do:      []Action{{Run: append(argv, group)}},
		Again:   []Action{{Run: []string{"vgchange", "--quiet", "--config", NoBackup, "--activate", "y", group}}},
		Undo: []Action{
			{
				If:  &Cond{Is: "lv", Of: group + "/" + w.Array, Want: "any"},
				Run: []string{"lvremove", "--yes", "--quiet", "--config", NoBackup, "--force", group + "/" + w.Array},
			},
		},
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
	st := Step{
		Touches: []string{w.Top()},
		Check:   []Cond{{Is: "filesystem", Want: want.FS + " " + uuid}},
		Undo: []Action{
			{
				If:  &Cond{Is: "filesystem", Want: want.FS + " " + uuid},
				Run: []string{"wipefs", "--all", "--quiet", "@array"},
			},
		},
	}
	st.Title = fmt.Sprintf("make %s on %s", want.FS, w.Top())
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
	st.Do = []Action{{Run: append(argv, "@array")}}
	if want.Using == "" { // on the volume, or its partition, itself: then blank until now
		st.Do = slices.Insert(st.Do, 0, Action{Blank: w.Devices()})
		st.Undo = []Action{w.Zeros()}
	}
	w.Add(st)
}

// FilesystemUUID is what mkfs is given.
func (w *Work) FilesystemUUID() string {
	_, uuid, _ := strings.Cut(w.wanted("filesystem", ""), " ")
	return uuid
}

// Enlarge is what makes the array use members that have all grown. A step without Undo cannot be undone.
func (w *Work) Enlarge() []Step {
	var all []Step
	add := func(title string, run, undo []string) {
		st := Step{Title: title, Do: []Action{{Run: run}}}
		if undo != nil {
			st.Undo = []Action{{Run: undo}}
		}
		all = append(all, st)
	}
	for i, m := range w.Members {
		if w.Want.Partition {
			add("grow the partition of "+m.Path, []string{"growpart", "@" + m.Serial, "1"}, nil)
		}
		if w.Want.Using == "lvm" {
			at := w.Devices()[i]
			size := fmt.Sprintf("%dB", uint64(m.Size))
			if w.Want.Partition {
				size = fmt.Sprintf("%dB", uint64(m.Size-2*units.MiB)) // less the table's two ends
			}
			add("grow the physical volume on "+m.Path, []string{"pvresize", at},
				[]string{"pvresize", "--yes", "--setphysicalvolumesize", size, at})
		}
	}
	switch w.Want.Using {
	case "lvm":
		add("grow the logical volume", []string{"lvextend", "--extents", "+100%FREE", w.Top()}, nil)
	case "md":
		add(
			"use all of each member; copies and parity of what is new are made",
			[]string{"mdadm", "--grow", w.Top(), "--size=max"},
			nil,
		)
	}
	switch w.Want.FS {
	case "xfs":
		add("grow the filesystem, which is mounted", []string{"xfs_growfs", w.Want.Mount}, nil)
	case "ext4":
		add("grow the filesystem", []string{"resize2fs", w.Top()}, nil)
	}
	return all
}
