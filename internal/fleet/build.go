package fleet

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// Shared are limits of something that all hosts use, 0 where there is none.
type Shared struct {
	IOPS units.IOPS
	BW   units.Rate
}

// or are the limits, and where none is stated those that a fleet run was begun with.
func (s Shared) or(f *bundle.Fleet) Shared {
	return Shared{IOPS: cmp.Or(s.IOPS, f.SharedIOPS), BW: cmp.Or(s.BW, f.SharedBW)}
}

// source is what one host measured, to be merged.
type source struct {
	host   string
	bundle *bundle.Bundle
	// starts are when fio started, by scenario, since base on the coordinator's clock; nil to go by
	// the wall clock of the host.
	starts map[int]time.Duration
	alone  map[int]units.IOPS // measured without the other hosts, by scenario
}

// fill merges what the hosts measured into f and judges it. base is the instant that starts count
// from.
func fill(f *bundle.Fleet, all []source, base time.Time, shared Shared, disabled finding.Disabled) {
	f.Scenarios, f.SharedIOPS, f.SharedBW = nil, shared.IOPS, shared.BW
	if len(all) > 0 {
		f.Suite = all[0].bundle.Run.Suite.Name
	}
	for _, s := range scenariosOf(all) {
		var hosts []measured
		var missing []string
		for _, src := range all {
			i := slices.IndexFunc(src.bundle.Scenarios, func(b bundle.Scenario) bool { return b.ID == s.ID && b.Name == s.Name })
			if i < 0 || src.bundle.Scenarios[i].Result == nil {
				missing = append(missing, src.host+" has no result.")
				continue
			}
			r := src.bundle.Scenarios[i].Result
			m := measured{host: src.host, result: r, start: r.Start.Sub(base)}
			if c, ok := src.bundle.Run.Ceilings[s.ID]; ok {
				m.ceiling = &c
			}
			if src.starts != nil {
				at, ok := src.starts[s.ID]
				if !ok {
					missing = append(missing, src.host+" did not report when it started.")
					continue
				}
				m.start = at
			}
			hosts = append(hosts, m)
		}
		if len(hosts) == 0 {
			continue
		}
		join := merge
		if f.Order == alone {
			join = apart
		}
		one := join(hosts, base)
		one.Invalid = append(missing, one.Invalid...)
		one.Size, one.Runtime = s.Size, s.Runtime
		for i := range one.Hosts {
			row := &one.Hosts[i]
			j := slices.IndexFunc(all, func(src source) bool { return src.host == row.Host })
			row.Alone = all[j].alone[s.ID]
		}
		if f.Order != alone {
			one.Ceiling = ceilingOf(&one, shared)
		}
		f.Scenarios = append(f.Scenarios, one)
	}
	judge(f, disabled)
	// The verdict has the hosts' own reasons once for each host, and not again for each scenario.
	for i := range f.Scenarios {
		f.Scenarios[i].Invalid = append(f.Scenarios[i].Invalid, invalidOn(all, f.Scenarios[i])...)
	}
}

// invalidOn says which hosts found their own figures of a scenario not to be trusted: what is added up
// of such figures is not to be trusted either.
func invalidOn(all []source, of bundle.FleetScenario) []string {
	var why []string
	for _, src := range all {
		for _, s := range src.bundle.Scenarios {
			if s.ID == of.ID && s.Name == of.Name && s.Verdict == verdict.Invalid &&
				s.Result != nil && s.Result.State == result.Done {
				why = append(why, src.host+": its own figures are INVALID; see its report.")
			}
		}
	}
	return why
}

// scenariosOf are those of all hosts, each once, in the order of the first host that has it.
func scenariosOf(all []source) []bundle.Scenario {
	var list []bundle.Scenario
	for _, src := range all {
		for _, s := range src.bundle.Scenarios {
			if !slices.ContainsFunc(list, func(o bundle.Scenario) bool { return o.ID == s.ID && o.Name == s.Name }) {
				list = append(list, s)
			}
		}
	}
	return list
}

// ceilingOf is the smaller of the sum of the hosts' ceilings, where all are known, and of what they
// share.
func ceilingOf(s *bundle.FleetScenario, shared Shared) *bundle.FleetCeiling {
	var c *bundle.FleetCeiling
	sum, known := units.IOPS(0), len(s.Hosts) > 0
	for _, h := range s.Hosts {
		sum, known = sum+h.Ceiling, known && h.Ceiling > 0
	}
	if known {
		c = &bundle.FleetCeiling{IOPS: sum, Binds: "sum of hosts"}
	}
	lower := func(iops units.IOPS, what string) {
		if iops > 0 && (c == nil || iops < c.IOPS) {
			c = &bundle.FleetCeiling{IOPS: iops, Binds: what}
		}
	}
	lower(shared.IOPS, "shared IOPS")
	if s.Total.BW > 0 && shared.BW > 0 {
		lower(units.IOPS(float64(shared.BW)/float64(s.Total.BW))*s.Total.IOPS, "shared bandwidth")
	}
	return c
}

// judge runs the rules on a fleet and gives it its verdict.
func judge(f *bundle.Fleet, disabled finding.Disabled) {
	c := &diagnose.FleetCase{Lose: f.Lose}
	lost := 0
	for _, h := range f.Hosts {
		one := diagnose.FleetHost{Name: h.Name, Clock: h.Clock.Error, Facts: h.Facts}
		if h.State != bundle.HostDone {
			one.Lost, one.Facts = h.Why, nil
			lost++
		}
		c.Hosts = append(c.Hosts, one)
	}
	for i := range f.Scenarios {
		s := &f.Scenarios[i]
		one := diagnose.FleetScenario{ID: s.ID, Name: s.Name, Common: s.Common.Share}
		for _, h := range s.Hosts {
			one.Hosts = append(one.Hosts, diagnose.FleetRate{
				Host:      h.Host,
				Rate:      h.Interval,
				Ceiling:   float64(h.Ceiling),
				Sustained: float64(h.Sustained),
				Alone:     float64(h.Alone),
			})
		}
		s.Stragglers = nil
		for _, g := range one.Stragglers() {
			s.Stragglers = append(s.Stragglers, bundle.FleetStraggler{Host: g.Host, Of: g.Of, Others: g.Others})
		}
		c.Scenarios = append(c.Scenarios, one)
	}
	f.Findings = rules.Judge(&diagnose.Case{Fleet: c}, disabled)
	f.Verdict, f.Reasons = verdictOf(f)
}

// verdictOf is the worst of the findings, the scenarios and the hosts' own verdicts, with the
// reasons for it.
func verdictOf(f *bundle.Fleet) (verdict.Verdict, []string) {
	ladder := []verdict.Verdict{verdict.Pass, verdict.Measured, verdict.Warn, verdict.Fail, verdict.Invalid}
	worst := verdict.Pass
	var reasons []string
	note := func(v verdict.Verdict, reason string) {
		if slices.Index(ladder, v) > slices.Index(ladder, worst) {
			worst = v
		}
		if v != verdict.Pass && v != verdict.Measured && len(reasons) < 3 {
			reasons = text.Once(reasons, reason)
		}
	}
	of := map[finding.Severity]verdict.Verdict{
		finding.Warn:    verdict.Warn,
		finding.Fail:    verdict.Fail,
		finding.Invalid: verdict.Invalid,
	}
	for _, g := range f.Findings {
		if v := of[g.Severity]; v != "" && g.Disabled == "" {
			note(v, g.Message)
		}
	}
	for _, s := range f.Scenarios {
		for _, why := range s.Invalid {
			note(verdict.Invalid, fmt.Sprintf("%d %s: %s", s.ID, s.Name, why))
		}
	}
	if len(f.Scenarios) == 0 {
		note(verdict.Invalid, "Nothing was measured.")
	}
	for _, h := range f.Hosts {
		if h.State == bundle.HostDone && h.Verdict == verdict.Measured { // nothing judged it, so nothing passed
			note(verdict.Measured, "")
		}
	}
	for _, g := range byReason(f.Hosts) {
		note(g.verdict, g.String())
	}
	return worst, reasons
}

// alikeHosts are hosts whose own runs have one verdict for one reason.
type alikeHosts struct {
	names   []string
	verdict verdict.Verdict
	code    string // of the rule, else the reason itself
	reason  string // of the first
}

// String is "h1 and h2 are INVALID: other processes used the CPU (PL425)."
func (g alikeHosts) String() string {
	verb, word := "is", string(g.verdict)
	if len(g.names) > 1 {
		verb = "are"
	}
	if g.verdict == verdict.Invalid {
		word = strings.ToUpper(word)
	}
	end := "."
	if g.reason != "" {
		end = ": " + g.reason
	}
	return text.Some(g.names, mostReasons) + " " + verb + " " + word + end
}

var reasonCode = regexp.MustCompile(`PL[0-9]{3}`)

// byReason groups the hosts that are done by what is wrong with their own runs.
func byReason(hosts []bundle.FleetHost) []alikeHosts {
	var all []alikeHosts
	for _, h := range hosts {
		if h.State != bundle.HostDone || h.Verdict == "" || h.Verdict == verdict.Pass || h.Verdict == verdict.Measured {
			continue
		}
		one := alikeHosts{names: []string{h.Name}, verdict: h.Verdict}
		if len(h.Reasons) > 0 {
			one.reason = h.Reasons[0]
			if one.code = reasonCode.FindString(one.reason); one.code == "" {
				one.code = one.reason
			}
		}
		i := slices.IndexFunc(all, func(g alikeHosts) bool { return g.verdict == one.verdict && g.code == one.code })
		if i < 0 {
			all = append(all, one)
		} else {
			all[i].names = append(all[i].names, h.Name)
		}
	}
	return all
}
