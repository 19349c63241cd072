package advise

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// FromResults is the demand behind the results of a run: of a job that held itself to a rate what it
// asked for, where it did not get that, and else what was measured. Results of the same job, on
// several volumes, are one demand; those of other jobs ran one after the other, and are apart. The
// demand's notes say what was taken.
func FromResults(name string, results []*result.Result) (*workload.Demand, error) {
	type measured struct {
		job     []fio.Workload
		name    string
		streams []workload.Stream
	}
	d := &workload.Demand{Name: name}
	var all []measured
	for _, r := range results {
		one, err := FromResult(name, r)
		if err != nil {
			continue
		}
		if len(all) == 0 {
			d.Role = r.Role
		}
		if at := slices.IndexFunc(all, func(m measured) bool { return sameJob(m.job, r.Workloads) }); at >= 0 {
			larger(all[at].streams, one.Streams)
			d.Notes = text.Once(d.Notes, "results of the same job are one demand: the largest figures are used")
		} else {
			all = append(all, measured{r.Workloads, streamName(r.Name, len(all)), one.Streams})
		}
		d.AtLeast, d.Notes = text.Once(d.AtLeast, one.AtLeast...), text.Once(d.Notes, one.Notes...)
	}
	for _, m := range all {
		for _, s := range m.streams {
			if len(all) > 1 {
				s.Apart, s.Name = true, m.name+"-"+s.Name
			}
			d.Streams = append(d.Streams, s)
		}
	}
	if len(d.Streams) == 0 {
		return nil, fmt.Errorf("%s measured no I/O", name)
	}
	return d, nil
}

// sameJob says that two results are of one job, whatever file or device it ran on. One of which the
// job is not known is like no other.
func sameJob(a, b []fio.Workload) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y fio.Workload) bool {
		x.Filename, x.Directory, y.Filename, y.Directory = "", "", "", ""
		return reflect.DeepEqual(x, y)
	})
}

// larger takes the larger rates of another result of the same job.
func larger(streams, of []workload.Stream) {
	for i := range streams {
		if i < len(of) && of[i].IOPS > streams[i].IOPS {
			streams[i].IOPS, streams[i].Rate = of[i].IOPS, of[i].Rate
		}
	}
}

// FromResult is the demand behind one result.
func FromResult(name string, r *result.Result) (*workload.Demand, error) {
	if r == nil {
		return nil, fmt.Errorf("%s holds no result", name)
	}
	d := &workload.Demand{Name: name, Role: r.Role}
	loads := r.Workloads
	if len(loads) == 0 {
		loads = imagined(r)
		d.Notes = append(d.Notes, "the job is not known: sizes are means from the figures, and random I/O is assumed")
	}
	free := false
	for i := range loads {
		for _, read := range []bool{true, false} {
			s, asked, ok := streamOf(loads, i, read, r)
			if !ok {
				continue
			}
			free = free || asked == 0
			if asked > 0 && s.IOPS < asked*reached {
				d.Notes = append(d.Notes, fmt.Sprintf("%s asked for %v IOPS and got %v (%s): the rate it asked for is used", s.Name,
					asked, s.IOPS, text.Percent(float64(s.IOPS/asked))))
				s.IOPS, s.Rate = asked, units.Rate(float64(asked)*s.MeanBlock())
			}
			d.Streams = append(d.Streams, s)
		}
	}
	if len(d.Streams) == 0 {
		return nil, fmt.Errorf("%s measured no I/O", name)
	}
	if free {
		d.AtLeast = append(d.AtLeast,
			"the jobs asked for as much as they got: this is what the storage gave, not what an application needs")
	}
	return d, nil
}

// FromJob is the demand of a job that holds itself to rates: a stream for each direction of each section. What asks
// for as much as it gets is no demand.
func FromJob(name string, loads []fio.Workload) (*workload.Demand, error) {
	d := &workload.Demand{Name: name}
	for i := range loads {
		for _, read := range []bool{true, false} {
			s, asked, ok := streamOf(loads, i, read, &result.Result{Workloads: loads})
			if !ok {
				continue
			}
			s.IOPS, s.Rate = asked, units.Rate(float64(asked)*s.MeanBlock())
			d.Streams = append(d.Streams, s)
		}
	}
	if len(d.Streams) == 0 {
		return nil, fmt.Errorf(
			"%s: its jobs have no rate: rate= or rate_iops= states a demand",
			name,
		)
	}
	return d, nil
}

// streamOf is one direction of a section: as it was measured, and the I/Os per second that it asked
// for, 0 where it took what it got. False where it did and asked for nothing.
func streamOf(loads []fio.Workload, i int, read bool, r *result.Result) (s workload.Stream, asked units.IOPS, ok bool) {
	w := loads[i]
	block, word := w.WriteBS, "write"
	if read {
		block, word = w.ReadBS, "read"
	}
	if block == 0 || read && w.ReadShare == 0 || !read && w.ReadShare == 1 {
		return s, 0, false
	}
	asked = ceiling.Asked(w, read)
	got := measuredOf(loads, i, read, r)
	if got.IOPS <= 0 && asked == 0 {
		return s, 0, false
	}
	s = workload.Stream{
		Name:    fmt.Sprintf("%s-%s", streamName(w.Name, i), word),
		Random:  !w.Sequential,
		Blocks:  []workload.Block{{Size: block, Share: 1}},
		Threads: max(w.Jobs, 1),
		Depth:   max(w.Depth, 1),
		IOPS:    got.IOPS,
		Rate:    got.Rate,
		Burst:   burstOf(loads, w),
	}
	if read {
		s.ReadShare = 1
	} else if w.SyncEvery > 0 {
		s.Sync = workload.Sync{Kind: "fdatasync", Each: w.SyncEvery}
	}
	return s, asked, true
}

// measuredOf is what fio's rows say of a section. With group_reporting a row has the name of the
// first section and the figures of all: then the sections of a direction share its sum by what they
// asked for, or by what they keep in flight.
func measuredOf(loads []fio.Workload, i int, read bool, r *result.Result) workload.Load {
	own := workload.Load{}
	named := true
	for k := range loads {
		found := false
		for _, j := range r.Jobs {
			if j.Name == loads[k].Name || len(loads) == 1 {
				found = true
				if k == i {
					own.IOPS, own.Rate = own.IOPS+side(j, read).IOPS, own.Rate+side(j, read).BW
				}
			}
		}
		named = named && found
	}
	if named {
		return own
	}
	total := side(r.Total, read)
	part, all := 0.0, 0.0
	for k, w := range loads {
		if read && w.ReadBS == 0 || !read && w.WriteBS == 0 {
			continue
		}
		weight := float64(ceiling.Asked(w, read))
		if weight == 0 {
			weight = float64(w.InFlight())
		}
		if all += weight; k == i {
			part = weight
		}
	}
	if all == 0 {
		return workload.Load{}
	}
	return workload.Load{IOPS: total.IOPS * units.IOPS(part/all), Rate: total.BW * units.Rate(part/all)}
}

func side(j fio.Job, read bool) fio.Direction {
	if read {
		return j.Read
	}
	return j.Write
}

// burstOf is when a section runs, where it does so for a part of the job only: the job is taken for
// one period.
func burstOf(loads []fio.Workload, w fio.Workload) *workload.Burst {
	end, known := fio.Ends(loads)
	if !known || w.Runtime >= end*95/100 {
		return nil
	}
	return &workload.Burst{For: w.Runtime, Every: end, After: w.StartDelay}
}

// imagined are the jobs of a result of which only the figures are known.
func imagined(r *result.Result) []fio.Workload {
	w := fio.Workload{Name: r.Name, Jobs: 1, Depth: 1}
	block := func(d fio.Direction) units.Bytes {
		if d.IOPS <= 0 || d.BW <= 0 {
			return 0
		}
		return units.Bytes(max(float64(d.BW)/float64(d.IOPS)/512+0.5, 1)) * 512
	}
	w.ReadBS, w.WriteBS = block(r.Total.Read), block(r.Total.Write)
	if sum := r.Total.Read.IOPS + r.Total.Write.IOPS; sum > 0 {
		w.ReadShare = float64(r.Total.Read.IOPS / sum)
	}
	if w.ReadBS+w.WriteBS == 0 {
		return nil
	}
	return []fio.Workload{w}
}

// Took is how long one I/O of a direction took at most where a run showed it; 0 for not shown.
type Took struct{ Read, Write time.Duration }

// ShownBy is what a result shows of its storage: I/Os in flight over those a second (Little's law).
// Nothing where syncs are among them, or the jobs held themselves back.
func ShownBy(r *result.Result) (t Took) {
	inFlight := 0
	for _, w := range r.Workloads {
		if w.SyncEvery > 0 || w.SyncWrites || ceiling.Asked(w, true)+ceiling.Asked(w, false) > 0 {
			return t
		}
		inFlight += w.InFlight()
	}
	iops, _ := r.Total.Rates()
	if inFlight == 0 || iops <= 0 {
		return t
	}
	took := time.Duration(float64(inFlight) / float64(iops) * float64(time.Second))
	if r.Total.Read.IOPS > 0 {
		t.Read = took
	}
	if r.Total.Write.IOPS > 0 {
		t.Write = took
	}
	return t
}

// Least is the shorter of each.
func (t Took) Least(o Took) Took {
	least := func(a, b time.Duration) time.Duration {
		if a == 0 || b > 0 && b < a {
			return b
		}
		return a
	}
	return Took{least(t.Read, o.Read), least(t.Write, o.Write)}
}

func streamName(name string, i int) string {
	if name == "" || len(name) >= 40 || workload.PlainName(name) != name {
		return fmt.Sprintf("job-%d", i+1)
	}
	return name
}
