// Package compare sets runs, rounds and groups of them against each other: scenarios are matched by
// what was run, figures are compared by rounds, and a word is given only where the rounds bear it
// out.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Work is what was run, as far as it is known: two results are compared only when nothing known of
// their work differs. Empty fields are not known; an article's table often gives no more than a
// figure.
type Work struct {
	Direction string      `json:"direction,omitempty"` // read, write, trim, or "rw 70/30"
	Order     string      `json:"order,omitempty"`     // random, sequential
	BS        units.Bytes `json:"bs,omitempty"`        // mean block size
	Depth     int         `json:"depth,omitempty"`     // of each job
	Jobs      int         `json:"jobs,omitempty"`
	Engine    string      `json:"engine,omitempty"`
	Sync      string      `json:"sync,omitempty"`  // none, "fdatasync each 1", O_SYNC
	Load      string      `json:"load,omitempty"`  // rates and pauses that jobs keep to
	Parts     string      `json:"parts,omitempty"` // of several unlike jobs: what each does
}

// workOf reads the work off the options that ran, and what they do not tell off the figures.
func workOf(r *result.Result) Work {
	if r == nil {
		return Work{}
	}
	if len(r.Workloads) == 0 {
		return seenWork(r)
	}
	w := workOfLoad(r.Workloads[0])
	for _, other := range r.Workloads[1:] {
		o := workOfLoad(other)
		o.Jobs = w.Jobs
		if o != w {
			return mixedWork(r.Workloads)
		}
		w.Jobs += max(1, other.Jobs)
	}
	return w
}

func workOfLoad(l fio.Workload) Work {
	w := Work{
		Direction: direction(l.ReadShare, l.TrimShare), BS: cmp.Or(l.ReadBS, l.WriteBS), Depth: l.Depth,
		Jobs: max(1, l.Jobs), Engine: l.Engine, Order: "random", Sync: "none",
	}
	if l.Sequential {
		w.Order = "sequential"
	}
	if l.ReadBS > 0 && l.WriteBS > 0 && l.ReadBS != l.WriteBS {
		w.Parts = fmt.Sprintf("%v reads, %v writes", l.ReadBS, l.WriteBS)
	}
	switch {
	case l.SyncEvery > 0:
		w.Sync = fmt.Sprintf("%s%s%d", cmp.Or(l.SyncCall, anySync), syncEach, l.SyncEvery)
	case l.SyncWrites:
		w.Sync = "O_SYNC"
	}
	rate, iops := l.WriteRate, l.WriteIOPS
	switch { // one value of rate= stands for both directions, of which only one may run
	case l.Reads() && l.Writes():
		rate, iops = rate+l.ReadRate, iops+l.ReadIOPS
	case l.Reads():
		rate, iops = l.ReadRate, l.ReadIOPS
	}
	var load []string
	if rate > 0 {
		load = append(load, fmt.Sprintf("at most %v per job", rate))
	}
	if iops > 0 {
		load = append(load, fmt.Sprintf("at most %v IOPS per job", iops))
	}
	if l.ThinkTime > 0 {
		load = append(load, "pauses of "+text.Duration(l.ThinkTime))
	}
	w.Load = strings.Join(load, " ")
	return w
}

// mixedWork is that of unlike jobs side by side.
func mixedWork(loads []fio.Workload) Work {
	var parts []string
	for _, l := range loads {
		parts = append(parts, workOfLoad(l).String())
	}
	return Work{Direction: "several jobs", Parts: strings.Join(parts, " + ")}
}

func direction(readShare, trimShare float64) string {
	switch {
	case trimShare >= 1:
		return "trim"
	case trimShare > 0:
		return text.Percent(trimShare) + " trims"
	case readShare >= 1:
		return "read"
	case readShare <= 0:
		return "write"
	}
	return mix(readShare)
}

// mix names a mix by its whole per cent of reads and of writes: "rw 70/30".
func mix(read float64) string {
	reads := int(math.Round(100 * read))
	return fmt.Sprintf("rw %d/%d", reads, 100-reads)
}

// seenWork is what the figures themselves show: direction, block size, jobs, and a depth of one.
func seenWork(r *result.Result) Work {
	t, w := r.Total, Work{Jobs: max(0, r.Total.Count)}
	n := t.Read.IOPS + t.Write.IOPS + t.Trim.IOPS
	bytes := t.Read.BW + t.Write.BW + t.Trim.BW
	if n <= 0 {
		return w
	}
	read, trim := float64(t.Read.IOPS/n), float64(t.Trim.IOPS/n)
	w.Direction = direction(read, trim)
	if read > 0 && read < 1 {
		w.Direction = mix(math.Round(20*read) / 20)
	}
	if bytes > 0 {
		w.BS = likelyBS(float64(bytes) / float64(n))
	}
	for _, d := range t.Depths {
		if d.Label == "1" && d.Value >= 0.999 {
			w.Depth = 1
		}
	}
	return w
}

// likelyBS rounds a mean to the block size that was most likely asked for: whole 4 KiB, or whole
// sectors, where it is near.
func likelyBS(mean float64) units.Bytes {
	for _, step := range []float64{4096, 512} {
		if n := math.Round(mean / step); n > 0 && math.Abs(mean/(n*step)-1) < 0.02 {
			return units.Bytes(n * step)
		}
	}
	return units.Bytes(math.Round(mean))
}

// field is one property of a work in words; empty when not known.
type field struct{ name, value string }

func (w Work) fields() []field {
	return []field{
		{"direction", w.Direction},
		{"order", w.Order},
		{"block size", shown(w.BS)},
		{"depth", shown(w.Depth)},
		{"jobs", shown(w.Jobs)},
		{"engine", w.Engine},
		{"sync", w.Sync},
		{"load", w.Load},
		{"parts", w.Parts},
	}
}

// Differences says what keeps two works from being compared: "block size: 8 KiB and 16 KiB". None
// when nothing known differs.
func (w Work) Differences(o Work) []string {
	if w.blank() != o.blank() { // a bare figure matches no work that is known
		return []string{"one is a figure without its job"}
	}
	var differ []string
	known := w.whole() && o.whole()
	theirs := o.fields()
	for i, f := range w.fields() {
		g := theirs[i]
		mayBeUnknown := f.name != "load" && f.name != "parts" || !known
		if f.value == g.value || sameSync(f.value, g.value) || mayBeUnknown && (f.value == "" || g.value == "") {
			continue
		}
		differ = append(differ, fmt.Sprintf("%s: %s and %s", f.name, cmp.Or(f.value, "none"), cmp.Or(g.value, "none")))
	}
	return differ
}

// anySync is the call of syncs of which only their number is known; syncEach stands before it.
const anySync, syncEach = "sync", " every "

// sameSync says that two words for syncs may mean one call, of which one word does not name it.
func sameSync(a, b string) bool {
	call, n, ok := strings.Cut(a, syncEach)
	other, m, also := strings.Cut(b, syncEach)
	return ok && also && n == m && (call == anySync || other == anySync)
}

// blank says that nothing tells what was done.
func (w Work) blank() bool { return w.BS == 0 && w.Parts == "" && w.Engine == "" }

// whole says that the work was read off options, so that an empty load is no load.
func (w Work) whole() bool { return w.Engine != "" || w.Parts != "" }

// with fills in what is not known of w.
func (w Work) with(o Work) Work {
	theirs := reflect.ValueOf(o)
	for f, v := range reflect.ValueOf(&w).Elem().Fields() {
		if v.IsZero() {
			v.Set(theirs.FieldByIndex(f.Index))
		}
	}
	return w
}

// String is "random write 16 KiB, depth 1 × 16 jobs, psync".
func (w Work) String() string {
	if w.Direction == "several jobs" {
		return w.Parts
	}
	if w == (Work{}) {
		return "what was run is not known"
	}
	var depth, jobs, sync string
	if w.Depth > 0 {
		depth = fmt.Sprintf("depth %d", w.Depth)
	}
	if w.Jobs > 1 {
		jobs = fmt.Sprintf("%d jobs", w.Jobs)
	}
	if w.Sync != "none" {
		sync = w.Sync
	}
	return text.Join(", ", text.Join(" ", w.Order, cmp.Or(w.Direction, "I/O"), shown(w.BS)),
		text.Join(" × ", depth, jobs), w.Engine, sync, w.Load)
}

// shown is empty for what is not known.
func shown[T comparable](v T) string {
	var unknown T
	if v == unknown {
		return ""
	}
	return fmt.Sprint(v)
}

// StatedFor is the scenario of a suite that asks for the work that a result did, so that its thresholds
// judge the result. Where none does, or several may, it is nil, and why says what differs from the
// nearest.
func StatedFor(s *suite.Suite, r *result.Result) (scenario *suite.Scenario, why string) {
	did, least := asStated(workOf(r), r), 0
	for i := range s.Scenarios {
		asked := &s.Scenarios[i]
		loads, err := asked.Workloads()
		if err != nil || len(loads) == 0 {
			continue
		}
		asks := &result.Result{Workloads: loads}
		differ := asStated(workOf(asks), asks).Differences(did)
		switch {
		case len(differ) > 0 && scenario == nil && (least == 0 || len(differ) < least):
			least, why = len(differ), fmt.Sprintf("not the work of %s (%s)", asked.Name, strings.Join(differ, "; "))
		case len(differ) > 0:
		case scenario != nil:
			return nil, fmt.Sprintf("its work may be that of %s or of %s", scenario.Name, asked.Name)
		default:
			scenario, why = asked, ""
		}
	}
	return scenario, why
}

// asStated is a work as thresholds see it: engines that have one I/O at a time are alike (sync, psync,
// vsync), and syncs that were measured are known to be there, though a header without its command
// does not tell after how many writes.
func asStated(w Work, r *result.Result) Work {
	if fio.Synchronous(w.Engine) && w.Depth <= 1 {
		w.Engine = "sync"
	}
	if w.Sync == "none" && r.Total.Sync.Lat.Measured() {
		w.Sync = ""
	}
	return w
}
