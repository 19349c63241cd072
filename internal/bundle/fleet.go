package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// FleetSchema is the version of fleet.json that this build writes.
const FleetSchema = 1

// fleetFile is the document of a fleet run. Its directory holds an ordinary bundle a host below
// hosts/.
const fleetFile = "fleet.json"

// Fleet is fleet.json: what several hosts measured at the same time, as one run. Times of scenarios
// are on the coordinator's clock.
type Fleet struct {
	Schema   int       `json:"schema"`
	Tool     string    `json:"tool"`
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	Finished time.Time `json:"finished,omitzero"`
	State    State     `json:"state"`
	Via      string    `json:"via"`   // import, ssh, srun, or a template
	Order    string    `json:"order"` // together, alone, both
	Suite    string    `json:"suite,omitempty"`
	// Labels are those of --label, which the hosts' runs carry too, and the number of a round.
	Labels map[string]string `json:"labels,omitempty"`
	Shared bool              `json:"shared,omitempty"`
	// SharedIOPS and SharedBW are what the storage or the network allows all hosts together, as
	// stated; 0 where nothing was.
	SharedIOPS units.IOPS `json:"shared_iops,omitempty"`
	SharedBW   units.Rate `json:"shared_bandwidth,omitempty"`
	// Lose is how many hosts may be lost before the figures are invalid.
	Lose      int             `json:"lose,omitempty"`
	Request   []string        `json:"request,omitempty"` // arguments of run on each host
	Hosts     []FleetHost     `json:"hosts"`
	Scenarios []FleetScenario `json:"scenarios"`
	Verdict   verdict.Verdict `json:"verdict,omitempty"`
	Reasons   []string        `json:"reasons,omitempty"`
	// Findings are those of the fleet; the hosts' own are in their bundles.
	Findings []finding.Finding `json:"findings,omitempty"`
	// Damaged names files that are missing or not those that were written.
	Damaged []string `json:"-"`
}

// HostState is what became of a host of a fleet.
type HostState string

// The states of a host.
const (
	HostDone    HostState = "done"
	HostLost    HostState = "lost"    // it was there and then was not, or did not keep to the protocol
	HostRefused HostState = "refused" // it would not run: other versions, a path that is not safe
)

// FleetHost is one host of a fleet run.
type FleetHost struct {
	Name     string          `json:"name"`
	State    HostState       `json:"state"`
	Why      string          `json:"why,omitempty"` // of a host that is not done
	Clock    FleetClock      `json:"clock"`
	Plimsoll string          `json:"plimsoll,omitempty"`
	Fio      string          `json:"fio,omitempty"`
	Exit     int             `json:"exit"`
	Verdict  verdict.Verdict `json:"verdict,omitempty"`
	// Reasons are those of its own verdict, the worst first.
	Reasons []string `json:"reasons,omitempty"`
	Dir     string   `json:"dir,omitempty"`    // of its bundle, below the run; where it was read, of an import
	Remote  string   `json:"remote,omitempty"` // the run's directory on the host itself
	// Starts are when fio started, by scenario, since Created on the coordinator's clock; none
	// where only wall clocks are known.
	Starts map[int]time.Duration `json:"starts_ns,omitempty"`
	// Facts are what should be the same on all hosts, such as the kernel, by name.
	Facts map[string]string `json:"facts,omitempty"`
}

// FleetClock is what a host's clock shows when the coordinator's shows 0, and how far that may be
// off.
type FleetClock struct {
	Offset time.Duration `json:"offset_ns"`
	// Wall is how far the host's wall clock is ahead of the coordinator's.
	Wall   time.Duration `json:"wall_offset_ns,omitempty"`
	Error  time.Duration `json:"error_ns"`
	Source string        `json:"source,omitempty"` // wall clock, or monotonic clock by ping
}

// FleetScenario is one scenario on all hosts.
type FleetScenario struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// Size of the files and Runtime are those that each host was to have; 0 where a job sets its
	// own.
	Size    units.Bytes   `json:"size,omitempty"`
	Runtime time.Duration `json:"runtime_ns,omitempty"`
	// At is the beginning of the first host's measurement; Windows and Common are since then.
	At         time.Time        `json:"at"`
	Windows    []FleetWindow    `json:"windows"`
	Common     FleetSpan        `json:"common"`
	Total      FleetTotal       `json:"total"`
	Hosts      []FleetFigure    `json:"hosts"`
	Ceiling    *FleetCeiling    `json:"ceiling,omitempty"`
	Stragglers []FleetStraggler `json:"stragglers,omitempty"`
	Invalid    []string         `json:"invalid,omitempty"` // why the figures must not be trusted
}

// FleetWindow is when a host measured, its ramp not included.
type FleetWindow struct {
	Host string        `json:"host"`
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// FleetSpan is when all hosts measured, and its share of what was to be measured.
type FleetSpan struct {
	From  time.Duration `json:"from_ns"`
	To    time.Duration `json:"to_ns"`
	Share float64       `json:"share"`
}

// Length of the span, never negative.
func (s FleetSpan) Length() time.Duration { return max(s.To-s.From, 0) }

// FleetTotal is what all hosts did together in the common window. Hist holds the completion
// latencies of all directions.
type FleetTotal struct {
	IOPS     units.IOPS     `json:"iops"`
	BW       units.Rate     `json:"bytes_per_s"`
	Interval stats.Estimate `json:"iops_estimate"`
	Hist     *fio.Hist      `json:"hist"`
	Sync     *fio.Hist      `json:"sync_hist,omitempty"`
}

// FleetFigure is what one host did in the common window.
type FleetFigure struct {
	Host     string         `json:"host"`
	IOPS     units.IOPS     `json:"iops"`
	BW       units.Rate     `json:"bytes_per_s"`
	Interval stats.Estimate `json:"iops_estimate"`
	P50      time.Duration  `json:"p50_ns,omitempty"`
	P99      time.Duration  `json:"p99_ns,omitempty"`
	// Ceiling is the host's own, 0 where it is not known; Sustained is what is left of it when
	// bursts are over, by the limit SustainedBy.
	Ceiling     units.IOPS `json:"ceiling_iops,omitempty"`
	Limit       string     `json:"limit,omitempty"` // what sets the ceiling
	Sustained   units.IOPS `json:"sustained_iops,omitempty"`
	SustainedBy string     `json:"sustained_by,omitempty"`
	Alone       units.IOPS `json:"alone_iops,omitempty"` // measured without the other hosts
}

// FleetCeiling is the most that the fleet can do.
type FleetCeiling struct {
	IOPS  units.IOPS `json:"iops"`
	BW    units.Rate `json:"bytes_per_s,omitempty"`
	Binds string     `json:"limited_by"` // "sum of hosts" or the shared limit
}

// FleetStraggler is a host that falls behind the others.
type FleetStraggler struct {
	Host   string  `json:"host"`
	Of     float64 `json:"of_ceiling"`       // what it reached of its own ceiling, or of the others' median rate
	Others float64 `json:"median_of_others"` // the same, median of the other hosts
}

// IsFleet says whether a directory holds a fleet run.
func IsFleet(dir string) bool { return sys.Exists(filepath.Join(dir, fleetFile)) }

// OpenFleet reads a fleet run.
func OpenFleet(dir string) (*Fleet, error) {
	name := filepath.Join(dir, fleetFile)
	var f Fleet
	found, err := readJSON(name, &f)
	switch {
	case err != nil:
		return nil, err
	case !found && empty(dir):
		return nil, fmt.Errorf("%s is empty: its run was killed as it began, so remove it", dir)
	case !found:
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if f.Schema < 1 || f.Schema > FleetSchema {
		return nil, fmt.Errorf("%s has schema %d and this plimsoll reads 1 to %d: use a newer plimsoll", name, f.Schema,
			FleetSchema)
	}
	if f.State == Finished && sys.Exists(filepath.Join(dir, sums)) {
		f.distrust(damage(dir, "", largest, fleetFile)...)
	}
	return &f, nil
}

// Inspect looks at what the fleet run of a directory consists of, and makes it invalid where a host's run is
// missing or damaged.
func (f *Fleet) Inspect(dir string) {
	for _, h := range f.Hosts {
		if h.State != HostDone || h.Dir == "" {
			continue
		}
		b, err := h.open(dir)
		switch {
		case err != nil:
			f.distrust(h.Dir + " cannot be read: " + err.Error())
		case len(b.Damaged) > 0:
			f.distrust(h.Dir + ": " + b.Damaged[0])
		}
	}
}

// distrust makes a fleet run invalid whose files are damaged.
func (f *Fleet) distrust(damaged ...string) {
	if len(damaged) > 0 {
		f.Verdict, f.Damaged = verdict.Invalid, append(f.Damaged, damaged...)
		f.Reasons = append([]string{"The run's files are damaged: " + damaged[0] + "."}, f.Reasons...)
	}
}

// CreateFleet makes the directory of a fleet run below out, named after the time and what, and
// holds it: what is written by its Path goes there, whatever its name leads to by then. Close it.
// Where not everybody may read one of the sources, nobody else may enter it.
func CreateFleet(out, what string, at time.Time, sources []string) (*sys.Dir, error) {
	dir, _, err := makeRun(out, at.UTC().Format("20060102T150405Z")+"-"+slug(what)+"-fleet", modeOf(sources))
	return dir, err
}

// ReopenFleet holds the directory of an earlier fleet run, to write to it, and reads it. It must be
// the caller's own.
func ReopenFleet(name string) (*sys.Dir, *Fleet, error) {
	if _, err := OpenFleet(name); err != nil {
		return nil, nil, err
	}
	dir, err := sys.OpenOwnDir(name)
	if err != nil {
		return nil, nil, err
	}
	f, err := OpenFleet(dir.Path())
	if err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	return dir, f, nil
}

// SaveFleet writes fleet.json, and seals that of a finished run.
func SaveFleet(dir *sys.Dir, f *Fleet) error {
	if err := os.Remove(dir.Path(sums)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeJSON(dir.Path(fleetFile), f); err != nil || f.State != Finished {
		return err
	}
	return seal(dir.Path(), fleetFile)
}

// Of is what a figure reached of the host's own ceiling, 0 where that is not known.
func (f FleetFigure) Of() float64 {
	if f.Ceiling <= 0 || math.IsInf(float64(f.Ceiling), 0) {
		return 0
	}
	return float64(f.IOPS / f.Ceiling)
}

// Outcome is the verdict of a finished fleet run in words, or how far it came.
func (f *Fleet) Outcome() string {
	if f.State != Finished {
		return string(f.State)
	}
	return f.Verdict.Word()
}

// ListFleets returns the fleet runs below out, newest first, each under the name of its directory.
// What cannot be read is passed over, as in List.
func ListFleets(out string) (all []*Fleet, err error) {
	entries, err := entriesOf(out)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		dir := filepath.Join(out, e.Name())
		if !IsFleet(dir) {
			continue
		}
		if f, err := OpenFleet(dir); err == nil {
			f.ID = e.Name()
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *Fleet) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// FleetHosts is the directory below a fleet run that holds the runs of its hosts.
func FleetHosts(dir string) string { return filepath.Join(dir, "hosts") }

// FleetCheck is what a check of several hosts found. It is printed and not stored.
type FleetCheck struct {
	Tool  string         `json:"tool"`
	Via   string         `json:"via"` // ssh, srun, or a template
	Hosts []FleetChecked `json:"hosts"`
	// Findings are about the hosts together: what differs, clocks that are not known well enough.
	Findings []finding.Finding `json:"findings"`
}

// FleetChecked is one host of it. Its facts are the settings that should be the same on all hosts.
type FleetChecked struct {
	FleetHost
	Findings []finding.Finding `json:"findings"`
	Notes    []string          `json:"notes"` // what could not be seen there
}
