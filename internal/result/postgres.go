package result

import (
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// Postgres is what a database server did in one scenario, and what was measured of its log around
// it.
type Postgres struct {
	Version  string        `json:"version"` // of the server: "15.18"
	Pgbench  string        `json:"pgbench,omitempty"`
	Bin      string        `json:"bin"`
	User     string        `json:"user"`
	FS       string        `json:"fs,omitempty"` // file systems of data and log
	Scale    int           `json:"scale,omitempty"`
	Database units.Bytes   `json:"database,omitempty"` // its size before the scenario
	Memory   units.Bytes   `json:"memory"`             // of the machine, or of the cgroup
	Cores    int           `json:"cores"`
	Confined bool          `json:"confined,omitempty"` // in a cgroup of that memory
	OneMount bool          `json:"one_mount,omitempty"`
	Apart    bool          `json:"apart,omitempty"` // two paths were given for data and log
	Others   []string      `json:"others,omitempty"`
	Script   string        `json:"script"` // builtin name, or the statement
	ReadOnly bool          `json:"read_only,omitempty"`
	Settings []PgSetting   `json:"settings,omitempty"`
	Before   SyncProbe     `json:"sync_before,omitzero"`
	After    SyncProbe     `json:"sync_after,omitzero"`
	Methods  []SyncMethod  `json:"sync_methods,omitempty"` // as pg_test_fsync ranks them
	Clock    time.Duration `json:"clock,omitempty"`        // of one reading, by pg_test_timing
	Steps    []PgStep      `json:"steps,omitempty"`
	// Failed says which collector failed: what it collects is missing.
	Failed []string `json:"failed,omitempty"`
	// MaxWAL and CheckpointTimeout are of the server, for how far checkpoints lie apart.
	MaxWAL            units.Bytes   `json:"max_wal_size,omitempty"`
	CheckpointTimeout time.Duration `json:"checkpoint_timeout,omitempty"`
}

// PgSetting is one that the server was given, or that decides what commits cost; Given where the user asked for it.
type PgSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Given bool   `json:"given,omitempty"`
}

// SyncProbe is fio's 8 KiB write and fdatasync, one at a time, on the log's file system.
type SyncProbe struct {
	Write units.Latency `json:"write"`
	Sync  units.Latency `json:"sync"`
	N     uint64        `json:"n"`
	// CPU is fio's own CPU time of one write and its sync: the part of S that is not the volume's.
	CPU units.Latency `json:"cpu,omitempty"`
	// Writes of the log's top device and Flushes of all below it meanwhile, where they were Counted.
	Writes  uint64 `json:"dev_writes,omitempty"`
	Flushes uint64 `json:"dev_flushes,omitempty"`
	Counted bool   `json:"dev_counted,omitempty"`
}

// S is the time of one write and its sync, 0 where it was not measured.
func (p SyncProbe) S() units.Latency { return p.Write + p.Sync }

// SyncMethod is one wal_sync_method with the mean time that pg_test_fsync prints. It ranks; it is
// never S.
type SyncMethod struct {
	Name string        `json:"name"`
	Mean units.Latency `json:"mean"`
}

// PgStep is one load at one number of clients.
type PgStep struct {
	Clients  int           `json:"clients"`
	Threads  int           `json:"threads"`
	Measured time.Duration `json:"measured"`

	Transactions uint64     `json:"transactions"`
	Aborted      uint64     `json:"failed"`
	Retried      uint64     `json:"retried,omitempty"`
	TPS          units.IOPS `json:"tps"` // transactions per second
	// Latency of a transaction; its histogram from pgbench's log, of Latency.N transactions of all.
	Latency fio.Latency `json:"latency"`
	Seconds []PgSecond  `json:"seconds,omitempty"`

	Syncs     uint64        `json:"wal_syncs"`
	SyncTime  time.Duration `json:"wal_sync_time"`
	WAL       units.Bytes   `json:"wal_bytes"`
	WALWrites uint64        `json:"wal_writes"`
	Records   uint64        `json:"wal_records"`
	Images    uint64        `json:"wal_fpi"` // full pages
	Hits      uint64        `json:"blks_hit"`
	Misses    uint64        `json:"blks_read"`
	Timed     uint64        `json:"checkpoints_timed"`
	Requested uint64        `json:"checkpoints_requested"`
	// Counted are other statistics of the server, by their names; times in ms.
	Counted map[string]uint64 `json:"counted,omitempty"`

	// Device I/O of the data path's top device.
	Reads      uint64      `json:"dev_reads"`
	Writes     uint64      `json:"dev_writes"`
	ReadBytes  units.Bytes `json:"dev_read_bytes"`
	WriteBytes units.Bytes `json:"dev_write_bytes"`

	ServerCPU  time.Duration `json:"server_cpu"`
	PgbenchCPU time.Duration `json:"pgbench_cpu"`
	Busy       float64       `json:"busy"` // of all cores, 0..1, all processes

	Waits       []WaitShare `json:"waits,omitempty"` // largest first
	WaitSamples int         `json:"wait_samples,omitempty"`
}

// PgSecond is what pgbench printed of one second, and what clients waited for in it.
type PgSecond struct {
	At      time.Duration `json:"at"`
	TPS     units.IOPS    `json:"tps"`
	Latency units.Latency `json:"latency"` // mean
	StdDev  units.Latency `json:"stddev,omitempty"`
	// P50 and P99 are of the transactions that pgbench logged; 0 where it logged none.
	P50    units.Latency  `json:"p50,omitempty"`
	P99    units.Latency  `json:"p99,omitempty"`
	Failed uint64         `json:"failed,omitempty"`
	Waits  map[string]int `json:"waits,omitempty"` // samples by event
}

// WaitShare is the part of all samples in which a client's session waited for an event; "CPU" for
// none.
type WaitShare struct {
	Event string  `json:"event"`
	Share float64 `json:"share"`
	N     int     `json:"n"`
}

// PageImage is what one full page of 8 KiB takes in the log, without compression.
const PageImage = 8021

// Peak is the step with the most transactions per second, nil where nothing ran.
func (p *Postgres) Peak() *PgStep {
	if p == nil {
		return nil
	}
	var best *PgStep
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Transactions > 0 && (best == nil || s.TPS > best.TPS) {
			best = s
		}
	}
	return best
}

// S is the mean of the probes before and after, and how far they differ as a share of the smaller;
// 0 where neither ran.
func (p *Postgres) S() (s units.Latency, apart float64) {
	a, b := p.Before.S(), p.After.S()
	switch {
	case a > 0 && b > 0:
		return (a + b) / 2, float64(max(a, b)/min(a, b)) - 1
	case a > 0:
		return a, 0
	}
	return b, 0
}

// CommitsWait says that transactions change something and that each commit waits until the log is
// synced. Without that the log's syncs, which the server makes now and then, bound nothing.
func (p *Postgres) CommitsWait() bool {
	return !p.ReadOnly && p.Setting("fsync") != "off" && p.Setting("synchronous_commit") != "off"
}

// WritesPerSync is how many writes of the log's device one synced write took while nothing else ran, at
// least 1: a filesystem may write of its own.
func (p *Postgres) WritesPerSync() float64 {
	most := 1.0
	for _, probe := range []SyncProbe{p.Before, p.After} {
		if probe.Counted && probe.N > 0 {
			most = max(most, float64(probe.Writes)/float64(probe.N))
		}
	}
	if most < 1.1 { // what else was written meanwhile
		return 1
	}
	return most
}

// MostWaiting is why sessions waited, with the share of samples in which they did.
type MostWaiting struct {
	Why   Wait
	Share float64
}

// Wait is a kind of wait events.
type Wait string

// The kinds of waits; the words stand in reports.
const (
	RowLocks      Wait = "row locks"
	BufferMapping Wait = "buffer mapping"
	LogInsert     Wait = "WAL insert locks"
	LogSync       Wait = "the log's sync"
	DataIO        Wait = "data I/O"
	TempFiles     Wait = "temporary files"
	Generator     Wait = "the client"
	Locks         Wait = "other locks"
	Elsewhere     Wait = "other waits"
)

// kindOf is what an event of pg_stat_activity waits for, "" for the CPU.
func kindOf(event string) Wait {
	kind, name, _ := strings.Cut(event, ":")
	switch {
	case event == "CPU":
		return ""
	case event == "Lock:transactionid" || event == "Lock:tuple" || event == "LWLock:LockManager":
		return RowLocks
	case strings.HasPrefix(name, "BufferMapping"):
		return BufferMapping
	case name == "WALInsert":
		return LogInsert
	case strings.HasPrefix(strings.ToUpper(name), "WAL"):
		return LogSync
	case strings.HasPrefix(name, "BufFile"): // storage/file/buffile.c, of temporary files alone
		return TempFiles
	case kind == "IO":
		return DataIO
	case kind == "Client":
		return Generator
	case kind == "Lock" || kind == "LWLock":
		return Locks
	}
	return Elsewhere
}

// ByKind are the shares of samples by what they waited for.
func (s *PgStep) ByKind() map[Wait]float64 {
	sums := map[Wait]float64{}
	for _, w := range s.Waits {
		sums[kindOf(w.Event)] += w.Share
	}
	return sums
}

// MostWaited is what most sessions of a step waited for; the client counts only where nothing else was
// waited for, since a session that has no processor yet waits for it, too.
func (s *PgStep) MostWaited() MostWaiting {
	var most MostWaiting
	sums := s.ByKind()
	for _, k := range []Wait{RowLocks, LogSync, DataIO, TempFiles, LogInsert, BufferMapping, Locks, Elsewhere} {
		if sums[k] > most.Share {
			most = MostWaiting{k, sums[k]}
		}
	}
	if most.Share == 0 && sums[Generator] > 0 {
		return MostWaiting{Generator, sums[Generator]}
	}
	return most
}

// CommitCPU is the CPU time of one transaction outside of the log's sync: of the server and pgbench
// together, and of the longer one alone, which is what remains where each works on a core of its
// own while the other ends its part. The CPU time of a sync itself is part of S already, since fio
// needs it as well, and is shared by the commits of the sync. 0 where nothing is known.
func (p *Postgres) CommitCPU(s *PgStep) (both, longer units.Latency) {
	inSync := p.Before.CPU
	if p.Before.CPU > 0 && p.After.CPU > 0 {
		inSync = (p.Before.CPU + p.After.CPU) / 2
	}
	server := max(s.per(float64(s.ServerCPU)-float64(inSync)*float64(s.Syncs)), 0)
	pgbench := s.per(float64(s.PgbenchCPU))
	return units.Latency(server + pgbench), units.Latency(max(server, pgbench))
}

// Setting is the value of a setting that differs from PostgreSQL's default, "" for one that has it.
func (p *Postgres) Setting(name string) string {
	for _, s := range p.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

func (s *PgStep) per(n float64) float64 { return over(n, float64(s.Transactions)) }

// CommitsPerSync is how many transactions shared one flush of the log; 0 where none was flushed.
func (s *PgStep) CommitsPerSync() float64 { return over(float64(s.Transactions), float64(s.Syncs)) }

// SyncMean is the mean time of one sync of the log, by the server's own clock.
func (s *PgStep) SyncMean() units.Latency {
	return units.Latency(over(float64(s.SyncTime), float64(s.Syncs)))
}

// SyncBusy is the part of the time in which a sync was under way, 0..1.
func (s *PgStep) SyncBusy() float64 { return min(over(s.SyncTime.Seconds(), s.Measured.Seconds()), 1) }

// WALPerTx is the log's bytes per transaction, ImagesPerTx the full pages among them.
func (s *PgStep) WALPerTx() units.Bytes { return units.Bytes(s.per(float64(s.WAL)) + 0.5) }

// ImagesPerTx is the full pages a transaction that went to the log.
func (s *PgStep) ImagesPerTx() float64 { return s.per(float64(s.Images)) }

// DeviceIOs is the I/Os of the data device a transaction.
func (s *PgStep) DeviceIOs() float64 { return s.per(float64(s.Reads + s.Writes)) }

// DeviceReads is the reads of the data device a transaction.
func (s *PgStep) DeviceReads() float64 { return s.per(float64(s.Reads)) }

// CPUPerTx is the server's CPU time a transaction.
func (s *PgStep) CPUPerTx() time.Duration { return time.Duration(s.per(float64(s.ServerCPU))) }

// HitShare is the part of block reads that the server's own buffers answered.
func (s *PgStep) HitShare() float64 { return over(float64(s.Hits), float64(s.Hits+s.Misses)) }

// RecoverySeconds is the time to read so much log at a rate; what is replayed meanwhile is not
// known.
func RecoverySeconds(wal units.Bytes, rate units.Rate) time.Duration {
	return time.Duration(over(float64(wal), float64(rate)) * float64(time.Second))
}

// LogForTimeout is the max_wal_size at which checkpoints come by checkpoint_timeout at a rate of
// WAL: PostgreSQL starts one by WAL when max_wal_size / (1 + checkpoint_completion_target) has been
// written, whose default is 0.9 since 14.
func LogForTimeout(rate units.Rate, timeout time.Duration) units.Bytes {
	return units.Bytes(float64(rate) * timeout.Seconds() * 1.9)
}
