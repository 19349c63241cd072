package result

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

// Figures pass this gate before anything is concluded from them. What cannot be is left out, with the
// reason; what may be, however odd, stays for the rules to judge.

const (
	// overrun is how many times its runtime a job's I/O may take, plus overrunLeast: a job ends
	// when the last of its I/Os does, and its ramp is not in its runtime.
	overrun      = 2
	overrunLeast = 5 * time.Minute
)

// implausible takes out of rows the latencies that cannot be, and says which and why.
func implausible(jobs []fio.Job) (doubts []string) {
	for i := range jobs {
		j := &jobs[i]
		bad := false
		for _, side := range []struct {
			name string
			of   *fio.Direction
		}{{"reads", &j.Read}, {"writes", &j.Write}, {"trims", &j.Trim}} {
			if why := outlasts(j, side.of); why != "" {
				doubts = append(
					doubts,
					fmt.Sprintf("%s: %s of %s: latencies are left out", cmp.Or(j.Name, "the job"), why, side.name),
				)
				side.of.Slat, side.of.Clat, side.of.Lat = fio.Latency{}, fio.Latency{}, fio.Latency{}
				bad = true
			}
			for _, l := range []*fio.Latency{&side.of.Slat, &side.of.Clat, &side.of.Lat} {
				if !inOrder(l.Percentiles) {
					doubts = append(
						doubts,
						fmt.Sprintf("%s: the percentiles of %s do not rise: they are left out", cmp.Or(j.Name, "the job"), side.name),
					)
					l.Percentiles = nil
				}
			}
		}
		if bad {
			j.Buckets = nil
		}
	}
	return doubts
}

// outlasts says which latency of a direction is longer than the job ran, "" for none.
func outlasts(j *fio.Job, d *fio.Direction) string {
	ran := max(j.Span(), d.Runtime, j.Elapsed)
	if ran <= 0 {
		return ""
	}
	for _, l := range []struct {
		name string
		of   fio.Latency
	}{{"lat", d.Lat}, {"clat", d.Clat}, {"slat", d.Slat}} {
		longest := max(l.of.Max, time.Duration(min(l.of.Mean, 1e18)))
		if longest > overrun*ran+overrunLeast {
			return fmt.Sprintf("a %s of %s in a run of %s cannot be", l.name, text.Duration(longest), text.Duration(ran))
		}
	}
	return ""
}

func inOrder(list []fio.Percentile) bool {
	return slices.IsSortedFunc(list, func(later, before fio.Percentile) int {
		if before.P < later.P && before.Value > later.Value {
			return -1
		}
		return 0
	})
}
