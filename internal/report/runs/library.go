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
	verdict verdict.Verdict // the worst of its results
	worst   int             // results with that verdict
	codes   []string        // of warnings and errors
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
			f.verdict, f.worst = s.Verdict, 0
		}
		if s.Verdict == f.verdict {
			f.worst++
		}
		f.results++
		of[s.ID] = f
	}
	for _, found := range b.Findings {
		if found.Severity == finding.Info || found.Disabled != "" {
			continue
		}
		for _, id := range found.Scenarios {
			if f := of[id]; f != nil {
				f.codes = text.Once(f.codes, string(found.Code))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *fileVerdict) int { return cmp.Compare(a.rank(), b.rank()) })
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

// counted is how many files have which verdict: "550 results of 474 files; files by their worst result: 12
// INVALID, 462 MEASURED".
func counted(files []*fileVerdict, results int) string {
	var says text.Lines
	for i := 0; i < len(files); {
		from := i
		for i < len(files) && files[i].word() == files[from].word() {
			i++
		}
		says.Say("%d %s", i-from, files[from].word())
	}
	return fmt.Sprintf("%s of %s; files by their worst result: %s", text.Plural(results, "result"),
		text.Plural(len(files), "file"), strings.Join(says, ", "))
}

func perFile(files []*fileVerdict) page.Section {
	t := page.NewTable("<verdict", "results", "<file", "<findings")
	t.Most = 12
	for _, f := range files {
		of := fmt.Sprint(f.results)
		if f.worst < f.results {
			of = fmt.Sprintf("%d of %d", f.worst, f.results)
		}
		t.Add(f.word(), of, tailOf(f.name), strings.Join(f.codes, " "))
	}
	return page.Part("Files", "files", "", t)
}

// tailOf is a file with the directory that it lies in, shortened in its middle, so that the findings beside it fit.
func tailOf(name string) string {
	const end = 16 // runes
	tail := []rune(filepath.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name)))
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
