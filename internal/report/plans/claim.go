package plans

import (
	"plimsoll/internal/advise"
	"plimsoll/internal/report/page"
)

// Claim is the document of a stated figure that was compared with a layout.
func Claim(v advise.ClaimVerdict) *page.Document {
	d := page.New("claim", "", "claim", v)
	d.Head.Tone = v.Verdict()
	if v.Lasts != nil {
		d.Head.Main = page.NewFigure("", "sustained_iops", v.Lasts.IOPS, "per_s")
	}
	if len(v.Lines) > 0 {
		d.Head.Word = v.Lines[0]
		d.Add(page.Sentences(v.Lines[1:]...))
	}
	return d
}
