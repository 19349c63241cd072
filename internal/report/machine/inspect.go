package machine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Inspect is the document of a topology: a tree from each path down to its volumes, and what the
// ceilings are worked out from. What is the same for all members of an array is said once.
func Inspect(t *topology.Topology) *page.Document {
	d := &page.Document{
		Kind: "topology", Head: page.Headline{Word: standing(t)},
		Data: page.DataOf("topology", t),
	}
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
	if len(t.Notes) > 0 {
		notes := page.Note{Title: "notes"}
		for _, n := range t.Notes {
			notes.Lines = append(notes.Lines, text.Clean(n, 600))
		}
		d.Add(notes)
	}
	rows := page.NewTable("", "role", "path", "array", "level", "members", "chunk_bytes", "size_bytes", "volume",
		"volume_type", "volume_iops", "volume_bandwidth_bytes_per_s", "source")
	for _, g := range t.Targets {
		a := t.Array(g.Array)
		if a == nil {
			rows.Add(string(g.Role), g.Path, "", "", "", "", "", "", "", "", "", "")
			continue
		}
		for _, v := range a.Volumes {
			rows.Add(string(g.Role), g.Path, a.Name, string(a.Level), fmt.Sprint(len(a.Volumes)), plainly(a.Chunk),
				plainly(a.Size), v.Device,
				words.Or(v.Type, v.Model), words.Decimal(float64(v.Sustained.IOPS), 0), words.Decimal(float64(v.Sustained.Rate),
					0), words.Origin(v.Origin))
		}
	}
	d.Records = &rows
	return d
}

// plainly is a number of bytes, nothing for 0.
func plainly(b units.Bytes) string { return words.Decimal(float64(b), 0) }

// standing is "db1: /data on raid10 of 8 volumes, /wal on raid10 of 8 volumes".
func standing(t *topology.Topology) string {
	var all []string
	for _, g := range t.Targets {
		on := "unknown storage"
		if a := t.Array(g.Array); a != nil {
			on = text.Plural(len(a.Volumes), "volume")
			if len(a.Volumes) > 1 {
				on = words.Or(string(a.Level), "an array") + " of " + on
			}
		}
		if one := text.Clean(g.Path, words.LongName) + " on " + on; !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return words.Or(
		text.Clean(t.Host.Name, 64),
		"this machine",
	) + ": " + words.Or(
		strings.Join(all, ", "),
		"no storage was named",
	)
}

type inspector struct {
	t     *topology.Topology
	out   *strings.Builder
	width int
	all   bool            // also the settings of devices, and what the ceilings are worked out from
	shown map[string]bool // arrays whose parts have been printed
}

func (p *inspector) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// line prints words behind a prefix and goes on behind another where they do not fit.
func (p *inspector) line(prefix, cont string, parts ...string) {
	p.out.WriteString(prefix)
	at, fresh := utf8.RuneCountInString(prefix), true
	for _, word := range parts {
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

func (p *inspector) host() {
	h := p.t.Host
	linux := words.Known("Linux", text.Clean(h.Kernel, 40))
	if name := text.Clean(h.Name, 64); name != "" || linux != "" {
		p.line(
			"host ",
			"     ",
			facts(
				name,
				text.Clean(h.OS, 60),
				linux,
				text.Clean(h.Virt, 40),
				words.Some(h.CPUs, "CPU"),
				words.Known("memory", h.Memory),
			)...)
	}
	if i := p.t.Instance; i.Type != "" || i.Cloud != "" || i.Known() {
		p.line(
			"instance ",
			"         ",
			append(
				facts(words.Machine(i), words.Limits(i.Baseline, true), words.Burst(i), words.Caps(i),
					words.Left("IOPS", i.IOBalance), words.Left("throughput", i.RateBalance)),
				p.from(i.Origin)...)...)
	}
}

// from is a detail.
func (p *inspector) from(o topology.Origin) []string {
	if !p.all {
		return nil
	}
	return from(o)
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
		parts := facts(level, copies, words.Known("chunk", a.Chunk), stripe, words.Known("size", a.Size))
		name := a.Name
		if a.Path != "" {
			name = strings.TrimPrefix(a.Path, "/dev/")
		}
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
		what := text.Clean(v.Type, 20)
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
		more := ""
		if v.Burst.Known() {
			more = "burst " + words.Limits(v.Burst, v.SI())
		}
		latency := ""
		if v.ReadLatency > 0 || v.WriteLatency > 0 {
			latency = strings.TrimSpace(words.Known("read", v.ReadLatency) + " " + words.Known("write", v.WriteLatency))
		}
		p.line(
			fmt.Sprintf("    %d × ", n),
			"        ",
			append(facts(what, words.Known("", v.Size), can, more, words.Left("", v.Balance), latency), from(v.Origin)...)...)
	}
}
