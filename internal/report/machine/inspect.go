package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Inspect is the document of a topology: a tree from each path down to its volumes, and what the
// ceilings are worked out from. What is the same for all members of an array is said once.
func Inspect(t *topology.Topology) *page.Document {
	d := page.New("topology", standing(t), "topology", t)
	d.Add(page.Code{Free: true, Fit: func(width int, all bool) []string {
		p := &inspector{t: t, all: all, out: &strings.Builder{}, width: max(width, 40), shown: map[string]bool{}}
		p.host()
		if t.Tree != nil {
			p.targets()
		}
		if all {
			p.arrays()
		}
		return strings.Split(strings.TrimSuffix(p.out.String(), "\n"), "\n")
	}})
	d.Add(page.Note{Title: "notes", Lines: slices.Clone(t.Notes)})
	rows := page.NewTable("role, path, array, level, members, chunk_bytes, size_bytes, volume, volume_type, " +
		"volume_iops, volume_bandwidth_bytes_per_s, source")
	for _, g := range t.Targets {
		a := t.Array(g.Array)
		if a == nil {
			rows.Add(g.Role, g.Path)
			continue
		}
		for _, v := range a.Volumes {
			rows.Record(g.Role, g.Path, a.Name, a.Level, len(a.Volumes), a.Chunk, a.Size, v.Device, cmp.Or(v.Type, v.Model),
				v.Sustained.IOPS, v.Sustained.Rate, words.Origin(v.Origin))
		}
	}
	d.Records = rows
	return d
}

// standing is "db1: /data on raid10 of 8 volumes, /wal on raid10 of 8 volumes".
func standing(t *topology.Topology) string {
	var all []string
	for _, g := range t.Targets {
		on := "unknown storage"
		if a := t.Array(g.Array); a != nil {
			on = text.Several(a.Volumes, "volume")
			if len(a.Volumes) > 1 {
				on = cmp.Or(string(a.Level), "an array") + " of " + on
			}
		}
		all = text.Once(all, g.Path+" on "+on)
	}
	return cmp.Or(t.Host.Name, "this machine") + ": " + cmp.Or(strings.Join(all, ", "), "no storage was named")
}

type inspector struct {
	t     *topology.Topology
	out   *strings.Builder
	width int
	all   bool            // also the settings of devices, and what the ceilings are worked out from
	shown map[string]bool // arrays whose parts have been printed
}

func (p *inspector) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// mostWord is the longest fact, in columns: names come from outside.
const mostWord = 240

// line prints words behind a prefix and goes on behind another where they do not fit.
func (p *inspector) line(prefix, cont string, parts ...string) {
	p.out.WriteString(prefix)
	at, fresh := utf8.RuneCountInString(prefix), true
	for _, word := range parts {
		word = text.Clean(word, mostWord)
		n := utf8.RuneCountInString(word)
		if !fresh && at+1+n > p.width {
			p.out.WriteString("\n" + cont)
			at, fresh = utf8.RuneCountInString(cont), true
		}
		if !fresh {
			p.out.WriteByte(' ')
			at++
		}
		p.out.WriteString(word)
		at, fresh = at+n, false
	}
	p.out.WriteByte('\n')
}

// facts joins what is known with commas; empty ones are left out. Each is one word to line, so that
// it is not torn apart.
func facts(all ...string) []string {
	all = text.Present(all...)
	for i := range all {
		if all[i] = strings.ReplaceAll(all[i], " ", "\u00a0"); i < len(all)-1 {
			all[i] += ","
		}
	}
	return all
}

func (p *inspector) host() {
	h := p.t.Host
	linux := words.Known("Linux", h.Kernel)
	if name := h.Name; name != "" || linux != "" {
		p.line("host ", "     ", facts(name, h.OS, linux, h.Virt,
			words.Some(h.CPUs, "CPU"), words.Known("memory", h.Memory))...)
	}
	if i := p.t.Instance; i.Type != "" || i.Cloud != "" || i.Known() {
		parts := facts(words.Instance(i)...)
		if p.all {
			parts = append(parts, from(i.Origin)...)
		}
		p.line("instance ", "         ", parts...)
	}
}

// from is an origin in words that may stand on different lines, for addresses are long.
func from(o topology.Origin) []string {
	if o.Kind == topology.Unknown {
		return nil
	}
	return strings.Fields("(" + words.Origin(o) + ")")
}

// arrays prints what the ceilings are worked out from, and where each figure is from.
func (p *inspector) arrays() {
	if len(p.t.Arrays) > 0 {
		p.printf("\nmodelled as\n")
	}
	for _, a := range p.t.Arrays {
		level, stripe := string(a.Level), ""
		if a.Level == topology.NoLevel {
			level = "level unknown"
		} else if a.Chunk > 0 {
			stripe = "stripe " + a.Stripe().String()
		}
		parts := facts(level, words.When(a.Copies > 0, fmt.Sprintf("%d copies", a.Copies)),
			words.Known("chunk", a.Chunk), stripe, words.Known("size", a.Size))
		name := cmp.Or(strings.TrimPrefix(a.Path, "/dev/"), a.Name)
		p.line("  "+text.Clean(name, 60)+": ", "    ", append(parts, from(a.Origin)...)...)
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
		for i+n < len(all) && words.Alike(all[i], all[i+n]) {
			n++
		}
		v := all[i]
		i += n
		what := v.Type
		switch {
		case v.Missing:
			what = "missing"
		case what == "" && v.Network:
			what = "network volume"
		case what == "":
			what = "volume"
		}
		can := words.Limits(v.Sustained, v.SI())
		if can == "" && !v.Missing {
			can = "limits unknown"
		}
		more := words.Known("burst", words.Limits(v.Burst, v.SI()))
		latency := text.Join(" ", words.Known("read", v.ReadLatency), words.Known("write", v.WriteLatency))
		p.line(fmt.Sprintf("    %d × ", n), "        ",
			append(facts(what, words.Known("", v.Size), can, more, words.Left("", v.Balance), latency), from(v.Origin)...)...)
	}
}
