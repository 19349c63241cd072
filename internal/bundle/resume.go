package bundle

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/topology"
)

// What a run's record may ask for at most; plimsoll writes less.
const (
	mostRounds  = 1000
	longestWait = 366 * 24 * time.Hour
)

// Resumable refuses a record by which no run is resumed: what it holds is read as a suite of a
// stranger's, whoever the file belongs to.
func (r *Run) Resumable() error {
	if err := r.Suite.Valid(); err != nil {
		return fmt.Errorf("suite: %w", err)
	}
	if err := r.Rounds.valid(); err != nil {
		return fmt.Errorf("rounds: %w", err)
	}
	if err := r.Settings.valid(); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	seen := map[topology.Role]bool{}
	for _, t := range r.Topology.Targets {
		if !slices.Contains(topology.Roles, t.Role) || seen[t.Role] {
			return fmt.Errorf("topology: role %q: want data and wal, once each", t.Role)
		}
		seen[t.Role] = true
	}
	return nil
}

func (p *RoundPlan) valid() error {
	switch {
	case p == nil:
		return nil
	case p.Least < 1 || p.Most < p.Least || p.Most > mostRounds:
		return fmt.Errorf("%d to %d: want 1 to %d", p.Least, p.Most, mostRounds)
	case p.Until < 0 || p.Until >= 1:
		return fmt.Errorf("until %v: want a share below 1", p.Until)
	case p.Budget < 0:
		return fmt.Errorf("budget %s: want 0 or more", p.Budget)
	case p.Order != Shuffle && p.Order != FileOrder:
		return fmt.Errorf("order %q: want %s or %s", p.Order, Shuffle, FileOrder)
	}
	return nil
}

func (s *Settings) valid() error {
	for name, d := range map[string]time.Duration{
		"runtime": s.Runtime, "ramp": s.Ramp, "cooldown": s.Cooldown, "probe": s.Probe,
	} {
		if d < 0 || d > longestWait {
			return fmt.Errorf("%s %s: want 0 or more", name, d)
		}
	}
	if s.Stop < 0 || s.Stop >= 1 {
		return fmt.Errorf("stop %v: want a share below 1", s.Stop)
	}
	return nil
}
