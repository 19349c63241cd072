// Package words prints what the rooms below know as one phrase each: a figure in its unit, how sure
// it is, a capacity, where a figure is from. Every kind of report uses the same.
package words

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Lengths of foreign text in columns, and what stands for an absent value.
const (
	LongName     = 80  // columns of a name outside a narrow table
	LongSentence = 900 // of a sentence, which may quote names
	None         = text.None
	Unknown      = "unknown" // is printed where no ceiling is known
)

// Operations prints IOPS with their unit.
func Operations(n units.IOPS) string { return n.String() + " IOPS" }

// Transactions prints transactions per second with their unit.
func Transactions(n units.IOPS) string { return n.String() + " TPS" }

// Doubt is the half width of an estimate's 95 % interval, "± 1.2 %", or why there is none: "no
// error margin (2 s only)". Half a width above the figure itself says nothing but that.
func Doubt(e stats.Estimate) string {
	switch {
	case e.Center == 0:
		return ""
	case !e.HasInterval():
		return "no error margin (" + cmp.Or(e.None, "one value") + ")"
	case e.Rel() > 1:
		return "± unknown"
	}
	return text.PlusMinus(e.Rel())
}

// WithDoubt is a figure and how sure it is: "2.46 ms ± 1.2 %", "2.46 ms, no error margin (2 s only)".
func WithDoubt(figure, doubt string) string {
	if strings.HasPrefix(doubt, "±") {
		return figure + " " + doubt
	}
	return text.Join(", ", figure, doubt)
}

// PlusMinus is an estimate's half width when it is one over rounds.
func PlusMinus(e stats.Estimate, rounds int) string {
	return When(rounds >= 2, Doubt(e))
}

// Amount prints a figure of a comparison in its unit.
func Amount(v float64, u compare.Unit) string {
	switch u {
	case compare.BytesPerSec:
		return units.Rate(v).String()
	case compare.Nanoseconds:
		return units.Latency(v).String()
	case compare.PerSecond:
	}
	return units.IOPS(v).String()
}

// Latency prints nanoseconds, "" for none.
func Latency(ns float64) string { return Known("", units.Latency(ns)) }

// At is a percentile of a latency. What fio counted in its last bin may have taken any time longer.
func At(l fio.Latency, p float64) string {
	v, ok := l.At(p)
	if !ok {
		return None
	}
	if most, _ := bins.Range(bins.Count - 1); v >= most {
		return "≥ " + units.LatencyOf(most).String()
	}
	return units.LatencyOf(v).String()
}

// Ratio prints a change: "+4.1 %", or "x2.50" where it is large.
func Ratio(r float64) string {
	if r >= 2 || r <= 0.5 {
		return text.Ratio(r)
	}
	return text.Change(r - 1)
}

// Span is the interval of a ratio: "[+2.0, +6.3]" in per cent, "[2.31, 2.70]" where Ratio prints a
// factor.
func Span(e stats.Estimate) string {
	if e.Center >= 2 || e.Center <= 0.5 {
		factor := func(r float64) string { return strings.TrimPrefix(text.Ratio(r), "x") }
		return "[" + factor(e.Lo) + ", " + factor(e.Hi) + "]"
	}
	return text.Between(e.Lo-1, e.Hi-1)
}

// Decimal prints v plainly, or nothing for 0, which stands for unmeasured.
func Decimal[T ~float64 | ~int64 | ~uint64](v T, digits int) string {
	return When(v != 0, strconv.FormatFloat(float64(v), 'f', digits, 64))
}

// Known prints a value that is not zero behind its name.
func Known[T comparable](name string, v T) string {
	var zero T
	shown := fmt.Sprint(v)
	if d, ok := any(v).(time.Duration); ok {
		shown = text.Duration(d)
	}
	return When(v != zero, strings.TrimSpace(name+" "+shown))
}

// Figure prints a value that is not zero.
func Figure[T comparable](v T) string { return cmp.Or(Known("", v), None) }

// Free is what may still be written at a path, "" where that is not known.
func Free(t topology.Target) string {
	if t.Free == nil {
		return ""
	}
	return "free " + t.Free.String()
}

// Some is a count, "" for none.
func Some(n int, what string) string { return When(n != 0, text.Plural(n, what)) }

// When is a phrase where it holds, else "".
func When(holds bool, phrase string) string { return text.Either(holds, phrase, "") }

// Limits prints capacities; si for what its vendor states in MB/s.
func Limits(l topology.Limits, si bool) string {
	var all []string
	add := func(what string, n units.IOPS, r units.Rate) {
		rate := Known("", r)
		if si && r > 0 {
			rate = r.SI()
		}
		all = append(all, Known(what, When(n > 0, Operations(n))), Known(what, rate))
	}
	add("", l.IOPS, l.Rate)
	add("read", l.ReadIOPS, l.ReadRate)
	add("write", l.WriteIOPS, l.WriteRate)
	return text.Join(" ", all...)
}

// Burst is how far and how long an instance exceeds its baseline, "" where it does not.
func Burst(i topology.Instance) string {
	if !i.Burst.Known() {
		return ""
	}
	lasts := text.Either(i.BurstPer > 0, " in "+text.Plainly(i.BurstPer, time.Hour, "h"), " on credits")
	return "burst " + Limits(i.Burst, true) + When(i.BurstFor > 0, " for "+text.Duration(i.BurstFor)+lasts)
}

// Machine is a machine's type, with its cloud where that is not EC2.
func Machine(i topology.Instance) string {
	return text.Join(" ", i.Type, Known("on", i.Cloud))
}

// Instance is what a machine allows, a fact each.
func Instance(i topology.Instance) []string {
	return []string{
		Machine(i), Limits(i.Baseline, true), Burst(i), Caps(i), Left("IOPS", i.IOBalance), Left("throughput", i.RateBalance),
	}
}

// ArrayYAML begins an array in plimsoll.yaml, up to what its volumes are.
func ArrayYAML(y *text.Lines, name string, level topology.Level, chunk units.Bytes, volumes int) {
	y.Say("  - name: %s\n    role: [data, wal]", text.ShellQuote(text.Clean(name, LongName)))
	if level != topology.NoLevel {
		y.Say("    level: %s", level)
	}
	if chunk > 0 {
		y.Say("    chunk: %s", chunk.Arg())
	}
	y.Say("    volumes:\n      count: %d", max(volumes, 1))
}

// Caps are what a machine allows of the volume types that it limits apart, as far as they are in use,
// and its host's cache; "" for none.
func Caps(i topology.Instance) string {
	var all []string
	for _, c := range i.Caps {
		burst := When(c.Burst.Known(), " (in bursts "+Limits(c.Burst, !c.MiB)+")")
		all = append(all, c.Name+" "+Limits(c.Baseline, !c.MiB)+burst)
	}
	return strings.Join(all, "; ")
}

// Left says how much burst there was to draw on, "" where it is not known.
func Left(of string, b *topology.Balance) string {
	if b == nil {
		return ""
	}
	return strings.TrimSpace(of+" burst left") + " " + b.String()
}

// Origin says where a figure is from, "" when nothing is known of it.
func Origin(o topology.Origin) string {
	return When(o.Kind != topology.Unknown, text.Clean(text.Join(": ", string(o.Kind), o.Where), 240))
}

// Alike says that two volumes read the same.
func Alike(a, b topology.Volume) bool {
	return a.Type == b.Type && a.Size == b.Size && a.Sustained == b.Sustained && a.Burst == b.Burst &&
		a.Missing == b.Missing && a.Network == b.Network && a.ReadLatency == b.ReadLatency &&
		a.WriteLatency == b.WriteLatency && a.Origin == b.Origin && Left("", a.Balance) == Left("", b.Balance)
}

// ClockError is how far a host's clock may be off; one that was not compared has none.
func ClockError(e time.Duration) string { return Figure(units.LatencyOf(e)) }

// Parens puts a phrase in parentheses.
func Parens(s string) string { return When(s != "", "("+s+")") }
