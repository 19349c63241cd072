package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
)

// judgeAgainst holds a run against what --against names: last:10 (the runs before it in a
// directory), one run, or a table of expected figures.
func judgeAgainst(b *bundle.Bundle, what, in string) (*compare.Against, error) {
	if count, ok := strings.CutPrefix(what, "last:"); ok {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, usage(fmt.Errorf("--against %q: give a number of runs such as last:10", what))
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
		return nil, usage(err)
	}
	return compare.AgainstTable(b, table), nil
}

// isRun says that --against names a run.
func isRun(what string) bool {
	_, err := bundle.OpenRun(what)
	return err == nil
}

// reportAgainst prints how a run stands, and fails where the gate says so.
func reportAgainst(env *Env, dir, what, in, format string, gate compare.Gate, base compareOptions) error {
	if isRun(what) { // one run: an ordinary comparison
		margin, err := parsePercent("--margin", base.margin)
		if err != nil {
			return usage(err)
		}
		return compareRuns(env, []string{what, dir}, base, margin, gate)
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
	if err := render(env, format, compared.Against(a)); err != nil {
		return usage(err)
	}
	return gateError(env, a.Judge(gate))
}
