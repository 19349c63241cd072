package runs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// asLibrary makes the document of a run that of results of several files, which have nothing to do with one
// another: a verdict for each file and none for all, the files with the worst first, and each finding in a line. What
// else it holds is a detail.
func asLibrary(d *page.Document, b *bundle.Bundle) {
	for i, block := range d.Blocks {
		switch block := block.(type) {
		case page.Section:
			block.Level, block.Title = page.Detail, cmp.Or(block.Title, block.Nav)
			d.Blocks[i] = block
		case page.Note:
			d.Blocks[i] = block.Detailed()
		}
	}
	files := fileVerdicts(b)
	d.Head = page.Headline{
		Word: counted(files, len(measured(b))), Tone: string(b.Run.Verdict), About: about(b),
	}
	d.Blocks = slices.Insert(d.Blocks, 0, page.Full(perDir(b), perFile(files), perCode(b))...)
}

// unrelated says that an import holds results of several files.
func unrelated(b *bundle.Bundle) bool {
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
	at      int              // its place among all
	worst   int              // how many these are
	results int
	codes   []string // of warnings and errors
	rare    int      // results of all files with the rarest of the codes
	apart   string   // how far a result is from those like it
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
	far := apart(measured(b))
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Result == nil {
			continue
		}
		f := named[s.Result.Source]
		if f == nil {
			f = &fileVerdict{first: s, at: i}
			named[s.Result.Source] = f
			list = append(list, f)
		}
		if rank(s.Verdict) < rank(f.first.Verdict) {
			f.first, f.at, f.worst = s, i, 0
		}
		if s.Verdict == f.first.Verdict {
			f.worst++
		}
		f.results++
		f.apart = cmp.Or(f.apart, far[s])
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
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.apart, a.apart), cmp.Compare(a.rare, b.rare))
	})
	return list
}

// leastApart is how far from the median of its like a result stands apart, however alike those are.
const leastApart = 0.1

// workOf is what a result with a figure did, "" of one that must not be trusted.
func workOf(s *bundle.Scenario) string {
	return words.When(mainOf(s.Result) > 0 && s.Verdict != verdict.Invalid, bundle.KeyText(s.Result, "work"))
}

func mainOf(r *result.Result) float64 {
	_, v := compare.MainFigure(r)
	return v
}

// apart says how far results are from the median of those of the same directory that did the same, where that is
// further than results of one storage are from each other.
func apart(all []*bundle.Scenario) map[*bundle.Scenario]string {
	alike := map[string][]*bundle.Scenario{}
	for _, s := range all {
		if work := workOf(s); work != "" {
			work += " " + s.Result.Labels["dir"]
			alike[work] = append(alike[work], s)
		}
	}
	far := map[*bundle.Scenario]string{}
	for _, like := range alike {
		values := make([]float64, len(like))
		for i, s := range like {
			values[i] = mainOf(s.Result)
		}
		for _, i := range stats.Apart(values) {
			if off := values[i]/stats.Quantile(stats.WithoutApart(values), 0.5) - 1; max(off, -off) > leastApart {
				where := text.Either(off < 0, "below", "above")
				far[like[i]] = fmt.Sprintf("%s %s %d similar results", text.Percent(max(off, -off)), where, len(like)-1)
			}
		}
	}
	return far
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
	return f.first.Verdict.Word() + words.When(f.warned(), " WITH WARNINGS")
}

// counted is how many files have which verdict by their worst result, and how many stand apart: "474 files, 550
// results: 12 INVALID, 462 MEASURED, 2 unlike the others".
func counted(files []*fileVerdict, results int) string {
	var says text.Lines
	of := text.Several(files, "file") + words.When(results != len(files), ", "+text.Plural(results, "result"))
	if files[0].first.Verdict != verdict.Invalid {
		says.Say("0 %s", verdict.Invalid.Word())
	}
	for i := 0; i < len(files); {
		from := i
		for i < len(files) && files[i].word() == files[from].word() {
			i++
		}
		says.Say("%d %s", i-from, files[from].word())
	}
	unlike := slices.DeleteFunc(slices.Clone(files), func(f *fileVerdict) bool { return f.apart == "" })
	if len(unlike) > 0 {
		says.Say("%d unlike the others", len(unlike))
	}
	return of + ": " + strings.Join(says, ", ")
}

func perFile(files []*fileVerdict) page.Section {
	t := page.NewTable("<verdict, results??, <file, figure, <why")
	t.Most = 10
	for _, f := range files {
		of := words.When(f.results > 1, fmt.Sprint(f.results))
		if f.worst < f.results {
			of = fmt.Sprintf("%d of %d", f.worst, f.results)
		}
		r := f.first.Result
		why := text.Join("; ", f.apart, strings.Join(f.codes, " "))
		if len(r.Reasons) > 0 {
			why = r.Reasons[0]
		}
		dir := cmp.Or(r.Labels["dir"], filepath.Base(filepath.Dir(r.Source)))
		row := newRow(f.first, f.at)
		verdict := page.Cell{Text: strings.TrimPrefix(f.word(), "MEASURED "), Tone: string(f.first.Verdict)}
		name := filepath.Join(dir, filepath.Base(r.Source))
		file := page.Cell{Text: shortened(name), Link: row.Anchor}
		if file.Text != name {
			file.Also = name
		}
		reason := page.T(text.Clean(why, 40))
		if reason.Text != why {
			reason.Also = why
		}
		t.Add(verdict, of, file, row.Measured, reason)
	}
	return page.Part("Files", "files", "", t)
}

// The most directories that stand beside each other, and the least results of a median.
const mostDirs, leastAlike = 5, 3

// perDir has the median result of each kind of work in each directory, beside that of the first directory.
func perDir(b *bundle.Bundle) page.Table {
	var works text.Groups
	var dirs []string
	of := map[[2]string][]*bundle.Scenario{} // by work and directory
	for _, s := range measured(b) {
		if work, dir := workOf(s), s.Result.Labels["dir"]; work != "" && dir != "" {
			works.Add(work, dir)
			at := [2]string{work, dir}
			dirs, of[at] = text.Once(dirs, dir), append(of[at], s)
		}
	}
	if len(dirs) < 2 || len(dirs) > mostDirs {
		return page.Table{}
	}
	t := page.Captioned("Medians by directory", "<work, results?")
	t.Most = leastAlike
	for _, dir := range dirs {
		t.Columns = append(t.Columns, page.Column{Name: text.Clean(dir, 20)})
	}
	for _, work := range works.Heads {
		base, beside, cells := 0.0, 0, page.Cells(work, len(works.Of[work]))
		for _, dir := range dirs {
			alike := of[[2]string{work, dir}]
			if len(alike) < leastAlike {
				cells = append(cells, page.Cell{})
				continue
			}
			slices.SortFunc(alike, func(a, b *bundle.Scenario) int { return cmp.Compare(mainOf(a.Result), mainOf(b.Result)) })
			middle := alike[len(alike)/2]
			figure, value := newRow(middle, 0).Measured, mainOf(middle.Result)
			if base == 0 {
				base = value
			} else {
				beside++
				figure += " " + words.Parens(words.Ratio(value/base))
			}
			cells = append(cells, page.T(figure))
		}
		if beside > 0 {
			t.Add(cells)
		}
	}
	return t
}

// shortened leaves out the middle of a file's name, so that what is beside it fits.
func shortened(name string) string {
	const end = 14 // runes
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

func perCode(b *bundle.Bundle) page.Table {
	t := page.NewTable("<code, <severity, results, <finding")
	t.Most = 8
	for _, f := range codes(b) {
		t.Add(f.Code, f.Severity, len(f.Scenarios), f.Title)
	}
	return t
}
