package provision

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// leastXFS is the smallest filesystem that mkfs.xfs makes (mkfs.xfs(8), 300 MB since 5.19).
const leastXFS = 300 * units.MiB

// leastStripedXFS leaves an allocation group, of which mkfs.xfs makes eight on a small stripe, room
// for the 64 MiB of its log.
const leastStripedXFS = 640 * units.MiB

// Size is about what the array holds, metadata aside.
func (w *Work) Size() units.Bytes { return w.least() * units.Bytes(max(w.Want.Data, 1)) }

// steps are all that is to be done for an array of blank volumes.
func (p *planner) steps(ctx context.Context, w *Work) error {
	least := leastXFS
	if w.Want.Level.Striped() {
		least = leastStripedXFS
	}
	if w.Want.FS == "xfs" && w.Size() < least && !p.imagined {
		return fmt.Errorf("%v is too small for XFS, which needs %v here; say ext4", w.Size(), least)
	}
	owner, err := p.owner(ctx, w.Want)
	if err != nil {
		return err
	}
	w.blank()
	if w.Want.Partition {
		w.partition(p.UUID)
	}
	switch w.Want.Using {
	case "md":
		w.mdadm(p.UUID())
	case "lvm":
		w.volumeGroup()
	}
	if w.Want.FS != "" {
		w.mkfs(p.UUID())
	}
	if w.Want.Using == "md" {
		p.mdadmConf(w)
	}
	if w.Want.Mount != "" {
		p.mount(w, owner)
	}
	if w.Want.Level.Redundant() && !w.Want.Clean {
		w.Steps = append(w.Steps, Step{
			Title: "wait until the copies agree; the array may be used meanwhile",
			Check: []Cond{{Is: "synced"}},
			Do:    []Action{{Await: true}},
		})
	}
	return nil
}

func (w *Work) add(s Step) { w.Steps = append(w.Steps, s) }

// serials are placeholders for all members, or for their partitions.
func (w *Work) devices() []string {
	var all []string
	for _, m := range w.Members {
		at := "@" + m.Serial
		if w.Want.Partition {
			at += ":1"
		}
		all = append(all, at)
	}
	return all
}

func (w *Work) paths() []string {
	var all []string
	for _, m := range w.Members {
		all = append(all, m.Path)
	}
	return all
}

// zeros is the last of the undoing of whatever first wrote to the members.
func (w *Work) zeros() Action { return Action{Zero: w.devices()} }

// disks are placeholders for all members, whether they are partitioned or not.
func (w *Work) disks() []string {
	var all []string
	for _, m := range w.Members {
		all = append(all, "@"+m.Serial)
	}
	return all
}

// blank erases what --destroy names, and checks that nothing is on the members. Whatever first
// writes to them begins with the same check: days may lie between, where apply was cut short.
func (w *Work) blank() {
	var erase []string
	for _, m := range w.Members {
		if m.Destroy {
			erase = append(erase, "@"+m.Serial)
		}
	}
	if len(erase) > 0 {
		w.add(Step{
			Title: fmt.Sprintf(
				"erase %s, as --destroy says: what is on them is lost",
				text.Plural(len(erase), "volume", "volumes"),
			),
			Touches: w.plannedAll(erase),
			Do:      []Action{{Stop: erase}, {Erase: erase}},
		})
	}
	w.add(Step{
		Title: fmt.Sprintf(
			"check that %s blank: no signature, no user, zero bytes at both ends and in 4,096 places between",
			text.Plural(len(w.Members), "volume is", "volumes are"),
		),
		Do: []Action{{Blank: w.disks()}},
	})
}

// partition puts one GPT partition on each volume. The table's GUID is ours, so that it is known
// again.
func (w *Work) partition(uuid func() string) {
	st := Step{
		Title: fmt.Sprintf(
			"partition %s: GPT, one partition from 1 MiB",
			text.Plural(len(w.Members), "volume", "volumes"),
		),
		Touches: w.paths(),
		Do:      []Action{{Blank: w.disks()}},
	}
	code := map[string]string{"md": "fd00", "lvm": "8e00"}[w.Want.Using]
	if code == "" {
		code = "8300"
	}
	for _, m := range w.Members {
		at, guid := "@"+m.Serial, uuid()
		st.Check = append(st.Check, Cond{Is: "partition", Of: at + ":1"}, Cond{Is: "table", Of: at, Want: guid})
		st.Do = append(st.Do, Action{Run: []string{
			"sgdisk",
			"--clear",
			"--disk-guid=" + strings.ToUpper(guid),
			"--set-alignment=1",
			"--new=1:1MiB:0",
			"--typecode=1:" + code,
			"--change-name=1:" + w.Array,
			at,
		}})
	}
	st.Undo = []Action{{Zero: w.disks()}}
	w.add(st)
}

// mdadm creates the md array. Its UUID is chosen here, so that it is known again whatever name it
// comes up by.
func (w *Work) mdadm(uuid string) {
	hex := bare(uuid)
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
		argv = append(argv, "--chunk="+strings.ToUpper(short(want.Chunk)))
		about += fmt.Sprintf(", chunk %v", want.Chunk)
	}
	if want.Clean {
		argv = append(argv, "--assume-clean")
		about += ", without a first copy, for all members are blank"
	}
	st := Step{
		Title:   "create " + w.Top() + ": " + about,
		Touches: append([]string{w.Top()}, w.paths()...),
		Check:   []Cond{{Is: "array", Of: w.Top(), Want: uuid}},
		Do:      []Action{{Blank: w.devices()}, {Run: append(argv, w.devices()...)}},
		Again: []Action{
			{If: &Cond{Is: "inactive", Want: uuid}, Stop: w.devices()}, // what udev put together of too few members
			{
				If:  &Cond{Is: "stopped", Want: uuid},
				Run: append([]string{"mdadm", "--assemble", w.Top(), "--uuid=" + uuid}, w.devices()...),
			},
		},
		Undo: []Action{{Stop: w.devices()}, w.zeros()},
	}
	w.add(st)
}

// noBackup keeps LVM from leaving copies of its metadata in /etc/lvm; each physical volume has one
// anyway (lvm.conf(5), backup).
const noBackup = "backup/backup=0 backup/archive=0"

// volumeGroup makes physical volumes, their group and the logical volume over all of it.
func (w *Work) volumeGroup() {
	want, group := w.Want, w.Want.Group
	pv := Step{
		Title: fmt.Sprintf(
			"make %s for LVM, data from 1 MiB",
			text.Plural(len(w.Members), "physical volume", "physical volumes"),
		),
		Touches: w.paths(),
		Do:      []Action{{Blank: w.devices()}},
	}
	for _, at := range w.devices() {
		pv.Check = append(pv.Check, Cond{Is: "pv", Of: at, Want: group})
		pv.Do = append(
			pv.Do,
			Action{Run: []string{"pvcreate", "--yes", "--quiet", "--config", noBackup, "--dataalignment", "1m", at}},
		)
		pv.Undo = append(
			pv.Undo,
			Action{
				If:  &Cond{Is: "pv", Of: at},
				Run: []string{"pvremove", "--yes", "--quiet", "--config", noBackup, at},
			},
		)
	}
	pv.Undo = append(pv.Undo, w.zeros())
	w.add(pv)
	w.add(Step{
		Title:   "create the volume group " + group + ": extents of 4 MiB",
		Touches: []string{"/dev/" + group},
		Check:   []Cond{{Is: "vg", Of: group}},
		Do: []Action{
			{
				Run: append(
					[]string{"vgcreate", "--yes", "--quiet", "--config", noBackup, "--physicalextentsize", "4m", group},
					w.devices()...),
			},
		},
		Undo: []Action{
			{If: &Cond{Is: "vg", Of: group}, Run: []string{"vgremove", "--quiet", "--config", noBackup, group}},
		},
	})
	argv := []string{
		"lvcreate",
		"--yes",
		"--quiet",
		"--config",
		noBackup,
		"--wipesignatures",
		"y",
		"--extents",
		"100%FREE",
		"--name",
		w.Array,
	}
	stripes := func() { argv = append(argv, "--stripes", strconv.Itoa(want.Data), "--stripesize", short(want.Chunk)) }
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
	w.add(Step{
		Title:   "create " + w.Top() + ": " + about,
		Touches: []string{w.Top()},
		Check:   []Cond{{Is: "lv", Of: group + "/" + w.Array}},
		Do:      []Action{{Run: append(argv, group)}},
		Again:   []Action{{Run: []string{"vgchange", "--quiet", "--config", noBackup, "--activate", "y", group}}},
		Undo: []Action{
			{
				If:  &Cond{Is: "lv", Of: group + "/" + w.Array, Want: "any"},
				Run: []string{"lvremove", "--yes", "--quiet", "--config", noBackup, "--force", group + "/" + w.Array},
			},
		},
	})
}

// mdadmConf names the array where the boot looks for it.
func (p *planner) mdadmConf(w *Work) {
	file := "/etc/mdadm.conf"
	if p.has("/etc/mdadm") {
		file = "/etc/mdadm/mdadm.conf" // Debian
	}
	l := &Lines{
		File: file,
		Name: w.Array,
		Text: fmt.Sprintf("ARRAY %s metadata=1.2 name=any:%s UUID=%s", w.Top(), w.Array, w.uuid()),
	}
	w.add(Step{
		Title:   "name the array in " + file,
		Touches: []string{file},
		Check:   []Cond{{Is: "lines", Of: file, Want: l.Text}},
		Do:      append([]Action{{Add: l}}, p.relabel(file)...),
		Undo:    []Action{{Cut: l}},
	})
}
