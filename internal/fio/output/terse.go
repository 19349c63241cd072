package output

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	fiotext "plimsoll/internal/fio/text"
	"plimsoll/internal/units"
)

// terseLine finds the start of a row, which fio's progress may stand in front of. Version 2 has no
// fio version in it, and 2.0 calls itself "2.0.8".
var terseLine = regexp.MustCompile(`[345];fio-[^;]*;|^3;2\.0[.\d]*;|^2;[^;]*;`)

// elided finds where somebody left out the rest of a row.
var elided = regexp.MustCompile(`; *(?:\.\.\.|…)`)

const (
	terseMin     = 90 // fields; version 3, the shortest, has 129 without disks
	terseRates   = 9  // up to the runtime of the reads, which stand first
	terseMaxDisk = 4096
)

// terse is a row: the version of fio, the job, the disks and, of a row that was cut, what it lacks.
type terse struct {
	version string
	job     fio.Job
	disks   []fio.Disk
	lacks   part.Missing
	open    bool // it does not end with a share, as most do
}

// terseRow returns the row of terse output in a line, empty when there is none. What is shorter than a row is one that
// was cut, if its rates can be read.
func terseRow(line string) string {
	fields := strings.Count(line, ";")
	if fields < terseRates {
		return ""
	}
	line = ansi.ReplaceAllString(line, "")
	at := terseLine.FindStringIndex(line)
	if at == nil {
		return ""
	}
	line = strings.TrimSpace(line[at[0]:])
	for _, end := range []string{`";`, `",`, `")`} { // of a string in somebody's program
		line = strings.TrimSuffix(line, end)
	}
	line = strings.TrimSuffix(strings.TrimRight(line, "`'\" \t"), `\n`)
	if fields < terseMin {
		if _, err := parseTerse(line); err != nil {
			return ""
		}
	}
	return line
}

// parseTerse reads one row of terse output (--minimal), version 2 to 5. Latencies have whole
// microseconds there and counts of I/Os are not printed: N is IOPS × runtime, rounded.
func parseTerse(line string) (row terse, err error) {
	if at := elided.FindStringIndex(line); at != nil {
		line = line[:at[0]+1]
	}
	fields := strings.Split(strings.TrimRight(line, "\r\n"), ";")
	version, err := strconv.Atoi(fields[0])
	if err != nil || version < 2 || version > 5 {
		return row, fmt.Errorf("terse version %q: want 2 to 5", fields[0])
	}
	rest := fields[1:]
	if version > 2 && len(rest) > 0 {
		row.version, rest = "fio-"+strings.TrimPrefix(rest[0], "fio-"), rest[1:]
	}
	var first error
	for extra := range 8 { // a job's name may hold semicolons; fio does not quote them
		for _, dirs := range terseDirections(version) {
			t := terseScan{version: version, fields: rest[min(1+extra, len(rest)):]}
			j, disks := t.job(dirs)
			if t.err == nil {
				row.job, row.disks = j, disks
				row.job.Name = strings.Join(rest[:1+extra], ";")
				// A whole row ends with a share, with two numbers of errors behind one, or with a description.
				end := fields[len(fields)-3:]
				row.open = !strings.HasSuffix(end[2], "%")
				number := func(s string) bool { return fiotext.ParseNum(s).OK && !strings.HasSuffix(s, "%") }
				if number(end[2]) && (!number(end[1]) || !strings.HasSuffix(end[0], "%")) {
					row.disks = disks[:max(len(disks)-1, 0)] // cut off within it; other rows may have stood behind this one
					row.lacks.Add(part.AllJobs)
				}
				return row, nil
			}
			first = cmp.Or(first, t.err)
		}
	}
	if len(rest) > 1 { // its last field may be cut, or what somebody wrote for the rest
		t := terseScan{version: version, fields: rest[1 : len(rest)-1]}
		dirs := terseDirections(version)
		if j, _ := t.job(dirs[len(dirs)-1]); t.ended && t.rated > 0 {
			j.Name = rest[0]
			row.job, row.lacks = j, t.lacks(&j)
			return row, nil
		}
	}
	return row, first
}

// lacks says what a row lacks that ends too early.
func (t *terseScan) lacks(j *fio.Job) (m part.Missing) {
	m.Add(part.AllJobs, part.Ending, part.DiskStats)
	if t.rated < 2 {
		m.Add(part.AllSides)
		m.Side = "write"
	}
	for _, d := range []*fio.Direction{&j.Read, &j.Write} {
		switch n := len(d.Clat.Percentiles); {
		case d.Bytes == 0:
		case d.Clat.Mean == 0:
			m.Add(part.Latencies)
		case n > 0 && d.Clat.Percentiles[n-1].P < tersePercentile:
			m.Add(part.Tail)
			m.After = d.Clat.Percentiles[n-1].P
		}
	}
	return m
}

// tersePercentile is the last percentile that fio prints by default.
const tersePercentile = 99.99

// terseDirections lists how many directions a version prints: version 3 leaves out trim, version 2
// did in old fio.
func terseDirections(version int) []int {
	switch version {
	case 2:
		return []int{3, 2}
	case 3:
		return []int{2}
	}
	return []int{3}
}

// terseScan takes field after field; after the first that does not fit, err is set.
type terseScan struct {
	version int
	fields  []string
	taken   int
	rated   int // directions whose rates are there
	ended   bool
	err     error
}

func (t *terseScan) next() string {
	if t.err != nil {
		return ""
	}
	if t.taken++; len(t.fields) == 0 {
		t.ended = true
		t.err = fmt.Errorf("terse output ends before field %d after the name", t.taken)
		return ""
	}
	f := t.fields[0]
	t.fields = t.fields[1:]
	return f
}

func (t *terseScan) fail(field, want string) {
	if t.err == nil {
		t.err = fmt.Errorf("terse field %d after the name is %q: want %s", t.taken, field, want)
	}
}

func (t *terseScan) number() float64 {
	f := t.next()
	v, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(f), "-"), 64)
	if err != nil {
		t.fail(f, "a number")
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// exact reads a decimal number times factor, rounded once.
func (t *terseScan) exact(factor float64) float64 {
	f := strings.TrimSpace(t.next())
	n := fiotext.ParseNum(f)
	if strings.HasSuffix(f, "nan") {
		return 0
	}
	if !n.OK || n.Unit != "" {
		t.fail(f, "a number")
	}
	return n.Times(factor)
}

func (t *terseScan) count() uint64 { return uint64(min(t.number(), 1<<63)) }

func (t *terseScan) percent() float64 {
	f := t.next()
	v, ok := fiotext.ParseShare(f)
	if !ok && !strings.Contains(f, "nan") {
		t.fail(f, "percent")
	}
	return v
}

func (t *terseScan) job(directions int) (fio.Job, []fio.Disk) {
	var j fio.Job
	j.Group, j.Error = int(t.count()), int(t.count())
	all := j.Directions()
	for _, d := range all[:directions] {
		*d = t.direction()
		j.Runtime = max(j.Runtime, d.Runtime)
	}
	if t.err != nil {
		return j, nil
	}
	j.CPU = fio.CPU{
		User: t.percent(), System: t.percent(), ContextSwitches: t.count(), MajorFaults: t.count(), MinorFaults: t.count(),
	}
	for label := range strings.FieldsSeq("1 2 4 8 16 32 >=64") {
		j.Depths = append(j.Depths, fio.Share{Label: label, Value: t.percent()})
	}
	ends := []time.Duration{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}
	for i, end := range slices.Concat(ends, ends, []time.Duration{2000, 0}) {
		unit := time.Microsecond
		if i >= len(ends) {
			unit = time.Millisecond
		}
		if share := t.percent(); share > 0 {
			j.Buckets = append(j.Buckets, fio.Bucket{Upto: end * unit, Value: share})
		}
	}
	if t.err != nil {
		j.Depths, j.Buckets = nil, nil
		return j, nil
	}
	disks := t.disks()
	if len(t.fields) >= 2 && isWhole(t.fields[0]) && isWhole(t.fields[1]) { // continue_on_error
		j.TotalErrors, j.FirstError = t.count(), int(t.count())
	}
	if t.err == nil && len(t.fields) > 0 {
		j.Options = fio.Options{"description": strings.Join(t.fields, ";")}
	}
	return j, disks
}

func isWhole(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

func (t *terseScan) direction() (d fio.Direction) {
	d.Bytes = units.Bytes(t.count()) * units.KiB
	bw := t.number()
	d.IOPS = units.IOPS(t.number())
	d.Runtime = fio.Duration(t.number(), time.Millisecond)
	if t.err != nil {
		return fio.Direction{}
	}
	t.rated++
	sec := d.Runtime.Seconds()
	d.N = uint64(math.Round(float64(d.IOPS) * sec))
	d.BW = units.Rate(bw * 1024)
	if better := float64(d.Bytes) / sec; sec > 0 && math.Abs(better-float64(d.BW)) <= 1024 {
		d.BW = units.Rate(better)
	}
	d.Slat = t.latency()
	d.Clat = t.latency()
	for range 20 {
		f := t.next()
		p, v, ok := strings.Cut(f, "%=")
		at, n := fiotext.ParseNum(p), fiotext.ParseNum(v)
		if !ok || !at.OK || !n.OK || at.Unit+n.Unit != "" {
			t.fail(f, "such as 99.00%=6112")
		}
		if at.Mant > 0 {
			d.Clat.Percentiles = append(d.Clat.Percentiles,
				fio.Percentile{P: at.Times(1), Value: fio.Duration(n.Times(1), time.Microsecond)})
		}
	}
	d.Lat = t.latency()
	s := &d.BWSamples
	s.Min, s.Max = t.number()*1024, t.number()*1024
	s.Share = t.percent()
	s.Mean, s.StdDev = t.exact(1024), t.exact(1024)
	if t.version >= 5 {
		s.N = t.count()
		s = &d.IOPSSamples
		*s = fio.Samples{Min: t.number(), Max: t.number(), Mean: t.number(), StdDev: t.number(), N: t.count()}
	}
	if t.err != nil {
		d.BWSamples, d.IOPSSamples = fio.Samples{}, fio.Samples{}
	}
	d.SettleCounts()
	return d
}

func (t *terseScan) latency() fio.Latency {
	l := fio.Latency{
		Min:    fio.Duration(t.number(), time.Microsecond),
		Max:    fio.Duration(t.number(), time.Microsecond),
		Mean:   t.exact(1000),
		StdDev: t.exact(1000),
	}
	if t.err != nil {
		return fio.Latency{}
	}
	return l
}

// disks reads groups of nine fields: name, ios, merges, ticks, queue, utilisation.
func (t *terseScan) disks() (list []fio.Disk) {
	for len(t.fields) >= 9 && strings.HasSuffix(t.fields[8], "%") && isWhole(t.fields[1]) && len(list) < terseMaxDisk {
		list = append(list, fio.Disk{
			Name:        t.next(),
			Reads:       t.count(),
			Writes:      t.count(),
			ReadMerges:  t.count(),
			WriteMerges: t.count(),
			ReadTicks:   t.count(),
			WriteTicks:  t.count(),
			InQueue:     t.count(),
			Util:        t.percent(),
		})
	}
	return list
}
