package page

import "testing"

// The answer of a document is one test case: its sentences, joined.
func TestAnswerAsACase(t *testing.T) {
	for want, says := range map[string][]Say{
		"":           nil,
		"One.":       {{Text: "One."}},
		"One.; Two.": {{Text: "One."}, {Text: ""}, {Text: "Two."}},
	} {
		d := &Document{Kind: "run", Head: Headline{Word: "PASS", Says: says}}
		tests := d.tests()[0].Tests
		if got := tests[len(tests)-1]; got.Name != "answer" || got.Message != "PASS" || got.Text != want {
			t.Errorf("%+v, want the text %q", got, want)
		}
	}
}
