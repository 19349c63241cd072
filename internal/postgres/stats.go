package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/internal/result"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// counters are the server's statistics at one moment, by the names of their columns.
type counters map[string]float64

// views are where the statistics are, the first version that has each, and what stands before the names of
// its columns, where several have the same.
var views = []struct {
	since    int
	of, name string
}{
	{0, "pg_stat_database where datname = '" + benchUser + "'", ""},
	{0, "pg_stat_bgwriter", ""},
	{0, "pg_stat_user_tables", ""},
	{0, "(select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as lsn) l", ""},
	{14, "pg_stat_wal", ""},
	{16, "pg_stat_io where object = 'relation' and backend_type = 'client backend'", "backend_"},
	{17, "pg_stat_checkpointer", "checkpoint_"},
	{18, "pg_stat_io where object = 'wal'", "wal_io_"},
}

// query has a row for each number in the views of a version.
func query(major int) string {
	var all []string
	for _, v := range views {
		if major >= v.since {
			all = append(all, "select '"+v.name+"' || k as k, v from (select * from "+v.of+
				") s, jsonb_each_text(to_jsonb(s)) e(k, v)")
		}
	}
	return "select k, sum(v::float8) from (" + strings.Join(all, " union all ") + ") e where v ~ '^[0-9.]+$' group by k"
}

func (s *server) counters(ctx context.Context, conn *pgx.Conn) (counters, error) {
	c := counters{}
	rows, err := conn.Query(ctx, query(s.install.Major))
	if err != nil {
		return c, fmt.Errorf("statistics of the server: %w", err)
	}
	var name string
	var value float64
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		c[name] = value
		return nil
	})
	return c, err
}

// shown are the statistics that are kept by their names, where a version has them and they are not 0;
// times are in ms.
var shown = strings.Fields(`
	blk_read_time blk_write_time temp_files temp_bytes n_tup_upd n_tup_hot_upd autovacuum_count
	wal_buffers_full checkpoint_write_time checkpoint_sync_time buffers_backend
	buffers_backend_fsync backend_writes backend_fsyncs`)

// into fills a step with what was counted between two moments.
func (c counters) into(s *result.PgStep, before counters) {
	diff := func(names ...string) float64 { // of the first that the version has
		for _, name := range names {
			if now, has := c[name]; has {
				return max(now-before[name], 0)
			}
		}
		return 0
	}
	count := func(names ...string) uint64 { return uint64(diff(names...)) }
	s.Hits, s.Misses = count("blks_hit"), count("blks_read")
	s.Records, s.Images = count("wal_records"), count("wal_fpi")
	s.WAL, s.WALWrites = units.Bytes(count("wal_bytes", "lsn")), count("wal_write", "wal_io_writes")
	s.Syncs = count("wal_sync", "wal_io_fsyncs")
	s.SyncTime = time.Duration(diff("wal_sync_time", "wal_io_fsync_time") * float64(time.Millisecond))
	s.Timed = count("checkpoints_timed", "checkpoint_num_timed")
	s.Requested = count("checkpoints_req", "checkpoint_num_requested")
	s.Counted = map[string]uint64{}
	for _, name := range shown {
		if n := count(name); n > 0 {
			s.Counted[name] = n
		}
	}
}

// waitQuery counts pgbench's sessions by what they wait for; "CPU" for those that wait for nothing.
const waitQuery = `select coalesce(wait_event_type || ':' || wait_event, 'CPU'), count(*) from pg_stat_activity
	where application_name = 'pgbench' and backend_type = 'client backend' group by 1`

// waits samples what sessions wait for, ten times a second, until it is stopped.
type waits struct {
	all     map[string]int
	seconds []map[string]int // by second since the start
	samples int
	err     error
	cancel  context.CancelFunc
	done    chan struct{}
}

const waitEvery = 100 * time.Millisecond

func (s *server) sampleWaits(ctx context.Context) (*waits, error) {
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &waits{all: map[string]int{}, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer conn.Close(context.Background()) //nolint:errcheck // the server ends it
		tick := time.NewTicker(waitEvery)
		defer tick.Stop()
		begun := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := w.sample(ctx, conn, int(time.Since(begun).Seconds())); err != nil && ctx.Err() == nil {
				w.err = fmt.Errorf("wait events: %w", err)
				return
			}
		}
	}()
	return w, nil
}

func (w *waits) sample(ctx context.Context, conn *pgx.Conn, second int) error {
	rows, err := conn.Query(ctx, waitQuery)
	if err != nil {
		return err
	}
	for len(w.seconds) <= second {
		w.seconds = append(w.seconds, map[string]int{})
	}
	var event string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&event, &n}, func() error {
		if len(w.all) >= mostWaits || len(event) > mostWaits {
			return errors.New("the server names more waits than PostgreSQL has")
		}
		w.all[event] += n
		w.seconds[second][event] += n
		return nil
	})
	w.samples++
	return err
}

// mostWaits is more than PostgreSQL has kinds of waits, or characters in the name of one.
const mostWaits = 1000

// stop ends the sampling and returns its error.
func (w *waits) stop() error {
	w.cancel()
	<-w.done
	return w.err
}

// treeCPU is the CPU time that a process, what descends from it, and the children that it has
// waited for have used.
func treeCPU(pid int) time.Duration {
	var ticks uint64
	for i, p := range sys.Descendants(pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			continue
		}
		own, waited := cpuTicks(text)
		ticks += own
		if i == 0 { // backends that ended
			ticks += waited
		}
	}
	return time.Duration(ticks) * time.Second / clockTicks
}

// clockTicks a second in /proc: USER_HZ, which Linux fixes at 100.
const clockTicks = 100

// cpuTicks reads utime + stime and cutime + cstime of /proc/PID/stat.
func cpuTicks(text []byte) (own, waited uint64) {
	field := sys.StatFields(text)
	if len(field) < 15 {
		return 0, 0
	}
	var n [4]uint64
	for i := range n {
		n[i], _ = strconv.ParseUint(field[11+i], 10, 62) // 0 for what is no number
	}
	return n[0] + n[1], n[2] + n[3]
}
