package runs

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// The most lines of a terminal of 80 columns: of a typical case, and of the largest.
const typicalLines, largestLines = 15, 40

var titleOfPage = regexp.MustCompile(`<title>(.*)</title>`)

// Every kind of document fits its screen, and its first line is the answer: testdata/first-lines.tsv
// holds them, and each is the title of the page. PLIMSOLL_SCREENS is where all are left to be looked at.
func TestEveryKindIsShortAndAnswersFirst(t *testing.T) {
	t.Setenv("PLIMSOLL_SHOTS", "all kinds")
	show := func(d *page.Document, f page.Format, width int) string {
		var out bytes.Buffer
		if err := page.Write(&out, f, d, page.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	var table strings.Builder
	all := kinds(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, width := range []int{80, 120} {
			got := show(all[name], page.Text, width)
			if dir := os.Getenv("PLIMSOLL_SCREENS"); dir != "" {
				file := fmt.Sprintf("%s/%s-%03d", dir, strings.ReplaceAll(name, " ", "-"), width)
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			most := typicalLines
			if slices.Contains(largeKinds(), name) {
				most = largestLines
			}
			n := 0
			for line := range strings.Lines(got) { // a terminal goes on in the next line; a command is one
				if strings.HasPrefix(line, "  $ ") || strings.HasPrefix(line, "  echo ") {
					line = ""
				}
				n += max(1, (text.Width(strings.TrimSuffix(line, "\n"))+width-1)/width)
			}
			if n > most {
				t.Errorf("%s at %d columns: %d lines, want %d at most", name, width, n, most)
			}
		}
		first, _, _ := strings.Cut(show(all[name], page.Text, 2000), "\n")
		title := titleOfPage.FindStringSubmatch(show(all[name], page.HTML, 0))
		if title == nil || html.UnescapeString(title[1]) != first || first == "" {
			t.Errorf("%s: the page's title is %q, the first line %q", name, title, first)
		}
		fmt.Fprintf(&table, "%s\t%s\n", name, first)
	}
	const golden = "testdata/first-lines.tsv"
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != table.String() {
		t.Errorf("%v: first lines are not those of %s; read the difference, then -update:\n%s", err, golden, &table)
	}
}

// largeKinds are the largest of their kind: ten scenarios, an article of several results, a library, a sweep, plans,
// topologies and lists, with names as wide as they come.
func largeKinds() []string {
	return []string{
		"run", "hostile run", "recorded run", "import", "import of many results", "large library", "large summary",
		"lint of a guide",
		"array plan", "teardown", "topology", "sweep", "catalogue", "drives", "some instances", "suites", "explained",
	}
}
