// Package foreign reads what other programs than fio measured, as people paste it: sysbench's fileio, ioping,
// kubestr, dd, diskspd and others. programs.tsv says how each is known, what its lines say and what that proves;
// an output has what the program says and no more, and what its figures leave open is a doubt.
package foreign

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	fiotext "plimsoll/internal/fio/text"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Limit is how much of a text is looked at, in bytes: these are summaries, not logs.
const Limit = 1 << 20

// most bounds the results of one text, and the jobs of each.
const most = 1 << 12

//go:embed programs.tsv
var programs string

// program is what the table says of one.
type program struct {
	name  string
	words map[string]string
	rows  []row
}

// row is what a line says that matches a pattern.
type row struct {
	pattern *regexp.Regexp
	under   bool // it is matched together with the heading above
	says    []string
}

// Read reads the results of other programs in the start of a text. rest is the text with their lines
// emptied, so that all others keep their numbers. A text that has none comes back as it is.
func Read(data []byte) (outs []*fio.Output, rest []byte) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, data
	}
	var lines, left []string
	for about := range strings.SplitSeq(programs, "\nprogram\t") {
		head, body, _ := strings.Cut(about, "\n")
		columns := strings.Split(head, "\t")
		if len(columns) < 2 || !slices.ContainsFunc(strings.Split(columns[1], "|"), func(mark string) bool {
			return bytes.Contains(data, []byte(mark))
		}) {
			continue
		}
		if lines == nil {
			left = strings.Split(string(data), "\n")
			for _, line := range left {
				lines = append(lines, clean(line))
			}
		}
		r := reader{of: parsed(columns, body), lines: lines, left: left}
		outs = append(outs, r.read()...)
	}
	if len(outs) == 0 {
		return nil, data
	}
	return outs[:min(len(outs), most)], []byte(strings.Join(left, "\n"))
}

// clean takes off what mails, terminals and Markdown put around a line.
func clean(line string) string {
	line = strings.TrimRight(fiotext.ANSI.ReplaceAllString(strings.ToValidUTF8(line, "\uFFFD"), ""), " \t\r")
	line = line[strings.LastIndexByte(line, '\r')+1:] // progress was written over
	return strings.ReplaceAll(strings.TrimLeft(line, ">#│ \t"), "**", "")
}

func parsed(columns []string, body string) program {
	p := program{name: columns[0], words: map[string]string{}}
	for _, word := range columns[2:] {
		key, value, _ := strings.Cut(word, "=")
		p.words[key] = value
	}
	for line := range strings.SplitSeq(body, "\n") {
		if pattern, says, ok := strings.Cut(line, "\t"); ok {
			for key, value := range p.words {
				pattern = strings.ReplaceAll(pattern, "{"+key+"}", value)
			}
			p.rows = append(
				p.rows,
				row{regexp.MustCompile(pattern), strings.Contains(pattern, " :: "), strings.Split(says, "\t")},
			)
		}
	}
	return p
}

// reader reads the lines of one program.
type reader struct {
	of          program
	lines, left []string
	line        int      // that is read, from 0
	under       string   // the heading above
	names       []string // of what the columns of a table are of
	now         run
	outs        []*fio.Output
}

// run is what the lines of one run said up to here.
type run struct {
	from, end   int // lines from 0
	matched     []int
	once        []int // of the rows that a run has once, those that were in it
	version     string
	common      job
	jobs        []*job
	disks       []fio.Disk
	doubts      []string
	whole, done bool
	soFar       float64 // how far the last line of progress was; 0 where the figures are of no such line
	only        string  // why no figure but that of the job before counts
	failed      string  // what the program said of an error, after which it measures nothing
	durable     *job
}

// job is a job and what is known of it until it is whole.
type job struct {
	fio.Job
	any         fio.Direction // of a direction that another line says
	sync        fio.Direction
	side, order string
	at          string // the direction of the figures that follow
	latencyOf   string // what a latency is of that is none of one direction
	void        string
	cached      string        // why it is void unless it shows that it waited
	instant     bool          // whether its data were there at once
	synced      bool          // a sync was timed with it
	whole       time.Duration // of both
	records     uint64
	seconds     []float64   // the rates of its seconds, in bytes
	ram         units.Bytes // that the text states
	title       string
}

func (r *reader) read() []*fio.Output {
	gap, _ := strconv.Atoi(r.of.words["gap"])
	for i, line := range r.lines {
		r.line = i
		if len(r.now.matched) > 0 && i-r.now.end > gap+1 {
			r.finish()
		}
		for n, row := range r.of.rows {
			whole := line
			if row.under {
				whole = r.under + " :: " + line
			}
			m := row.pattern.FindStringSubmatchIndex(whole)
			if m == nil {
				continue
			}
			if slices.Contains(row.says, "once") {
				if slices.Contains(r.now.once, n) {
					r.finish()
				}
				r.now.once = append(r.now.once, n)
			}
			for _, says := range row.says {
				key, value, _ := strings.Cut(string(row.pattern.ExpandString(nil, says, whole, m)), "=")
				if key != "" && (value != "" || !strings.Contains(says, "=")) {
					r.say(key, value)
				}
			}
			if len(r.now.matched) == 0 {
				r.now.from = i
			}
			r.now.end, r.now.matched = i, append(r.now.matched, i)
		}
		if r.now.done {
			r.finish()
		}
	}
	r.finish()
	return r.outs
}

// say takes in one word of a row.
func (r *reader) say(key, value string) {
	run := &r.now
	j := &run.common
	if len(run.jobs) > 0 {
		j = run.jobs[len(run.jobs)-1]
	}
	if j.Options == nil {
		j.Options = fio.Options{}
	}
	switch key {
	case "fresh":
		r.finish()
	case "begin": // what stands above it may be of its command
		if r.figures() {
			r.finish()
		}
	case "sofar": // a line of progress, unless it counts what was done
		on := run.soFar > 0 && number(value) > run.soFar && r.line <= run.end+1
		if r.figures() && !on {
			r.finish()
		} else if j.records == 0 {
			run.soFar = number(value)
		}
	case "last": // what stood above was progress, or of another run
		if r.figures() && run.soFar == 0 {
			r.finish()
		}
		run.soFar, j.any = 0, fio.Direction{}
	case "end":
		run.done = true
	case "once":
	case "whole":
		run.whole = true
	case "under":
		r.under = value
	case "names":
		r.names = strings.Fields(value)
	case "column":
		if n, _ := strconv.Atoi(value); n <= len(r.names) {
			j.title = r.names[n-1]
		}
	case "version":
		run.version = value
	case "title":
		j.title = value
	case "doubt":
		run.doubts = text.Once(run.doubts, value)
	case "job", "add":
		r.job(key, value)
	case "options", "default":
		for word := range strings.FieldsSeq(value) {
			if k, v, _ := strings.Cut(word, "="); v != "" && (key == "options" || j.Options[k] == "") {
				j.Options[k] = v
			}
		}
	case "disk":
		var d fio.Disk
		var util float64
		if _, err := fmt.Sscan(value, &d.Name, &d.Reads, &d.Writes, &d.ReadMerges, &d.WriteMerges, &d.ReadTicks,
			&d.WriteTicks, &d.InQueue, &util); err == nil && len(run.disks) < most {
			d.Util = min(1, util/100)
			run.disks = append(run.disks, d)
		}
	case "only":
		run.only, run.durable = value, j
	case "failed":
		run.failed = cmp.Or(run.failed, value)
	default:
		if !j.figure(key, value) {
			j.option(key, value)
		}
	}
}

// job makes the job of a name the one that figures belong to.
func (r *reader) job(key, name string) {
	run := &r.now
	if _, ours := r.of.words["summary"]; ours { // name, by what its lines say
		name = strings.ToLower(name)
	}
	if key == "job" {
		if i := slices.IndexFunc(run.jobs, func(j *job) bool { return j.Name == name }); i >= 0 {
			again := run.jobs[i]
			run.jobs = append(slices.Delete(run.jobs, i, i+1), again)
			return
		}
	}
	if len(run.jobs) == 0 && run.common.has(r.of) { // of a job whose name was cut off
		r.finish()
	}
	if len(run.jobs) < most {
		own := run.common
		own.Name, own.Options = name, maps.Clone(own.Options)
		run.jobs = append(run.jobs, &own)
	}
}

// option takes in what a job was to do, in fio's words, or what it is of.
func (j *job) option(key, value string) {
	switch key {
	case "order":
		j.order = strings.ToLower(value)
	case "side":
		said := map[string]string{
			"rewrite": "write",
			"r/w":     "rw",
			"written": "write",
			"<<<":     "read",
			">>>":     "write",
			"unknown": "",
			"wr":      "write",
			"rewr":    "write",
			"rd":      "read",
		}
		var known bool
		if j.side, known = said[value]; !known {
			j.side = strings.ToLower(value)
		}
	case "at":
		j.at = strings.ToLower(value)
	case "count":
		j.Count, _ = strconv.Atoi(value)
	case "runtime":
		j.Runtime = took(value)
	case "lat.of":
		j.latencyOf = cmp.Or(j.latencyOf, value)
	case "unsynced":
		j.void = value
	case "place":
		if fio.InMemory(value) {
			j.void = value + " is in memory: no storage was measured"
		}
	case "cached":
		j.cached = value
	case "instant":
		j.instant = true
	case "sound":
		j.cached = ""
	case "synced":
		j.synced = true
	case "whole.time":
		j.whole = took(value)
	case "ram":
		j.ram = size(value)
	case "records":
		full, part, _ := strings.Cut(value, "+")
		j.records = uint64(number(full) + number(part))
	case "ratio":
		if ratio := number(value); ratio > 0 && ratio < 1e6 {
			j.Options["rwmixread"] = strconv.Itoa(int(100*ratio/(1+ratio) + 0.5))
		}
	case "bs", "size":
		if b := size(value); b > 0 {
			j.Options[key] = b.Suffixed()
		}
	default:
		j.Options[key] = value
	}
}

// figure takes in a figure; false where the word is none.
func (j *job) figure(key, value string) bool {
	side, what, ok := strings.Cut(strings.ToLower(key), ".")
	d := map[string]*fio.Direction{"read": &j.Read, "write": &j.Write, "sync": &j.sync}[side]
	if d == nil {
		what = strings.ToLower(key)
		d = map[string]*fio.Direction{"": &j.any, "read": &j.Read, "write": &j.Write}[j.at]
	} else if !ok {
		return false
	}
	switch what {
	case "iops":
		d.IOPS = units.IOPS(number(value))
	case "bw":
		d.BW = rate(kibi.ReplaceAllString(value, "${1}KiB/s"))
	case "bytes":
		d.Bytes = units.Bytes(min(rate(value+"/s"), 1<<53))
	case "n":
		d.N = count(value)
	case "events":
		j.any.Clat.N = count(value)
	case "mean":
		d.Clat.Mean = float64(took(value))
	case "sum":
		if n := j.any.Clat.N; n > 0 {
			d.Clat.Mean = float64(took(value)) / float64(n) // a mean has two digits
		}
	case "stddev":
		d.Clat.StdDev = float64(took(value))
	case "min":
		d.Clat.Min = took(value)
	case "max":
		d.Clat.Max = took(value)
	case "second":
		j.seconds = append(j.seconds, float64(rate(value)))
	case "seconds.stddev":
		j.any.BWSamples.StdDev = float64(rate(value))
	case "seconds.max":
		j.any.BWSamples.Max = float64(rate(value))
	case "seconds.min":
		j.any.BWSamples.Min = float64(rate(value))
	case "samples.max":
		d.IOPSSamples.Max = number(value)
	case "samples.min":
		d.IOPSSamples.Min = number(value)
	case "samples.iops", "samples.kib":
		s, k := &d.IOPSSamples, 1.0
		if what == "samples.kib" {
			s, k = &d.BWSamples, 1024
		}
		var low, high, mean float64
		if _, err := fmt.Sscan(value, &low, &high, &mean); err == nil {
			s.Min, s.Max, s.Mean = low*k, high*k, mean*k
		}
	default:
		p, is := strings.CutPrefix(what, "p")
		if !is || number(p) <= 0 {
			return false
		}
		if at := took(value); at > 0 {
			d.Clat.Percentiles = append(d.Clat.Percentiles, fio.Percentile{P: number(p), Value: at})
		}
	}
	return true
}

// kibi is a rate of bonnie++'s without a prefix, which is of KiB.
var kibi = regexp.MustCompile(`^([\d.]+)iB/s$`)

// figures says that the run has a rate or a latency.
func (r *reader) figures() bool {
	return slices.ContainsFunc(append(r.now.jobs, &r.now.common), func(j *job) bool { return j.has(r.of) })
}

// has says that a job has a figure; a latency alone is one of most programs.
func (j *job) has(p program) bool {
	_, rated := p.words["rated"]
	return slices.ContainsFunc([]fio.Direction{j.Read, j.Write, j.any, j.sync}, func(d fio.Direction) bool {
		return did(d) || !rated && (d.Clat.Mean > 0 || len(d.Clat.Percentiles) > 0)
	})
}

// finish makes outputs of a run: one of each job, since what ran at the same time these programs do not say, but of
// those that are known to.
func (r *reader) finish() {
	now := r.now
	r.now = run{}
	if len(now.jobs) == 0 {
		now.jobs = []*job{&now.common}
	}
	now.jobs = slices.DeleteFunc(now.jobs, func(j *job) bool { return !j.has(r.of) })
	base := fio.Output{
		Version: r.of.name, Program: r.of.name, Format: fio.Text, Line: now.from + 1, End: now.end + 1,
	}
	_, base.Summary = r.of.words["summary"]
	if now.version != "" {
		base.Version = strings.TrimRight(r.of.name+" "+now.version, ":")
	}
	ends := slices.ContainsFunc(r.of.rows, func(row row) bool { return slices.Contains(row.says, "whole") })
	if ends && !now.whole {
		base.Missing.Add(part.Ending)
	}
	base.Doubt("these are %s's figures, not fio's: %[1]s does not print %s", r.of.name, r.of.words["silent"])
	var made []*fio.Output
	for _, j := range now.jobs {
		o := base
		o.Doubts = slices.Concat(base.Doubts, now.doubts)
		j.settle(r.of, &o)
		o.Title, o.Void = j.title, j.void
		if now.only != "" && j != now.durable {
			o.Void = now.only
		}
		if o.Jobs = []fio.Job{j.Job}; (j.has(r.of) || j.Sync.Lat.Mean > 0) && len(r.outs)+len(made) < most {
			made = append(made, &o)
		}
	}
	if len(made) == 0 && now.failed != "" && len(r.outs) < most {
		base.Doubts, base.Void = nil, r.of.name+" failed: "+now.failed
		base.Jobs = []fio.Job{{Name: r.of.name}}
		made = append(made, &base)
	}
	if len(made) == 0 {
		return
	}
	r.outs = append(r.outs, r.of.together(made, now.disks)...)
	for _, i := range now.matched {
		r.left[i], r.lines[i] = "", ""
	}
}

// together makes one output of jobs of which the program is known to run them at the same time, and says of others
// that this is not known.
func (p program) together(made []*fio.Output, disks []fio.Disk) []*fio.Output {
	if p.words["together"] == "" {
		return made
	}
	names := make([]string, len(made))
	for i, o := range made {
		names[i] = o.Jobs[0].Name
	}
	switch {
	case strings.Join(names, ",") == p.words["together"]:
		for _, o := range made[1:] {
			made[0].Jobs = append(made[0].Jobs, o.Jobs...)
		}
		title, why, _ := strings.Cut(p.words["as"], ": ")
		made[0].Title, made[0].Disks, made[0].Doubts = title, disks, append(made[0].Doubts[:1:1], why)
		return made[:1]
	case len(made) == 1:
		made[0].Disks = disks
	default:
		for _, o := range made {
			o.Doubt("whether the %d jobs of this run ran at the same time is not printed by %s: they are listed separately",
				len(made), p.name)
		}
	}
	return made
}

// settle works out what follows from what was said, and says in the output what does not.
func (j *job) settle(p program, o *fio.Output) {
	if j.Options["rw"] == "" && j.order != "" && j.side != "" {
		j.Options["rw"] = map[bool]string{true: "rand"}[strings.HasPrefix(j.order, "r")] + j.side
	}
	rw := strings.TrimPrefix(j.Options["rw"], "rand")
	if j.side = cmp.Or(j.side, rw); rw != "rw" {
		delete(j.Options, "rwmixread")
	}
	if j.Options["ioengine"] == "" { // by default fio's ignores a depth
		delete(j.Options, "iodepth")
	}
	if j.side == "write" && did(j.Read) && !did(j.Write) {
		j.Read, j.Write = j.Write, j.Read
		o.Doubt("%s counts the work of a write-only test as reads: it is listed as writes", p.name)
	}
	to, n := &j.Read, j.any.Clat.N
	if j.side == "write" || j.side == "" && did(j.Write) {
		to = &j.Write
	}
	latency := j.any.Clat
	j.any.Clat = fio.Latency{}
	j.any.N = cmp.Or(j.any.N, j.records)
	if !did(j.Read) && !did(j.Write) && did(j.any) {
		if *to = j.any; j.side == "" || j.side == "rw" {
			to.Unknown = true
			o.Doubt("%s does not say here whether they were reads or writes", p.name)
		}
	}
	j.sample(to)
	read, write := did(j.Read), did(j.Write)
	if j.side == "" && read != write && !to.Unknown {
		j.side = map[bool]string{true: "read", false: "write"}[read]
	}
	if j.side == "" && read && write {
		j.side = "rw"
	}
	bs := size(j.Options["bs"])
	for _, d := range j.Directions() {
		bs = cmp.Or(bs, powerOfTwo(d.IOPS, d.BW), powerOfTwo(units.IOPS(d.N), units.Rate(d.Bytes)))
	}
	if bs > 0 {
		j.Options["bs"] = cmp.Or(j.Options["bs"], bs.Suffixed())
	}
	both := j.Read.N+uint64(j.Read.IOPS) > 0 && j.Write.N+uint64(j.Write.IOPS) > 0
	if both && j.latencyOf == "" || strings.HasPrefix(j.latencyOf, "one figure") && both {
		j.latencyOf = "one figure for reads, writes and syncs"
	}
	switch {
	case latency.Mean <= 0 && len(latency.Percentiles) == 0:
	case j.latencyOf != "":
		o.Doubt("its latency of %v is %s, and is left out", units.Latency(latency.Mean), j.latencyOf)
	default:
		to.Clat = latency
	}
	if j.Runtime == 0 && j.Count <= 1 && j.Options["iodepth"] == "1" {
		j.Runtime = fio.Duration(float64(max(to.N, n))*to.Clat.Mean, time.Nanosecond)
	}
	for _, d := range j.Directions() {
		settled(d, bs, j.Runtime)
	}
	if s := size(j.Options["size"]); s > 0 && s < j.ram {
		j.void = fmt.Sprintf("%s's file of %v fits in the memory of %v that the text states", p.name, s, j.ram)
	}
	switch {
	case j.cached == "":
	case j.synced && j.Runtime <= j.whole && float64(j.Runtime) >= nearlyAll*float64(j.whole):
		j.Options["end_fsync"] = "1"
	case !j.waited(to):
		j.void = cmp.Or(j.void, j.cached)
	default:
		o.Doubt("%s; at this rate it waited for most of them, yet the last part may be in memory", j.cached)
	}
	if j.sync.Clat.Mean > 0 {
		j.Sync.Lat = fio.Latency{Mean: j.sync.Clat.Mean}
	}
	if j.Name == "" {
		j.Name = p.words["name"] + cmp.Or(j.Options["rw"], j.side, "unknown")
	}
}

// sample sums up the seconds of a run whose program shows each, or the spread of all of them.
func (j *job) sample(d *fio.Direction) {
	s := &d.BWSamples
	if s.StdDev > 0 && j.Runtime > 0 {
		s.Mean, s.N = float64(d.BW), uint64(j.Runtime/time.Second)
	}
	if n := uint64(len(j.seconds)); n > 1 && s.N < n {
		*s = fio.Samples{Min: slices.Min(j.seconds), Max: slices.Max(j.seconds), N: n}
		sum, squares := 0.0, 0.0
		for _, v := range j.seconds {
			sum, squares = sum+v, squares+v*v
		}
		s.Mean = sum / float64(n)
		s.StdDev = math.Sqrt(max(squares/float64(n)-s.Mean*s.Mean, 0))
	}
}

// waited says that writes that memory takes were so slow that most of them must have waited for it to be written back:
// their data were there at once, and calling the system and copying, which are faster than this on slow machines too,
// took less time. In less than a second one hiccup is most of it.
func (j *job) waited(d *fio.Direction) bool {
	const call, copied = 10 * time.Microsecond, 100e6
	busy := time.Duration(d.N)*call + fio.Duration(float64(d.Bytes)/copied, time.Second)
	return j.instant && d.N > 0 && j.Runtime >= time.Second && j.Runtime > busy
}

// nearlyAll of the time of a write and its sync is so much of it that the sync changes the rate by a few per cent.
const nearlyAll = 0.95

func did(d fio.Direction) bool { return d.IOPS > 0 || d.BW > 0 || d.N > 0 || d.Bytes > 0 }

// settled fills in what follows from the other figures of a direction. What was counted goes before what was rounded.
func settled(d *fio.Direction, bs units.Bytes, ran time.Duration) {
	block := float64(bs)
	if d.N == 0 && bs > 0 {
		d.N = uint64((d.Bytes + bs - 1) / bs)
	}
	if d.IOPS == 0 && ran > 0 {
		d.IOPS = units.IOPS(float64(d.N) / ran.Seconds())
	}
	switch {
	case d.BW == 0 && d.Bytes > 0 && ran > 0:
		d.BW = units.Rate(float64(d.Bytes) / ran.Seconds())
	case d.BW == 0:
		d.BW = units.Rate(float64(d.IOPS) * block)
	case d.IOPS == 0 && bs > 0:
		d.IOPS = units.IOPS(float64(d.BW) / block)
	}
	d.Runtime = ran
	if d.IOPS == 0 && d.BW == 0 {
		d.Runtime = 0
		return
	}
	if did := float64(d.IOPS) * ran.Seconds(); d.N == 0 && did < 1<<53 {
		d.N = uint64(did + 0.5)
	}
	if moved := float64(d.BW) * ran.Seconds(); d.Bytes == 0 && moved < 1<<53 {
		d.Bytes = units.Bytes(moved)
	}
	if d.Clat.Mean > 0 {
		d.Clat.N = d.N
	}
}

// powerOfTwo is the request size that rates of few digits mean: a power of two near by; 0 for none.
func powerOfTwo(iops units.IOPS, bw units.Rate) units.Bytes {
	const near = 0.1
	if iops <= 0 || bw <= 0 {
		return 0
	}
	each := float64(bw) / float64(iops)
	power := math.Round(math.Log2(each))
	if power < 9 || power > 30 || math.Abs(each/math.Exp2(power)-1) > near {
		return 0
	}
	return units.Bytes(math.Exp2(power))
}

// number reads a number with a decimal suffix; 0 for what is none.
func number(s string) float64 {
	v, _ := fiotext.ParseNum(strings.ReplaceAll(s, " ", "")).Value()
	return v
}

// count reads a number of things.
func count(s string) uint64 { return uint64(min(number(s), 1<<53)) }

// plain writes the number at the start of a figure with a point and nothing else.
func plain(s string) string {
	s = strings.ReplaceAll(s, " ", "")
	at := len(s) - len(strings.TrimLeft(s, "0123456789.,"))
	number, _ := units.Plain(s[:at])
	return number + s[at:]
}

// rate reads a throughput with its unit, and what it is multiplied with; 0 for what is none.
func rate(s string) units.Rate {
	s, times, multiplied := strings.Cut(s, "*")
	r, err := units.ParseRate(plain(s))
	if err != nil || r < 0 || math.IsInf(float64(r), 0) {
		return 0
	}
	if multiplied {
		r *= units.Rate(number(times))
	}
	return r
}

// longest is what no run is above: a larger figure is none.
const longest = 366 * 24 * time.Hour

// took reads a time with its unit, such as "269.6 us"; 0 for what is none.
func took(s string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSuffix(strings.TrimSuffix(plain(s), "ec"), "in"))
	if err != nil || d < 0 || d > longest {
		return 0
	}
	return d
}

// size reads a number of bytes as these programs print it: in powers of 1024, whatever the unit is
// called ("16Kb", "16KiB").
func size(s string) units.Bytes {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "I")
	n, err := fio.ParseSize(strings.ToLower(s), 1024)
	if err != nil {
		return 0
	}
	return n
}
