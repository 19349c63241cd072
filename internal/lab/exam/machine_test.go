// Package exam makes machines at random whose faults are known, and marks what plimsoll found on
// them.
package exam

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"plimsoll/internal/text"
)

// Kind is a fault that can be built in.
type Kind string

// The faults.
const (
	SlowMember   Kind = "slow member"
	InstanceCap  Kind = "instance cap"
	HiddenCap    Kind = "instance cap, not declared"
	BurstNearEnd Kind = "burst near its end"
	Degraded     Kind = "degraded array"
	Resync       Kind = "resync"
	Misaligned   Kind = "misaligned partitions"
	WrongSUSW    Kind = "wrong su/sw"
	Unwritten    Kind = "unwritten files"
	Volatile     Kind = "volatile cache"
	MemberLoad   Kind = "other load on a member"
	CPUTaken     Kind = "CPU taken"
	Scheduler    Kind = "scheduler"
	WrongLimits  Kind = "limits declared too high"
	WrongChunk   Kind = "wrong chunk declared"
	WrongLevel   Kind = "wrong level declared"
)

// Fault is one built into a machine.
type Fault struct {
	Kind Kind `json:"kind"`
	// Factor is what it leaves of the ceiling of the scenario, computed from how it was built; 1
	// where it costs nothing. 0 is not known beforehand: of such a fault there is one in a machine,
	// with none that costs anything, and what is measured is its.
	Factor float64 `json:"factor"`
	// Least is what it leaves at the least, where Factor is 0.
	Least float64 `json:"least,omitempty"`
}

// Machine is a layout of volumes with its faults, as a lab.yaml and what to run in it.
type Machine struct {
	Seed   uint64  `json:"seed"`
	Name   string  `json:"name"`
	Faults []Fault `json:"faults,omitempty"`
	Lab    string  `json:"lab"`
	// Edit changes the guest's plimsoll.yaml before anything is run.
	Edit string `json:"edit,omitempty"`
	// Before is started in the guest before the suite and runs meanwhile; Job replaces the suite.
	Before string `json:"before,omitempty"`
	Job    string `json:"job,omitempty"`
	Suite  string `json:"suite,omitempty"`
}

// Kinds are all faults, in a fixed order.
func Kinds() []Kind {
	return []Kind{
		SlowMember, InstanceCap, HiddenCap, BurstNearEnd, Degraded, Resync, Misaligned, WrongSUSW, Unwritten,
		Volatile, MemberLoad, CPUTaken, Scheduler, WrongLimits, WrongChunk, WrongLevel,
	}
}

// free are faults that cost deep random I/O without syncs nothing in the lab. They go with any
// other.
var free = []Kind{Misaligned, WrongSUSW, Volatile, Scheduler}

// factors are faults of volumes, whose factors multiply: other load meets the slow member, and all
// have the limits that are not those declared. They go with each other, and the last with all that
// the layout decides.
var factors = []Kind{SlowMember, MemberLoad, WrongLimits}

// together says that two faults fit into one machine and that what both cost is known.
func together(a, b Kind) bool {
	in := func(k Kind, of ...Kind) bool { return slices.Contains(of, k) }
	switch {
	case a == b:
		return false
	case in(Unwritten, a, b), in(Resync, a, b):
		return false
	case in(a, free...) || in(b, free...):
		return !in(Misaligned, a, b) || !in(WrongChunk, a, b)
	case in(WrongLimits, a, b):
		other := a
		if a == WrongLimits {
			other = b
		}
		return in(other, SlowMember, MemberLoad, Degraded, WrongChunk, WrongLevel)
	}
	return in(a, factors...) && in(b, factors...)
}

// Generate makes the machine of a seed: a quarter are healthy, of the others half have two faults.
func Generate(seed uint64) Machine {
	r := rand.New(rand.NewPCG(seed, 0x706c696d))
	m := Machine{Seed: seed}
	// Faults with a cost come up three times as often as those that are read off the configuration.
	var urn []Kind
	for _, k := range Kinds() {
		times := 3
		if slices.Contains(free, k) || k == Unwritten || k == Resync || k == CPUTaken {
			times = 1
		}
		for range times {
			urn = append(urn, k)
		}
	}
	want := []int{0, 0, 1, 1, 1, 2, 2, 2}[r.IntN(8)]
	for len(m.Faults) < want {
		k := urn[r.IntN(len(urn))]
		if len(m.Faults) == 0 || together(m.Faults[0].Kind, k) {
			m.Faults = append(m.Faults, Fault{Kind: k, Factor: 1})
			if k == Unwritten || k == Resync {
				break
			}
		}
	}
	newLayout(&m, r).write(&m)
	return m
}

func (m *Machine) has(k Kind) *Fault {
	for i := range m.Faults {
		if m.Faults[i].Kind == k {
			return &m.Faults[i]
		}
	}
	return nil
}

func (m *Machine) hasAny(kinds ...Kind) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return m.has(k) != nil })
}

// severe draws what a fault leaves: one in six costs less than a tenth.
func severe(r *rand.Rand, least float64) float64 {
	if r.IntN(6) == 0 {
		return math.Round(100*(0.92+0.05*r.Float64())) / 100
	}
	return math.Round(100*(least+(0.88-least)*r.Float64())) / 100
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// String names a machine's faults with what each leaves.
func (f Fault) String() string {
	switch f.Factor {
	case 0:
		return string(f.Kind)
	case 1:
		return string(f.Kind) + " (no cost)"
	}
	return fmt.Sprintf("%s (leaves %s)", f.Kind, text.Percent(f.Factor))
}
