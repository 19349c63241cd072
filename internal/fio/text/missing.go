package text

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
)

// What a text lacks of a whole output of fio's is worked out here, from what fio prints always: a header
// line of each section, how many jobs it starts, a count of I/Os at the end of a row, and behind the rows
// the sums of each group.

// lostPart is how much less than its group's sum rows may have read or written: fio rounds both.
const lostPart = 0.97

// lacks says what is missing of a run.
func (r *textRun) lacks() (m part.Missing) {
	rows := r.out.Jobs
	if len(rows) == 0 {
		return m
	}
	if len(r.out.Disks) == 0 {
		m.Add(part.DiskStats)
	}
	if len(r.out.Groups) == 0 {
		m.Add(part.Ending)
	}
	count, cut := 0, 0 // jobs of whole rows, and of one that the text ends in
	for i, j := range rows {
		if i >= len(r.settled) {
			count += max(j.Count, 1)
			continue
		}
		if i > 0 || len(rows) == 1 || !r.settled[i].rest() { // which is left out
			r.settled[i].lacks(&m)
		}
		if r.settled[i].issued {
			count += max(j.Count, 1)
		} else {
			cut += max(j.Count, 1)
		}
	}
	count = cmp.Or(count, cut)
	if len(r.out.Servers) == 0 { // a server starts its own jobs
		switch asked := max(r.starting, len(r.echoes)); {
		case asked > count:
			m.Jobs, m.Of = count, asked
			m.Add(part.AllJobs)
		case r.lessThanGroups():
			m.Add(part.AllJobs)
		}
	}
	return m
}

// rest says that no more is there of a row than its last lines, without a figure.
func (j *textJob) rest() bool {
	return j.headless && !slices.ContainsFunc(j.dirs[:], func(d textDirection) bool {
		return d.seen || d.BW > 0 || d.Clat.Measured() || d.Lat.Measured()
	})
}

// lacks notes what a row is without.
func (j *textJob) lacks(m *part.Missing) {
	if !j.issued {
		m.Add(part.Ending)
	}
	if j.headless {
		m.Add(part.Count)
	}
	for i := range 2 {
		d := &j.dirs[i]
		if (d.issued > 0 || d.seen) && !d.Clat.Measured() && !d.Lat.Measured() {
			m.Add(part.Latencies)
		}
		for _, l := range []*fio.Latency{&d.Clat, &d.Lat} {
			if p := l.Percentiles; len(p) > 1 && p[0].P == 1 && p[1].P == 5 && p[len(p)-1].P < lastPercentile {
				m.Add(part.Tail)
				m.After = p[len(p)-1].P
			}
		}
	}
	mix := strings.Contains(j.Options["rw"], "rw") || j.Options["rw"] == "readwrite"
	if mix && j.dirs[0].seen != j.dirs[1].seen && (!j.issued || j.dirs[0].issued > 0 && j.dirs[1].issued > 0) {
		m.Side = "read"
		if j.dirs[0].seen {
			m.Side = "write"
		}
		m.Add(part.AllSides)
	}
}

// lastPercentile is the last of fio's own list, which begins with 1 and 5.
const lastPercentile = 99.99

// lessThanGroups says that the rows of a group did less than its sum says.
func (r *textRun) lessThanGroups() bool {
	for _, g := range r.out.Groups {
		for at := range 3 {
			sum, known := g.Of(at)
			did := 0.0
			for _, j := range r.out.Jobs {
				if j.Group == g.ID || len(r.out.Groups) == 1 {
					did += float64(j.Directions()[at].Bytes)
					known = known && j.Mixed == nil
				}
			}
			if known && sum.Bytes > 0 && did > 0 && did < lostPart*float64(sum.Bytes) {
				return true
			}
		}
	}
	return false
}

// textWhole ends a line of fio's that is known to be complete: a unit, a bracket, the two decimals of a
// mean, or the last counts of a row.
var textWhole = regexp.MustCompile(
	`(?:[)\]%:]|sec|resets|B/s|(?:stdev|avg)= *[\d,.]*[.,]\d\d|(?:short|drop(?:ped)?)=\S*[,/]\S+[,/](?:d=)?\d+|depth=\d+)$`,
)

// uncut takes off the end of a text what may be the first digits of a number. What is left of the line was
// read whole.
func uncut(line string) string {
	if !strings.Contains(line, "=") || textWhole.MatchString(line) {
		return line
	}
	at := strings.LastIndex(line, ", ")
	return line[:max(at, 0)]
}
