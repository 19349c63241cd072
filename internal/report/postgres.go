package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func transactions(n units.IOPS) string { return n.String() + " TPS" }

// LiveTransactions is a running second of a database in words.
func LiveTransactions(s *result.PgSecond) string {
	words := transactions(s.TPS)
	if s.Latency > 0 {
		words += fmt.Sprintf(", latency %v mean", s.Latency)
	}
	if s.Failed > 0 {
		words += fmt.Sprintf(", %s failed", text.Count(s.Failed))
	}
	return words
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
	words := fmt.Sprintf(
		"%s with %s, latency %v mean",
		transactions(peak.TPS),
		text.Plural(peak.Clients, "client"),
		units.Latency(peak.Latency.Mean),
	)
	if p99, ok := peak.Latency.At(99); ok {
		words += fmt.Sprintf(", %v p99", units.LatencyOf(p99))
	}
	return words
}

// PostgresLoad is what a scenario will ask of the server, in words.
func PostgresLoad(s suite.Scenario) string {
	p := s.Postgres
	if p.Probes() {
		return "pg_test_fsync, pg_test_timing, and fio's probe of one synced write"
	}
	clients := make([]string, len(p.Clients))
	for i, n := range p.Clients {
		clients[i] = strconv.Itoa(n)
	}
	words := fmt.Sprintf(
		"pgbench with %s clients, %s",
		text.List(clients),
		cmp.Or(p.Builtin, text.Clean(p.Script, 100)),
	)
	if p.Connect {
		words += ", a connection each transaction"
	}
	if p.Checkpoint {
		words += ", right after a checkpoint"
	}
	return words
}

// postgres fills the overview's row of a database's scenario.
func (r *row) postgres(s *bundle.Scenario) {
	p := s.Result.Postgres
	peak := p.Peak()
	if peak == nil {
		if each, _ := p.S(); each > 0 {
			r.Measured, r.Also = each.String(), "one synced 8 KiB write, by fio"
		}
		return
	}
	r.Measured = transactions(peak.TPS)
	also := []string{text.Plural(peak.Clients, "client")}
	if len(p.Steps) > 1 {
		also[0] = fmt.Sprintf("the most, with %s", also[0])
	}
	if n := peak.CommitsPerSync(); n > 0 && !p.ReadOnly {
		also = append(also, units.Number(n)+" commits a sync", peak.WALPerTx().String()+" of WAL a transaction")
	}
	r.Also = strings.Join(also, ", ")
	r.P50, r.P99 = at(peak.Latency, 50), at(peak.Latency, 99)
	if c := s.Ceiling; c != nil && c.Binding() != nil {
		b := c.Binding()
		r.Ceiling, r.LimitedBy, r.Share = transactions(b.IOPS), b.Label(), float64(peak.TPS/b.IOPS)
		r.Percent = text.Percent(r.Share)
		if last := c.Sustained(); last != nil && last.IOPS < b.IOPS {
			r.Burst = fmt.Sprintf("burst; sustained %s (%s)", transactions(last.IOPS), last.Kind)
			r.LastingShare = float64(last.IOPS / b.IOPS)
		}
	}
}

// postgresTables are a database's own tables, in place of those of fio's I/Os.
func postgresTables(s *bundle.Scenario) []table {
	p := s.Result.Postgres
	if p == nil {
		return nil
	}
	all := []table{stepsTable(s), logTable(p), waitsTable(p), checkpointTable(p)}
	if len(p.Methods) > 0 {
		t := table{
			Caption: "Sync methods as pg_test_fsync ranks them (a rank, not a measurement)",
			Head:    []string{"wal_sync_method", "one 8 KiB write"},
		}
		for _, m := range p.Methods {
			t.Rows = append(t.Rows, []string{text.Clean(m.Name, 40), m.Mean.String()})
		}
		all = append(all, t)
	}
	return slices.DeleteFunc(all, func(t table) bool { return len(t.Rows) == 0 })
}

func stepsTable(s *bundle.Scenario) table {
	p := s.Result.Postgres
	t := table{
		Caption: "Transactions by clients, next to what commits allow",
		Head: []string{
			"clients",
			"TPS",
			"expected",
			"bound",
			"mean",
			"p50",
			"p95",
			"p99",
			"p99.9",
			"max",
			"failed",
		},
		Text: []int{},
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		expected, bound := none, none
		if m := ceiling.CommitsIn(p, step); m.Bound > 0 && !p.ReadOnly {
			expected, bound = fmt.Sprintf("%v to %v", m.Low, m.High), m.Bound.String()
		}
		cells := []string{
			strconv.Itoa(step.Clients),
			step.TPS.String(),
			expected,
			bound,
			units.Latency(step.Latency.Mean).String(),
		}
		for _, q := range []float64{50, 95, 99, 99.9} {
			cells = append(cells, at(step.Latency, q))
		}
		most := none
		if step.Latency.Max > 0 {
			most = units.LatencyOf(step.Latency.Max).String()
		}
		t.Rows = append(t.Rows, append(cells, most, text.Count(step.Aborted)))
	}
	return t
}

func logTable(p *result.Postgres) table {
	t := table{
		Caption: "What one transaction needed", Head: []string{
			"clients",
			"commits a sync",
			"sync mean",
			"syncing",
			"WAL",
			"full pages",
			"device I/Os",
			"buffer hits",
			"server CPU",
			"pgbench CPU",
		}, Text: []int{},
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		commits, mean := none, none
		if s.Syncs > 0 && !p.ReadOnly {
			commits, mean = units.Number(s.CommitsPerSync()), s.SyncMean().String()
		}
		hits := none
		if s.Hits+s.Misses > 0 {
			hits = text.Percent(s.HitShare())
		}
		pgbench := units.Latency(0)
		if s.Transactions > 0 {
			pgbench = units.Latency(float64(s.PgbenchCPU) / float64(s.Transactions))
		}
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(s.Clients),
			commits,
			mean,
			text.Percent(s.SyncBusy()),
			s.WALPerTx().String(),
			units.Number(s.ImagesPerTx()),
			units.Number(s.DeviceIOs()),
			hits,
			units.LatencyOf(s.CPUPerTx()).String(),
			pgbench.String(),
		})
	}
	return t
}

const mostWaits = 6

// waitsTable is what pgbench's sessions waited for, largest first.
func waitsTable(p *result.Postgres) table {
	t := table{
		Caption: "What sessions waited for, sampled ten times a second",
		Head:    []string{"clients", "waits"},
		Text:    []int{1},
	}
	for i := range p.Steps {
		if words := waitWords(&p.Steps[i]); words != "" {
			t.Rows = append(t.Rows, []string{strconv.Itoa(p.Steps[i].Clients), words})
		}
	}
	return t
}

// waitWords are a step's most frequent waits with their shares.
func waitWords(s *result.PgStep) string {
	var words []string
	for _, w := range s.Waits[:min(len(s.Waits), mostWaits)] {
		words = append(words, waitName(w.Event)+" "+text.Percent(w.Share))
	}
	return strings.Join(words, ", ")
}

// waitName is an event without its type: WALWrite of LWLock:WALWrite.
func waitName(event string) string {
	if _, name, ok := strings.Cut(event, ":"); ok {
		event = name
	}
	return text.Clean(event, 40)
}

// checkpointTable is arithmetic from the measured rate of WAL: how far checkpoints lie apart.
func checkpointTable(p *result.Postgres) table {
	t := table{
		Caption: "Checkpoints at the measured rate of WAL",
		Head:    []string{"", "value", "how"},
		Text:    []int{0, 2},
	}
	peak := p.Peak()
	if peak == nil || peak.WAL == 0 || peak.Measured <= 0 || p.ReadOnly {
		return t
	}
	rate := units.Rate(float64(peak.WAL) / peak.Measured.Seconds())
	between := time.Duration(float64(p.MaxWAL) / 1.9 / float64(rate) * float64(time.Second))
	t.Rows = append(
		t.Rows,
		[]string{"rate of WAL", rate.String(), fmt.Sprintf("%v in %s", peak.WAL, text.Duration(peak.Measured))},
	)
	if between < math.MaxInt64/2 {
		t.Rows = append(t.Rows, []string{
			"checkpoints",
			"every " + text.Duration(min(between, p.CheckpointTimeout).Round(time.Second)),
			fmt.Sprintf(
				"the smaller of checkpoint_timeout %s and max_wal_size %v ÷ 1.9 ÷ the rate",
				text.Duration(p.CheckpointTimeout),
				p.MaxWAL,
			),
		})
	}
	need := result.LogForTimeout(rate, p.CheckpointTimeout)
	t.Rows = append(t.Rows, []string{
		"max_wal_size for the timeout", need.String(),
		fmt.Sprintf("%v × %s × 1.9", rate, text.Duration(p.CheckpointTimeout)),
	})
	return t
}

// recovery is the time that reading a full log takes at the rate that scenario 10 (wal-seq-read)
// measured in the same run.
func recovery(b *bundle.Bundle, p *result.Postgres) (fact, bool) {
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Name != "wal-seq-read" || s.Result == nil || s.Result.Total.Read.BW <= 0 {
			continue
		}
		rate := s.Result.Total.Read.BW
		return fact{
			"recovery reads the log in",
			fmt.Sprintf("%s at least: %v (max_wal_size) ÷ %v (scenario %d); replay itself is not in it",
				text.Duration(result.RecoverySeconds(p.MaxWAL, rate).Round(time.Second)), p.MaxWAL, rate, s.ID),
		}, true
	}
	return fact{}, false
}

func postgresFacts(p *result.Postgres) []fact {
	add := func(all []fact, name, format string, args ...any) []fact {
		return append(all, fact{name, text.Clean(fmt.Sprintf(format, args...), 4*longName)})
	}
	var all []fact
	all = add(
		all,
		"PostgreSQL",
		"%s from %s, as user %s on %s",
		p.Version,
		p.Bin,
		p.User,
		cmp.Or(p.FS, "an unknown filesystem"),
	)
	if p.Scale > 0 {
		all = add(all, "database", "%v (scale %d), %s of %v of memory", p.Database, p.Scale,
			text.Times(float64(p.Database)/float64(max(p.Memory, 1))), p.Memory)
	}
	if a, b := p.Before.S(), p.After.S(); a > 0 {
		words := fmt.Sprintf("%v before", a)
		if b > 0 {
			_, apart := p.S()
			words += fmt.Sprintf(", %v after: %s apart", b, text.Percent(apart))
		}
		if a := p.Before; a.CPU > 0 {
			words += fmt.Sprintf("; %v of it CPU", a.CPU)
		}
		all = add(all, "one synced write (S)", "%s; fio, 8 KiB and fdatasync, one at a time", words)
	}
	if p.Clock > 0 {
		all = add(all, "reading the clock", "%v", units.LatencyOf(p.Clock))
	}
	var ours, given []string
	for _, s := range p.Settings {
		if s.Given {
			given = append(given, s.Name+"="+s.Value)
		} else {
			ours = append(ours, s.Name+"="+s.Value)
		}
	}
	if len(given) > 0 {
		all = add(all, "settings asked for", "%s", strings.Join(given, ", "))
	}
	if len(ours) > 0 {
		all = add(all, "settings", "%s", strings.Join(ours, ", "))
	}
	if s := p.Peak(); s != nil && s.Timed+s.Requested > 0 {
		all = add(all, "checkpoints", "%d by time, %d by WAL or asked for", s.Timed, s.Requested)
	}
	return all
}

// postgresBounds is the account: what each resource allows, in transactions a second.
func postgresBounds(c *ceiling.Ceiling) table {
	t := table{
		Caption: "What each resource allows",
		Head:    []string{"resource", "TPS", "", "how", "source"},
		Text:    []int{0, 2, 3, 4},
	}
	binding, last := c.Binding(), c.Sustained()
	for i := range c.Bounds {
		b := &c.Bounds[i]
		var marks []string
		if b == binding {
			marks = append(marks, "limit")
		}
		if b == last && b != binding {
			marks = append(marks, "sustained")
		}
		t.Rows = append(t.Rows, []string{
			b.Label(),
			b.IOPS.String(),
			strings.Join(marks, ", "),
			text.Clean(b.How, longSentence),
			cmp.Or(origin(b.Origin), unknown),
		})
	}
	return t
}

// postgresRows are the rows of a scenario's transactions in CSV, one a number of clients.
func postgresRows(b *bundle.Bundle, s *bundle.Scenario) [][]string {
	var rows [][]string
	for i := range s.Result.Postgres.Steps {
		step := &s.Result.Postgres.Steps[i]
		of := *s
		of.Ceiling = nil // the bounds are those of the peak
		if step == s.Result.Postgres.Peak() {
			of.Ceiling = s.Ceiling
		}
		row := csvRow(
			b,
			&of,
			fmt.Sprintf("transactions (%d clients)", step.Clients),
			step.Transactions,
			step.WAL,
			float64(step.TPS),
			0,
			step.Latency,
		)
		if of.Ceiling != nil && of.Ceiling.Binding() != nil {
			row[13] = decimal(100*float64(step.TPS/of.Ceiling.Binding().IOPS), 1)
		}
		row[16] = decimal(step.Measured.Seconds(), 3)
		rows = append(rows, row)
	}
	return rows
}

// postgresDrawing is the peak's transactions by second, drawn as fio's I/Os are, and the waits of
// its sessions.
func postgresDrawing(d *drawing, p *result.Postgres, row row) []chart {
	peak := p.Peak()
	if peak == nil || len(peak.Seconds) < 2 {
		return nil
	}
	tps := lines{Name: "transactions", Curve: curve(peak.Latency)}
	for _, s := range peak.Seconds {
		d.T = append(d.T, number(math.Round(s.At.Seconds()*10)/10))
		tps.IOPS = append(tps.IOPS, number(s.TPS))
		p50, p99 := missing, missing
		if s.P50 > 0 {
			p50, p99 = number(s.P50), number(s.P99)
		}
		tps.P50, tps.P99 = append(tps.P50, p50), append(tps.P99, p99)
	}
	d.Dirs = append(d.Dirs, tps)
	with := " with " + text.Plural(peak.Clients, "client")
	all := []chart{{
		Kind: "iops", Caption: "Transactions a second" + with,
		Description: fmt.Sprintf("Transactions each second: %s, %s.", row.Measured, row.Of()),
	}}
	if len(tps.Curve) > 1 {
		all = append(all, chart{
			Kind: "latency", Caption: "Latency of a transaction each second: p50 and p99",
			Description: fmt.Sprintf("Latency of a transaction each second: p50 %s, p99 %s on the whole.", row.P50, row.P99),
		}, chart{
			Kind: "percentiles", Caption: "Latency of a transaction by percentile", Wide: true,
			Description: fmt.Sprintf("Latency of a transaction by percentile: p50 %s, p99 %s.", row.P50, row.P99),
		})
	}
	if d.Layers = layersOf(peak); len(d.Layers) > 0 {
		all = append(all, chart{
			Kind: "sessions", Caption: "What the sessions waited for, number of sessions", Wide: true,
			Description: "What the sessions waited for, stacked: " + waitWords(peak) + " on the whole.",
		})
	}
	return all
}

// layersOf are a step's most frequent waits by second, largest first, and the others together.
func layersOf(s *result.PgStep) []layer {
	if !slices.ContainsFunc(s.Seconds, func(q result.PgSecond) bool { return len(q.Waits) > 0 }) {
		return nil
	}
	const others = "others"
	var all []layer
	for i, w := range s.Waits {
		if i == mostWaits {
			all = append(all, layer{Name: others})
			break
		}
		all = append(all, layer{Name: waitName(w.Event)})
	}
	for _, q := range s.Seconds {
		total, left := 0, 0
		for _, n := range q.Waits {
			total += n
		}
		left = total
		for i := range all {
			n := left
			if all[i].Name != others || i < mostWaits {
				n = q.Waits[s.Waits[i].Event]
			}
			left -= n
			share := missing
			if total > 0 {
				share = number(float64(s.Clients) * float64(n) / float64(total))
			}
			all[i].Sessions = append(all[i].Sessions, share)
		}
	}
	return all
}

// postgresBounds prints the account: what each resource allows, what limits marked in front.
func (t *terminal) postgresBounds(bounds table) {
	for _, r := range bounds.Rows {
		mark := "  "
		if r[2] == "limit" {
			mark = "> "
		}
		phrase := r[1] + " TPS"
		if r[2] != "" {
			phrase += ", " + r[2]
		}
		t.para(mark+r[0]+": ", plain, phrase+" = "+r[3]+" ["+r[4]+"]")
	}
}
