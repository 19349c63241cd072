package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// ABFile is the file that makes a directory of runs an A/B measurement.
const ABFile = "ab.json"

// The labels that each run of an A/B measurement carries.
const (
	LabelVariant = "variant"
	LabelRound   = "round"
)

// AB describes an A/B measurement: runs of variants, alternated.
type AB struct {
	Schema   int       `json:"schema"`
	Created  time.Time `json:"created"`
	Variants []string  `json:"variants"` // names, the base first
	Rounds   int       `json:"rounds"`
	Seed     uint64    `json:"seed"`
	// Command is what was typed after plimsoll ab, for resuming.
	Command []string `json:"command"`
	Margin  float64  `json:"margin"`
	// Layouts: the variants are layouts, and the directory has the plimsoll.yaml of each.
	Layouts bool `json:"layouts,omitempty"`
}

// ReadAB reads the description in a directory; found is false when it is none of an A/B
// measurement.
func ReadAB(dir string) (ab AB, found bool, err error) {
	data, err := sys.ReadFile(filepath.Join(dir, ABFile), sys.ConfigLimit)
	if errors.Is(err, os.ErrNotExist) || err != nil && !sys.IsDir(dir) {
		return ab, false, nil
	}
	if err != nil {
		return ab, false, err
	}
	if err := json.Unmarshal(data, &ab); err != nil {
		return ab, true, fmt.Errorf("%s: %w", filepath.Join(dir, ABFile), err)
	}
	return ab, true, nil
}

// WriteAB writes the description.
func WriteAB(dir *sys.Dir, ab AB) error {
	data, err := text.JSON(ab)
	if err != nil {
		return err
	}
	return dir.WriteFile(ABFile, data, 0o644)
}

// loadAB makes a side of each variant, its rounds numbered as they were alternated.
func (l *Loaded) loadAB(dir string, ab AB) error {
	runs, err := l.below(dir, true, false)
	if err != nil {
		return err
	}
	l.Paired, l.ByName, l.Layouts = true, true, ab.Layouts
	for _, name := range ab.Variants {
		side := Side{Name: name}
		rounds := 0
		for _, b := range runs {
			round, err := strconv.Atoi(b.Run.Labels[LabelRound])
			if b.Run.Labels[LabelVariant] != name || err != nil || b.Run.State != bundle.Finished {
				continue
			}
			rounds++
			for _, s := range samplesOf(b) {
				s.Round = round
				side.Samples = append(side.Samples, s)
			}
		}
		slices.SortStableFunc(side.Samples, func(a, b Sample) int { return a.Round - b.Round })
		if rounds < ab.Rounds {
			l.Missing = append(l.Missing, fmt.Sprintf("variant %s has %d of %d rounds", name, rounds, ab.Rounds))
		}
		if len(side.Samples) == 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("variant %s has not been measured yet", name))
			continue
		}
		l.Sides = append(l.Sides, side)
	}
	return nil
}
