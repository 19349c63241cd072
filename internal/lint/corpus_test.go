package lint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
)

// corpora are real files of public repositories (owner+repository, then the path there), by where they are
// from. In testdata they are cut to the lines of their jobs and storage commands, of which lint says the same as
// of the whole files, without those that are mostly sentences; beside the repository the project has them whole.
func corpora(t *testing.T, name string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/corpus-" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"testdata": t.TempDir()}
	for _, f := range archive.Files {
		to := filepath.Join(dirs["testdata"], filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, shared := range []string{"../../../shared/corpus", "/work/shared/corpus"} {
		if whole := filepath.Join(shared, name); exists(whole) {
			dirs["whole"] = whole
		}
	}
	return dirs
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func lintFile(t *testing.T, name string) []finding.Finding {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return Judge(NewCase(Case{Scripts: []*script.File{script.Parse(name, text, script.Options{Include: os.ReadFile})}})).Found
}

// Errors and warnings against labels that were written by reading the files.
func TestPrecisionOnRealFiles(t *testing.T) {
	for from, dir := range corpora(t, "lint") {
		t.Run(from, func(t *testing.T) { precision(t, dir, from == "whole") })
	}
}

func precision(t *testing.T, dir string, whole bool) {
	t.Helper()
	table, err := os.ReadFile("testdata/corpus-labels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	type tally struct{ right, wrong, missed int }
	var errors, warnings tally
	files := 0
	for line := range strings.Lines(string(table)) {
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(col) != 3 {
			continue
		}
		if !whole && !exists(filepath.Join(dir, col[0])) {
			continue
		}
		files++
		want := strings.Fields(col[2])
		seen := map[string]bool{}
		for _, f := range lintFile(t, filepath.Join(dir, col[0])) {
			count := &errors
			if at := fmt.Sprintf("%s:%d", f.Code, f.Line); f.Severity == finding.Info && slices.Contains(want, at) {
				seen[at] = true // went down to an info since
				continue
			}
			switch {
			case f.Severity == finding.Warn && col[1] == "all":
				count = &warnings
			case f.Severity != finding.Fail:
				continue
			}
			at := string(f.Code) + strings.TrimSuffix(strings.TrimPrefix(f.Subject, f.File), ":"+lastField(f.Subject))
			if slices.Contains(want, at) {
				count.right++
				seen[at] = true
				continue
			}
			count.wrong++
			t.Logf("not in the labels: %s %s %s: %s", col[0], at, f.Severity, f.Message)
		}
		for _, w := range want {
			if w != "-" && !seen[w] {
				warnings.missed++
				t.Logf("missed: %s %s", col[0], w)
			}
		}
	}
	share := func(c tally) float64 { return float64(c.right) / float64(max(c.right+c.wrong, 1)) }
	t.Logf("%d files: errors %d right, %d wrong (%.3f); warnings %d right, %d wrong (%.3f); %d labels missed", files,
		errors.right, errors.wrong, share(errors), warnings.right, warnings.wrong, share(warnings), warnings.missed)
	if files < 120 || share(errors) < 0.98 || share(warnings) < 0.90 {
		t.Error("want 120 files, errors 0.98 and warnings 0.90 precise")
	}
}

func lastField(s string) string { return s[strings.LastIndexByte(s, ':')+1:] }

// No real file crashes lint, and all of them together take no time that a person would notice.
func TestEveryRealFileIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	n, slowest, dirs := 0, time.Duration(0), corpora(t, "lint")
	dir, least := dirs["whole"], 300
	if dir == "" {
		dir, least = dirs["testdata"], 160
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		start := time.Now()
		lintFile(t, name)
		n, slowest = n+1, max(slowest, time.Since(start))
		return nil
	})
	if err != nil || n < least {
		t.Fatal(n, err)
	}
	t.Logf("%d files, the slowest took %s", n, slowest)
}

// The second corpus, of files that nobody of the project had seen when they were labelled.
func TestSecondCorpus(t *testing.T) {
	for from, dir := range corpora(t, "lint-2") {
		files, warned := 100, 0.9
		if from == "testdata" { // without ten files that are mostly sentences, one wrong warning weighs more
			files, warned = 90, 0.88
		}
		t.Run(from, func(t *testing.T) { second(t, dir, files, warned) })
	}
}

func second(t *testing.T, dir string, least int, warned float64) {
	t.Helper()
	table, err := os.ReadFile("testdata/corpus2-labels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	must, may := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(table)) {
		if col := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(col) == 3 && !strings.HasPrefix(line, "#") {
			must[col[0]], may[col[0]] = strings.Fields(strings.Trim(col[1], "-")), strings.Fields(strings.Trim(col[2], "-"))
		}
	}
	right, wrong := map[finding.Severity]int{}, map[finding.Severity]int{}
	found, all, files := 0, 0, 0
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if strings.HasSuffix(e.Name(), ".tsv") {
			continue
		}
		files++
		said := map[string]bool{}
		for _, f := range lintFile(t, filepath.Join(dir, e.Name())) {
			at := fmt.Sprintf("%s:%d", f.Code, f.Line)
			said[at] = true
			switch {
			case f.Severity == finding.Info, slices.Contains(may[e.Name()], string(f.Code)):
			case slices.Contains(must[e.Name()], at):
				right[f.Severity]++
			default:
				wrong[f.Severity]++
				t.Logf("not in the labels: %s %s %s: %s", e.Name(), at, f.Severity, f.Message)
			}
		}
		for _, m := range must[e.Name()] {
			all++
			if said[m] {
				found++
			} else {
				t.Logf("missed: %s %s", e.Name(), m)
			}
		}
	}
	share := func(s finding.Severity) float64 { return float64(right[s]) / float64(max(right[s]+wrong[s], 1)) }
	t.Logf("%d files: errors %d right, %d wrong; warnings %d right, %d wrong; %d of %d musts found", files,
		right[finding.Fail], wrong[finding.Fail], right[finding.Warn], wrong[finding.Warn], found, all)
	if files < least || share(finding.Fail) < 0.98 || share(finding.Warn) < warned || float64(found) < 0.8*float64(all) {
		t.Errorf("errors %.2f, warnings %.2f, recall %.2f", share(finding.Fail), share(finding.Warn), float64(found)/float64(all))
	}
}
