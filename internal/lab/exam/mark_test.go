package exam

import (
	"math"
	"slices"

	"plimsoll/internal/finding"
)

// Costly is the part of a ceiling that a fault must take to be expected among the first causes.
const Costly = 0.10

// answers are what names a fault: codes of findings, and causes of an account.
var answers = map[Kind]struct {
	codes  []finding.Code
	causes []finding.Cause
}{
	SlowMember:   {[]finding.Code{"PL204"}, []finding.Cause{finding.SlowMember}},
	InstanceCap:  {[]finding.Code{"PL505"}, []finding.Cause{finding.Instance}},
	HiddenCap:    {nil, []finding.Cause{finding.Instance}},
	BurstNearEnd: {[]finding.Code{"PL406", "PL605"}, []finding.Cause{finding.BurstSpent}},
	Degraded:     {[]finding.Code{"PL201"}, nil},
	Resync:       {[]finding.Code{"PL202"}, []finding.Cause{finding.Rebuild}},
	Misaligned:   {[]finding.Code{"PL205"}, nil},
	WrongSUSW:    {[]finding.Code{"PL203"}, nil},
	Unwritten:    {[]finding.Code{"PL401"}, nil},
	Volatile:     {[]finding.Code{"PL209"}, nil},
	MemberLoad:   {nil, []finding.Cause{finding.OtherLoad}},
	CPUTaken:     {[]finding.Code{"PL425", "PL410"}, []finding.Cause{finding.CPU}},
	Scheduler:    {[]finding.Code{"PL302"}, nil},
	WrongLimits:  {nil, []finding.Cause{finding.VolumeLimit}},
	WrongChunk:   {[]finding.Code{"PL214"}, []finding.Cause{finding.Split}},
	WrongLevel:   {nil, []finding.Cause{finding.Copies}},
}

// symptoms are warnings that a fault causes besides the one that names it: of any fault, and of
// single ones.
var (
	symptoms   = []finding.Code{"PL503", "PL417", "PL316", "PL405"}
	symptomsOf = map[Kind][]finding.Code{
		MemberLoad: {"PL412", "PL315", "PL204"},
		// A slow volume is unlike the others where its speed is known, and its queue looks like
		// load.
		SlowMember:   {"PL210"},
		BurstNearEnd: {"PL403"},
		CPUTaken:     {"PL403", "PL404", "PL410", "PL409", "PL425"},
		WrongLevel:   {"PL413"},
		Resync:       {"PL412", "PL315"},
		Unwritten:    {"PL413"},
	}
)

// inCeiling are faults that the machine shows, so that the ceiling counts them already: they have
// no part in the gap below it.
func inCeiling(k Kind) bool { return k == InstanceCap || k == Degraded }

// Answer is how one fault fared.
type Answer struct {
	Fault    Fault
	Expected bool // among the first causes
	Named    bool
	As       string  // what was named first instead, where it was not
	Off      float64 // distance of the named share of the gap from the true one, in 0..1; NaN where no share is known
}

// Mark is how one machine fared.
type Mark struct {
	Machine Machine
	Answers []Answer
	// Wrong are causes that were named among the first and were not built in.
	Wrong []finding.Cause
	// Alarms are findings of a warning or worse that no fault explains.
	Alarms []finding.Code
}

// Judge marks the findings on a machine, which reached this share of its ceiling; 0 where that is
// not known.
func Judge(m Machine, found []finding.Finding, reached float64) Mark {
	mark := Mark{Machine: m}
	var account *finding.Account
	var codes []finding.Code
	for _, f := range found {
		codes = append(codes, f.Code)
		if f.Account != nil && f.Code == "PL503" && account == nil {
			account = f.Account
		}
	}
	faults := settled(m.Faults, reached)
	expected, gap := expect(faults, reached)
	first := 0
	for i, f := range faults {
		if expected[i] && !inCeiling(f.Kind) {
			first++
		}
	}
	for i, f := range faults {
		a := Answer{Fault: f, Expected: expected[i], Off: math.NaN()}
		named := answers[f.Kind]
		a.Named = slices.ContainsFunc(named.codes, func(c finding.Code) bool { return slices.Contains(codes, c) })
		if rank, share := rankOf(account, named.causes); rank >= 0 {
			a.Named = a.Named || rank < max(first, 1)
			if expected[i] && gap < 0 {
				a.Off = math.Abs(min(math.Log(f.Factor)/gap, 1) - share)
			}
		} else if account != nil && expected[i] && !inCeiling(f.Kind) && gap < 0 {
			a.Off = min(math.Log(f.Factor)/gap, 1)
		}
		a.As = string(f.Kind)
		if !a.Named {
			a.As = instead(account, faults)
		}
		mark.Answers = append(mark.Answers, a)
	}
	for i, f := range account.Named() {
		if i < first && !slices.ContainsFunc(faults, func(x Fault) bool {
			return slices.Contains(answers[x.Kind].causes, f.Cause)
		}) {
			mark.Wrong = append(mark.Wrong, f.Cause)
		}
	}
	mark.Alarms = alarms(m, found)
	return mark
}

// settled are the faults with their costs: what is measured is that of one which is not known
// beforehand.
func settled(faults []Fault, reached float64) []Fault {
	faults = slices.Clone(faults)
	for i := range faults {
		if faults[i].Factor == 0 {
			faults[i].Factor = 1
			if reached > 0 && reached < 1-Costly {
				faults[i].Factor = max(reached, faults[i].Least)
			}
		}
	}
	return faults
}

// expect says which faults are to be among the first causes: those that cost a tenth of the ceiling
// or more, and a tenth of the gap, below which an account names nothing. gap is the logarithm of
// what was measured over the ceiling, or of what the faults leave where that is less.
func expect(faults []Fault, reached float64) (expected []bool, gap float64) {
	for _, f := range faults {
		if !inCeiling(f.Kind) {
			gap += math.Log(f.Factor)
		}
	}
	if reached > 0 {
		gap = min(gap, math.Log(reached))
	}
	for _, f := range faults {
		expected = append(expected, f.Factor <= 1-Costly &&
			(inCeiling(f.Kind) || math.Log(f.Factor)/gap >= finding.NamedShare))
	}
	return expected, gap
}

// rankOf is the place of a cause in an account, and its share; -1 where it is not named.
func rankOf(a *finding.Account, causes []finding.Cause) (rank int, share float64) {
	for i, f := range a.Named() {
		if slices.Contains(causes, f.Cause) {
			return i, f.Share
		}
	}
	return -1, 0
}

// instead is the first cause that was named and answers to no fault, else what was given as
// unexplained, else nothing.
func instead(a *finding.Account, faults []Fault) string {
	if a == nil {
		return "nothing"
	}
	for _, f := range a.Named() {
		if !slices.ContainsFunc(faults, func(x Fault) bool { return slices.Contains(answers[x.Kind].causes, f.Cause) }) {
			return string(f.Cause)
		}
	}
	if a.Unexplained() >= finding.NamedShare {
		return string(finding.Unexplained)
	}
	return "nothing"
}

func alarms(m Machine, found []finding.Finding) []finding.Code {
	var all []finding.Code
	for _, f := range found {
		explained := slices.Contains(symptoms, f.Code) && len(m.Faults) > 0 ||
			slices.ContainsFunc(m.Faults, func(x Fault) bool {
				return slices.Contains(answers[x.Kind].codes, f.Code) || slices.Contains(symptomsOf[x.Kind], f.Code)
			})
		if f.Severity.Rank() >= finding.Warn.Rank() && !explained && !slices.Contains(all, f.Code) {
			all = append(all, f.Code)
		}
	}
	return all
}
