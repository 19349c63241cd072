package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/topology"
)

// Schema is the version of the journal's form.
const Schema = 2

// BrokenJournal is a journal that cannot be read. It concerns its own array alone.
type BrokenJournal struct {
	Array, File string
	Err         error
}

func (b *BrokenJournal) Error() string {
	return fmt.Sprintf("array %s: its journal cannot be read (%v), so plimsoll leaves the array and its volumes alone; "+
		"put %s back from a backup, or move it away and take the array down by hand (plimsoll array teardown --adopt)",
		b.Array, b.Err, b.File)
}

func (b *BrokenJournal) Unwrap() error { return b.Err }

// stepPrograms are those that steps run: a journal names no others.
func stepPrograms() []string {
	return strings.Fields(`chmod chown lvcreate lvremove mdadm mkdir mkfs.ext4 mkfs.xfs mount pvcreate pvremove restorecon
		rmdir sgdisk sync systemctl umount vgchange vgcreate vgremove wipefs`)
}

// ParseJournal understands a journal. One that makes no sense must not be acted on.
func ParseJournal(data []byte) (*Work, error) {
	w := &Work{}
	if err := json.Unmarshal(data, w); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if w.Schema != Schema {
		return nil, fmt.Errorf("schema %d, of another version; this plimsoll reads %d", w.Schema, Schema)
	}
	if !topology.NameOK(w.Array) || len(w.Members) == 0 || len(w.Steps) == 0 {
		return nil, errors.New("an array's name, its members or its steps are missing")
	}
	for i, st := range w.Steps {
		if st.State != StepToDo && st.State != StepBegun && st.State != StepDone {
			return nil, fmt.Errorf("step %d: state %.20q: want begun or done", i+1, st.State)
		}
		asked := slices.Clone(st.Check)
		for _, a := range slices.Concat(st.Do, st.Again, st.Undo) {
			if a.If != nil {
				asked = append(asked, *a.If)
			}
			if len(a.Run) > 0 && !slices.Contains(stepPrograms(), a.Run[0]) {
				return nil, fmt.Errorf("step %d: it runs %.60q, which no step of plimsoll's does", i+1, a.Run[0])
			}
		}
		for _, c := range asked {
			if !slices.Contains(Kinds(), c.Is) {
				return nil, fmt.Errorf("step %d: it asks for %.40q, which this plimsoll does not know", i+1, c.Is)
			}
		}
	}
	return w, nil
}
