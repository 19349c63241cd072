// Package bundle is a run's directory on disk: everything needed to read it, render it again,
// compare it or resume it.
package bundle

import (
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/verdict"
)

// Schema is the version of run.json that this build writes, and the one that it reads.
const Schema = 2

// Run is run.json.
type Run struct {
	Schema   int       `json:"schema"`
	Tool     string    `json:"tool"` // "plimsoll 0.1.0"
	Fio      string    `json:"fio,omitempty"`
	ID       string    `json:"id"` // the directory's name
	Created  time.Time `json:"created"`
	Finished time.Time `json:"finished,omitzero"`
	State    State     `json:"state"`
	// Imported names the files that an imported run came from; empty for a run of our own.
	Imported []string          `json:"imported,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Topology topology.Topology `json:"topology"`
	// Host is what was read of the machine's settings before measuring; nil in runs of 0.1 and
	// imports.
	Host     *host.Facts `json:"host_facts,omitempty"`
	Suite    suite.Suite `json:"suite"`
	Settings Settings    `json:"settings"`
	// Probes are what the members of the arrays gave before the run; nil where that was not tried.
	Probes []diagnose.Probe `json:"probes,omitempty"`
	// Touches are what pairs of reads said before the run of blocks that are not loaded from a
	// snapshot yet; nil where that was not tried.
	Touches []diagnose.Touch `json:"touches,omitempty"`
	// Clock is how far the host's wall clock may have been off when a run of a fleet job began; nil for others.
	Clock *FleetClock `json:"clock,omitempty"`
	// Rounds is how often the scenarios are measured; nil for once.
	Rounds *RoundPlan `json:"rounds,omitempty"`
	// Policy is what was not to count, and what was to fail, when the run was made.
	Policy verdict.Policy `json:"policy,omitzero"`
	// Lint are the warnings about the job files that the run was made of.
	Lint []finding.Finding `json:"lint,omitempty"`
	// AtWork is what a look before anything was measured named: a control group at its limit.
	AtWork []finding.Finding `json:"at_work,omitempty"`
	// Ceilings by scenario ID, as computed before measuring.
	Ceilings map[int]ceiling.Ceiling `json:"ceilings,omitempty"`
	Verdict  verdict.Verdict         `json:"verdict,omitempty"`
	// Warned says that a run that was only measured has warnings.
	Warned bool `json:"warned,omitempty"`
	// Reasons are the most important findings, a sentence each, at most three.
	Reasons []string `json:"reasons,omitempty"`
}

// State of a run.
type State string

// The states of a run.
const (
	Running     State = "running"
	Finished    State = "finished"
	Interrupted State = "interrupted"
	Empty       State = "empty" // the directory of a run that was killed before it wrote anything
)

// Settings are the flags that shaped the run.
type Settings struct {
	Data         string        `json:"data,omitempty"`
	WAL          string        `json:"wal,omitempty"`
	Runtime      time.Duration `json:"runtime,omitempty"`
	Ramp         time.Duration `json:"ramp,omitempty"`
	Size         string        `json:"size,omitempty"`
	Cooldown     time.Duration `json:"cooldown"`
	FreshExtents bool          `json:"fresh_extents,omitempty"`
	KeepFiles    bool          `json:"keep_files,omitempty"`
	// Stop is the half width, as a share, at which a scenario ends; Sustained: not before its burst
	// does.
	Stop      float64 `json:"stop,omitempty"`
	Sustained bool    `json:"sustained,omitempty"`
	// Most is the threshold of a search for the most load (plimsoll sweep --most), Seed what its
	// arrivals come from.
	Most string `json:"most,omitempty"`
	Seed uint64 `json:"seed,omitempty"`
	// Probe is how long the members of the arrays are read before the run; 0 for not at all.
	Probe time.Duration `json:"probe,omitempty"`
	// SkipTouch leaves the test of a first touch out.
	SkipTouch bool `json:"skip_first_touch,omitempty"`
}

// Scenario is one scenario of a bundle with all that is known of it.
type Scenario struct {
	suite.Scenario
	Ceiling    *ceiling.Ceiling          `json:"ceiling,omitempty"`
	Result     *result.Result            `json:"result,omitempty"` // nil while waiting
	Rounds     []Round                   `json:"rounds,omitempty"` // of a run with rounds; Result is then the one in the middle
	Thresholds []verdict.ThresholdResult `json:"threshold_results,omitempty"`
	Verdict    verdict.Verdict           `json:"verdict,omitempty"`
}

// Bundle is a run read whole.
type Bundle struct {
	Dir       string
	Run       Run
	Scenarios []Scenario
	Findings  []finding.Finding
	// Damaged names the files that are missing or not those that were written, each with what is
	// wrong.
	Damaged []string
}

// Outcome is the verdict of a finished run in words, or how far it came.
func (r Run) Outcome() string {
	if r.State != Finished {
		return string(r.State)
	}
	if r.Verdict == verdict.Measured && r.Warned {
		return r.Verdict.Word() + " WITH WARNINGS"
	}
	return r.Verdict.Word()
}
