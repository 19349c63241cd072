package machine

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// hostColumns is how many hosts have a column of their own in the table of findings.
const hostColumns = 6

// FleetCheck is the document of a check of several hosts: how many are fine, what differs between
// them, a row for each host, a row for each finding, and each finding once.
func FleetCheck(c *bundle.FleetCheck) *page.Document {
	d := page.New("fleet check", "", "fleet_check", c)
	d.Tool = c.Tool
	hosts := slices.DeleteFunc(slices.Clone(c.Hosts),
		func(h bundle.FleetChecked) bool { return h.State != bundle.HostDone })
	kinds := findingKinds(hosts)
	d.Head = fleetHead(c, kinds)
	for i, f := range c.Findings {
		d.Add(words.Subject(f, i))
	}
	if len(kinds) > 0 {
		found := page.Part("Findings", "findings", "Findings", findingTable(hosts, kinds))
		for i, k := range kinds {
			f := k.first
			f.Message = k.hosts[0] + ": " + f.Message
			p := brief(words.Subject(f, len(c.Findings)+i))
			if p.Brief {
				p.Level = page.Detail
			}
			found.Add(p)
		}
		d.Add(found)
	}
	checked := page.Part("Hosts", "hosts", "Hosts", checkedHosts(c.Hosts))
	checked.Level = page.Detail
	d.Add(checked)
	d.Tests = hostTests(c)
	return d
}

func fleetHead(c *bundle.FleetCheck, kinds []*findingKind) page.Headline {
	h := page.Headline{Tone: worst(c.Findings)}
	ok := 0
	var lost text.Groups
	for _, one := range c.Hosts {
		if one.State != bundle.HostDone {
			lost.Add(one.Why, one.Name)
		} else if !slices.ContainsFunc(one.Findings, serious) {
			ok++
		}
	}
	h.Word = fmt.Sprintf("%d of %s ok", ok, text.Several(c.Hosts, "host"))
	if ok < len(c.Hosts) {
		h.Tone = "fail"
	}
	for _, why := range lost.Heads {
		h.Say(text.Some(lost.Of[why], hostColumns) + ": " + why)
	}
	for _, k := range kinds {
		if len(h.Says) < 3 && (serious(k.first) || len(c.Hosts) > len(k.hosts) && k.first.Severity != finding.Info) {
			h.Say(fmt.Sprintf("%s %s on %s: %s", k.first.Code, k.first.Severity, text.Some(k.hosts, hostColumns),
				cmp.Or(k.first.Subject, k.first.Title)))
		}
	}
	h.About = fmt.Sprintf("%s, via %s, %s", text.Several(c.Hosts, "host"), c.Via, c.Tool)
	return h
}

func serious(f finding.Finding) bool {
	return f.Severity == finding.Fail || f.Severity == finding.Invalid
}

func hostTests(c *bundle.FleetCheck) []page.Suite {
	var all []page.Suite
	for _, h := range c.Hosts {
		answer := page.Test{Name: "checked", Message: string(h.State), Text: h.Why}
		if h.State != bundle.HostDone {
			answer.Outcome = page.Errored
		}
		s := page.FindingTests(h.Name, words.Findings(h.Findings))
		s.Tests = slices.Insert(s.Tests, 0, answer)
		all = append(all, s)
	}
	return all
}

func checkedHosts(hosts []bundle.FleetChecked) page.Table {
	t := page.NewTable("<host, <state, errors, warnings, notes?, wall clock?, clock error?, <fio??")
	for _, h := range hosts {
		if h.State != bundle.HostDone {
			t.Add(h.Name, page.Cell{Text: string(h.State), Tone: "fail"}, slices.Repeat([]string{words.None}, 6))
			continue
		}
		count := func(s finding.Severity) int { return having(s, h.Findings) }
		t.Add(h.Name, "checked", count(finding.Fail), count(finding.Warn), count(finding.Info), ahead(h.Clock),
			words.ClockError(h.Clock.Error), cmp.Or(text.Clean(h.Fio, 24), "not there"))
	}
	return t
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
	everywhere := func(k *findingKind) int { return len(k.hosts) / len(hosts) } // 1, else 0
	slices.SortStableFunc(all, func(a, b *findingKind) int {
		return cmp.Or(everywhere(a)-everywhere(b), cmp.Compare(b.first.Severity.Rank(), a.first.Severity.Rank()),
			cmp.Compare(a.first.Code, b.first.Code), cmp.Compare(a.first.Subject, b.first.Subject))
	})
	return all
}

// findingTable has a row for each finding and a column for each host, or one column that names the
// hosts where these are many.
func findingTable(hosts []bundle.FleetChecked, kinds []*findingKind) page.Table {
	t := page.NewTable("<code, <about")
	if len(hosts) > hostColumns {
		t = page.NewTable("<code, <about, <severity, <hosts")
	} else {
		for _, h := range hosts {
			t.Columns = append(t.Columns, page.Column{Name: text.Clean(h.Name, 24), Left: true})
		}
	}
	for _, k := range kinds {
		row := page.Cells(k.first.Code, text.Clean(cmp.Or(k.first.Subject, k.first.Title), 40))
		if len(hosts) > hostColumns {
			row = append(row, page.Toned(k.first.Severity), page.T(text.Some(k.hosts, hostColumns)))
		} else {
			for _, h := range hosts {
				cell := page.Toned(k.worst[h.Name])
				cell.Text = words.Figure(cell.Text)
				row = append(row, cell)
			}
		}
		t.Add(row)
	}
	return t
}
