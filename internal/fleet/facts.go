package fleet

import (
	"slices"
	"strconv"
	"strings"

	machine "plimsoll/internal/host"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// factsOf are the settings of a host that should be the same on all.
func factsOf(topo *topology.Topology, tool, fio string) map[string]string {
	facts := map[string]string{"plimsoll": tool, "fio": fio, "kernel": topo.Host.Kernel}
	for _, t := range topo.Targets {
		role := string(t.Role) + " "
		if t.Mount != nil {
			options := slices.Clone(t.Mount.Options)
			slices.Sort(options)
			facts[role+"mount"] = t.Mount.FS + " " + strings.Join(slices.Compact(options), ",")
		}
		if a := topo.Array(t.Array); a != nil {
			facts[role+"layout"] = layoutOf(a)
			if a.Chunk > 0 {
				facts[role+"chunk"] = a.Chunk.String()
			}
		}
		if topo.Tree == nil {
			continue
		}
		if d := topo.Tree.Device(t.Device); d != nil {
			facts[role+"scheduler"] = d.Queue.Scheduler
		}
	}
	return facts
}

func layoutOf(a *topology.Array) string {
	layout := string(a.Level) + " of " + strconv.Itoa(len(a.Volumes))
	if len(a.Volumes) > 0 && a.Volumes[0].Type != "" {
		layout += " " + a.Volumes[0].Type
	}
	return layout
}

// FactsOf are the settings of a host that was checked which should be the same on all hosts.
func FactsOf(topo *topology.Topology, h *machine.Facts, tool string) map[string]string {
	facts := factsOf(topo, tool, h.Fio)
	add := func(name, value string) {
		if value != "" {
			facts[name] = value
		}
	}
	add("clock source", h.CPU.Clock)
	add("CPU governor", strings.Join(h.CPU.Governors, ", "))
	add("huge pages", h.Memory.HugePages)
	if h.Memory.Known {
		add("swappiness", strconv.Itoa(h.Memory.Swappiness))
		add("dirty pages", dirtyOf(h.Memory))
	}
	return facts
}

// dirtyOf is from when on pages are written back, and from when on writers wait.
func dirtyOf(m machine.Memory) string {
	limit := func(ratio int, bytes units.Bytes) string {
		if bytes > 0 {
			return bytes.String()
		}
		return strconv.Itoa(ratio) + " %"
	}
	return limit(m.BackgroundRatio, m.BackgroundBytes) + ", " + limit(m.DirtyRatio, m.DirtyBytes)
}
