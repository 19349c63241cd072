// Package postgres has the rules PL7xx: a PostgreSQL server on the measured volumes.
package postgres

import (
	"fmt"
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
	return finding.Rules(diagnose.Checks{
		"PL701": peaks(commitsLimit),
		"PL702": peaks(generatorLimits),
		"PL703": peaks(fullPages),
		"PL704": logOnData,
		"PL705": peaks(fitsMemory),
		"PL706": peaks(cliff),
		"PL707": doubtfulCommits,
		"PL708": peaks(requestedCheckpoints),
		"PL709": notDurable,
		"PL710": otherServer,
		"PL711": peaks(databaseBelow),
		"PL712": peaks(rowLocks),
	})
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
		if m.Result == nil || m.Postgres == nil || m.State == result.Interrupted {
			continue
		}
		all = append(all, base{m, m.Postgres, m.Postgres.Peak()})
	}
	return all
}

// peaks is a check of each database in which transactions ran. What has no message is no finding.
func peaks(look func(base) finding.Finding) diagnose.Check {
	return func(c *diagnose.Case, report diagnose.Report) {
		for _, b := range databases(c) {
			if b.peak == nil {
				continue
			}
			if f := look(b); f.Message != "" {
				report(f)
			}
		}
	}
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

func commitsLimit(b base) (f finding.Finding) {
	s, apart := b.S()
	m := ceiling.CommitsIn(b.Postgres, b.peak)
	if apart > syncsApart || b.peak.TPS > m.Bound { // S is not known: PL707
		return f
	}
	waits := b.peak.ByKind()
	waited := waits[result.LogSync] + waits[result.LogInsert]
	if b.ReadOnly || m.High <= 0 || b.peak.TPS < commitShare*m.High || waited < commitWaits {
		return f
	}
	return b.Finds("%v TPS with %s are what group commit allows at %v per synced write (%v to %v).", b.peak.TPS,
		text.Plural(b.peak.Clients, "client"), s, m.Low, m.High).
		Saw("one synced write (S)", s, "", "fio, right before and after").
		Saw("commits per sync", units.Number(b.peak.CommitsPerSync()), fmt.Sprintf("about %s",
			units.Number(float64(b.peak.Clients)/2)), "statistics of the server").
		Saw("waits for the log", waited, "", "pg_stat_activity")
}

func generatorLimits(b base) (f finding.Finding) {
	limits, use := ceiling.Generated(b.peak)
	if !limits {
		return f
	}
	return b.Finds("With %s, pgbench used %v of its threads' CPU time.", text.Plural(b.peak.Clients, "client"),
		use).
		Saw("pgbench", finding.Says("%v of %s", use, text.Plural(b.peak.Threads, "thread")), "", "/proc").
		Saw("machine", text.Percent(b.peak.Busy)+" busy", "", "/proc/stat")
}

func fullPages(b base) (f finding.Finding) {
	bytes := float64(b.peak.WAL)
	share := min(float64(b.peak.Images)*imageBytes(b), bytes) / max(bytes, 1)
	if b.ReadOnly || b.peak.Images == 0 || share < imagesShare || b.peak.ImagesPerTx() < 0.01 {
		return f
	}
	return b.Finds("%v of the WAL is full-page images: %v of WAL per transaction, with %s full pages.",
		share, b.peak.WALPerTx(), units.Number(b.peak.ImagesPerTx())).
		Saw("full pages", finding.Says("%v × %s", b.peak.Images, units.Bytes(imageBytes(b))), "",
			"pg_stat_wal").
		Saw("log", finding.Says("%v in %v transactions", b.peak.WAL, b.peak.Transactions), "", "pg_stat_wal")
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

func logOnData(c *diagnose.Case, report diagnose.Report) {
	for _, b := range databases(c) {
		if !b.Apart || !b.OneMount {
			continue
		}
		f := b.Finds("The data and log paths are on one device.")
		f.Subject, f.Scenarios = "data and log", nil
		for _, o := range databases(c) {
			f.Scenarios = append(f.Scenarios, o.IDs()...)
		}
		report(f)
		return
	}
}

func fitsMemory(b base) (f finding.Finding) {
	if b.Scale == 0 || b.Database >= b.Memory || b.peak.DeviceReads() >= idleReads {
		return f
	}
	return b.Finds("%v of data fits in %v of memory: %s device reads per transaction.", b.Database, b.Memory,
		units.Number(b.peak.DeviceReads())).
		Saw("database", b.Database, "more than "+b.Memory.String(), "pg_database_size")
}

func cliff(b base) (f finding.Finding) {
	var series []float64
	for _, s := range b.peak.Seconds {
		series = append(series, float64(s.TPS))
	}
	third := len(series) / 3
	if third < 4 {
		return f
	}
	first, last := mean(series[:third]), mean(series[len(series)-third:])
	if first <= 0 || last >= cliffShare*first {
		return f
	}
	f = b.Finds("%v TPS in the first third of the run, %v in the last.", units.IOPS(first), units.IOPS(last))
	for _, p := range stats.ChangePoints(series) {
		if p.After < p.Before {
			f = f.Saw(fmt.Sprintf("from second %d on", p.At+1), fmt.Sprintf("%v TPS", units.IOPS(p.After)),
				fmt.Sprintf("%v as before", units.IOPS(p.Before)), "pgbench")
		}
	}
	if n := b.peak.Timed + b.peak.Requested; n > 0 {
		f = f.Saw("checkpoints during the load", n, "", "statistics of the server")
	}
	return f
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(len(xs), 1))
}

func doubtfulCommits(c *diagnose.Case, report diagnose.Report) {
	for _, b := range databases(c) {
		var why []string
		if _, apart := b.S(); apart > syncsApart && !b.ReadOnly {
			why = append(why, finding.Says("one synced write took %v before and %v after (%v apart)", b.Before.S(), b.After.S(),
				apart))
		}
		for _, s := range b.Steps {
			if s.Aborted > 0 {
				why = append(why,
					fmt.Sprintf("%s failed with %s", text.Plural(s.Aborted, "transaction"), text.Plural(s.Clients, "client")))
			}
		}
		if p := b.peak; p != nil && p.Busy >= diagnose.HostFull &&
			otherCPU(b.Postgres, p) >= diagnose.ForeignCPU*float64(b.Cores) {
			why = append(why, fmt.Sprintf("other processes used %s of %s, and none was free",
				units.Number(otherCPU(b.Postgres, b.peak)), text.Plural(b.Cores, "core")))
		}
		if limit := boundOf(b); limit != nil && b.peak.TPS > mostShare*limit.IOPS {
			why = append(why, finding.Says("%v TPS are %v of the %v that %s allows (%s), so this is not the limit",
				b.peak.TPS, float64(b.peak.TPS/limit.IOPS), limit.IOPS, limit.Label(), limit.How))
		}
		why = append(why, b.Postgres.Failed...)
		if len(why) > 0 {
			report(b.Finds("%s", text.Sentence(strings.Join(why, "; "))))
		}
	}
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

func requestedCheckpoints(b base) (f finding.Finding) {
	if b.peak.Requested <= b.peak.Timed || b.Scenario.Postgres != nil && b.Scenario.Postgres.Checkpoint {
		return f
	}
	rate := units.Rate(float64(b.peak.WAL) / max(b.peak.Measured.Seconds(), 1e-9))
	return b.Finds("%s triggered by WAL and %d by time, at %v of WAL: for one every %s, max_wal_size would have to be %v.",
		text.Plural(b.peak.Requested, "checkpoint"), b.peak.Timed, rate, b.CheckpointTimeout,
		result.LogForTimeout(rate, b.CheckpointTimeout))
}

func notDurable(c *diagnose.Case, report diagnose.Report) {
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
			report(u.Shown(b.Finds("The commits measured are not durable: %s", u.Sentence()).As(finding.Invalid)))
		}
		if len(off) > 0 {
			report(b.Finds("%s off: the commits measured are not durable.", text.List(off)))
		}
	}
}

func otherServer(c *diagnose.Case, report diagnose.Report) {
	for _, b := range databases(c) {
		if len(b.Others) == 0 {
			continue
		}
		f := b.Finds("Another PostgreSQL runs on these volumes: %s.", b.Others)
		f.Subject, f.Scenarios = strings.Join(b.Others, ", "), nil
		report(f)
		return
	}
}

// lockShare of the samples is where locks on rows are what most sessions wait for.
const lockShare = 0.5

func rowLocks(b base) (f finding.Finding) {
	w := b.peak.MostWaited()
	if w.Why != result.RowLocks || w.Share < lockShare {
		return f
	}
	f = b.Finds("In %v of the samples, sessions wait for rows that another transaction has changed.", w.Share).
		Saw("waits for row locks", w.Share, "", "pg_stat_activity")
	if b.Scale > 0 && b.Scale < b.peak.Clients {
		f.Say("Row locks: %s on %s. %s", text.Plural(b.peak.Clients, "client"),
			text.Plural(b.Scale, "branch", "branches"), f.Message)
		f = f.Saw("scale", b.Scale, fmt.Sprintf("at least %d", b.peak.Clients), "pgbench")
	}
	return f
}
