package runs

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// Listed are the runs and the fleet runs below a directory.
type Listed struct {
	Dir    string
	Runs   []bundle.Run
	Fleets []*bundle.Fleet
}

// List is the document of runs and fleet runs below directories, newest first.
func List(below ...Listed) *page.Document {
	var all []bundle.Run
	var fleets []*bundle.Fleet
	type line struct {
		at    time.Time
		name  string
		cells []string
	}
	var lines []line
	for _, l := range below {
		all, fleets = append(all, l.Runs...), append(fleets, l.Fleets...)
		for _, r := range l.Runs {
			lines = append(lines, line{r.Created, filepath.Join(l.Dir, r.ID), RunSummary(r)})
		}
		for _, f := range l.Fleets {
			lines = append(lines, line{f.Created, filepath.Join(l.Dir, f.ID), fleetSummary(f)})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return b.at.Compare(a.at) })
	rows := page.NewTable("<when, <run, <outcome, <scenarios?, <?")
	rows.Most = 35
	for _, l := range lines {
		rows.Add(l.at.Local().Format("2006-01-02 15:04"), l.name, l.cells)
	}
	d := page.New("runs", text.Several(lines, "run"), "runs", listData(all, fleets))
	d.Add(rows)
	return d
}

// fleetSummary is a fleet run in a few words: how it ended, how much it measured, on how many
// hosts, its labels.
func fleetSummary(f *bundle.Fleet) []string {
	lost := 0
	for _, h := range f.Hosts {
		if h.State != bundle.HostDone {
			lost++
		}
	}
	return []string{f.Outcome(), text.Several(f.Scenarios, "scenario"), text.Join(", ", text.Several(f.Hosts, "host"),
		words.When(lost > 0, fmt.Sprintf("%d lost", lost)), LabelText(f.Labels))}
}

// listedFleet is a fleet run in a list, as JSON.
type listedFleet struct {
	ID               string
	Created          time.Time
	Outcome, Order   string
	Hosts, Scenarios []string

	Labels map[string]string `json:"labels,omitempty"`
}

func listData(all []bundle.Run, fleets []*bundle.Fleet) any {
	list := struct {
		Runs   []bundle.Run
		Fleets []listedFleet
	}{append([]bundle.Run{}, all...), []listedFleet{}}
	for _, f := range fleets {
		one := listedFleet{f.ID, f.Created, f.Outcome(), f.Order, []string{}, []string{}, f.Labels}
		for _, h := range f.Hosts {
			one.Hosts = append(one.Hosts, h.Name)
		}
		for _, s := range f.Scenarios {
			one.Scenarios = append(one.Scenarios, s.Name)
		}
		list.Fleets = append(list.Fleets, one)
	}
	return list
}

// RunSummary is a run in a few words: how it ended, how much it measured, its labels.
func RunSummary(r bundle.Run) []string {
	return []string{
		r.Outcome(),
		text.Several(r.Suite.Scenarios, "scenario"),
		text.Clean(LabelText(r.Labels), words.LongName), // completions have it, too
	}
}

// PlainLabel is the key of a label that was given without one.
const PlainLabel = "label"

// LabelText prints labels as they were given.
func LabelText(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == PlainLabel {
			all = append(all, labels[key])
		} else {
			all = append(all, key+"="+labels[key])
		}
	}
	return strings.Join(all, ", ")
}
