package plans

import (
	"plimsoll/internal/advise"
	"plimsoll/internal/report/page"
)

// Claim is the document of a stated figure that was compared with a layout.
func Claim(v advise.ClaimVerdict) *page.Document {
	d := &page.Document{Kind: "claim", Data: page.DataOf("claim", v)}
	d.Head.Tone = map[bool]string{true: "pass", false: "fail"}[v.Holds]
	if v.Lasts != nil {
		d.Head.Main = &page.Figure{Name: "sustained_iops", Value: float64(v.Lasts.IOPS), Unit: "per_s"}
	}
	lines := v.Lines
	if len(lines) > 0 {
		d.Head.Word, lines = lines[0], lines[1:]
	}
	if len(lines) > 0 {
		d.Add(page.Note{Lines: lines})
	}
	return d
}
