package provision

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/provision/records"
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
		plan.Orders = append(plan.Orders, orders(d)...)
	}
	p.note("the plan is hypothetical: no device was inspected; NAMES IN CAPITALS are placeholders")
	if len(plan.Orders) > 0 {
		p.note("the serial number of an EBS volume is its ID without the dash")
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

// orders are the EBS volumes among those declared that nothing names, and that are therefore still
// to be created. The AWS CLI takes sizes in GiB and throughput in MiB/s, and of both and the IOPS
// what the type has a choice of.
func orders(d *topology.DeclaredArray) (all []Order) {
	for _, v := range d.Volumes {
		t, known := cloud.TypeNamed(v.Type)
		if !known || !t.EBS() || v.Serial != "" || v.ID != "" || v.Path != "" {
			continue
		}
		size := "GIB"
		if v.Size > 0 {
			size = whole(float64(v.Size) / float64(units.GiB))
		}
		create := []string{
			"aws", "ec2", "create-volume", "--availability-zone", "ZONE", "--volume-type", t.Type, "--size", size,
		}
		if t.IOPS.Max > 0 && v.Limits.IOPS > 0 {
			create = append(create, "--iops", whole(float64(v.Limits.IOPS)))
		}
		if t.Rate.Max > 0 && !t.Rate.Derived && v.Limits.Rate > 0 {
			create = append(create, "--throughput", whole(float64(v.Limits.Rate)/float64(units.MiB)))
		}
		i := slices.IndexFunc(all, func(o Order) bool { return slices.Equal(o.Create, create) })
		if i < 0 {
			i = len(all)
			all = append(all, Order{Array: d.Name, Create: create, Attach: []string{
				"aws", "ec2", "attach-volume", "--volume-id", "ID", "--instance-id", "INSTANCE", "--device", "/dev/sdf",
			}})
		}
		all[i].Count++
	}
	return all
}

// whole is a number for a command, rounded up.
func whole(n float64) string { return fmt.Sprint(int64(math.Ceil(n))) }
