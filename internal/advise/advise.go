// Package advise finds what to buy for a demand: layouts of volumes and the instance before them,
// with what they cost a month, what limits each, how durable it is, and why the next cheaper one
// does not do. The ceilings are those of package ceiling: it sizes by ceiling.CostOf and checks
// each row that it returns with ceiling.Of.
package advise

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Request is a demand and what a purchase for it is bound to. Zero fields do not restrict.
type Request struct {
	// Now is today, to say of prices that they are old.
	Now    time.Time
	Demand *workload.Demand
	Prices *cloud.Prices
	// Cloud whose machines and volumes are looked at; nil is EC2.
	Cloud *cloud.Provider
	// Headroom is how much more than the demand is bought: 0.2 for a fifth.
	Headroom float64
	// BurstOK lets the instance's bursts count, for a demand whose peaks fit them.
	BurstOK bool
	// The instance.
	VCPUs    int
	Memory   units.Bytes
	Arch     string   // arm64 or x86_64
	Families []string // globs of the part before the dot, such as m*; none for all
	Older    bool     // previous generations and types without NVMe, too
	Instance string   // keep this type
	Why      []string // say of these types why each row does not take them
	// The volumes.
	Types      []string // gp3, io2, st1, local; none for these
	MaxVolumes int
	Keep       *Layout // keep these volumes
	// Beside are layouts that are compared with the demand, each on Instance or the cheapest that carries it; nothing
	// else is looked at.
	Beside []Layout
	// Synced is the time of a write with its sync as measured on Keep, the only one of Types, or else
	// gp3; 0, and of other types, is what the catalogue knows.
	Synced time.Duration
	// Shown is how long one I/O took at most on volumes of a type, where a run showed it to be less
	// than the catalogue has it.
	Shown map[string]Took
	// Series is what is to be carried, where it is known interval by interval; the demand is then
	// Series.Demand.
	Series *Series
	// known are the needs worked out so far, required what they ask of an instance.
	known    map[shape]need
	required map[shape]requirement
	unpriced []cloud.InstanceFacts // that fit
	alone    bool                  // look for the rows only
}

// Layout is volumes and how they are combined.
type Layout struct {
	Level topology.Level   `json:"level"`
	N     int              `json:"volumes"`
	Chunk units.Bytes      `json:"chunk,omitempty"`
	Spec  cloud.VolumeSpec `json:"each"`
	// Local says that these are the instance's own drives, which are empty after it stops.
	Local bool `json:"local,omitempty"`
}

// Candidate is a layout on an instance.
type Candidate struct {
	Layout   Layout              `json:"layout"`
	Instance cloud.InstanceFacts `json:"-"`
	Type     string              `json:"instance"`
	// Month is what both cost, in millionths of a dollar.
	Month         cloud.USD `json:"usd_micro_month"`
	VolumesMonth  cloud.USD `json:"volumes_usd_micro_month"`
	InstanceMonth cloud.USD `json:"instance_usd_micro_month"`
	// AFR is the share of years in which the data is lost, where it can be stated: of one volume,
	// or of any of several. A mirror has none: failures within a zone are not independent.
	AFR      float64           `json:"afr,omitempty"`
	Survives workload.Survives `json:"survives"`
	// Latency is that of one I/O at depth 1, by the demand's mix, as far as it is known.
	Latency time.Duration `json:"latency,omitempty"`
	// Sustained limits at Times the demand; Burst, where the instance bursts, limits at BurstTimes.
	Sustained ceiling.Bound `json:"sustained"`
	Times     float64       `json:"times"`
	// PerIOPS is what a month of each sustained I/O a second of the demand's mix costs.
	PerIOPS cloud.USD      `json:"usd_micro_per_sustained_iops,omitempty"`
	Burst   *ceiling.Bound `json:"burst,omitempty"`
	// Replay is what became of the series, where there is one.
	Replay     *Replay `json:"series,omitempty"`
	BurstTimes float64 `json:"burst_times,omitempty"`
	// ByBurst says that the demand's peaks are carried by the burst, which was allowed.
	ByBurst bool     `json:"by_burst,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Names are what distinguishes the row: cheapest, durable, lowest latency, your volumes.
	Names []string `json:"names,omitempty"`
	// Streams are the shares of the demand that layouts beside each other give each stream, in its order.
	Streams []float64 `json:"streams,omitempty"`
	// Why the next cheaper choice does not do.
	Why []string `json:"why,omitempty"`
}

// Meets is how many times a row gives the demand: its peaks by a burst where that was counted on.
func (c *Candidate) Meets() float64 {
	if c.ByBurst {
		return c.BurstTimes
	}
	return c.Times
}

// Advice is what to buy.
type Advice struct {
	Demand   *workload.Demand `json:"demand"`
	Headroom float64          `json:"headroom"`
	Region   string           `json:"region"`
	Cloud    string           `json:"cloud"`
	// Asked says that types of instances were named, to say why the rows do not take them.
	Asked bool `json:"-"`
	// Assumed is what was taken for granted for want of a flag that says it.
	Assumed []string `json:"assumed,omitempty"`
	// Owned are the volumes that are kept, whether they meet the demand or not: Times is their share.
	Owned *Candidate `json:"owned,omitempty"`
	// Rows are the choices to show, cheapest first, kept volumes before them; Front all that no other
	// beats in cost, durability, latency and number of volumes.
	Rows  []Candidate `json:"rows"`
	Front []Candidate `json:"front"`
	// Cliff is the cheapest choice that misses the demand by a tenth at most, nil where it saves little.
	Cliff *Candidate `json:"cliff,omitempty"`
	// Next are what would be chosen where nothing meets the demand, had something else been asked for.
	Next []Beyond `json:"next,omitempty"`
	// Less are what costs less than the first row, and throttles a series for how long.
	Less []Candidate `json:"less,omitempty"`
	// Rejected says of each type of volume, and of what was to be kept, why it is not among them.
	Rejected []string `json:"rejected,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	// Considered counts layouts and instance types.
	Layouts   int `json:"layouts"`
	Instances int `json:"instances"`
}

// localType stands for an instance's own drives.
const localType = "local"

// DefaultMaxVolumes is how many volumes a layout may have where nothing is said.
const DefaultMaxVolumes = 16

// MostVolumes is how many it may have at all: as many as an EC2 instance takes.
const MostVolumes = 128

// ErrCapacity says that a demand does not say how much data there is: nothing can be bought for it.
var ErrCapacity = errors.New("the demand has no capacity, and volumes are bought by size")

// Advise works out what to buy. A demand for which nothing does is no error: Rows is then empty and
// Rejected says why.
func Advise(r Request) (*Advice, error) {
	if r.Demand == nil || len(r.Demand.Streams) == 0 {
		return nil, fmt.Errorf("a demand has no streams")
	}
	if r.Headroom < 0 && !r.alone || r.Headroom > 10 {
		return nil, fmt.Errorf("headroom %s: use 0 to 10 times the demand", units.Number(r.Headroom))
	}
	if r.Demand.Capacity == 0 && r.Keep == nil && r.Beside == nil {
		return nil, ErrCapacity
	}
	r.Prices, r.known, r.required = cmp.Or(r.Prices, r.provider().Prices()), map[shape]need{}, map[shape]requirement{}
	r.Types = slices.Clone(r.Types)
	for i, name := range r.Types { // as the catalogue calls them
		t, ok := cloud.TypeNamed(name)
		switch terms := r.provider().Terms(); {
		case name == localType:
		case !ok || t.Provider != terms.Vendor:
			return nil, fmt.Errorf("%.40s: not a volume type of %s", name, terms.Cloud)
		default:
			r.Types[i] = t.Type
		}
	}
	a := &Advice{
		Demand: r.Demand, Headroom: r.Headroom, Region: r.Prices.Region, Cloud: r.provider().Terms().Cloud,
		Asked: len(r.Why) > 0,
	}
	instances, err := r.instances()
	if err != nil {
		return nil, err
	}
	if len(r.Beside) > 0 {
		return a, a.compare(&r, instances)
	}
	all := a.candidates(&r, instances)
	a.Front = front(all)
	for i := range a.Front {
		if err := r.finish(&a.Front[i], instances); err != nil {
			return nil, err
		}
	}
	a.Rows = a.name(a.Front, r)
	if r.Series != nil {
		a.seriesNotes(r.Series)
		if len(a.Rows) > 0 {
			a.Less = r.less(a.Rows[0], instances)
		}
	}
	if r.Keep != nil {
		if err := a.owned(r, instances); err != nil {
			return nil, err
		}
	}
	if !r.alone {
		if a.Cliff = r.cliff(a.Rows); len(a.Rows) == 0 {
			a.Next = r.next()
		}
	}
	a.notes(r)
	return a, nil
}

// candidates are all layouts that meet the demand, each on its cheapest instance.
func (a *Advice) candidates(r *Request, instances []priced) []Candidate {
	a.Instances = len(instances)
	if len(instances) == 0 {
		a.Rejected = append(a.Rejected,
			"no instance type with a price has the vCPUs, memory, architecture and family asked for")
	}
	layouts, rejected := r.layouts()
	a.Rejected, a.Layouts = append(a.Rejected, rejected...), len(layouts)
	var all []Candidate
	for _, l := range layouts {
		c, ok := r.cheapest(l, instances)
		if ok {
			all = append(all, c)
			continue
		}
		a.Rejected = text.Once(a.Rejected, r.whyNone(l, instances))
	}
	if local, why := r.local(instances); local != nil {
		all = append(all, *local)
	} else if why != "" {
		a.Rejected = append(a.Rejected, why)
	}
	return all
}

// front keeps what no other candidate beats: one that costs no more, and is at least as durable, as
// fast and as simple.
func front(all []Candidate) []Candidate {
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Month, b.Month), cmp.Compare(a.Layout.N, b.Layout.N))
	})
	var kept []Candidate
	for _, c := range all {
		if !slices.ContainsFunc(kept, func(k Candidate) bool { return k.beats(c) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

// beats says that c is nowhere worse than o; c costs no more, as the front is filled in order of
// cost. Failure rates compare within one rank only: a mirror has none.
func (c Candidate) beats(o Candidate) bool {
	return c.durable() >= o.durable() && c.AFR <= o.AFR && c.class() <= o.class() && c.simple() <= o.simple()
}

// durable ranks what the data survives.
func (c Candidate) durable() int {
	switch {
	case c.Layout.Local:
		return 0
	case c.Survives == workload.LostVolume:
		return 2
	}
	return 1
}

// class of latency: those of one type of volume are alike.
func (c Candidate) class() time.Duration { return c.Latency.Round(50 * time.Microsecond) }

// simple groups numbers of volumes: one, a few, many.
func (c Candidate) simple() int {
	switch n := c.Layout.N; {
	case n == 1:
		return 0
	case n <= 4:
		return 1
	}
	return 2
}

// yours names the volumes that are kept.
const yours = "your volumes"

// Kept says that these are the volumes that were to be kept.
func (c Candidate) Kept() bool { return slices.Contains(c.Names, yours) }

const mostRows = 6

// superlative is what a row is the best of.
type superlative struct {
	name   string
	better func(a, b Candidate) bool
	among  func(Candidate) bool
}

const leastMonth = "cheapest"

func superlatives(r Request) []superlative {
	kept := func(c Candidate) bool { return !c.Layout.Local || r.Demand.Durability.Survives == workload.NoLoss }
	cheaper := func(a, b Candidate) bool { return a.Month < b.Month }
	return []superlative{
		{leastMonth, cheaper, kept},
		{"redundant", cheaper, func(c Candidate) bool { return c.durable() == 2 }},
		{"one volume", cheaper, func(c Candidate) bool { return !c.Layout.Local && c.Layout.N == 1 }},
		{
			"lowest failure rate",
			func(a, b Candidate) bool { return a.AFR < b.AFR },
			func(c Candidate) bool { return !c.Layout.Local && c.AFR > 0 },
		},
		{
			"lowest latency",
			func(a, b Candidate) bool { return a.class() < b.class() },
			func(c Candidate) bool { return kept(c) && c.Latency > 0 },
		},
		{"local drives, empty after a stop", cheaper, func(c Candidate) bool { return c.Layout.Local }},
	}
}

// name chooses the rows to show and says what each is. The front is in order of cost. What loses the
// data when the instance stops is offered on its own only where the demand allows that. Volumes that
// are kept are named as such: what they are the best of is known beside the others (owned).
func (a *Advice) name(front []Candidate, r Request) []Candidate {
	names := map[int][]string{}
	allowed := r.Demand.Durability.Survives == workload.NoLoss
	for _, s := range superlatives(r) {
		best := -1
		for i, c := range front {
			if s.among(c) && (best < 0 || s.better(c, front[best])) {
				best = i
			}
		}
		if s.name == leastMonth && best > 0 && !s.among(front[0]) {
			s.name = "cheapest that keeps its data when the instance stops"
		}
		if best >= 0 {
			names[best] = append(names[best], s.name)
		}
	}
	var rows []Candidate
	for i, c := range front {
		if len(names[i]) == 0 || len(rows) == mostRows {
			continue
		}
		c.Names = names[i]
		if r.Keep != nil {
			c.Names = []string{yours}
		}
		rows = append(rows, c)
	}
	if allowed {
		return rows
	}
	slices.SortStableFunc(rows, func(a, b Candidate) int { // drives that lose the data come last, whatever they cost
		return cmp.Compare(min(1, b.durable()), min(1, a.durable()))
	})
	if len(rows) == 1 && rows[0].Layout.Local {
		a.Rejected = append(a.Rejected, "local drives: "+
			drives(rows[0].Layout.N, fmt.Sprintf("%s at %v", text.Article(rows[0].Type), rows[0].Month)))
		return nil
	}
	return rows
}

// drives says that so many local drives of an instance would do, and why they are not offered.
func drives(n int, of string) string {
	if n == 1 {
		return "one in " + of + " meets it, but loses its data when it stops; --survives none allows that"
	}
	return fmt.Sprintf("%d in %s meet it, but lose their data when it stops; --survives none allows that", n, of)
}
