package plans

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"plimsoll/internal/bench"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// DryRun shows what a run would do.
func DryRun(w io.Writer, p bench.Plan) error {
	var sum time.Duration
	for _, t := range p.Topology.Targets {
		fmt.Fprintf(w, "%s: %s\n", t.Role, t.Path)
	}
	for i, s := range p.Suite.Scenarios {
		took := s.Takes()
		sum += took
		if i > 0 {
			sum += p.Suite.Cooldown
		}
		if s.Postgres != nil {
			fmt.Fprintf(w, "\n# %d %s, %s, %s\nPostgreSQL: %s\n", s.ID, s.Name, s.Role, Expected(took), PostgresLoad(s))
			continue
		}
		job := bench.JobFile(p, s)
		fmt.Fprintf(
			w,
			"\n# %d %s, %s, %s\n%s\n",
			s.ID,
			s.Name,
			s.Role,
			Expected(took),
			shell.Line(fio.CommandLine(&job)),
		)
	}
	_, err := fmt.Fprintf(
		w,
		"\n%s, %s in all with cooldowns, after the files are prefilled\n",
		text.Plural(len(p.Suite.Scenarios), "scenario"),
		sum.Round(time.Second),
	)
	return err
}

// Expected is a scenario's running time, for people.
func Expected(d time.Duration) string {
	if d == 0 {
		return "ends when its work is done"
	}
	return text.Duration(d)
}

// PostgresLoad is what a scenario will ask of the server, in words.
func PostgresLoad(s suite.Scenario) string {
	p := s.Postgres
	if p.Probes() {
		return "pg_test_fsync, pg_test_timing, and fio's probe of one synced write"
	}
	clients := make([]string, len(p.Clients))
	for i, n := range p.Clients {
		clients[i] = strconv.Itoa(n)
	}
	phrase := fmt.Sprintf(
		"pgbench with %s clients, %s",
		text.List(clients),
		cmp.Or(p.Builtin, text.Clean(p.Script, 100)),
	)
	if p.Connect {
		phrase += ", a connection each transaction"
	}
	if p.Checkpoint {
		phrase += ", right after a checkpoint"
	}
	return phrase
}
