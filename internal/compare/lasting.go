package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/stats"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

const (
	// levelOf is how many good runs make the level of a history.
	levelOf = 10
	// leastFloor is how far a run may be off whatever earlier ones say.
	leastFloor = 0.03
)

// Lasting is a step of a series to another level, for one run or for many, or a drift.
type Lasting struct {
	Run   string    `json:"run"` // the first of it
	At    time.Time `json:"at"`
	Drift bool      `json:"drift,omitempty"`
	// Size is the new level over the old one, of a drift each run over the one before.
	Size stats.Estimate `json:"size"`
	Runs int            `json:"runs"`
	// Over: runs returned to the level, or the new one is what is expected.
	Over bool `json:"over,omitempty"`
}

// Whole is the last run's level over the one before the step or the drift.
func (l *Lasting) Whole() float64 {
	if l.Drift {
		return math.Pow(l.Size.Center, float64(l.Runs))
	}
	return l.Size.Center
}

// String is "stepped by -8.1 % [-9.3, -6.9] with RUN, for 4 runs"; for how many is left out of a single run.
func (l *Lasting) String() string {
	verb, since := "stepped", " with "+l.Run
	if l.Drift {
		verb, since = "drifts", " per run since "+l.Run
	}
	size := text.Change(l.Size.Center-1) + " " + text.Between(l.Size.Lo-1, l.Size.Hi-1)
	if l.Runs > 1 {
		since += fmt.Sprintf(", for %d runs", l.Runs)
	}
	return verb + " by " + size + since
}

// follow is what the last of some points should be by those before it, how it compares, and all
// changes up to it, of which the last one holds where the point is not as expected.
func follow(points []Point, f Figure, last int, fewer, floor float64) (
	e stats.Expected, side int, changes []Lasting, err error,
) {
	track := stats.NewTrack(last, f.Lower)
	before := -1
	for i, p := range points {
		if p.Accepted != "" {
			track.Accept()
		}
		times, least := 1.0, leastFloor
		if i == len(points)-1 {
			times, least = fewer, floor
		}
		var shift *stats.Shift
		if e, side, shift, err = track.Next(p.Value.Center, times, least); err != nil {
			return e, side, changes, fmt.Errorf("%s: %w", p.Run, err)
		}
		if (shift == nil || shift.At != before) && len(changes) > 0 {
			changes[len(changes)-1].Over = true
		}
		if before = -1; shift == nil {
			continue
		}
		before = shift.At
		l := Lasting{
			Run:   points[before].Run,
			At:    points[before].At,
			Drift: shift.Drift,
			Size:  shift.Size,
			Runs:  i - before + 1,
		}
		if n := len(changes); n > 0 && changes[n-1].Run == l.Run {
			changes[n-1] = l
		} else {
			changes = append(changes, l)
		}
	}
	return e, side, changes, nil
}

// LabelAccepted is the label of a run whose level is the expected one from then on.
const LabelAccepted = "accepted"

// acceptedFile says the same of a run that is there already. It is no part of what the run's seal covers.
const acceptedFile = "accepted.json"

type acceptance struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// accepted says why a run is the first of a new level; empty where it is none.
func accepted(b *bundle.Bundle) string {
	if reason := b.Run.Labels[LabelAccepted]; reason != "" || b.Dir == "" {
		return reason
	}
	data, err := sys.ReadFile(filepath.Join(b.Dir, acceptedFile), sys.ConfigLimit)
	if err != nil {
		return ""
	}
	var a acceptance
	if json.Unmarshal(data, &a) != nil {
		return "" // what cannot be read accepts nothing
	}
	return cmp.Or(strings.TrimSpace(a.Reason), "accepted")
}

// Accept makes a run the first of a new level: later runs are held to it, and no earlier one counts.
func Accept(dir, reason string, now time.Time) error {
	b, err := bundle.OpenRun(dir)
	if err != nil {
		return err
	}
	data, err := text.JSON(acceptance{reason, now.UTC()})
	if err != nil {
		return err
	}
	held, err := sys.OpenOwnDir(b.Dir)
	if err != nil {
		return err
	}
	defer held.Close() //nolint:errcheck // only a handle
	return held.WriteFile(acceptedFile, data, 0o644)
}
