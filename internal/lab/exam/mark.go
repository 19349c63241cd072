package exam

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/finding"
)

// Costly is the part of a ceiling that a fault must take to be expected among the first causes.
const Costly = 0.10

// Answer is how one fault fared.
type Answer struct {
	Fault Fault
	Named bool
	As    string  // what was named first instead, where it was not
	Off   float64 // distance of the named share of the gap from the true one, in 0..1; NaN where no share is known
}

// Mark is how one machine fared.
type Mark struct {
	Machine Machine
	Answers []Answer
	// Alarms are findings of a warning or worse that no fault explains.
	Alarms []finding.Code
}

// consequences of any fault, and what is true of short runs on a small emulated machine: neither
// right nor wrong.
var consequences = []finding.Code{"PL503", "PL417", "PL418", "PL316", "PL413", "PL405"}

// Judge marks the findings on a machine.
func Judge(m Machine, found []finding.Finding) Mark {
	mark := Mark{Machine: m}
	var account *finding.Account
	var codes []finding.Code
	for _, f := range found {
		codes = append(codes, f.Code)
		if f.Account != nil && f.Code == "PL503" && account == nil {
			account = f.Account
		}
	}
	costly, total := 0, 0.0
	for _, f := range m.Faults {
		if f.Factor <= 1-Costly {
			costly++
		}
		total += math.Log(f.Factor)
	}
	for _, f := range m.Faults {
		a := Answer{Fault: f, Off: math.NaN(), As: first(account, found)}
		named := answers[f.Kind]
		a.Named = slices.ContainsFunc(named.codes, func(c finding.Code) bool { return slices.Contains(codes, c) })
		if account != nil && f.Factor <= 1-Costly {
			rank := slices.IndexFunc(
				account.Factors,
				func(x finding.Factor) bool { return slices.Contains(named.causes, x.Cause) },
			)
			a.Named = a.Named || rank >= 0 && rank < costly
			a.Off = math.Log(f.Factor) / total
			if rank >= 0 {
				a.Off = math.Abs(a.Off - account.Factors[rank].Share)
			}
		}
		if a.Named {
			a.As = string(f.Kind)
		}
		mark.Answers = append(mark.Answers, a)
	}
	for _, f := range found {
		explained := slices.Contains(consequences, f.Code) && len(m.Faults) > 0 ||
			slices.ContainsFunc(m.Faults, func(x Fault) bool {
				return slices.Contains(answers[x.Kind].codes, f.Code)
			})
		if f.Severity.Rank() >= finding.Warn.Rank() && !explained && !slices.Contains(mark.Alarms, f.Code) {
			mark.Alarms = append(mark.Alarms, f.Code)
		}
	}
	return mark
}

// first is what was named first: the largest cause of an account, else the worst finding.
func first(a *finding.Account, found []finding.Finding) string {
	switch {
	case a != nil && len(a.Factors) > 0:
		return string(a.Factors[0].Cause)
	case len(found) > 0 && found[0].Severity.Rank() >= finding.Warn.Rank():
		return string(found[0].Code)
	}
	return "nothing"
}

// Sum counts marks.
type Sum struct {
	Machines, Healthy, HealthyAlarmed  int
	Faults, Named, Costly, CostlyFirst int
	Alarms                             int
	Shares                             []float64 // distances
	Confusion                          map[Kind]map[string]int
}

// Add counts marks together.
func Add(marks []Mark) Sum {
	s := Sum{Machines: len(marks), Confusion: map[Kind]map[string]int{}}
	for _, m := range marks {
		if len(m.Machine.Faults) == 0 {
			s.Healthy++
			if len(m.Alarms) > 0 {
				s.HealthyAlarmed++
			}
		}
		s.Alarms += len(m.Alarms)
		for _, a := range m.Answers {
			s.Faults++
			costly := a.Fault.Factor <= 1-Costly
			if costly {
				s.Costly++
			}
			if a.Named {
				s.Named++
				if costly {
					s.CostlyFirst++
				}
			}
			if !math.IsNaN(a.Off) {
				s.Shares = append(s.Shares, a.Off)
			}
			if s.Confusion[a.Fault.Kind] == nil {
				s.Confusion[a.Fault.Kind] = map[string]int{}
			}
			s.Confusion[a.Fault.Kind][a.As]++
		}
	}
	return s
}

// Markdown is the result of an exam as docs/exam.md has it.
func (s Sum) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"%d machines, %d of them healthy (%d of those with a warning); %d faults, %d named; %d of the faults cost "+
			"a tenth of the ceiling or more, %d of those named; "+
			"%d unexplained warnings.\n",
		s.Machines,
		s.Healthy,
		s.HealthyAlarmed,
		s.Faults,
		s.Named,
		s.Costly,
		s.CostlyFirst,
		s.Alarms,
	)
	if len(s.Shares) > 0 {
		sum := 0.0
		for _, x := range s.Shares {
			sum += x
		}
		fmt.Fprintf(
			&b,
			"Distance of named shares from the true ones: mean %.1f points, at most %.1f (%d shares).\n",
			100*sum/float64(len(s.Shares)),
			100*slices.Max(s.Shares),
			len(s.Shares),
		)
	}
	fmt.Fprintf(&b, "\n| built in | named as | times |\n| --- | --- | ---: |\n")
	for _, k := range Kinds() {
		var as []string
		for name := range s.Confusion[k] {
			as = append(as, name)
		}
		slices.Sort(as)
		for _, name := range as {
			fmt.Fprintf(&b, "| %s | %s | %d |\n", k, name, s.Confusion[k][name])
		}
	}
	return b.String()
}
