package permit

import (
	"fmt"

	"golang.org/x/sys/unix"

	"plimsoll/internal/units"
)

// spaceShare is the part of the free space that files may fill.
const spaceShare = 0.9

// CheckSpace refuses sizes that the filesystems cannot hold. Places on one filesystem are added up.
// With fresh, files of never-written extents are made as well.
func CheckSpace(places []*Place, fresh bool) error {
	type fsUse struct {
		need, free units.Bytes
		path       string
		smaller    string // what would make it fit
	}
	use := map[unix.Fsid]*fsUse{}
	for _, p := range places {
		need := p.needed(fresh) * units.Bytes(max(p.consent.Hosts, 1))
		if need == 0 {
			continue
		}
		free, id, err := p.dir.Free()
		if err != nil {
			return err
		}
		u := use[id]
		if u == nil {
			u = &fsUse{free: units.Bytes(free), path: p.Path, smaller: "a smaller --size"}
			use[id] = u
		}
		u.need += need
		if p.Total() == 0 {
			u.smaller = "smaller sizes in the job file"
		}
	}
	for _, u := range use {
		if u.free == 0 {
			return fmt.Errorf("%s has no free space: name another path", u.path)
		}
		if limit := units.Bytes(spaceShare * float64(u.free)); u.need > limit {
			return fmt.Errorf("%s: the scenarios need %s and %s is free, but plimsoll uses only 90 %% of that: choose %s",
				u.path, u.need, u.free, u.smaller)
		}
	}
	return nil
}

// needed is the space that files to be made in a place will take: those that are missing, and with
// fresh as much again, whether or not an earlier run kept files.
func (p *Place) needed(fresh bool) units.Bytes {
	if p.Device != nil {
		return 0
	}
	var need units.Bytes
	if !p.Prefilled() {
		need = p.Total()
	}
	if fresh {
		need += p.Total()
	}
	for _, size := range p.made {
		need += size
	}
	return need
}
