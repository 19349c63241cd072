package suite

import (
	"fmt"
	"time"

	"plimsoll/internal/units"
)

// Server is how the PostgreSQL of a suite is set up: the suite's `postgres:`, and the flags --pg-*.
type Server struct {
	// Bin is the directory of the programs, empty to look for them, and User who runs the server,
	// empty to choose. Both are typed: they are in no file and in no record.
	Bin    string      `json:"-"`
	User   string      `json:"-"`
	Scale  string      `json:"scale,omitempty"`  // a number, a size, or auto
	Memory units.Bytes `json:"memory,omitempty"` // of server and page cache together; 0 for the machine's
	// Settings are those that differ from what plimsoll sets itself.
	Settings map[string]string `json:"settings,omitempty"`
	Quick    bool              `json:"quick,omitempty"` // short runs and a small data set
}

// Postgres is what a scenario does with the server: one load of pgbench at each number of clients.
type Postgres struct {
	// Builtin is pgbench's own script, or Script is one statement; neither for a scenario that only
	// probes the log.
	Builtin string `json:"builtin,omitempty"`
	Script  string `json:"script,omitempty"`
	Clients []int  `json:"clients,omitempty"`
	// Connect is true where each transaction has a connection of its own.
	Connect bool `json:"connect,omitempty"`
	// Checkpoint asks for one right before: what follows writes full pages.
	Checkpoint bool `json:"checkpoint,omitempty"`
	// Transactions of each client instead of a time; 0 for a time.
	Transactions int `json:"transactions,omitempty"`
}

// Probes says that the scenario measures the log's sync only, and runs no load.
func (p *Postgres) Probes() bool { return p.Builtin == "" && p.Script == "" }

// ReadOnly says that the load changes nothing, so that no commit waits for the log.
func (p *Postgres) ReadOnly() bool { return p.Builtin == "select-only" }

// Takes is how long the scenario runs, in fio or in pgbench without its probes; 0 where its end is
// not known.
func (s Scenario) Takes() time.Duration {
	if s.Kind() == OfServer && s.Postgres.Transactions == 0 {
		return s.Runtime * time.Duration(len(s.Postgres.Clients))
	}
	loads, err := s.Workloads()
	if err != nil || s.Kind() == OfServer {
		return 0
	}
	return Duration(loads)
}

// The YAML of `postgres:`, of a suite and of a scenario.
type (
	serverYAML struct {
		Scale    string
		Memory   size
		Settings map[string]string
	}
	postgresYAML struct {
		Builtin, Script, Connect, Before string
		Clients                          []int
		Transactions                     int
	}
)

// builtins are the scripts of pgbench itself.
var builtins = []string{"tpcb-like", "simple-update", "select-only"}

// MostClients is more than any server of these tests takes.
const MostClients = 5000

func (y *postgresYAML) postgres() (*Postgres, error) {
	p := &Postgres{Builtin: y.Builtin, Script: y.Script, Clients: y.Clients, Transactions: y.Transactions}
	switch {
	case y.Connect != "" && y.Connect != "each":
		return nil, fmt.Errorf("connect %q: want each", y.Connect)
	case y.Before != "" && y.Before != "checkpoint":
		return nil, fmt.Errorf("before %q: want checkpoint", y.Before)
	}
	if !p.Probes() && len(p.Clients) == 0 {
		p.Clients = []int{100}
	}
	p.Connect, p.Checkpoint = y.Connect == "each", y.Before == "checkpoint"
	return p, nil
}
