package report

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// Suites lists suites, a line each.
func Suites(w io.Writer, all []*suite.Suite) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\n", s.Name, len(s.Scenarios), s.Description)
	}
	return t.Flush()
}

// Runs lists runs and fleet runs below dir, newest first.
func Runs(w io.Writer, dir string, all []bundle.Run, fleets []*bundle.Fleet) error {
	type line struct {
		at    time.Time
		id    string
		words []string
	}
	var lines []line
	for _, r := range all {
		lines = append(lines, line{r.Created, r.ID, RunSummary(r)})
	}
	for _, f := range fleets {
		lines = append(lines, line{f.Created, f.ID, fleetSummary(f)})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return b.at.Compare(a.at) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		at := l.at.Local().Format("2006-01-02 15:04")
		fmt.Fprintf(t, "%s\t%s\t%s\n", at, filepath.Join(dir, l.id), strings.Join(l.words, "\t"))
	}
	return t.Flush()
}

// fleetSummary is a fleet run in a few words: how it ended, how much it measured, on how many
// hosts.
func fleetSummary(f *bundle.Fleet) []string {
	lost := 0
	for _, h := range f.Hosts {
		if h.State != bundle.HostDone {
			lost++
		}
	}
	hosts := text.Plural(len(f.Hosts), "host")
	if lost > 0 {
		hosts += fmt.Sprintf(", %d lost", lost)
	}
	return []string{f.Outcome(), text.Plural(len(f.Scenarios), "scenario"), hosts}
}

// listedFleet is a fleet run in a list, as JSON.
type listedFleet struct {
	ID        string    `json:"id"`
	Created   time.Time `json:"created"`
	Outcome   string    `json:"outcome"`
	Order     string    `json:"order"`
	Hosts     []string  `json:"hosts"`
	Scenarios []string  `json:"scenarios"`
}

// RunsJSON lists runs and fleet runs as JSON.
func RunsJSON(w io.Writer, all []bundle.Run, fleets []*bundle.Fleet) error {
	list := struct {
		Runs   []bundle.Run  `json:"runs"`
		Fleets []listedFleet `json:"fleets"`
	}{append([]bundle.Run{}, all...), []listedFleet{}}
	for _, f := range fleets {
		one := listedFleet{f.ID, f.Created, f.Outcome(), f.Order, []string{}, []string{}}
		for _, h := range f.Hosts {
			one.Hosts = append(one.Hosts, h.Name)
		}
		for _, s := range f.Scenarios {
			one.Scenarios = append(one.Scenarios, s.Name)
		}
		list.Fleets = append(list.Fleets, one)
	}
	return WriteJSON(w, "runs", list)
}

// RunSummary is a run in a few words: how it ended, how much it measured, its labels.
func RunSummary(r bundle.Run) []string {
	return []string{
		r.Outcome(),
		text.Plural(len(r.Suite.Scenarios), "scenario"),
		text.Clean(LabelText(r.Labels), longName),
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

// Rules lists the findings that plimsoll knows, a line each.
func Rules(w io.Writer, all []finding.Page) error {
	for _, r := range all {
		if _, err := fmt.Fprintf(w, "%s  %-8s %s\n", r.Code, r.Severity, r.Title); err != nil {
			return err
		}
	}
	return nil
}
