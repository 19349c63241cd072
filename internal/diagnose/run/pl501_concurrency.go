package run

import (
	"cmp"
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (

	// latencyDepth is what a latency test or a single session keeps outstanding; being bound by it
	// is the purpose.
	latencyDepth = 4
)

func concurrencyBound(c *facts, m measurement) (f fault) {
	if f = atItsRate(m); f.Message != "" || !c.IsConcurrencyBound(m) || m.Lacks(part.Latencies) {
		return f
	}
	asked, mean := m.InFlight(), m.MeanLatency()
	possible := units.IOPS(float64(asked) / mean * 1e9)
	if b := m.Ceiling.Concurrency(); b != nil { // counts the syncs too
		mean, possible = b.Demand*1e9, b.IOPS
	}
	each := " each"
	if asked == 1 {
		each = ""
	}
	most := fmt.Sprintf("With %s in flight at %s%s, %s IOPS is the most that is possible (%s measured)",
		text.Plural(asked, "I/O"), units.Latency(mean), each, possible, m.IOPS())
	f = m.Finds("%s", most+".").
		Saw("I/Os in flight ÷ latency", fmt.Sprintf("%d ÷ %s = %s IOPS", asked, units.Latency(mean), possible),
			m.IOPS().String()+", as measured", "fio, Little's law")
	b, known := diagnose.Hardware(m.Ceiling)
	if known {
		f.Say("%s; the hardware allows %s (%s).", most, b.IOPS, b.Label())
		f = f.Saw("limit of the hardware", b.IOPS.String()+" IOPS", "", b.How)
	}
	second, grew := secondDepth(c, m)
	switch {
	case asked == 1:
	case known && b.IOPS >= wellAbove*m.IOPS():
		if asked > latencyDepth && m.Scenario.Phase != "latency" {
			f.Severity = finding.Warn
		}
	case grew:
		f = f.Saw("a second depth, "+second.Label(), fmt.Sprintf("%s in flight: %s IOPS",
			text.Plural(second.InFlight(), "I/O"), second.IOPS()), "", "fio, the same run")
	default:
		f.Title = "one depth is not enough to tell what limits the run"
		f.Say("%s IOPS with %s in flight at %s each: this is true at any limit, so one depth cannot tell "+
			"whether concurrency or the storage limits the run.", m.IOPS(), text.Plural(asked, "I/O"), units.Latency(mean))
		f.Fix = "Measure at twice the depth: if IOPS rise, concurrency is the limit; if latency doubles instead, " +
			"something else is."
		f.Commands = []string{twiceTheDepth(m)}
	}
	return f
}

// heldTo is the share of its rate from which on a job did what it was held to.
const heldTo = 0.95

// atItsRate finds jobs of others that did as much as they were held to: the figure is the option's.
func atItsRate(m measurement) (f fault) {
	held := units.Rate(0)
	all := m.All(func(w fio.Workload) bool {
		side := func(does bool, rate units.Rate, iops units.IOPS, bs units.Bytes) bool {
			rate = max(rate, units.Rate(iops)*units.Rate(bs))
			if does {
				held += rate * units.Rate(max(w.Jobs, 1))
			}
			return !does || rate > 0
		}
		read, write := w.HeldIOPS()
		return side(w.Reads(), w.ReadRate, read, w.ReadBS) && side(w.Writes(), w.WriteRate, write, w.WriteBS)
	})
	did := m.Total.Read.BW + m.Total.Write.BW
	if m.Source == "" || m.Failed() || !all || held == 0 || did < heldTo*held {
		return f
	}
	return m.Finds("The jobs were held to %s (rate=, rate_iops=), and kept to it: this is not the storage's limit.", held).
		Titled("limited by the job's own rate, not by the storage").
		Saw("bandwidth", did, "", "fio, scenario "+m.Label())
}

const (
	// wellAbove the figure is a ceiling that cannot have caused it: figures at a published limit
	// lie within 1 % of it (16,030 and 16,060 of 16,000, 40.1k of 40,000).
	wellAbove = 1.05
	// grewAs much as the depth did is linear growth: at a limit IOPS stay, and where latency rises
	// a little they grow by less.
	grewAs = 0.8
)

// secondDepth finds a run of the same workload with another depth, between which IOPS grew in
// proportion.
func secondDepth(c *facts, m measurement) (measurement, bool) {
	for _, o := range c.Measured() {
		if o.Scenario.ID == m.Scenario.ID || o.Scenario.Role != m.Scenario.Role || len(o.Workloads) != 1 ||
			len(m.Workloads) != 1 {
			continue
		}
		x, y := m.Workloads[0], o.Workloads[0]
		same := x.ReadShare == y.ReadShare && x.ReadBS == y.ReadBS && x.WriteBS == y.WriteBS &&
			x.Sequential == y.Sequential &&
			x.SyncEvery == y.SyncEvery
		depths := float64(o.InFlight()) / float64(max(m.InFlight(), 1))
		if same && depths > 1.5 && float64(o.IOPS()/m.IOPS()) >= grewAs*depths {
			return o, true
		}
	}
	return measurement{}, false
}

// twiceTheDepth is the command that measures m's workload with twice as many I/Os in flight.
func twiceTheDepth(m measurement) string {
	w := fio.Workload{Engine: "libaio", Jobs: 1, Depth: max(m.InFlight(), 1), ReadShare: 1, ReadBS: 4 * units.KiB}
	if len(m.Workloads) > 0 {
		w = m.Workloads[0]
	}
	mixed := ""
	if w.Reads() && w.Writes() {
		mixed = fmt.Sprintf(" --rwmixread=%.0f", w.ReadShare*100)
	}
	jobs, depth := max(w.Jobs, 1), 2*max(w.Depth, 1)
	if fio.Synchronous(w.Engine) || w.Engine == "" {
		jobs, depth = 2*jobs, 1
	}
	return fmt.Sprintf("fio --name=twice --filename=FILE --rw=%s%s --bs=%s --direct=1 --ioengine=%s --iodepth=%d "+
		"--numjobs=%d --runtime=60 --time_based --group_reporting", w.RW(), mixed, max(w.ReadBS, w.WriteBS).Arg(),
		cmp.Or(w.Engine, "psync"), depth, jobs)
}

func measuredLoading(c *facts, m measurement) (f fault) {
	t, ok := c.Loading(m)
	if !ok {
		return f
	}
	f = t.Shown(m.Finds("%s reads from a volume that was still loading. %s", m.Label(), t.Sentence()))
	if t.File != "" {
		return f.Run("plimsoll array warm --files %s", t.File)
	}
	return f.Run("plimsoll array warm %s", "/dev/"+t.Device)
}

// slowNotQueued is PL507: PL501 may not say "not by the storage" of a volume that is slow by itself.
func slowNotQueued(c *facts, m measurement) (f fault) {
	why, slow := c.SlowItself(m)
	if !slow || !c.KeepsItsDepth(m) {
		return f
	}
	mean, inFlight := units.Latency(m.MeanLatency()).String(), text.Plural(m.InFlight(), "I/O")+" in flight"
	expected := ""
	if typical := c.StatedLatency(m); typical > 0 {
		expected = fmt.Sprintf("at most %s, 3 times what the volumes state", units.LatencyOf(diagnose.SlowTimes*typical))
	}
	return m.Finds("%s takes %s per I/O with %s: the volume is slow, not the queue. %s", m.Label(), mean, inFlight, why).
		Saw("mean latency", mean, expected, "fio, "+inFlight).
		Run("plimsoll check --probe")
}
