package provision

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Imagine plans for volumes that are not there, on a laptop or before they are bought: the steps
// are those that Plan will find when they are, with placeholders for serial numbers that are not
// declared. Files are named as on the machine that it runs on.
func (s *Site) Imagine(decl *topology.Declaration) (*Plan, error) {
	if len(decl.Arrays) == 0 {
		return nil, fmt.Errorf("%s: no arrays are declared: there is nothing to build", decl.Name)
	}
	p := &planner{Site: s, tree: &block.Tree{}, decl: decl, made: map[string]bool{}, imagined: true}
	plan := &Plan{File: decl.Name}
	for i := range decl.Arrays {
		d := &decl.Arrays[i]
		w, err := p.imagine(d)
		if err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", d.Origin.Where, d.Name, err)
		}
		plan.Arrays = append(plan.Arrays, w)
	}
	p.note("the volumes are imagined: nothing was looked at; serial numbers in capitals stand for those that the " +
		"file leaves open")
	p.initramfs(plan)
	plan.Notes = p.notes
	return plan, nil
}

func (p *planner) imagine(d *topology.DeclaredArray) (*Work, error) {
	want, err := settle(d)
	if err != nil {
		return nil, err
	}
	w := &Work{Array: d.Name, Want: want}
	for i, v := range d.Volumes {
		place := fmt.Sprintf("%s-%d", strings.ToUpper(d.Name), i+1)
		w.Members = append(w.Members, Member{
			Serial: cmp.Or(v.Serial, strings.Replace(v.ID, "vol-", "vol", 1), "SERIAL-OF-"+place),
			Size:   cmp.Or(v.Size, units.Bytes(0)),
			Path:   cmp.Or(v.Path, "/dev/"+place),
			Model:  strings.TrimSpace(v.Type + " " + v.Model),
		})
	}
	return w, p.steps(context.Background(), w)
}
