package report

import (
	"bufio"
	"fmt"
	"io"
	"plimsoll/internal/block"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inspect prints a topology as a tree, from each path down to its volumes, in lines of at most width columns where names
// allow it. What is the same for all members of an array is said once.
func Inspect(w io.Writer, t *topology.Topology, width int) error {
	p := &inspector{t: t, out: bufio.NewWriter(w), width: max(width, 40), shown: map[string]bool{}}
	p.host()
	if t.Tree != nil {
		p.targets()
	}
	p.arrays()
	if len(t.Notes) > 0 {
		p.printf("\nnotes\n")
		for _, n := range t.Notes {
			p.line("  - ", "    ", strings.Fields(clean(n, 600))...)
		}
	}
	return p.out.Flush()
}

type inspector struct {
	t     *topology.Topology
	out   *bufio.Writer
	width int
	shown map[string]bool // arrays whose parts have been printed
}

func (p *inspector) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// line prints words behind a prefix and goes on behind another where they do not fit.
func (p *inspector) line(prefix, cont string, words ...string) {
	p.out.WriteString(prefix)
	at, fresh := utf8.RuneCountInString(prefix), true
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if !fresh && at+1+n > p.width {
			p.out.WriteString("\n" + cont)
			at, fresh = utf8.RuneCountInString(cont), true
		}
		if !fresh {
			p.out.WriteByte(' ')
			at++
		}
		p.out.WriteString(strings.ReplaceAll(word, "\u00a0", " "))
		at, fresh = at+n, false
	}
	p.out.WriteByte('\n')
}

// facts joins what is known with commas; empty ones are left out. Each is one word to line, so that it is not torn apart.
func facts(all ...string) []string {
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	for i := range all {
		if all[i] = strings.ReplaceAll(all[i], " ", "\u00a0"); i < len(all)-1 {
			all[i] += ","
		}
	}
	return all
}

// clean makes a name from outside fit to print: no control characters, no more than most characters.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return s
}

// known prints a value that is not zero behind its name.
func known[T comparable](name string, v T) string {
	var zero T
	if v == zero {
		return ""
	}
	return strings.TrimSpace(name + " " + fmt.Sprint(v))
}

func (p *inspector) host() {
	h := p.t.Host
	linux := known("Linux", clean(h.Kernel, 40))
	if name := clean(h.Name, 64); name != "" || linux != "" {
		p.line("host ", "     ", facts(name, clean(h.OS, 60), linux, clean(h.Virt, 40), plural(h.CPUs, "CPU"), known("memory", h.Memory))...)
	}
	if i := p.t.Instance; i.Type != "" || i.Baseline.Known() {
		p.line("instance ", "         ", append(facts(clean(i.Type, 40), limits(i.Baseline, true), burst(i)), from(i.Origin)...)...)
	}
}

func plural(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// limits prints capacities; si for what its vendor states in MB/s.
func limits(l topology.Limits, si bool) string {
	var all []string
	add := func(what string, n units.IOPS, r units.Rate) {
		if n > 0 {
			all = append(all, strings.TrimSpace(what+" "+n.String()+" IOPS"))
		}
		if r > 0 && si {
			all = append(all, strings.TrimSpace(what+" "+r.SI()))
		} else if r > 0 {
			all = append(all, strings.TrimSpace(what+" "+r.String()))
		}
	}
	add("", l.IOPS, l.Rate)
	add("read", l.ReadIOPS, l.ReadRate)
	add("write", l.WriteIOPS, l.WriteRate)
	return strings.Join(all, " ")
}

func burst(i topology.Instance) string {
	if !i.Burst.Known() {
		return ""
	}
	s := "burst " + limits(i.Burst, true)
	if i.BurstFor > 0 && i.BurstPer > 0 {
		s += fmt.Sprintf(" for %.0f min in %.0f h", i.BurstFor.Minutes(), i.BurstPer.Hours())
	}
	return s
}

// origin says where a figure is from, "" when nothing is known of it.
func origin(o topology.Origin) string {
	if o.Kind == topology.Unknown {
		return ""
	}
	return clean(strings.TrimSpace(string(o.Kind)+" "+o.Where), 240)
}

// from is an origin in words that may stand on different lines, for addresses are long.
func from(o topology.Origin) []string {
	if o.Kind == topology.Unknown {
		return nil
	}
	return strings.Fields("(" + origin(o) + ")")
}

// targets prints the tree below each path; roles on one path share it.
func (p *inspector) targets() {
	done := map[string]bool{}
	for _, target := range p.t.Targets {
		if done[target.Path] {
			continue
		}
		done[target.Path] = true
		var roles []string
		for _, other := range p.t.Targets {
			if other.Path == target.Path {
				roles = append(roles, string(other.Role))
			}
		}
		p.printf("\n")
		p.line("", "  ", append([]string{clean(target.Path, 200)}, facts("for "+strings.Join(roles, " and "), known("free", target.Free))...)...)
		if target.Mount == nil {
			p.node(target.Device, "", true)
			continue
		}
		p.mount(target)
	}
}

func (p *inspector) mount(target topology.Target) {
	m := target.Mount
	words := facts(clean(m.FS, 20), "on "+clean(m.Point, 200), geometry(m, p.t.Array(target.Array)))
	p.line("└─ ", "   ", words...)
	bar := "   │  "
	if m.Device == "" {
		bar = "      "
	}
	var options []string
	for _, o := range m.Options {
		if k, _, _ := strings.Cut(o, "="); !slices.Contains([]string{"sunit", "swidth", "stripe"}, k) {
			options = append(options, clean(o, 60))
		}
	}
	if len(options) > 0 {
		p.line(bar, bar, facts(options...)...)
	}
	for _, other := range p.t.Tree.MountsOf(m.Device) {
		if other.Point != m.Point {
			p.line(bar, bar, "also", "mounted", "on", clean(other.Point, 200))
		}
	}
	if m.Device != "" {
		p.node(m.Device, "   ", true)
	}
}

// geometry prints a filesystem's alignment as mkfs takes it.
func geometry(m *block.Mount, a *topology.Array) string {
	var all []string
	switch {
	case !m.Known && a != nil && (m.FS == "xfs" || strings.HasPrefix(m.FS, "ext")):
		all = append(all, "alignment unknown (superblock not readable)")
	case !m.Known:
	case m.StripeUnit > 0:
		all = append(all, fmt.Sprintf("su=%v sw=%d", m.StripeUnit, m.StripeWide/m.StripeUnit))
	case m.StripeWide > 0:
		all = append(all, fmt.Sprintf("stripe %v", m.StripeWide))
	case a != nil && a.Chunk > 0:
		all = append(all, "not aligned to the array")
	}
	all = append(all, known("log su", m.LogUnit), known("block", m.BlockSize), plural(m.AGCount, "allocation group"))
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", ")
}

// node prints a device and what is below it.
func (p *inspector) node(name, prefix string, last bool) {
	d := p.t.Tree.Devices[name]
	if d == nil {
		return
	}
	branch, cont := "├─ ", "│  "
	if last {
		branch, cont = "└─ ", "   "
	}
	subs := p.t.Tree.Under(name)
	below := prefix + cont + "   "
	if len(subs) > 0 {
		below = prefix + cont + "│  "
	}
	words := p.describe(d)
	if p.shown[name] {
		p.line(prefix+branch, prefix+cont, append(words, "— as above")...)
		return
	}
	p.shown[name] = len(subs) > 1
	p.line(prefix+branch, below, words...)
	if d.Kind != block.Partition { // its disk says it
		p.line(below, below, queue(d.Queue)...)
	}
	if len(subs) > 1 && p.rows(d, subs, prefix+cont) {
		return
	}
	for i, sub := range subs {
		p.node(sub, prefix+cont, i == len(subs)-1)
	}
}

func (p *inspector) describe(d *block.Device) []string {
	all := []string{known("", d.Size)}
	switch {
	case d.MD != nil:
		all = append(all, p.raid(d.MD)...)
	case d.LV != nil:
		all = append(all, volume(d.LV)...)
	case d.Kind == block.Partition:
		all = append(all, "partition at "+d.Start.String())
	case d.Kind == block.Loop:
		all = append(all, known("loop over", clean(d.Backing, 120)))
	default:
		all = append(all, known("serial", clean(d.Serial, 40)))
		all = append(all, kindOf(d)...)
	}
	if d.ReadOnly {
		all = append(all, "READ-ONLY")
	}
	return append([]string{shortPath(d)}, facts(all...)...)
}

func shortPath(d *block.Device) string { return clean(strings.TrimPrefix(d.Path, "/dev/"), 60) }

// kindOf is what drives of one sort share.
func kindOf(d *block.Device) []string {
	node := ""
	if d.NUMANode >= 0 {
		node = fmt.Sprintf("NUMA node %d", d.NUMANode)
	}
	return []string{clean(d.Model, 40), known("firmware", clean(d.Firmware, 16)), node}
}

func (p *inspector) raid(r *block.Raid) []string {
	near, far := r.Layout&0xff, r.Layout>>8&0xff
	layout := ""
	if r.Level == "raid10" && r.Layout > 0 {
		layout = fmt.Sprintf("near=%d", near)
		if far > 1 {
			layout += fmt.Sprintf(" far=%d", far)
		}
	}
	all := []string{clean(r.Level, 12), plural(r.Disks, "member"), known("chunk", r.Chunk), layout, clean(r.State, 20)}
	if r.Degraded > 0 {
		all = append(all, fmt.Sprintf("DEGRADED by %d", r.Degraded))
	}
	if r.Action != "" && r.Action != "idle" {
		s := fmt.Sprintf("%s %.1f %%", clean(r.Action, 12), 100*r.Progress)
		switch {
		case r.Speed > 0:
			s += " at " + r.Speed.String()
		case r.Progress == 0:
			s = clean(r.Action, 12) + " not begun"
		}
		all = append(all, s)
	}
	return append(all, known("metadata", clean(r.Metadata, 12)), known("bitmap", clean(r.Bitmap, 12)))
}

func volume(v *block.Vol) []string {
	segment := clean(v.Segment, 20)
	if segment == "" {
		segment = "layout unknown"
	}
	if v.Inferred {
		segment += " (inferred)"
	}
	stripes := ""
	if v.Stripes > 1 {
		stripes = plural(v.Stripes, "stripe")
	}
	return []string{"logical volume", segment, stripes, known("chunk", v.Chunk)}
}

// queue prints the settings of a device's queue.
func queue(q block.Queue) []string { return facts(queueFacts(q)...) }

func queueFacts(q block.Queue) []string {
	media := ""
	if q.Rotational {
		media = "rotational"
	}
	sectors := ""
	if q.Logical > 0 {
		sectors = fmt.Sprintf("sectors %v/%v", q.Logical, q.Physical)
	}
	readAhead := "read-ahead " + q.ReadAhead.String()
	if q == (block.Queue{}) {
		readAhead = "queue settings unknown"
	}
	return []string{
		known("scheduler", clean(q.Scheduler, 20)), known("depth", q.Requests), readAhead,
		known("max I/O", q.MaxSectors), known("cache", clean(q.WriteCache, 20)), sectors, media,
	}
}

// member is a part of an array that is a plain volume, or lies on one through partitions and hidden sub-volumes.
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
				state[m.Name] = strings.ToUpper(clean(m.State, 30))
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

// rows prints members a line each, and what they have in common once. It does nothing and says so when one of them is more
// than a volume.
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
		words := append([]string{shortPath(m.leaf)}, facts(known("", m.leaf.Size), known("serial", clean(m.leaf.Serial, 40)))...)
		switch {
		case m.part.Kind == block.Partition:
			words = append([]string{shortPath(m.part), "at", m.part.Start.String(), "of"}, words...)
		case m.part != m.leaf:
			words = append([]string{shortPath(m.part), "on"}, words...)
		}
		if m.state != "" {
			words = append(words, "—", m.state)
		}
		p.line(prefix+branch, prefix+cont, words...)
		if strings.Join(m.settings, " ") != common {
			p.line(prefix+cont, prefix+cont, m.settings...)
		}
	}
	each := "each: "
	if len(counts) > 1 {
		each = "most: "
	}
	p.line(prefix+"   "+each, prefix+"         ", strings.Split(common, " ")...)
	return true
}

// arrays prints what the ceilings are worked out from, and where each figure is from.
func (p *inspector) arrays() {
	if len(p.t.Arrays) > 0 {
		p.printf("\nmodelled as\n")
	}
	for _, a := range p.t.Arrays {
		level := string(a.Level)
		if a.Level == topology.NoLevel {
			level = "level unknown"
		}
		stripe := ""
		if a.Chunk > 0 && a.Level != topology.NoLevel {
			stripe = "stripe " + a.Stripe().String()
		}
		copies := ""
		if a.Copies > 0 {
			copies = fmt.Sprintf("%d copies", a.Copies)
		}
		words := facts(level, copies, known("chunk", a.Chunk), stripe, known("size", a.Size))
		name := a.Name
		if a.Path != "" {
			name = strings.TrimPrefix(a.Path, "/dev/")
		}
		p.line("  "+clean(name, 60)+": ", "    ", append(words, from(a.Origin)...)...)
		for _, key := range []string{"level", "copies", "chunk"} {
			if o, ok := a.Origins[key]; ok && o != a.Origin {
				p.line("    ", "    ", append([]string{key}, from(o)...)...)
			}
		}
		p.volumes(a.Volumes)
	}
}

// volumes prints runs of volumes that are alike.
func (p *inspector) volumes(all []topology.Volume) {
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && alike(all[i], all[i+n]) {
			n++
		}
		v := all[i]
		i += n
		what := clean(v.Type, 20)
		switch {
		case v.Missing:
			what = "missing"
		case what == "" && v.Network:
			what = "network volume"
		case what == "":
			what = "volume"
		}
		can := limits(v.Sustained, !v.Network)
		if can == "" && !v.Missing {
			can = "limits unknown"
		}
		more := ""
		if v.Burst.Known() {
			more = "burst " + limits(v.Burst, false)
		}
		latency := ""
		if v.ReadLatency > 0 || v.WriteLatency > 0 {
			latency = strings.TrimSpace(known("read", v.ReadLatency) + " " + known("write", v.WriteLatency))
		}
		p.line(fmt.Sprintf("    %d × ", n), "        ", append(facts(what, known("", v.Size), can, more, latency), from(v.Origin)...)...)
	}
}

func alike(a, b topology.Volume) bool {
	return a.Type == b.Type && a.Size == b.Size && a.Sustained == b.Sustained && a.Burst == b.Burst && a.Missing == b.Missing &&
		a.Network == b.Network && a.ReadLatency == b.ReadLatency && a.WriteLatency == b.WriteLatency && a.Origin == b.Origin
}
