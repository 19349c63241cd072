package plans

import (
	"fmt"
	"time"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// demandView is a demand with what follows from it, as --json prints it.
type demandView struct {
	*workload.Demand
	Peak, Mean workload.Load
	HalfHour   workload.Load `json:"mean_30_min"`
	Counted    units.IOPS    `json:"counted_iops"`      // at peak, one for each 256 KiB, as EBS and Premium SSD count
	Merged     units.IOPS    `json:"counted_if_merged"` // if sequential neighbours are merged, as EBS does
	InFlight   float64       // at Latency
	Latency    units.Latency `json:"in_flight_latency"`   // assumed unless stated
	Written    float64       `json:"written_bytes_share"` // over a long time
	WrittenN   float64       `json:"written_ios_share"`
	Quiet      float64       `json:"time_without_reads"`
}

// burstDay is for how long a day an EC2 instance may exceed its baseline (AWS states at least so
// much).
const burstDay = 30 * time.Minute

func newDemandView(d *workload.Demand, latency time.Duration) demandView {
	v := demandView{
		Demand:   d,
		Peak:     d.Peak(),
		Mean:     d.Mean(),
		HalfHour: d.MeanOver(burstDay),
		Latency:  units.LatencyOf(latency),
	}
	for _, group := range d.Together() {
		var each, merged units.IOPS
		for _, s := range group {
			e, m := s.Counted()
			each, merged = each+e, merged+m
		}
		v.Counted, v.Merged = max(v.Counted, each), max(v.Merged, merged)
	}
	v.InFlight = float64(v.Peak.IOPS) * latency.Seconds()
	v.Written, v.WrittenN, v.Quiet = d.Written()
	return v
}

// Demand is the document of a demand as a table, with what follows from it. latency is that of one
// I/O for Little's law; assumed says that nobody stated it.
func Demand(d *workload.Demand, latency time.Duration, assumed bool) *page.Document {
	v := newDemandView(d, latency)
	doc := page.New("demand", fmt.Sprintf("%s: %v IOPS and %v at peak", d.Name, v.Peak.IOPS, v.Peak.Rate), "demand", v)
	doc.Head.Main = page.NewFigure(d.Name, "peak_iops", v.Peak.IOPS, "per_s")
	doc.Head.About = d.About
	t := page.NewTable("<stream, <does, I/O, IOPS, bandwidth, active, in flight")
	t.Keys("stream, does, block_bytes, iops, bandwidth_bytes_per_s, active_percent, in_flight")
	add := func(name, does string, block, active page.Cell, l workload.Load, inFlight float64) {
		t.Add(name, does, block, iopsCell(l.IOPS), page.Exact(l.Rate.String(), l.Rate), active,
			page.Exact(units.Number(inFlight), inFlight))
	}
	for _, s := range d.Streams {
		add(s.Name, doing(&s), page.Exact(blocks(&s), s.MeanBlock()), page.Exact(share(s.Duty()), 100*s.Duty()),
			workload.Load{IOPS: s.IOPS, Rate: s.Rate}, s.InFlight(latency))
	}
	line := func(name string, l workload.Load) {
		add(name, "", page.Cell{}, page.Cell{}, l, float64(l.IOPS)*latency.Seconds())
	}
	line("peak", v.Peak)
	if v.Mean != v.Peak {
		line("mean", v.Mean)
		if half := v.HalfHour; half != v.Mean {
			line("mean of 30 min", half)
		}
	}
	notes := demandNotes(v, assumed)
	first := min(len(notes), mostNotes)
	rest := page.Note{Title: "What follows", Lines: notes[first:], Level: page.Detail}
	doc.Add(t, page.Sentences(notes[:first]...), rest)
	return doc
}

func doing(s *workload.Stream) string {
	order := text.Either(s.Random, "random", "seq")
	switch {
	case !s.Writes():
		return order + " read"
	case !s.Reads():
		return order + " write"
	}
	return order + " " + text.Share(s.ReadShare) + " read"
}

func blocks(s *workload.Stream) string {
	if len(s.Blocks) > 1 {
		return "~" + units.Bytes(s.MeanBlock()+0.5).String()
	}
	return s.Blocks[0].Size.String()
}

func share(v float64) string {
	return text.Either(v == 1, "100 %", text.Percent(v))
}

// mostNotes are those of a demand that are no details.
const mostNotes = 2

// demandNotes are what a person who buys or tests for the demand should know.
func demandNotes(v demandView, assumed bool) []string {
	var notes text.Lines
	for _, why := range v.AtLeast {
		notes.Say("At least: %s. The true demand may be larger.", why)
	}
	stated := text.Either(assumed, "assumed; set it with --latency", "as stated")
	notes.Say("In flight is IOPS × latency (Little's law), with %v per I/O (%s). Anything beyond this only queues.",
		v.Latency, stated)
	if v.Merged < v.Counted {
		notes.Say("Volumes that count in units of 256 KiB see %v I/Os per second at peak; %v if they merge all sequential "+
			"neighbours, but do not count on that.", v.Counted, v.Merged)
	} else if v.Counted > v.Peak.IOPS {
		notes.Say("Volumes that count in units of 256 KiB see %v I/Os per second at peak: a larger I/O counts several times.",
			v.Counted)
	}
	for _, s := range v.Streams {
		if b := s.Burst; b != nil {
			day := time.Duration(s.Duty() * float64(24*time.Hour))
			notes.Say("%s bursts for %s every %s, %s times a day: %s a day in total%s.",
				s.Name, text.Duration(b.For), text.Duration(b.Every),
				units.IOPS(float64(24*time.Hour)/float64(b.Every)), text.Duration(day.Round(time.Minute)),
				words.When(day > burstDay, ", more than the 30 min that a cloud machine's full burst lasts"))
		}
		if least := s.Latency.Smallest(); least > 0 && least < 300*time.Microsecond {
			notes.Say("%s needs %v: no network volume answers that fast; only local drives do.", s.Name,
				units.LatencyOf(least))
		}
	}
	if v.Written > 0 && v.Written < 1 {
		quiet := words.When(v.Quiet > 0, fmt.Sprintf("; for %s of the time there are no reads", text.Percent(v.Quiet)))
		notes.Say("Over time, %s of the bytes and %s of the I/Os are writes%s.", text.Percent(v.Written),
			text.Percent(v.WrittenN), quiet)
	}
	for _, n := range v.Notes {
		notes.Say("%s", text.Sentence(n))
	}
	return notes
}
