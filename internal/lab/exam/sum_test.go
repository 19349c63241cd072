package exam

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// Near is how far a named share of a gap may lie from the true one.
const Near = 0.10

// Sum counts marks.
type Sum struct {
	Machines, Healthy, HealthyAlarmed int
	Two                               int // machines with two faults
	Faults, Named                     int // all of them
	Expected, First                   int // those that cost a tenth or more, and those of them named first
	Wrong                             int // causes among the first that were not built in
	Alarms                            map[finding.Code]int
	Shares                            []float64 // distances, sorted
	Confusion                         map[Kind]map[string]int
}

// Add counts marks together.
func Add(marks []Mark) Sum {
	s := Sum{Machines: len(marks), Alarms: map[finding.Code]int{}, Confusion: map[Kind]map[string]int{}}
	for _, m := range marks {
		switch len(m.Answers) {
		case 0:
			s.Healthy++
			if len(m.Alarms) > 0 {
				s.HealthyAlarmed++
			}
		case 2:
			s.Two++
		}
		for _, c := range m.Alarms {
			s.Alarms[c]++
		}
		s.Wrong += len(m.Wrong)
		for _, a := range m.Answers {
			s.add(a)
		}
	}
	slices.Sort(s.Shares)
	return s
}

func (s *Sum) add(a Answer) {
	s.Faults++
	if a.Named {
		s.Named++
	}
	if !a.Expected {
		return
	}
	s.Expected++
	if a.Named {
		s.First++
	}
	if !math.IsNaN(a.Off) {
		s.Shares = append(s.Shares, a.Off)
	}
	if s.Confusion[a.Fault.Kind] == nil {
		s.Confusion[a.Fault.Kind] = map[string]int{}
	}
	s.Confusion[a.Fault.Kind][a.As]++
}

// Near is how many named shares lie within 10 points of the true ones.
func (s Sum) Near() int {
	n, _ := slices.BinarySearchFunc(s.Shares, Near, func(x, near float64) int {
		return cmp.Compare(x, math.Nextafter(near, 1))
	})
	return n
}

// Row is a line of the table of results.
func (s Sum) Row(name string) string {
	of := func(part, all int) string {
		if all == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d (%s)", part, all, text.Percent(float64(part)/float64(all)))
	}
	mean := "-"
	if n := len(s.Shares); n > 0 {
		sum := 0.0
		for _, x := range s.Shares {
			sum += x
		}
		mean = text.Percent(sum/float64(n)) + ", " + text.Percent(s.Shares[n-1])
	}
	return fmt.Sprintf("| %s | %d (%d) | %s | %s | %s | %s | %s | %s |\n", name, s.Machines, s.Two,
		of(s.First, s.Expected), of(s.First, s.First+s.Wrong), of(s.Near(), len(s.Shares)), mean,
		of(s.HealthyAlarmed, s.Healthy), of(s.Named, s.Faults))
}

// Head is the head of the table of results.
const Head = "| machines | number (with two faults) | faults of a tenth or more, named first | " +
	"causes named first that were built in | shares within 10 points | distance of shares: mean, most | " +
	"healthy ones with a warning | all faults, named |\n" +
	"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"

// Markdown is the result of an exam as docs/evidence/exam.md has it: the figures of all machines, those of
// the held-out ones apart, and the confusion of faults that cost a tenth or more.
func Markdown(marks []Mark, held uint64) string {
	var b strings.Builder
	b.WriteString(Head)
	all := Add(marks)
	if held > 0 {
		out := slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Machine.Seed < held })
		in := slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Machine.Seed >= held })
		b.WriteString(Add(in).Row(fmt.Sprintf("seeds below %d", held)))
		b.WriteString(Add(out).Row(fmt.Sprintf("held out, from %d", held)))
	}
	b.WriteString(all.Row("all"))
	b.WriteString("\n| built in | named as | times |\n| --- | --- | ---: |\n")
	for _, k := range Kinds() {
		var as []string
		for name := range all.Confusion[k] {
			as = append(as, name)
		}
		slices.Sort(as)
		for _, name := range as {
			fmt.Fprintf(&b, "| %s | %s | %d |\n", k, name, all.Confusion[k][name])
		}
	}
	if len(all.Alarms) > 0 {
		var codes []string
		for c, n := range all.Alarms {
			codes = append(codes, fmt.Sprintf("%s %d", c, n))
		}
		slices.Sort(codes)
		fmt.Fprintf(&b, "\nWarnings that no fault explains: %s.\n", strings.Join(codes, ", "))
	}
	return b.String()
}
