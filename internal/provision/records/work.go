// Package records is what plimsoll writes down of an array, before and while it builds it: what
// the array shall be, its members, the steps that build it and take it back, the lines that it
// puts into files of others, and the marks by which the bytes of a member are known as apply's. A
// journal is a Work as JSON. All of it is data: provision acts upon it, and looks at the machine.
package records

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Work is what there is to do for one array, and, as its journal, what was done.
type Work struct {
	Schema int    `json:"schema"`
	Array  string `json:"array"`
	// Want is the array as declared, with everything settled that was left open.
	Want    Want     `json:"want"`
	Members []Member `json:"members"`
	Steps   []Step   `json:"steps"`
	// Found is true for an array that was there, as declared, before plimsoll: there is nothing to
	// do, and no journal.
	Found bool `json:"found,omitempty"`
	// Adopted is the device of an array that others have made, and that teardown --adopt takes
	// down.
	Adopted string `json:"adopted,omitempty"`
	// For is the measurement that the array was built for, which takes it down again.
	For     string    `json:"for,omitempty"`
	Started time.Time `json:"started,omitzero"`
	// Undoing is true once teardown has undone something.
	Undoing bool `json:"teardown_begun,omitempty"`
	// Replacing is a member that is being replaced.
	Replacing *Replacement `json:"replacing,omitempty"`
	// InitramfsStale is true while the initramfs has not been renewed since lines were put into
	// mdadm.conf or taken out.
	InitramfsStale bool `json:"initramfs_stale,omitempty"`

	// Given is what --destroy has given up for this teardown, Checked are members that this process
	// has found blank. Neither is kept.
	Given   []Obstacle      `json:"-"`
	Checked map[string]bool `json:"-"`
}

// Want is a declared array in plain figures; two that are equal need no new plan. What differs is called
// as it is declared.
type Want struct {
	Level     topology.Level `json:"level" as:"level"`
	Copies    int            `json:"copies,omitempty" as:"copies"`
	Data      int            `json:"data_members"`
	Chunk     units.Bytes    `json:"chunk,omitempty" as:"chunk"`
	Using     string         `json:"using" as:"using"` // md, lvm, or empty for one volume
	Group     string         `json:"volume_group,omitempty" as:"volume_group"`
	Segment   string         `json:"segment,omitempty" as:"segment"`
	Clean     bool           `json:"assume_clean,omitempty" as:"assume_clean"`
	Partition bool           `json:"partition,omitempty" as:"partition"`
	FS        string         `json:"fs,omitempty" as:"filesystem.type"`
	Label     string         `json:"label,omitempty" as:"filesystem.label"`
	Mount     string         `json:"mount,omitempty" as:"filesystem.mount"`
	Options   string         `json:"options,omitempty" as:"filesystem.options"`
	Owner     string         `json:"owner,omitempty" as:"filesystem.owner"`
	Mode      string         `json:"mode,omitempty" as:"filesystem.mode"`
	ByLabel   bool           `json:"by_label,omitempty" as:"filesystem.fstab"`
	// Volumes are the selectors, sorted: a plan made from the same selectors keeps the members of
	// the journal.
	Volumes string `json:"volumes" as:"volumes"`
}

// Member is a volume of an array.
type Member struct {
	Serial string      `json:"serial"` // as in /sys; the WWN where a drive has none
	Size   units.Bytes `json:"size"`
	Path   string      `json:"path"` // when it was last looked at; another name after a boot
	Model  string      `json:"model,omitempty"`
	// Today is its size now, which can have grown; 0 where nobody looked.
	Today units.Bytes `json:"-"`
	// Destroy is true when --destroy names it: what is on it may be lost.
	Destroy bool `json:"destroy,omitempty"`
}

// StepState is how far a step is.
type StepState string

// The states of a step.
const (
	StepToDo  StepState = ""
	StepBegun StepState = "begun" // its commands may have run, or some of them
	StepDone  StepState = "done"
)

// Step is one change, how to see it and how to take it back.
type Step struct {
	Title   string   `json:"title"`
	Touches []string `json:"touches,omitempty"`
	// Check holds when the step is in place; without one the journal's word is taken.
	Check []Cond   `json:"check,omitempty"`
	Do    []Action `json:"do,omitempty"`
	// Undo may be run whatever was done of Do, and again. It is empty where undoing other steps
	// takes this one along.
	Undo []Action `json:"undo,omitempty"`
	// Again brings back what a reboot takes away: an array that did not assemble, a mount.
	Again []Action  `json:"restore,omitempty"`
	State StepState `json:"state,omitempty"`
	Begun time.Time `json:"begun,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// Action is one command, or one thing that plimsoll does itself. One of Run, Blank, Erase, Zero,
// Stop, Add, Cut and Await is set.
type Action struct {
	// If leaves the action out unless it holds.
	If *Cond `json:"if,omitempty"`
	// Run is a command. "@SERIAL" in it is a member's device, "@SERIAL:1" its partition, "@array"
	// the top device.
	Run []string `json:"run,omitempty"`
	// Blank fails unless these members, "@SERIAL" or "@SERIAL:1", are blank. Erase wipes what
	// --destroy has named. Zero zeroes both ends of members that carry what apply has put there,
	// and of no others.
	Blank []string `json:"blank,omitempty"`
	Erase []string `json:"erase,omitempty"`
	Zero  []string `json:"zero,omitempty"`
	// Stop stops every md array that consists of these members alone, as far as nothing uses it.
	Stop []string `json:"stop,omitempty"`
	// Add puts lines into a file of /etc, Cut takes them out.
	Add *Lines `json:"add,omitempty"`
	Cut *Lines `json:"cut,omitempty"`
	// Await waits until an array has been synchronised.
	Await bool `json:"await,omitempty"`
}

// Run is the action that runs a command.
func Run(argv ...string) Action { return Action{Run: argv} }

// When is the action where a condition holds, and nothing otherwise.
func (a Action) When(is CondKind, of, want string) Action {
	a.If = &Cond{is, of, want}
	return a
}

// Has says whether a volume is a member, by its serial number.
func (w *Work) Has(serial string) bool { return w.Member(serial) >= 0 }

// Member is the place of a volume among the members, -1 where it is none.
func (w *Work) Member(serial string) int {
	return slices.IndexFunc(w.Members, func(m Member) bool { return m.Serial == serial })
}

// Top is what people type for the array's device.
func (w *Work) Top() string {
	if w.Adopted != "" {
		return w.Adopted
	}
	switch w.Want.Using {
	case "md":
		return "/dev/md/" + w.Array
	case "lvm":
		return "/dev/" + w.Want.Group + "/" + w.Array
	}
	return partitioned(w.Members[0].Path, w.Want.Partition)
}

// partitioned is a disk's first partition: names that end in a digit get a p
// (block/partitions/core.c).
func partitioned(disk string, yes bool) string {
	if !yes {
		return disk
	}
	if strings.TrimRight(disk, "0123456789") != disk {
		disk += "p"
	}
	return disk + "1"
}

// Commands are what actions run, or sentences, with the names that devices had when it was planned.
// Commands that are alike for each member are printed as one.
func (w *Work) Commands(all []Action) []string {
	var lines []string
	for i, a := range all {
		if len(a.Blank) > 0 && len(all) > 1 {
			continue // a step of its own says so
		}
		if i > 0 && alike(all[i-1].Run, a.Run) {
			lines[len(lines)-1] += " " + text.ShellQuote(w.planned(a.Run[len(a.Run)-1]))
			continue
		}
		lines = append(lines, w.command(a))
	}
	return lines
}

// alike says that two commands differ in the device at their end at most.
func alike(a, b []string) bool {
	last := len(b) - 1
	return last > 0 && len(a) == len(b) && strings.HasPrefix(b[last], "@") && slices.Equal(a[:last], b[:last])
}

func (w *Work) command(a Action) string {
	switch {
	case len(a.Run) > 0:
		return text.ShellLine(w.plannedAll(a.Run))
	case len(a.Blank) > 0:
		return "look for signatures, users and non-zero bytes on " + strings.Join(w.plannedAll(a.Blank), " ")
	case len(a.Erase) > 0:
		return "open exclusively, and erase every signature and both ends of " + strings.Join(w.plannedAll(a.Erase), " ")
	case len(a.Zero) > 0:
		return "zero the first and last 2 MiB of " + strings.Join(w.plannedAll(a.Zero), " ")
	case len(a.Stop) > 0:
		return text.ShellLine([]string{"mdadm", "--stop", w.Top()})
	case a.Add != nil:
		return "add to " + a.Add.File + ": " + a.Add.Text
	case a.Cut != nil && a.Cut.Bare:
		return "remove from " + a.Cut.File + " the line: " + strings.Join(strings.Fields(a.Cut.Text), " ")
	case a.Cut != nil:
		return "remove from " + a.Cut.File + " the lines marked " + a.Cut.mark()
	case a.Await:
		return "wait until the members of " + w.Top() + " agree"
	}
	return ""
}

func (w *Work) plannedAll(refs []string) []string {
	all := slices.Clone(refs)
	for i := range all {
		all[i] = w.planned(all[i])
	}
	return all
}

// planned is an argument with its placeholder replaced by the name of plan time.
func (w *Work) planned(arg string) string {
	if arg == "@array" {
		return w.Top()
	}
	members := w.Members
	if r := w.Replacing; r != nil {
		members = append(slices.Clone(members), Member{Serial: r.Old, Path: r.OldPath})
	}
	for _, m := range members {
		switch arg {
		case "@" + m.Serial:
			return m.Path
		case "@" + m.Serial + ":1":
			return partitioned(m.Path, true)
		}
	}
	return arg
}

var deviceName = regexp.MustCompile(`/dev/[^\s,:;]+`)

// Rename calls the volumes what they are called today, wherever a person reads of them. Volume finds
// one by its serial number, nil where it is not attached.
func (w *Work) Rename(volume func(serial string) *block.Device) {
	called := map[string]string{}
	now := func(serial, path string) (string, units.Bytes) {
		name, size := "(serial "+serial+", not attached)", units.Bytes(0)
		if d := volume(serial); d != nil {
			name, size = d.Path, d.Size
		}
		called[path], called[partitioned(path, true)] = name, partitioned(name, true)
		return name, size
	}
	w.Members = slices.Clone(w.Members)
	for i := range w.Members {
		m := &w.Members[i]
		m.Path, m.Today = now(m.Serial, m.Path)
	}
	if r := w.Replacing; r != nil {
		r.OldPath, _ = now(r.Old, r.OldPath)
	}
	word := func(s string) string {
		return deviceName.ReplaceAllStringFunc(s, func(name string) string { return cmp.Or(called[name], name) })
	}
	for i := range w.Steps {
		st := &w.Steps[i]
		st.Title = word(st.Title)
		for j := range st.Touches {
			st.Touches[j] = word(st.Touches[j])
		}
	}
}

// Least is the size of the smallest member: md's resync goes once over each.
func (w *Work) Least() units.Bytes {
	return slices.MinFunc(w.Members, func(a, b Member) int { return cmp.Compare(a.Size, b.Size) }).Size
}

// Lacking says that a condition does not hold.
func (w *Work) Lacking(c Cond) string {
	of := w.planned(c.Of)
	switch c.Is {
	case "array":
		return "not all of its members are in it; see: mdadm --detail " + text.ShellQuote(of)
	case "lines":
		return "its lines are not in " + of
	case "mounted":
		return w.Top() + " is not mounted on " + of
	case "filesystem":
		return w.Top() + " does not carry the filesystem " + c.Want
	case "owner":
		return of + " does not have the owner and mode " + c.Want
	case "synced":
		return "its copies do not agree"
	}
	return fmt.Sprintf("no %s %s", c.Is, of)
}

// Size is about what the array holds, metadata aside.
func (w *Work) Size() units.Bytes { return w.Least() * units.Bytes(max(w.Want.Data, 1)) }

// Add appends a step.
func (w *Work) Add(s Step) { w.Steps = append(w.Steps, s) }

// each is something of every member.
func (w *Work) each(f func(Member) string) (all []string) {
	for _, m := range w.Members {
		all = append(all, f(m))
	}
	return all
}

// Device is the placeholder for a member by its serial number, or for its partition.
func (w *Work) Device(serial string) string {
	if w.Want.Partition {
		return "@" + serial + ":1"
	}
	return "@" + serial
}

// Devices are placeholders for all members, or for their partitions.
func (w *Work) Devices() []string { return w.each(func(m Member) string { return w.Device(m.Serial) }) }

// Paths are the names that the members had when it was planned.
func (w *Work) Paths() []string { return w.each(func(m Member) string { return m.Path }) }

// Zeros is the last of the undoing of whatever first wrote to the members.
func (w *Work) Zeros() Action { return Action{Zero: w.Devices()} }

// Disks are placeholders for all members, whether they are partitioned or not.
func (w *Work) Disks() []string { return w.each(func(m Member) string { return "@" + m.Serial }) }

// UUID is the array's own, from the step that makes it.
func (w *Work) UUID() string { return w.wanted("array", "") }

// wanted is what the first check of a kind wants, of whatever or of one thing; "" without any.
func (w *Work) wanted(kind CondKind, of string) string {
	for _, st := range w.Steps {
		for _, c := range st.Check {
			if c.Is == kind && (of == "" || c.Of == of) {
				return c.Want
			}
		}
	}
	return ""
}

// Identity is what a volume can be found by again after a boot.
func Identity(d *block.Device) string {
	if d.Serial != "" {
		return d.Serial
	}
	return d.WWN
}

// Did says whether a step that holds such a check has begun and was not undone.
func (w *Work) Did(check CondKind) bool {
	return slices.ContainsFunc(w.Steps, func(st Step) bool {
		return st.State != StepToDo && slices.ContainsFunc(st.Check, func(c Cond) bool { return c.Is == check })
	})
}

// Mounts says whether a step has mounted the array there.
func (w *Work) Mounts(point string) bool {
	return slices.ContainsFunc(w.Steps, func(st Step) bool {
		return slices.ContainsFunc(st.Check, func(c Cond) bool {
			return (c.Is == "mounted" || c.Is == "mountedfrom") && c.Of == point
		})
	})
}

// Untouched says that no step which leaves something to undo has begun, nor a teardown.
func (w *Work) Untouched() bool {
	return !w.Undoing &&
		!slices.ContainsFunc(w.Steps, func(st Step) bool { return st.State != StepToDo && len(st.Undo) > 0 })
}

// Local says that an action leaves the devices as they are known: it looks, or it works on one
// member alone.
func (a Action) Local() bool {
	members := 0
	for _, arg := range a.Run {
		if strings.HasPrefix(arg, "@") && arg != "@array" {
			members++
		}
	}
	return len(a.Blank) > 0 || members == 1
}

// Cond is something that holds on the machine or not. Of is a path, device or name.
type Cond struct {
	Is   CondKind `json:"is"`
	Of   string   `json:"of,omitempty"`
	Want string   `json:"want,omitempty"`
}

// CondKind is what a condition asks of the machine. A journal that asks anything else is refused when
// it is read.
type CondKind string

// Kinds are the conditions that there are, and when each holds.
func Kinds() []CondKind {
	return []CondKind{
		"path",       // Of exists
		"absent",     // Of does not exist
		"empty",      // Of is a directory with nothing in it
		"lines",      // the lines Want, of this array, stand in the file Of
		"table",      // the member Of has a GPT with the disk GUID Want
		"partition",  // the member Of has a partition that begins at 1 MiB
		"array",      // md array with UUID Want, active, with all members and none faulty
		"inactive",   // md array with UUID Want, put together and not started
		"stopped",    // no md array has the UUID Want
		"superblock", // the device Of has an md superblock with UUID Want
		"pv",         // the device Of is a physical volume, of the group Want or of none
		"vg",         // the group Of exists, on members alone
		"lv",         // the logical volume exists and is active (with Want any also an inactive one)
		"filesystem", // the array's device carries the filesystem TYPE UUID
		"mounted",    // the array's device is mounted, on top, at Of
		"owner",      // the directory Of is owned and moded as UID:GID:MODE
		"synced",     // all copies agree

		// Of a replacement.
		"member",     // the device Of is in the array, in whatever state
		"insync",     // the device Of is in the array, and in sync
		"unreplaced", // the device Of is a spare of the array, and Want in sync: one has to replace the other

		// Of an adopted array.
		"group",       // the volume group Of exists
		"volume",      // the logical volume Of, GROUP/NAME, exists
		"mountedfrom", // the device Want is mounted, on top, at Of
	}
}
