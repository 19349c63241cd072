package output

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	fiotext "plimsoll/internal/fio/text"
	"plimsoll/internal/units"
)

// terseLine finds the start of a row, which fio's progress may stand in front of. Version 2 has no
// fio version in it, and 2.0 calls itself "2.0.8".
var terseLine = regexp.MustCompile(`[345];fio-[^;]*;|^3;2\.0[.\d]*;|^2;[^;]*;`)

const (
	terseMin     = 90 // fields; version 3, the shortest, has 129 without disks
	terseMaxDisk = 4096
)

// terseRow returns the row of terse output in a line, empty when there is none.
func terseRow(line string) string {
	if strings.Count(line, ";") < terseMin {
		return ""
	}
	line = ansi.ReplaceAllString(line, "")
	if at := terseLine.FindStringIndex(line); at != nil {
		return line[at[0]:]
	}
	return ""
}

// parseTerse reads one row of terse output (--minimal), version 2 to 5. Latencies have whole
// microseconds there and counts of I/Os are not printed: N is IOPS × runtime, rounded. It returns
// the version of fio, the row and the disks.
func parseTerse(line string) (string, fio.Job, []fio.Disk, error) {
	fields := strings.Split(strings.TrimRight(line, "\r\n"), ";")
	version, err := strconv.Atoi(fields[0])
	if err != nil || version < 2 || version > 5 {
		return "", fio.Job{}, nil, fmt.Errorf("terse version %q: want 2 to 5", fields[0])
	}
	release, rest := "", fields[1:]
	if len(rest) < terseMin {
		return "", fio.Job{}, nil, fmt.Errorf("terse output of %d fields: too few", len(fields))
	}
	if version > 2 {
		release, rest = "fio-"+strings.TrimPrefix(rest[0], "fio-"), rest[1:]
	}
	var first error
	for extra := range 8 { // a job's name may hold semicolons; fio does not quote them
		for _, dirs := range terseDirections(version) {
			t := terseScan{version: version, fields: rest[min(1+extra, len(rest)):]}
			j, disks := t.job(dirs)
			if t.err == nil {
				j.Name = strings.Join(rest[:1+extra], ";")
				return release, j, disks, nil
			}
			if first == nil {
				first = t.err
			}
		}
	}
	return release, fio.Job{}, nil, first
}

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
	err     error
}

func (t *terseScan) next(what string) string {
	if t.err != nil || len(t.fields) == 0 {
		if t.err == nil {
			t.err = fmt.Errorf("terse output ends before %s", what)
		}
		return ""
	}
	f := t.fields[0]
	t.fields = t.fields[1:]
	return f
}

func (t *terseScan) number(what string) float64 {
	f := t.next(what)
	if t.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(f), "-"), 64)
	if err != nil {
		t.err = fmt.Errorf("terse %s %q: want a number", what, f)
		return 0
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// exact reads a decimal number times factor, rounded once.
func (t *terseScan) exact(what string, factor float64) float64 {
	f := strings.TrimSpace(t.next(what))
	n := fiotext.ParseNum(f)
	if t.err == nil && (!n.OK || n.Unit != "") {
		if strings.HasSuffix(f, "nan") {
			return 0
		}
		t.err = fmt.Errorf("terse %s %q: want a number", what, f)
	}
	return n.Times(factor)
}

func (t *terseScan) count(what string) uint64 { return uint64(min(t.number(what), 1<<63)) }

func (t *terseScan) percent(what string) float64 {
	f := t.next(what)
	v, ok := fiotext.ParseShare(f)
	if t.err == nil && !ok && !strings.Contains(f, "nan") {
		t.err = fmt.Errorf("terse %s %q: want percent", what, f)
	}
	return v
}

func (t *terseScan) job(directions int) (fio.Job, []fio.Disk) {
	var j fio.Job
	j.Group, j.Error = int(t.count("group")), int(t.count("error"))
	for i, d := range j.Directions() {
		if i < directions {
			*d = t.direction()
			j.Runtime = max(j.Runtime, d.Runtime)
		}
	}
	j.CPU.User, j.CPU.System = t.percent("user time"), t.percent("system time")
	j.CPU.ContextSwitches, j.CPU.MajorFaults, j.CPU.MinorFaults = t.count("context switches"), t.count(
		"major faults",
	), t.count("minor faults")
	for _, label := range []string{"1", "2", "4", "8", "16", "32", ">=64"} {
		j.Depths = append(j.Depths, fio.Share{Label: label, Value: t.percent("depth")})
	}
	ends := []time.Duration{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}
	for _, end := range ends {
		addBucket(&j, end*time.Microsecond, t.percent("latency bucket"))
	}
	for _, end := range append(ends, 2000, 0) {
		addBucket(&j, end*time.Millisecond, t.percent("latency bucket"))
	}
	disks := t.disks()
	if len(t.fields) >= 2 && isWhole(t.fields[0]) && isWhole(t.fields[1]) { // continue_on_error
		j.TotalErrors, j.FirstError = t.count("errors"), int(t.count("first error"))
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

func addBucket(j *fio.Job, upto time.Duration, share float64) {
	if share > 0 {
		j.Buckets = append(j.Buckets, fio.Bucket{Upto: upto, Value: share})
	}
}

func (t *terseScan) direction() fio.Direction {
	var d fio.Direction
	d.Bytes = units.Bytes(t.count("KiB")) * units.KiB
	bw := t.number("bandwidth")
	d.IOPS = units.IOPS(t.number("iops"))
	d.Runtime = fio.Duration(t.number("runtime"), time.Millisecond)
	sec := d.Runtime.Seconds()
	d.N = uint64(math.Round(float64(d.IOPS) * sec))
	d.BW = units.Rate(bw * 1024)
	if better := float64(d.Bytes) / sec; sec > 0 && math.Abs(better-float64(d.BW)) <= 1024 {
		d.BW = units.Rate(better)
	}
	d.Slat = t.latency()
	d.Clat = t.latency()
	for range 20 {
		p, v, ok := strings.Cut(t.next("percentile"), "%=")
		at, n := fiotext.ParseNum(p), fiotext.ParseNum(v)
		if t.err == nil && (!ok || !at.OK || !n.OK || at.Unit+n.Unit != "") {
			t.err = fmt.Errorf("terse percentile %q: want such as 99.00%%=6112", p)
		}
		if at.Mant > 0 {
			d.Clat.Percentiles = append(d.Clat.Percentiles,
				fio.Percentile{P: at.Times(1), Value: fio.Duration(n.Times(1), time.Microsecond)})
		}
	}
	d.Lat = t.latency()
	s := &d.BWSamples
	s.Min, s.Max = t.number("least bandwidth")*1024, t.number("greatest bandwidth")*1024
	s.Share = t.percent("share of bandwidth")
	s.Mean, s.StdDev = t.exact("mean bandwidth", 1024), t.exact("deviation of bandwidth", 1024)
	if t.version >= 5 {
		s.N = t.count("samples")
		s = &d.IOPSSamples
		s.Min, s.Max = t.number("least iops"), t.number("greatest iops")
		s.Mean, s.StdDev = t.number("mean iops"), t.number("deviation of iops")
		s.N = t.count("samples")
	}
	for _, l := range []*fio.Latency{&d.Slat, &d.Clat, &d.Lat} {
		l.SettleCount(d.N)
	}
	return d
}

func (t *terseScan) latency() fio.Latency {
	return fio.Latency{
		Min:    fio.Duration(t.number("least latency"), time.Microsecond),
		Max:    fio.Duration(t.number("greatest latency"), time.Microsecond),
		Mean:   t.exact("mean latency", 1000),
		StdDev: t.exact("deviation of latency", 1000),
	}
}

// disks reads groups of nine fields: name, ios, merges, ticks, queue, utilisation.
func (t *terseScan) disks() []fio.Disk {
	var list []fio.Disk
	for len(t.fields) >= 9 && strings.HasSuffix(t.fields[8], "%") && isWhole(t.fields[1]) && len(list) < terseMaxDisk {
		list = append(list, fio.Disk{
			Name:        t.next("disk"),
			Reads:       t.count("reads"),
			Writes:      t.count("writes"),
			ReadMerges:  t.count("merges"),
			WriteMerges: t.count("merges"),
			ReadTicks:   t.count("ticks"),
			WriteTicks:  t.count("ticks"),
			InQueue:     t.count("queue"),
			Util:        t.percent("utilisation"),
		})
	}
	return list
}
