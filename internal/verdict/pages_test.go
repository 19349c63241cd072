package verdict

import (
	"flag"
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
	want := map[string]string{"README.md": finding.Index(Pages())}
	for _, r := range Pages() {
		want[string(r.Code)+".md"] = r.Markdown()
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
