package compare

import (
	"fmt"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// prices says what each side costs a month, where the sides are instance types, and what each I/O a
// second costs that it sustains: of the first row that counts I/Os and has a figure of the side.
func (t *Table) prices(sides []Side) {
	var types []string
	alike := true
	for _, s := range sides {
		typ := ""
		for i, one := range s.Samples {
			if of := one.label(ByInstance); i == 0 {
				typ = of
			} else if of != typ {
				return
			}
		}
		types = append(types, typ)
		alike = alike && typ == types[0]
	}
	if alike {
		return
	}
	p := cloud.BuiltinPrices()
	priced := false
	for k, typ := range types {
		month, ok := p.Instance(typ)
		if !ok {
			continue
		}
		each := ""
		for _, r := range t.Rows {
			if c := &r.Cells[k]; r.Figure.Name == "IOPS" && c.measured() {
				one := (month.Times(1/c.sustained()) + 50) / 100 * 100 // four decimals of a dollar
				each = fmt.Sprintf(", $%s for each of %v sustained IOPS", one.Exact(), units.IOPS(c.sustained()))
				if len(t.Rows) > 1 {
					each += " (" + r.Name + ")"
				}
				break
			}
		}
		t.Notes, priced = append(t.Notes, fmt.Sprintf("%s: %v a month%s", typ, month, each)), true
	}
	if priced {
		t.Notes = append(t.Notes, "prices of instances in "+p.Region+": "+p.InstanceSource.String()+", without their volumes")
	}
}
