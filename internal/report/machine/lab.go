package machine

import (
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// Simulated is a built-in machine of the lab.
type Simulated struct {
	Name, Description string
}

// Lab is the document of the machines that the lab simulates.
func Lab(all []Simulated) *page.Document {
	d := page.New("lab", text.Several(all, "machine")+" to simulate", "lab", all)
	rows := page.NewTable("<machine, <description")
	for _, m := range all {
		rows.Add(m.Name, m.Description)
	}
	d.Add(rows)
	return d
}
