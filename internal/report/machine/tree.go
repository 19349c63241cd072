package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// targets prints the tree below each path; roles on one path share it.
func (p *inspector) targets() {
	var by text.Groups
	for _, target := range p.t.Targets {
		by.Add(target.Path, string(target.Role))
	}
	for _, target := range p.t.Targets {
		roles := by.Of[target.Path]
		if string(target.Role) != roles[0] {
			continue
		}
		p.printf("\n")
		p.line("", "  ",
			append([]string{target.Path}, facts("for "+strings.Join(roles, " and "), words.Free(target))...)...)
		if target.Mount == nil {
			p.node(target.Device, "", true)
			continue
		}
		p.mount(target)
	}
}

func (p *inspector) mount(target topology.Target) {
	m := target.Mount
	parts := facts(m.FS, "on "+m.Point, geometry(m, p.t.Array(target.Array)))
	p.line("└─ ", "   ", parts...)
	bar := text.Either(m.Device == "", "      ", "   │  ")
	var options []string
	for _, o := range m.Options {
		if k, _, _ := strings.Cut(o, "="); !slices.Contains([]string{"sunit", "swidth", "stripe"}, k) {
			options = append(options, o)
		}
	}
	if len(options) > 0 && p.all {
		p.line(bar, bar, facts(options...)...)
	}
	for _, other := range p.t.Tree.MountsOf(m.Device) {
		if other.Point != m.Point {
			p.line(bar, bar, "also", "mounted", "on", other.Point)
		}
	}
	if m.Device != "" {
		p.node(m.Device, "   ", true)
	}
}

// geometry prints a filesystem's alignment as mkfs takes it.
func geometry(m *block.Mount, a *topology.Array) string {
	var all text.Lines
	switch {
	case !m.Known && a != nil && (m.FS == "xfs" || strings.HasPrefix(m.FS, "ext")):
		all = append(all, "alignment unknown (superblock not readable)")
	case !m.Known:
	case m.StripeUnit > 0:
		all.Say("su=%s sw=%d", m.StripeUnit.Arg(), m.StripeWide/m.StripeUnit)
	case m.StripeWide > 0:
		all.Say("stripe %v", m.StripeWide)
	case a != nil && a.Chunk > 0:
		all = append(all, "not aligned to the array")
	}
	return text.Join(", ", append(all, words.Known("log su", m.LogUnit), words.Known("block", m.BlockSize),
		words.Some(m.AGCount, "allocation group"))...)
}

// deepest is 64 levels: a captured machine may have devices that are made of each other.
const deepest = 64 * len("│  ")

// node prints a device and what is below it.
func (p *inspector) node(name, prefix string, last bool) {
	d := p.t.Tree.Devices[name]
	if d == nil || len(prefix) > deepest {
		return
	}
	branch, cont := "├─ ", "│  "
	if last {
		branch, cont = "└─ ", "   "
	}
	subs := p.t.Tree.Under(name)
	below := text.Either(len(subs) > 0, prefix+cont+"│  ", prefix+cont+"   ")
	parts := p.describe(d)
	if p.shown[name] {
		p.line(prefix+branch, prefix+cont, append(parts, "— as above")...)
		return
	}
	p.shown[name] = len(subs) > 1
	p.line(prefix+branch, below, parts...)
	if d.Kind != block.Partition && p.all { // its disk says it
		p.line(below, below, facts(queueFacts(d.Queue)...)...)
	}
	if len(subs) > 1 && p.rows(d, subs, prefix+cont) {
		return
	}
	for i, sub := range subs {
		p.node(sub, prefix+cont, i == len(subs)-1)
	}
}

func (p *inspector) describe(d *block.Device) []string {
	all := []string{words.Known("", d.Size)}
	switch {
	case d.MD != nil:
		all = append(all, p.raid(d.MD)...)
	case d.LV != nil:
		all = append(all, volume(d.LV)...)
	case d.Kind == block.Partition:
		all = append(all, "partition at "+d.Start.String())
	case d.Kind == block.Loop:
		all = append(all, words.Known("loop over", d.Backing))
	default:
		all = append(all, words.Known("serial", d.Serial))
		all = append(all, kindOf(d)...)
	}
	if d.ReadOnly {
		all = append(all, "READ-ONLY")
	}
	return append([]string{shortPath(d)}, facts(all...)...)
}

func shortPath(d *block.Device) string { return strings.TrimPrefix(d.Path, "/dev/") }

// kindOf is what drives of one sort share.
func kindOf(d *block.Device) []string {
	node := words.When(d.NUMANode >= 0, fmt.Sprintf("NUMA node %d", d.NUMANode))
	return []string{d.Model, words.Known("firmware", d.Firmware), node}
}

func (p *inspector) raid(r *block.Raid) []string {
	near, far := r.Layout&0xff, r.Layout>>8&0xff
	layout := fmt.Sprintf("near=%d%s", near, words.When(far > 1, fmt.Sprintf(" far=%d", far)))
	action := ""
	if r.Action != "" && r.Action != "idle" {
		action = r.Action + " " + text.Percent(r.Progress)
		switch {
		case r.Speed > 0:
			action += " at " + r.Speed.String()
		case r.Progress == 0:
			action = r.Action + " not begun"
		}
	}
	return []string{
		r.Level, words.Some(r.Disks, "member"), words.Known("chunk", r.Chunk),
		words.When(r.Level == "raid10" && r.Layout > 0, layout), r.State,
		words.When(r.Degraded > 0, fmt.Sprintf("DEGRADED by %d", r.Degraded)), action,
		words.Known("metadata", r.Metadata), words.Known("bitmap", r.Bitmap),
	}
}

func volume(v *block.Vol) []string {
	return []string{
		"logical volume", cmp.Or(v.Segment, "layout unknown") + words.When(v.Inferred, " (inferred)"),
		words.When(v.Stripes > 1, text.Plural(v.Stripes, "stripe")), words.Known("chunk", v.Chunk),
	}
}

// queueFacts are the settings of a device's queue.
func queueFacts(q block.Queue) []string {
	readAhead := text.Either(q == (block.Queue{}), "queue settings unknown", "read-ahead "+q.ReadAhead.String())
	return []string{
		words.Known("scheduler", q.Scheduler), words.Known("depth", q.Requests), readAhead,
		words.Known("max I/O", q.MaxSectors), words.Known("cache", q.WriteCache),
		words.When(q.Logical > 0, fmt.Sprintf("sectors %v/%v", q.Logical, q.Physical)),
		words.When(q.Rotational, "rotational"),
	}
}

// member is a part of an array that is a plain volume, or lies on one through partitions and hidden
// sub-volumes.
type member struct {
	part, leaf *block.Device
	state      string   // what md calls it, unless all is well
	settings   []string // of the leaf
}

// members are an array's parts in the order of the stripe; nil when one of them is an array itself.
func (p *inspector) members(d *block.Device, subs []string) []member {
	tree := p.t.Tree
	state := map[string]string{}
	if d.MD != nil && len(d.MD.Members) > 0 {
		subs = nil
		for _, m := range d.MD.Members {
			if tree.Devices[m.Name] == nil {
				continue
			}
			subs = append(subs, m.Name)
			if m.State != "in_sync" {
				state[m.Name] = strings.ToUpper(m.State)
			}
		}
	}
	var all []member
	for _, name := range subs {
		part, leaves := tree.Devices[name], tree.Leaves(name)
		hidden := part.LV != nil && part.LV.Internal && len(part.Slaves) == 1
		if len(leaves) != 1 || part.MD != nil || len(part.Slaves) > 0 && !hidden {
			return nil
		}
		leaf := leaves[0]
		if hidden && strings.Contains(part.LV.Name, "_rmeta_") { // beside its image, on the same drive
			continue
		}
		all = append(all, member{part, leaf, state[name], facts(append(kindOf(leaf), queueFacts(leaf.Queue)...)...)})
	}
	return all
}

// rows prints members a line each, and what they have in common once. It does nothing and says so
// when one of them is more than a volume.
func (p *inspector) rows(d *block.Device, subs []string, prefix string) bool {
	all := p.members(d, subs)
	if all == nil {
		return false
	}
	counts, common := map[string]int{}, ""
	for _, m := range all {
		key := strings.Join(m.settings, " ")
		if counts[key]++; counts[key] > counts[common] {
			common = key
		}
	}
	for i, m := range all {
		branch, cont := "├─ ", "│     "
		if i == len(all)-1 {
			branch, cont = "└─ ", "      "
		}
		var parts []string
		switch {
		case m.part.Kind == block.Partition:
			parts = []string{shortPath(m.part), "at", m.part.Start.String(), "of"}
		case m.part != m.leaf:
			parts = []string{shortPath(m.part), "on"}
		}
		parts = append(parts, shortPath(m.leaf))
		parts = append(parts, facts(words.Known("", m.leaf.Size), words.Known("serial", m.leaf.Serial))...)
		if m.state != "" {
			parts = append(parts, "—", m.state)
		}
		p.line(prefix+branch, prefix+cont, parts...)
		if strings.Join(m.settings, " ") != common && p.all {
			p.line(prefix+cont, prefix+cont, m.settings...)
		}
	}
	if !p.all {
		return true
	}
	each := text.Either(len(counts) > 1, "most: ", "each: ")
	p.line(prefix+"   "+each, prefix+"         ", strings.Split(common, " ")...)
	return true
}
