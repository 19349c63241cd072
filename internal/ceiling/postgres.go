package ceiling

import (
	"fmt"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The resources that limit a database, next to those of the storage below it.
const (
	CommitLatency Kind = "commit latency"
	CommitCPU     Kind = "CPU time of a commit"
	LogRate       Kind = "log throughput"
	LogIOPS       Kind = "log IOPS"
	DataVolumes   Kind = "data volumes"
	CPU           Kind = "CPU"
	LoadGenerator Kind = "load generator"
)

// Commits is how many commits per second group commit allows with so many clients, by S, the time of
// one synced write, and the CPU time of a commit outside of it.
type Commits struct {
	// Bound: a flush carries at most one commit of each client.
	Bound units.IOPS
	// Low to High are expected: flushes alternate, so that one carries about half of the clients'
	// commits.
	Low, High units.IOPS
}

// CommitsOf is the model of group commit: one flush at a time, and who comes meanwhile goes with
// the next one. In a closed loop of c clients TPS is c over the time of one commit (Little's law):
// the client's CPU time C, the wait for the flush that is under way, and a flush of S. both and
// longer are C as result.Postgres.CommitCPU measures it.
//
// At best two groups alternate: one computes while the other flushes, so that C costs nothing until
// it is longer than S, and a commit takes the larger of 2 S and S + C, of which server and pgbench
// do their parts at the same time. At worst the leader is quick, a flush carries c/3, and a commit
// waits for two others after all of its CPU time: 3 S + C. One client has flushes of its own:
// S + C, and up to half of S for what no counter shows (waking up, and syncs slower than fio's).
func CommitsOf(clients int, s, both, longer units.Latency) Commits {
	if clients < 1 || s <= 0 {
		return Commits{}
	}
	of := func(takes units.Latency) units.IOPS { return units.IOPS(float64(clients) * 1e9 / float64(takes)) }
	if clients == 1 {
		return Commits{Bound: of(s), Low: of(1.5*s + both), High: of(s + longer)}
	}
	return Commits{Bound: of(s), Low: of(3*s + both), High: of(max(2*s, s+longer))}
}

// CommitsIn is the model with what was measured: S around a step, and the CPU time in it. Where commits
// do not wait for the log it says nothing.
func CommitsIn(p *result.Postgres, s *result.PgStep) Commits {
	if !p.CommitsWait() {
		return Commits{}
	}
	each, _ := p.S()
	both, longer := p.CommitCPU(s)
	return CommitsOf(s.Clients, each, both, longer)
}

// busyThreads of the CPU time of its threads is where pgbench limits. That sessions wait for it
// (ClientRead) is no sign: one that was woken up and has no processor yet waits for it, too.
const busyThreads = 0.9

// Generated says that pgbench, not the server, limited a step, and how much CPU it used of its
// threads, 0..1.
func Generated(s *result.PgStep) (limits bool, use float64) {
	use = s.PgbenchCPU.Seconds() / (s.Measured.Seconds() * float64(max(min(s.Threads, s.Clients), 1)))
	return use >= busyThreads, use
}

// OfPostgres is every bound on a database's transactions per second, from what one transaction was
// measured to need and what each resource allows. IOPS of its bounds are transactions per second.
func OfPostgres(t *topology.Topology, p *result.Postgres, s *result.PgStep) Ceiling {
	c := Ceiling{InFlight: s.Clients}
	if s.Transactions == 0 || s.TPS <= 0 {
		return c
	}
	if each, _ := p.S(); each > 0 && p.CommitsWait() && s.Syncs > 0 {
		both, longer := p.CommitCPU(s)
		m := CommitsIn(p, s)
		clients := text.Plural(s.Clients, "client")
		how := "%s ÷ %v per synced write; expected are %v to %v"
		args := []any{clients, each, m.Low, m.High}
		if both > 0 {
			how, args = how+" with %v of CPU per commit", append(args, both)
		}
		c.add(CommitLatency, float64(m.Bound), 1, "fio, right before and after", how, args...)
		if s.Clients < p.Cores && longer > 0 { // with more the cores themselves limit
			c.add(CommitCPU, float64(s.Clients)*1e9/float64(longer), 1, "/proc",
				"%s ÷ %v of CPU per commit, outside of its sync", clients, longer)
		}
	}
	c.log(t, p, s)
	c.data(t, s)
	c.cores(p, s)
	c.Bounds = sorted(c.Bounds)
	return c
}

// add adds a bound by what was measured somewhere: a capacity, of which a transaction demands some.
func (c *Ceiling) add(kind Kind, capacity, demand float64, where, how string, args ...any) {
	if tps := units.IOPS(capacity / demand); tps > 0 {
		c.Bounds = append(c.Bounds, Bound{
			Kind: kind, IOPS: tps, How: fmt.Sprintf(how, args...), Capacity: capacity, Demand: demand,
			Origin: topology.Origin{Kind: topology.Measured, Where: where},
		})
	}
}

// scaled adds the bounds of a path, each divided by what one transaction demands.
func (c *Ceiling) scaled(kind Kind, of Ceiling, need func(Bound) (tps float64, how string)) {
	for _, b := range of.Bounds {
		if !b.Kind.hardware() {
			continue
		}
		tps, how := need(b)
		if tps <= 0 {
			continue
		}
		c.Bounds = append(c.Bounds, Bound{
			Kind: kind, IOPS: units.IOPS(tps), Burst: b.Burst, BurstFor: b.BurstFor, How: how + " (" + b.Label() + ")",
			Origin: b.Origin, Capacity: tps, Demand: 1,
		})
	}
}

// smallest keeps the binding and the sustained bound of a path: the others say nothing more.
func smallest(of Ceiling) Ceiling {
	var few Ceiling
	b, last := of.Hardware(), of.sustainedHardware()
	if b != nil {
		few.Bounds = append(few.Bounds, *b)
	}
	if b != nil && last != nil && last.IOPS < b.IOPS {
		few.Bounds = append(few.Bounds, *last)
	}
	return few
}

const (
	logBlock = 8 * units.KiB // what XLogWrite writes at a time, at least
	deep     = 64            // in flight: as many as keep every volume busy
)

func (c *Ceiling) log(t *topology.Topology, p *result.Postgres, s *result.PgStep) {
	if bytes := float64(s.WAL) / float64(s.Transactions); bytes > 0 {
		seq := fio.Workload{Sequential: true, WriteBS: units.MiB, Direct: true, Jobs: 1, Depth: deep}
		of := smallest(Of(t, topology.WAL, []fio.Workload{seq}))
		c.scaled(LogRate, of, func(b Bound) (float64, string) {
			return float64(b.BW) / bytes, fmt.Sprintf("%v ÷ %v of WAL per transaction", b.BW, units.Bytes(bytes+0.5))
		})
	}
	if grouped := s.CommitsPerSync(); grouped > 0 && p.CommitsWait() {
		each := p.WritesPerSync()
		sync := fio.Workload{WriteBS: logBlock, Direct: true, Jobs: 1, Depth: deep} // a sync after each: none is merged
		of := smallest(Of(t, topology.WAL, []fio.Workload{sync}))
		c.scaled(LogIOPS, of, func(b Bound) (float64, string) {
			how := fmt.Sprintf("%v synced writes × %s commits per sync", b.IOPS, units.Number(grouped))
			if each > 1 {
				how = fmt.Sprintf("%v writes ÷ %s for each sync × %s commits per sync", b.IOPS, units.Number(each),
					units.Number(grouped))
			}
			return float64(b.IOPS) / each * grouped, how
		})
	}
}

// data is one joint bound of reads and writes, since they share the volumes: the ceiling of the mix
// that was measured.
func (c *Ceiling) data(t *topology.Topology, s *result.PgStep) {
	ios := s.DeviceIOs()
	if ios < leastIOs {
		return
	}
	w := fio.Workload{ReadShare: float64(s.Reads) / float64(s.Reads+s.Writes), Direct: true, Jobs: 1, Depth: deep}
	if s.Reads > 0 {
		w.ReadBS = units.Bytes(float64(s.ReadBytes)/float64(s.Reads) + 0.5)
	}
	if s.Writes > 0 {
		w.WriteBS = units.Bytes(float64(s.WriteBytes)/float64(s.Writes) + 0.5)
	}
	c.scaled(DataVolumes, smallest(Of(t, topology.Data, []fio.Workload{w})), func(b Bound) (float64, string) {
		return float64(b.IOPS) / ios, fmt.Sprintf("%v IOPS of %s reads ÷ %s device I/Os per transaction",
			b.IOPS, text.Percent(w.ReadShare), units.Number(ios))
	})
}

// leastIOs a transaction: below it the device was as good as idle, and the quotient is noise.
const leastIOs = 0.001

// cores is what the server could do with the cores that pgbench leaves it. Other processes are not
// counted: the scheduler would share with them.
func (c *Ceiling) cores(p *result.Postgres, s *result.PgStep) {
	span, n := s.Measured.Seconds(), float64(s.Transactions)
	each := s.ServerCPU.Seconds() / n
	if span <= 0 || each <= 0 {
		return
	}
	bench := s.PgbenchCPU.Seconds() / span
	left := max(float64(p.Cores)-bench, s.ServerCPU.Seconds()/span)
	c.add(CPU, left, each, "/proc", "%s less %s of pgbench ÷ %v of CPU per transaction",
		text.Plural(p.Cores, "core"), units.Number(bench), units.LatencyOf(time.Duration(each*1e9)))
	if limits, use := Generated(s); limits && s.PgbenchCPU > 0 {
		of := s.PgbenchCPU.Seconds() / n
		threads := max(min(s.Threads, s.Clients), 1)
		tps := min(float64(threads), max(float64(p.Cores)-s.ServerCPU.Seconds()/span, bench)) / of
		c.add(LoadGenerator, tps, 1, "/proc", "pgbench uses %s of %s", text.Percent(use), text.Plural(threads, "thread"))
	}
}
