package fleet

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/stats"
)

// about is a rate with a narrow interval.
func about(iops float64) stats.Estimate {
	return stats.Estimate{Center: iops, Lo: iops * 0.99, Hi: iops * 1.01, N: 20}
}

func fleetOf(rates ...diagnose.FleetRate) *diagnose.FleetCase {
	c := &diagnose.FleetCase{Scenarios: []diagnose.FleetScenario{{ID: 3, Name: "rand-read", Common: 1, Hosts: rates}}}
	for i := range rates {
		rates[i].Host = []string{"db1", "db2", "db3", "db4"}[i]
		c.Hosts = append(c.Hosts, diagnose.FleetHost{Name: rates[i].Host, Facts: map[string]string{"kernel": "6.1"}})
	}
	return c
}

func equal() *diagnose.FleetCase {
	return fleetOf(
		diagnose.FleetRate{Rate: about(1000)},
		diagnose.FleetRate{Rate: about(1010)},
		diagnose.FleetRate{Rate: about(990)},
	)
}

// change is a case of equal hosts with one thing changed.
func change(how func(*diagnose.FleetCase)) *diagnose.FleetCase {
	c := equal()
	how(c)
	return c
}

// Each rule of PL8xx fires on its case and not on the near miss.
func TestFleetRules(t *testing.T) {
	gp2 := func(iops float64) diagnose.FleetRate {
		return diagnose.FleetRate{Rate: about(iops), Ceiling: 16000, Sustained: 3000}
	}
	rows := []struct {
		name string
		c    *diagnose.FleetCase
		want string // code, subject and severity
	}{
		{"equal hosts", equal(), ""},
		{
			"a host lost",
			change(func(c *diagnose.FleetCase) { c.Hosts[1].Lost = "the connection ended" }),
			"PL801 db2 invalid",
		},
		{
			"one allowed",
			change(func(c *diagnose.FleetCase) { c.Hosts[1].Lost, c.Lose = "the connection ended", 1 }),
			"PL801 db2 warning",
		},
		{"one allowed, none lost", change(func(c *diagnose.FleetCase) { c.Lose = 1 }), ""},
		{"94 % overlap", change(func(c *diagnose.FleetCase) { c.Scenarios[0].Common = 0.94 }), "PL802 3 rand-read warning"},
		{"79 % overlap", change(func(c *diagnose.FleetCase) { c.Scenarios[0].Common = 0.79 }), "PL802 3 rand-read invalid"},
		{"95 % overlap", change(func(c *diagnose.FleetCase) { c.Scenarios[0].Common = 0.95 }), ""},
		{
			"a straggler by rate",
			fleetOf(
				diagnose.FleetRate{Rate: about(1000)},
				diagnose.FleetRate{Rate: about(700)},
				diagnose.FleetRate{Rate: about(1000)},
			),
			"PL803 db2, 3 rand-read error",
		},
		{
			"at 0.81",
			fleetOf(
				diagnose.FleetRate{Rate: about(1000)},
				diagnose.FleetRate{Rate: about(810)},
				diagnose.FleetRate{Rate: about(1000)},
			),
			"",
		},
		{
			"wide intervals",
			fleetOf(
				diagnose.FleetRate{Rate: about(1000)},
				diagnose.FleetRate{Rate: stats.Estimate{Center: 700, Lo: 300, Hi: 1100, N: 10}},
				diagnose.FleetRate{Rate: about(1000)},
			),
			"",
		},
		{
			"too short to judge",
			fleetOf(
				diagnose.FleetRate{Rate: about(1000)},
				diagnose.FleetRate{Rate: stats.Estimate{Center: 100, Lo: 100, Hi: 100, None: "3 s only"}},
				diagnose.FleetRate{Rate: about(1000)},
			),
			"",
		},
		{"two hosts", fleetOf(diagnose.FleetRate{Rate: about(1000)}, diagnose.FleetRate{Rate: about(100)}), ""},
		{
			"small by its ceiling",
			fleetOf(
				diagnose.FleetRate{Rate: about(1000), Ceiling: 1050},
				diagnose.FleetRate{Rate: about(100), Ceiling: 105},
				diagnose.FleetRate{Rate: about(1000), Ceiling: 1050},
			),
			"",
		},
		{
			"slow by its ceiling",
			fleetOf(
				diagnose.FleetRate{Rate: about(1000), Ceiling: 1050},
				diagnose.FleetRate{Rate: about(1000), Ceiling: 3000},
				diagnose.FleetRate{Rate: about(1000), Ceiling: 1050},
			),
			"PL803 db2, 3 rand-read error",
		},
		{
			"another kernel",
			change(func(c *diagnose.FleetCase) { c.Hosts[2].Facts = map[string]string{"kernel": "6.2"} }),
			"PL804 kernel warning",
		},
		{"facts of a host that could not be read", change(func(c *diagnose.FleetCase) { c.Hosts[2].Facts = nil }), ""},
		{
			"a lost host's facts",
			change(func(c *diagnose.FleetCase) { c.Hosts[2].Facts, c.Hosts[2].Lost, c.Lose = nil, "gone", 1 }),
			"PL801 db3 warning",
		},
		{
			"a shared bottleneck",
			fleetOf(diagnose.FleetRate{Rate: about(800), Alone: 1000}, diagnose.FleetRate{Rate: about(900), Alone: 1000}),
			"PL805 3 rand-read warning",
		},
		{
			"91 % of alone",
			fleetOf(diagnose.FleetRate{Rate: about(910), Alone: 1000}, diagnose.FleetRate{Rate: about(910), Alone: 1000}),
			"",
		},
		{
			"alone not measured",
			fleetOf(diagnose.FleetRate{Rate: about(800), Alone: 1000}, diagnose.FleetRate{Rate: about(900)}),
			"",
		},
		{
			"a clock off by 101 ms",
			change(func(c *diagnose.FleetCase) { c.Hosts[0].Clock = 101 * time.Millisecond }),
			"PL806 db1 warning",
		},
		{"a clock off by 100 ms", change(func(c *diagnose.FleetCase) { c.Hosts[0].Clock = 100 * time.Millisecond }), ""},
		{"one in burst", fleetOf(gp2(15900), gp2(3000)), "PL807 3 rand-read warning"},
		{"all in burst", fleetOf(gp2(15900), gp2(15800)), ""},
		{"none in burst", fleetOf(gp2(3010), gp2(3000)), ""},
	}
	// A near miss stands below the rows that fire its rule.
	fires, near, last := map[string]bool{}, map[string]bool{}, ""
	for _, c := range rows {
		if c.want == "" {
			near[last] = true
			continue
		}
		last, _, _ = strings.Cut(c.want, " ")
		fires[last] = true
	}
	for _, r := range Rules() {
		if code := string(r.Code); !fires[code] || !near[code] {
			t.Errorf("%s: a case fires it: %t, and a near miss does not: %t", code, fires[code], near[code])
		}
	}
	for _, c := range rows {
		var got []string
		for _, f := range finding.Judge(Rules(), &diagnose.Case{Fleet: c.c}, nil) {
			got = append(got, strings.Join([]string{string(f.Code), f.Subject, string(f.Severity)}, " "))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Of three equal hosts whose seconds vary by a fifth, none is ever a straggler.
func TestEqualHostsHaveNoStraggler(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var rates []diagnose.FleetRate
		for range 3 {
			var seconds []float64
			for range 10 {
				seconds = append(seconds, 1000*(1+0.2*rng.NormFloat64()))
			}
			rates = append(rates, diagnose.FleetRate{Rate: stats.BatchMeans(seconds)})
		}
		if found := fleetOf(rates...).Scenarios[0].Stragglers(); len(found) > 0 {
			t.Errorf("%+v of %+v", found, rates)
		}
	}
}

// The odd host is named first.
func TestUnlikeHostsNameTheOddOne(t *testing.T) {
	c := change(func(c *diagnose.FleetCase) { c.Hosts[2].Facts = map[string]string{"kernel": "6.2"} })
	f := finding.Judge(Rules(), &diagnose.Case{Fleet: c}, nil)
	if len(f) != 1 || f[0].Evidence[0].What != "db3" || !strings.Contains(f[0].Message, "6.2 on db3") {
		t.Errorf("%+v", f)
	}
	if all := finding.Judge(
		Rules(),
		&diagnose.Case{Fleet: c},
		finding.Disabled{"PL804": "two kinds on purpose"},
	); all[0].Severity != finding.Info {
		t.Errorf("%+v", all)
	}
	if !slices.IsSortedFunc(
		Rules(),
		func(a, b *diagnose.Rule) int { return strings.Compare(string(a.Code), string(b.Code)) },
	) {
		t.Error("rules are not in the order of their codes")
	}
}
