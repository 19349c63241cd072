package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/finding"
	"plimsoll/internal/sys"
)

// publicFiles is where the collection of public results lies on the machine of this project;
// PLIMSOLL_CORPUS names another place. The files are others' and not in this repository, their
// labels are.
func publicFiles() string {
	if dir := os.Getenv("PLIMSOLL_CORPUS"); dir != "" {
		return dir
	}
	return "/work/shared/corpus/import"
}

// label is what is true of one file of the collection.
type label struct {
	file       string
	flags      []string
	want, also []string
	first      string // the largest cause of the account
}

func readLabels(t testing.TB) []label {
	t.Helper()
	f, err := os.Open("testdata/public/labels.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	var all []label
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			t.Fatalf("labels.txt: %q has %d columns, want 4", line, len(cells))
		}
		l := label{file: strings.TrimSpace(cells[0]), flags: strings.Fields(cells[1]), also: strings.Fields(cells[3])}
		codes, first, _ := strings.Cut(cells[2], "first=")
		l.want, l.first = strings.Fields(codes), strings.TrimSpace(first)
		all = append(all, l)
	}
	return all
}

// tally counts findings of a warning or worse.
type tally struct{ hit, wrong, missed int }

func (t tally) String() string {
	return fmt.Sprintf("precision %.3f (%d of %d), recall %.3f (%d of %d)", ratio(t.hit, t.hit+t.wrong), t.hit, t.hit+t.wrong, ratio(t.hit, t.hit+t.missed), t.hit, t.hit+t.missed)
}

func (t *tally) add(o *tally) {
	t.hit, t.wrong, t.missed = t.hit+o.hit, t.wrong+o.wrong, t.missed+o.missed
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// TestPublicResults judges public results that have labels, through import: of findings of a
// warning or worse precision and recall must be 0.95 at least, all that invalidate a figure must be
// found, and accounts must name the first cause that the label has.
func TestPublicResults(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	labels := readLabels(t)
	if _, err := os.Stat(publicFiles()); err != nil {
		t.Skipf("the %d labelled public results are not on this machine (%v): set PLIMSOLL_CORPUS to their directory", len(labels), err)
	}
	families, all, invalid := map[string]*tally{}, &tally{}, &tally{}
	firsts, right, words := 0, 0, &tally{}
	for _, l := range labels {
		found, word := importFindings(t, l)
		if least, most := l.words(); word < least || word > most {
			words.wrong++
			t.Logf("%s %v: the verdict is %s, want %s to %s", l.file, l.flags, word, least, most)
		} else {
			words.hit++
		}
		seen := map[string]bool{}
		for _, f := range found {
			code := string(f.Code)
			if f.Account != nil && code == "PL503" && l.first != "" {
				firsts++
				if cause := string(f.Account.Factors[0].Cause); cause == l.first || cause == string(finding.Unexplained) {
					right++
				} else {
					t.Logf("%s: the first cause is %s, want %s: %s", l.file, cause, l.first, f.Message)
				}
			}
			if f.Severity.Rank() < finding.Warn.Rank() || seen[code] {
				continue
			}
			seen[code] = true
			family := code[:3] + "xx"
			if families[family] == nil {
				families[family] = &tally{}
			}
			switch {
			case slices.Contains(l.want, code):
			case !slices.Contains(l.also, code):
				t.Logf("%s %v: %s (%s) is not in the labels: %s", l.file, l.flags, code, f.Severity, f.Message)
				families[family].wrong++
				all.wrong++
			}
		}
		for _, code := range l.want {
			family := code[:3] + "xx"
			if families[family] == nil {
				families[family] = &tally{}
			}
			decisive := slices.Contains(decisiveCodes(), code)
			if seen[code] {
				families[family].hit++
				all.hit++
				if decisive {
					invalid.hit++
				}
				continue
			}
			t.Logf("%s %v: %s was not found", l.file, l.flags, code)
			families[family].missed++
			all.missed++
			if decisive {
				invalid.missed++
			}
		}
	}
	for _, family := range slices.Sorted(func(yield func(string) bool) {
		for k := range families {
			if !yield(k) {
				return
			}
		}
	}) {
		t.Logf("public results, %s: %s", family, families[family])
	}
	t.Logf("public results, %d labels, all families: %s; invalidating: %s; first causes right or unexplained: %d of %d; verdict words: %d of %d",
		len(labels), all, invalid, right, firsts, words.hit, words.hit+words.wrong)
	if ratio(all.hit, all.hit+all.wrong) < 0.95 || ratio(all.hit, all.hit+all.missed) < 0.95 || invalid.missed > 0 || right < firsts ||
		ratio(words.hit, words.hit+words.wrong) < 0.95 {
		t.Error("below the bars: 0.95, 0.95, all that invalidate a figure, all first causes, 0.95 of the verdicts' words")
	}
}

// decisiveCodes are those that invalidate a figure.
func decisiveCodes() []string { return []string{"PL401", "PL402", "PL213"} }

// words are the classes of verdicts that a label earns.
func (l label) words() (least, most wordClass) {
	least = plain
	if len(l.want) > 0 {
		least = warned
	}
	most = least
	if len(l.also) > 0 {
		most = warned
	}
	for _, code := range l.want {
		if slices.Contains(decisiveCodes(), code) { // PL402 and PL401 without the drive are warnings
			most = invalid
		}
	}
	for _, code := range l.also {
		if slices.Contains(decisiveCodes(), code) || code == "PL419" {
			most = invalid
		}
	}
	return least, most
}

// importFindings are those of `plimsoll import FILE FLAGS --format json`, with the class of its verdict.
func importFindings(t *testing.T, l label) ([]finding.Finding, wordClass) {
	t.Helper()
	j := judge(t, filepath.Join(publicFiles(), l.file), l.flags...)
	return j.findings, j.word
}

// importJSON is what `plimsoll import PATH FLAGS --format json` writes.
func importJSON(t *testing.T, path string, flags ...string) (doc []byte, said string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := &form.Env{Machine: sys.Host(), Version: Version, In: strings.NewReader(""), Out: &out, Err: &errs}
	root := newRootCmd(env)
	root.SetArgs(slices.Concat([]string{"import", path, "--out", t.TempDir(), "--format", "json"}, flags))
	_ = root.ExecuteContext(context.Background()) // verdicts are errors
	return out.Bytes(), errs.String()
}
