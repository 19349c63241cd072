package verdict

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/finding"
)

var update = flag.Bool("update", false, "write docs/findings")

const pages = "../../docs/findings"

func TestPagesAreNotStale(t *testing.T) {
	want := map[string]string{"README.md": index(Pages())}
	for _, r := range Pages() {
		want[string(r.Code)+".md"] = markdown(r)
	}
	if *update {
		if err := os.MkdirAll(pages, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range want {
		file := filepath.Join(pages, name)
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := os.ReadFile(file); string(got) != text {
			t.Errorf("%s is stale: go test ./internal/verdict -update", file)
		}
	}
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if want[filepath.Base(file)] == "" {
			t.Errorf("%s belongs to no rule", file)
		}
	}
}

// markdown is docs/findings/CODE.md.
func markdown(r finding.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!--generated-->\n\n# %s: %s\n\n%s", r.Code, r.Title, r.Severity)
	for i, c := range r.After {
		fmt.Fprintf(&b, "%s [%s](%s.md)", map[bool]string{true: "; silent after", false: ","}[i == 0], c, c)
	}
	b.WriteString("\n")
	for _, s := range r.Sections() {
		if s.Code {
			fmt.Fprintf(&b, "\n**%s**\n```\n%s\n```\n", s.Head, strings.Trim(s.Body, "\n"))
		} else {
			fmt.Fprintf(&b, "\n**%s.** %s\n", s.Head, strings.TrimSpace(s.Body))
		}
	}
	return b.String()
}

// index is docs/findings/README.md.
func index(pages []finding.Page) string {
	var b strings.Builder
	b.WriteString(`<!-- generated, as all pages here: go test ./internal/verdict -update -->

# Findings

Every diagnosis that plimsoll can make. ` + "`plimsoll explain PL204`" + ` prints a page. A case may be milder or worse than its rule.
` + "`--disable PL206=REASON` on run, check and import, or `policy:`" + ` in plimsoll.yaml, lists a finding without counting it.

| severity | meaning | verdict |
| --- | --- | --- |
| info | worth knowing | none |
| warning | look at it before you rely on the figure | warn |
| error | the storage does not work as it must | fail |
| invalid | the measurement must not be trusted | invalid |
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

func TestRulesAreWhole(t *testing.T) {
	code := regexp.MustCompile(`^PL[1-9]\d\d$`)
	seen := map[finding.Code]bool{}
	var last finding.Code
	for _, r := range Pages() {
		switch {
		case !code.MatchString(string(r.Code)):
			t.Errorf("%s is no code", r.Code)
		case seen[r.Code]:
			t.Errorf("%s stands twice", r.Code)
		case r.Code < last:
			t.Errorf("%s comes after %s", r.Code, last)
		}
		seen[r.Code], last = true, r.Code
		if r.Severity.Rank() < 0 || r.Since == "" {
			t.Errorf("%s has no severity or version", r.Code)
		}
		for name, text := range map[string]string{
			"title": r.Title, "why": r.Why, "fix": r.Fix, "bad": r.Bad, "good": r.Good, "ignore": r.Ignore,
		} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: its page lacks %s", r.Code, name)
			}
		}
	}
	for _, r := range Pages() {
		for _, cause := range r.After {
			if !seen[cause] {
				t.Errorf("%s is silent after %s, which does not exist", r.Code, cause)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	if _, ok := Explain("PL999"); ok {
		t.Error("explains a code that does not exist")
	}
	for _, r := range Pages() {
		text, ok := Explain(finding.Code(strings.ToLower(string(r.Code))))
		if !ok || !strings.HasPrefix(text, string(r.Code)+": "+r.Title+"\n") || !strings.Contains(text, "\nFix\n") {
			t.Errorf("%s: %q", r.Code, text)
		}
	}
}
