package provision

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/topology"
)

// Imagine plans for volumes that are not there, on a laptop or before they are bought: the steps
// are those that Plan will find when they are, with placeholders for serial numbers that are not
// declared. Files are named as on the machine that it runs on.
func (s *Site) Imagine(decl *topology.Declaration) (*Plan, error) {
	if len(decl.Arrays) == 0 {
		return nil, fmt.Errorf("%s: no arrays are declared: there is nothing to build", decl.Name)
	}
	p := &planner{Site: s, tree: &block.Tree{}, decl: decl, made: map[string]bool{}, imagined: true}
	p.note("the plan is hypothetical: no device was inspected; NAMES IN CAPITALS are placeholders")
	plan := &Plan{File: decl.Name}
	for i := range decl.Arrays {
		d := &decl.Arrays[i]
		w, err := p.imagine(d)
		if err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", d.Origin.Where, d.Name, err)
		}
		plan.Arrays = append(plan.Arrays, w)
	}
	p.initramfs(plan)
	plan.Notes = p.notes
	return plan, nil
}

func (p *planner) imagine(d *topology.DeclaredArray) (*records.Work, error) {
	want, err := records.Settle(d)
	if err != nil {
		return nil, err
	}
	w := &records.Work{Array: d.Name, Want: want}
	for i, v := range d.Volumes {
		if t, _ := cloud.TypeNamed(v.Type); t.EBS() && cmp.Or(v.Serial, v.ID, v.Path) == "" {
			p.note("the serial number of an EBS volume is its ID without the dash")
		}
		place := fmt.Sprintf("%s-%d", strings.ToUpper(d.Name), i+1)
		w.Members = append(w.Members, records.Member{
			Serial: cmp.Or(records.SerialOf(v), "SERIAL-OF-"+place),
			Size:   v.Size,
			Path:   cmp.Or(v.Path, "/dev/"+place),
			Model:  strings.TrimSpace(v.Type + " " + v.Model),
		})
	}
	return w, p.steps(context.Background(), w)
}
