// Package postgres has the rules PL7xx: a PostgreSQL server on the measured volumes.
package postgres

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Rules are all of PL7xx.
func Rules() []*diagnose.Rule {
	return []*diagnose.Rule{
		commitsLimit,
		generatorLimits,
		fullPages,
		logOnData,
		fitsMemory,
		cliff,
		doubtfulCommits,
		requestedCheckpoints,
		notDurable,
		otherServer,
		databaseBelow,
		rowLocks,
	}
}

// base is a database's measurement with the load that reached the most.
type base struct {
	diagnose.Measurement
	*result.Postgres
	peak *result.PgStep
}

// databases are the runs of a database that have figures.
func databases(c *diagnose.Case) []base {
	var all []base
	for _, m := range c.Runs {
		if m.Result == nil || m.Result.Postgres == nil || m.Result.State == result.Interrupted {
			continue
		}
		all = append(all, base{m, m.Result.Postgres, m.Result.Postgres.Peak()})
	}
	return all
}

// peaks are the databases in which transactions ran.
func peaks(c *diagnose.Case) []base {
	return slices.DeleteFunc(databases(c), func(b base) bool { return b.peak == nil })
}

func (b base) finding(message string, args ...any) finding.Finding {
	return finding.Finding{Subject: b.Label(), Scenarios: b.IDs(), Message: fmt.Sprintf(message, args...)}
}

const (
	// commitShare of the upper expected rate, and commitWaits of all waits for the log, are group
	// commit at work: in the controlled test seven of eight loads lay above 0.77 of it.
	commitShare = 0.66
	commitWaits = 0.60
	// imagesShare of the log's bytes are full pages.
	imagesShare = 0.50
	// idleReads a transaction and fewer never reached the device.
	idleReads = 0.01
	// cliffShare is the rate of the last third next to the first.
	cliffShare = 0.75
	// syncsApart is how far the probes before and after may differ.
	syncsApart = 0.20
)

var commitsLimit = &diagnose.Rule{
	Code:     "PL701",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "limited by the latency of commits",
	When: "A database reaches at least 66 % of c / (2 S) commits per second (c clients, S for one synced " +
		"write; c / (S + C) where the CPU time C of a commit is longer, or with one client), and at " +
		"least 60 % of its waits are for the log (WALWrite, WALSync).",
	Why: "A flush of the log carries about half of the clients' commits. Only its latency and the number " +
		"of clients change the figure.",
	Fix: "Use more clients, a log volume of lower latency such as io2, or synchronous_commit=off where a " +
		"crash may lose transactions.",
	Bad:    "16 clients, S = 2.293 ms: 2,849 TPS of 2,326 to 3,489 expected, WALWrite 78 % of waits",
	Good:   "the same with 64 clients: more commits share each flush",
	Ignore: "When the rate is enough, or in pg-commit.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			s, apart := b.S()
			m := ceiling.CommitsIn(b.Postgres, b.peak)
			if apart > syncsApart || b.peak.TPS > m.Bound { // S is not known: PL707
				continue
			}
			waited := b.peak.Waited("LWLock:WALWrite", "IO:WALSync", "IO:WalSync", "LWLock:WALInsert")
			if b.ReadOnly || m.High <= 0 || b.peak.TPS < commitShare*m.High || waited < commitWaits {
				continue
			}
			f := b.finding("%v TPS with %s are what group commit allows at %v a synced write (%v to %v).", b.peak.TPS,
				text.Plural(b.peak.Clients, "client"), s, m.Low, m.High)
			f.Evidence = []finding.Evidence{
				{What: "one synced write (S)", Found: s.String(), Where: "fio, right before and after"},
				{
					What:     "commits per sync",
					Found:    units.Number(b.peak.CommitsPerSync()),
					Expected: fmt.Sprintf("about %s", units.Number(float64(b.peak.Clients)/2)),
					Where:    "statistics of the server",
				},
				{What: "waits for the log", Found: text.Percent(waited), Where: "pg_stat_activity"},
			}
			report(f)
		}
	},
}

var generatorLimits = &diagnose.Rule{
	Code:     "PL702",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "limited by the load generator",
	When:     "pgbench uses at least 90 % of the CPU time that its threads can have.",
	Why:      "The figure is pgbench's, not the server's.",
	Fix:      "Use more cores or fewer clients: the storage is not the limit.",
	Bad:      "1 thread, 32 clients: pgbench uses 97 % of a core",
	Good:     "2 threads, 32 clients: pgbench uses 21 % of two cores, the server the rest",
	Ignore:   "When only the cost of commits matters.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			limits, use := ceiling.Generated(b.peak)
			if !limits {
				continue
			}
			f := b.finding("With %s, pgbench used %s of its threads' CPU time.", text.Plural(b.peak.Clients, "client"),
				text.Percent(use))
			f.Evidence = []finding.Evidence{
				{
					What:  "pgbench",
					Found: fmt.Sprintf("%s of %s", text.Percent(use), text.Plural(b.peak.Threads, "thread")),
					Where: "/proc",
				},
				{What: "machine", Found: text.Percent(b.peak.Busy) + " busy", Where: "/proc/stat"},
			}
			report(f)
		}
	},
}

// foreign says that other processes took much of a machine on which no core was free.
func foreign(b base) bool {
	return b.peak.Busy >= diagnose.HostFull && otherCPU(b.Postgres, b.peak) >= diagnose.ForeignCPU*float64(b.Cores)
}

var fullPages = &diagnose.Rule{
	Code:     "PL703",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "full-page images are most of the WAL",
	When: "At least half of the WAL's bytes are full-page images, which the server writes at the first change " +
		"of a page after a checkpoint.",
	Why: "They multiply the log: 7,920 bytes per transaction right after a checkpoint, 276 without them " +
		"(pgbench's simple-update).",
	Fix: "Space checkpoints further apart (max_wal_size, checkpoint_timeout), or compare with " +
		"wal_compression=lz4: `plimsoll run pg-checkpoint --pg-set wal_compression=lz4`.",
	Bad:    "7,920 bytes of WAL a transaction, 0.95 full pages each",
	Good:   "1,328 bytes with wal_compression=lz4",
	Ignore: "In pg-checkpoint, which is to show it.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			bytes := float64(b.peak.WAL)
			share := min(float64(b.peak.Images)*imageBytes(b), bytes) / max(bytes, 1)
			if b.ReadOnly || b.peak.Images == 0 || share < imagesShare || b.peak.ImagesPerTx() < 0.01 {
				continue
			}
			f := b.finding("%s of the WAL is full-page images: %v of WAL per transaction, with %s full pages.",
				text.Percent(share), b.peak.WALPerTx(), units.Number(b.peak.ImagesPerTx()))
			f.Evidence = []finding.Evidence{
				{
					What:  "full pages",
					Found: fmt.Sprintf("%s × %s", text.Count(b.peak.Images), units.Bytes(imageBytes(b))),
					Where: "pg_stat_wal",
				},
				{
					What:  "log",
					Found: fmt.Sprintf("%v in %s transactions", b.peak.WAL, text.Count(b.peak.Transactions)),
					Where: "pg_stat_wal",
				},
			}
			report(f)
		}
	},
}

// imageBytes is what a full page takes: without compression 8,021 bytes; with it, what is left of
// the log after records of 100 bytes is the most that can be concluded.
func imageBytes(b base) float64 {
	if v := b.Setting("wal_compression"); v == "" || v == "off" {
		return result.PageImage
	}
	const record = 100
	return max(float64(b.peak.WAL)-record*float64(b.peak.Records), 0) / float64(max(b.peak.Images, 1))
}

var logOnData = &diagnose.Rule{
	Code:     "PL704",
	Since:    "0.2",
	Severity: finding.Fail,
	Title:    "log and data share a device although two paths were given",
	When:     "--data and --wal name two directories, and both are on one device, array or filesystem.",
	Why:      "Every sync of the log waits for the data's writes.",
	Fix:      "Mount the log's own volume there, or name one path for both.",
	Bad:      "--data /data --wal /data/wal",
	Good:     "--data /data --wal /wal, each with a volume of its own",
	Ignore:   "When the separation is only prepared.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range databases(c) {
			if !b.Apart || !b.OneMount {
				continue
			}
			f := b.finding("The paths of data and log are on one device.")
			f.Subject, f.Scenarios = "data and log", nil
			for _, o := range databases(c) {
				f.Scenarios = append(f.Scenarios, o.IDs()...)
			}
			report(f)
			return
		}
	},
}

var fitsMemory = &diagnose.Rule{
	Code:     "PL705",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "the data fits in memory: its volumes were not tested",
	When: "A database with tables is smaller than memory, and fewer than 1 % of transactions read from the " +
		"device.",
	Why:    "The page cache answered; the data volumes were hardly read.",
	Fix:    "Use a larger --pg-scale, or limit server and page cache with --pg-memory.",
	Bad:    "1.5 GiB of data on 32 GiB of memory",
	Good:   "--pg-scale 64GiB, or --pg-memory 1GiB",
	Ignore: "When your database fits in memory too.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			if b.Scale == 0 || b.Database >= b.Memory || b.peak.DeviceReads() >= idleReads {
				continue
			}
			f := b.finding("%v of data fit in %v of memory: %s device reads per transaction.", b.Database, b.Memory,
				units.Number(b.peak.DeviceReads()))
			f.Evidence = []finding.Evidence{
				{
					What:     "database",
					Found:    b.Database.String(),
					Expected: "more than " + b.Memory.String(),
					Where:    "pg_database_size",
				},
			}
			report(f)
		}
	},
}

var cliff = &diagnose.Rule{
	Code:     "PL706",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "transactions fell during the run",
	When: "The last third of a load of at least 12 s has less than 75 % of the first third's transactions " +
		"per second.",
	Why: "The first part measured a cache, a burst or the time before a checkpoint. A published run fell " +
		"from 34,856 to 17,296 after 15 s, when its data outgrew the cache.",
	Fix:    "Run longer (--runtime 10m) and quote the last part; look at its waits and checkpoints.",
	Bad:    "34,856 TPS, then 17,296",
	Good:   "17,300 TPS from beginning to end",
	Ignore: "Never.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			var series []float64
			for _, s := range b.peak.Seconds {
				series = append(series, float64(s.TPS))
			}
			third := len(series) / 3
			if third < 4 {
				continue
			}
			first, last := mean(series[:third]), mean(series[len(series)-third:])
			if first <= 0 || last >= cliffShare*first {
				continue
			}
			f := b.finding("%v TPS in the first third, %v in the last.", units.IOPS(first), units.IOPS(last))
			for _, p := range stats.ChangePoints(series) {
				if p.After < p.Before {
					f.Evidence = append(f.Evidence, finding.Evidence{
						What:     fmt.Sprintf("from second %d on", p.At+1),
						Found:    fmt.Sprintf("%v TPS", units.IOPS(p.After)),
						Expected: fmt.Sprintf("%v as before", units.IOPS(p.Before)),
						Where:    "pgbench",
					})
				}
			}
			if n := b.peak.Timed + b.peak.Requested; n > 0 {
				f.Evidence = append(f.Evidence,
					finding.Evidence{What: "checkpoints during the load", Found: text.Count(n), Where: "statistics of the server"})
			}
			report(f)
		}
	},
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(len(xs), 1))
}

var doubtfulCommits = &diagnose.Rule{
	Code:     "PL707",
	Since:    "0.2",
	Severity: finding.Invalid,
	Title:    "the database's figures cannot be trusted",
	When: "One synced write took 20 % more or less after the scenario than before, transactions failed, an " +
		"observer of the server failed, other processes used 30 % of all cores while 95 % were busy, or more than " +
		"105 % of the smallest bound was measured.",
	Why: "The bound assumes that the sync time S stays constant.",
	Fix: "Find what else uses the log volume, wait for its burst credits to recover, and repeat the " +
		"scenario.",
	Bad:    "S 0.23 ms before and 3.4 ms after",
	Good:   "S 1.858 ms before and 1.91 ms after",
	Ignore: "Never; commits per sync and WAL per transaction remain valid.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range databases(c) {
			var why []string
			if _, apart := b.S(); apart > syncsApart && !b.ReadOnly {
				why = append(why, fmt.Sprintf("one synced write took %v before and %v after (%s apart)", b.Before.S(), b.After.S(),
					text.Percent(apart)))
			}
			for _, s := range b.Steps {
				if s.Aborted > 0 {
					why = append(why,
						fmt.Sprintf("%s failed with %s", text.Plural(s.Aborted, "transaction"), text.Plural(s.Clients, "client")))
				}
			}
			if b.peak != nil && foreign(b) {
				why = append(why, fmt.Sprintf("other processes used %s of %s, and none was free",
					units.Number(otherCPU(b.Postgres, b.peak)), text.Plural(b.Cores, "core")))
			}
			if limit := boundOf(b); limit != nil && b.peak.TPS > mostShare*limit.IOPS {
				why = append(why, fmt.Sprintf("%v TPS are %s of the %v that %s allows (%s), so that this is not what limits",
					b.peak.TPS, text.Percent(float64(b.peak.TPS/limit.IOPS)), limit.IOPS, limit.Label(), limit.How))
			}
			why = append(why, b.Postgres.Failed...)
			if len(why) > 0 {
				report(b.finding("%s", text.Sentence(strings.Join(why, "; "))))
			}
		}
	},
}

// mostShare of a bound is what can be measured where it holds, with the errors of both.
const mostShare = 1.05

// boundOf is the smallest bound on what was measured at the peak, nil where there is none.
func boundOf(b base) *ceiling.Bound {
	if b.Ceiling == nil || b.peak == nil {
		return nil
	}
	return b.Ceiling.Binding()
}

var requestedCheckpoints = &diagnose.Rule{
	Code:     "PL708",
	Since:    "0.2",
	Severity: finding.Info,
	Title:    "checkpoints came by WAL, not by time",
	When:     "In a scenario that asks for none, more checkpoints were requested than timed.",
	Why:      "max_wal_size is small for this rate: early checkpoints write more full pages to the log.",
	Fix: "Raise max_wal_size to the rate of WAL × checkpoint_timeout × 1.9 (see the report's table of " +
		"checkpoints), if recovery may take as long.",
	Bad:    "3 requested, 0 timed in a minute",
	Good:   "0 requested, 1 timed",
	Ignore: "When recovery must be short.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			if b.peak.Requested <= b.peak.Timed || b.Scenario.Postgres != nil && b.Scenario.Postgres.Checkpoint {
				continue
			}
			rate := units.Rate(float64(b.peak.WAL) / max(b.peak.Measured.Seconds(), 1e-9))
			f := b.finding("%s by WAL and %d by time at %v of WAL: for one each %s max_wal_size would be %v.",
				text.Plural(b.peak.Requested, "checkpoint"), b.peak.Timed, rate, text.Duration(b.CheckpointTimeout),
				result.LogForTimeout(rate, b.CheckpointTimeout))
			report(f)
		}
	},
}

var notDurable = &diagnose.Rule{
	Code:     "PL709",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "commits are not durable with these settings",
	When: "fsync or synchronous_commit is off, or full_page_writes is off on a filesystem that does not copy " +
		"on write (not zfs, btrfs or bcachefs). Invalid where the syncs of the log reached no drive (PL215).",
	Why: "Commits, or the whole database, may be lost when the power fails.",
	Fix: "Compare only with figures of the same settings, and do not plan with this one unless you accept " +
		"the loss.",
	Bad:    "--pg-set fsync=off",
	Good:   "the settings as plimsoll sets them",
	Ignore: "In an experiment that shows what durability costs.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range databases(c) {
			var off []string
			for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
				copies := strings.Contains(b.FS, "zfs") || strings.Contains(b.FS, "btrfs") ||
					strings.Contains(b.FS, "bcachefs")
				if b.Setting(name) == "off" && (name != "full_page_writes" || !copies) {
					off = append(off, name)
				}
			}
			if u, ok := c.Unflushed(b.Measurement); ok {
				f := b.finding("The figure is not one of durable commits: %s", u.Sentence())
				f.Severity, f.Evidence = finding.Invalid, u.Evidence()
				report(f)
			}
			if len(off) > 0 {
				report(b.finding("%s off: the figure is not one of durable commits.", text.List(off)))
			}
		}
	},
}

var otherServer = &diagnose.Rule{
	Code: "PL710", Since: "0.2", Severity: finding.Warn,
	Title: "another PostgreSQL runs on the same volumes",
	When:  "Another server has its data directory on a measured volume.",
	Why:   "Its I/O is in the figures, and the run's is in its latencies.",
	Fix:   "Stop it for the test, or measure on other volumes.",
	Bad:   "postgres -D /data/main next to --data /data", Good: "no other server on /data",
	Ignore: "When it is idle.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range databases(c) {
			if len(b.Others) == 0 {
				continue
			}
			f := b.finding("Another PostgreSQL runs on these volumes: %s.", text.Some(b.Others, 3))
			f.Subject, f.Scenarios = strings.Join(b.Others, ", "), nil
			report(f)
			return
		}
	},
}

// lockShare of the samples is where locks on rows are what most sessions wait for.
const lockShare = 0.5

var rowLocks = &diagnose.Rule{
	Code:     "PL712",
	Since:    "0.3",
	Severity: finding.Warn,
	Title:    "limited by row locks",
	When: "At least half of the samples wait for another transaction's row (Lock:transactionid, Lock:tuple, " +
		"LockManager).",
	Why: "Each transaction of TPC-B updates one of as many branches as the scale says: with more clients than branches " +
		"they wait for each other, and neither storage nor CPU is measured. Source: PostgreSQL's pgbench, Good Practices " +
		"(\"scale factor should be at least as large as the largest number of clients\", 2026-11-26).",
	Fix:    "Use a scale of at least the number of clients.",
	Bad:    "--pg-scale 1 --pg-clients 50: transactionid 77 %, tuple 9 % of samples",
	Good:   "--pg-scale 100 --pg-clients 50",
	Ignore: "When contention is what you measure.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, b := range peaks(c) {
			w := b.peak.MostWaited()
			if w.Why != result.RowLocks || w.Share < lockShare {
				continue
			}
			f := b.finding("%s of the samples wait for rows that another transaction has changed.", text.Percent(w.Share))
			f.Evidence = []finding.Evidence{
				{What: "waits for row locks", Found: text.Percent(w.Share), Where: "pg_stat_activity"},
			}
			if b.Scale > 0 && b.Scale < b.peak.Clients {
				f.Message = fmt.Sprintf("Row locks: %s on %s. %s", text.Plural(b.peak.Clients, "client"),
					text.Plural(b.Scale, "branch", "branches"), f.Message)
				f.Evidence = append(f.Evidence, finding.Evidence{
					What: "scale", Found: text.Count(b.Scale), Expected: fmt.Sprintf("at least %d", b.peak.Clients), Where: "pgbench",
				})
			}
			report(f)
		}
	},
}
