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
	"plimsoll/internal/verdict"
)

// secondLabel is what an independent reader said of a file of the second collection before plimsoll
// ran on it. class is INV (the figure means nothing), W (a warning), H (hard), OPT (either way is
// right) or NOT (must not be flagged).
type secondLabel struct {
	file, class, scope string
	codes              []string
	why                string
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
		list = append(list, secondLabel{cells[0], cells[1], cells[2], strings.Split(cells[3], ","), cells[4]})
	}
	return list
}

// judgement is what import concluded from a file: the codes of a warning or worse with their worst
// severity, "doubt" where figures were left out as impossible, and the class of the verdict's word.
type judgement struct {
	findings []finding.Finding
	codes    map[string]finding.Severity
	word     wordClass
}

// wordClass is what a verdict says of the figures.
type wordClass int

const (
	unworded wordClass = iota // nothing was measured
	plain                     // READY, MEASURED
	warned                    // … WITH WARNINGS, NOT READY
	invalid
)

func (c wordClass) String() string { return []string{"none", "plain", "warned", "INVALID"}[c] }

// judge imports a file.
func judge(t *testing.T, path string, flags ...string) judgement {
	t.Helper()
	out, errs := importJSON(t, path, flags...)
	var doc struct {
		Findings  []finding.Finding `json:"findings"`
		Scenarios []bundle.Scenario `json:"scenarios"`
		Run       bundle.Run        `json:"run"`
	}
	if err := json.Unmarshal(out, &doc); err != nil && !strings.Contains(errs, "no fio output found") &&
		!strings.Contains(errs, "not understood") {
		t.Errorf("%s: %v: %s", path, err, errs)
	}
	j := judgement{findings: doc.Findings, codes: map[string]finding.Severity{}}
	// Results of dd were not read when the files were labelled.
	younger := map[int]bool{}
	for _, s := range doc.Scenarios {
		younger[s.ID] = s.Result != nil && s.Result.Program == "dd"
	}
	for _, f := range doc.Findings {
		if len(f.Scenarios) > 0 && !slices.ContainsFunc(f.Scenarios, func(id int) bool { return !younger[id] }) {
			continue
		}
		if f.Severity.Rank() >= finding.Warn.Rank() && f.Severity.Rank() >= j.codes[string(f.Code)].Rank() {
			j.codes[string(f.Code)] = f.Severity
		}
	}
	for _, s := range doc.Scenarios {
		if s.Result != nil && strings.Contains(strings.Join(s.Result.Doubts, "\n"), "are left out") {
			j.codes["doubt"] = finding.Invalid
		}
	}
	switch v := doc.Run.Verdict; {
	case v == "":
	case v == verdict.Invalid:
		j.word = invalid
	case v == verdict.Warn, v == verdict.Fail, doc.Run.Warned:
		j.word = warned
	default:
		j.word = plain
	}
	return j
}

// wordsOf are the classes of verdicts that the labels of a file earn: the worst that is certain, and
// what lies between it and the worst that is possible.
func wordsOf(labels []secondLabel) (least, most wordClass) {
	least, most = plain, plain
	for _, l := range labels {
		switch {
		case l.class == "NOT" && slices.Contains(l.codes, "figures"):
			return unworded, plain
		case l.class == "INV" && !slices.Contains(l.codes, "doubt"):
			least, most = invalid, invalid
		case l.class == "W":
			least, most = max(least, warned), max(most, warned)
		case l.class == "H", l.class == "INV":
			most = invalid
		case l.class == "OPT":
			most = max(most, warned)
		}
	}
	return least, most
}

// younger are rules that were written after the labels, which could not name them: they count neither
// way. (What PL428 says of the randrw run of nshe-scs-re is in the label's reason: clat 3 us, slat
// 4.8 ms. What PL430 says of sumitshatwara's is true of its command: direct=0, and no sync.)
func younger() []string { return []string{"PL426", "PL427", "PL428", "PL430", "PL431", "PL432"} }

// unread says that the labels leave runs of the file out, so that what is found in it counts neither
// way beyond them.
func unread(labels []secondLabel) bool {
	return slices.ContainsFunc(labels, func(l secondLabel) bool { return strings.Contains(l.why, "not read one by one") })
}

// TestPublicResultsOfTheSecondSet judges files that were labelled by somebody else before plimsoll
// ran. They were seen since, so this holds what was reached and proves nothing of new files.
func TestPublicResultsOfTheSecondSet(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	dir := filepath.Join(filepath.Dir(publicFiles()), "import-2")
	labels := readSecond(t, dir)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, decisive, words, certain := &tally{}, &tally{}, &tally{}, 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".tsv") {
			continue
		}
		got := judge(t, filepath.Join(dir, f.Name()))
		own := slices.DeleteFunc(slices.Clone(labels), func(l secondLabel) bool { return !strings.HasPrefix(f.Name(), l.file) })
		if least, most := wordsOf(own); got.word < least || got.word > most {
			words.wrong++
			t.Logf("%s: the verdict is %s, want %s to %s", f.Name(), got.word, least, most)
		} else {
			words.hit++
		}
		allowed := []string{"doubt"}
		for _, l := range own {
			if l.class == "NOT" {
				continue
			}
			allowed = append(allowed, l.codes...)
			if l.class != "INV" && l.class != "W" {
				continue
			}
			found := slices.IndexFunc(l.codes, func(c string) bool { return got.codes[c] != "" })
			one := &tally{hit: 1}
			if found < 0 {
				one = &tally{missed: 1}
				t.Logf("%s, %s: none of %v was found", f.Name(), l.scope, l.codes)
			}
			all.add(one)
			if l.class == "INV" {
				decisive.add(one)
				if slices.ContainsFunc(l.codes, func(c string) bool { return got.codes[c] == finding.Invalid }) {
					certain++
				}
			}
		}
		for code, severity := range got.codes {
			if slices.Contains(younger(), code) {
				t.Logf("%s: %s (%s) is a rule that the labels could not name", f.Name(), code, severity)
				continue
			}
			if !slices.Contains(allowed, code) && !unread(own) {
				all.wrong++
				t.Logf("%s: %s (%s) is not in the labels", f.Name(), code, severity)
			}
		}
	}
	t.Logf("second set: %s; invalidating found: %d of %d, as invalid: %d; verdict words: %d of %d",
		all, decisive.hit, decisive.hit+decisive.missed, certain, words.hit, words.hit+words.wrong)
	if ratio(all.hit, all.hit+all.missed) < 0.85 || ratio(all.hit, all.hit+all.wrong) < 0.95 ||
		ratio(decisive.hit, decisive.hit+decisive.missed) < 0.9 || ratio(words.hit, words.hit+words.wrong) < 0.95 {
		t.Error("below the bars: recall 0.85, precision 0.95, 0.9 of what invalidates a figure, 0.95 of the verdicts' words")
	}
}
