package verdict

import (
	"cmp"
	_ "embed" // profiles.json
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Profile is what a program asks of the time that a durable write takes, as a public source states it.
type Profile struct {
	Name       string        `json:"name"`
	For        string        `json:"for"`
	Percentile float64       `json:"percentile"`
	Below      time.Duration `json:"below_ns"`
	Source     string        `json:"source"`
	URL        string        `json:"url"`
	Date       string        `json:"date"` // on which it was read
	Job        string        `json:"job"`  // that measures it
}

//go:embed profiles.json
var profilesJSON []byte

// Profiles are all that are known.
func Profiles() (all []Profile) {
	if err := json.Unmarshal(profilesJSON, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
}

// ProfileNames are the names of all that are known.
func ProfileNames() (names []string) {
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// ProfileOf finds a profile by its name.
func ProfileOf(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("no public source states a limit for %.40q: want %s", name, text.List(ProfileNames()))
}

// Fit is whether what was measured is good enough for a program.
type Fit struct {
	Of      string          `json:"of"` // the result
	Outcome stats.Judgement `json:"-"`
	Answer  string          `json:"answer"`        // "yes", "no" or "cannot say"
	Says    string          `json:"says"`          // in one line
	Run     string          `json:"run,omitempty"` // the job that measures what lacks here
	// Value is the percentile, from Least to Most with 95 %, all in nanoseconds; Samples is of how many.
	Value   time.Duration `json:"value_ns,omitempty"`
	Least   time.Duration `json:"least_ns,omitempty"`
	Most    time.Duration `json:"most_ns,omitempty"`
	Samples uint64        `json:"samples,omitempty"`
}

// NotCovered is what a pass says nothing about.
const NotCovered = "a burst that ends later, the load of other programs, and blocks that were never written before"

// FitOf judges a result by its own samples: a percentile over 10,000 syncs is known, however few seconds
// they took. invalid is why the result must not be trusted, "" where it may be.
func FitOf(p Profile, r *result.Result, invalid string) Fit {
	f := Fit{Of: r.Name}
	l, what := durable(r)
	limit := 1 - p.Percentile/100
	b, known := diagnose.LatenciesAbove(p.Below, nil, l)
	switch {
	case invalid != "":
		return f.open(p, invalid)
	case what == "":
		return f.unmeasured(p, "nothing was synced")
	case !known || l.N == 0:
		return f.unmeasured(p, "neither percentiles nor a count of the syncs were printed")
	}
	f.Samples = l.N
	f.Value, _ = l.At(p.Percentile)
	lo, hi := stats.QuantileShares(1-limit, float64(l.N))
	f.Least, f.Most = around(l, 100*lo, 100*hi)
	f.Outcome = stats.ShareBelow(b, float64(l.N), limit)
	included := r.SyncsInclude()
	seen := fmt.Sprintf("p%g of %s %s (%s to %s, %s syncs), %s allowed", p.Percentile, what, units.LatencyOf(f.Value),
		units.LatencyOf(f.Least), units.LatencyOf(f.Most), text.Count(l.N), units.LatencyOf(p.Below))
	switch {
	case f.Outcome == stats.Met:
		f.Answer, f.Says = "yes", fmt.Sprintf("Yes for %s: %s", p.For, seen)
	case included != "":
		return f.open(p, seen+"; "+included)
	case f.Outcome == stats.Missed:
		f.Answer, f.Says = "no", fmt.Sprintf("No for %s: %s", p.For, seen)
	default:
		more := "--output-format=json+ narrows it"
		if n := stats.SamplesFor(b.Most, limit); n > float64(l.N) {
			more = text.Count(uint64(n)) + " would tell"
		}
		return f.open(p, fmt.Sprintf("p%g of %s is %s to %s, %s allowed; %s syncs are too few: %s", p.Percentile, what,
			units.LatencyOf(f.Least), units.LatencyOf(f.Most), units.LatencyOf(p.Below), text.Count(l.N), more))
	}
	return f
}

// unmeasured is a fit of what lacks the figures: the profile's job has them.
func (f Fit) unmeasured(p Profile, why string) Fit {
	f.Run = p.Job
	return f.open(p, why)
}

func (f Fit) open(p Profile, why string) Fit {
	f.Outcome, f.Answer, f.Says = stats.CannotTell, "cannot say", "Cannot tell for "+p.For+": "+why
	return f
}

// durable is the latency of a result's durable writes and what they are, "" where nothing was synced.
func durable(r *result.Result) (fio.Latency, string) {
	if l := r.Total.Sync.Lat; l.Measured() {
		kind := "sync"
		for _, w := range r.Workloads {
			kind = cmp.Or(w.SyncCall, kind)
		}
		d := r.Total.Write
		busy := float64(d.IOPS) * (l.Mean + d.Completion().Mean) / 1e9
		jobs := 0
		for _, j := range r.Jobs {
			jobs += max(j.Count, 1)
		}
		each := busy > 0.8*float64(jobs) && busy < 1.05*float64(jobs) // a write and a sync fill each job's time
		if l.N == 0 && (each || slices.ContainsFunc(r.Workloads, func(w fio.Workload) bool { return w.SyncEvery == 1 })) {
			l.N = d.N
		}
		return l, kind
	}
	if len(r.Workloads) > 0 &&
		!slices.ContainsFunc(r.Workloads, func(w fio.Workload) bool { return !w.SyncWrites || w.Reads() }) {
		l := r.Total.Write.Completion()
		l.N = max(l.N, r.Total.Write.N)
		return l, "synchronous writes"
	}
	return fio.Latency{}, ""
}

// around are the values between which those at two percentiles lie, by bins or by fio's own list.
func around(l fio.Latency, lo, hi float64) (least, most time.Duration) {
	if l.Hist.Count() > 0 {
		least, _ = l.At(lo)
		most, _ = l.At(hi)
		return least, most
	}
	least, most = l.Min, l.Max
	for _, p := range l.Percentiles {
		if p.P <= lo {
			least = max(least, p.Value)
		}
		if p.P >= hi {
			most = min(most, p.Value)
		}
	}
	return least, max(most, least)
}
