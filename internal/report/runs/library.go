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
	first   *bundle.Scenario // of the results with the worst verdict
	worst   int              // how many these are
	results int
	codes   []string // of warnings and errors
	rare    int      // results of all files with the rarest of the codes
}

// worstFirst orders verdicts.
func worstFirst() []verdict.Verdict {
	return []verdict.Verdict{verdict.Invalid, verdict.Fail, verdict.Warn, verdict.Pass, verdict.Measured, ""}
}

func rank(v verdict.Verdict) int { return slices.Index(worstFirst(), v) }

// fileVerdicts are those of all files, the worst first; files of one verdict keep their order.
func fileVerdicts(b *bundle.Bundle) []*fileVerdict {
	var list []*fileVerdict
	named, of := map[string]*fileVerdict{}, map[int]*fileVerdict{}
	for _, s := range measured(b) {
		f := named[s.Result.Source]
		if f == nil {
			f = &fileVerdict{first: s}
			named[s.Result.Source] = f
			list = append(list, f)
		}
		if rank(s.Verdict) < rank(f.first.Verdict) {
			f.first, f.worst = s, 0
		}
		if s.Verdict == f.first.Verdict {
			f.worst++
		}
		f.results++
		of[s.ID] = f
	}
	for _, c := range codes(b) {
		for _, id := range c.Scenarios {
			f := of[id]
			if f == nil || slices.Contains(f.codes, string(c.Code)) {
				continue
			}
			if f.codes = append(f.codes, string(c.Code)); f.rare == 0 || len(c.Scenarios) < f.rare {
				f.rare = len(c.Scenarios)
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
	n := 2 * rank(f.first.Verdict)
	if f.warned() {
		n--
	}
	return n
}

func (f *fileVerdict) warned() bool { return f.first.Verdict == verdict.Measured && len(f.codes) > 0 }

func (f *fileVerdict) word() string {
	if f.warned() {
		return f.first.Verdict.Word() + " WITH WARNINGS"
	}
	return f.first.Verdict.Word()
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
		r := f.first.Result
		if len(r.Reasons) > 0 {
			why = r.Reasons[0]
		}
		dir := cmp.Or(r.Labels["dir"], filepath.Base(filepath.Dir(r.Source)))
		t.Add(f.word(), of, shortened(filepath.Join(dir, filepath.Base(r.Source))), newRow(f.first, 0).Measured, why)
	}
	return page.Part("Files", "files", "", t)
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

// codes are the warnings and errors, each code once, with all results that have it.
func codes(b *bundle.Bundle) (list []finding.Finding) {
	for _, f := range b.Findings {
		if f.Severity == finding.Info || f.Disabled != "" {
			continue
		}
		at := slices.IndexFunc(list, func(had finding.Finding) bool { return had.Code == f.Code })
		if at < 0 {
			at, list = len(list), append(list, f)
			list[at].Scenarios = nil
		}
		list[at].Scenarios = append(list[at].Scenarios, f.Scenarios...)
	}
	return list
}

func perCode(b *bundle.Bundle) page.Section {
	t := page.NewTable("<code", "<severity", "results", "<finding")
	t.Most = 12
	for _, f := range codes(b) {
		t.Add(f.Code, f.Severity, len(f.Scenarios), f.Title)
	}
	return page.Part("Findings", "findings", "", t)
}
