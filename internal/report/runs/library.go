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
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// Screenful is how many lines of a list are printed where nothing else is asked for.
const Screenful = 40

// Library is the document of an import of several files, whose results have nothing to do with one
// another: a verdict for each file and none for all, the files with the worst first, and each finding
// in a line. most bounds the lines of each list, 0 for all.
func Library(b *bundle.Bundle, most int) *page.Document {
	d := Run(b)
	d.Head.Word, d.Head.Tone, d.Head.Says, d.Head.Tiles = counted(b), "", nil, nil
	d.Title = d.Head.Word
	d.Blocks = nil
	d.Add(perFile(b, most))
	d.Add(perCode(b, most))
	return d
}

// Unrelated says that an import holds results of several files.
func Unrelated(b *bundle.Bundle) bool {
	if len(b.Run.Imported) == 0 {
		return false
	}
	first := ""
	for i := range b.Scenarios {
		if r := b.Scenarios[i].Result; r != nil {
			if first != "" && r.Source != first {
				return true
			}
			first = r.Source
		}
	}
	return false
}

// fileVerdict is what was found of the results of one file.
type fileVerdict struct {
	name    string
	results int
	word    string
	rank    int
	codes   []string
}

func fileVerdicts(b *bundle.Bundle) []*fileVerdict {
	var list []*fileVerdict
	at, of := map[string]*fileVerdict{}, map[int]*fileVerdict{}
	runs := map[*fileVerdict][]verdict.Verdict{}
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Result == nil {
			continue
		}
		f := at[s.Result.Source]
		if f == nil {
			f = &fileVerdict{name: s.Result.Source}
			at[s.Result.Source] = f
			list = append(list, f)
		}
		f.results++
		of[s.ID] = f
		runs[f] = append(runs[f], s.Verdict)
	}
	warned := map[*fileVerdict]bool{}
	for _, found := range b.Findings {
		if found.Severity == finding.Info || found.Disabled != "" {
			continue
		}
		for _, id := range found.Scenarios {
			f := of[id]
			if f == nil {
				continue
			}
			warned[f] = true
			if !slices.Contains(f.codes, string(found.Code)) {
				f.codes = append(f.codes, string(found.Code))
			}
		}
	}
	for _, f := range list {
		f.judge(runs[f], warned[f])
	}
	return list
}

// judge gives a file the worst verdict of its results.
func (f *fileVerdict) judge(results []verdict.Verdict, warned bool) {
	worstFirst := []verdict.Verdict{verdict.Invalid, verdict.Fail, verdict.Warn, verdict.Pass, verdict.Measured}
	for rank, v := range worstFirst {
		if !slices.Contains(results, v) {
			continue
		}
		f.word, f.rank = v.Word(), rank
		if v == verdict.Measured && warned {
			f.word, f.rank = v.Word()+" WITH WARNINGS", 2
		}
		return
	}
	f.word, f.rank = "NOT JUDGED", len(worstFirst)
}

// counted is how many files have which verdict: "550 results of 474 files: 12 INVALID, 462 MEASURED".
func counted(b *bundle.Bundle) string {
	files := fileVerdicts(b)
	count, order := map[string]int{}, []*fileVerdict{}
	for _, f := range files {
		if count[f.word]++; count[f.word] == 1 {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b *fileVerdict) int { return cmp.Compare(a.rank, b.rank) })
	var words []string
	for _, f := range order {
		words = append(words, fmt.Sprintf("%d %s", count[f.word], f.word))
	}
	return fmt.Sprintf("%s of %s: %s", text.Plural(len(b.Scenarios), "result"), text.Plural(len(files), "file"),
		strings.Join(words, ", "))
}

func perFile(b *bundle.Bundle, most int) page.Section {
	files := fileVerdicts(b)
	slices.SortStableFunc(files, func(a, b *fileVerdict) int { return cmp.Compare(a.rank, b.rank) })
	t := page.NewTable("", "<verdict", "<file", "results", "<findings")
	shown := bound(len(files), most)
	for _, f := range files[:shown] {
		t.Add(f.word, text.Clean(tailOf(f.name), words.LongName), fmt.Sprint(f.results), strings.Join(f.codes, " "))
	}
	s := page.Section{Anchor: "files", Nav: "Files", Blocks: []page.Block{t}}
	s.Add(restOf(len(files)-shown, "file")...)
	return s
}

// tailOf is a file with the directory that it lies in.
func tailOf(name string) string {
	return filepath.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name))
}

func perCode(b *bundle.Bundle, most int) page.Section {
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
	t := page.NewTable("", "<code", "<severity", "results", "<finding")
	shown := bound(len(lines), most)
	for _, l := range lines[:shown] {
		t.Add(string(l.Code), string(l.Severity), fmt.Sprint(l.results), text.Clean(l.Title, words.LongName))
	}
	s := page.Section{Anchor: "findings", Nav: "Findings", Blocks: []page.Block{t}}
	s.Add(restOf(len(lines)-shown, "finding")...)
	return s
}

// bound is how many of n are printed.
func bound(n, most int) int {
	if most <= 0 {
		return n
	}
	return min(n, most)
}

// restOf is the line under a list that was cut, nothing under a whole one.
func restOf(n int, of string) []page.Block {
	if n <= 0 {
		return nil
	}
	return []page.Block{page.Note{Lines: []string{fmt.Sprintf("%s more: --limit 0 prints all, --where and --sort choose",
		text.Plural(n, of))}}}
}
