package finding

import (
	"cmp"
	"math"
	"slices"
)

// Cause is why a figure lies below its ceiling.
type Cause string

// The causes that an account can name.
const (
	Drain       Cause = "drain"
	Split       Cause = "split I/Os"
	Copies      Cause = "copies"
	IdleMembers Cause = "idle members"
	Rebuild     Cause = "rebuild or check"
	SlowMember  Cause = "slow member"
	OtherLoad   Cause = "other load"
	Instance    Cause = "instance"
	VolumeLimit Cause = "provisioned limit"
	BurstSpent  Cause = "burst spent"
	CPU         Cause = "CPU"
	Depth       Cause = "depth not reached"
	RestLatency Cause = "idle latency"
	SlowVolume  Cause = "slow volume"
	Tail        Cause = "slow tail"
	Grouping    Cause = "commits per sync"
	SlowSync    Cause = "slower syncs"
	CommitCPU   Cause = "CPU time of a commit"
	CommitWait  Cause = "wait for a sync"
	IdleLog     Cause = "log without syncs"
	IdleCPU     Cause = "idle CPU"
	Waits       Cause = "sessions that wait" // for Who
	RowLocks    Cause = "row locks"
	Unexplained Cause = "unexplained"
)

// NamedShare of a gap is the least that a cause must explain to be named; what explains less counts
// as unexplained.
const NamedShare = 0.10

// Account explains a gap between a ceiling and a measured figure, in IOPS or transactions per second:
// Ceiling times all factors is Measured.
type Account struct {
	Ceiling  float64 `json:"ceiling"`
	Measured float64 `json:"measured"`
	// Unit is what both are in where it is not IOPS: "TPS", transactions per second.
	Unit string `json:"unit,omitempty"`
	// Factors have the largest share first, and what is unexplained last.
	Factors []Factor `json:"factors"`
}

// Factor is what one cause leaves of what would be possible without it.
type Factor struct {
	Cause  Cause   `json:"cause"`
	Who    string  `json:"who,omitempty"` // the device or job that it is about
	Factor float64 `json:"factor"`        // above 0 and at most 1
	Share  float64 `json:"share"`         // of the gap: ln factor / ln (measured / ceiling); all add up to 1
	How    string  `json:"how"`           // its arithmetic, in words
}

// Factors are the causes of a gap, in the order in which they are certain.
type Factors []Factor

// Add takes a cause, whom it is about (or ""), what it leaves, and its arithmetic in the words of Says.
func (f *Factors) Add(cause Cause, who string, factor float64, how string, args ...any) {
	*f = append(*f, Factor{Cause: cause, Who: who, Factor: factor, How: Says(how, args...)})
}

// NewAccount takes causes in the order in which they are certain. A cause never explains more than
// those before it have left of the gap, and causes below NamedShare are not named. Nil where there
// is no gap.
func NewAccount(ceiling, measured float64, causes []Factor) *Account {
	if !(measured > 0 && measured < ceiling) || math.IsInf(ceiling, 0) {
		return nil
	}
	gap := measured / ceiling
	a := &Account{Ceiling: ceiling, Measured: measured}
	left, named := gap, 1.0
	for _, f := range causes {
		if !(f.Factor > 0 && f.Factor < 1) {
			continue
		}
		f.Factor = max(f.Factor, left)
		f.Share = math.Log(f.Factor) / math.Log(gap)
		if f.Factor >= 1 {
			continue
		}
		left /= f.Factor
		if f.Share >= NamedShare {
			named *= f.Factor
			a.Factors = append(a.Factors, f)
		}
	}
	slices.SortStableFunc(a.Factors, func(x, y Factor) int { return cmp.Compare(y.Share, x.Share) })
	rest := min(gap/named, 1)
	if share := math.Log(rest) / math.Log(gap); share > 1e-9 {
		a.Factors = append(a.Factors,
			Factor{Cause: Unexplained, Factor: rest, Share: share, How: "nothing recorded accounts for it"})
	}
	return a
}

// In is the unit of the account's figures: IOPS, or TPS of a database.
func (a *Account) In() string { return cmp.Or(a.Unit, "IOPS") }

// Named are the causes, without what is unexplained.
func (a *Account) Named() []Factor {
	if a == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Factors), func(f Factor) bool { return f.Cause == Unexplained })
}

// Unexplained is the share of the gap that no cause explains.
func (a *Account) Unexplained() float64 {
	for _, f := range a.Factors {
		if f.Cause == Unexplained {
			return f.Share
		}
	}
	return 0
}

// Levels are the IOPS that remain after each factor; the last is Measured.
func (a *Account) Levels() []float64 {
	all := make([]float64, len(a.Factors))
	level := a.Ceiling
	for i, f := range a.Factors {
		level *= f.Factor
		all[i] = level
	}
	return all
}
