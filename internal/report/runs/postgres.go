package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// LiveTransactions is a running second of a database in words.
func LiveTransactions(s *result.PgSecond) string {
	phrase := words.Transactions(s.TPS)
	if s.Latency > 0 {
		phrase += fmt.Sprintf(", latency %v mean", s.Latency)
	}
	if s.Failed > 0 {
		phrase += fmt.Sprintf(", %s failed", text.Count(s.Failed))
	}
	return phrase
}

// Transactions is what a database did in a scenario, in words.
func Transactions(p *result.Postgres) string {
	peak := p.Peak()
	if peak == nil {
		if s, _ := p.S(); s > 0 {
			return fmt.Sprintf("a synced write takes %v", s)
		}
		return "no transaction ran"
	}
	phrase := fmt.Sprintf("%s with %s, latency %v mean", words.Transactions(peak.TPS), text.Plural(peak.Clients, "client"),
		units.Latency(peak.Latency.Mean))
	if p99, ok := peak.Latency.At(99); ok {
		phrase += fmt.Sprintf(", %v p99", units.LatencyOf(p99))
	}
	return phrase
}

func (transactions) fill(r *row, s *bundle.Scenario) {
	p := s.Result.Postgres
	peak := p.Peak()
	if peak == nil {
		if each, _ := p.S(); each > 0 {
			r.Measured, r.Also = each.String(), "one synced 8 KiB write, by fio"
		}
		return
	}
	r.Measured = words.Transactions(peak.TPS)
	r.Also = text.Plural(peak.Clients, "client")
	if len(p.Steps) > 1 {
		r.Also = "the most, with " + r.Also
	}
	if n := peak.CommitsPerSync(); n > 0 && !p.ReadOnly {
		r.Also += fmt.Sprintf(", %s commits per sync, %v of WAL per transaction", units.Number(n), peak.WALPerTx())
	}
	r.P50, r.P99 = words.At(peak.Latency, 50), words.At(peak.Latency, 99)
	if c := s.Ceiling; c != nil && c.Binding() != nil {
		r.held(c, func(b *ceiling.Bound) string { return words.Transactions(b.IOPS) })
		r.Share = float64(peak.TPS / c.Binding().IOPS)
		r.Percent = text.Percent(r.Share)
	}
}

func postgresTables(s *bundle.Scenario) []page.Block {
	p := s.Result.Postgres
	methods := page.Captioned("Sync methods as pg_test_fsync ranks them (a rank, not a measurement)", "<wal_sync_method, "+
		"one 8 KiB write")
	for _, m := range p.Methods {
		methods.Add(m.Name, m.Mean)
	}
	return []page.Block{stepsTable(s), logTable(p), waitsTable(p), checkpointTable(p), methods}
}

func stepsTable(s *bundle.Scenario) page.Table {
	p := s.Result.Postgres
	t := page.Captioned("Transactions by clients, next to what commits allow", "clients, TPS, expected, bound, mean, "+
		"p50, p95, p99, p99.9, max, failed")
	for _, step := range p.Steps {
		expected, bound := words.None, words.None
		if m := ceiling.CommitsIn(p, &step); m.Bound > 0 && !p.ReadOnly {
			expected, bound = fmt.Sprintf("%v to %v", m.Low, m.High), m.Bound.String()
			of := ceiling.OfPostgres(&topology.Topology{}, p, &step)
			if b := of.Binding(); b != nil && b.IOPS < m.Low {
				expected = fmt.Sprintf("%v at most, by %s", b.IOPS, b.Kind)
			}
		}
		t.Add(step.Clients, step.TPS, expected, bound, units.Latency(step.Latency.Mean),
			percentiles(step.Latency, 50, 95, 99, 99.9), words.Figure(units.LatencyOf(step.Latency.Max)),
			text.Count(step.Aborted))
	}
	return t
}

func logTable(p *result.Postgres) page.Table {
	t := page.Captioned("What one transaction needed", "clients, commits per sync, sync mean, syncing, WAL, "+
		"full pages, device I/Os, buffer hits, server CPU, pgbench CPU")
	for _, s := range p.Steps {
		commits, mean := words.None, words.None
		if s.Syncs > 0 && !p.ReadOnly {
			commits, mean = units.Number(s.CommitsPerSync()), s.SyncMean().String()
		}
		hits := text.Either(s.Hits+s.Misses > 0, text.Percent(s.HitShare()), words.None)
		pgbench := units.Latency(0)
		if s.Transactions > 0 {
			pgbench = units.Latency(float64(s.PgbenchCPU) / float64(s.Transactions))
		}
		t.Add(s.Clients, commits, mean, text.Percent(s.SyncBusy()), s.WALPerTx(),
			units.Number(s.ImagesPerTx()), units.Number(s.DeviceIOs()), hits, units.LatencyOf(s.CPUPerTx()),
			pgbench)
	}
	return t
}

const mostWaits = 6

// waitsTable is what pgbench's sessions waited for, largest first.
func waitsTable(p *result.Postgres) page.Table {
	t := page.Captioned("What sessions waited for, sampled ten times per second", "clients, <waits")
	for i := range p.Steps {
		if waits := waitWords(&p.Steps[i]); waits != "" {
			t.Add(p.Steps[i].Clients, waits)
		}
	}
	return t
}

// waitWords are a step's most frequent waits with their shares.
func waitWords(s *result.PgStep) string {
	var waits []string
	for _, w := range s.Waits[:min(len(s.Waits), mostWaits)] {
		waits = append(waits, waitName(w.Event)+" "+text.Percent(w.Share))
	}
	return strings.Join(waits, ", ")
}

// waitName is an event without its type: WALWrite of LWLock:WALWrite.
func waitName(event string) string {
	return event[strings.Index(event, ":")+1:]
}

// checkpointTable is arithmetic from the measured rate of WAL: how far checkpoints lie apart.
func checkpointTable(p *result.Postgres) page.Table {
	t := page.Captioned("Checkpoints at the measured rate of WAL", "<, value, <how")
	peak := p.Peak()
	if peak == nil || peak.WAL == 0 || peak.Measured <= 0 || p.ReadOnly {
		return t
	}
	rate := units.Rate(float64(peak.WAL) / peak.Measured.Seconds())
	between := time.Duration(float64(p.MaxWAL) / 1.9 / float64(rate) * float64(time.Second))
	t.Add("rate of WAL", rate, fmt.Sprintf("%v in %s", peak.WAL, text.Duration(peak.Measured)))
	if between < math.MaxInt64/2 {
		t.Add("checkpoints", "every "+text.Duration(min(between, p.CheckpointTimeout).Round(time.Second)),
			fmt.Sprintf("the smaller of checkpoint_timeout %s and max_wal_size %v ÷ 1.9 ÷ the rate",
				text.Duration(p.CheckpointTimeout), p.MaxWAL))
	}
	need := result.LogForTimeout(rate, p.CheckpointTimeout)
	t.Add("max_wal_size for the timeout", need, fmt.Sprintf("%v × %s × 1.9", rate,
		text.Duration(p.CheckpointTimeout)))
	return t
}

func postgresFacts(b *bundle.Bundle, p *result.Postgres) []page.Fact {
	var all page.Facts
	all.Say("PostgreSQL", "%s from %s, as user %s on %s", p.Version, p.Bin, p.User, cmp.Or(p.FS, "an unknown filesystem"))
	if p.Scale > 0 {
		all.Say("database", "%v (scale %d), %s of %v of memory", p.Database, p.Scale,
			text.Times(float64(p.Database)/float64(max(p.Memory, 1))), p.Memory)
	}
	if a, b := p.Before.S(), p.After.S(); a > 0 {
		phrase := fmt.Sprintf("%v before", a)
		if b > 0 {
			_, apart := p.S()
			phrase += fmt.Sprintf(", %v after: %s apart", b, text.Percent(apart))
		}
		if cpu := p.Before.CPU; cpu > 0 {
			phrase += fmt.Sprintf("; %v of it CPU", cpu)
		}
		all.Say("one synced write (S)", "%s; fio, 8 KiB and fdatasync, one at a time", phrase)
	}
	if p.Clock > 0 {
		all.Say("reading the clock", "%v", units.LatencyOf(p.Clock))
	}
	settings := map[bool][]string{}
	for _, s := range p.Settings {
		settings[s.Given] = append(settings[s.Given], s.Name+"="+s.Value)
	}
	all.Add("requested settings", strings.Join(settings[true], ", "))
	all.Add("settings", strings.Join(settings[false], ", "))
	if s := p.Peak(); s != nil {
		if s.Timed+s.Requested > 0 {
			all.Say("checkpoints", "%d by time, %d by WAL or on request", s.Timed, s.Requested)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Counted)) {
			all.Add(name, text.Count(s.Counted[name]))
		}
		// What reading a full log takes at the rate that scenario 10 measured in the same run.
		for _, s := range named(b, "wal-seq-read") {
			if rate := s.Result.Total.Read.BW; rate > 0 {
				all.Say("recovery reads the log in", "%s at least: %v (max_wal_size) ÷ %v (scenario %d), without the "+
					"replay itself", text.Duration(result.RecoverySeconds(p.MaxWAL, rate).Round(time.Second)), p.MaxWAL, rate, s.ID)
				break
			}
		}
	}
	return all.Rows
}

// records adds a row for each number of clients.
func (transactions) records(t *page.Table, b *bundle.Bundle, s *bundle.Scenario) {
	for i := range s.Result.Postgres.Steps {
		step := &s.Result.Postgres.Steps[i]
		of := *s
		of.Ceiling = nil // the bounds are those of the peak
		if step == s.Result.Postgres.Peak() {
			of.Ceiling = s.Ceiling
		}
		row := csvRow(b, &of, fmt.Sprintf("transactions (%d clients)", step.Clients), step.Transactions, step.WAL,
			step.TPS, 0, step.Latency)
		if of.Ceiling != nil && of.Ceiling.Binding() != nil {
			row[13] = 100 * float64(step.TPS/of.Ceiling.Binding().IOPS)
		}
		row[16] = step.Measured.Seconds()
		t.Record(row...)
	}
}

// draw has the peak's transactions by second, drawn as fio's I/Os are, and the waits of its sessions.
func (transactions) draw(d *drawing, s *bundle.Scenario, row row) []page.Chart {
	peak := s.Result.Peak()
	if peak == nil || len(peak.Seconds) < 2 {
		return nil
	}
	tps := lines{Name: "transactions", Curve: curve(peak.Latency)}
	for _, s := range peak.Seconds {
		d.T = append(d.T, second(s.At))
		tps.IOPS = append(tps.IOPS, float64(s.TPS))
		p50, p99 := math.NaN(), math.NaN()
		if s.P50 > 0 {
			p50, p99 = float64(s.P50), float64(s.P99)
		}
		tps.P50, tps.P99 = append(tps.P50, p50), append(tps.P99, p99)
	}
	d.Dirs = append(d.Dirs, tps)
	with := " with " + text.Plural(peak.Clients, "client")
	all := []page.Chart{{
		Kind: "iops", Caption: "Transactions per second" + with,
		Says: fmt.Sprintf("Transactions each second: %s, %s.", row.Measured, row.Of()),
	}}
	if len(tps.Curve) > 1 {
		all = append(all, page.Chart{
			Kind: "latency", Caption: "Latency of a transaction each second: p50 and p99",
			Says: fmt.Sprintf("Latency of a transaction each second: p50 %s, p99 %s overall.", row.P50, row.P99),
		}, page.Chart{
			Kind: "percentiles", Caption: "Latency of a transaction by percentile", Wide: true,
			Says: fmt.Sprintf("Latency of a transaction by percentile: p50 %s, p99 %s.", row.P50, row.P99),
		})
	}
	if d.Layers = layersOf(peak); len(d.Layers) > 0 {
		all = append(all, page.Chart{
			Kind: "sessions", Caption: "What the sessions waited for, number of sessions", Wide: true,
			Says: "What the sessions waited for, stacked: " + waitWords(peak) + " overall.",
		})
	}
	return all
}

// layersOf are a step's most frequent waits by second, largest first, and the others together.
func layersOf(s *result.PgStep) []layer {
	if !slices.ContainsFunc(s.Seconds, func(q result.PgSecond) bool { return len(q.Waits) > 0 }) {
		return nil
	}
	var all []layer
	for _, w := range s.Waits[:min(len(s.Waits), mostWaits)] {
		all = append(all, layer{Name: waitName(w.Event)})
	}
	if len(s.Waits) > mostWaits {
		all = append(all, layer{Name: "others"})
	}
	for _, q := range s.Seconds {
		total := 0
		for _, n := range q.Waits {
			total += n
		}
		left := total
		for i := range all {
			n := left // of the others
			if i < mostWaits {
				n = q.Waits[s.Waits[i].Event]
			}
			left -= n
			share := math.NaN()
			if total > 0 {
				share = float64(s.Clients) * float64(n) / float64(total)
			}
			all[i].Sessions = append(all[i].Sessions, share)
		}
	}
	return all
}
