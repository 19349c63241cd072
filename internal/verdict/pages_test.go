package verdict

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
)

var update = flag.Bool("update", false, "write docs/findings/README.md")

const pages = "../../docs/findings"

// index is docs/findings/README.md.
func index(pages []finding.Page) string {
	var b strings.Builder
	b.WriteString(`<!-- generated: go test ./internal/verdict -update -->

# Findings

Every diagnosis that plimsoll can make. ` + "`plimsoll explain PL204`" + ` prints a page. A given case may be reported with a lower or higher severity than its rule states.
` + "`--disable PL206=REASON` on run, check and import, or `policy:`" + ` in plimsoll.yaml, lists a finding without counting it.

| severity | meaning | verdict |
| --- | --- | --- |
| info | worth knowing | none |
| warning | look at it before you rely on the figure | warn |
| error | the storage does not work as it should | fail |
| invalid | the measurement cannot be trusted | invalid |
`)
	family := ""
	for _, p := range pages {
		if f := p.Code.Family(); f != family {
			family = f
			fmt.Fprintf(&b, "\n## %sxx: %s\n\n", string(p.Code[:3]), family)
		}
		fmt.Fprintf(&b, "- [%s](%s.md) %s: %s\n", p.Code, p.Code, p.Severity, p.Title)
	}
	return b.String()
}

func TestIndexOfPagesIsNotStale(t *testing.T) {
	file, want := filepath.Join(pages, "README.md"), index(finding.Pages())
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("%s is stale: go test ./internal/verdict -update", file)
	}
}

// written is a page as its document must stand, so that what is read is all that is there.
func written(p finding.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%s, since %s", p.Code, p.Title, p.Severity, p.Since)
	for i, c := range p.After {
		fmt.Fprintf(&b, "%s [%s](%s.md)", map[bool]string{true: "; suppressed by", false: ","}[i == 0], c, c)
	}
	b.WriteString("\n")
	for _, s := range p.Sections {
		if s.Code {
			fmt.Fprintf(&b, "\n**%s**\n```\n%s\n```\n", s.Head, s.Body)
		} else {
			fmt.Fprintf(&b, "\n**%s.** %s\n", s.Head, s.Body)
		}
	}
	return b.String()
}

// Each page is read whole and has what every page needs, in the same order.
func TestPagesAreWhole(t *testing.T) {
	code := regexp.MustCompile(`^PL[1-9]\d\d$`)
	heads := []string{"Fires when", finding.Why, "Measured", "Bad", "Good", finding.Fix, finding.Read, "Ignore"}
	for _, p := range finding.Pages() {
		file := filepath.Join(pages, string(p.Code)+".md")
		if text, err := os.ReadFile(file); err != nil || string(text) != written(p) {
			t.Errorf("%s does not stand as pages do (%v); it is read as\n%s", file, err, written(p))
		}
		if !code.MatchString(string(p.Code)) || p.Severity.Rank() < 0 || p.Since == "" || p.Title == "" || p.Code.Family() == "" {
			t.Errorf("%s: its code, severity, version or title is wrong: %q, %q, %q", p.Code, p.Severity, p.Since, p.Title)
		}
		last := -1
		for _, s := range p.Sections {
			at := slices.Index(heads, s.Head)
			if at <= last || s.Code != (s.Head == "Bad" || s.Head == "Good") {
				t.Errorf("%s: %q is no head, or stands at the wrong place: %q", p.Code, s.Head, heads)
			}
			last = at
		}
		for _, head := range []string{finding.Why, "Bad", "Good", finding.Fix, "Ignore"} {
			if strings.TrimSpace(p.Says(head)) == "" {
				t.Errorf("%s lacks %s", p.Code, head)
			}
		}
		if p.Code[:3] == "PL9" && p.Says("Fires when") == "" {
			t.Errorf("%s does not name what it compares", p.Code)
		}
		for _, cause := range p.After {
			if _, ok := finding.PageOf(cause); !ok {
				t.Errorf("%s is suppressed by %s, which has no page", p.Code, cause)
			}
		}
	}
}

// Each rule has a page and each page a rule, once and in the order of the codes.
func TestRulesHaveTheirPages(t *testing.T) {
	var codes, want []finding.Code
	for _, r := range lint.Rules() {
		codes = append(codes, r.Code)
	}
	for _, r := range rules.All() {
		codes = append(codes, r.Code)
	}
	for _, p := range finding.Pages() {
		if p.Code[:3] != "PL9" { // causes of a machine at work: TestCausesHaveTheirPages
			want = append(want, p.Code)
		}
	}
	if !slices.Equal(codes, want) {
		t.Errorf("rules\n%s\nand pages\n%s", codes, want)
	}
}

func TestTextOfPage(t *testing.T) {
	p, _ := finding.PageOf("PL204")
	if text := p.Text(); !strings.HasPrefix(text, "PL204: "+p.Title+"\n") || !strings.Contains(text, "\nFix\n") {
		t.Errorf("%q", text)
	}
	for _, name := range []finding.Code{"PL999", "", "../README", "README"} {
		if _, ok := finding.PageOf(name); ok {
			t.Errorf("there is a page %q", name)
		}
	}
}
