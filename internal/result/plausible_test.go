package result

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// TestImplausible: each figure that cannot be is left out with a reason, its neighbour stays.
func TestImplausible(t *testing.T) {
	lat := func(mean, most time.Duration) fio.Latency {
		return fio.Latency{N: 9, Mean: float64(mean), Max: most}
	}
	list := func(values ...time.Duration) fio.Latency {
		l := fio.Latency{N: 9, Mean: 1}
		for i, v := range values {
			l.Percentiles = append(l.Percentiles, fio.Percentile{P: float64(10 * (i + 1)), Value: v})
		}
		return l
	}
	for _, c := range []struct {
		name string
		job  fio.Job
		said string
		gone func(fio.Job) bool
	}{
		{
			"nine days in thirty seconds",
			fio.Job{Runtime: 30 * time.Second, Read: fio.Direction{Lat: lat(time.Second, 216*time.Hour), Clat: lat(1, 2)}},
			"is impossible", func(j fio.Job) bool { return !j.Read.Lat.Measured() && !j.Read.Clat.Measured() },
		},
		{
			"forty seconds in thirty",
			fio.Job{Runtime: 30 * time.Second, Read: fio.Direction{Lat: lat(time.Second, 40*time.Second)}},
			"", func(j fio.Job) bool { return !j.Read.Lat.Measured() },
		},
		{
			"percentiles that fall",
			fio.Job{Read: fio.Direction{Clat: list(1, 3, 2)}},
			"do not rise", func(j fio.Job) bool { return len(j.Read.Clat.Percentiles) == 0 },
		},
		{
			"percentiles that stand still",
			fio.Job{Read: fio.Direction{Clat: list(1, 3, 3)}},
			"", func(j fio.Job) bool { return len(j.Read.Clat.Percentiles) == 0 },
		},
	} {
		jobs := []fio.Job{c.job}
		r := &Result{Jobs: jobs}
		r.implausible()
		doubts := strings.Join(r.Doubts, "\n")
		if (c.said == "") != (doubts == "") || !strings.Contains(doubts, c.said) || c.gone(jobs[0]) != (c.said != "") {
			t.Errorf("%s: doubts %q, left %+v", c.name, doubts, jobs[0])
		}
	}
}
