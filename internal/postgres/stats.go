package postgres

import (
	"bytes"
	"context"
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

// counters are the server's statistics at one moment. Those that a version lacks are 0.
type counters struct {
	Commits, Hits, Misses int64
	Records, Images, WAL  int64
	WALWrites, Syncs      int64
	SyncMS                float64
	Timed, Requested      int64
}

// queries are the statistics by version: 14 to 17 have the log's writes and syncs in pg_stat_wal,
// 18 in pg_stat_io; from 17 on checkpoints have a view of their own.
func queries(major int) []string {
	wal := `select wal_records, wal_fpi, wal_bytes::bigint, wal_write, wal_sync, wal_sync_time from pg_stat_wal`
	switch {
	case major >= 18:
		wal = `select w.wal_records, w.wal_fpi, w.wal_bytes::bigint, i.writes, i.fsyncs, i.fsync_time from pg_stat_wal w,
			(select coalesce(sum(writes), 0)::bigint as writes, coalesce(sum(fsyncs), 0)::bigint as fsyncs,
			coalesce(sum(fsync_time), 0)::float8 as fsync_time from pg_stat_io where object = 'wal') i`
	case major < 14:
		wal = `select 0::bigint, 0::bigint, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, 0::bigint, 0::bigint, 0::float8`
	}
	checkpoints := `select checkpoints_timed, checkpoints_req from pg_stat_bgwriter`
	if major >= 17 {
		checkpoints = `select num_timed, num_requested from pg_stat_checkpointer`
	}
	return []string{
		`select xact_commit, blks_hit, blks_read from pg_stat_database where datname = '` + benchUser + `'`,
		wal,
		checkpoints,
	}
}

func (s *server) counters(ctx context.Context, conn *pgx.Conn) (counters, error) {
	var c counters
	q := queries(s.install.Major)
	for i, to := range [][]any{
		{&c.Commits, &c.Hits, &c.Misses},
		{&c.Records, &c.Images, &c.WAL, &c.WALWrites, &c.Syncs, &c.SyncMS},
		{&c.Timed, &c.Requested},
	} {
		if err := conn.QueryRow(ctx, q[i]).Scan(to...); err != nil {
			return c, fmt.Errorf("statistics of the server: %w", err)
		}
	}
	return c, nil
}

// into fills a step with what was counted between two moments.
func (c counters) into(s *result.PgStep, before counters) {
	diff := func(a, b int64) uint64 { return uint64(max(a-b, 0)) }
	s.Hits, s.Misses = diff(c.Hits, before.Hits), diff(c.Misses, before.Misses)
	s.Records, s.Images = diff(c.Records, before.Records), diff(c.Images, before.Images)
	s.WAL, s.WALWrites = units.Bytes(diff(c.WAL, before.WAL)), diff(c.WALWrites, before.WALWrites)
	s.Syncs, s.SyncTime = diff(c.Syncs, before.Syncs), time.Duration((c.SyncMS-before.SyncMS)*1e6)
	s.Timed, s.Requested = diff(c.Timed, before.Timed), diff(c.Requested, before.Requested)
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
		w.all[event] += n
		w.seconds[second][event] += n
		return nil
	})
	w.samples++
	return err
}

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

// cpuTicks reads utime + stime and cutime + cstime of /proc/PID/stat: proc_pid_stat(5).
func cpuTicks(text []byte) (own, waited uint64) {
	field := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(field) < 15 {
		return 0, 0
	}
	var n [4]uint64
	for i := range n {
		n[i], _ = strconv.ParseUint(field[11+i], 10, 62) // 0 for what is no number
	}
	return n[0] + n[1], n[2] + n[3]
}
