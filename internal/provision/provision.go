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
	"time"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
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

	passing bool // arrays are taken down again by whoever builds them: nothing in /etc names them
	looked  bool // the volumes were found blank, and apply looks again
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
	File   string          `json:"file,omitempty"`
	Arrays []*records.Work `json:"arrays"`
	// Grown are arrays whose members have grown, with the steps that use it. Apply takes none of them.
	Grown []*records.Work `json:"grown,omitempty"`
	// Initramfs is the command that renews the initramfs, once, after the last array; nil where
	// nothing is to renew.
	Initramfs []string `json:"initramfs,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Steps is how many steps are left to do.
func (p *Plan) Steps() int {
	n := 0
	for _, w := range p.Arrays {
		for i := range w.Steps {
			if w.Steps[i].State != records.StepDone {
				n++
			}
		}
	}
	return n
}
