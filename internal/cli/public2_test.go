package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
)

// secondLabel is what an independent reader said of a file of the second collection before plimsoll
// ran on it. class is INV (the figure means nothing), W (a warning), H (hard), OPT (either way is
// right) or NOT (must not be flagged).
type secondLabel struct {
	file, class, scope string
	codes              []string
}

func readSecond(t *testing.T, dir string) []secondLabel {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "LABELS.tsv"))
	if err != nil {
		t.Skipf("the second collection of public results is not on this machine: %v", err)
	}
	var list []secondLabel
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 5 {
			t.Fatalf("LABELS.tsv: %q has %d columns, want 5", line, len(cells))
		}
		list = append(list, secondLabel{cells[0], cells[1], cells[2], strings.Split(cells[3], ",")})
	}
	return list
}

// judged are the codes of a warning or worse that import gave a file, with their worst severity, and
// "doubt" where figures were left out as impossible.
func judged(t *testing.T, path string) map[string]finding.Severity {
	t.Helper()
	out, errs := importJSON(t, path)
	var doc struct {
		Findings  []finding.Finding `json:"findings"`
		Scenarios []bundle.Scenario `json:"scenarios"`
	}
	if err := json.Unmarshal(out, &doc); err != nil && !strings.Contains(errs, "no fio output found") {
		t.Errorf("%s: %v: %s", path, err, errs)
	}
	got := map[string]finding.Severity{}
	for _, f := range doc.Findings {
		if f.Severity.Rank() >= finding.Warn.Rank() && f.Severity.Rank() >= got[string(f.Code)].Rank() {
			got[string(f.Code)] = f.Severity
		}
	}
	for _, s := range doc.Scenarios {
		if s.Result != nil && strings.Contains(strings.Join(s.Result.Doubts, "\n"), "are left out") {
			got["doubt"] = finding.Invalid
		}
	}
	return got
}

// TestPublicResultsOfTheSecondSet judges files that were labelled by somebody else before plimsoll
// ran. They were seen since, so this holds what was reached and proves nothing of new files.
func TestPublicResultsOfTheSecondSet(t *testing.T) {
	dir := filepath.Join(filepath.Dir(publicFiles()), "import-2")
	labels := readSecond(t, dir)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, decisive, invalid := &tally{}, &tally{}, 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".tsv") {
			continue
		}
		got := judged(t, filepath.Join(dir, f.Name()))
		allowed := []string{"doubt"}
		for _, l := range labels {
			if !strings.HasPrefix(f.Name(), l.file) || l.class == "NOT" {
				continue
			}
			allowed = append(allowed, l.codes...)
			if l.class != "INV" && l.class != "W" {
				continue
			}
			found := slices.IndexFunc(l.codes, func(c string) bool { return got[c] != "" })
			if found < 0 {
				all.missed++
				t.Logf("%s, %s: none of %v was found", f.Name(), l.scope, l.codes)
			}
			if l.class == "INV" {
				if found < 0 {
					decisive.missed++
				} else {
					decisive.hit++
				}
				if slices.ContainsFunc(l.codes, func(c string) bool { return got[c] == finding.Invalid }) {
					invalid++
				}
			}
			if found >= 0 {
				all.hit++
			}
		}
		for code, severity := range got {
			if !slices.Contains(allowed, code) {
				all.wrong++
				t.Logf("%s: %s (%s) is not in the labels", f.Name(), code, severity)
			}
		}
	}
	t.Logf("second set: %s; invalidating found: %d of %d, as invalid: %d", all, decisive.hit, decisive.hit+decisive.missed, invalid)
	if ratio(all.hit, all.hit+all.missed) < 0.85 || ratio(all.hit, all.hit+all.wrong) < 0.93 || ratio(decisive.hit, decisive.hit+decisive.missed) < 0.9 {
		t.Error("below what was reached: recall 0.85, precision 0.93, 0.9 of what invalidates a figure")
	}
}
