package runs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// FleetRoundsData is the JSON of fleet runs that are rounds of one thing.
type FleetRoundsData struct {
	Rounds    []FleetRound
	Scenarios []FleetOverRounds
}

// FleetRound is one fleet run among several.
type FleetRound struct {
	ID      string // its directory below --out
	Created time.Time
	Outcome string
	Reasons []string `json:"reasons,omitempty"`
}

// FleetOverRounds is a scenario's figure over the rounds that may be trusted.
type FleetOverRounds struct {
	ID   int
	Name string
	IOPS []units.IOPS // of each round that counts
	// Estimate is over rounds; without an interval where fewer than two count.
	Estimate stats.Estimate `json:"iops_estimate"`
	Left     int            `json:"left_out"` // rounds whose figures must not be trusted
}

// FleetRounds is the document of fleet runs that are rounds of one thing.
func FleetRounds(all []*bundle.Fleet) *page.Document {
	data := FleetRoundsData{Scenarios: overRounds(all)}
	ok := 0
	rounds := page.Captioned("Rounds", "<round, <verdict, <stored as")
	for i, f := range all {
		data.Rounds = append(data.Rounds, FleetRound{ID: f.ID, Created: f.Created, Outcome: f.Outcome(), Reasons: f.Reasons})
		if f.Verdict != verdict.Invalid && f.Verdict != verdict.Fail {
			ok++
		}
		rounds.Add(i+1, page.Cell{Text: f.Outcome(), Tone: string(f.Verdict)}, f.ID)
	}
	figures := page.Captioned("All hosts together", "<scenario, IOPS, \u00b1, rounds, least, most")
	d := page.New("fleet rounds", fmt.Sprintf("%d of %s ok", ok, text.Several(all, "round")), "fleet_rounds", data)
	for _, s := range data.Scenarios {
		name, n := numbered(s.ID, s.Name), len(s.IOPS)
		if n == 0 {
			figures.Add(name, words.None, words.None, n, words.None, words.None)
			continue
		}
		figures.Add(name, words.Operations(units.IOPS(s.Estimate.Center)), words.PlusMinus(s.Estimate, n), n,
			words.Operations(slices.Min(s.IOPS)), words.Operations(slices.Max(s.IOPS)))
		d.Head.Main = cmp.Or(d.Head.Main, page.NewFigure(s.Name, "iops", s.Estimate.Center, "per_s"))
	}
	d.Add(figures, rounds)
	return d
}

// overRounds are the scenarios of the first round, each with what all rounds say of it.
func overRounds(all []*bundle.Fleet) []FleetOverRounds {
	var of []FleetOverRounds
	if len(all) == 0 {
		return of
	}
	for _, first := range all[0].Scenarios {
		s := FleetOverRounds{ID: first.ID, Name: first.Name, IOPS: []units.IOPS{}}
		var values []float64
		for _, f := range all {
			i := slices.IndexFunc(f.Scenarios, func(o bundle.FleetScenario) bool {
				return o.ID == first.ID && o.Name == first.Name
			})
			if i < 0 || f.Verdict == verdict.Invalid || len(f.Scenarios[i].Invalid) > 0 || f.Scenarios[i].Total.IOPS <= 0 {
				s.Left++
				continue
			}
			figure := f.Scenarios[i].Total.IOPS
			s.IOPS, values = append(s.IOPS, figure), append(values, float64(figure))
		}
		s.Estimate = level(values)
		of = append(of, s)
	}
	return of
}

// level is the mean of rounds with its interval; of one round there is none.
func level(values []float64) stats.Estimate {
	e, err := stats.Level(values) // it fails for values of 0 only, which do not count
	if err != nil || e.N < 2 {
		e.None = "fewer than two rounds"
	}
	return e
}
