package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"plimsoll/internal/permit"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	port        = "54321" // names the socket only: there is no TCP
	longestPath = 90      // of a socket's directory: 107 bytes less /.s.PGSQL.54321
	superuser   = "plimsoll"
	benchUser   = "pgbench"
	startWithin = time.Minute
	stopWithin  = 30 * time.Second
)

// server is a PostgreSQL of our own that runs.
type server struct {
	*plan
	site    permit.Site
	record  permit.Server
	run     *sys.Dir // record.Run, which is the server's user's: root goes by the handle, never by names
	started *sys.Started
	preload string
	mourned bool // a result says that it ended by itself
	m       *sys.Machine
}

// environment of everything that runs as the server's user: nothing of the caller's.
func (s *server) environment() []string {
	env := []string{
		"PATH=" + s.install.Bin + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=" + s.record.Run,
		"PGHOST=" + s.record.Run, "PGPORT=" + port,
	}
	if s.preload != "" {
		env = append(env, "LD_PRELOAD="+s.preload)
	}
	return env
}

func (s *server) child(argv ...string) sys.Child {
	return sys.Child{Argv: argv, Dir: s.record.Run, Env: s.environment(), UID: s.user.UID, GID: s.user.GID}
}

// runDir makes a private directory for the socket and for pgbench's logs.
func runDir(u User) (*sys.Dir, error) {
	name, err := sys.TempDir("pg", u.enters, func(dir string) error { // permit.RunPrefix begins its name
		if len(dir) > longestPath-len(permit.RunPrefix)-sys.TempNameLimit {
			return fmt.Errorf("%s is too long for a socket in it", dir)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dir, err := sys.OpenOwnDir(name)
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	if int(u.UID) != os.Geteuid() {
		if err := dir.Give(u.UID, u.GID); err != nil {
			return nil, errors.Join(err, dir.Close(), os.Remove(name))
		}
	}
	return dir, nil
}

// start makes the directories, initialises the database and starts the server. What it made is
// removed by stop, also after an error.
func (s *server) start(ctx context.Context) error {
	var err error
	if s.run, err = runDir(s.user); err != nil {
		return err
	}
	s.record.Run, s.record.UID = s.run.Name(), s.user.UID
	if s.record.Data, err = s.site.Data.MakeDatabase("pg-data", s.user.UID, s.user.GID); err != nil {
		return err
	}
	wal, err := s.site.WAL.MakeDatabase("pg-wal", s.user.UID, s.user.GID)
	if err != nil {
		return err
	}
	if err := s.keep(); err != nil {
		return err
	}
	maker := s.child(initdb(s.install.program("initdb"), s.record.Data, wal)...)
	maker.Apart = true                                          // it starts servers that know nothing of launch's settings
	if _, err := maker.Output(ctx, 5*time.Minute); err != nil { // what prints without end is ended
		return fmt.Errorf("the database could not be made: %w", err)
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// keep writes the record to both folders.
func (s *server) keep() error {
	return errors.Join(s.site.Data.RecordServer(s.record), s.site.WAL.RecordServer(s.record))
}

// initdb is the command that makes a cluster with its log on a path of its own.
func initdb(program, data, wal string) []string {
	return []string{
		program, "-D", data, "--waldir=" + wal, "-U", superuser,
		"--auth=trust", "--no-locale", "-E", "UTF8", "--no-sync", "--no-clean", "--data-checksums",
	}
}

// launch starts the server itself and waits until it answers.
func (s *server) launch(ctx context.Context) error {
	if err := sys.CheckProgram(s.install.program("postgres"), s.user.UID); err != nil {
		return err
	}
	argv := []string{ // shared buffers are no data of a process's own
		"/bin/sh", "-c", `ulimit -d "$1" && shift && exec "$@"`, "sh", strconv.FormatUint(uint64(s.private/units.KiB), 10),
		s.install.program("postgres"), "-D", s.record.Data,
	}
	for _, set := range append(slices.Clone(s.set), setting{"listen_addresses", "", false}, setting{"port", port, false},
		setting{"unix_socket_directories", s.record.Run, false}, setting{"unix_socket_permissions", "0700", false},
		// Shared memory that has a name outside of plimsoll's folders would stay when all is killed.
		setting{"dynamic_shared_memory_type", "mmap", false},
		// A server that went through a crash is not the one that was measured before: it ends.
		setting{"restart_after_crash", "off", false}) {
		argv = append(argv, "-c", set.name+"="+set.value)
	}
	var err error
	if s.started, err = s.child(argv...).Start(); err != nil {
		return err
	}
	s.record.PID, s.record.Start = s.started.PID, s.started.Start
	if s.record.Exe, err = sys.ExeOf(s.started.PID); err != nil {
		s.record.Exe = s.install.program("postgres")
	}
	if err := s.keep(); err != nil {
		return err
	}
	if s.site.Server.Memory > 0 {
		if s.record.Cgroup, err = confine(s.started.PID, s.site.Server.Memory); err != nil {
			return err
		}
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	// The program's file is certain only now: right after the start it may still have been
	// plimsoll's own.
	if exe, err := sys.ExeOf(s.started.PID); err == nil {
		s.record.Exe = exe
	}
	s.noteShared()
	return s.keep()
}

// await waits until the server answers.
func (s *server) await(ctx context.Context) error {
	deadline := time.Now().Add(startWithin)
	for {
		conn, err := s.connect(ctx, "postgres")
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.started.Ended():
			return fmt.Errorf("the server did not start: %s", s.complaint())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server did not answer within %s: %w", text.Duration(startWithin), err)
		}
	}
}

// complaint is what the server printed of an error.
func (s *server) complaint() string {
	var found []string
	for line := range strings.Lines(s.started.Stderr()) {
		for _, level := range []string{"FATAL:", "PANIC:", "ERROR:"} {
			_, said, ok := strings.Cut(line, level)
			said = strings.TrimSpace(said)
			if ok && !slices.Contains(found, said) && !strings.HasSuffix(said, "is starting up") {
				found = append(found, said)
			}
		}
		if _, said, ok := strings.Cut(line, "LOG:"); ok && strings.Contains(said, "was terminated by signal") {
			found = append(found, strings.TrimSpace(said))
		}
	}
	if len(found) == 0 {
		return ended(s.started.Err())
	}
	return text.Clean(strings.Join(found[max(0, len(found)-3):], "; "), 400)
}

// ended is how a program ended that printed no error.
func ended(err error) string {
	if err == nil {
		return "the program ended with 0 and printed no error"
	}
	return err.Error()
}

// connect begins a session of the superuser. What a suite's statements made goes by none of its names,
// whatever they set for their database.
func (s *server) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(
		fmt.Sprintf("host=%s port=%s user=%s dbname=%s sslmode=disable connect_timeout=5 application_name=plimsoll "+
			"search_path=pg_catalog", s.record.Run, port, superuser, database),
	)
	if err != nil {
		return nil, err
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := listens(conn, s.record.PID); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return &metered{Conn: conn, began: time.Now()}, nil
	}
	return pgx.ConnectConfig(ctx, config)
}

// metered ends a connection that brings more than plimsoll asked for: the server is another user's.
type metered struct {
	net.Conn
	began time.Time
	read  float64
}

func (m *metered) Read(p []byte) (int, error) {
	const most, perSecond = float64(64 * units.MiB), float64(units.MiB)
	if m.read > most+perSecond*time.Since(m.began).Seconds() {
		return 0, errors.New("the server sends more than it was asked for")
	}
	n, err := m.Conn.Read(p)
	m.read += float64(n)
	return n, err
}

// listens refuses a socket at which another process than the server listens: its directory is the server's user's, who
// can put one of his own there.
func listens(conn net.Conn, pid int) error {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("the server's socket is no socket of this machine")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) // of who called listen(2): unix(7)
	})
	switch {
	case err != nil || failed != nil:
		return errors.Join(err, failed)
	case int(peer.Pid) != pid:
		return fmt.Errorf("process %d listens at the server's socket, not the server (process %d)", peer.Pid, pid)
	}
	return nil
}

// prepare makes pgbench's own role and database: a suite's statements do not run as a superuser.
func (s *server) prepare(ctx context.Context) error {
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the server ends it
	for _, sql := range []string{
		"create role " + benchUser + " login",
		"create database " + benchUser + " owner " + benchUser,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

var sharedMemory = regexp.MustCompile(`/dev/shm/(PostgreSQL\.[0-9]+)`)

// noteShared adds to the record what the server holds outside of its directories.
func (s *server) noteShared() {
	for _, pid := range sys.Descendants(s.started.PID) {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			continue // it may have ended
		}
		for _, m := range sharedMemory.FindAllSubmatch(maps, -1) {
			s.record.SharedMemory = text.Once(s.record.SharedMemory, string(m[1]))
		}
	}
	if pidFile, err := sys.ReadFile(filepath.Join(s.record.Data, "postmaster.pid"), 4096); err == nil {
		s.record.AddSegment(strings.Split(string(pidFile), "\n"))
	}
}

// stop ends the server, kindly first, and removes everything that start made. What cannot be removed
// from the places, as on a device that fails, is left to whoever removes their other files.
func (s *server) stop() error {
	var failed error
	if s.started != nil {
		failed = s.end()
	}
	s.record.Sweep()
	if s.run != nil {
		failed = errors.Join(failed, s.run.Close())
	}
	for _, p := range []*permit.Place{s.site.Data, s.site.WAL} {
		_ = p.RemoveDatabase()
	}
	return failed
}

// end asks for a fast shutdown, then an immediate one; a server that is gone already is an error,
// unless a result says so.
func (s *server) end() error {
	select {
	case <-s.started.Ended():
		s.started.Kill()
		if s.mourned {
			return nil
		}
		return fmt.Errorf("the server had ended: %s", s.complaint())
	default:
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		s.started.Signal(sig)
		select {
		case <-s.started.Ended():
			s.started.Kill() // what is left in its group: nothing, unless it was killed
			return nil
		case <-time.After(stopWithin):
		}
	}
	return fmt.Errorf("the server (process %d) does not end: look at dmesg", s.started.PID)
}

// dead says that the server has ended by itself.
func (s *server) dead() bool {
	select {
	case <-s.started.Ended():
		return true
	default:
		return false
	}
}

// dies waits a moment for the end of a server whose clients have failed: it ends after its
// sessions.
func (s *server) dies() bool {
	select {
	case <-s.started.Ended():
		return true
	case <-time.After(3 * time.Second):
		return false
	}
}

// clientsOf are the most clients of any scenario.
func clientsOf(scenarios []suite.Scenario) (clients int, data bool) {
	for _, c := range scenarios {
		if c.Postgres != nil {
			for _, n := range c.Postgres.Clients {
				clients = max(clients, n)
			}
			data = data || c.Postgres.Builtin != ""
		}
	}
	return clients, data
}

// fileSystems names those of data and log.
func fileSystems(t *topology.Topology) string {
	var names []string
	for _, role := range topology.Roles {
		if target := t.For(role); target != nil && target.Mount != nil && !slices.Contains(names, target.Mount.FS) {
			names = append(names, target.Mount.FS)
		}
	}
	return strings.Join(names, ", ")
}

// confine puts a process, and what it will start, into a control group of its own with so much
// memory, the page cache of its files included. It returns the group's directory.
func confine(pid int, memory units.Bytes) (string, error) {
	if dir := "/sys/fs/cgroup"; hasMemory(dir + "/cgroup.subtree_control") {
		return group(dir, pid, map[string]string{"memory.max": fmt.Sprint(uint64(memory)), "memory.swap.max": "0"})
	}
	if dir := "/sys/fs/cgroup/memory"; sys.Exists(dir + "/memory.limit_in_bytes") {
		return group(dir, pid, map[string]string{"memory.limit_in_bytes": fmt.Sprint(uint64(memory))})
	}
	return "", fmt.Errorf("--pg-memory needs a control group with a memory limit, and none can be made below " +
		"/sys/fs/cgroup: run as root on the host itself, or choose a larger --pg-scale")
}

func hasMemory(file string) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.Contains(" "+strings.TrimSpace(string(data))+" ", " memory ")
}

func group(parent string, pid int, limits map[string]string) (string, error) {
	dir := filepath.Join(parent, permit.CgroupPrefix+strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("--pg-memory: %w", err)
	}
	for name, value := range limits {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil &&
			name != "memory.swap.max" { // no swap: no such file
			return dir, fmt.Errorf("--pg-memory: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		return dir, fmt.Errorf("--pg-memory: %w", err)
	}
	return dir, nil
}
