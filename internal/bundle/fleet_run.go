package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// OpenRun reads a run, or a fleet run as one.
func OpenRun(dir string) (*Bundle, error) {
	if IsFleet(dir) {
		return openFleetRun(dir)
	}
	return Open(dir)
}

// openFleetRun reads a fleet run as the run of one machine, whose figures are those of all hosts together
// in their common window. What the jobs were, and on what, are those of the first host that was measured:
// all of them were given the same. Directions share the total as they do in the hosts' own results; the
// latencies, which are of all directions, stand only where there is one.
func openFleetRun(dir string) (*Bundle, error) {
	f, err := OpenFleet(dir)
	if err != nil {
		return nil, err
	}
	var hosts []*Bundle
	var names []string
	for _, h := range f.Hosts {
		if h.State != HostDone || h.Dir == "" {
			continue
		}
		b, err := h.open(dir)
		if err != nil {
			return nil, fmt.Errorf("host %s of %s: %w", h.Name, f.ID, err)
		}
		hosts, names = append(hosts, b), append(names, h.Name)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s: no host measured anything", f.ID)
	}
	slices.Sort(names)
	first := hosts[0]
	f.Inspect(dir)
	all := &Bundle{Dir: dir, Damaged: f.Damaged, Run: Run{
		ID: f.ID, Tool: f.Tool, Created: f.Created, Finished: f.Finished, State: f.State,
		Suite: first.Run.Suite, Settings: first.Run.Settings, Topology: first.Run.Topology, Policy: first.Run.Policy,
		Fio: first.Run.Fio, Labels: f.Labels, Verdict: f.Verdict, Reasons: f.Reasons,
	}}
	all.Run.Topology.Host.Name = "fleet of " + text.List(names)
	for i := range f.Scenarios {
		if s, ok := f.together(&f.Scenarios[i], hosts); ok {
			all.Scenarios = append(all.Scenarios, s)
		}
	}
	return all, nil
}

// open reads the bundle of a host of the fleet run in dir. A record that came from elsewhere may name any
// place: it counts only below the run's own hosts.
func (h *FleetHost) open(dir string) (*Bundle, error) {
	if at, err := filepath.Rel(filepath.Base(FleetHosts("")), h.Dir); err != nil || !filepath.IsLocal(at) {
		return nil, fmt.Errorf("it names %s as its directory; want one below %s", text.Quote(h.Dir), FleetHosts(""))
	}
	return Open(filepath.Join(dir, h.Dir))
}

// together is a scenario with what all hosts did; false where none of them has it.
func (f *Fleet) together(of *FleetScenario, hosts []*Bundle) (Scenario, bool) {
	var found *Scenario
	var did [3]units.IOPS
	for _, b := range hosts {
		i := slices.IndexFunc(b.Scenarios, func(s Scenario) bool { return s.ID == of.ID && s.Result != nil })
		if i < 0 {
			continue
		}
		found = cmp.Or(found, &b.Scenarios[i])
		for at, d := range b.Scenarios[i].Result.Total.Directions() {
			did[at] += d.IOPS
		}
	}
	sum := did[0] + did[1] + did[2]
	if found == nil || sum <= 0 {
		return Scenario{}, false
	}
	s := Scenario{Scenario: found.Scenario, Verdict: f.Verdict}
	r := &result.Result{
		ID: of.ID, Name: of.Name, Title: of.Title, Role: found.Result.Role, State: result.Done,
		Start: of.At, Measured: of.Common.Length(), Planned: of.Runtime, Fio: found.Result.Fio,
		Workloads: found.Result.Workloads, IOPS: of.Total.Interval,
	}
	why := slices.Clone(of.Invalid)
	if f.Verdict == verdict.Invalid { // nothing of it may be used, as where a host is INVALID
		why = append(why, f.Reasons[:min(len(f.Reasons), 1)]...)
	}
	if len(why) > 0 {
		r.State, r.Reasons = result.Invalid, why
	}
	for at, d := range r.Total.Directions() {
		iops := did[at]
		if iops <= 0 {
			continue
		}
		d.IOPS = of.Total.IOPS * iops / sum
		d.BW = units.Rate(float64(of.Total.BW) * float64(iops/sum))
		d.Runtime = r.Measured
		d.N = uint64(float64(d.IOPS) * r.Measured.Seconds())
		d.Bytes = units.Bytes(float64(d.BW) * r.Measured.Seconds())
		if iops == sum && of.Total.Hist != nil {
			d.Clat = fio.Latency{N: of.Total.Hist.Count(), Hist: of.Total.Hist}
			d.Clat.Mean, d.Clat.StdDev = of.Total.Hist.Mean()
		}
	}
	s.Result = r
	return s, true
}
