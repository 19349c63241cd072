package postgres

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// volume makes a file system of its own on a loop device.
func volume(t *testing.T, size units.Bytes) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: no file system can be mounted")
	}
	dir, err := os.MkdirTemp("", "pg-volume-") //nolint:usetesting // the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := filepath.Join(dir, "mnt")
	script := fmt.Sprintf("truncate -s %d %s/img && mkfs.ext4 -q %[2]s/img && mkdir %[2]s/mnt && mount -o loop %[2]s/img %[2]s/mnt", size, dir)
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Skipf("NO LOOP DEVICE: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", at).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(at, 0o755)); err != nil {
		t.Fatal(err)
	}
	return at
}

// faulted runs a load on a server to which fault happens in the load's first second. It returns the
// result after everything was stopped, and nothing may be left.
func faulted(
	t *testing.T, data, wal string, of suite.Server, runtime time.Duration, sql string, fault func(*session),
) *result.Result {
	t.Helper()
	of.Quick = true
	c := suite.Scenario{Name: "fault", Role: topology.WAL, Runtime: runtime, Postgres: &suite.Postgres{Script: sql, Clients: []int{2}}}
	site, err := siteAt(t.Context(), data, wal, of, c)
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
	out, err := sys.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() //nolint:errcheck // only a handle
	res := &result.Result{State: result.Done, Start: time.Now()}
	var once sync.Once
	err = s.measure(t.Context(), c, out, res, func(result.PgSecond) { once.Do(func() { fault(s) }) })
	stopErr := s.stop()
	if err != nil {
		t.Error(err)
	}
	if ended := strings.Contains(strings.Join(res.Reasons, " "), "the server ended"); ended && stopErr != nil {
		t.Errorf("the result says that the server ended, and stop, too: %v", stopErr)
	}
	if s.record.Cgroup != "" {
		if _, err := os.Stat(s.record.Cgroup); err == nil {
			t.Errorf("%s is left", s.record.Cgroup)
		}
	}
	nothingLeft(t, s.record, data, wal)
	t.Logf("%s: %q; stopped: %v", res.State, res.Reasons, stopErr)
	return res
}

// invalid expects a result that says why.
func invalid(t *testing.T, res *result.Result, want string) {
	t.Helper()
	if res.State != result.Invalid || !strings.Contains(strings.Join(res.Reasons, " "), want) {
		t.Errorf("%s: %q, want invalid and %q", res.State, res.Reasons, want)
	}
}

// A path of the log that fills up in the middle of a load makes the scenario invalid, with the
// server's own words; what filled it stays.
func TestLogPathFillsUp(t *testing.T) {
	need(t)
	t.Parallel() // it measures nothing
	data, _ := paths(t)
	wal := volume(t, 8*units.GiB) // of which little is written
	other := filepath.Join(wal, "somebody's")
	small := suite.Server{Settings: map[string]string{"max_wal_size": "20GB"}}
	site, err := siteAt(t.Context(), data, wal, small, commits(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), sys.Host(), site); err == nil || !strings.Contains(err.Error(), "the log needs") {
		t.Errorf("too little space: %v", err) // before initdb
	}
	site.Data.Close()
	site.WAL.Close()
	for _, dir := range []string{data, wal} { // the lock of this test
		if err := os.RemoveAll(filepath.Join(dir, ".plimsoll")); err != nil {
			t.Fatal(err)
		}
	}
	small.Settings["max_wal_size"] = "128MB"
	// Or a load that is slower than its checkpoints lives on segments that are there already, or on the
	// space of those that they remove, and never fills the path.
	small.Settings["wal_recycle"], small.Settings["wal_keep_size"] = "off", "4GB"
	// The load ends with the server; until the log is full a busy machine may take long.
	res := faulted(t, data, wal, small, 2*time.Minute, "select pg_logical_emit_message(true, 'x', repeat('x', 500000));", func(*session) {
		if err := fillUp(wal, other); err != nil {
			t.Error(err)
		}
	})
	invalid(t, res, "No space left on device")
	if info, err := os.Stat(other); err != nil || info.Size() < 500<<20 {
		t.Errorf("what was there: %v %v", info, err)
	}
}

// fillUp makes a file that leaves less than a segment of the log takes.
func fillUp(dir, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for left := int64(4 << 20); left < 256<<20; left += 16 << 20 { // the server takes some meanwhile
		var at unix.Statfs_t
		if err = unix.Statfs(dir, &at); err == nil {
			err = unix.Fallocate(int(f.Fd()), 0, 0, int64(at.Bavail)*at.Bsize-left)
		}
		if err == nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// A server that is killed in the middle of a load, whole or a session of it, leaves nothing.
func TestServerIsKilled(t *testing.T) {
	need(t)
	t.Parallel() // it measures nothing
	const sql = "select pg_logical_emit_message(true, 'x', 'y');"
	for name, fault := range map[string]func(*session){
		"postmaster": func(s *session) { _ = syscall.Kill(s.started.PID, syscall.SIGKILL) },
		"session": func(s *session) {
			for _, pid := range sys.Descendants(s.started.PID) {
				if title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(title), ": "+benchUser+" "+benchUser) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					return
				}
			}
			t.Error("no session was found")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, wal := paths(t)
			res := faulted(t, data, wal, suite.Server{}, 10*time.Second, sql, fault)
			invalid(t, res, "the server ended during the run")
			if name == "session" {
				invalid(t, res, "was terminated by signal 9")
			}
		})
	}
}

// A collector that fails is shown, and the load's figures with it.
func TestCollectorFails(t *testing.T) {
	need(t)
	t.Parallel() // it measures nothing
	data, wal := paths(t)
	res := faulted(t, data, wal, suite.Server{}, 10*time.Second, "select pg_logical_emit_message(true, 'x', 'y');", func(s *session) {
		conn, err := s.connect(t.Context(), "postgres")
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(t.Context()) //nolint:errcheck // the server ends it
		tag, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where query like '%wait_event_type || %' and pid <> pg_backend_pid()`)
		if err != nil || tag.RowsAffected() != 1 {
			t.Error(tag, err)
		}
	})
	if res.State != result.Done || len(res.Postgres.Failed) != 1 || !strings.Contains(res.Postgres.Failed[0], "wait events") {
		t.Errorf("%s %q, failed: %q", res.State, res.Reasons, res.Postgres.Failed)
	}
}

// memoryCgroup skips where no control group with a memory limit can be made.
func memoryCgroup(t *testing.T) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := confine(cmd.Process.Pid, 64*units.MiB)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil {
		t.Skipf("NO CONTROL GROUP: %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
}

// --pg-memory holds the server and its page cache, so that a small data set is read from the
// device; one that needs more is ended by the kernel, and the scenario is invalid.
func TestMemoryIsHeld(t *testing.T) {
	need(t)
	t.Parallel() // it measures nothing
	memoryCgroup(t)
	const limit = 160 * units.MiB
	t.Run("reads reach the device", func(t *testing.T) {
		data, wal := paths(t)
		of := suite.Server{Memory: limit, Scale: "25", Settings: map[string]string{"max_wal_size": "256MB"}, Quick: true}
		c := suite.Scenario{
			Name: "pg-select", Role: topology.Data, Runtime: 4 * time.Second,
			Postgres: &suite.Postgres{Builtin: "select-only", Clients: []int{2}},
		}
		site, err := siteAt(t.Context(), data, wal, of, c)
		if err != nil {
			t.Fatal(err)
		}
		measure, stop, err := Open(sys.Host(), "")(t.Context(), site)
		if err != nil {
			t.Fatal(err)
		}
		record := recordIn(t, data)
		out, err := sys.OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close() //nolint:errcheck // only a handle
		res := &result.Result{State: result.Done, Start: time.Now()}
		err = measure(t.Context(), c, out, res, func(result.PgSecond) {})
		most, held := most(t, record.Cgroup), inGroup(t, record)
		if err := errors.Join(err, stop()); err != nil {
			t.Fatal(err)
		}
		nothingLeft(t, record, data, wal)
		step := res.Postgres.Peak()
		if step == nil {
			t.Fatal(res.State, res.Reasons)
		}
		t.Logf("%v of data in %v: at most %v were used, %.2f device reads per transaction, %v", res.Postgres.Database, limit, most,
			step.DeviceReads(), step.TPS)
		// The kernel charges in batches a CPU, so that the highest use may be some pages above the
		// limit.
		if most > limit+limit/100 || most < limit/2 || !held {
			t.Errorf("%v of memory were used, want at most %v; in the group: %v", most, limit, held)
		}
		if !res.Postgres.Confined || res.Postgres.Memory != limit || res.Postgres.Database < 2*limit {
			t.Errorf("confined %v, memory %v, database %v", res.Postgres.Confined, res.Postgres.Memory, res.Postgres.Database)
		}
		if step.DeviceReads() < 0.2 {
			t.Errorf("%.3f device reads per transaction: memory answered", step.DeviceReads())
		}
	})
	t.Run("out of memory", func(t *testing.T) {
		data, wal := paths(t)
		of := suite.Server{Memory: limit, Settings: map[string]string{"max_wal_size": "256MB", "work_mem": "2GB"}}
		res := faulted(t, data, wal, of, 10*time.Second,
			"select count(*) from (select repeat('x', 1000) || g from generate_series(1, 1000000) g order by 1) s;", func(*session) {})
		invalid(t, res, "signal 9")
	})
}

// most is the most memory that a control group has used.
func most(t *testing.T, dir string) units.Bytes {
	t.Helper()
	for _, name := range []string{"memory.peak", "memory.max_usage_in_bytes", "memory.current"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return units.Bytes(n)
		}
	}
	t.Fatalf("%s has no figure of its memory", dir)
	return 0
}

func inGroup(t *testing.T, s permit.Server) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Cgroup, "cgroup.procs"))
	if err != nil {
		t.Error(err)
	}
	return strings.Contains("\n"+string(text), fmt.Sprintf("\n%d\n", s.PID))
}

// Another server on the same volumes is found, and stays as it is: its process and its files.
func TestAnotherServerStays(t *testing.T) {
	need(t)
	other := opened(t, suite.Server{Settings: map[string]string{"autovacuum": "off", "bgwriter_lru_maxpages": "0"}})
	conn, err := other.connect(t.Context(), "postgres")
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "checkpoint")
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	before := contents(t, other.record.Data)
	c := commits(1)
	c.Runtime = time.Second
	res := measured(t, "", suite.Server{}, c, nil)
	// Servers of other tests may be at work on the same volume: they are named, too.
	if found := res.Postgres.Others; !slices.Contains(found, other.record.Data) {
		t.Errorf("other servers: %q, want %s among them", found, other.record.Data)
	}
	if other.dead() {
		t.Error("the other server has ended")
	}
	after := contents(t, other.record.Data)
	maps.DeleteFunc(after, func(name string, sum [sha256.Size]byte) bool {
		was, known := before[name]
		delete(before, name)
		return known && was == sum
	})
	if len(before) > 0 || len(after) > 0 {
		t.Errorf("of the other server %q went, and %q are new or changed", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// contents are the digests of a server's files, without those that it changes while nobody uses it.
func contents(t *testing.T, dir string) map[string][sha256.Size]byte {
	t.Helper()
	of := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "pg_stat") {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || d.Name() == "pg_internal.init" {
			return nil
		}
		text, err := os.ReadFile(name)
		of[name] = sha256.Sum256(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// Where a sync says nothing of a volume no server is started, and the socket's directory is found
// where TMPDIR is private or too long.
func TestPlacesThatDoNotDo(t *testing.T) {
	need(t)
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: no file system can be mounted")
	}
	base, err := os.MkdirTemp("", "pg-unfit-") //nolint:usetesting // the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base) //nolint:errcheck // a small directory
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(base, "mnt")
	for name, mount := range map[string]string{
		"tmpfs":   "mount -t tmpfs -o size=4G tmpfs mnt",
		"overlay": "mkdir lower upper work && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay mnt",
	} {
		cmd := exec.Command("sh", "-c", "mkdir -p mnt && "+mount)
		if cmd.Dir = base; cmd.Run() != nil {
			t.Errorf("NO %s can be mounted", name)
			continue
		}
		data, wal := filepath.Join(at, "data"), filepath.Join(at, "wal")
		if err := errors.Join(os.Mkdir(data, 0o755), os.Mkdir(wal, 0o755)); err != nil {
			t.Fatal(err)
		}
		site, err := siteAt(t.Context(), data, wal, suite.Server{}, commits(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(t.Context(), sys.Host(), site); err == nil || !strings.Contains(err.Error(), "is on "+name) {
			t.Errorf("%s: %v", name, err)
		}
		site.Data.Close()
		site.WAL.Close()
		if out, err := exec.Command("umount", "-l", at).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	private, anybodys, theirs := filepath.Join(base, "private"), filepath.Join(base, "anybodys"), filepath.Join(base, "theirs")
	for _, dir := range []string{private, anybodys, theirs, filepath.Join(base, strings.Repeat("long/", 25))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		switch dir { // PostgreSQL's programs, and pgbench's script, are reached by names below it
		case anybodys:
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		case theirs:
			if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, 7, 7)); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("TMPDIR", dir)
		run, err := runDir(User{Name: "nobody", UID: 65534, GID: 65534})
		if err != nil {
			t.Fatalf("TMPDIR=%s: %v", dir, err)
		}
		if filepath.Dir(run.Name()) != "/tmp" {
			t.Errorf("TMPDIR=%s: %s", dir, run.Name())
		}
		_ = errors.Join(run.Close(), os.Remove(run.Name()))
	}
}

// A server that has its directory from PGDATA, as images start it, is found as one with -D is; the sessions of
// plimsoll's own are not (review of 2026-11-26, S9).
func TestServerOfPGDATA(t *testing.T) {
	need(t)
	s := opened(t, suite.Server{})
	dir, err := s.site.Data.MakeDatabase("pg-test", s.user.UID, s.user.GID)
	if err != nil {
		t.Fatal(err)
	}
	maker := s.child(s.install.program("initdb"), "-D", dir, "-U", superuser, "--auth=trust", "--no-sync")
	maker.Apart = true
	if _, err := maker.Output(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	found := otherServers(s.started.PID, s.site)
	if slices.Contains(found, s.record.Data) || slices.Contains(found, dir) {
		t.Fatalf("before it starts: %q", found)
	}
	c := s.child(s.install.program("postgres"), "-c", "listen_addresses=", "-c", "unix_socket_directories="+dir,
		"-c", "dynamic_shared_memory_type=mmap")
	c.Env = append(c.Env, "PGDATA="+dir)
	other, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Kill()
	late := time.After(time.Minute)
	for !slices.Contains(otherServers(s.started.PID, s.site), dir) {
		select {
		case <-other.Ended():
			t.Fatalf("it ended: %s", other.Stderr())
		case <-late:
			t.Fatal("it is not found")
		default:
		}
	}
	if found := otherServers(s.started.PID, s.site); slices.Contains(found, s.record.Data) {
		t.Errorf("plimsoll's own is named: %q", found)
	}
}
