package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// hostColumns is how many hosts have a column of their own in the table of findings.
const hostColumns = 6

// FleetCheck prints a check of several hosts: what differs between them, a row a host, a row a
// finding with a column a host, and each finding once.
func FleetCheck(w io.Writer, c *bundle.FleetCheck, o Options) error {
	t := newTerminal(w, o)
	via, tool := text.Clean(c.Via, longName), text.Clean(c.Tool, longName)
	t.para("", dim, fmt.Sprintf("%s, via %s, %s", text.Plural(len(c.Hosts), "host"), via, tool))
	for _, f := range c.Findings {
		t.problem(aboutSubject(f))
	}
	fmt.Fprintf(t.out, "\n%s\n", t.in(bold, "Hosts"))
	t.fleetTable(checkedHosts(c.Hosts))
	for _, h := range c.Hosts {
		if h.State != bundle.HostDone {
			t.para("  "+text.Clean(h.Name, longName)+": ", bad, text.Clean(h.Why, longSentence))
		}
	}
	missing := func(h bundle.FleetChecked) bool { return h.State != bundle.HostDone }
	hosts := slices.DeleteFunc(slices.Clone(c.Hosts), missing)
	kinds := findingKinds(hosts)
	if len(kinds) > 0 {
		fmt.Fprintf(t.out, "\n%s\n", t.in(bold, "Findings"))
		t.fleetTable(findingTable(hosts, kinds))
	}
	for _, k := range kinds {
		f := k.first
		f.Message = k.hosts[0] + ": " + f.Message
		if f.Severity == finding.Info {
			f.Fix = "" // the page has it
		}
		t.problem(aboutSubject(f))
	}
	return t.out.Flush()
}

// aboutSubject is a finding of which the title names the subject.
func aboutSubject(f finding.Finding) problem {
	if f.Subject != "" {
		f.Title += " (" + f.Subject + ")"
	}
	return newProblem(f, 0, &bundle.Bundle{}, nil)
}

func checkedHosts(hosts []bundle.FleetChecked) table {
	rows := table{
		Head: []string{"host", "state", "errors", "warnings", "notes", "wall clock", "clock error", "fio"},
		Text: []int{0, 1, 7},
	}
	for _, h := range hosts {
		row := []string{text.Clean(h.Name, longName), "checked", none, none, none, none, none, none}
		if h.State != bundle.HostDone {
			row[1] = string(h.State)
		} else {
			count := func(s finding.Severity) string {
				n := 0
				for _, f := range h.Findings {
					if f.Severity == s {
						n++
					}
				}
				return fmt.Sprint(n)
			}
			row[2], row[3], row[4] = count(finding.Fail), count(finding.Warn), count(finding.Info)
			row[5], row[6] = ahead(h.Clock), clockError(h.Clock)
			row[7] = cmp.Or(text.Clean(h.Fio, 24), "not there")
		}
		rows.Rows = append(rows.Rows, row)
	}
	return rows
}

// ahead prints how far a host's wall clock is ahead of the coordinator's.
func ahead(c bundle.FleetClock) string {
	sign := "+"
	if c.Wall < 0 {
		sign, c.Wall = "-", -c.Wall
	}
	return sign + units.LatencyOf(c.Wall).String()
}

// findingKind is a finding on the hosts that have it.
type findingKind struct {
	first finding.Finding
	hosts []string
	worst map[string]finding.Severity // by host
}

// findingKinds are the findings of hosts, by code and subject: first those that some hosts have and
// others do not, then by severity.
func findingKinds(hosts []bundle.FleetChecked) []*findingKind {
	var all []*findingKind
	for _, h := range hosts {
		for _, f := range h.Findings {
			i := slices.IndexFunc(all, func(k *findingKind) bool {
				return k.first.Code == f.Code && k.first.Subject == f.Subject
			})
			if i < 0 {
				i, all = len(all), append(all, &findingKind{first: f, worst: map[string]finding.Severity{}})
			}
			k := all[i]
			if f.Severity.Rank() > k.first.Severity.Rank() {
				k.first.Severity = f.Severity
			}
			if k.worst[h.Name] == "" {
				k.hosts = append(k.hosts, h.Name)
			}
			if f.Severity.Rank() > k.worst[h.Name].Rank() {
				k.worst[h.Name] = f.Severity
			}
		}
	}
	onAll := func(k *findingKind) int {
		if len(k.hosts) == len(hosts) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b *findingKind) int {
		return cmp.Or(
			cmp.Compare(onAll(a), onAll(b)),
			cmp.Compare(b.first.Severity.Rank(), a.first.Severity.Rank()),
			cmp.Compare(a.first.Code, b.first.Code),
			cmp.Compare(a.first.Subject, b.first.Subject),
		)
	})
	return all
}

// findingTable has a row a finding and a column a host, or one column that names the hosts where
// these are many.
func findingTable(hosts []bundle.FleetChecked, kinds []*findingKind) table {
	rows := table{Head: []string{"code", "about"}, Text: []int{0, 1}}
	if len(hosts) > hostColumns {
		rows.Head, rows.Text = append(rows.Head, "severity", "hosts"), append(rows.Text, 2, 3)
	} else {
		for i, h := range hosts {
			rows.Head, rows.Text = append(rows.Head, text.Clean(h.Name, 24)), append(rows.Text, i+2)
		}
	}
	for _, k := range kinds {
		row := []string{string(k.first.Code), text.Clean(cmp.Or(k.first.Subject, k.first.Title), 40)}
		if len(hosts) > hostColumns {
			row = append(row, string(k.first.Severity), text.Clean(text.Some(k.hosts, hostColumns), longName))
		} else {
			for _, h := range hosts {
				row = append(row, cmp.Or(string(k.worst[h.Name]), none))
			}
		}
		rows.Rows = append(rows.Rows, row)
	}
	return rows
}
