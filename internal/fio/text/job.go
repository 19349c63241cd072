package text

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/fio"
)

// textJob is a row being read.
type textJob struct {
	fio.Job
	all    bool // "All clients"
	dirs   [4]textDirection
	cur    *textDirection    // the direction that latency lines belong to
	sync   bool              // within the section of fsync and its kin
	pct    *[]fio.Percentile // the list that lines of percentiles extend
	pctIn  time.Duration
	issued bool
	old    bool // fio 2's form: microseconds, KB

	headless bool // no line of fio's names it: its figures are one row's only if they say so

	loose   textDirection // lines whose direction was not quoted
	looseAt fio.Unread    // the first of them
	last    int           // place of the line before in the order of rowOrder
}

// textDirection is a direction as printed.
type textDirection struct {
	fio.Direction
	seen         bool
	io, bw, iops Num
	issued       uint64
	bwUnit       string
}

// needJob gives figures without a row above them, in fragments, a row named by the heading; nil
// when there are too many.
func (t *Reader) needJob() *textJob {
	if t.job != nil {
		return t.job
	}
	if t.tooMany() {
		return nil
	}
	r := t.need(t.run.results())
	t.job = &textJob{Job: fio.Job{Name: t.next.Title}, headless: true}
	r.jobs = append(r.jobs, t.job)
	return t.job
}

// textLoose are lines of a row that can hardly be anything else: apart from their row, in a
// fragment, they count too.
var textLoose = regexp.MustCompile(
	`^(?:cpu *: usr=\S+%, *sys=|IO depths *: 1=[\d.]+%|(?:submit|complete) *: 0=[\d.]+%|issued[ rwtsd/]*: total=|latency *: target=\d+, *window=|bw \(.*\) *: min=|iops *: min=|(?:[cs]?lat|sync) \([num]sec\) *: min=|(?:[cs]?lat|sync) percentiles \([num]sec\)|fsync/fdatasync)`,
)

// textWithin are lines that fio prints in a row only, after others.
var textWithin = regexp.MustCompile(
	`^(?:fsync/fdatasync|(?:[cs]?lat|sync) percentiles \(|sync \([num]sec\)|\|? *[\d.]+th=\[|cpu *: usr=|IO depths *: 1=|issued[ rwtsd/]*: total=)`,
)

var textPct = regexp.MustCompile(`\d\.\d+th=\[`)

// jobLine reads the lines of a row. Outside a row only those that can hardly be anything else are
// taken.
func (t *Reader) jobLine(body string) bool {
	if t.job == nil && t.left != nil && !t.left.issued &&
		textWithin.MatchString(body) { // someone's comment stood in between
		t.job, t.closed = t.left, false
	}
	if t.job == nil && textLoose.MatchString(body) {
		t.goesOnTorn()
		if t.needJob() == nil {
			return false
		}
	}
	t.inOrder(body)
	if strings.Contains(body, "th=[") {
		if t.job == nil || t.job.pct == nil {
			if textPct.MatchString(body) {
				t.unread(body, "percentiles without the line that says of what")
				return true
			}
			return false
		}
		n := len(*t.job.pct)
		known := t.job.percentiles(body)
		if now := *t.job.pct; n > 0 && len(now) > n && now[n].P <= now[n-1].P {
			t.tangle()
		}
		if !known {
			t.unread(body, "want percentiles such as 99.00th=[ 529]")
		}
		return true
	}
	if m := matchStart(textDir, body, "read", "write", "trim", "mixed"); m != nil {
		if t.job == nil {
			t.goesOnTorn()
		}
		t.direction(m[1], m[2], body)
		return true
	}
	if m := matchStart(textCoarse, body, "lat"); m != nil && !strings.HasPrefix(m[2], "min=") {
		t.coarse(m[1], m[2], body)
		return true
	}
	if t.job == nil {
		return false
	}
	if m := matchIf(textPctHead, "percentiles (", body); m != nil {
		t.percentileHead(m[1], m[2], body)
		return true
	}
	if m := matchIf(textStat, "min=", body); m != nil {
		t.latency(m[1], m[2], m[3], body)
		return true
	}
	return t.rowLine(body)
}

// rowOrder finds lines of a row, in the order in which fio prints them; each direction begins it again.
var rowOrder = regexp.MustCompile(`^(?:(read|write|trim|mixed) *:|(slat \()|(clat \([num]sec)|` +
	`(lat \([num]sec\) *: min)|([cs]?lat percentiles|sync \(|sync percentiles|\|? *[\d.]+th=\[)|(bw \()|(iops +:)|` +
	`(lat \([num]sec\) *: [\d>])|(cpu +:)|(IO depths +:)|(submit +:)|(complete +:)|(issued\b)|(latency +:))`)

// firstOfAll is the place of the first line that a row has once, for all directions.
const firstOfAll = 8

// inOrder notes a line that fio prints before the one that it stands behind: it is of another run.
func (t *Reader) inOrder(body string) {
	if t.job == nil || t.job.headless || t.job.issued {
		return
	}
	m := rowOrder.FindStringSubmatchIndex(body)
	if m == nil {
		if strings.HasPrefix(body, "fsync/fdatasync") { // which some versions print behind the latencies of all
			t.job.last = 0
		}
		return
	}
	at := 1
	for m[2*at] < 0 {
		at++
	}
	if last := t.job.last; at < last && (at > 1 || last >= firstOfAll) && !t.closed {
		t.tangle()
	}
	t.job.last = at
}

// direction reads "read: IOPS=137k, BW=3733MiB/s (3915MB/s)(219GiB/60019msec)" or, of fio 2,
// "write: io=101696MB, bw=578488KB/s, iops=36155, runt=180016msec".
func (t *Reader) direction(name, rest, body string) {
	j := t.needJob()
	if j == nil {
		t.refuse(body)
		return
	}
	j.sync, j.pct = false, nil
	d := &j.dirs[slices.Index(fio.DirectionNames[:], name)]
	j.cur = d
	if d.seen && !j.headless && !j.issued && !t.apart && !t.closed {
		t.tangle()
	}
	if d.seen || t.another(rest) { // another row whose header was left out
		t.job = nil
		t.direction(name, rest, body)
		return
	}
	d.seen, d.Printed = true, map[string]string{}
	main, zones, _ := strings.Cut(rest, ";")
	good := eachField(main, func(name, value string) (ok bool) {
		n := ParseNum(value)
		switch {
		case name == "IOPS" || name == "iops":
			if d.Printed["iops"] != "" { // fio prints one; what somebody wrote behind it is not fio's
				return false
			}
			d.iops, d.Printed["iops"] = n, value
			_, ok = n.kilo()
			return ok
		case name == "io":
			j.old = true
			d.io, d.Printed["io"] = n, value
		case name == "bw":
			d.bw, d.Printed["bw"] = n, value
		case name == "runt" && d.Runtime == 0:
			d.Runtime, ok = n.duration()
			return ok
		case name == "BW": // 3733MiB/s (3915MB/s)(219GiB/60019msec)
			for p := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '(' || r == ')' }) {
				p = strings.TrimSpace(p)
				io, run, _ := strings.Cut(p, "/")
				took, isTime := ParseNum(run).duration()
				switch {
				case p == "":
				case d.Printed["bw"] == "":
					d.bw, d.Printed["bw"] = ParseNum(p), p
				case isTime:
					d.io, d.Printed["io"], d.Runtime = ParseNum(io), io, took
				default:
					d.Printed["bw_si"] = p
				}
			}
		default:
			return false
		}
		return true
	})
	if zones != "" {
		n := ParseNum(zones)
		d.ZoneResets = n.Mant
		good = good && n.OK && n.Unit == "zone resets"
	}
	if d.bw.Mant > 0 && d.bw.Unit == "" { // cut off: fio prints a unit always
		d.bw, good = Num{}, false
	}
	for _, n := range []Num{d.io, d.bw} {
		_, ok := n.bytes(1024)
		good = good && (ok || n == Num{})
	}
	if !good {
		t.unread(body, "a field of this line is not known")
	}
}

// maxTangles bounds what is kept of lines that nobody can place.
const maxTangles = 1 << 12

// open says that a row has begun, and that its last line follows without a gap.
func (t *Reader) open() bool {
	return t.job != nil && !t.job.headless && !t.job.issued && t.job.cur != nil && !t.gap && !t.apart && !t.closed
}

// goesOnTorn notes a line of a row within which another run stands, and where that is.
func (t *Reader) goesOnTorn() {
	if t.torn > 0 {
		t.tangle()
		t.tangleAt(t.torn)
		t.torn = 0
	}
}

func (t *Reader) tangle() { t.tangleAt(t.n) }

func (t *Reader) tangleAt(line int) {
	if len(t.Tangles) < maxTangles {
		t.Tangles = append(t.Tangles, line)
	}
}

// another says that a direction's line without a row above it is another test's than the lines
// before: something stands between them, the row before is complete, or they took different times.
// The directions of one job end together.
func (t *Reader) another(rest string) bool {
	j := t.job
	if !j.headless {
		return false
	}
	seen, longest := false, time.Duration(0)
	for _, d := range j.dirs {
		seen, longest = seen || d.seen, max(longest, d.Runtime)
	}
	if seen && (t.apart || j.issued || len(j.Depths) > 0) {
		return true
	}
	took := runtimeIn(rest)
	return seen && took > 0 && longest > 0 && (took-longest).Abs() > endTogether
}

// endTogether is how far the runtimes of the directions of one job lie apart at most: fio rounds
// both to milliseconds.
const endTogether = time.Millisecond

var textRuntime = regexp.MustCompile(`(?:/|runt= *)(\d+ ?[num]?sec)\b`)

func runtimeIn(rest string) time.Duration {
	m := textRuntime.FindStringSubmatch(rest)
	if m == nil {
		return 0
	}
	d, _ := ParseNum(m[1]).duration()
	return d
}

// latency reads "clat (usec): min=196, max=2394, avg=398.38, stdev=60.19".
func (t *Reader) latency(name, unit, rest, body string) {
	j := t.job
	j.pct = nil
	var l *fio.Latency
	printed := map[string]string{}
	switch at := slices.Index(fio.LatencyNames[:], name); {
	case name == "sync" || j.sync && name == "lat":
		l = &j.Sync.Lat
	default:
		if t.needDirection(body); at < 0 { // of one priority: "clat prio 0/0"
			return
		}
		l, printed = j.cur.Latencies()[at], j.cur.Printed
	}
	if l.Mean > 0 {
		t.tangle()
	}
	u, _ := UnitOf(unit)
	good := eachField(rest, func(key, value string) bool {
		n := ParseNum(value)
		factor, ok := n.kilo()
		v := n.Times(factor * float64(u))
		switch key {
		case "min":
			l.Min = fio.Duration(v, 1)
		case "max":
			l.Max = fio.Duration(v, 1)
		case "avg":
			l.Mean = v
		case "stdev", "dev": // dev of fio 1
			key, l.StdDev = "stdev", v
		default:
			return false
		}
		if factor > 1 {
			printed[name+"."+key] = value
		}
		return ok
	})
	if l.Mean == 0 && l.Max > 0 && !strings.Contains(rest, "avg=") { // cut off: its extremes alone would weigh in sums
		*l = fio.Latency{}
	}
	if !good {
		t.unread(body, "")
	}
}

// needDirection gives lines of a direction whose own line was not quoted a place until it is known
// which it is.
func (t *Reader) needDirection(body string) {
	if j := t.job; j.cur == nil {
		j.loose.Printed = map[string]string{}
		j.cur, j.looseAt = &j.loose, fio.Unread{Line: t.n, Text: body, Why: "a latency without a read or write heading"}
	}
}

// percentileHead reads "clat percentiles (usec):". In fio 3.13 and later slat and lat may have
// their own.
func (t *Reader) percentileHead(name, unit, body string) {
	j := t.job
	j.pctIn, _ = UnitOf(unit)
	if name == "sync" {
		j.pct = &j.Sync.Lat.Percentiles
		return
	}
	t.needDirection(body)
	j.pct = &[]fio.Percentile{} // of one priority
	if at := slices.Index(fio.LatencyNames[:], name); at >= 0 {
		j.pct = &j.cur.Latencies()[at].Percentiles
	}
}

// percentiles reads "|  1.00th=[  110],  5.00th=[  127],".
func (j *textJob) percentiles(body string) bool {
	all := textPoint.FindAllStringSubmatch(body, -1)
	good := len(all) == strings.Count(body, "th=[") // one that is cut off has no end
	for _, m := range all {
		at, n := ParseNum(m[1]), ParseNum(m[2])
		factor, isNum := n.kilo()
		if !at.OK || !isNum {
			good = false
			continue
		}
		*j.pct = append(*j.pct, fio.Percentile{P: at.Times(1), Value: fio.Duration(n.Times(factor), j.pctIn)})
	}
	return good
}

// textPoint is one percentile: "99.00th=[ 529]", "99.99th=[>=2000]".
var textPoint = regexp.MustCompile(`([\d.,]+)th=\[[ >=]*([\d.,]+[kKmMgG]?) *\]`)

// coarse reads "lat (msec)   : 2=0.17%, 4=0.01%, >=2000=6.77%".
func (t *Reader) coarse(unit, rest, body string) {
	j := t.needJob()
	if j == nil {
		t.refuse(body)
		return
	}
	j.sync, j.pct = false, nil
	u, _ := UnitOf(unit)
	rest, _, _ = strings.Cut(rest, " (") // where an author explains the line
	if !eachField(rest, func(end, value string) bool {
		share, ok := ParseShare(value)
		end, above := strings.CutPrefix(end, ">=")
		n := ParseNum(end)
		if !ok || !n.OK || n.Unit != "" {
			return false
		}
		b := fio.Bucket{Upto: fio.Duration(n.Times(1), u), Value: share}
		if above {
			b.Upto = 0
		}
		j.Buckets = append(j.Buckets, b)
		return true
	}) {
		t.unread(body, "want shares such as 250=0.46%")
	}
}
