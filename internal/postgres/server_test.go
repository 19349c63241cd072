package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// binVar names the programs of the PostgreSQL that the tests run, of scripts/pg-versions.sh; empty for
// this machine's.
const binVar = "PG_BINDIR"

// need skips where there is no PostgreSQL, loudly.
func need(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	u, err := UserFor("", "/")
	if err != nil {
		t.Skipf("NO USER FOR POSTGRESQL: %v", err)
	}
	if _, err := Find(t.Context(), u, os.Getenv(binVar)); err != nil {
		t.Skipf("NO POSTGRESQL: %v", err)
	}
}

// paths makes two directories that the server's user can reach: t.TempDir is the caller's alone.
func paths(t *testing.T) (data, wal string) {
	t.Helper()
	base, err := os.MkdirTemp("", "pg-test-") //nolint:usetesting // the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	data, wal = filepath.Join(base, "data"), filepath.Join(base, "wal")
	for _, dir := range []string{base, data, wal} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return data, wal
}

// held keeps locks: a handle that nobody refers to is closed.
var held sync.Map

// siteAt locks two directories for a server.
func siteAt(ctx context.Context, data, wal string, server suite.Server, scenarios ...suite.Scenario) (permit.Site, error) {
	topo, err := topology.Detect(ctx, sys.Host(), map[topology.Role]string{topology.Data: data, topology.WAL: wal}, nil)
	if err != nil {
		return permit.Site{}, err
	}
	server.Bin = cmp.Or(server.Bin, os.Getenv(binVar))
	site := permit.Site{Topology: topo, Server: server, Scenarios: scenarios, Note: func(string) {}}
	for role, to := range map[topology.Role]**permit.Place{topology.Data: &site.Data, topology.WAL: &site.WAL} {
		p, err := permit.Open(topo, *topo.For(role), scenarios, permit.Consent{})
		if err != nil {
			return site, err
		}
		p.WantDatabase()
		release, err := p.Lock(context.Background())
		if err != nil {
			return site, err
		}
		held.Store(p, release)
		*to = p
	}
	return site, nil
}

// measured runs one scenario on a server of its own, and looks at it while it runs.
func measured(t *testing.T, preload string, server suite.Server, c suite.Scenario, look func(permit.Server)) *result.Result {
	t.Helper()
	data, wal := paths(t)
	server.Quick = true
	site, err := siteAt(t.Context(), data, wal, server, c)
	if err != nil {
		t.Fatal(err)
	}
	measure, stop, err := Open(sys.Host(), preload)(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	record := recordIn(t, data)
	out, err := sys.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() //nolint:errcheck // only a handle
	if c.Postgres.Checkpoint {
		first := c
		first.Postgres = &suite.Postgres{Builtin: "select-only", Clients: []int{1}, Transactions: 1}
		if err := measure(t.Context(), first, out, &result.Result{Start: time.Now()}, func(result.PgSecond) {}); err != nil {
			t.Fatal(err)
		}
	}
	if look != nil {
		look(record)
	}
	res := &result.Result{ID: c.ID, Name: c.Name, State: result.Done, Start: time.Now()}
	err = measure(t.Context(), c, out, res, func(result.PgSecond) {})
	if err := errors.Join(err, stop()); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, record, data, wal)
	if res.State != result.Done {
		t.Fatalf("%s: %v", res.State, res.Reasons)
	}
	return res
}

func recordIn(t *testing.T, data string) permit.Server {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, ".plimsoll", "pg-server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s permit.Server
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// nothingLeft looks for what a server leaves: its process, socket, shared memory, directories.
func nothingLeft(t *testing.T, s permit.Server, data, wal string) {
	t.Helper()
	if sys.Lives(s.PID, s.Start) {
		t.Errorf("the server %d lives", s.PID)
	}
	for _, name := range append(shared(s), s.Run, filepath.Join(data, ".plimsoll", "pg-data"), filepath.Join(wal, ".plimsoll", "pg-wal")) {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	segments, _ := os.ReadFile("/proc/sysvipc/shm")
	for line := range strings.Lines(string(segments)) {
		field := strings.Fields(line)
		for _, id := range s.SysV {
			if len(field) > 1 && field[1] == fmt.Sprint(id) {
				t.Errorf("the System V segment %d is left", id)
			}
		}
	}
	if len(s.SysV) == 0 || len(s.SharedMemory) != 0 { // what has a name below /dev/shm would outlive a kill
		t.Errorf("the record names no segment, or shared memory: %+v", s)
	}
}

func shared(s permit.Server) []string {
	var names []string
	for _, name := range s.SharedMemory {
		names = append(names, "/dev/shm/"+name)
	}
	return names
}

func commits(clients ...int) suite.Scenario {
	return suite.Scenario{ID: 17, Name: "pg-commit", Role: topology.WAL, Runtime: 3 * time.Second, Postgres: &suite.Postgres{
		Script: "select pg_logical_emit_message(true, 'plimsoll', repeat('x', 200));", Clients: clients,
	}}
}

// Acceptance 1 and 5 of the specification, for the installed version: with syncs of 1.858 ms a
// flush carries about half of the clients' commits, commit latency is what limits, and a commit is
// 293 bytes of WAL.
func TestCommitsFollowTheLog(t *testing.T) {
	need(t)
	lib := filepath.Join(t.TempDir(), "libsyncdelay.so")
	if err := os.Chmod(filepath.Dir(lib), 0o755); err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp("", "pg-shim-") //nolint:usetesting // the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base) //nolint:errcheck // a small directory
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	lib = filepath.Join(base, "libsyncdelay.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O2", "-o", lib, "testdata/libsyncdelay.c").CombinedOutput(); err != nil {
		t.Skipf("NO C COMPILER: %v %s", err, out)
	}
	t.Setenv("LD_PRELOAD", lib) // for fio; the server has it from preload
	res := measured(t, lib, suite.Server{}, commits(4, 8, 16), nil)
	p := res.Postgres
	s, apart := p.S()
	if s < 1_858_000 {
		t.Fatalf("S is %v, want 1.858 ms or more", s)
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		half := float64(step.Clients) / 2
		m := ceiling.CommitsIn(p, step)
		t.Logf("%d clients: %v TPS of %v to %v, %.2f commits per sync, %v WAL each, S %v (%.0f %% apart), busy %.2f", step.Clients, step.TPS,
			m.Low, m.High, step.CommitsPerSync(), step.WALPerTx(), s, 100*apart, step.Busy)
		if wal := step.WALPerTx(); wal < 288 || wal > 298 {
			t.Errorf("%d clients: %v of WAL a commit, want 293", step.Clients, wal)
		}
		if g := step.CommitsPerSync(); g < 0.6*half || g > 2*half {
			if step.Busy > 0.9 {
				t.Skipf("MACHINE TOO BUSY: %d clients made %.2f commits per sync while it was %.0f %% busy", step.Clients, g, 100*step.Busy)
			}
			t.Errorf("%d clients: %.2f commits per sync, want about %.0f", step.Clients, g, half)
		}
		c := ceiling.OfPostgres(&topology.Topology{}, p, step)
		if b := c.Binding(); b == nil || b.Kind != ceiling.CommitLatency && step.Busy < 0.9 {
			t.Errorf("%d clients: limited by %+v", step.Clients, b)
		}
		if step.TPS > m.Bound*1.1 {
			t.Errorf("%d clients: %v TPS of at most %v", step.Clients, step.TPS, m.Bound)
		}
	}
}

// Acceptance 2: right after a checkpoint a change writes its page whole; without full pages it is a
// tenth and less.
func TestFullPages(t *testing.T) {
	need(t)
	update := suite.Scenario{ID: 15, Name: "pg-checkpoint", Role: topology.Data, Postgres: &suite.Postgres{
		Builtin: "simple-update", Clients: []int{4}, Checkpoint: true, Transactions: 200,
	}}
	for _, c := range []struct {
		set         map[string]string
		least, most float64
	}{
		{nil, 7100, 8300}, // an image leaves out the room in its page
		{map[string]string{"full_page_writes": "off"}, 150, 350},
	} {
		// Room in each page, as a table has that was changed before: the first change of a full one
		// moves to another page.
		room := func(s permit.Server) {
			sql := "alter table pgbench_accounts set (fillfactor = 90)"
			psql := []string{"-X", "-q", "-h", s.Run, "-p", port, "-U", superuser, "-d", benchUser, "-c", sql, "-c", "vacuum full pgbench_accounts"}
			if out, err := exec.Command(filepath.Join(filepath.Dir(s.Exe), "psql"), psql...).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
		}
		res := measured(t, "", suite.Server{Scale: "5", Settings: c.set}, update, room)
		step := res.Postgres.Peak()
		if wal := float64(step.WALPerTx()); wal < c.least || wal > c.most {
			t.Errorf("%v: %v bytes of WAL a transaction, want %v to %v (%.2f full pages)", c.set, wal, c.least, c.most, step.ImagesPerTx())
		}
		if c.set != nil && res.Postgres.Setting("full_page_writes") != "off" {
			t.Errorf("settings: %+v", res.Postgres.Settings)
		}
	}
}

// Acceptance 4: the server is not root's, cannot become more, and listens on no network.
func TestServerIsPrivate(t *testing.T) {
	need(t)
	before := listening(t)
	c := commits(1)
	c.Runtime = time.Second
	measured(t, "", suite.Server{}, c, func(s permit.Server) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"NoNewPrivs:\t1\n", fmt.Sprintf("Uid:\t%d\t%[1]d", s.UID)} {
			if !strings.Contains(string(status), want) {
				t.Errorf("no %q in\n%s", want, status)
			}
		}
		if s.UID == 0 {
			t.Error("the server is root's")
		}
		if info, err := os.Stat(s.Run); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", s.Run, info, err)
		}
		own, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.PID))
		for _, fd := range own {
			if to, _ := os.Readlink(fd); strings.HasSuffix(to, "/.plimsoll") {
				t.Errorf("the server holds %s", to)
			}
		}
		for inode := range listening(t) {
			for _, fd := range own {
				if to, _ := os.Readlink(fd); to == "socket:["+inode+"]" && !before[inode] {
					t.Errorf("the server listens on a network (%s)", to)
				}
			}
		}
	})
}

// The server's user, whose directory holds the socket, may be anybody, such as the owner of the
// data path. What they plant there does not lead root's plimsoll elsewhere, and fio does not do
// what is in their files.
func TestServersUserLeadsNowhere(t *testing.T) {
	need(t)
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	site, err := siteOf(t, commits(1))
	if err != nil {
		t.Fatal(err)
	}
	measure, stop, err := Open(sys.Host(), "")(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	defer stop() //nolint:errcheck // it may have been stopped
	run := recordIn(t, site.Data.Path).Run
	planted := []string{"script.sql", "probe.fio"}
	for _, name := range planted {
		_ = os.Remove(filepath.Join(run, name)) // that of the probe before
		if err := os.Symlink(precious, filepath.Join(run, name)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := sys.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() //nolint:errcheck // only a handle
	c := commits(1)
	c.Runtime = time.Second
	res := &result.Result{ID: c.ID, Start: time.Now()}
	err = measure(t.Context(), c, out, res, func(result.PgSecond) {})
	if err != nil || !strings.Contains(strings.Join(res.Reasons, "; "), "script.sql is not a regular file") {
		t.Errorf("%v, %s %q, want a refusal of the planted script", err, res.State, res.Reasons)
	}
	if data, err := os.ReadFile(precious); string(data) != "precious" || err != nil {
		t.Errorf("%q %v", data, err)
	}
}

// siteOf is a site on two new directories.
func siteOf(t *testing.T, c suite.Scenario) (permit.Site, error) {
	t.Helper()
	data, wal := paths(t)
	return siteAt(t.Context(), data, wal, suite.Server{Quick: true}, c)
}

// listening are the inodes of TCP sockets that listen.
func listening(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if field := strings.Fields(line); len(field) > 9 && field[3] == "0A" {
				found[field[9]] = true
			}
		}
	}
	return found
}

// killedVar makes the test binary a run that is killed: it starts a server and waits.
const killedVar = "PLIMSOLL_TEST_KILLED"

func TestMain(m *testing.M) {
	if os.Getenv(findVar) != "" {
		printFound()
		return
	}
	if dirs := os.Getenv(killedVar); dirs != "" {
		data, wal, _ := strings.Cut(dirs, ":")
		site, err := siteAt(context.Background(), data, wal, suite.Server{Quick: true}, commits(1))
		if err == nil {
			_, _, err = Open(sys.Host(), "")(context.Background(), site)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		select {}
	}
	os.Exit(m.Run())
}

// Acceptance 3: after kill -9 clean ends that server and removes all of it, and leaves another one
// alone.
func TestCleanAfterKill(t *testing.T) {
	need(t)
	var servers [2]permit.Server
	var dirs [2][2]string
	for i := range servers {
		data, wal := paths(t)
		dirs[i] = [2]string{data, wal}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedVar+"="+data+":"+wal)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 400)
		n, _ := out.Read(said)
		if !strings.HasPrefix(string(said[:n]), "ready") {
			t.Fatalf("%s", said[:n])
		}
		servers[i] = recordIn(t, data)
		if i == 1 {
			clean(t, dirs[1], true) // while the run lives it is left alone
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if !sys.Lives(servers[i].PID, servers[i].Start) {
			t.Fatal("the server ended with the run: nothing is tested")
		}
	}
	clean(t, dirs[0], false)
	nothingLeft(t, servers[0], dirs[0][0], dirs[0][1])
	if !sys.Lives(servers[1].PID, servers[1].Start) {
		t.Error("the other server was ended")
	}
	if _, err := os.Stat(filepath.Join(servers[1].Data, "PG_VERSION")); err != nil {
		t.Error(err)
	}
	clean(t, dirs[1], false)
	nothingLeft(t, servers[1], dirs[1][0], dirs[1][1])
}

func clean(t *testing.T, dirs [2]string, used bool) {
	t.Helper()
	for _, dir := range dirs {
		err := permit.Clean(dir, false, func(l permit.Leftover) {
			if l.InUse != used {
				t.Errorf("%s: in use is %v", l.Folder, l.InUse)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Bad input is refused before anything is written.
func TestCheckRefuses(t *testing.T) {
	need(t)
	data, wal := paths(t)
	for name, c := range map[string]struct {
		server suite.Server
		want   string
	}{
		"no programs": {suite.Server{Bin: "/nonexistent"}, "--pg-bin"},
		"no user":     {suite.Server{User: "nobody-of-that-name"}, "--pg-user"},
		"too large":   {suite.Server{Scale: "9000000"}, "--pg-scale"},
		"a network":   {suite.Server{Settings: map[string]string{"listen_addresses": "*"}}, "within its place"},
		"files":       {suite.Server{Settings: map[string]string{"temp_file_limit": "-1"}}, "within its place"},
		"old logs":    {suite.Server{Settings: map[string]string{"wal_keep_size": "900000GB"}}, "is free"},
	} {
		site, err := siteAt(t.Context(), data, wal, c.server, suite.Scenario{Postgres: &suite.Postgres{Builtin: "tpcb-like", Clients: []int{1}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(t.Context(), sys.Host(), site); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		site.Data.Close()
		site.WAL.Close()
		for _, dir := range []string{data, wal} { // the lock of this test
			if err := os.RemoveAll(filepath.Join(dir, ".plimsoll")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: users are not tried")
	}
	for named, want := range map[string]string{"root": "does not run as root"} {
		if _, err := UserFor(named, data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--pg-user %s: %v", named, err)
		}
	}
	if err := os.Chown(data, 54321, 54321); err != nil {
		t.Fatal(err)
	}
	if _, err := UserFor("", data); err == nil || !strings.Contains(err.Error(), "has no name") {
		t.Errorf("an owner without a name: %v", err)
	}
	if err := os.Chmod(filepath.Dir(data), 0o700); err != nil {
		t.Fatal(err)
	}
	u := User{"somebody", 54322, 54322}
	if err := u.enters(wal); err == nil || !strings.Contains(err.Error(), "cannot enter") {
		t.Errorf("a closed path: %v", err)
	}
}

// A figure is of the first column that the version has, be it 0, and the time of syncs is no whole number of ms.
func TestCountersInto(t *testing.T) {
	for name, c := range map[string]struct{ before, after counters }{
		"17": {
			counters{"wal_bytes": 500, "lsn": 1000, "wal_sync": 1, "wal_sync_time": 10.25},
			counters{"wal_bytes": 500, "lsn": 3000, "wal_sync": 501, "wal_sync_time": 40.85},
		},
		"18": {
			counters{"wal_bytes": 500, "lsn": 1000, "wal_io_fsyncs": 1, "wal_io_fsync_time": 10.25},
			counters{"wal_bytes": 500, "lsn": 3000, "wal_io_fsyncs": 501, "wal_io_fsync_time": 40.85},
		},
	} {
		c.before["blk_read_time"], c.after["blk_read_time"], c.after["temp_files"] = 0.2, 1.1, 2
		var s result.PgStep
		c.after.into(&s, c.before)
		if s.WAL != 0 || s.Syncs != 500 || s.SyncTime.Round(time.Microsecond) != 30600*time.Microsecond {
			t.Errorf("%s: %v of WAL, %d syncs, %v", name, s.WAL, s.Syncs, s.SyncTime)
		}
		if len(s.Counted) != 1 || s.Counted["temp_files"] != 2 {
			t.Errorf("%s: %v", name, s.Counted)
		}
	}
	var s result.PgStep
	counters{"lsn": 3000}.into(&s, counters{"lsn": 1000})
	if s.WAL != 2000 {
		t.Errorf("13: %v of WAL", s.WAL)
	}
}

// A suite's statements, which may be another's, reach no session of the superuser: what they define goes by no name
// that these use.
func TestNothingOfASuiteIsRunByTheSuperuser(t *testing.T) {
	need(t)
	const script = `create or replace function public.to_jsonb(record) returns jsonb language plpgsql
		as $$begin raise exception 'run by %', current_user; end$$;
		alter database ` + benchUser + ` set search_path = public, pg_catalog;`
	p := measured(t, "", suite.Server{Scale: "1"}, suite.Scenario{
		ID: 17, Name: "pg", Role: topology.Data, Runtime: time.Second,
		Postgres: &suite.Postgres{Script: strings.ReplaceAll(script, "\n", " "), Clients: []int{1, 1}, Transactions: 5},
	}, nil).Postgres
	if len(p.Failed) > 0 || len(p.Steps) != 2 || p.Steps[1].Transactions != 5 {
		t.Errorf("%v, %d levels", p.Failed, len(p.Steps))
	}
}

// What a statement's temporary files may take is bounded: a query of what is in force fails where it is not.
func TestTemporaryFilesAreBounded(t *testing.T) {
	need(t)
	const bounded = "select 1 / (setting::bigint > 0)::int from pg_settings where name = 'temp_file_limit';"
	p := measured(t, "", suite.Server{Scale: "1"}, suite.Scenario{
		ID: 17, Name: "pg", Role: topology.Data, Runtime: time.Second,
		Postgres: &suite.Postgres{Script: bounded, Clients: []int{1}, Transactions: 5},
	}, nil).Postgres
	if len(p.Failed) > 0 || len(p.Steps) != 1 || p.Steps[0].Transactions != 5 {
		t.Errorf("%v, %d levels", p.Failed, len(p.Steps))
	}
}

// Where the server's user can rename, root makes nothing that it gives away by its name.
func TestRunDirOfTheServersUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to another user")
	}
	theirs := t.TempDir()
	if err := os.Chown(theirs, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", theirs)
	dir, err := runDir(User{UID: 65534, GID: 65534})
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(dir.Name(), theirs) {
		t.Errorf("%s is made where user 65534 can put another", dir.Name())
	}
	if err := errors.Join(dir.Close(), os.RemoveAll(dir.Name())); err != nil {
		t.Error(err)
	}
}

// The directory of the server's socket is its user's, who may put one of his own there: it is known by who listens.
func TestSocketOfAnotherProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test's own
	conn, err := net.Dial("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test's own
	if err := listens(conn, os.Getpid()); err != nil {
		t.Error(err)
	}
	if err := listens(conn, os.Getppid()); err == nil || !strings.Contains(err.Error(), "listens at the server's socket") {
		t.Error(err)
	}
}

// A server's answers are read as far as they are answers.
func TestMeteredConnection(t *testing.T) {
	for read, ok := range map[float64]bool{0: true, float64(64 * units.MiB): true, float64(units.TiB): false} {
		ours, theirs := net.Pipe()
		m := &metered{Conn: ours, began: time.Now(), read: read}
		go func() { _, _ = theirs.Write([]byte("x")) }()
		n, err := m.Read(make([]byte, 1))
		if (err == nil && n == 1) != ok {
			t.Errorf("behind %v bytes: %d, %v", read, n, err)
		}
		if err := errors.Join(ours.Close(), theirs.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A statement of somebody else's that wants two gigabytes for each of two clients fails.
func TestMemoryOfStatementsIsBounded(t *testing.T) {
	need(t)
	data, wal := paths(t)
	sql := "select length(repeat('x', 1000000000) || repeat('y', 70000000));"
	res := faulted(t, data, wal, suite.Server{Scale: "1"}, 5*time.Second, sql, func(*session) {})
	invalid(t, res, "out of memory")
}

// What the server counts is kept by name where its version has it, and the settings that are shown are those
// that plimsoll gave, not what initdb wrote of the machine (review of 2026-11-26, M7, M11).
func TestWhatTheServerCounts(t *testing.T) {
	need(t)
	set := map[string]string{"shared_buffers": "1MB", "work_mem": "64kB"}
	for _, c := range []struct {
		load *suite.Postgres
		want []string
	}{
		{
			&suite.Postgres{Builtin: "simple-update", Clients: []int{2}},
			[]string{"blk_read_time", "n_tup_upd", "n_tup_hot_upd", "buffers_backend|backend_writes"},
		},
		{
			&suite.Postgres{
				Script:  "select count(*) from (select generate_series(1, 100000) g order by g desc) s;",
				Clients: []int{1},
			},
			[]string{"temp_files", "temp_bytes"},
		},
	} {
		p := measured(t, "", suite.Server{Scale: "5", Settings: set}, suite.Scenario{
			ID: 17, Name: "pg", Role: topology.Data, Runtime: 3 * time.Second, Postgres: c.load,
		}, nil).Postgres
		counted := p.Peak().Counted
		for _, names := range c.want {
			if !slices.ContainsFunc(strings.Split(names, "|"), func(name string) bool { return counted[name] > 0 }) {
				t.Errorf("%s: %s is not in %v", p.Version, names, counted)
			}
		}
		n := counted["n_tup_upd"]
		if n < counted["n_tup_hot_upd"] || c.load.Builtin != "" && n < p.Peak().Transactions {
			t.Errorf("%s: %v of %d transactions", p.Version, counted, p.Peak().Transactions)
		}
		paths := "config_file hba_file ident_file data_directory TimeZone log_timezone lc_messages"
		for _, s := range p.Settings {
			if slices.Contains(strings.Fields(paths), s.Name) {
				t.Errorf("%s: the setting %s=%s was not asked for", p.Version, s.Name, s.Value)
			}
		}
		if p.Setting("work_mem") != "64kB" || p.Setting("max_wal_size") == "" {
			t.Errorf("%s: settings %v", p.Version, p.Settings)
		}
	}
}
