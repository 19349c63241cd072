package plans

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bench"
	"plimsoll/internal/bundle"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/permit"
	"plimsoll/internal/report/page"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/verdict"
)

// DryRun is the document of what a run would do.
func DryRun(p bench.Plan) *page.Document {
	data := dryPlan{
		Suite: p.Suite.Name, Scenarios: []dryScenario{}, Settings: p.Settings,
		Rounds: p.Rounds, Budget: p.Budget, Out: p.Out, Labels: p.Labels, Consent: p.Consent, Policy: p.Policy,
		Topology: p.Topology, Database: p.Suite.Server,
	}
	var sum time.Duration
	var targets page.Facts
	for _, t := range p.Topology.Targets {
		targets.Add(string(t.Role), t.Path)
	}
	blocks := []page.Block{targets}
	rows := page.NewTable("id, scenario, role, takes_s, command")
	for i, s := range p.Suite.Scenarios {
		took := s.Takes()
		sum += took
		if i > 0 {
			sum += p.Suite.Cooldown
		}
		one := dryScenario{ID: s.ID, Name: s.Name, Role: s.Role, Takes: took, Postgres: s.Postgres}
		var words string
		if s.Kind() == suite.OfServer {
			words = "PostgreSQL: " + PostgresLoad(s)
		} else {
			job := bench.JobFile(p, s)
			words = shell.Line(command.Line(&job))
			one.Command = words
		}
		data.Scenarios = append(data.Scenarios, one)
		head := fmt.Sprintf("# %d %s, %s, %s", s.ID, s.Name, s.Role, Expected(took))
		blocks = append(blocks, page.Code{Free: true, Lines: append([]string{head}, strings.Split(words, "\n")...)})
		takes := page.Cell{} // of a job that ends when its work is done nobody knows
		if took > 0 {
			takes = page.Exact(Expected(took), took.Seconds())
		}
		rows.Add(s.ID, s.Name, s.Role, takes, words)
	}
	d := page.New("dry run", "Nothing was run", "dry_run", data)
	d.Add(blocks...)
	d.Add(page.Sentences(fmt.Sprintf("%s, %s in total with cooldowns, after the files are prefilled",
		text.Several(p.Suite.Scenarios, "scenario"), text.Duration(sum.Round(time.Second)))))
	d.Records = rows
	return d
}

// dryPlan is what a run would do, as JSON; names of the fields end in their units.
type dryPlan struct {
	Suite     string
	Scenarios []dryScenario
	Settings  bundle.Settings
	Rounds    *bundle.RoundPlan `json:"rounds,omitempty"`
	Budget    time.Duration     `json:"budget_ns,omitempty"`
	Out       string
	Labels    map[string]string
	Consent   permit.Consent
	Policy    verdict.Policy
	Topology  topology.Topology
	Database  *suite.Server `json:"database,omitempty"`
}

type dryScenario struct {
	ID       int
	Name     string
	Role     topology.Role
	Takes    time.Duration
	Command  string          `json:"command,omitempty"`
	Postgres *suite.Postgres `json:"postgres,omitempty"`
}

// Expected is a scenario's running time, for people.
func Expected(d time.Duration) string {
	return text.Either(d == 0, "ends when its work is done", text.Duration(d))
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
	phrase := fmt.Sprintf("pgbench with %s clients, %s", text.List(clients), cmp.Or(p.Builtin, text.Clean(p.Script, 100)))
	if p.Connect {
		phrase += ", a connection each transaction"
	}
	if p.Checkpoint {
		phrase += ", right after a checkpoint"
	}
	return phrase
}
