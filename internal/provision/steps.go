package provision

import (
	"context"
	"fmt"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/units"
)

// leastXFS is the smallest filesystem that mkfs.xfs makes (mkfs.xfs(8), 300 MB since 5.19).
const leastXFS = 300 * units.MiB

// leastStripedXFS leaves an allocation group, of which mkfs.xfs makes eight on a small stripe, room
// for the 64 MiB of its log.
const leastStripedXFS = 640 * units.MiB

// steps are all that is to be done for an array of blank volumes.
func (p *planner) steps(ctx context.Context, w *records.Work) error {
	least, want := leastXFS, w.Want
	if want.Level.Striped() {
		least = leastStripedXFS
	}
	if want.FS == "xfs" && w.Size() < least && !p.imagined {
		return fmt.Errorf("%v is too small for XFS, which needs %v here; say ext4", w.Size(), least)
	}
	owner, err := p.owner(ctx, want)
	if err != nil {
		return err
	}
	w.Blank()
	if want.Partition {
		w.Partition(p.UUID)
	}
	switch want.Using {
	case "md":
		w.Mdadm(p.UUID())
	case "lvm":
		w.VolumeGroup()
	}
	if want.FS != "" {
		w.Mkfs(p.UUID())
	}
	if want.Using == "md" && !p.passing {
		p.mdadmConf(w)
	}
	if want.Mount != "" {
		p.mount(w, owner)
	}
	if want.Level.Redundant() && !want.Clean {
		w.Steps = append(w.Steps, records.Step{
			Title: "wait until the copies agree; the array can be used in the meantime",
			Check: []records.Cond{{Is: "synced"}}, Do: []records.Action{{Await: true}},
		})
	}
	return nil
}

// mdadmConf names the array where the boot looks for it.
func (p *planner) mdadmConf(w *records.Work) {
	file := "/etc/mdadm.conf"
	if p.has("/etc/mdadm") {
		file = "/etc/mdadm/mdadm.conf" // Debian
	}
	l := &records.Lines{File: file, Name: w.Array}
	l.Text = fmt.Sprintf("ARRAY %s metadata=1.2 name=any:%s UUID=%s", w.Top(), w.Array, w.UUID())
	w.Add(records.Step{
		Title: "add the array to " + file, Touches: []string{file},
		Check: []records.Cond{{Is: "lines", Of: file, Want: l.Text}},
		Do:    append([]records.Action{{Add: l}}, p.relabel(file)...),
		Undo:  []records.Action{{Cut: l}},
	})
}
