package compare

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
)

// judgeAgainst holds a run against what --against names: last:10 (the runs before it in a
// directory), one run, or a table of expected figures.
func judgeAgainst(b *bundle.Bundle, what, in string) (*compare.Against, error) {
	if count, ok := strings.CutPrefix(what, "last:"); ok {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, form.Usage(fmt.Errorf("--against %q: give a number of runs such as last:10", what))
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

// ReportAgainst prints how a run stands, and fails where the gate says so.
func ReportAgainst(env *form.Env, dir, what, in, format string, gate compare.Gate, base Options) error {
	if IsRun(what) { // one run: an ordinary comparison
		margin, err := ParsePercent("--margin", base.Margin)
		if err != nil {
			return form.Usage(err)
		}
		return Runs(env, []string{what, dir}, base, margin, gate)
	}
	b, err := bundle.OpenRun(dir)
	if err != nil {
		return err
	}
	if in == "" {
		in = filepath.Dir(filepath.Clean(dir))
	}
	a, err := judgeAgainst(b, what, in)
	if err != nil {
		return err
	}
	if err := form.Render(env, format, compared.Against(a)); err != nil {
		return form.Usage(err)
	}
	return gateError(env, a.Judge(gate))
}
