package machine

import "plimsoll/internal/report/page"

// Warmed is the document of volumes that were loaded, a sentence each. data is its JSON.
func Warmed(sentences []string, data any) *page.Document {
	d := page.New("warm", "", "volumes", data)
	d.Add(page.Code{Free: true, Lines: sentences})
	return d
}
