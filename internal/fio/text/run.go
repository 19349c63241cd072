package text

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// textRun is one Output being read, and what its lines said that settles figures later.
type textRun struct {
	out     *fio.Output
	jobs    []*textJob
	echoes  map[textKey]fio.Options
	dates   map[string]string // when the rows of processes were printed
	rows    map[int]int       // by group, once all are read
	started bool              // "Starting N processes" or the version was seen
	// starting is how many jobs fio says that it starts, settled are the rows behind out.Jobs.
	starting int
	settled  []*textJob
	indents  []int // of the disks' lines
	group    int   // index in out.Groups of the status group being read, -1 for none
	after    bool  // "Disk stats" was seen
	nans     int   // lines with a figure that is no number
	// asked is what the command line above gave each job, read once.
	asked map[string]fio.Options
}

// maxServers bounds the hosts that one run's text may name.
const maxServers = 1 << 12

type textKey struct {
	name  string
	group int
}

// results says whether any figure was read.
func (r *textRun) results() bool {
	return r != nil && len(r.jobs)+len(r.out.Groups)+len(r.out.Disks) > 0
}

func (t *Reader) startRun() {
	t.finishRun()
	out := t.next
	out.Format = fio.Text
	t.run = &textRun{out: &out, echoes: map[textKey]fio.Options{}, dates: map[string]string{}, group: -1}
	t.next, t.closed = fio.Output{Title: out.Title}, false
}

// need makes sure that there is a run to put figures in; end says that the one at hand is complete.
func (t *Reader) need(end bool) *textRun {
	switch {
	case t.run == nil || end || t.closed && t.run.results():
		t.startRun()
	case t.closed: // what stands above the figures is nearer than what stood above the version
		t.run.out.Title = t.next.Title
		if t.next.Command != "" {
			t.run.out.Command, t.next.Command = t.next.Command, ""
		}
	}
	t.closed = false
	return t.run
}

func (t *Reader) finishRun() {
	if t.run == nil {
		return
	}
	r := t.run
	t.run, t.job = nil, nil
	if !r.results() && len(r.out.Unread)+r.out.Progress+len(r.out.Messages)+len(r.out.Servers) == 0 {
		return
	}
	if r.nans > 0 {
		r.out.Doubt("lines with figures that are nan, which count as not measured: %d", r.nans)
	}
	r.settle()
	t.outs = append(t.outs, r.out)
}

// Finish ends what is open: the text is over, or something else begins.
func (t *Reader) Finish() {
	if rest := t.mail.held.String(); rest != "" { // cut off within a line
		t.mail = mailLine{}
		t.Line(t.n, rest)
	}
	t.mail = mailLine{}
	cut := ""
	if left := uncut(t.held); t.Within && left != t.held {
		cut, t.held = t.held, left
	}
	if t.release(); cut != "" && t.run != nil {
		t.unread(cut, "the text ends here, within a number")
	}
	t.left, t.host = nil, ""
	if t.finishRun(); t.next.Progress > 0 { // a run that was cut off
		t.startRun()
		t.finishRun()
	}
}

var (
	textEcho    = regexp.MustCompile(`^(?:(.*): )?\(g=(\d+)\): (rw=.*)$`)
	textVersion = regexp.MustCompile(`^fio[- ]\d+\.\d[\w.+~-]*$`)
	textBare    = regexp.MustCompile(`^[1-3]\.\d+(?:\.\d+)*$`) // fio 2.0.8 as some distributions built it
	textStart   = regexp.MustCompile(`^Starting (\d+) (?:process|thread)\w*(?: and (\d+) process)?`)
	textHeader  = regexp.MustCompile(
		`^(?:(.*): )?\(groupid=(-?\d+), jobs=(\d+)\): err= ?(-?\d+) ?(\(.*\))?(?:: pid=(-?\d+)(?:: *(.*))?)?:?$`,
	)
	textGroup   = regexp.MustCompile(`^Run status group (\d+) \(.*\):`)
	textRate    = regexp.MustCompile(`^(READ|WRITE|TRIM|MIXED) ?: (.*)$`)
	textDisk    = regexp.MustCompile(`^(\S+): (ios=.*)$`)
	textDir     = regexp.MustCompile(`^(read|write|trim|mixed) *: *((?:IOPS|io|BW)=.*)$`)
	textStat    = regexp.MustCompile(`^(.*?) ?\((nsec|usec|msec|sec)\) ?: ?(min=.*)$`)
	textCoarse  = regexp.MustCompile(`^lat ?\((nsec|usec|msec)\) *: ?(.*=.*)$`)
	textPctHead = regexp.MustCompile(`^(.*?) ?percentiles \((nsec|usec|msec)\):?`)
	textBWStat  = regexp.MustCompile(`^bw \( *([^)]*?) *\) *: *(.*)$`)
	textServer  = regexp.MustCompile(`^hostname=(\S+), be=\d, .*fio=(fio-\S+?),`)
)

// fio recognises a line of fio's by its start and reads it; it says false for any other.
func (t *Reader) fio(body string, indent int, host string) bool {
	if body == "" {
		return false
	}
	if !strings.ContainsAny(body, "=[") { // figures have one of them; the rest is quick to tell
		return t.heading(body) || t.jobLine(body)
	}
	if m := matchIf(textHeader, "(groupid=", body); m != nil {
		t.header(m, host)
		return true
	}
	if m := matchIf(textEcho, "(g=", body); m != nil {
		if t.open() {
			t.torn = t.n
		}
		r := t.need(t.run.results() || t.run != nil && t.run.started && host == "")
		group, _ := strconv.Atoi(m[2])
		r.echoes[textKey{m[1], group}] = echoOptions(m[3])
		return true
	}
	if m := matchIf(textServer, "hostname=", body); m != nil {
		r := t.need(t.run.results())
		r.out.Version = m[2]
		if len(r.out.Servers) < maxServers && !slices.Contains(r.out.Servers, m[1]) {
			r.out.Servers = append(r.out.Servers, m[1])
		}
		return true
	}
	if m := matchIf(textDisk, "ios=", body); m != nil {
		t.disk(m[1], m[2], indent, body)
		return true
	}
	if m := textRate.FindStringSubmatch(body); m != nil &&
		(strings.Contains(m[2], "bw=") || strings.Contains(m[2], "aggrb=") || t.run != nil && t.run.group >= 0 && !t.closed) {
		t.rate(m[1], m[2], body)
		return true
	}
	return t.jobLine(body)
}

// MaxRows bounds the rows of one input. A row takes 6 KB in memory, and one of fio's 600 bytes or
// more in a text: of more than fewRows, each must take leastRow bytes on average, so that memory grows
// with the text and no faster.
const (
	MaxRows  = 1 << 16
	fewRows  = 1024
	leastRow = 400
	// mostDisks bounds the disks of one run.
	mostDisks = 4096
)

// tooMany counts a row and says whether there are more than fio has.
func (t *Reader) tooMany() bool {
	t.rows++
	return t.rows > MaxRows || t.rows > fewRows && t.bytes/t.rows < leastRow
}

// refuse notes a line of a row that is one too many.
func (t *Reader) refuse(line string) {
	if t.rows > MaxRows {
		t.unread(line, "more rows than fio can run jobs")
	} else {
		t.unread(line, "more than 1,024 rows that are shorter than fio's: give whole outputs, or several files")
	}
}

// header reads "name: (groupid=0, jobs=16): err= 0: pid=5340: Wed Jun 14 06:26:51 2023".
func (t *Reader) header(m []string, host string) {
	if t.tooMany() {
		t.refuse(m[0])
		t.job = nil
		return
	}
	if t.open() && t.job.pct != nil {
		if list := *t.job.pct; len(list) > 1 && list[1].P == 5 && list[len(list)-1].P < lastPercentile {
			t.tangle() // within a list of percentiles
		}
	}
	all := m[1] == "All clients"
	r := t.run
	again := r.repeats(m)
	at, dated := rowDate(m[7])
	// All rows of a run stand before its groups; a row behind them is another run's, or the next
	// status dump's.
	if r == nil || !all && (len(r.out.Groups) > 0 || len(r.out.Disks) > 0 || r.after) || t.closed && r.results() ||
		again || dated && host == "" && t.host == "" && r.otherTime(at) {
		old := r
		t.startRun()
		r = t.run
		if old != nil && r.out.Command == "" { // a status dump repeats rows, not the lines that started the run
			if _, same := old.echoes[textKey{m[1], atoi(m[2])}]; same || again {
				r.echoes, r.out.Version, r.out.Command = old.echoes, old.out.Version, old.out.Command
			}
		}
	}
	t.closed, t.torn, r.group = false, 0, -1
	if host == "" && !all {
		host = t.host
	}
	j := &textJob{all: all}
	j.Name, j.Group, j.Count, j.Error, j.PID, j.Host = m[1], atoi(m[2]), atoi(m[3]), atoi(m[4]), atoi(m[6]), host
	if m[5] != "" {
		r.out.Messages = append(r.out.Messages, m[1]+": err= "+m[4]+" "+m[5])
	}
	if dated {
		r.out.Time = at
	} else if m[7] != "" {
		t.unread(m[7], "not a date")
	}
	r.jobs = append(r.jobs, j)
	t.job = j
}

// rowDate is when fio printed a row; behind it may stand what was left of a progress line.
func rowDate(s string) (time.Time, bool) {
	at, err := time.Parse("Mon Jan _2 15:04:05 2006", textDate.FindString(s))
	return at, err == nil
}

// printedTogether is how far apart the dates of one run's rows may lie: fio prints all rows at once,
// when its last job has ended, each with the second in which it is printed (stat.c,
// show_thread_status_normal).
const printedTogether = 2 * time.Second

// otherTime says that a row was printed apart from the one before it, by another run. The hosts of
// fio --client print their rows as each of them ends, and say so.
func (r *textRun) otherTime(at time.Time) bool {
	return r != nil && !r.out.Time.IsZero() && at.Sub(r.out.Time).Abs() > printedTogether
}

func atoi(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

func (t *Reader) group(number string) {
	id := atoi(number)
	if j := t.job; j != nil && !j.headless && j.cur == nil && !j.issued {
		t.torn = t.n
	}
	again := t.run != nil && t.run.after
	before := t.run
	if before != nil {
		again = again || slices.ContainsFunc(before.out.Groups, func(g fio.Group) bool { return g.ID == id })
	}
	r := t.need(again)
	if again && r.out.Command == "" { // one command for sums that are quoted below one another
		r.out.Command = before.out.Command
	}
	t.job = nil
	r.out.Groups = append(r.out.Groups, fio.Group{ID: id, Directions: map[string]fio.GroupRate{}})
	r.group = len(r.out.Groups) - 1
}

// echoOptions reads the options that fio repeats when it starts: "rw=randwrite, bs=(R)
// 16.0KiB-16.0KiB, (W) …, (T) …, ioengine=psync, iodepth=1", or in fio 2
// "bs=16K-16K/16K-16K/16K-16K", or with commas between them. A bs that does not read so stands as
// it is, so that nobody takes fio's default for it.
func echoOptions(s string) fio.Options {
	o := fio.Options{}
	sizes := []string{}
	written := ""
	for part := range strings.SplitSeq(s, ", ") {
		name, value, ok := strings.Cut(part, "=")
		switch {
		case ok && name == "bs":
			written = value
			if rest, three := strings.CutPrefix(value, "(R) "); three {
				sizes = append(sizes, rest)
			} else {
				sizes = strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == ',' })
			}
		case ok:
			o[name] = value
		case strings.HasPrefix(part, "(W) "), strings.HasPrefix(part, "(T) "):
			sizes = append(sizes, part[4:])
		}
	}
	option, ends := "bs", map[string][]string{} // low ones, and ranges
	for _, size := range sizes {
		lo, hi, _ := strings.Cut(size, "-")
		low, high := echoSize(lo), echoSize(hi)
		if low == "" || high == "" {
			o["bs"] = written
			return o
		}
		if low != high {
			option = "bsrange"
		}
		ends["bs"], ends["bsrange"] = append(ends["bs"], low), append(ends["bsrange"], low+"-"+high)
	}
	list := ends[option]
	if len(slices.Compact(slices.Clone(list))) == 1 {
		list = list[:1]
	}
	if len(list) > 0 {
		o[option] = strings.Join(list, ",")
	}
	return o
}

// echoSize prints a block size as fio options take it, "" for none.
func echoSize(s string) string {
	if b, ok := bytesIn(s); ok && b > 0 {
		return units.Bytes(b).Suffixed()
	}
	return ""
}

// rate reads a line of a status group.
func (t *Reader) rate(name, rest, body string) {
	again := t.run != nil && t.run.group >= 0 && t.run.out.Groups[t.run.group].Directions[name].Printed != nil
	bare := again || !t.run.results() // sums that somebody quotes below one another, each by name
	if bare && t.aboveAt == t.n-1 && len(t.above) <= longLabel && strings.HasSuffix(t.above, ":") {
		t.next.Title = strings.TrimSuffix(t.above, ":")
		t.closed = t.closed || again
	}
	r := t.need(again)
	if r.group < 0 {
		r.out.Groups = append(r.out.Groups, fio.Group{Directions: map[string]fio.GroupRate{}})
		r.group = len(r.out.Groups) - 1
	}
	g := fio.GroupRate{Printed: map[string]string{}}
	known := eachField(rest, func(name, all string) bool {
		value, _, _ := strings.Cut(all, "(")
		value = strings.TrimSpace(value)
		did, ok := bytesIn(value)
		switch name {
		case "bw", "aggrb":
			g.BW, g.Printed["bw"] = units.Rate(did), value
		case "io":
			g.Bytes, g.Printed["io"] = units.Bytes(did), value
		case "minb", "maxb":
			g.Most = units.Rate(did)
		case "mint", "maxt", "run": // 60001-60019msec
			took, is := ParseNum(value[strings.LastIndexByte(value, '-')+1:]).duration()
			g.MaxRun, ok = max(g.MaxRun, took), is
		default: // "3733MiB/s-3733MiB/s (3915MB/s-3915MB/s)" has no name
			bounds, _, _ := strings.Cut(name, "(")
			lo, hi, _ := strings.Cut(bounds, "-")
			_, okLow := bytesIn(lo)
			most, okHigh := bytesIn(hi)
			g.Most, ok = units.Rate(most), okLow && okHigh && all == ""
		}
		return ok
	})
	if !known {
		t.unread(body, "a field of this status line is not known")
	}
	r.out.Groups[r.group].Directions[name] = g
}

// disk reads "md0: ios=4/6508533, merge=0/0, ticks=0/0, in_queue=0, util=0.00%, aggrios=…".
func (t *Reader) disk(name, rest string, indent int, body string) {
	r := t.need(false)
	r.after, t.job = true, nil
	if len(r.out.Disks) >= mostDisks {
		t.unread(body, "more disks than a machine has")
		return
	}
	d, agg, known := fio.Disk{Name: name}, fio.Disk{}, true
	whole := func(s string) uint64 {
		n := ParseNum(s)
		known = known && n.OK && n.Unit == "" && n.frac == 0
		return n.Mant
	}
	known = eachField(rest, func(key, value string) (ok bool) {
		to := &d
		if of, is := strings.CutPrefix(key, "agg"); is { // aggrios, but aggsectors
			to, key, d.Aggregate = &agg, strings.TrimPrefix(of, "r"), &agg
		}
		a, b, pair := strings.Cut(value, "/")
		switch {
		case pair && key == "ios":
			to.Reads, to.Writes = whole(a), whole(b)
		case pair && key == "merge":
			to.ReadMerges, to.WriteMerges = whole(a), whole(b)
		case pair && key == "ticks":
			to.ReadTicks, to.WriteTicks = whole(a), whole(b)
		case pair && key == "sectors":
			to.ReadBytes, to.WriteBytes, to.HasSectors = units.Bytes(whole(a))*512, units.Bytes(whole(b))*512, true
		case key == "in_queue":
			to.InQueue = whole(value)
		case key == "util":
			to.Util, ok = ParseShare(value)
			return ok
		default:
			return false
		}
		return true
	}) && known
	if !known {
		t.unread(body, "a field of this disk's line is not known")
	}
	r.out.Disks = append(r.out.Disks, d)
	r.indents = append(r.indents, indent)
}
