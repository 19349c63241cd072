// Package diagnose holds a case, the facts of a machine and its runs as rules ask for them, and the
// account of a gap. The rules are in its families: layout (PL2xx), host (PL3xx), run (PL4xx, PL5xx),
// cloud (PL6xx), postgres (PL7xx) and fleet (PL8xx); diagnose/rules has all of them.
package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
)

type (
	// Report takes what a rule finds.
	Report = func(finding.Finding)
	// Check is what a rule does.
	Check = func(*Case, Report)
	// Checks are those of a family by their codes.
	Checks = map[finding.Code]Check
)

// Each is a check that looks at one measurement after the other, if none of the parts of fio's output is missing
// that it needs: what pastes lack, nobody judges. What has no message is no finding. Those on the machine, and not on
// the measurement, are one.
func Each(look func(*Case, Measurement) finding.Finding, needs ...part.Part) Check {
	return func(c *Case, report Report) {
		var machine *finding.Finding
		for _, m := range c.Measured() {
			if m.Lacks(needs...) {
				continue
			}
			switch f := look(c, m); {
			case f.Message == "":
			case f.Subject == m.Label():
				report(f)
			default:
				machine = Join(machine, f)
			}
		}
		if machine != nil {
			report(*machine)
		}
	}
}

// Case is everything that rules may look at. Parts that are not known are nil or empty, and rules
// that need them are silent.
type Case struct {
	Topology *topology.Topology
	// Host is what was read of the machine around the storage, OtherLoad what its devices did while
	// nothing was measured.
	Host      *host.Facts
	OtherLoad []telemetry.DeviceUse
	// Probes are what the members of arrays gave alone and together before the runs, where that was
	// tried.
	Probes []Probe
	// AtWork is what was seen of programs, groups and members in the same while as OtherLoad.
	AtWork []*live.Facts
	// Touches are what pairs of reads said of blocks that are not loaded from a snapshot yet.
	Touches []Touch
	Runs    []Measurement
	// Fleet is a run on several machines, compared; nil of one machine.
	Fleet *FleetCase
}

// Imported says that all results were read from files that somebody else made.
func (c *Case) Imported() bool {
	return len(c.Runs) > 0 && !slices.ContainsFunc(c.Runs, func(m Measurement) bool {
		return m.Result == nil || m.Source == ""
	})
}

// Measurement is one scenario with what it could reach and what it did. Ceiling and Result may be
// nil.
type Measurement struct {
	Scenario suite.Scenario
	Ceiling  *ceiling.Ceiling
	*result.Result
	// Prefilled says that plimsoll wrote the file with data before it measured.
	Prefilled bool
	// Rounds are all measurements of a run with rounds, in order; Result is then the one in the
	// middle.
	Rounds []*result.Result
}

// Finds is a finding on a measurement, with its message in the words of fmt.
func (m Measurement) Finds(format string, args ...any) finding.Finding {
	return finding.New(m.Label(), format, args...).In(m.IDs())
}

// Rule is a rule on a case.
type Rule = finding.Rule[*Case]

// Arrays lists the arrays of a case, none without a topology.
func (c *Case) Arrays() []topology.Array {
	if c.Topology == nil {
		return nil
	}
	return c.Topology.Arrays
}

// Targets lists the paths under test.
func (c *Case) Targets() []topology.Target {
	if c.Topology == nil {
		return nil
	}
	return c.Topology.Targets
}

// ArrayOf returns the array that a measurement ran on: that of its role, or the only one there is.
func (c *Case) ArrayOf(m Measurement) *topology.Array {
	if c.Topology == nil {
		return nil
	}
	if t := c.Topology.For(m.Scenario.Role); t != nil {
		if a := c.Topology.Array(t.Array); a != nil {
			return a
		}
	}
	if len(c.Topology.Arrays) == 1 {
		return &c.Topology.Arrays[0]
	}
	return nil
}

// ScenariosOn lists the scenarios that ran on an array.
func (c *Case) ScenariosOn(array string) []int {
	var ids []int
	for _, m := range c.Runs {
		if a := c.ArrayOf(m); a != nil && a.Name == array && m.Result != nil && m.Scenario.ID != 0 {
			ids = append(ids, m.Scenario.ID)
		}
	}
	return ids
}

// Tree is what was read of the block devices, with none in it where nothing was.
func (c *Case) Tree() *block.Tree {
	if c.Topology == nil || c.Topology.Tree == nil {
		return &block.Tree{}
	}
	return c.Topology.Tree
}

// Device returns a block device of the tree, nil where it is not known.
func (c *Case) Device(name string) *block.Device { return c.Tree().Devices[name] }

// Mounted is a mount of a device under test.
type Mounted struct {
	block.Mount
	Array *topology.Array // nil where there is none
	Roles []topology.Role // of the targets on its device
}

// Mounts lists every mount of a device under test once, from the targets and from the tree. Where
// only a declaration names the filesystem, its device is the array's name.
func (c *Case) Mounts() []Mounted {
	var all []Mounted
	add := func(m Mounted) {
		if !slices.ContainsFunc(all, func(o Mounted) bool { return o.Point == m.Point && o.Device == m.Device }) {
			all = append(all, m)
		}
	}
	for _, t := range c.Targets() {
		if t.Mount == nil {
			continue
		}
		m := Mounted{Mount: *t.Mount, Array: c.Topology.Array(t.Array)}
		m.Device = cmp.Or(m.Device, t.Device, t.Array)
		if m.Device != "" {
			add(m)
		}
	}
	for _, m := range c.Tree().Mounts {
		if i := slices.IndexFunc(all, func(o Mounted) bool { return o.Device == m.Device }); i >= 0 {
			add(Mounted{Mount: m, Array: all[i].Array})
		}
	}
	for i := range all {
		for _, t := range c.Targets() {
			if on := cmp.Or(t.Device, t.Array); on == all[i].Device ||
				t.Mount != nil && t.Mount.Device == all[i].Device {
				all[i].Roles = append(all[i].Roles, t.Role)
			}
		}
	}
	return all
}

// Guest says that the machine is a cloud's or another hypervisor's guest, by its firmware, its clocks or its
// disks.
func (c *Case) Guest() bool {
	if t := c.Topology; t != nil {
		volume := func(v topology.Volume) bool { return v.Network }
		network := func(a topology.Array) bool { return slices.ContainsFunc(a.Volumes, volume) }
		if t.Host.Virt != "" || t.Instance.Type != "" || t.Instance.Cloud != "" || slices.ContainsFunc(t.Arrays, network) {
			return true
		}
	}
	for name := range c.Tree().Devices {
		if GuestDisk(name) {
			return true
		}
	}
	return c.Host != nil && slices.ContainsFunc(c.Host.CPU.Clocks, func(s string) bool {
		return s == KVMClock || s == "xen" || strings.HasPrefix(s, "hyperv_")
	})
}

// KVMClock is the clock source of a guest of KVM.
const KVMClock = "kvm-clock"

// GuestDisk says that a disk of this name is the hypervisor's: virtio or Xen.
func GuestDisk(name string) bool {
	return strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd")
}

// Sysfs is the file of an attribute of a device.
func Sysfs(device, attribute string) string { return "/sys/block/" + device + "/" + attribute }

// IdleSync is what md/sync_action says when nothing goes on.
const IdleSync = "idle"

// Origin says where a figure came from, for the last column of evidence.
func Origin(o topology.Origin) string {
	if o.Where == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + ", " + o.Where
}

// FleetCase is a fleet run as the rules PL8xx see it.
type FleetCase struct {
	Lose      int // hosts that may be lost
	Hosts     []FleetHost
	Scenarios []FleetScenario
}

// FleetHost is a host of a fleet run.
type FleetHost struct {
	Name  string
	Lost  string        // why it has no result; empty where it has
	Clock time.Duration // error of its clock against the others'
	Facts map[string]string
}

// FleetScenario is a scenario on all hosts, over the time in which all of them measured.
type FleetScenario struct {
	ID     int
	Name   string
	Common float64 // that time as a share of the planned one
	Hosts  []FleetRate
}

// FleetRate is what a host did in a scenario, in IOPS. Figures that are not known are 0.
type FleetRate struct {
	Host               string
	Rate               stats.Estimate
	Ceiling, Sustained float64
	Alone              float64 // without the other hosts
}

// Label names a scenario as findings do.
func (s *FleetScenario) Label() string { return fmt.Sprintf("%d %s", s.ID, s.Name) }

// Finds is a finding on a scenario, with its message in the words of fmt.
func (s *FleetScenario) Finds(format string, args ...any) finding.Finding {
	return finding.New(s.Label(), format, args...).In([]int{s.ID})
}

// Straggler is a host that falls behind: what it reached, as a share, and the median of the others.
type Straggler struct {
	Host       string
	Of, Others float64
	// Own says that the shares are of each host's own ceiling; else they are of the others' median
	// rate.
	Own bool
}

// Stragglers are the hosts of a scenario that reached less than 0.8 of what the others did, of
// their own ceilings where all are known. The intervals must be apart too: a host without one is
// not judged.
func (s *FleetScenario) Stragglers() []Straggler {
	if len(s.Hosts) < leastHosts {
		return nil
	}
	own := !slices.ContainsFunc(s.Hosts, func(h FleetRate) bool { return h.Ceiling <= 0 })
	of := func(h FleetRate, v float64) float64 {
		if own {
			return v / h.Ceiling
		}
		return v
	}
	var found []Straggler
	for i, h := range s.Hosts {
		var centers, lows []float64
		for k, o := range s.Hosts {
			if k != i && o.Rate.HasInterval() {
				centers, lows = append(centers, of(o, o.Rate.Center)), append(lows, of(o, o.Rate.Lo))
			}
		}
		if !h.Rate.HasInterval() || len(centers) < leastHosts-1 {
			continue
		}
		mine, others := of(h, h.Rate.Center), stats.Quantile(centers, 0.5)
		if mine >= StragglerShare*others || of(h, h.Rate.Hi) >= stats.Quantile(lows, 0.5) {
			continue
		}
		if !own {
			mine, others = mine/others, 1
		}
		found = append(found, Straggler{h.Host, mine, others, own})
	}
	return found
}

// StragglerShare of the others' median marks a host that falls behind; leastHosts are needed to
// know what is usual.
const StragglerShare = 0.8

const leastHosts = 3
