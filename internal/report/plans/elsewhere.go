package plans

import (
	"fmt"

	"plimsoll/internal/advise"
	"plimsoll/internal/cloud"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Elsewhere is the document of what meets a demand on a cloud of which prices may be missing.
func Elsewhere(a *advise.Choices) *page.Document {
	d := &page.Document{
		Kind: "advice", Head: page.Headline{Word: "Options that meet the demand on " + a.Cloud},
		Data: page.DataOf("choices", a),
	}
	if len(a.Rows) == 0 {
		d.Head.Word = "Nothing meets the demand on " + a.Cloud
	} else if c := a.Rows[0]; c.Month > 0 {
		d.Head.Main = &page.Figure{
			Of: layoutText(c.Layout) + " on " + c.Type, Name: "cost", Value: float64(c.Month), Unit: "usd_micro_month",
		}
	}
	t := page.NewTable("", "<volumes", "<machine", "vCPUs", "memory", "times", "<limited by", "machine per month?",
		"volumes per month?", "sum per month?")
	rows := page.NewTable("", "volumes", "machine", "vcpus", "memory_bytes", "times_the_demand", "limited_by",
		"usd_per_month_machine", "usd_per_month_volumes", "usd_per_month")
	for _, c := range a.Rows {
		rows.Rows = append(rows.Rows, []page.Cell{
			page.T(layoutText(c.Layout)), page.T(c.Type), page.T(fmt.Sprint(c.VCPUs)),
			page.Exact(c.Memory.String(), float64(c.Memory)), page.Exact("known", c.Times), page.T(c.Sustained.Label()),
			moneyCell(c.InstanceMonth), moneyCell(c.VolumesMonth), moneyCell(c.Month),
		})
		t.Add(layoutText(c.Layout), c.Type, fmt.Sprint(c.VCPUs), c.Memory.String(), units.Number(c.Times)+" x",
			c.Sustained.Label(), money(c.InstanceMonth), money(c.VolumesMonth), money(c.Month))
	}
	if len(a.Rows) > 0 {
		d.Records = &rows
		d.Add(t, page.Note{Lines: []string{
			"Multiples of the demand; the requested headroom of " + text.Share(a.Headroom) + " is included.",
		}})
	}
	if len(a.Rejected) > 0 {
		d.Add(page.Note{Title: "Left out", Lines: a.Rejected})
	}
	d.Add(page.Note{Lead: "note", Lines: a.Notes})
	return d
}

// money is a price, or that none is known.
func money(u cloud.USD) string {
	if u == 0 {
		return words.None
	}
	return u.String()
}

func moneyCell(u cloud.USD) page.Cell { return page.Exact(money(u), float64(u)/1e6) }

// layoutText is volumes as they are ordered, in a few words.
func layoutText(l advise.Layout) string {
	if l.Local {
		return LayoutText(l) + ", empty after a stop"
	}
	each := fmt.Sprintf("%d x %s %v", l.N, l.Spec.Type, l.Spec.Size)
	if l.Spec.IOPS > 0 {
		each += fmt.Sprintf(" %v IOPS", l.Spec.IOPS)
	}
	if t, _ := cloud.TypeNamed(l.Spec.Type); l.Spec.Rate > 0 && t.RateUnit() == units.MBPerSec {
		each += " " + l.Spec.Rate.SI()
	} else if l.Spec.Rate > 0 {
		each += " " + l.Spec.Rate.String()
	}
	if l.N > 1 {
		each += " " + string(l.Level)
	}
	if l.Chunk > 0 {
		each += ", chunk " + l.Chunk.String()
	}
	return each
}

// ElsewhereYAML is the plimsoll.yaml of a row, which plan, ceiling and lab take.
func ElsewhereYAML(a *advise.Choices, c *advise.Choice) string {
	head := fmt.Sprintf("# Advised by plimsoll for %s: %s on %s of %s", text.Clean(a.Demand.Name, words.LongName),
		layoutText(c.Layout), c.Type, a.Cloud)
	if c.Month > 0 {
		head += fmt.Sprintf(", %v a month in %s", c.Month, text.Clean(a.Region, 40))
	}
	return head + ".\n" + declared(c.Type, "    type: nvme", c.Layout)
}
