package bench

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// A search pauses between two scenarios that it measures, as rounds do, and not after one that an
// earlier session measured.
func TestSearchCoolsDown(t *testing.T) {
	all := make([]suite.Scenario, 3)
	for i := range all {
		file, err := fio.ParseJobFile("j", []byte("[a]\nrw=read\nsize=1m\n"), fio.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all[i] = suite.Scenario{ID: i + 1, Name: fmt.Sprintf("s%d", i+1), Role: topology.Data, Job: *file}
	}
	for name, c := range map[string]struct {
		cooldown time.Duration
		done     map[mark]*result.Result
		want     []string
	}{
		"all":         {time.Millisecond, nil, []string{"1", "cool", "2", "cool", "3"}},
		"resumed":     {time.Millisecond, map[mark]*result.Result{{0, 1}: {}}, []string{"2", "cool", "3"}},
		"no cooldown": {0, nil, []string{"1", "2", "3"}},
	} {
		var got []string
		at := &permit.Place{Role: topology.Data, Path: t.TempDir()}
		r := &runner{
			m:        &sys.Machine{Now: time.Now},
			places:   []*place{{Place: at, broken: errors.New("not measured")}},
			plan:     Plan{Suite: suite.Suite{Cooldown: c.cooldown, Scenarios: slices.Clone(all)}},
			ceilings: map[int]ceiling.Ceiling{},
			emit: func(e Event) {
				switch e := e.(type) {
				case Cooling:
					got = append(got, "cool")
				case Ended:
					got = append(got, fmt.Sprint(e.ID))
				}
			},
		}
		r.plan.Next = func([]bundle.Scenario) (suite.Scenario, bool) { return suite.Scenario{}, false }
		w, err := bundle.Create(t.TempDir(), bundle.Run{Suite: r.plan.Suite, Created: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.search(t.Context(), w, c.done); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		w.Close()
	}
}
