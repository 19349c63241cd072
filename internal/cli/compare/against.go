package compare

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/page"
)

// judgeAgainst holds a run against what --against names: last:10 (the runs before it in a
// directory), one run, or a table of expected figures.
func judgeAgainst(b *bundle.Bundle, what, in string) (*compare.Against, error) {
	if count, ok := strings.CutPrefix(what, "last:"); ok {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, form.Usagef("--against %q: give a number of runs such as last:10", what)
		}
		open := compare.OpenAll
		if bundle.IsFleet(b.Dir) {
			open = compare.OpenFleets
		}
		earlier, notes, err := open(in)
		if err != nil {
			return nil, err
		}
		a := compare.AgainstRuns(b, earlier, n)
		a.Notes = append(a.Notes, notes...)
		return a, nil
	}
	table, err := compare.ReadExpectations(what)
	if err != nil {
		return nil, form.Usage(err)
	}
	return compare.AgainstTable(b, table), nil
}

// IsRun says that --against names a run.
func IsRun(what string) bool {
	_, err := bundle.OpenRun(what)
	return err == nil
}

// Judged is what a gate says of a run, with the document that shows it.
type Judged struct {
	page *page.Document
	gate compare.Gate
	compare.Outcome
}

// Gate says in the document of the run itself what the gate says of it.
func (j *Judged) Gate(d *page.Document) {
	if j.gate.Asks() && !j.Passed() {
		d.Gate(j.Failed, slices.Concat(j.Invalid, j.Unjudged))
	}
}

// Print prints how the run stands, and is the error of the gate.
func (j *Judged) Print(env *form.Env, format string) error {
	return gated(env, format, j.page, j.Outcome, j.gate)
}

// JudgeAgainst holds a run against what --against names.
func JudgeAgainst(dir, what, in string, gate compare.Gate, base Options) (*Judged, error) {
	if IsRun(what) { // one run: an ordinary comparison
		margin, err := ParsePercent("--margin", base.Margin)
		if err != nil {
			return nil, form.Usage(err)
		}
		return judgeSides([]string{what, dir}, base, margin, gate)
	}
	b, err := bundle.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	if in == "" {
		in = filepath.Dir(filepath.Clean(dir))
	}
	a, err := judgeAgainst(b, what, in)
	if err != nil {
		return nil, err
	}
	return &Judged{compared.Against(a), gate, a.Judge(gate)}, nil
}
