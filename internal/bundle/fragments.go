package bundle

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/units"
)

// JoinFragments makes one output of pieces of one run that were quoted apart under one heading, as
// articles do: the status groups and disk statistics here, the latency lines there. A piece of which
// there is one already begins another run. Groups without a job become one row, so that their figures
// are not lost.
func JoinFragments(outputs []*fio.Output) (all []*fio.Output) {
	own := make([]*fio.Output, len(outputs)) // those that are given stay as they are
	for i, o := range outputs {
		copied := *o
		copied.Unread = slices.Clip(o.Unread)
		own[i] = &copied
	}
	var kept []*fio.Output
	type heading struct{ source, title string }
	first := map[heading]*fio.Output{} // under each heading
	for _, o := range withoutQuotes(withoutPhantoms(withoutPieces(own))) {
		at := heading{o.Source, strings.TrimSuffix(o.Title, ":")}
		piece := o.Title != "" && o.Program == "" && fragmentary(o)
		k := first[at]
		if !piece || k == nil || again(k, o) {
			if kept = append(kept, o); piece {
				first[at] = o
			}
			continue
		}
		k.Jobs, k.Groups, k.Disks = slices.Concat(k.Jobs, o.Jobs), slices.Concat(k.Groups, o.Groups),
			slices.Concat(k.Disks, o.Disks)
		k.Unread, k.Doubts = append(k.Unread, o.Unread...), slices.Concat(k.Doubts, o.Doubts)
	}
	for _, k := range kept {
		all = append(all, k)
		switch {
		case len(k.Groups) == 0:
		case fragmentary(k):
			jobs := k.Jobs
			for _, g := range k.Groups[1:] { // whether they ran at the same time nobody says
				of := *k
				of.Jobs, of.Groups, of.Disks, of.Doubts = withGroups(nil, g), []fio.Group{g}, nil, []string{ofGroup}
				of.Title = strings.TrimSpace(fmt.Sprintf("%s group %d", k.Title, g.ID))
				all = append(all, &of)
			}
			k.Jobs, k.Groups = withGroups(jobs, k.Groups[0]), k.Groups[:1:1]
			k.Doubt(ofGroup)
		case k.Missing.Has(part.AllJobs):
			k.Jobs = withOthers(k)
		}
	}
	return all
}

const ofGroup = "the output is quoted in part: bandwidth is that of its status group, and IOPS are not in it"

// again says that two fragments cannot be of one run: both have its disk statistics, or a status group
// of one number.
func again(k, o *fio.Output) bool {
	return len(k.Disks) > 0 && len(o.Disks) > 0 || slices.ContainsFunc(o.Groups, func(g fio.Group) bool {
		return slices.ContainsFunc(k.Groups, func(had fio.Group) bool { return had.ID == g.ID })
	})
}

// withoutPhantoms leaves out what holds no figure of a run: a run that was stopped before fio printed
// any, and disk statistics that stand apart, which go to the run before them if that lacks them and
// did about as many I/Os. Where nothing else was found they stay, so that it is said.
func withoutPhantoms(outputs []*fio.Output) (kept []*fio.Output) {
	for _, o := range outputs {
		if resultless(o) && len(o.Unread) > 0 { // what could not be read is listed
			continue
		}
		if figureless(o) && slices.ContainsFunc(outputs, func(x *fio.Output) bool {
			return x.Source == o.Source && !resultless(x) && !figureless(x)
		}) { // lines that are quoted to be explained
			continue
		}
		if o.Format != fio.Text || !resultless(o) {
			kept = append(kept, o)
			continue
		}
		if len(kept) == 0 || kept[len(kept)-1].Source != o.Source {
			continue
		}
		before := kept[len(kept)-1]
		switch {
		case len(o.Disks) == 0:
			before.Doubt("after it comes a run that was stopped before fio printed a figure; it is left out")
		case len(before.Disks) == 0 && didAsMuch(o.Disks[0], before):
			before.Disks = o.Disks
		default:
			before.Unread = append(before.Unread, fio.Unread{
				Line: o.Line, Text: "Disk stats", Why: "its run is not known",
			})
		}
	}
	if len(kept) == 0 {
		return outputs
	}
	return kept
}

// resultless says that an output holds no figure of any job.
func resultless(o *fio.Output) bool { return len(o.Jobs)+len(o.Groups) == 0 && o.AllClients == nil }

// Unreadable says that nothing but lines that could not be understood was found: there is no result
// to judge.
func (f Found) Unreadable() bool {
	return !slices.ContainsFunc(f.Outputs, func(o *fio.Output) bool { return !resultless(o) || len(o.Unread) == 0 })
}

// didAsMuch says that a disk counted at least half of a run's I/Os, and not twice as many.
func didAsMuch(d fio.Disk, o *fio.Output) bool {
	n := issued(o)
	counted := float64(d.Reads + d.Writes + d.ReadMerges + d.WriteMerges)
	return counted >= n/2 && counted <= 2*n
}

// withoutPieces leaves out the pieces of a run that stands whole above them in the same text, quoted
// line by line to be explained: every figure that such a piece has is one of the run's. A line of it
// that could not be read stays listed, with the run.
func withoutPieces(outputs []*fio.Output) (kept []*fio.Output) {
	whole := map[string][]*fio.Output{} // by source
	for _, o := range outputs {
		at := slices.IndexFunc(whole[o.Source], func(w *fio.Output) bool { return pieceOf(o, w) })
		if at >= 0 {
			w := whole[o.Source][at]
			w.Unread = append(w.Unread, o.Unread...)
			continue
		}
		kept = append(kept, o)
		if o.Format == fio.Text && len(o.Jobs) == 1 && len(o.Jobs[0].Depths) > 0 && !quotable(o) && !fragmentary(o) {
			whole[o.Source] = append(whole[o.Source], o)
		}
	}
	return kept
}

// pieceOf says that o is quoted out of w, a run of one row.
func pieceOf(o, w *fio.Output) bool {
	row := &w.Jobs[0]
	if o.Format != fio.Text || o.Version != "" || len(o.Disks) > 0 || len(o.Jobs) != 1 || len(o.Groups) > 0 {
		return groupOfRow(o, row)
	}
	j := &o.Jobs[0]
	if j.Error != 0 || j.PID != 0 && (j.PID != row.PID || !o.Time.Equal(w.Time)) {
		return false
	}
	was := row.Directions()
	for i, d := range j.Directions() {
		other := d.N > 0 && d.N != was[i].N || d.BWSamples.N > 0 && d.BWSamples != was[i].BWSamples
		if other || d.IOPS > 0 || d.BW > 0 || d.Slat.Measured() || d.Clat.Measured() || d.Lat.Measured() {
			return false
		}
	}
	return (j.CPU == fio.CPU{} || j.CPU == row.CPU) && (len(j.Buckets) == 0 || slices.Equal(j.Buckets, row.Buckets)) &&
		(len(j.Depths) == 0 || slices.Equal(j.Depths, row.Depths))
}

// groupOfRow says that o is no more than the status group of a row: the same bandwidth, as printed,
// over the same time.
func groupOfRow(o *fio.Output, row *fio.Job) bool {
	if o.Format != fio.Text || o.Version != "" || len(o.Disks)+len(o.Jobs) > 0 || len(o.Groups) != 1 {
		return false
	}
	same := 0
	for i, d := range row.Directions() {
		g, _ := o.Groups[0].Of(i)
		if g.Printed["bw"] != "" && g.Printed["bw"] == d.Printed["bw"] && g.MaxRun == d.Runtime {
			same++
		}
	}
	return same > 0 && same == len(o.Groups[0].Directions)
}

// withoutQuotes leaves out what a text repeats of a result that stands whole in it: the line with
// its rate, or its status group, quoted to be talked about.
func withoutQuotes(outputs []*fio.Output) []*fio.Output {
	whole := map[rate]bool{}
	for _, o := range outputs {
		if !quotable(o) {
			for _, r := range rates(o) {
				whole[r] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(outputs), func(o *fio.Output) bool {
		all := rates(o)
		return quotable(o) && len(all) > 0 &&
			!slices.ContainsFunc(all, func(r rate) bool { return !whole[r] })
	})
}

// quotable says that an output has rates and no more: no latencies, depths or disks.
func quotable(o *fio.Output) bool {
	return o.Format == fio.Text && len(o.Disks) == 0 && !slices.ContainsFunc(o.Jobs, func(j fio.Job) bool {
		return len(j.Depths) > 0 || j.Read.Completion().Measured() || j.Write.Completion().Measured()
	})
}

// rate is a printed rate of a direction.
type rate struct {
	source, direction, iops string
	bw                      units.Rate
}

// rates are those of an output's rows, with bandwidth and without, and of its status groups.
func rates(o *fio.Output) (list []rate) {
	bare := quotable(o)
	for _, j := range o.Jobs {
		for i, d := range j.Directions() {
			one, bw := rate{o.Source, fio.DirectionNames[i], d.Printed["iops"], 0}, d.Printed["bw"]
			if one.iops == "" {
				continue
			}
			if bw == "" || !bare {
				list = append(list, one)
			}
			if bw != "" {
				one.iops += " " + bw
				list = append(list, one)
			}
		}
	}
	for _, g := range o.Groups {
		for name, r := range g.Directions {
			list = append(list, rate{o.Source, name, "", r.BW})
		}
	}
	return list
}

// fragmentary says that no row of o counts I/Os.
func fragmentary(o *fio.Output) bool {
	return !slices.ContainsFunc(o.Jobs,
		func(j fio.Job) bool { return j.IOs() > 0 || j.Read.IOPS+j.Write.IOPS > 0 })
}

// withOthers adds a row of what the status groups of an output count beyond its rows, which is of all jobs that have
// none: a sum of some jobs is not that of all.
func withOthers(k *fio.Output) []fio.Job {
	rows, others := slices.Clip(k.Jobs), k.Missing.Of
	for _, j := range rows {
		others -= max(j.Count, 1)
	}
	for _, g := range k.Groups {
		rest := fio.Job{Group: g.ID}
		if len(k.Groups) == 1 && k.Phase == 0 { // else it is not known how many are of this group
			rest.Count = max(others, 0)
		}
		of := slices.DeleteFunc(slices.Clone(rows), func(j fio.Job) bool { return j.Group != g.ID && len(k.Groups) > 1 })
		for i, d := range rest.Directions() {
			sum, ok := g.Of(i)
			rounded := sum.Bytes / 32 // both are
			for _, j := range of {
				did := *j.Directions()[i]
				if 0 < did.Runtime && did.Runtime < sum.MaxRun { // the sum is over a longer time
					did.BW *= units.Rate(did.Runtime.Seconds() / sum.MaxRun.Seconds())
				}
				sum.BW -= did.BW
				sum.Bytes -= min(sum.Bytes, j.Directions()[i].Bytes)
			}
			if ok && len(of) > 0 && sum.BW > 0 && sum.Bytes > rounded && k.Format == fio.Text {
				d.Bytes, d.BW, d.Runtime = sum.Bytes, sum.BW, sum.MaxRun
				rest.Runtime = max(rest.Runtime, sum.MaxRun)
			}
		}
		if rest.Runtime > 0 {
			rows = append(rows, rest)
		}
	}
	return rows
}

// allJobs names a row of which nothing is known but its status group, as fio's text calls that.
const allJobs = "all jobs"

// withGroups puts the rates of a status group into the first row, or into a new one.
func withGroups(jobs []fio.Job, g fio.Group) []fio.Job {
	if len(jobs) == 0 {
		jobs = []fio.Job{{Name: allJobs}}
	}
	j := &jobs[0]
	for i, d := range j.Directions() {
		if r, ok := g.Of(i); ok {
			d.Bytes, d.BW, d.Runtime = r.Bytes, r.BW, r.MaxRun
			j.Runtime = max(j.Runtime, r.MaxRun)
		}
	}
	return jobs
}
