package compare

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Source says which sides the words of a command line stand for.
type Source struct {
	By string // group all results by this label
	In string // where runs are looked for that are named by a label (KEY=VALUE)
	// Pick chooses among the results of all sides.
	Pick bundle.Pick
}

// mostSides bounds a table: each row has a cell for each side.
const mostSides = 64

// Loaded are sides with what is to be known of how they were found, and how they are compared: an A/B measurement
// round by round and scenario by scenario, whatever its variants change of the work.
type Loaded struct {
	Sides []Side
	Notes []string
	Options
}

// Load reads runs and makes sides of them. A word is a run's directory, a directory of runs,
// several of these with commas between them, or KEY=VALUE for all runs below In with that label.
// Two words or more are a side each. One run by itself is compared result by result, and the runs
// of one directory with each other, the oldest first.
func Load(words []string, s Source) (*Loaded, error) {
	l := &Loaded{}
	within := false
	if s.By != "" {
		err := l.group(words, s)
		l.countOnce()
		return l, err
	}
	for _, w := range words {
		if ab, found, err := ReadAB(w); err != nil {
			return nil, err
		} else if found && len(words) == 1 {
			err := errors.Join(l.loadAB(w, ab), l.choose(s.Pick))
			l.countOnce()
			return l, err
		}
		runs, name, err := l.runs(w, s)
		if err != nil {
			return nil, err
		}
		switch {
		case len(words) > 1:
			l.Sides = append(l.Sides, SideOf(name, runs...))
		case len(runs) == 1:
			l.Sides = Within(runs[0])
			l.tellApart()
			within = true
		default:
			for _, b := range runs {
				l.Sides = append(l.Sides, SideOf(b.Run.ID, b))
			}
		}
	}
	if err := l.choose(s.Pick); err != nil {
		return nil, err
	}
	if within {
		l.Base = least(l.Sides)
	}
	if err := l.bounded(); err != nil {
		return nil, err
	}
	l.countOnce()
	if l.Base == "" {
		l.nameSources()
		l.tellApart()
	}
	return l, nil
}

// countOnce takes a run that lies in two places out of the second: its rounds are no further ones of a side.
func (l *Loaded) countOnce() {
	for i := range l.Sides {
		var seen []*bundle.Bundle
		s := &l.Sides[i]
		s.Samples = slices.DeleteFunc(s.Samples, func(x Sample) bool {
			sentence := copyOf(x.Run, seen)
			if sentence == "" {
				if !slices.Contains(seen, x.Run) {
					seen = append(seen, x.Run)
				}
				return false
			}
			l.Missing, l.Notes = text.Once(l.Missing, sentence), text.Once(l.Notes, sentence)
			return true
		})
	}
}

// copyOf says that a run is one of those that were seen, in another directory; empty where it is none.
func copyOf(b *bundle.Bundle, seen []*bundle.Bundle) string {
	i := slices.IndexFunc(seen, func(o *bundle.Bundle) bool { return o != b && o.Same(b) })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s and %s are the same run, which counts once: remove the copy", seen[i].Dir, b.Dir)
}

func (l *Loaded) bounded() error {
	if len(l.Sides) <= mostSides {
		return nil
	}
	return fmt.Errorf("%d sides are more than the %d that a table holds: choose results with --where "+
		"(bs=4k,rw=randread), "+
		"group them by a label with --by, or see runs in order with plimsoll runs --history", len(l.Sides), mostSides)
}

// choose leaves the results that are picked, and sides that have any.
func (l *Loaded) choose(pick bundle.Pick) error {
	if pick.Empty() {
		return nil
	}
	var all []*result.Result
	for _, s := range l.Sides {
		for _, x := range s.Samples {
			all = append(all, x.Result)
		}
	}
	picked, err := pick.Of(all)
	if err != nil {
		return err
	}
	for i := range l.Sides {
		s := &l.Sides[i]
		s.Samples = slices.DeleteFunc(s.Samples, func(x Sample) bool { return !slices.Contains(picked, x.Result) })
	}
	l.Sides = slices.DeleteFunc(l.Sides, func(s Side) bool { return len(s.Samples) == 0 })
	return nil
}

// group makes sides by a label of all runs that the words stand for.
func (l *Loaded) group(words []string, s Source) error {
	var all []*bundle.Bundle
	for _, w := range words {
		runs, _, err := l.runs(w, s)
		if err != nil {
			return err
		}
		all = append(all, runs...)
	}
	sides, without, err := GroupBy(s.By, all...)
	if err != nil {
		return err
	}
	l.Sides = sides
	if err := l.choose(s.Pick); err != nil {
		return err
	}
	if without > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%d results carry no label %q and are left out", without, s.By))
	}
	if len(all) == 1 {
		l.Base = least(l.Sides)
	}
	return nil
}

// least is the side with the smallest first figure: within one document there is no before and
// after, and "x 2.5 of the slowest" reads best.
func least(sides []Side) string {
	name, smallest := "", 0.0
	for _, s := range sides {
		for _, x := range s.Samples {
			if v := mainFigure(x.Scenario).of(x.Result); x.Invalid == "" && (name == "" || v < smallest) {
				name, smallest = s.Name, v
			}
		}
	}
	return name
}

// nameSources calls a side that is one imported run by the files it came from, with as much of
// their directories as tells such sides apart: the ID of an import says nothing but its time.
func (l *Loaded) nameSources() {
	of := map[int][]string{}
	for i := range l.Sides {
		b := l.Sides[i].only()
		if b != nil && l.Sides[i].Name == b.Run.ID && len(b.Run.Imported) > 0 && !slices.Contains(b.Run.Imported, "-") {
			of[i] = b.Run.Imported
		}
	}
	for i, files := range of {
		shared := func(parts int) bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(of)), func(other []string) bool {
				return !slices.Equal(other, files) && tails(other, parts) == tails(files, parts)
			})
		}
		parts := 1
		for shared(parts) && tails(files, parts+1) != tails(files, parts) {
			parts++
		}
		l.Sides[i].Name = tails(files, parts)
	}
}

// tails names files by the last parts of their paths.
func tails(files []string, parts int) string {
	var names []string
	for _, f := range files {
		path := strings.Split(filepath.Clean(f), string(filepath.Separator))
		names = append(names, filepath.Join(path[max(len(path)-parts, 0):]...))
	}
	return text.Some(names, 2)
}

// tellApart gives sides of the same name a number.
func (l *Loaded) tellApart() {
	seen := map[string]int{}
	for i := range l.Sides {
		s := &l.Sides[i]
		seen[s.Name]++
		if n := seen[s.Name]; n > 1 {
			s.Name = fmt.Sprintf("%s (%d)", s.Name, n)
		}
	}
}

func oldestFirst(runs []*bundle.Bundle) {
	slices.SortStableFunc(runs, func(a, b *bundle.Bundle) int { return a.Run.Created.Compare(b.Run.Created) })
}

// runs are the runs that one word stands for, oldest first.
func (l *Loaded) runs(word string, s Source) (runs []*bundle.Bundle, name string, err error) {
	if key, value, ok := strings.Cut(word, "="); ok && !sys.Exists(word) {
		all, err := l.below(cmp.Or(s.In, "runs"), true, true)
		if err != nil {
			return nil, "", err
		}
		for _, b := range all {
			if b.Run.Labels[key] == value {
				runs = append(runs, b)
			}
		}
		if len(runs) == 0 {
			return nil, "", fmt.Errorf("no run below %s carries the label %s", cmp.Or(s.In, "runs"), word)
		}
		return runs, value, nil
	}
	for part := range strings.SplitSeq(word, ",") {
		b, err := bundle.OpenRun(part)
		switch {
		case err == nil:
			l.doubt(b)
			runs = append(runs, b)
			continue
		case !errors.Is(err, bundle.ErrNotBundle):
			return nil, "", err
		}
		below, err2 := l.below(part, true, true)
		if err2 != nil || len(below) == 0 {
			return nil, "", cmp.Or(err2, err)
		}
		runs = append(runs, below...)
	}
	oldestFirst(runs)
	name = filepath.Base(filepath.Clean(word))
	if len(runs) == 1 {
		name = runs[0].Run.ID
	}
	return runs, name, nil
}

// OpenAll opens all runs of a directory. What cannot be read, or did not come to its end, is noted.
func OpenAll(dir string) (runs []*bundle.Bundle, notes []string, err error) {
	return openBelow(dir, true)
}

// OpenFleets opens all fleet runs of a directory as runs, alike.
func OpenFleets(dir string) (runs []*bundle.Bundle, notes []string, err error) {
	return openBelow(dir, false)
}

func openBelow(dir string, single bool) (runs []*bundle.Bundle, notes []string, err error) {
	l := &Loaded{}
	runs, err = l.below(dir, single, !single)
	return runs, l.Notes, err
}

// below opens runs of a directory: those of single machines, and of fleets. What cannot be read is missing; what is
// no run is passed over.
func (l *Loaded) below(dir string, single, fleets bool) ([]*bundle.Bundle, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist", dir)
		}
		return nil, err
	}
	var runs []*bundle.Bundle
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		fleet := bundle.IsFleet(at)
		if fleet && !fleets || !fleet && !single {
			continue
		}
		b, err := bundle.OpenRun(at)
		switch {
		case err == nil:
			l.doubt(b)
			runs = append(runs, b)
		case fleet || e.IsDir() && !errors.Is(err, bundle.ErrNotBundle):
			sentence := fmt.Sprintf("%s cannot be read: %v", e.Name(), err)
			l.Missing, l.Notes = append(l.Missing, sentence), append(l.Notes, sentence)
		}
	}
	return runs, nil
}

// doubt notes a run that did not come to its end.
func (l *Loaded) doubt(b *bundle.Bundle) {
	if sentence := unended(b); sentence != "" {
		l.Notes = append(l.Notes, sentence)
	}
}

// ABFile is the file that makes a directory of runs an A/B measurement.
const ABFile = "ab.json"

// The labels that each run of an A/B measurement carries.
const (
	LabelVariant = "variant"
	LabelRound   = "round"
)

// AB describes an A/B measurement: runs of variants, alternated.
type AB struct {
	Schema   int       `json:"schema"`
	Created  time.Time `json:"created"`
	Variants []string  `json:"variants"` // names, the base first
	Rounds   int       `json:"rounds"`
	Seed     uint64    `json:"seed"`
	// Command is what was typed after plimsoll ab, for resuming.
	Command []string `json:"command"`
	Margin  float64  `json:"margin"`
	// Layouts: the variants are layouts, and the directory has the plimsoll.yaml of each.
	Layouts bool `json:"layouts,omitempty"`
}

// ReadAB reads the description in a directory; found is false when it is none of an A/B
// measurement.
func ReadAB(dir string) (ab AB, found bool, err error) {
	data, err := sys.ReadFile(filepath.Join(dir, ABFile), sys.ConfigLimit)
	if errors.Is(err, os.ErrNotExist) || err != nil && !sys.IsDir(dir) {
		return ab, false, nil
	}
	if err != nil {
		return ab, false, err
	}
	if err := json.Unmarshal(data, &ab); err != nil {
		return ab, true, fmt.Errorf("%s: %w", filepath.Join(dir, ABFile), err)
	}
	return ab, true, nil
}

// WriteAB writes the description.
func WriteAB(dir *sys.Dir, ab AB) error {
	data, err := text.JSON(ab)
	if err != nil {
		return err
	}
	return dir.WriteFile(ABFile, data, 0o644)
}

// loadAB makes a side of each variant, its rounds numbered as they were alternated.
func (l *Loaded) loadAB(dir string, ab AB) error {
	runs, err := l.below(dir, true, false)
	if err != nil {
		return err
	}
	l.Paired, l.ByName, l.Layouts = true, true, ab.Layouts
	for _, name := range ab.Variants {
		side := Side{Name: name}
		rounds := 0
		for _, b := range runs {
			round, err := strconv.Atoi(b.Run.Labels[LabelRound])
			if b.Run.Labels[LabelVariant] != name || err != nil || b.Run.State != bundle.Finished {
				continue
			}
			rounds++
			for _, s := range samplesOf(b) {
				s.Round = round
				side.Samples = append(side.Samples, s)
			}
		}
		slices.SortStableFunc(side.Samples, func(a, b Sample) int { return a.Round - b.Round })
		if rounds < ab.Rounds {
			l.Missing = append(l.Missing, fmt.Sprintf("variant %s has %d of %d rounds", name, rounds, ab.Rounds))
		}
		if len(side.Samples) == 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("variant %s has not been measured yet", name))
			continue
		}
		l.Sides = append(l.Sides, side)
	}
	return nil
}
