package postgres

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// ByHand are the commands that do by hand what a scenario does, to be typed as the server's user
// with PostgreSQL's programs in PATH, on a machine with so much memory. What depends on what is free
// there stands in words.
func ByHand(c suite.Scenario, server *suite.Server, data, wal string, memory units.Bytes) []string {
	sv := suite.Server{}
	if server != nil {
		sv = *server
	}
	dataDir, walDir, socket := filepath.Join(data, "pg-data"), filepath.Join(wal, "pg-wal"), "/tmp/pg-socket"
	line := func(argv ...string) string { return text.ShellLine(argv) }
	lines := []string{
		line("mkdir", "-m", "0700", socket),
		line(initdb("initdb", dataDir, walDir)...),
	}
	p := &plan{user: User{}, memory: cmp.Or(sv.Memory, memory), maxWAL: mostWAL, install: Install{Major: 15}}
	p.clients, p.data = clientsOf([]suite.Scenario{c})
	p.settings(sv)
	conf := filepath.Join(dataDir, "postgresql.conf")
	lines = append(lines, "cat >> "+text.ShellQuote(conf)+" <<'END'")
	for _, s := range p.set {
		entry := s.name + " = '" + strings.ReplaceAll(s.value, "'", "''") + "'"
		switch {
		case s.given:
		case s.name == "shared_buffers":
			entry = fmt.Sprintf("%-33s # a quarter of the memory", entry)
		case s.name == "max_wal_size":
			entry = fmt.Sprintf("%-33s # a quarter of what is free on the log's path, at most this", entry)
		}
		lines = append(lines, entry)
	}
	lines = append(lines, "listen_addresses = ''", "port = "+port, "unix_socket_directories = '"+socket+"'", "END",
		line("postgres", "-D", dataDir)+" &", line("export", "PGHOST="+socket, "PGPORT="+port, "PGUSER="+superuser),
		line("createdb", benchUser))
	if c.Postgres.Probes() {
		return append(lines, line("pg_test_fsync", "-s", "2", "-f", filepath.Join(wal, "probe")),
			line("pg_test_timing", "-d", "1"))
	}
	if c.Postgres.Builtin != "" {
		scale := sv.Scale
		if scale == "" || scale == "auto" {
			scale = "100" // plimsoll works it out from the memory and from what is free
		}
		lines = append(lines, line("pgbench", "-i", "-q", "-s", scale, benchUser))
	}
	script := "script.sql"
	if c.Postgres.Script != "" {
		lines = append(lines, "echo "+text.ShellQuote(c.Postgres.Script)+" > "+script)
	}
	for _, n := range c.Postgres.Clients {
		if c.Postgres.Checkpoint {
			lines = append(lines, line("psql", "-c", "checkpoint", benchUser))
		}
		l := load{
			clients:  n,
			threads:  threads(n),
			runtime:  max(c.Runtime, time.Second),
			Postgres: c.Postgres,
			sampling: 1,
		}
		argv := l.argv("pgbench", "log-"+strconv.Itoa(n), script)
		for i, a := range argv {
			if a == "-U" {
				argv[i+1] = superuser
			}
		}
		lines = append(lines, line(argv...))
	}
	return append(lines, "kill -INT %1   # stops the server")
}
