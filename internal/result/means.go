package result

import "plimsoll/internal/fio"

// moment is of how many I/Os a mean is, and what their latencies add up to in ns.
type moment struct {
	n   uint64
	sum float64
}

// means are slat, clat and lat of reads, writes and trims, and what syncs took. fio prints means of all
// I/Os so far, so that those of an interval follow, also where no bins are printed.
type means [10]moment

const ofSyncs = 9

func meansOf(j fio.Job) (m means) {
	for d, dir := range j.Directions() {
		for k, l := range dir.Latencies() {
			m[3*d+k] = momentOf(l)
		}
	}
	m[ofSyncs] = momentOf(&j.Sync.Lat)
	return m
}

func momentOf(l *fio.Latency) moment { return moment{l.N, l.Mean * float64(l.N)} }

func (m means) plus(o means) means {
	for i := range m {
		m[i].n, m[i].sum = m[i].n+o[i].n, m[i].sum+o[i].sum
	}
	return m
}

// minus is m without o; of a counter that fell nothing is left.
func (m means) minus(o means) means {
	for i := range m {
		if m[i].n -= min(m[i].n, o[i].n); m[i].n == 0 {
			m[i].sum = 0
		}
		m[i].sum = max(m[i].sum-o[i].sum, 0)
	}
	return m
}

// latency has the mean alone; it is empty of none.
func (m moment) latency() fio.Latency {
	if m.n == 0 {
		return fio.Latency{}
	}
	return fio.Latency{N: m.n, Mean: m.sum / float64(m.n)}
}
