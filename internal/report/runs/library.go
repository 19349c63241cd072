package runs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// Library is the document of an import of several files, whose results have nothing to do with one
// another: a verdict for each file and none for all, the files with the worst first, and each finding
// in a line.
func Library(b *bundle.Bundle) *page.Document {
	files := fileVerdicts(b)
	d := &page.Document{
		Kind: "run", Tool: b.Run.Tool, Head: page.Headline{Word: counted(files, len(b.Scenarios)), About: about(b)},
	}
	d.Add(perFile(files), perCode(b))
	return d
}

// Unrelated says that an import holds results of several files.
func Unrelated(b *bundle.Bundle) bool {
	if len(b.Run.Imported) == 0 {
		return false
	}
	var sources []string
	for _, s := range measured(b) {
		sources = text.Once(sources, s.Result.Source)
	}
	return len(sources) > 1
}

// fileVerdict is what was found of the results of one file.
type fileVerdict struct {
	name    string
	results int
	verdict verdict.Verdict  // the worst of its results
	worst   int              // results with that verdict
	codes   []string         // of warnings and errors
	first   *bundle.Scenario // the first of the worst
	rare    int              // results of all files with the rarest of the codes
}

// worstFirst orders verdicts.
func worstFirst() []verdict.Verdict {
	return []verdict.Verdict{verdict.Invalid, verdict.Fail, verdict.Warn, verdict.Pass, verdict.Measured, ""}
}

// fileVerdicts are those of all files, the worst first; files of one verdict keep their order.
func fileVerdicts(b *bundle.Bundle) []*fileVerdict {
	var list []*fileVerdict
	named, of := map[string]*fileVerdict{}, map[int]*fileVerdict{}
	worst := worstFirst()
	for _, s := range measured(b) {
		f := named[s.Result.Source]
		if f == nil {
			f = &fileVerdict{name: s.Result.Source, verdict: s.Verdict}
			named[s.Result.Source] = f
			list = append(list, f)
		}
		if slices.Index(worst, s.Verdict) < slices.Index(worst, f.verdict) {
			f.verdict, f.worst, f.first = s.Verdict, 0, nil
		}
		if s.Verdict == f.verdict {
			f.worst, f.first = f.worst+1, cmp.Or(f.first, s)
		}
		f.results++
		of[s.ID] = f
	}
	counts := map[finding.Code]int{}
	for _, found := range b.Findings {
		counts[found.Code] += len(found.Scenarios)
	}
	for _, found := range b.Findings {
		if found.Severity == finding.Info || found.Disabled != "" {
			continue
		}
		for _, id := range found.Scenarios {
			f := of[id]
			if f == nil || slices.Contains(f.codes, string(found.Code)) {
				continue
			}
			n := counts[found.Code]
			if f.codes = append(f.codes, string(found.Code)); f.rare == 0 || n < f.rare {
				f.rare = n
			}
		}
	}
	// What few files have says more of a file than what all have.
	slices.SortStableFunc(list, func(a, b *fileVerdict) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.rare, b.rare))
	})
	return list
}

// rank is 0 for the worst; what was measured with warnings stands before what was measured without.
func (f *fileVerdict) rank() int {
	n := 2 * slices.Index(worstFirst(), f.verdict)
	if f.warned() {
		n--
	}
	return n
}

func (f *fileVerdict) warned() bool { return f.verdict == verdict.Measured && len(f.codes) > 0 }

func (f *fileVerdict) word() string {
	if f.warned() {
		return f.verdict.Word() + " WITH WARNINGS"
	}
	return f.verdict.Word()
}

// counted is how many files have which verdict by their worst result: "474 files, 550 results: 12 INVALID, 462
// MEASURED".
func counted(files []*fileVerdict, results int) string {
	var says text.Lines
	of := text.Plural(len(files), "file")
	if results != len(files) {
		of += ", " + text.Plural(results, "result")
	}
	for i := 0; i < len(files); {
		from := i
		for i < len(files) && files[i].word() == files[from].word() {
			i++
		}
		says.Say("%d %s", i-from, files[from].word())
	}
	return of + ": " + strings.Join(says, ", ")
}

func perFile(files []*fileVerdict) page.Section {
	t := page.NewTable("<verdict", "results??", "<file", "figure", "<why")
	t.Most = 12
	for _, f := range files {
		of := ""
		if f.results > 1 {
			of = fmt.Sprint(f.results)
		}
		if f.worst < f.results {
			of = fmt.Sprintf("%d of %d", f.worst, f.results)
		}
		why := strings.Join(f.codes, " ")
		if r := f.first.Result.Reasons; len(r) > 0 {
			why = r[0]
		}
		name := filepath.Join(f.first.Result.Labels["dir"], filepath.Base(f.name))
		if f.first.Result.Labels["dir"] == "" {
			name = tailOf(f.name)
		}
		t.Add(f.word(), of, shortened(name), newRow(f.first, 0).Measured, why)
	}
	return page.Part("Files", "files", "", t)
}

// tailOf is a file with the directory that it lies in.
func tailOf(name string) string {
	return shortened(filepath.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name)))
}

// shortened leaves out the middle of a file's name, so that what is beside it fits.
func shortened(name string) string {
	const end = 16 // runes
	tail := []rune(name)
	if len(tail) <= 2*end {
		return string(tail)
	}
	return string(tail[:end-1]) + "…" + string(tail[len(tail)-end:])
}

func perCode(b *bundle.Bundle) page.Section {
	type line struct {
		finding.Finding
		results int
	}
	var lines []*line
	at := map[finding.Code]*line{}
	for _, f := range b.Findings {
		if f.Severity == finding.Info || f.Disabled != "" {
			continue
		}
		if at[f.Code] == nil {
			at[f.Code] = &line{Finding: f}
			lines = append(lines, at[f.Code])
		}
		at[f.Code].results += len(f.Scenarios)
	}
	t := page.NewTable("<code", "<severity", "results", "<finding")
	t.Most = 12
	for _, l := range lines {
		t.Add(l.Code, l.Severity, l.results, l.Title)
	}
	return page.Part("Findings", "findings", "", t)
}
