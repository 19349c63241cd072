package bundle

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// RoundPlan says how often the scenarios of a run are measured.
type RoundPlan struct {
	// Least and Most rounds; they are equal unless Until stops earlier.
	Least int `json:"least"`
	Most  int `json:"most"`
	// Until is the half width, as a share, to which each scenario's figure is to be known: 0.03. 0
	// for none.
	Until float64 `json:"until,omitempty"`
	// Steady: rounds repeat until each figure has settled (stats.WindowOf) and twice the files'
	// size was written.
	Steady bool `json:"steady,omitempty"`
	// Budget ends the run before a round that would not fit; 0 for none.
	Budget time.Duration `json:"budget,omitempty"`
	// Seed makes the order of each round and the random numbers of each job.
	Seed uint64 `json:"seed"`
	// Order is shuffle (within a phase) or file.
	Order string `json:"order"`
}

// The orders of a round.
const (
	Shuffle   = "shuffle"
	FileOrder = "file"
)

// Repeats says that there is more than one round.
func (p *RoundPlan) Repeats() bool { return p != nil && p.Most > 1 }

// Round is one measurement of a scenario among several.
type Round struct {
	Number  int          `json:"round"`
	Dir     string       `json:"dir"` // below the bundle
	Start   time.Time    `json:"start,omitzero"`
	State   result.State `json:"state"`
	Reasons []string     `json:"reasons,omitempty"`
	IOPS    float64      `json:"iops"`
	BW      float64      `json:"bw" unit:"bytes_per_s"`

	Result *result.Result `json:"-"`
}

// RoundDir is the directory of a round below the bundle.
func RoundDir(round int) string { return fmt.Sprintf("r%02d", round) }

var roundDir = regexp.MustCompile(`^r([0-9]{2,4})$`)

// InRound lets Begin and Keep work on a round; 0 is the only round of a run without rounds.
func (w *Writer) InRound(round int) error {
	w.round = round
	if round == 0 {
		return nil
	}
	dir, err := w.dir.OwnSub(RoundDir(round), 0o755)
	if err != nil {
		return err
	}
	return dir.Close()
}

// dirName is where a scenario's result goes below the bundle.
func (w *Writer) dirName(s suite.Scenario) string {
	if w.round == 0 {
		return DirName(s)
	}
	return filepath.Join(RoundDir(w.round), DirName(s))
}

// readRounds reads every round of a scenario and makes its Result: the round in the middle, with
// the interval over all.
func (s *Scenario) readRounds(dir string, plan *RoundPlan) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		m := roundDir.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		var r result.Result
		found, err := readJSON(filepath.Join(dir, e.Name(), DirName(s.Scenario), "result.json"), &r)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		number, _ := strconv.Atoi(m[1])
		iops, bw := total(&r)
		s.Rounds = append(s.Rounds, Round{
			Number:  number,
			Dir:     filepath.Join(e.Name(), DirName(s.Scenario)),
			Start:   r.Start,
			State:   r.State,
			Reasons: r.Reasons,
			IOPS:    iops,
			BW:      bw,
			Result:  &r,
		})
	}
	slices.SortFunc(s.Rounds, func(a, b Round) int { return cmp.Compare(a.Number, b.Number) })
	if plan.Steady {
		s.Result = s.steady()
		return nil
	}
	s.Result = s.middle(s.Rounds)
	return nil
}

// steady is the middle of the last five rounds, with what the window says of them.
func (s *Scenario) steady() *result.Result {
	last := s.Rounds[max(0, len(s.Rounds)-stats.LeastRounds):]
	r := s.middle(last)
	if r == nil {
		return nil
	}
	var iops []float64
	for _, round := range s.Rounds {
		if round.State == result.Done && round.IOPS > 0 {
			iops = append(iops, round.IOPS)
		}
	}
	w := stats.WindowOf(iops)
	note := "steady in the manner of SNIA PTS, and settled: the last five rounds are shown"
	switch {
	case w.Steady && !w.Settled:
		note = "steady in the manner of SNIA PTS, but not settled: " + w.Why
	case !w.Steady:
		note = "not steady: " + w.Why
	}
	r.Doubt("%s", note)
	return r
}

func total(r *result.Result) (iops, bw float64) {
	for _, d := range r.Total.Directions() {
		iops, bw = iops+float64(d.IOPS), bw+float64(d.BW)
	}
	return iops, bw
}

// middle is a copy of the valid round whose IOPS are nearest to the median, with IOPS and bandwidth
// known over all valid rounds; of no valid round it is the last.
func (s *Scenario) middle(rounds []Round) *result.Result {
	if len(rounds) == 0 {
		return nil
	}
	var valid []Round
	var iops, bw []float64
	for _, r := range rounds {
		if r.State == result.Done && r.IOPS > 0 && r.BW > 0 {
			valid, iops, bw = append(valid, r), append(iops, r.IOPS), append(bw, r.BW)
		}
	}
	if len(valid) == 0 {
		return rounds[len(rounds)-1].Result
	}
	median := stats.Quantile(iops, 0.5)
	best := slices.MinFunc(valid, func(a, b Round) int {
		return cmp.Compare(math.Abs(a.IOPS-median), math.Abs(b.IOPS-median))
	})
	r := *best.Result
	if bad := len(rounds) - len(valid); bad > 0 {
		r.Doubt("%s of %d left out as invalid", text.Plural(bad, "round"), len(rounds))
	}
	if len(valid) < 2 {
		return &r
	}
	alone := r.IOPS
	r.IOPS, r.BW = over(iops, r.IOPS), over(bw, r.BW)
	spread := 0.0
	if p, err := stats.PrecisionOf(iops, 0.03); err == nil {
		spread = p.Spread
	}
	note := fmt.Sprintf("round %d of %d is shown, the median; ± is over %d rounds, whose spread is %s",
		best.Number, len(rounds), len(valid), text.Percent(spread))
	if alone.HasInterval() {
		note += fmt.Sprintf("; within-run variation alone implies ± %s", text.Percent(alone.Rel()))
	}
	r.Doubt("%s", note)
	return &r
}

// over is the level of rounds around the figure that is shown.
func over(values []float64, shown stats.Estimate) stats.Estimate {
	level, err := stats.Level(values)
	if err != nil {
		return shown
	}
	level.Doubts = shown.Doubts
	return level
}
