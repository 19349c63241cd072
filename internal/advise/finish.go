package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Topology is a candidate as ceiling takes it.
func (c *Candidate) Topology() *topology.Topology {
	a := c.Layout.array()
	f := c.volume()
	origin := topology.Origin{Kind: topology.Catalogue, Where: f.String()}
	if c.Layout.Local {
		f = cloud.VolumeFacts{Sustained: c.Instance.Local.Limits}
		origin.Where = c.Instance.Local.String()
	}
	for i := range a.Volumes {
		v := &a.Volumes[i]
		v.Sustained, v.Burst, v.BurstIOs, v.BurstBytes = f.Sustained, f.Burst, f.BurstIOs, f.BurstBytes
		v.Pooled, v.Origin = f.Pooled, origin
	}
	var pools []topology.Pool
	if all := c.Layout.together(); f.Pooled {
		limits, _ := cloud.VolumeLimits(all)
		pools = []topology.Pool{{Type: all.Type, Size: all.Size, Limits: limits.Sustained}}
	}
	t := storageOf(a)
	t.Instance = topology.Instance{
		Type: c.Type, Baseline: c.Instance.Baseline, Burst: c.Instance.Burst,
		BurstFor: c.Instance.BurstFor, BurstPer: c.Instance.BurstPer, BurstRule: c.Instance.BurstRule,
		Caps: c.Instance.Caps, Pools: pools,
		Origin: topology.Origin{Kind: topology.Catalogue, Where: c.Instance.String()},
	}
	return t
}

// volume is what each volume of a row reaches on its instance.
func (c *Candidate) volume() cloud.VolumeFacts {
	f, _ := cloud.VolumeLimits(c.Layout.Spec) // it was ordered by its rules
	return c.Instance.OfVolume(f)
}

// requested are the streams of a group as workloads that ask for their rates: one for each size of
// a mixture.
func requested(group []*workload.Stream) []fio.Workload {
	var loads []fio.Workload
	for _, s := range group {
		for _, b := range s.Blocks {
			w := load(s, b.Size)
			w.Jobs, w.Depth = 1, 64 // concurrency is looked at stream by stream: see tooSlow
			w.ReadIOPS, w.WriteIOPS = s.IOPS*units.IOPS(b.Share*s.ReadShare), s.IOPS*units.IOPS(b.Share*(1-s.ReadShare))
			loads = append(loads, w)
		}
	}
	return loads
}

// limits asks package ceiling what limits a row, and compares that with the demand.
func (r *Request) limits(c *Candidate) error {
	t := c.Topology()
	c.Times, c.BurstTimes = math.Inf(1), math.Inf(1)
	for _, group := range r.peaks() {
		for i := range group {
			group[i] = r.grouped(c.Layout, group[i])
		}
		loads := requested(group)
		ceil := ceiling.Of(t, topology.Data, loads)
		asked := ceil.Of(ceiling.RequestedRate)
		lasts := ceil.Least(func(b ceiling.Bound) bool {
			return b.Kind != ceiling.RequestedRate && b.Kind != ceiling.Concurrency && !b.Burst
		})
		if asked == nil || lasts == nil {
			return fmt.Errorf("%s with %d × %s: its ceiling is not known", c.Type, c.Layout.N, c.Layout.Spec.Type)
		}
		if times := float64(lasts.IOPS / asked.IOPS); times < c.Times {
			c.Times, c.Sustained = times, *lasts
		}
		if most := ceil.Hardware(); most != nil && c.Instance.BurstFor > 0 && float64(most.IOPS/asked.IOPS) < c.BurstTimes {
			c.BurstTimes, c.Burst = float64(most.IOPS/asked.IOPS), most
		}
	}
	if c.Burst == nil || c.BurstTimes <= c.Times*1.001 {
		c.Burst, c.BurstTimes = nil, 0
	}
	if iops := c.Times * float64(r.Demand.Peak().IOPS); iops > 0 {
		c.PerIOPS = c.Month.Times(1 / iops)
	}
	return nil
}

// finish completes a row: what limits it, and why cheaper ones do not do. That its ceiling is the
// demand with headroom is asserted.
func (r *Request) finish(c *Candidate, instances []priced) error {
	if err := r.limits(c); err != nil {
		return err
	}
	if r.Series != nil && !c.Layout.Local {
		if c.Replay = r.replay(c); c.Replay.Throttled > 0 {
			return fmt.Errorf("this is a bug in plimsoll: %s with %d × %s was chosen for a series that it throttles for %v",
				c.Type, c.Layout.N, c.Layout.Spec.Type, text.Duration(c.Replay.Throttled))
		}
	} else if want := 1 + r.Headroom; c.Times < want*0.999 && !(r.BurstOK && c.BurstTimes >= want*0.999) {
		return fmt.Errorf("this is a bug in plimsoll: %s with %d × %s was chosen for %s times the demand, and its ceiling "+
			"is %s times (%s)", c.Type, c.Layout.N, c.Layout.Spec.Type, units.Number(want), units.Number(c.Times),
			c.Sustained.Label())
	}
	c.ByBurst = c.Times < (1+r.Headroom)*0.999 && c.BurstTimes > c.Times
	c.Why = append(c.Why, r.why(c, instances)...)
	r.remarks(c)
	return nil
}

// remarks are what a buyer should know of a row.
func (r *Request) remarks(c *Candidate) {
	if c.Instance.CPUCredits {
		c.Notes = append(c.Notes, c.Type+": its CPU runs on credits, which are separate from those of its storage")
	}
	if c.Layout.Level == topology.RAID0 && !c.Layout.Local {
		c.Notes = append(c.Notes, fmt.Sprintf("losing one of the %d volumes loses all data", c.Layout.N))
	}
	if slices.Contains(c.Instance.Weightings, "ebs-1") {
		c.Notes = append(c.Notes, c.Type+": the bandwidth weighting ebs-1 adds 25 % of throughput, which is not counted")
	}
	for _, typ := range r.Why {
		if why := r.whyNot(c.Layout, typ); why != "" && !c.Layout.Local {
			c.Why = append(c.Why, why)
		}
	}
}

// why is what fails on the next cheaper instance, and on the same volumes provisioned for less.
func (r *Request) why(c *Candidate, instances []priced) []string {
	var why []string
	q := r.requirement(c.Layout)
	for _, i := range slices.Backward(instances) {
		if i.month >= c.InstanceMonth || c.Layout.Local {
			continue
		}
		if lacks := q.lacks(i.InstanceFacts); lacks != "" {
			why = append(why, fmt.Sprintf("%s at %v %s", i.Type, i.month, lacks))
			break
		}
	}
	return why
}

func (a *Advice) notes(r Request) {
	say := func(format string, args ...any) { a.Notes = append(a.Notes, fmt.Sprintf(format, args...)) }
	for _, p := range []struct {
		what string
		from cloud.Provenance
	}{{"instances", r.Prices.InstanceSource}, {"volumes", r.Prices.VolumeSource}} {
		if p.from == (cloud.Provenance{}) {
			continue
		}
		say("%s: %s", text.Join(" in ", "prices of "+p.what, r.Prices.Region), p.from.Cited(r.Now))
	}
	if len(r.Demand.AtLeast) > 0 {
		say("the demand was observed on saturated storage (%s): the true demand may be larger, so this is the minimum to buy",
			strings.Join(r.Demand.AtLeast, "; "))
	}
	if slices.ContainsFunc(r.Demand.Streams, func(s workload.Stream) bool { return !s.Random }) {
		say(
			"sequential I/Os count one by one: %s may merge them; the sizing does not rely on it",
			r.provider().Terms().Volumes,
		)
	}
	if r.BurstOK && !r.bursting() {
		say("--burst-ok changes nothing: no stream of the demand comes in bursts")
	}
	if n := len(r.unpriced); n > 0 {
		say("%d instance types have no price and are left out", n)
	}
	lacks := r.provider().Terms().Lacks
	waits := func(s workload.Stream) bool { return s.Latency.Smallest() > 0 || s.Commits && r.Synced == 0 }
	for flag, asked := range map[string]bool{
		"latency": slices.ContainsFunc(r.Demand.Streams, waits), "afr": r.Demand.Durability.AFR > 0,
	} {
		if lacks[flag] != "" && asked {
			say("what the demand says about %s is ignored: %s", map[string]string{"afr": "data loss"}[flag], lacks[flag])
		}
	}
	for _, c := range a.Rows {
		t, _ := cloud.TypeNamed(c.Layout.Spec.Type)
		a.Notes = text.Once(a.Notes, t.Billed)
	}
}
