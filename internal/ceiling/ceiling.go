// Package ceiling works out the most that a topology allows a workload, by operational bottleneck
// analysis: each resource has a capacity, a mean logical I/O puts a demand on it, and the smallest
// capacity/demand bounds the whole (Denning and Buzen's asymptotic bounds); in-flight I/Os over
// latency bound it too (Little's law). docs/ceiling.md gives the formulas, assumptions and sources.
package ceiling

import (
	"strings"
	"time"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Ceiling is every bound on one workload.
type Ceiling struct {
	// Bounds in ascending order of IOPS; burst bounds stand among them.
	Bounds []Bound `json:"bounds"`
	// Notes are the assumptions made and what is not known.
	Notes []string `json:"notes,omitempty"`
	// Partly names limits that this load meets and that are not known: the bounds are then the most that
	// is known, and no figure is what the storage sustains.
	Partly []string `json:"partly,omitempty"`
	// The mean logical I/O that the bounds are for: what WithLatency goes by.
	InFlight  int         `json:"in_flight,omitempty"`  // I/Os that the jobs keep outstanding
	ReadShare float64     `json:"read_share,omitempty"` // 0..1
	IOSize    units.Bytes `json:"io_size,omitempty"`
	model     *model
}

// Kind of a resource.
type Kind string

// The resources that can bind.
const (
	VolumeIOPS    Kind = "volume IOPS"
	VolumeRate    Kind = "volume throughput"
	InstanceIOPS  Kind = "instance IOPS"
	InstanceRate  Kind = "instance throughput"
	HostCacheIOPS Kind = "host cache IOPS"       // what a host's cache serves of the volumes that it is on for
	HostCacheRate Kind = "host cache throughput" //
	CgroupIOPS    Kind = "cgroup IOPS"           // io.max, blkio.throttle
	CgroupRate    Kind = "cgroup throughput"     //
	Concurrency   Kind = "concurrency"
	RequestedRate Kind = "requested rate" // rate= and rate_iops= of the job itself
)

// Bound is the most that one resource allows.
type Bound struct {
	Kind Kind `json:"kind"`
	// Name tells resources of one kind apart: "instance rate", "md0 IOPS". A burst and the baseline
	// of one resource have the same. Empty in bundles of earlier versions.
	Name string `json:"name,omitempty"`
	// Also is the kind of another limit that allows no more, of what is sustained.
	Also Kind `json:"also,omitempty"`
	// IOPS and BW are of the workload as a whole, reads and writes together; ReadIOPS and WriteIOPS
	// split it.
	IOPS      units.IOPS `json:"iops"`
	BW        units.Rate `json:"bw"`
	ReadIOPS  units.IOPS `json:"read_iops,omitempty"`
	WriteIOPS units.IOPS `json:"write_iops,omitempty"`
	// Burst bounds hold for BurstFor only (0: not known how long), under a load that takes all that
	// the ceiling gives it and never pauses; the others hold without end.
	Burst    bool          `json:"burst,omitempty"`
	BurstFor time.Duration `json:"burst_for,omitempty"`
	// Capacity of the resource and the Demand of one logical I/O on it, in the same unit (I/Os,
	// bytes, or seconds).
	Capacity float64 `json:"capacity"`
	Demand   float64 `json:"demand"`
	// Costs are the demands of one read and of one write of each section of the job, of which
	// Demand is the mean in the mix that the bound allows.
	Costs []SectionCost `json:"costs,omitempty"`
	// Counted is what each counted I/O takes of an HDD volume's throughput; 0 where bytes count as
	// they are.
	Counted units.Bytes `json:"counted,omitempty"`
	// Pool says that all volumes of a type on the machine share the resource, by their size.
	Pool bool `json:"pool,omitempty"`
	// AtLeast is why the resource may allow more than the bound says; empty where its limit is certain.
	AtLeast string `json:"at_least,omitempty"`
	// How is the arithmetic in words: "8 volumes × 3,000 IOPS ÷ 1.3 volume I/Os per I/O".
	How    string          `json:"how"`
	Origin topology.Origin `json:"origin"`
}

// SectionCost is the demand of one read and of one write of a section on a resource, in its unit.
type SectionCost struct {
	Read  float64 `json:"read,omitempty"`
	Write float64 `json:"write,omitempty"`
}

// Label names the bound as tables do: "instance IOPS (burst)", "instance and volume IOPS".
func (b Bound) Label() string {
	of, what, _ := strings.Cut(string(b.Kind), " ")
	switch {
	case b.Burst:
		return string(b.Kind) + " (burst)"
	case b.Also == "":
		return string(b.Kind)
	case strings.HasSuffix(string(b.Also), " "+what):
		return of + " and " + string(b.Also)
	}
	return string(b.Kind) + " and " + string(b.Also)
}
