package advise

import (
	"slices"

	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Beyond is a choice for another demand, or under other restrictions, than what was asked for.
type Beyond struct {
	// What was changed: "without --instance c8g.2xlarge".
	What string    `json:"what"`
	Row  Candidate `json:"choice"`
}

// A choice that misses a demand with its headroom by no more is shown where it saves this much.
const (
	misses = 0.1
	saves  = 0.05
)

// cheapestAlone is the cheapest choice of a request for itself; nil for none.
func (r Request) cheapestAlone() *Candidate {
	r.alone, r.Keep = true, nil
	a, err := Advise(r)
	if err != nil || len(a.Rows) == 0 || a.Rows[0].Layout.Local {
		return nil
	}
	return &a.Rows[0]
}

// scaled asks for a share of the demand with its headroom.
func (r Request) scaled(share float64) Request {
	r.Headroom = (1+r.Headroom)*share - 1
	return r
}

// cliff is the cheapest choice that misses the demand by little; nil where it saves little.
func (r Request) cliff(rows []Candidate) *Candidate {
	if r.Series != nil || len(rows) > 0 && rows[0].Layout.Local {
		return nil
	}
	c := r.scaled(1 - misses).cheapestAlone()
	if c == nil || len(rows) > 0 && float64(c.Month) > float64(rows[0].Month)*(1-saves) ||
		c.Meets() >= (1+r.Headroom)*0.999 {
		return nil
	}
	return c
}

// next are the changes of a request that nothing meets each of which finds a choice; where none alone does,
// all of them together, and where that does not either, a part of the demand.
func (r Request) next() (steps []Beyond) {
	take := func(what string, o Request) {
		if c := o.cheapestAlone(); c != nil {
			steps = append(steps, Beyond{what, *c})
		}
	}
	all := r
	bursts := slices.ContainsFunc(r.Demand.Streams, func(s workload.Stream) bool { return s.Burst != nil })
	for _, one := range []struct {
		what    string
		applies bool
		change  func(*Request)
	}{
		{"without --instance " + r.Instance, r.Instance != "", func(r *Request) { r.Instance = "" }},
		{"with other --types", len(r.Types) > 0, func(r *Request) { r.Types = nil }},
		{"with any --family", len(r.Families) > 0, func(r *Request) { r.Families = nil }},
		{"with any --arch", r.Arch != "", func(r *Request) { r.Arch = "" }},
		{"with --burst-ok", bursts && !r.BurstOK, func(r *Request) { r.BurstOK = true }},
		{"with --headroom 0%", r.Headroom > 0, func(r *Request) { r.Headroom = 0 }},
		{"with --max-volumes 32", r.most() < 32, func(r *Request) { r.MaxVolumes = 32 }},
		{"without a durability requirement", r.Demand.Durability != workload.Durability{}, func(r *Request) {
			d := *r.Demand
			d.Durability, r.Demand = workload.Durability{}, &d
		}},
	} {
		if o := r; one.applies {
			one.change(&o)
			one.change(&all)
			take(one.what, o)
		}
	}
	if len(steps) == 0 {
		take("without any of these restrictions", all)
	}
	for _, part := range []struct {
		name  string
		share float64
	}{{"half", 0.5}, {"a quarter", 0.25}, {"a tenth", 0.1}, {"a hundredth", 0.01}} {
		if len(steps) == 0 {
			d := *r.Demand
			d.Capacity = max(units.Bytes(float64(d.Capacity)*part.share), 1)
			o := r.scaled(part.share)
			o.Demand = &d
			take("for "+part.name+" of the demand, on several machines", o)
		}
	}
	return steps
}
