package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func ceilingRules() []*rule {
	return []*rule{concurrencyBound, ceilingReached, farBelow, demandMissed, instanceBound, mirrorReads}
}

const (
	// fullFlight of what may be outstanding was: the job keeps its depth, so Little's law ties IOPS to latency.
	fullFlight = 0.85
	// unloaded is how far above a volume's typical latency at depth 1 a mean may be that no queue made.
	unloaded = 2.0
	// unloadedGuess where no typical latency is known: EBS SSD volumes answer in 0.3 to 1 ms when they do not queue, as in
	// the seeds (0.40 to 0.60 ms).
	unloadedGuess = 1500 * time.Microsecond
	// shallowPerVolume I/Os in flight are still concurrency; more is a queue (as in package ceiling).
	shallowPerVolume = 16
	// latencyDepth is what a latency test or a single session keeps outstanding; being bound by it is the purpose.
	latencyDepth = 4
)

var concurrencyBound = &rule{
	Code: "PL501", Since: "0.1", Severity: finding.Info,
	Title: "bound by concurrency, not by the storage",
	When: "The job keeps its I/Os in flight, at most 16 a volume, its latency is that of unloaded volumes (at most twice their typical one, or under " +
		"1.5 ms where that is not known), and it stays below 95 % of what the hardware allows. A warning when more than 4 are in flight " +
		"and the hardware's limit is known; else an info.",
	Why: "IOPS = in flight / latency (Little's law). The figure says how fast one I/O is, times the number in flight: it is no limit of " +
		"the volumes, and a plan that takes it for one wastes them.",
	Fix:    "For the storage's limit raise iodepth with an asynchronous engine (libaio, io_uring), or numjobs, until IOPS stop rising. For latency keep it so.",
	Bad:    "fio --rw=randwrite --bs=16k --numjobs=16                                    # psync: 26,598 IOPS, 0.60 ms",
	Good:   "fio --rw=randwrite --bs=16k --numjobs=16 --ioengine=libaio --iodepth=32     # 36,155 IOPS, the volumes' limit",
	Ignore: "When the job is a copy of your application, which has no more in flight either.",
	After:  []finding.Code{"PL401", "PL413"},
	Check: func(c *Case, report func(finding.Finding)) {
		for _, m := range c.measured() {
			if !c.isConcurrencyBound(m) {
				continue
			}
			asked, mean := m.inFlight(), m.meanLatency()
			possible := units.IOPS(float64(asked) / mean * 1e9)
			if b := m.Ceiling.Concurrency(); b != nil { // counts the syncs too
				mean, possible = b.Demand*1e9, b.IOPS
			}
			f := finding.Finding{
				Subject: m.Label(), Scenarios: m.ids(),
				Message: fmt.Sprintf("%s IOPS are what %d in flight can do at %s each (%s).", m.iops(), asked, units.Latency(mean).String(), possible),
				Evidence: []finding.Evidence{
					{What: "in flight / latency", Found: fmt.Sprintf("%d / %s = %s IOPS", asked, units.Latency(mean).String(), possible), Expected: m.iops().String() + " measured", Where: "fio, Little's law"},
				},
			}
			if b, ok := hardware(m.Ceiling); ok {
				f.Message = fmt.Sprintf("%s IOPS are what %d in flight can do at %s each (%s); the hardware allows %s (%s).",
					m.iops(), asked, units.Latency(mean).String(), possible, b.IOPS, b.Label())
				f.Evidence = append(f.Evidence, finding.Evidence{What: "limit of the hardware", Found: b.IOPS.String() + " IOPS", Where: b.How})
				if asked > latencyDepth && m.Scenario.Phase != "latency" {
					f.Severity = finding.Warn
				}
			}
			report(f)
		}
	},
}

func (c *Case) isConcurrencyBound(m Measurement) bool {
	asked, mean := m.inFlight(), m.meanLatency()
	if asked == 0 || mean <= 0 || m.any(paced) || m.any(buffered) || m.reached() {
		return false
	}
	if m.Ceiling != nil { // the ceiling itself may know, from a measured or stated latency
		if b := m.Ceiling.Binding(); b != nil && b.Kind == ceiling.Concurrency && m.iops() >= fullFlight*b.IOPS {
			return true
		}
	}
	if l := float64(m.iops()) * mean / 1e9; l < fullFlight*float64(asked) {
		return false
	}
	volumes := len(c.leaves(m))
	if a := c.arrayOf(m); a != nil {
		volumes = len(a.Volumes)
	}
	return asked <= shallowPerVolume*max(volumes, 1) && mean <= c.restingLatency(m)
}

// restingLatency is the most that a mean may be, in nanoseconds, without a queue having made it.
func (c *Case) restingLatency(m Measurement) float64 {
	var typical time.Duration
	if a := c.arrayOf(m); a != nil {
		for _, v := range a.Volumes {
			if m.any(fio.Workload.Reads) {
				typical = max(typical, v.ReadLatency)
			}
			if m.any(fio.Workload.Writes) {
				typical = max(typical, v.WriteLatency)
			}
		}
	}
	switch {
	case typical > 0 && !m.syncs():
		return unloaded * float64(typical)
	case m.syncs(): // a synced EBS write takes longer than a write: the guide's 1.858 ms at depth 1
		return max(unloaded*float64(typical), 2*float64(unloadedGuess))
	}
	return float64(unloadedGuess)
}

var ceilingReached = &rule{
	Code: "PL502", Since: "0.1", Severity: finding.Info,
	Title:  "ceiling reached",
	When:   "Measured IOPS are 95 % to 110 % of the smallest bound that the hardware sets.",
	Why:    "The storage gives what it can: this resource binds, and only raising it changes the figure.",
	Fix:    "Raise the binding resource if you need more, as far as the next bound; `plimsoll ceiling` shows both.",
	Bad:    "12,200 IOPS, and nobody knows why not more",
	Good:   "12,200 IOPS: 101.7 % of the 12,000 that eight volumes allow in RAID10 writes",
	Ignore: "It is good news unless you need more.",
	After:  []finding.Code{"PL505"},
	Check: func(c *Case, report func(finding.Finding)) {
		for _, m := range c.measured() {
			if b, ok := hardware(m.Ceiling); ok && m.reached() && m.iops() <= impossibleShare*b.IOPS {
				report(m.reaching(b))
			}
		}
	},
}

// reaching is the finding that a bound was reached, with what would bind next.
func (m Measurement) reaching(b ceiling.Bound) finding.Finding {
	f := finding.Finding{
		Subject: m.Label(), Scenarios: m.ids(),
		Message: fmt.Sprintf("%s IOPS (%s) are %s of what %s allows.", m.iops(), m.bw(), text.Percent(float64(m.iops()/b.IOPS)), b.Label()),
		Evidence: []finding.Evidence{
			{What: "IOPS", Found: m.iops().String(), Expected: fmt.Sprintf("%s (%s)", b.IOPS, b.BW), Where: "fio, scenario " + m.Label()},
			{What: "bound by " + b.Label(), Found: b.How, Where: origin(b.Origin)},
		},
	}
	if n := m.Ceiling.Least(func(o ceiling.Bound) bool {
		return o.Kind != b.Kind && o.Kind != ceiling.Concurrency && o.Kind != ceiling.RequestedRate
	}); n != nil {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "next bound, " + n.Label(), Found: n.IOPS.String() + " IOPS", Where: n.How})
	}
	return f
}

// farShare of the ceiling is where a result needs an explanation: EBS promises 90 % of the provisioned figure.
const farShare = 0.80

var farBelow = &rule{
	Code: "PL503", Since: "0.1", Severity: finding.Warn,
	Title: "far below the ceiling",
	When: "Measured IOPS are below 80 % of the smallest bound that the hardware sets, and neither concurrency nor the job's own rate " +
		"explains it. Likely causes that the case itself shows come first.",
	Why:    "Capacity that is paid for does not arrive. Something between fio and the volumes takes it.",
	Fix:    "Go through the causes in their order; measure again after each change.",
	Bad:    "3,733 MiB/s from four drives that can read 12,000 MB/s",
	Good:   "11,400 MB/s from the same drives",
	Ignore: "When the limits come from data sheets of sequential 128 KiB reads on empty drives and your load is nothing like that.",
	After:  []finding.Code{"PL401", "PL406", "PL501", "PL504"},
	Check: func(c *Case, report func(finding.Finding)) {
		for _, m := range c.measured() {
			b, ok := hardware(m.Ceiling)
			if !ok || m.iops() >= farShare*b.IOPS || m.any(paced) || m.iops() == 0 {
				continue
			}
			causes := c.causes(m, b)
			f := finding.Finding{
				Subject: m.Label(), Scenarios: m.ids(),
				Message: fmt.Sprintf("%s IOPS (%s) are %s of the %s (%s) that %s allows.", m.iops(), m.bw(),
					text.Percent(float64(m.iops()/b.IOPS)), b.IOPS, b.BW, b.Label()),
				Evidence: []finding.Evidence{
					{What: "IOPS", Found: m.iops().String(), Expected: b.IOPS.String(), Where: b.How + "; " + origin(b.Origin)},
					{What: "throughput", Found: rate(m.bw()), Expected: rate(b.BW), Where: "the same"},
				},
			}
			for i, cause := range causes {
				f.Evidence = append(f.Evidence, finding.Evidence{What: fmt.Sprintf("likely cause %d", i+1), Found: cause, Where: "this case"})
			}
			if len(causes) > 0 {
				f.Fix = "Most likely: " + causes[0] + ". " + "Mend the causes in the order of the evidence and measure again."
			}
			report(f)
		}
	},
}

// causes lists what in the case itself would explain a low figure, most certain and most costly first.
func (c *Case) causes(m Measurement, b ceiling.Bound) []string {
	var out []string
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	r := m.Result
	asked, mean := m.inFlight(), m.meanLatency()
	for _, by := range []struct {
		who string
		of  func(cloud.EBSStats) (iops, rate time.Duration)
	}{{"the instance's limit on", ofMachine}, {"the volumes' provisioned", ofVolume}} {
		what, share, _ := m.exceeded(by.of)
		add(share > 0, "%s %s was exceeded for %s of the run (EBS counters)", by.who, what, text.Percent(share))
	}
	if low, ok := lasting(m.Ceiling); ok {
		level := rateAtEnd(r)
		add(level > 0 && level <= (1+dryLevel)*float64(low.IOPS), "the burst is spent: its end ran at %s IOPS, and %s lasts", units.IOPS(math.Round(level)), low.IOPS)
	}
	if a := c.arrayOf(m); a != nil {
		add(a.Degraded > 0, "%s lacks %d members", a.Name, a.Degraded)
		add(a.Syncing != "" && a.Syncing != idle, "%s is in a %s", a.Name, a.Syncing)
		add(a.Level == topology.Linear && len(a.Volumes) > 1, "%s is linear, so one volume works at a time", a.Name)
	}
	if l, ok := c.lagIn(m); ok && l.ratio() >= stragglerDeep {
		add(true, "%s takes %s the time of its peers", l.slow[0].name, text.Times(l.ratio()))
	}
	for _, j := range r.Jobs {
		add(j.CPU.User+j.CPU.System >= coreFull, "job %s fills its core (%s)", j.Name, text.Percent(j.CPU.User+j.CPU.System))
	}
	if h := r.Host; h != nil {
		add(h.Steal >= stolen, "the hypervisor took %s of the CPU", text.Percent(h.Steal))
		add(h.IOFull == 0 && h.User+h.System+h.SoftIRQ >= hostFull, "the host's CPUs are full")
	}
	add(m.any(func(w fio.Workload) bool { return w.SyncEvery == 1 && w.Depth > 1 }), "each write waits for a sync (PL408)")
	add(m.any(buffered), "the I/O is buffered, so its depth is 1 and the page cache copies it")
	if got := m.little(); asked > 0 && got > 0 && !m.syncs() {
		add(got < depthReached*float64(asked), "only %s of %d I/Os were in flight", units.Number(got), asked)
	}
	if n := len(c.leaves(m)); n > 0 && asked > 0 {
		add(asked < latencyDepth*n, "%d in flight over %d volumes are %s each", asked, n, units.Number(float64(asked)/float64(n)))
	}
	if len(r.Workloads) > 0 {
		w := r.Workloads[0]
		bs := max(w.ReadBS, w.WriteBS)
		pieces := splitSeen(r)
		add(!w.Sequential && pieces >= splitTold, "each I/O of %s becomes %s on the volumes", bs, fmt.Sprintf("%.4g", pieces))
		add(w.Sequential && bs > 0 && bs < 64*units.KiB && b.Kind == ceiling.VolumeRate, "blocks of %s are small for throughput", bs)
	}
	if p50, ok := r.Total.Read.Clat.At(50); ok && mean > 0 && !r.Total.Write.Clat.Measured() {
		tail := mean / float64(p50)
		add(tail >= meanOfTail, "the mean latency (%s) is %s the median (%s): a slow part of the I/Os holds the queue", units.Latency(mean).String(), text.Times(tail), text.Duration(p50))
	}
	return out
}

// meanOfTail times the median is a mean that few, slow I/Os make. (Round 15 of the striped P4510: 9.4.)
const meanOfTail = 4

// demandMet of a requested rate counts as met: fio's own pacing keeps within 1 % of it.
const demandMet = 0.98

var demandMissed = &rule{
	Code: "PL504", Since: "0.1", Severity: finding.Fail,
	Title:  "the demand was not met",
	When:   "A job asks for a rate (rate=, rate_iops=) and less than 98 % of it was measured, in a direction that ran.",
	Why:    "The rate is what the application needs. A rate-limited job falls behind when the storage cannot keep up, and its latencies then grow without bound.",
	Fix:    "Provision for the demand (`plimsoll ceiling FILE` says what it takes), or lower it.",
	Bad:    "rate=16m × 16 jobs = 256 MiB/s of reads asked, 118 MiB/s measured (46 %)",
	Good:   "rate=5m × 16 jobs = 80 MiB/s of writes asked, 80 MiB/s measured",
	Ignore: "When the rate was set high on purpose, to find the limit.",
	After:  []finding.Code{"PL402"},
	Check: func(c *Case, report func(finding.Finding)) {
		for _, m := range c.measured() {
			var says []string
			f := finding.Finding{Subject: m.Label(), Scenarios: m.ids()}
			miss := func(what string, asked, got float64, unit func(float64) string) {
				if asked == 0 || got == 0 || got >= demandMet*asked {
					return
				}
				says = append(says, fmt.Sprintf("%s of the %s of %s asked for (%s)", text.Percent(got/asked), unit(asked), what, unit(got)))
				f.Evidence = append(f.Evidence, finding.Evidence{What: what, Found: unit(got), Expected: unit(asked), Where: "fio, against rate= of the jobs"})
			}
			byRate := func(v float64) string { return units.Rate(v).String() }
			byIOPS := func(v float64) string { return units.IOPS(v).String() + " IOPS" }
			d := demandOf(m.Result)
			t := m.Result.Total
			miss("reads", d.readRate, float64(t.Read.BW), byRate)
			miss("writes", d.writeRate, float64(t.Write.BW), byRate)
			miss("reads", d.readIOPS, float64(t.Read.IOPS), byIOPS)
			miss("writes", d.writeIOPS, float64(t.Write.IOPS), byIOPS)
			if len(says) > 0 {
				f.Message = "The storage gave " + strings.Join(says, " and ") + "."
				report(f)
			}
		}
	},
}

// demand is what all jobs ask for together; 0 where some job of the direction asks for no rate.
type demand struct{ readRate, writeRate, readIOPS, writeIOPS float64 }

func demandOf(r *result.Result) demand {
	var d demand
	sum := func(into *float64, runs bool, each float64, jobs int, open *bool) {
		if runs {
			*into += each * float64(max(jobs, 1))
			*open = *open || each == 0
		}
	}
	var open [4]bool
	for _, w := range r.Workloads {
		sum(&d.readRate, w.Reads(), float64(w.ReadRate), w.Jobs, &open[0])
		sum(&d.writeRate, w.Writes(), float64(w.WriteRate), w.Jobs, &open[1])
		sum(&d.readIOPS, w.Reads(), float64(w.ReadIOPS), w.Jobs, &open[2])
		sum(&d.writeIOPS, w.Writes(), float64(w.WriteIOPS), w.Jobs, &open[3])
	}
	for i, v := range []*float64{&d.readRate, &d.writeRate, &d.readIOPS, &d.writeIOPS} {
		if open[i] {
			*v = 0
		}
	}
	return d
}

var instanceBound = &rule{
	Code: "PL505", Since: "0.1", Severity: finding.Info,
	Title:  "bound by the instance, not by its volumes",
	When:   "The ceiling is reached, and the smallest bound is the instance's own limit on its network storage.",
	Why:    "All volumes of a machine share this cap. More or faster volumes change nothing; a larger instance does.",
	Fix:    "Choose an instance whose sustained EBS limit covers the load, or provision the volumes down to what it can use.",
	Bad:    "an io2 volume of 64,000 IOPS on a c6a.xlarge, which sustains 6,000",
	Good:   "the same volume on an instance that sustains 40,000 or more",
	Ignore: "When the volumes will move to a larger machine.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, m := range c.measured() {
			b, ok := hardware(m.Ceiling)
			if !ok || !ofInstance(b) || !m.reached() || m.iops() > impossibleShare*b.IOPS {
				continue
			}
			f := m.reaching(b)
			who := "the instance"
			if c.Topology != nil {
				who = cmp.Or(c.Topology.Instance.Type, who)
			}
			f.Message = fmt.Sprintf("%s IOPS (%s) are %s of what %s may do over its storage network (%s); its volumes are not the limit.",
				m.iops(), m.bw(), text.Percent(float64(m.iops()/b.IOPS)), who, b.Label())
			report(f)
		}
	},
}

func ofInstance(b ceiling.Bound) bool {
	return b.Kind == ceiling.InstanceIOPS || b.Kind == ceiling.InstanceRate
}

// mirrorGain is how far above the naive figure, one side of each mirror, reads must come to prove that both sides serve them.
const mirrorGain = 1.25

var mirrorReads = &rule{
	Code: "PL506", Since: "0.1", Severity: finding.Info,
	Title: "a mirrored array reads from every member",
	When:  "A RAID1 or RAID10 array reads more than 1.25 times what the volumes of one side can give.",
	Why: "The rule of thumb `stripes × volume` holds for writes, which go to both sides of a mirror. Reads are spread over all members, so a plan " +
		"that halves them buys twice what it needs, and a result `above theory` is no surprise.",
	Fix:    "Count all members for reads: 8 × 125 MiB/s = 1,000 MiB/s, and half of it for writes.",
	Bad:    "RAID10 of 8 gp3: Throughput = 4 × 125 = 500 MB/s; measured 1,003 MB/s of reads",
	Good:   "read 8 × 125 = 1,000 MiB/s, write 4 × 125 = 500 MiB/s",
	Ignore: "At depth 1, where md reads from the first idle side only.",
	After:  []finding.Code{"PL401", "PL413"},
	Check: func(c *Case, report func(finding.Finding)) {
		for _, m := range c.measured() {
			a := c.arrayOf(m)
			t := m.Result.Total
			if a == nil || !a.Level.Mirrored() || Ran(t.Write) || !Ran(t.Read) || len(a.Volumes) == 0 {
				continue
			}
			one := a.Volumes[0].Sustained.Rate
			half := units.Rate(a.DataMembers()) * one
			if half == 0 || t.Read.BW <= mirrorGain*half {
				continue
			}
			report(finding.Finding{
				Subject: m.Label(), Scenarios: m.ids(),
				Message: fmt.Sprintf("Reads of %s exceed the %s of %d volumes, since all %d members of %s serve reads (%s).", t.Read.BW, half,
					a.DataMembers(), len(a.Volumes), a.Name, units.Rate(len(a.Volumes))*one),
				Evidence: []finding.Evidence{{
					What: "read throughput", Found: t.Read.BW.String(), Expected: fmt.Sprintf("up to %d × %s = %s", len(a.Volumes), one, units.Rate(len(a.Volumes))*one),
					Where: "fio, scenario " + m.Label(),
				}},
			})
		}
	},
}
