package host

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/text"
)

// deepWake is the wake-up time from which an idle state shows: a local NVMe drive answers in 80 µs,
// an EBS volume in 500.
const deepWake = 50 * time.Microsecond

// cpuFile is a setting of every processor.
func cpuFile(attribute string) string { return "/sys/devices/system/cpu/cpu*/" + attribute }

// deep lists the idle states that processors may enter and take long to leave.
func deep(c *facts) []host.Idle {
	return slices.DeleteFunc(slices.Clone(c.Host.CPU.Idle),
		func(s host.Idle) bool { return s.Latency <= deepWake || s.Enabled == 0 })
}

func deepIdle(c *facts, report reporter) {
	deep := deep(c)
	if len(deep) == 0 {
		if len(c.Host.CPU.Idle) > 0 {
			report(finding.Fine("processors", "the CPU leaves its deepest enabled idle state in %s or less",
				deepWake))
		}
		return
	}
	f := fault{Subject: "processors"}
	var names []string
	for _, s := range deep {
		names = append(names, clip(s.Name))
		file := cpuFile("cpuidle/state" + strconv.Itoa(s.State) + "/disable")
		f = f.Saw("wake-up from "+clip(s.Name), s.Latency, "at most "+text.Duration(deepWake)+", or disabled",
			strings.Replace(file, "disable", "latency", 1))
		f.Set(finding.Setting{File: file, Value: "1"})
	}
	f.Say("Processors may sleep in %s and take up to %s to wake.", strings.Join(names, ", "),
		deep[len(deep)-1].Latency)
	if c.Topology != nil && strings.Contains(c.Topology.Host.CPU, "AMD") {
		f.Fix = "Disable those states while you measure (plimsoll tune --cpu), or boot with processor.max_cstate=1."
	}
	if slices.ContainsFunc(drives(c), drive.local) {
		f.Severity = finding.Warn
	}
	report(f)
}

// clip shortens a name from the machine, which may be anything.
func clip(s string) string { return fmt.Sprintf("%.40s", s) }

func slowGovernor(c *facts, report reporter) {
	cpu := c.Host.CPU
	const where = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
	f := fault{Subject: "processors"}
	has := func(s string) bool { return slices.Contains(cpu.Governors, s) }
	switch dynamic := cpu.Driver == "intel_pstate" || cpu.Driver == "amd-pstate-epp"; {
	case dynamic:
		for _, p := range cpu.Preferences {
			if has("powersave") && (p == "power" || p == "balance_power") {
				f.Say("%s prefers to save power (%s).", cpu.Driver, p)
				f = f.Saw("energy_performance_preference", p, "performance", cpuFile("cpufreq/energy_performance_preference"))
			}
		}
	case has("powersave"):
		f.Message = "The powersave governor keeps processors at their lowest frequency."
	case has("ondemand") || has("conservative"):
		f.Severity = finding.Info
		f.Say("The %s governor raises the frequency only after load appears.",
			strings.Join(cpu.Governors, ", "))
	}
	if f.Message == "" {
		if len(cpu.Governors) > 0 {
			report(finding.Fine("processors", "governor %s (%s)", strings.Join(cpu.Governors, ", "), clip(cpu.Driver)))
		}
		return
	}
	f = f.Saw("governor ("+clip(cpu.Driver)+")", strings.Join(cpu.Governors, ", "), "performance", where)
	if len(cpu.Available) == 0 || slices.Contains(cpu.Available, "performance") {
		f.Set(finding.Setting{File: cpuFile("cpufreq/scaling_governor"), Value: "performance"})
	}
	report(f)
}

// quickClocks are clock sources that a program reads without entering the kernel (vDSO): x86, KVM,
// Arm, Hyper-V, s390.
var quickClocks = []string{"tsc", diagnose.KVMClock, "arch_sys_counter", "hyperv_clocksource_tsc_page", "tod"}

func slowClock(c *facts, report reporter) {
	if c.Host.CPU.Clock == "" {
		return
	}
	if slices.Contains(quickClocks, c.Host.CPU.Clock) {
		report(finding.Fine("clock", "clock source %s", clip(c.Host.CPU.Clock)))
		return
	}
	const file = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
	want := "tsc"
	if slices.Contains(c.Host.CPU.Clocks, diagnose.KVMClock) {
		want = diagnose.KVMClock // which stays right when a guest moves to another host
	}
	f := finding.New("clock", "The clock source is %s, which programs cannot read without a system call.",
		clip(c.Host.CPU.Clock)).
		Saw("clock source", clip(c.Host.CPU.Clock), want, file)
	if slices.Contains(c.Host.CPU.Clocks, want) {
		// Not a Setting: the kernel may have had a reason, so that a person should choose.
		f.Commands = []string{finding.Setting{File: file, Value: want}.Command()}
	}
	report(f)
}

func numaDrives(c *facts, report reporter) {
	if len(c.Host.CPU.Nodes) == 0 {
		return
	}
	if len(c.Host.CPU.Nodes) == 1 {
		report(finding.Fine("processors", "one NUMA node"))
		return
	}
	on := map[int][]string{}
	for _, d := range drives(c) {
		if d.local() && d.NUMANode >= 0 {
			on[d.NUMANode] = append(on[d.NUMANode], d.Name)
		}
	}
	if len(on) == 0 {
		return
	}
	f := fault{Subject: "processors"}
	nodes := slices.Sorted(maps.Keys(on))
	if len(nodes) == len(c.Host.CPU.Nodes) {
		report(finding.Fine("processors", "each of %d NUMA nodes has drives", len(nodes)))
		return
	}
	for _, n := range nodes {
		f = f.Saw(fmt.Sprintf("drives of node %d", n), on[n], "",
			"/sys/class/block/"+on[n][0]+"/device/device/numa_node")
	}
	f.Say("The drives are attached to node %d of %d; I/O from the others crosses the link between them.", nodes[0],
		len(c.Host.CPU.Nodes))
	if len(nodes) > 1 {
		f.Title = "only some NUMA nodes have drives"
		f.Say("The drives are attached to %d of %d nodes; I/O from the others crosses the link between them.",
			len(nodes), len(c.Host.CPU.Nodes))
	} else {
		f.Commands = []string{fmt.Sprintf("numactl --cpunodebind=%d --membind=%d plimsoll run", nodes[0], nodes[0])}
	}
	report(f)
}
