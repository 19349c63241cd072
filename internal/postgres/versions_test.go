package postgres

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
)

// fetched is where scripts/pg-versions.sh puts a version's programs; the test is skipped where they
// are not there.
func fetched(t *testing.T, major int) string {
	t.Helper()
	dir := os.Getenv("PG_VERSIONS")
	if dir == "" && os.Geteuid() == 0 {
		dir = "/var/cache/plimsoll-pg"
	} else if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".cache", "plimsoll-pg")
	}
	bin := filepath.Join(dir, strconv.Itoa(major), "bin")
	if _, err := os.Stat(filepath.Join(bin, "postgres")); err != nil {
		t.Skipf("NO POSTGRESQL %d: scripts/pg-versions.sh --fetch could not get it (%v)", major, err)
	}
	return bin
}

// opened is a server of our own with a connection to it, on paths of the test's.
func opened(t *testing.T, of suite.Server) *session {
	t.Helper()
	data, wal := paths(t)
	of.Quick = true
	site, err := siteAt(t.Context(), data, wal, of, commits(1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := planFor(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{server: &server{plan: p, site: site, m: sys.Host()}}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Acceptance 5: each version gives the same figures of the log from statistics of its own, a commit
// is 293 bytes of WAL, and a checkpoint is counted.
func TestVersions(t *testing.T) {
	need(t)
	for _, major := range []int{14, 16, 17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel() // they wait for their syncs and checkpoints
			bin := fetched(t, major)
			s := opened(t, suite.Server{Bin: bin})
			out, err := sys.OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close() //nolint:errcheck // only a handle
			res := &result.Result{State: result.Done, Start: time.Now()}
			if err := s.measure(t.Context(), commits(4), out, res, func(result.PgSecond) {}); err != nil || res.State != result.Done {
				t.Fatal(err, res.State, res.Reasons)
			}
			p := res.Postgres
			step := p.Peak()
			t.Logf("PostgreSQL %s, pgbench %s: %v TPS, %.2f commits per sync of %v, %v of WAL each", p.Version, p.Pgbench, step.TPS,
				step.CommitsPerSync(), step.SyncMean(), step.WALPerTx())
			if !strings.HasPrefix(p.Version, strconv.Itoa(major)+".") {
				t.Errorf("version %s", p.Version)
			}
			if wal := step.WALPerTx(); wal < 288 || wal > 298 {
				t.Errorf("%v of WAL a commit, want 293", wal)
			}
			// Of 4 clients a sync carries 1 to 4 commits, and syncs take time, but no more than
			// there is.
			if g := step.CommitsPerSync(); g < 1 || g > 4 || step.WALWrites == 0 {
				t.Errorf("%.2f commits per sync, %d writes", g, step.WALWrites)
			}
			if step.SyncTime <= 0 || step.SyncTime > step.Measured*5/4 {
				t.Errorf("%v of syncs in %v", step.SyncTime, step.Measured)
			}
			if p.Setting("data_checksums") != "on" || len(p.Failed) > 0 {
				t.Errorf("checksums %q, failed %q", p.Setting("data_checksums"), p.Failed)
			}
			conn, err := s.connect(t.Context(), benchUser)
			if err != nil {
				t.Fatal(err)
			}
			before, err := s.counters(t.Context(), conn)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), "checkpoint"); err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(time.Minute)
			for after := before; requested(after) == requested(before); {
				if time.Now().After(deadline) {
					t.Fatalf("no checkpoint was counted: %+v", after)
				}
				if err := wait(t.Context(), settle); err != nil {
					t.Fatal(err)
				}
				if after, err = s.counters(t.Context(), conn); err != nil {
					t.Fatal(err)
				}
			}
			if err := conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// requested are the checkpoints that were asked for.
func requested(c counters) float64 {
	return cmp.Or(c["checkpoints_req"], c["checkpoint_num_requested"])
}

// findVar makes the test binary print what Find finds.
const findVar = "PLIMSOLL_TEST_FIND"

func printFound() {
	u, err := UserFor("", "/")
	if err != nil {
		fmt.Println(err)
	} else if found, err := Find(context.Background(), u, ""); err != nil {
		fmt.Println(err)
	} else {
		fmt.Println(found.Bin, found.Major)
	}
}

// Programs are found where Debian's and RPM's packages put them, the newest first, and by pg_config.
// What the environment names counts for nothing. The places are made in a mount namespace, over this machine's /usr.
func TestFind(t *testing.T) {
	need(t)
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: no mount namespace")
	}
	u, err := UserFor("", "/")
	if err != nil {
		t.Fatal(err)
	}
	own, err := Find(t.Context(), u, os.Getenv(binVar))
	if err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	if err := os.Chmod(filepath.Dir(here), 0o755); err != nil { // the server's user looks at what is in it
		t.Fatal(err)
	}
	for _, c := range []struct{ name, setup, want string }{
		{"Debian's, the newest by number", "mkdir -p $D/9 $D/15 && ln -s $REAL $D/15/bin && ln -s $OLD $D/9/bin", "/usr/lib/postgresql/15/bin"},
		{"RPM's", "mkdir -p /usr/pgsql-15 /usr/pgsql-9.6 && ln -s $REAL /usr/pgsql-15/bin && ln -s $OLD /usr/pgsql-9.6/bin", "/usr/pgsql-15/bin"},
		{
			"pg_config's", `mkdir -p /usr/odd && ln -s $REAL /usr/odd/bin && echo 'echo /usr/odd/bin' >> /usr/local/bin/pg_config && chmod 755 /usr/local/bin/pg_config`,
			"/usr/odd/bin",
		},
		{"none, whatever the environment names", "mkdir -p /usr/odd && ln -s $REAL /usr/odd/bin && export PG_BINDIR=/usr/odd/bin", "no PostgreSQL is installed"},
		{"too old", "mkdir -p $D/9 && ln -s $OLD $D/9/bin", "is PostgreSQL 9.6: plimsoll needs 13 or newer"},
		{"none", "true", "no PostgreSQL is installed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := `set -e
mount -t tmpfs tmpfs $T && mkdir $T/real $T/upper $T/work
mount --bind $REAL $T/real && REAL=$T/real
mount -t overlay overlay -o lowerdir=/usr,upperdir=$T/upper,workdir=$T/work /usr
rm -rf /usr/lib/postgresql /usr/pgsql-* /usr/bin/pg_config /usr/local/bin/initdb /usr/local/bin/postgres
D=/usr/lib/postgresql OLD=$T/old
mkdir -p $D $OLD && for p in initdb postgres pgbench; do printf '#!/bin/sh\necho "%s (PostgreSQL) 9.6.24"\n' $p >$OLD/$p; chmod 755 $OLD/$p; done
printf '#!/bin/sh\n' >/usr/local/bin/pg_config
` + c.setup + "\nexec $SELF"
			cmd := exec.Command("unshare", "--mount", "sh", "-c", script)
			cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "T=" + here, "REAL=" + own.Bin, "SELF=" + os.Args[0], findVar + "=1"}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v %s", err, out)
			}
			if !strings.Contains(string(out), c.want) {
				t.Errorf("found %s, want %s", out, c.want)
			}
		})
	}
}
