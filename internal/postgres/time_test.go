package postgres

import (
	"testing"
	"time"

	"plimsoll/internal/suite"
)

// The suite pg with nothing asked for takes less than 12 minutes, by what it plans: loads, probes,
// the ranking of methods, waits for statistics, cooldowns, and the most that loading tables may
// take.
func TestSuiteTakesTwelveMinutes(t *testing.T) {
	of, err := suite.Builtin("pg")
	if err != nil {
		t.Fatal(err)
	}
	const (
		methods = 18 * 2 * time.Second // pg_test_fsync -s 2 runs 18 tests
		start   = 10 * time.Second     // initdb, the server, its roles
		connect = time.Second          // pgbench's sessions
	)
	total, probed, loaded := start, false, false
	for _, c := range of.Scenarios {
		p := c.Postgres
		if p.Probes() {
			total += methods
		}
		if p.Builtin != "" && !loaded {
			total, loaded, probed = total+initFor+initFor/10, true, false
		}
		if !p.ReadOnly() && !probed {
			total += probeFor
		}
		total += c.Takes() + time.Duration(len(p.Clients))*(2*settle+connect) + of.Cooldown
		if probed = !p.ReadOnly(); probed {
			total += probeFor
		}
	}
	t.Logf("%v", total)
	if total > 12*time.Minute {
		t.Errorf("the suite takes %v, want 12 minutes at most", total)
	}
	if total < 10*time.Minute {
		t.Errorf("%v: something is not counted", total)
	}
}
