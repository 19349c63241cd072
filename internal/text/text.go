// Package text holds how anything is printed that is not a quantity of package units: counts of
// things, shares, lists, wrapped paragraphs, quoted and foreign text. No other room has a printer
// of its own, so the same fact reads the same in a terminal, a page, a finding and an error.
package text

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"plimsoll/internal/units"
)

// None is what a table's cell shows for an absent value.
const None = "–"

// LongError is the most that is printed of an error or a note of others, in columns.
const LongError = 2000

// Percent prints a share (1 for all) with one decimal: "26.4 %".
func Percent(share float64) string {
	return units.Group(strconv.FormatFloat(share*100, 'f', 1, 64)) + " %"
}

// PlusMinus prints a relative half width: "± 1.2 %".
func PlusMinus(share float64) string { return "± " + Percent(share) }

// Share prints a share that was asked for or follows from a formula, without trailing zeros:
// "70 %", "12.5 %".
func Share(share float64) string { return units.Number(share*100) + " %" }

// Change prints a relative change: "+3.2 %".
func Change(share float64) string { return signed(share) + " %" }

// Between prints the interval of a relative change, in per cent: "[-1.2, +6.3]".
func Between(lo, hi float64) string { return "[" + signed(lo) + ", " + signed(hi) + "]" }

func signed(share float64) string {
	s := units.Group(strconv.FormatFloat(share*100, 'f', 1, 64))
	switch {
	case s == "-0.0":
		return "+0.0"
	case strings.HasPrefix(s, "-"):
		return s
	}
	return "+" + s
}

// Times prints a ratio in a sentence: "3.9x".
func Times(ratio float64) string {
	return units.TrimZeros(strconv.FormatFloat(ratio, 'f', 1, 64)) + "x"
}

// Factor prints a factor of a formula with five significant digits, so that the formula can be
// worked out again: "1.0469", "2".
func Factor(v float64) string {
	decimals := 4
	if v != 0 {
		decimals -= int(math.Floor(math.Log10(math.Abs(v))))
	}
	return units.TrimZeros(strconv.FormatFloat(v, 'f', max(0, decimals), 64))
}

// Ratio prints a change between two figures: "x2.50", "x0.68".
func Ratio(ratio float64) string { return "x" + units.Group(strconv.FormatFloat(ratio, 'f', 2, 64)) }

// Of sets a figure against its whole, and prints a unit that both have once: "1,823 of 1,846 IOPS",
// "980 MiB/s of 1.2 GiB/s".
func Of(part, whole string) string {
	figure, unit, _ := strings.Cut(part, " ")
	if _, same, _ := strings.Cut(whole, " "); same == unit {
		part = figure
	}
	return part + " of " + whole
}

// Integer is what can be counted.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint32 | ~uint64
}

// Count prints a number with its thousands separated: "16,384".
func Count[N Integer](n N) string { return units.Group(strconv.FormatInt(int64(n), 10)) }

// Either is one of two phrases.
func Either(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}

// Several is Plural of the length of a list.
func Several[T any](all []T, one string, many ...string) string {
	return Plural(len(all), one, many...)
}

// Plural prints a count and its noun: "1 step", "2 steps", "1,200 I/Os". The plural is the noun
// with an s unless it is given.
func Plural[N Integer](n N, one string, many ...string) string {
	noun := one
	if n != 1 {
		noun = one + "s"
		if len(many) > 0 {
			noun = many[0]
		}
	}
	return Count(n) + " " + noun
}

// Duration prints how long something lasts, exact to the second from a minute on: "250 ms",
// "12.5 s", "90 s", "2 min 30 s", "30 min", "1 h 30 min", "3 days". Up to two minutes it stays in
// seconds, up to two days in hours.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(max(-d, -(d+1))) // the least of all has no opposite
	case d < time.Minute:
		return units.LatencyOf(d).String()
	case d < 2*time.Minute:
		return Plainly(d, time.Second, "s")
	case d < time.Hour:
		return pair(d, time.Minute, "min", time.Second, "s")
	case d < 48*time.Hour:
		return pair(d, time.Hour, "h", time.Minute, "min")
	}
	return Plural(int(d.Round(24*time.Hour)/(24*time.Hour)), "day")
}

// Plainly prints d as a number of one unit: "90 s".
func Plainly(d, one time.Duration, name string) string {
	return Count(int64(d.Round(one)/one)) + " " + name
}

// pair prints d in two units, the smaller one left out where it is zero.
func pair(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	d = d.Round(small)
	s := Plainly(d.Truncate(large), large, largeName)
	if rest := d % large; rest > 0 {
		s += " " + Plainly(rest, small, smallName)
	}
	return s
}

// List joins names as a sentence does: "a", "a and b", "a, b and c".
func List(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Some names the first of a long list and how many more there are: "nvme1n1, nvme2n1 and 6 more".
func Some(names []string, most int) string {
	if len(names) <= most {
		return List(names)
	}
	shown := max(most-1, 1)
	return List(append(names[:shown:shown], Count(len(names)-shown)+" more"))
}

// Few names up to three, and of more the first two and how many there are: "a, b and 4 more".
func Few(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:2], ", "), len(names)-2)
	}
	return strings.Join(names, ", ")
}

// Present are the parts that are not empty.
func Present(parts ...string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" })
}

// Join joins what is not empty.
func Join(between string, parts ...string) string { return strings.Join(Present(parts...), between) }

// Once is all with more words, each unless it is empty or among them.
func Once(all []string, more ...string) []string {
	for _, one := range more {
		if one != "" && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// Bar draws a share in a number of columns.
func Bar(share float64, columns int) string {
	full := min(max(int(share*float64(columns)+0.5), 0), columns)
	return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
}

// Lines are sentences one after the other.
type Lines []string

// Say adds a sentence.
func (l *Lines) Say(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// Groups are words under heads, in the order in which the heads came.
type Groups struct {
	Heads []string
	Of    map[string][]string
}

// Add puts a word under a head.
func (g *Groups) Add(head, word string) {
	if g.Of == nil {
		g.Of = map[string][]string{}
	}
	if g.Of[head] == nil {
		g.Heads = append(g.Heads, head)
	}
	g.Of[head] = append(g.Of[head], word)
}

// Article puts "a" or "an" before the name of a machine type by its sound: "an is4gen.medium", "an m5.large", "a
// c8g.large", "a Standard_D8s_v5". A name without a vowel before its first digit is spelt.
func Article(name string) string {
	lower := strings.ToLower(name)
	head := lower
	if i := strings.IndexFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		head = lower[:i]
	}
	sounds := "aeio"
	if !strings.ContainsAny(head, "aeiou") {
		sounds = "fhlmnrsx"
	}
	if head != "" && strings.Contains(sounds, head[:1]) {
		return "an " + name
	}
	return "a " + name
}

// Sentence begins with a capital letter and ends with a full stop.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	s = string(r)
	if !strings.ContainsRune(".!?:", r[len(r)-1]) {
		s += "."
	}
	return s
}

// FirstLine is the text before the first line break.
func FirstLine(s string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(first)
}

// CutAny is strings.Cut at the first of chars, which are of ASCII.
func CutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// Width is how many columns of a terminal s takes; escape sequences take none.
func Width(s string) int { return ansi.StringWidth(s) }

// PadRight fills s up with spaces to a width in columns.
func PadRight(s string, width int) string { return s + strings.Repeat(" ", max(width-Width(s), 0)) }

// PadLeft puts spaces before s up to a width in columns.
func PadLeft(s string, width int) string { return strings.Repeat(" ", max(width-Width(s), 0)) + s }

// Wrap breaks a paragraph into lines of at most width columns. It breaks at spaces only, so a flag,
// a path or a command's word is never split; a word that is wider than a line has one of its own.
// first stands before the first line, rest before the others. A no-break space holds words together
// and is printed as a space.
func Wrap(s string, width int, first, rest string) []string {
	var lines []string
	line, empty := first, true
	for _, word := range strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' ||
			r == '\r'
	}) {
		if !empty && Width(line)+1+Width(word) > width {
			lines = append(lines, line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	lines = append(lines, line)
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(l, NoBreak, " "), " ")
	}
	return lines
}

// NoBreak is the space at which Wrap does not break.
const NoBreak = "\u00a0"
