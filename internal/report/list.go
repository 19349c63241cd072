package report

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

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

// Runs lists the runs below dir, a line each.
func Runs(w io.Writer, dir string, all []bundle.Run) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range all {
		created := r.Created.Local().Format("2006-01-02 15:04")
		fmt.Fprintf(t, "%s\t%s\t%s\n", created, filepath.Join(dir, r.ID), strings.Join(RunSummary(r), "\t"))
	}
	return t.Flush()
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
