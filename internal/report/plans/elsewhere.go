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
		Kind: "advice", Head: page.Headline{Word: "What meets the demand on " + a.Cloud}, Data: page.DataOf("advice", a),
	}
	if len(a.Rows) == 0 {
		d.Head.Word = "Nothing meets the demand on " + a.Cloud
	}
	t := page.NewTable("", "<volumes", "<machine", "vCPUs", "memory", "times", "<limited by", "machine per month?",
		"volumes per month?", "sum per month?")
	for _, c := range a.Rows {
		t.Add(layoutText(c.Layout), c.Type, fmt.Sprint(c.VCPUs), c.Memory.String(), units.Number(c.Times)+" x",
			c.Sustained.Label(), money(c.InstanceMonth), money(c.VolumesMonth), money(c.Month))
	}
	if len(a.Rows) > 0 {
		d.Add(t, page.Note{Lines: []string{fmt.Sprintf(
			"Times the demand, of which %s is headroom that was asked for.", text.Percent(a.Headroom))}})
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

func layoutText(l advise.Layout) string {
	each := fmt.Sprintf("%d x %s %v", l.N, l.Spec.Type, l.Spec.Size)
	if l.Spec.IOPS > 0 {
		each += fmt.Sprintf(" %v IOPS", l.Spec.IOPS)
	}
	if l.Spec.Rate > 0 {
		each += " " + l.Spec.Rate.String()
	}
	if l.N > 1 {
		each += " " + string(l.Level)
	}
	return each
}
