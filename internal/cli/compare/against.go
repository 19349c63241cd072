package compare

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
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

// gated prints a document with what a gate says of it, and is the error of its exit code.
func gated(env *form.Env, format string, d *page.Document, o compare.Outcome, g compare.Gate) error {
	if g.Asks() {
		d.Gate(o.Failed, slices.Concat(o.Invalid, o.Unjudged))
	}
	if err := form.Render(env, format, d); err != nil {
		return err
	}
	return gateError(env, o)
}

// gateError prints why a gate is not passed, and is the error of its exit code: what must not be
// trusted is worse than what is slower, and that is worse than what is missing.
func gateError(env *form.Env, o compare.Outcome) error {
	for _, r := range o.Failed {
		env.Sayf("%s", r)
	}
	unjudged(env, "INVALID and cannot be judged", o.Invalid)
	unjudged(env, "cannot be judged", o.Unjudged)
	switch {
	case len(o.Invalid) > 0:
		return form.ErrInvalid
	case len(o.Failed) > 0:
		return form.ErrVerdict
	case len(o.Unjudged) > 0:
		return form.ErrUnjudged
	}
	return nil
}

// mostUnjudged is how many are named on the line that says what could not be judged.
const mostUnjudged = 3

// unjudged is one line, however many there are.
func unjudged(env *form.Env, what string, all []string) {
	if len(all) == 0 {
		return
	}
	line := what + ": " + strings.Join(all[:min(len(all), mostUnjudged)], "; ")
	if more := len(all) - mostUnjudged; more > 0 {
		line += fmt.Sprintf("; and %d more", more)
	}
	fmt.Fprintln(env.Err, text.Clean(line, 0))
}

// Worst is the error with the worse of two exit codes of the ladder, where own is of a measurement's
// verdict.
func Worst(own, gate error) error {
	verdicts := errors.Is(gate, form.ErrVerdict) || errors.Is(gate, form.ErrUnjudged)
	if gate == nil || own != nil && verdicts {
		return own
	}
	return gate
}
