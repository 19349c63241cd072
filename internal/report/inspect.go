package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Inspect prints a topology as a tree, from each path down to its volumes, in lines of at most
// width columns where names allow it. What is the same for all members of an array is said once.
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
			p.line("  - ", "    ", strings.Fields(text.Clean(n, 600))...)
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

// facts joins what is known with commas; empty ones are left out. Each is one word to line, so that
// it is not torn apart.
func facts(all ...string) []string {
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	for i := range all {
		if all[i] = strings.ReplaceAll(all[i], " ", "\u00a0"); i < len(all)-1 {
			all[i] += ","
		}
	}
	return all
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
	linux := known("Linux", text.Clean(h.Kernel, 40))
	if name := text.Clean(h.Name, 64); name != "" || linux != "" {
		p.line(
			"host ",
			"     ",
			facts(
				name,
				text.Clean(h.OS, 60),
				linux,
				text.Clean(h.Virt, 40),
				some(h.CPUs, "CPU"),
				known("memory", h.Memory),
			)...)
	}
	if i := p.t.Instance; i.Type != "" || i.Baseline.Known() {
		p.line(
			"instance ",
			"         ",
			append(
				facts(
					text.Clean(i.Type, 40),
					limits(i.Baseline, true),
					burst(i),
					left("IOPS", i.IOBalance),
					left("throughput", i.RateBalance),
				),
				from(i.Origin)...)...)
	}
}

// some is a count, "" for none.
func some(n int, what string) string {
	if n == 0 {
		return ""
	}
	return text.Plural(n, what)
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
		s += " for " + text.Duration(i.BurstFor) + " in " + text.Plainly(i.BurstPer, time.Hour, "h")
	}
	return s
}

// left says how much burst there was to draw on, "" where it is not known.
func left(of string, b *topology.Balance) string {
	if b == nil {
		return ""
	}
	return strings.TrimSpace(of+" burst left") + " " + b.String()
}

// origin says where a figure is from, "" when nothing is known of it.
func origin(o topology.Origin) string {
	if o.Kind == topology.Unknown {
		return ""
	}
	return text.Clean(strings.TrimSpace(string(o.Kind)+" "+o.Where), 240)
}

// from is an origin in words that may stand on different lines, for addresses are long.
func from(o topology.Origin) []string {
	if o.Kind == topology.Unknown {
		return nil
	}
	return strings.Fields("(" + origin(o) + ")")
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
		p.line("  "+text.Clean(name, 60)+": ", "    ", append(words, from(a.Origin)...)...)
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
		what := text.Clean(v.Type, 20)
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
		p.line(
			fmt.Sprintf("    %d × ", n),
			"        ",
			append(facts(what, known("", v.Size), can, more, left("", v.Balance), latency), from(v.Origin)...)...)
	}
}

func alike(a, b topology.Volume) bool {
	return a.Type == b.Type && a.Size == b.Size && a.Sustained == b.Sustained && a.Burst == b.Burst &&
		a.Missing == b.Missing &&
		a.Network == b.Network && a.ReadLatency == b.ReadLatency &&
		a.WriteLatency == b.WriteLatency &&
		a.Origin == b.Origin &&
		left("", a.Balance) == left("", b.Balance)
}
