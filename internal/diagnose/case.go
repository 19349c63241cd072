// Package diagnose holds a case, the facts of a machine and its runs as rules ask for them, and the
// account of a gap. The rules are in its families: layout (PL2xx), host (PL3xx), run (PL4xx, PL5xx),
// cloud (PL6xx), postgres (PL7xx) and fleet (PL8xx); diagnose/rules has all of them.
package diagnose

import (
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
)

type (
	// Report takes what a rule finds.
	Report = func(finding.Finding)
	// Check is what a rule does.
	Check = func(*Case, Report)
	// Checks are those of a family by their codes.
	Checks = map[finding.Code]Check
)

// Each is a check that looks at one measurement after the other, if none of the parts of fio's output is missing
// that it needs: what pastes lack, nobody judges. What has no message is no finding. Those on the machine, and not on
// the measurement, are one.
func Each(look func(*Case, Measurement) finding.Finding, needs ...part.Part) Check {
	return func(c *Case, report Report) {
		var machine *finding.Finding
		for _, m := range c.Measured() {
			if m.Lacks(needs...) {
				continue
			}
			switch f := look(c, m); {
			case f.Message == "":
			case f.Subject == m.Label():
				report(f)
			default:
				machine = Join(machine, f)
			}
		}
		if machine != nil {
			report(*machine)
		}
	}
}

// Case is everything that rules may look at. Parts that are not known are nil or empty, and rules
// that need them are silent.
type Case struct {
	Topology *topology.Topology
	// Host is what was read of the machine around the storage, OtherLoad what its devices did while
	// nothing was measured.
	Host      *host.Facts
	OtherLoad []telemetry.DeviceUse
	// Probes are what the members of arrays gave alone and together before the runs, where that was
	// tried.
	Probes []Probe
	// AtWork is what was seen of programs, groups and members in the same while as OtherLoad.
	AtWork []*live.Facts
	// Touches are what pairs of reads said of blocks that are not loaded from a snapshot yet.
	Touches []Touch
	Runs    []Measurement
	// Fleet is a run on several machines, compared; nil of one machine.
	Fleet *FleetCase
}

// Imported says that all results were read from files that somebody else made.
func (c *Case) Imported() bool {
	return len(c.Runs) > 0 && !slices.ContainsFunc(c.Runs, func(m Measurement) bool {
		return m.Result == nil || m.Source == ""
	})
}

// Measurement is one scenario with what it could reach and what it did. Ceiling and Result may be
// nil.
type Measurement struct {
	Scenario suite.Scenario
	Ceiling  *ceiling.Ceiling
	*result.Result
	// Prefilled says that plimsoll wrote the file with data before it measured.
	Prefilled bool
	// Rounds are all measurements of a run with rounds, in order; Result is then the one in the
	// middle.
	Rounds []*result.Result
}

// Finds is a finding on a measurement, with its message in the words of fmt.
func (m Measurement) Finds(format string, args ...any) finding.Finding {
	return finding.New(m.Label(), format, args...).In(m.IDs())
}

// Rule is a rule on a case.
type Rule = finding.Rule[*Case]
