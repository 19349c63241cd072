package plans

import (
	"plimsoll/internal/report/page"
)

// Claim is the document of a stated figure that was compared with a layout. data is its JSON.
func Claim(lines []string, holds bool, data any) *page.Document {
	d := &page.Document{Kind: "claim", Data: page.DataOf("claim", data)}
	d.Head.Tone = map[bool]string{true: "pass", false: "fail"}[holds]
	if len(lines) > 0 {
		d.Head.Word, lines = lines[0], lines[1:]
	}
	if len(lines) > 0 {
		d.Add(page.Note{Lines: lines})
	}
	return d
}
