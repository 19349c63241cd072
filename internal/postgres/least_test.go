package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
)

// wrapped is a directory with PostgreSQL's programs, each of which notes who ran it before it does
// its work, and the file of these notes.
func wrapped(t *testing.T) (dir, notes string) {
	t.Helper()
	u, err := UserFor("", "/")
	if err != nil {
		t.Fatal(err)
	}
	own, err := Find(t.Context(), u, os.Getenv(binVar))
	if err != nil {
		t.Fatal(err)
	}
	base, _ := paths(t)
	dir, notes = filepath.Join(base, "bin"), filepath.Join(base, "ran")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(notes, nil, 0o666), os.Chmod(notes, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres", "pgbench", "pg_test_fsync", "pg_test_timing"} {
		text := fmt.Sprintf("#!/bin/sh\necho %s $(id -u) >>%s\nexec %s \"$@\"\n", name, notes, own.program(name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, notes
}

// Nothing of PostgreSQL runs as root: not a question for a version, not in a dry run, not the
// programs that rank methods of syncing.
func TestNothingOfPostgresRunsAsRoot(t *testing.T) {
	need(t)
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: everything runs as the caller")
	}
	dir, notes := wrapped(t)
	data, wal := paths(t)
	of := suite.Server{Bin: dir, Quick: true, Settings: map[string]string{"max_wal_size": "128MB"}}
	probe := suite.Scenario{Name: "probe", Runtime: time.Second, Postgres: &suite.Postgres{}}
	site, err := siteAt(t.Context(), data, wal, of, probe)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planFor(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{server: &server{plan: p, site: site, m: sys.Host()}}
	if err := s.start(t.Context()); err != nil {
		t.Fatal(errors.Join(err, s.stop()))
	}
	ranked := s.rank(t.Context())
	if err := errors.Join(ranked, s.initialise(t.Context(), 1), s.stop()); err != nil {
		t.Error(err)
	}
	if len(s.methods) == 0 || s.clock == 0 {
		t.Errorf("pg_test_fsync and pg_test_timing: %v, %v", s.methods, s.clock)
	}
	ran, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres", "pgbench", "pg_test_fsync", "pg_test_timing"} {
		if !strings.Contains(string(ran), fmt.Sprintf("%s %d\n", name, p.user.UID)) {
			t.Errorf("%s did not run as %s:\n%s", name, p.user.Name, ran)
		}
	}
	if strings.Contains(string(ran), " 0\n") {
		t.Errorf("something ran as root:\n%s", ran)
	}
}

// Programs that a third user can replace do not run, neither as root nor as the server's user.
func TestProgramsOfAThirdUserDoNotRun(t *testing.T) {
	need(t)
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: no other users")
	}
	dir, notes := wrapped(t)
	if err := os.Chown(dir, 54321, 54321); err != nil {
		t.Fatal(err)
	}
	u, err := UserFor("", "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), u, dir); !errors.Is(err, sys.ErrReplaceable) {
		t.Errorf("found: %v", err)
	}
	if ran, err := os.ReadFile(notes); len(ran) > 0 || err != nil {
		t.Errorf("ran %s %v", ran, err)
	}
}

// PostgreSQL says itself which of its settings name a command, a library or a place: none of them is
// taken from a suite, a flag or a record.
func TestSettingsThatLeadOutAreRefused(t *testing.T) {
	need(t)
	u, err := UserFor("", "/")
	if err != nil {
		t.Fatal(err)
	}
	own, err := Find(t.Context(), u, os.Getenv(binVar))
	if err != nil {
		t.Fatal(err)
	}
	all, err := u.output(t.Context(), own.program("postgres"), "--describe-config")
	if err != nil {
		t.Fatal(err)
	}
	// These name no place: a schema, a pattern for the collector that is refused, words in a log, an
	// installed file by its plain name, and tablespaces, of which a new server has none.
	harmless := []string{"search_path", "log_filename", "syslog_ident", "timezone_abbreviations", "temp_tablespaces"}
	// Of log_destination PostgreSQL does not say that it may be the system's log.
	suspect := regexp.MustCompile(`(?i)^log_destination\t|librar|command|director|file|path|program|module|plugin|provider`)
	n := 0
	for line := range strings.Lines(all) {
		col := strings.Split(strings.TrimSpace(line), "\t")
		if len(col) < 7 || col[3] != "STRING" || !suspect.MatchString(line) || slices.Contains(harmless, col[0]) {
			continue
		}
		if strings.HasPrefix(col[2], "Preset") {
			continue
		}
		n++
		if err := checkSettings(map[string]string{col[0]: "x"}); err == nil {
			t.Errorf("%s may be set: %s", col[0], col[len(col)-1])
		}
	}
	if n < 20 {
		t.Errorf("only %d settings of places in\n%.400s", n, all)
	}
	for _, name := range append(harmless, "work_mem", "wal_compression") {
		if err := checkSettings(map[string]string{name: "x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
