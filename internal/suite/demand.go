package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// nearlyAll of a rate counts as reached: fio holds a rate within some tenths of a percent.
const nearlyAll = 0.98

// FromDemand makes a suite of one scenario that asks for what a demand describes and holds it to
// the latencies it states.
func FromDemand(d *workload.Demand) (*Suite, error) {
	c := Scenario{
		ID:      1,
		Name:    scenarioName(d.Name),
		Title:   d.About,
		Role:    d.Role,
		Demand:  d,
		Size:    cmp.Or(d.Capacity, DefaultSize),
		Runtime: d.Runtime(0),
		Why:     "Whether the storage meets the demand of " + d.Name + ".",
	}
	c.Job = c.asked("")
	for _, text := range demanded(d, c.Job) {
		t, err := ParseThreshold(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Source, err)
		}
		c.Thresholds = append(c.Thresholds, t)
	}
	return &Suite{
		Name:        c.Name,
		Description: d.About,
		Source:      d.Source,
		Cooldown:    DefaultCooldown,
		Scenarios:   []Scenario{c},
	}, nil
}

// scenarioName is a demand's name as scenarios have it.
func scenarioName(name string) string {
	name = strings.Trim(strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name)), "-")
	if !validName(name) {
		return "demand"
	}
	return name
}

// asked is the demand's job on a file; without one nothing is placed.
func (s Scenario) asked(file string) fio.JobFile {
	job := s.Demand.Job(workload.JobOptions{Filename: file, Size: s.Size, Runtime: s.Runtime}).File()
	global := &job.Sections[0]
	global.Options = slices.DeleteFunc(global.Options, func(o fio.Option) bool {
		return o.Name == "log_avg_msec" || o.Name == "filename" && file == ""
	})
	global.Options = append(global.Options, fio.Option{Name: "allow_file_create", Value: "0"})
	return job
}

// demanded are the thresholds that a demand states, by direction: those of a direction whose
// streams burst several times, or differ in what they state, cannot be derived from its sums, which
// is what compare --demand is for.
func demanded(d *workload.Demand, job fio.JobFile) (texts []string) {
	for _, side := range []Side{ReadSide, WriteSide} {
		streams := slices.DeleteFunc(slices.Clone(d.Streams), func(s workload.Stream) bool {
			return side == ReadSide && !s.Reads() || side == WriteSide && !s.Writes()
		})
		if len(streams) == 0 {
			continue
		}
		rate, whole := units.Rate(0), true
		for _, s := range streams {
			share := s.ReadShare
			if side == WriteSide {
				share = 1 - share
			}
			rate += s.Rate * units.Rate(share)
			whole = whole && (s.Burst == nil || len(streams) == 1 && bursts(job, s.Name) == 1)
		}
		if whole {
			texts = append(texts, fmt.Sprintf("%s.bw >= %s", side, rateText(nearlyAll*rate)))
		}
		if len(streams) == 1 {
			texts = append(texts, borne(side, &streams[0])...)
		}
	}
	return texts
}

// bursts is how many sections of a job are of a stream.
func bursts(job fio.JobFile, name string) int {
	n := 0
	for _, s := range job.Sections {
		if s.Name == name || strings.HasPrefix(s.Name, name+"-") {
			n++
		}
	}
	return n
}

// borne are the thresholds of a stream's latencies: of its syncs where it syncs each write.
func borne(side Side, s *workload.Stream) (texts []string) {
	quantity := Clat
	if side == WriteSide && s.Sync.Each == 1 && s.Sync.Kind != "dsync" {
		quantity = Sync
	}
	metric := string(side) + "." + string(quantity)
	for _, p := range s.Latency.Percentiles {
		texts = append(texts,
			fmt.Sprintf("%s.p%s < %s", metric, strconv.FormatFloat(p.P, 'f', -1, 64), units.LatencyOf(p.Limit).Arg()))
	}
	for _, o := range s.Latency.Over {
		texts = append(texts, fmt.Sprintf("%s.over(%s) < %s", metric, units.LatencyOf(o.Limit).Arg(),
			units.ShareArg(o.Share)))
	}
	return texts
}

// rateText is a rate in MiB/s, or in bytes where that would round it away.
func rateText(r units.Rate) string {
	if mib := float64(r / units.MiBPerSec); mib >= 1 {
		return strconv.FormatFloat(mib, 'f', 2, 64) + "MiB/s"
	}
	return fmt.Sprintf("%.0fB/s", float64(r))
}
