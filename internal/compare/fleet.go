package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/text"
)

// FleetHistory puts fleet runs in order: a series for each scenario on the same hosts with the same
// layouts, of what the hosts did together. What hosts did one after the other is no such figure.
func FleetHistory(fleets []*bundle.Fleet, f Filter) []Series {
	if f.By != "" {
		return nil // a fleet is its own group
	}
	var all []Series
	at := map[Key]int{}
	oldest := slices.Clone(fleets)
	slices.SortStableFunc(oldest, func(a, b *bundle.Fleet) int { return a.Created.Compare(b.Created) })
	for _, run := range oldest {
		for i := range run.Scenarios {
			s := &run.Scenarios[i]
			if s.Total.IOPS <= 0 || !f.passesFleet(run, s) {
				continue
			}
			key := fleetKey(run, s)
			k, ok := at[key]
			if !ok {
				k = len(all)
				at[key], all = k, append(all, Series{Key: key, Figure: iops()})
			}
			all[k].Points = append(all[k].Points, fleetPoint(run, s))
		}
	}
	return followAll(all, f.Last)
}

func (f Filter) passesFleet(run *bundle.Fleet, s *bundle.FleetScenario) bool {
	return f.allows(run.Suite, s.Name, s.ID, func(key string) string { return run.Labels[key] }) &&
		(f.Host == "" || slices.ContainsFunc(s.Hosts, func(h bundle.FleetFigure) bool { return h.Host == f.Host }))
}

func fleetKey(run *bundle.Fleet, s *bundle.FleetScenario) Key {
	var hosts []string
	layouts := map[string]bool{}
	for _, h := range s.Hosts {
		hosts = append(hosts, h.Host)
		for _, r := range run.Hosts {
			if layout := cmp.Or(r.Facts["data layout"], r.Facts["wal layout"]); r.Name == h.Host && layout != "" {
				layouts[layout] = true
			}
		}
	}
	slices.Sort(hosts)
	key := Key{
		Suite:    cmp.Or(run.Suite, "fleet"),
		Scenario: s.Name,
		Work:     cmp.Or(s.Title, s.Name),
		Layout:   strings.Join(slices.Sorted(maps.Keys(layouts)), "; "),
		Size:     shown(s.Size),
		Runtime:  timeOf(s.Runtime),
		Group:    "fleet of " + text.List(hosts),
	}
	if run.Shared {
		key.Layout = strings.TrimSpace("shared " + key.Layout)
	}
	return key
}

func fleetPoint(run *bundle.Fleet, s *bundle.FleetScenario) Point {
	p := Point{
		Run:     run.ID,
		At:      s.At,
		Value:   s.Total.Interval,
		Rounds:  1,
		Verdict: string(run.Verdict),
		Facts:   map[string]string{"hosts": fmt.Sprint(len(s.Hosts)), "plimsoll": run.Tool},

		Accepted: run.Labels[LabelAccepted],
	}
	if p.At.IsZero() {
		p.At = run.Created
	}
	if s.Ceiling != nil && s.Ceiling.IOPS > 0 {
		p.Share = float64(s.Total.IOPS / s.Ceiling.IOPS)
		p.Facts["ceiling"] = s.Ceiling.IOPS.String()
	}
	if len(s.Invalid) > 0 {
		p.Invalid = s.Invalid[0]
	}
	return p
}
