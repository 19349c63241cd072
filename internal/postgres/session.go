package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// session is a server with what was measured around its scenarios.
type session struct {
	*server
	devices []string
	scale   int // loaded; 0 for no tables
	last    result.SyncProbe
	lastAt  time.Time
	methods []result.SyncMethod
	clock   time.Duration
}

// Check refuses what would fail later: it works out how the server would be set up, and writes
// nothing.
func Check(ctx context.Context, _ *sys.Machine, site permit.Site) error {
	_, err := planFor(ctx, site)
	return err
}

func planFor(ctx context.Context, site permit.Site) (*plan, error) {
	p := &plan{memory: site.Server.Memory}
	var err error
	if site.Data.Device != nil || site.WAL.Device != nil {
		return nil, errors.New("PostgreSQL needs directories: --data and --wal name a device")
	}
	if err = onDisks(site.Topology); err != nil {
		return nil, err
	}
	if err = checkSettings(site.Server.Settings); err != nil {
		return nil, err
	}
	if p.scale, err = scaleOf(site.Server.Scale); err != nil {
		return nil, err
	}
	if p.user, err = UserFor(site.Server.User, site.Data.Path); err != nil {
		return nil, err
	}
	if p.install, err = Find(ctx, p.user, site.Server.Bin); err != nil {
		return nil, err
	}
	for _, path := range []string{site.Data.Path, site.WAL.Path} {
		if err := p.user.enters(path); err != nil {
			return nil, err
		}
		if err := permit.DatabaseWay(path, p.user.UID); err != nil {
			return nil, err
		}
	}
	if p.memory == 0 {
		p.memory = site.Topology.Host.Memory
	}
	p.clients, p.data = clientsOf(site.Scenarios)
	if err := p.space(site); err != nil {
		return nil, err
	}
	p.settings(site.Server)
	return p, nil
}

// unfit are filesystems on which a synced write says nothing of a volume.
var unfit = map[string]string{
	"tmpfs":   "memory: a sync writes nothing there",
	"ramfs":   "memory: a sync writes nothing there",
	"overlay": "a container's own layers: mount a volume for the database",
	"nfs":     "another host's: a sync measures the network and that host",
	"nfs4":    "another host's: a sync measures the network and that host",
}

// onDisks refuses paths on what is no volume of this machine.
func onDisks(t *topology.Topology) error {
	for _, role := range topology.Roles {
		at := t.For(role)
		if at == nil || at.Mount == nil {
			continue
		}
		if why := unfit[at.Mount.FS]; why != "" {
			return fmt.Errorf("%s is on %s, which is %s; name a path on a disk", at.Path, at.Mount.FS, why)
		}
	}
	return nil
}

// Measure runs one scenario, keeps its files, fills its result, and calls with each second as it goes by.
type Measure = func(context.Context, suite.Scenario, *sys.Dir, *result.Result, func(result.PgSecond)) error

// Open starts a server on the site. It returns what measures one scenario, and what stops the
// server and removes everything. preload is a library for the server, from tests; empty for none.
func Open(m *sys.Machine, preload string) func(context.Context, permit.Site) (Measure, func() error, error) {
	return func(ctx context.Context, site permit.Site) (Measure, func() error, error) {
		p, err := planFor(ctx, site)
		if err != nil {
			return nil, nil, err
		}
		s := &session{server: &server{plan: p, site: site, preload: preload, m: m}}
		for _, role := range topology.Roles {
			if t := site.Topology.For(role); t != nil {
				for _, d := range t.Devices {
					if !slices.Contains(s.devices, d) {
						s.devices = append(s.devices, d)
					}
				}
			}
		}
		site.Note(fmt.Sprintf("PostgreSQL %s from %s runs as %s", p.install.Version, p.install.Bin, p.user.Name))
		if err := s.start(ctx); err != nil {
			return nil, nil, errors.Join(err, s.stop())
		}
		return s.measure, s.stop, nil
	}
}

// measure runs one scenario. What goes wrong with the server makes the result invalid; an error is
// plimsoll's own.
func (s *session) measure(
	ctx context.Context,
	c suite.Scenario,
	out *sys.Dir,
	res *result.Result,
	tick func(result.PgSecond),
) error {
	pg := &result.Postgres{
		Version:  s.install.Version,
		Pgbench:  s.install.Pgbench,
		Bin:      s.install.Bin,
		User:     s.user.Name,
		Memory:   s.memory,
		Confined: s.site.Server.Memory > 0,
		Cores:    runtime.NumCPU(),
		FS:       fileSystems(s.site.Topology),
		ReadOnly: c.Postgres.ReadOnly(),
		Script:   cmp.Or(c.Postgres.Builtin, c.Postgres.Script),
		Apart:    !s.site.Data.Same(s.site.WAL),
		OneMount: s.oneDevice(),
		MaxWAL:   s.maxWAL,
		Others:   otherServers(s.started.PID, s.site),
	}
	res.Postgres = pg
	err := s.inside(ctx, c, out, pg, tick)
	res.Wall = s.m.Now().Sub(res.Start)
	for _, step := range pg.Steps {
		res.Measured += step.Measured
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		res.Invalidate(text.FirstLine(text.Clean(err.Error(), 600)))
	}
	s.noteShared()
	if s.dead() { // the record is that of a server which is gone; where the result does not say so, stop does
		s.mourned = err != nil
		return nil
	}
	return s.keep()
}

func (s *session) inside(
	ctx context.Context,
	c suite.Scenario,
	out *sys.Dir,
	pg *result.Postgres,
	tick func(result.PgSecond),
) error {
	if s.dead() {
		return fmt.Errorf("the server has ended: %s", s.complaint())
	}
	if c.Postgres.Builtin != "" {
		if err := s.load(ctx); err != nil {
			return err
		}
	}
	if err := s.describe(ctx, pg); err != nil {
		return err
	}
	if c.Postgres.Probes() {
		if err := s.rank(ctx); err != nil {
			pg.Failed = append(pg.Failed, err.Error())
		}
	}
	pg.Methods, pg.Clock = s.methods, s.clock
	var err error
	if !pg.ReadOnly {
		if pg.Before, err = s.before(ctx); err != nil {
			return err
		}
	}
	runtime := c.Runtime
	for _, clients := range c.Postgres.Clients {
		l := load{clients: clients, threads: threads(clients), runtime: runtime, Postgres: c.Postgres}
		l.sampling = sampling(fastest(c.Postgres), runtime)
		if err := s.step(ctx, l, out, pg, tick); err != nil {
			return err
		}
	}
	if pg.ReadOnly {
		return nil
	}
	if pg.After, err = s.probe(ctx); err != nil {
		return err
	}
	s.last, s.lastAt = pg.After, s.m.Now()
	return nil
}

// before is the probe right before a scenario: that after the one before, where it is fresh.
func (s *session) before(ctx context.Context) (result.SyncProbe, error) {
	if s.last.N > 0 && s.m.Now().Sub(s.lastAt) < probeFresh {
		return s.last, nil
	}
	return s.probe(ctx)
}

// load fills pgbench's tables, once.
func (s *session) load(ctx context.Context) error {
	if s.scale > 0 {
		return nil
	}
	n := s.plan.scale
	if n == 0 {
		s.site.Note("loading a small data set, to see how fast that is")
		begun := s.m.Now()
		if err := s.initialise(ctx, trialScale); err != nil {
			return err
		}
		n = s.autoScale(s.m.Now().Sub(begun), s.site.Server.Quick)
	}
	s.site.Note(fmt.Sprintf("loading pgbench's tables at scale %d, %v", n, units.Bytes(n)*unit))
	if err := s.initialise(ctx, n); err != nil {
		return err
	}
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the server ends it
	if _, err := conn.Exec(ctx, "checkpoint"); err != nil {
		return err
	}
	s.scale = n
	return nil
}

func (s *session) initialise(ctx context.Context, scale int) error {
	argv := []string{s.install.program("pgbench"), "-i", "-q", "-s", strconv.Itoa(scale), "-U", benchUser, benchUser}
	if _, err := s.child(argv...).Run(ctx, 24*time.Hour); err != nil {
		if s.dead() {
			return fmt.Errorf("the server ended while its tables were loaded: %s", s.complaint())
		}
		return fmt.Errorf("the tables could not be loaded: %w", err)
	}
	return nil
}

// describe reads the settings that the server was started with, and the size of the database.
func (s *session) describe(ctx context.Context, pg *result.Postgres) error {
	conn, err := s.connect(ctx, benchUser)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the server ends it
	pg.Scale = s.scale
	var size, maxWAL, timeout int64
	err = conn.QueryRow(
		ctx,
		`select pg_database_size(current_database()), pg_size_bytes(current_setting('max_wal_size')),
		extract(epoch from current_setting('checkpoint_timeout')::interval)::bigint`,
	).Scan(&size, &maxWAL, &timeout)
	if err != nil {
		return err
	}
	pg.Database, pg.MaxWAL = units.Bytes(size), units.Bytes(maxWAL)
	pg.CheckpointTimeout = time.Duration(timeout) * time.Second
	rows, err := conn.Query(
		ctx,
		// The others are initdb's: paths and the language of the machine.
		`select name, current_setting(name) from pg_settings where source = 'command line' and name not in
		('listen_addresses', 'port', 'unix_socket_directories', 'unix_socket_permissions') or name in
		('data_checksums', 'fsync', 'autovacuum', 'wal_segment_size') order by 1`,
	)
	if err != nil {
		return err
	}
	for rows.Next() {
		var set result.PgSetting
		if err := rows.Scan(&set.Name, &set.Value); err != nil {
			return err
		}
		_, set.Given = s.site.Server.Settings[set.Name]
		pg.Settings = append(pg.Settings, set)
	}
	return rows.Err()
}

// rank runs pg_test_fsync on the log's path and pg_test_timing, once, as the server's user. They
// rank methods; they are never S.
func (s *session) rank(ctx context.Context) error {
	if s.methods != nil {
		return nil
	}
	dir, err := s.site.WAL.MakeDatabase("pg-test", s.user.UID, s.user.GID)
	if err != nil {
		return err
	}
	seconds := "2"
	if s.site.Server.Quick {
		seconds = "1"
	}
	printed := func(program string, args ...string) (string, error) {
		if _, err := os.Stat(s.install.program(program)); err != nil {
			s.site.Note(program + " is not installed: left out")
			return "", nil
		}
		argv := append([]string{s.install.program(program)}, args...)
		return s.child(argv...).Output(ctx, 3*time.Minute)
	}
	methods, err := printed("pg_test_fsync", "-s", seconds, "-f", filepath.Join(dir, "fsync"))
	if err != nil {
		return err
	}
	s.methods = parseTestFsync(methods)
	clock, err := printed("pg_test_timing", "-d", "1")
	s.clock = parseTestTiming(clock)
	return err
}

// oneDevice says that data and log are on one device or array.
func (s *session) oneDevice() bool {
	data, wal := s.site.Topology.For(topology.Data), s.site.Topology.For(topology.WAL)
	if data == nil || wal == nil {
		return false
	}
	return data.Device != "" && data.Device == wal.Device || sameDevice(data.Path, wal.Path)
}

func sameDevice(a, b string) bool {
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && sys.Device(one) == sys.Device(two)
}

// otherServers are PostgreSQL servers whose data directory is on the volumes that are measured: they and
// their sessions work in it, however it was named to them.
func otherServers(own int, site permit.Site) []string {
	var found []string
	ours := sys.Descendants(own)
	for _, pid := range sys.Descendants(1) {
		exe, err := sys.ExeOf(pid)
		if err != nil || filepath.Base(exe) != "postgres" || slices.Contains(ours, pid) {
			continue
		}
		at := fmt.Sprintf("/proc/%d/cwd", pid)
		dir, _ := os.Readlink(at) // it may have ended
		for _, p := range []*permit.Place{site.Data, site.WAL} {
			if sameDevice(at, p.Path) && !slices.Contains(found, dir) {
				found = append(found, dir)
			}
		}
	}
	return found
}
