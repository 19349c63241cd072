package page

import (
	"bytes"
	"strings"
	"testing"
)

// leveled has a block of each kind as a detail, and one of the main part.
func leveled() *Document {
	rows := Captioned("Rows", "<name, value")
	for range mostRows + 3 {
		rows.Add("a", "1")
	}
	hidden := Captioned("Limits", "<name, value")
	hidden.Add("hidden table", "1")
	hidden.Level = Detail
	evidence := NewTable("<what, <found, <expected, <where")
	evidence.Add("hidden evidence", "2", "", "")
	d := &Document{Kind: "lint", Head: Headline{Word: "12,000 IOPS sustained", Tone: "pass"}, Data: Data{Name: "findings", Value: []int{1}}}
	d.Add(rows, Finding{Code: "PL101", Severity: "warning", Title: "title", Message: "message", Evidence: evidence},
		hidden, Facts{Title: "Machine", Level: Detail, Rows: []Fact{{"hidden fact", "3"}}},
		Note{Lead: "source", Level: Detail, Lines: []string{"hidden note"}},
		Code{Title: "Command", Level: Detail, Lines: []string{"hidden code"}},
		Finding{Code: "PL102", Level: Detail, Message: "hidden finding"},
		Section{Title: "One", Of: "scenario", Level: Detail, Blocks: []Block{Note{Lines: []string{"hidden one"}}}},
		Section{Title: "Two", Of: "scenario", Level: Detail, Blocks: []Block{Note{Lines: []string{"hidden two"}}}})
	return d
}

func TestDetailsAreLeftOutOnATerminalAndNamed(t *testing.T) {
	printed := func(f Format, o Options) string {
		var out bytes.Buffer
		if err := Write(&out, f, leveled(), o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	short, all := printed(Text, Options{Width: 100}), printed(Text, Options{Width: 100, Details: true})
	if strings.Contains(short, "hidden") || strings.Count(all, "hidden") != 9-1 {
		t.Errorf("short:\n%s\nall:\n%s", short, all)
	}
	want := "--details adds: rows, evidence, limits, machine, source and 3 more"
	if lines := strings.Split(strings.TrimSpace(short), "\n"); strings.Join(lines[len(lines)-2:], " ") != want && lines[len(lines)-1] != want {
		t.Errorf("the last line of\n%s\nis not %s", short, want)
	}
	if !strings.Contains(short, "… 3 more rows\n") || strings.Contains(all, "more row") || strings.Contains(all, "--details") {
		t.Errorf("rows:\n%s", all)
	}
	for _, f := range []Format{Markdown, HTML} {
		if got := printed(f, Options{}); strings.Count(got, "hidden") < 8 || got != printed(f, Options{Details: true}) {
			t.Errorf("%s lacks details, or changes with the level:\n%s", f, got)
		}
	}
	if printed(JSON, Options{}) != printed(JSON, Options{Details: true}) {
		t.Error("JSON changes with the level")
	}
	page := printed(HTML, Options{})
	for _, want := range []string{
		`<details class="fold" id="p4-d"><summary>Details: limits, machine, source and command</summary>`,
		`<section class="scenario fold" aria-labelledby="p9-h">` + "\n<details><summary>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("HTML lacks %s in\n%s", want, page)
		}
	}
}
