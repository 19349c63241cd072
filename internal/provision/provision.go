// Package provision builds arrays from bare volumes, checks them and takes them down again.
//
// A plan is data: for each array a list of steps, each with what it does, what it touches, how one
// sees that it is in place and how it is undone. Before a step begins and after it is done the
// array's journal is written, so that whatever ends plimsoll (Ctrl-C, a failing mkfs, a power cut),
// the next apply knows where it stands: a step that is done and in place is left alone, one that
// was begun is undone, by its own undo, and done again. Nothing can be lost by that, for nothing is
// put on an array before its last step but one. Teardown reads only the journals and undoes newest
// first; every undo looks first whether there is anything of ours to undo, so it too can be cut and
// run again.
//
// Volumes are named by serial number everywhere: kernel names change between boots.
package provision

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Site is the machine that is provisioned.
type Site struct {
	*sys.Machine
	// Root is "/": /etc/fstab and mount points are below it. A test gives a directory of its own.
	Root string
	// Journal is the directory with a journal for each array that plimsoll has made.
	Journal string
	// UUID draws the identifiers of arrays and filesystems: 36 characters of lower-case hex and
	// hyphens.
	UUID func() string
	// Emit is called with what happens, in order. May be nil.
	Emit func(Event)
}

// Here is the machine that plimsoll runs on.
func Here(m *sys.Machine, emit func(Event)) *Site {
	return &Site{Machine: m, Root: "/", Journal: "/var/lib/plimsoll/journal", UUID: newUUID, Emit: emit}
}

// newUUID is a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// at is where an absolute path lies below the root.
func (s *Site) at(name string) string { return filepath.Join(s.Root, name) }

func (s *Site) emit(e Event) {
	if s.Emit != nil {
		s.Emit(e)
	}
}

// Event is something that happens to a step.
type Event struct {
	Array string `json:"array"`
	Step  int    `json:"step"` // from 1
	Steps int    `json:"steps"`
	Title string `json:"title"`
	What  What   `json:"what"`
	// Fraction, Rate and Left are of a resync that is waited for.
	Fraction float64       `json:"fraction,omitempty"`
	Rate     units.Rate    `json:"rate,omitempty"`
	Left     time.Duration `json:"left,omitempty"`
	Note     string        `json:"note,omitempty"`
}

// What happens to a step.
type What string

// The events.
const (
	InPlace   What = "in place"  // found as it should be and left alone
	Repairing What = "repairing" // was begun before: undone first
	Restoring What = "restoring" // was done, and brought back after a reboot
	Doing     What = "doing"
	Progress  What = "progress"
	Done      What = "done"
	Undoing   What = "undoing"
	Undone    What = "undone"
)

// Plan is what apply does.
type Plan struct {
	File string `json:"file,omitempty"`
	// Orders are the EBS volumes that an imagined plan begins with.
	Orders []Order `json:"orders,omitempty"`
	Arrays []*Work `json:"arrays"`
	// Initramfs is the command that renews the initramfs, once, after the last array; nil where
	// nothing is to renew.
	Initramfs []string `json:"initramfs,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Order is EBS volumes of one kind that are to be created for an array.
type Order struct {
	Array string `json:"array"`
	Count int    `json:"count"`
	// Create creates one of them, Attach attaches it: commands of the AWS CLI, with words in
	// capitals for what only the buyer knows.
	Create []string `json:"create"`
	Attach []string `json:"attach"`
}

// Steps is how many steps are left to do.
func (p *Plan) Steps() int {
	n := 0
	for _, w := range p.Arrays {
		for i := range w.Steps {
			if w.Steps[i].State != StepDone {
				n++
			}
		}
	}
	return n
}

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
	Adopted string    `json:"adopted,omitempty"`
	Started time.Time `json:"started,omitzero"`
	// Undoing is true once teardown has undone something.
	Undoing bool `json:"teardown_begun,omitempty"`
	// Replacing is a member that is being replaced.
	Replacing *Replacement `json:"replacing,omitempty"`
	// InitramfsStale is true while the initramfs has not been renewed since lines were put into
	// mdadm.conf or taken out.
	InitramfsStale bool `json:"initramfs_stale,omitempty"`

	given   []Obstacle      // what --destroy has given up for this teardown
	checked map[string]bool // members that this process has found blank
}

// Want is a declared array in plain figures; two that are equal need no new plan.
type Want struct {
	Level     topology.Level `json:"level"`
	Copies    int            `json:"copies,omitempty"`
	Data      int            `json:"data_members"`
	Chunk     units.Bytes    `json:"chunk,omitempty"`
	Using     string         `json:"using"` // md, lvm, or empty for one volume
	Group     string         `json:"volume_group,omitempty"`
	Segment   string         `json:"segment,omitempty"`
	Clean     bool           `json:"assume_clean,omitempty"`
	Partition bool           `json:"partition,omitempty"`
	FS        string         `json:"fs,omitempty"`
	Label     string         `json:"label,omitempty"`
	Mount     string         `json:"mount,omitempty"`
	Options   string         `json:"options,omitempty"`
	Owner     string         `json:"owner,omitempty"`
	Mode      string         `json:"mode,omitempty"`
	ByLabel   bool           `json:"by_label,omitempty"`
	// Volumes are the selectors, sorted: a plan made from the same selectors keeps the members of
	// the journal.
	Volumes string `json:"volumes"`
}

// Member is a volume of an array.
type Member struct {
	Serial string      `json:"serial"` // as in /sys; the WWN where a drive has none
	Size   units.Bytes `json:"size"`
	Path   string      `json:"path"` // when it was planned; another name after a boot
	Model  string      `json:"model,omitempty"`
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

// Cond is something that holds on the machine or not. Of is a path, device or name; see Site.holds.
type Cond struct {
	Is   string `json:"is"`
	Of   string `json:"of,omitempty"`
	Want string `json:"want,omitempty"`
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
	if last := disk[len(disk)-1]; last >= '0' && last <= '9' {
		return disk + "p1"
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
		if n := len(
			a.Run,
		) - 1; i > 0 && n > 0 && strings.HasPrefix(a.Run[n], "@") && len(all[i-1].Run) == n+1 &&
			slices.Equal(all[i-1].Run[:n], a.Run[:n]) {
			lines[len(lines)-1] += " " + w.planned(a.Run[n])
			continue
		}
		lines = append(lines, w.command(a))
	}
	return lines
}

func (w *Work) command(a Action) string {
	switch {
	case len(a.Run) > 0:
		argv := make([]string, len(a.Run))
		for i, arg := range a.Run {
			argv[i] = quote(w.planned(arg))
		}
		return strings.Join(argv, " ")
	case len(a.Blank) > 0:
		return "look for signatures, users and non-zero bytes on " + strings.Join(w.plannedAll(a.Blank), " ")
	case len(a.Erase) > 0:
		return "open exclusively, and erase every signature and both ends of " + strings.Join(
			w.plannedAll(a.Erase),
			" ",
		)
	case len(a.Zero) > 0:
		return "zero the first and last 2 MiB of " + strings.Join(w.plannedAll(a.Zero), " ")
	case len(a.Stop) > 0:
		return "mdadm --stop " + w.Top()
	case a.Add != nil:
		return "add to " + a.Add.File + ": " + a.Add.Text
	case a.Cut != nil && a.Cut.Bare:
		return "take out of " + a.Cut.File + " the line: " + strings.Join(strings.Fields(a.Cut.Text), " ")
	case a.Cut != nil:
		return "take out of " + a.Cut.File + " the lines marked " + a.Cut.mark()
	case a.Await:
		return "wait until the members of " + w.Top() + " agree"
	}
	return ""
}

func (w *Work) plannedAll(refs []string) []string {
	var all []string
	for _, r := range refs {
		all = append(all, w.planned(r))
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

// quote makes an argument readable, and right for a shell.
func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
