package result

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

// What fio gives as the latency of a sync with libaio, compared with strace on 2026-11-21 (1,023
// times an fdatasync behind a write of 8 KiB, iodepth=1):
//
//	3.16, 3.25, 3.28  0.2 to 0.3 µs, where fdatasync took 250 to 1,400 µs: its clock starts when the sync has returned
//	3.33, 3.36, 3.39  the write before it included: 927 µs, where fdatasync took 746 µs and the write 132 µs
//	3.41              right: the sync is submitted as writes are (128 writes and 127 syncs are 255 io_submit)
//
// With psync it is right in all of them.
var (
	syncsTimed = fio.Version{Major: 3, Minor: 33}
	syncsApart = fio.Version{Major: 3, Minor: 41}
)

// untimedSync is above what the faulty clock shows and below what any sync of a file takes.
const untimedSync = 2 * time.Microsecond

// leastSync is below what an fsync of a file takes, the system call alone being half of it: what an
// unknown fio prints below it is the faulty clock's.
const leastSync = time.Microsecond

// syncsLibaio says that the jobs sync what they write with libaio.
func (r *Result) syncsLibaio() bool {
	return slices.ContainsFunc(r.Workloads, func(w fio.Workload) bool { return w.Engine == "libaio" && w.SyncEvery > 0 })
}

// SyncsInclude says why the sync latencies of the result are longer than the syncs were, "" where
// they are right or missing.
func (r *Result) SyncsInclude() string {
	v, err := fio.ParseVersion(r.Fio)
	if err != nil || !r.syncsLibaio() || !r.Total.Sync.Lat.Measured() || v.Before(syncsTimed) || !v.Before(syncsApart) {
		return ""
	}
	return fmt.Sprintf("%s counts the I/Os before a sync into the sync with libaio; %s does not, nor does ioengine=psync",
		v, syncsApart)
}

// distrustSyncs takes out sync latencies that fio did not measure, and says of those that hold more
// than the sync what they hold.
func (r *Result) distrustSyncs() {
	l := r.Total.Sync.Lat
	v, err := fio.ParseVersion(r.Fio)
	unsaid := len(r.Workloads) == 0 // not which engine it was
	if l.Measured() && l.Mean < float64(leastSync) && (err != nil || unsaid && v.Before(syncsTimed)) {
		r.dropSyncs("no sync takes the %d ns that fio gives as their mean: its clock started when the sync had returned, "+
			"so sync latencies are left out", int(l.Mean))
		return
	}
	if err != nil || !l.Measured() || !r.syncsLibaio() {
		return
	}
	mean := time.Duration(l.Mean).Round(time.Microsecond)
	switch {
	case v.Before(syncsTimed) && l.Mean < float64(untimedSync):
		r.dropSyncs("%s does not measure how long syncs take with libaio (it says %d ns), so they are left out; %s does, "+
			"or ioengine=psync", v, int(l.Mean), syncsTimed)
	case v.Before(syncsTimed) || !v.Before(syncsApart):
	case len(r.Workloads) == 1 && r.Workloads[0].Depth == 1 && l.Mean > r.Total.Write.Lat.Mean:
		write := time.Duration(r.Total.Write.Lat.Mean).Round(time.Microsecond)
		r.Doubt("%s counts the write before a sync into the sync with libaio: of the %s on average %s are the write's; "+
			"%s does not, nor does ioengine=psync", v, text.Duration(mean), text.Duration(write), syncsApart)
	default:
		r.Doubt("%s counts I/Os before a sync into the sync with libaio: syncs took less than the %s that it says on "+
			"average; %s does not, nor does ioengine=psync", v, text.Duration(mean), syncsApart)
	}
}

// dropSyncs leaves sync latencies out, and says why.
func (r *Result) dropSyncs(why string, args ...any) {
	r.Jobs = slices.Clone(r.Jobs) // fio's own documents stay as they are
	for i := range r.Jobs {
		r.Jobs[i].Sync = fio.Sync{}
	}
	for i := range r.Seconds {
		r.Seconds[i].Sync = nil
	}
	r.Total.Sync = fio.Sync{}
	r.Doubt(why, args...)
}
