package output

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/fio"
	fiotext "plimsoll/internal/fio/text"
	"plimsoll/internal/units"
)

// What one document may hold: rows, of which fio itself has 4,096 a host, disks, and options of a row,
// of which fio knows fewer than 300. A row takes 2 KB in memory, and those of fio 1 to 30 KB in a
// document: of more than fewRows, each must take leastRow bytes, so that memory grows with the
// document and no faster. The same holds of documents.
const (
	maxJSONJobs = 1 << 16
	maxDisks    = 4096
	maxOptions  = 512
	fewRows     = 512
	leastRow    = 512
)

// tooSmall says of rows that take so many bytes together that they cannot be fio's.
func tooSmall(rows, size int) bool { return rows > fewRows && size/rows < leastRow }

// ParseJSON reads one complete JSON or JSON+ document of fio 2.0 or later: microseconds and KiB
// before 2.99, nanoseconds and bytes since. White space around it is allowed, other text is not
// (see Splitter).
func ParseJSON(doc []byte) (*fio.Output, error) {
	out, n, err := parseJSONPrefix(doc)
	if err != nil {
		return nil, err
	}
	s := jsonScan{b: doc, i: n}
	if s.peek(); s.i < len(doc) {
		s.fail("nothing after the document")
		return nil, s.err
	}
	return out, nil
}

// errNotFio is returned for JSON that has none of the keys by which fio's documents are known.
var errNotFio = errors.New(`json without "jobs" or "client_stats": not written by fio`)

// parseJSONPrefix reads the document at the start of b and says how many bytes it took. With an
// error it returns what was whole before it, or nil.
func parseJSONPrefix(b []byte) (*fio.Output, int, error) {
	p := jsonParser{jsonScan: jsonScan{b: b}, out: &fio.Output{Format: fio.JSON}}
	known := false
	p.object(func(key []byte) {
		switch string(key) {
		case "fio version":
			p.out.Version = p.text()
		case "timestamp":
			if sec := p.count(); p.out.Time.IsZero() && sec < 1<<40 {
				p.out.Time = time.Unix(int64(sec), 0).UTC()
			}
		case "timestamp_ms":
			if ms := p.count(); ms < 1<<50 {
				p.out.Time = time.UnixMilli(int64(ms)).UTC()
			}
		case "global options":
			p.globals()
		case "jobs", "client_stats":
			known = true
			p.array(p.job)
		case "disk_util":
			p.array(func() {
				if p.out.Disks = append(p.out.Disks, p.disk()); len(p.out.Disks) > maxDisks {
					p.fail(fmt.Sprintf("at most %d disks", maxDisks))
				}
			})
		default:
			p.skip()
		}
	})
	if p.err == nil && !known {
		return nil, 0, errNotFio
	}
	if !known {
		return nil, 0, p.err
	}
	for _, at := range p.strayAt {
		line, _, _ := strings.Cut(string(b[at:min(at+300, len(b))]), "\n")
		p.out.Messages = append(p.out.Messages, strings.ToValidUTF8(strings.TrimRight(line, "\r"), "\uFFFD"))
	}
	if p.nans > 0 {
		p.out.Doubt("%d figures are nan or inf; taken as not measured", p.nans)
	}
	fiotext.MarkMembers(p.out.Disks)
	return p.out, p.i, p.err
}

type jsonParser struct {
	jsonScan
	out  *fio.Output
	rows int
}

// time reads a figure in unit.
func (p *jsonParser) time(unit time.Duration) time.Duration { return fio.Duration(p.number(), unit) }

func (p *jsonParser) options() fio.Options {
	o := fio.Options{}
	p.object(func(key []byte) {
		if o[strings.ToValidUTF8(string(key), "\uFFFD")] = p.text(); len(o) > maxOptions {
			p.fail(fmt.Sprintf("at most %d options", maxOptions))
		}
	})
	return o
}

// globals reads an object, or since 3.39 a list of them, one a client.
func (p *jsonParser) globals() {
	if p.peek() != '[' {
		p.out.Global = p.options()
		return
	}
	differ := map[string]bool{}
	p.array(func() {
		for k, v := range p.options() {
			if old, ok := p.out.Global[k]; ok && old != v {
				differ[k] = true
				continue
			}
			if p.out.Global == nil {
				p.out.Global = fio.Options{}
			}
			p.out.Global[k] = v
		}
	})
	for k := range differ {
		p.out.Doubt("global option %s differs between clients; the first client's is kept", k)
	}
	slices.Sort(p.out.Doubts)
}

// job reads one element of jobs or client_stats.
func (p *jsonParser) job() {
	switch p.rows++; {
	case p.rows > maxJSONJobs:
		p.fail(fmt.Sprintf("at most %d jobs", maxJSONJobs))
		return
	case tooSmall(p.rows, p.i):
		p.fail(fmt.Sprintf("rows as fio writes them: these take less than %d bytes each", leastRow))
		return
	}
	var (
		j          fio.Job
		named      bool
		coarse     [3][]fio.Bucket // ns, us, ms
		tgt        fio.Target
		rawTarget  uint64
		nanosecond bool
		dirs       [3]jsonDir
	)
	p.object(func(key []byte) {
		switch string(key) {
		case "jobname":
			j.Name, named = p.text(), true
		case "groupid":
			j.Group = int(int32(p.number()))
		case "error":
			j.Error = int(int32(p.number()))
		case "hostname":
			j.Host = p.text()
		case "elapsed":
			j.Elapsed = p.time(time.Second)
		case "job_runtime":
			j.TotalRuntime = p.time(time.Millisecond)
		case "job_start":
			if ms := p.count(); ms < 1<<50 && ms > 0 {
				j.Start = time.UnixMilli(int64(ms)).UTC()
			}
		case "job options":
			j.Options = p.options()
		case "read", "write", "trim":
			dirs[slices.Index(fio.DirectionNames[:], string(key))] = p.direction()
		case "mixed":
			mixed := p.direction().settle()
			j.Mixed = &mixed
		case "total_err":
			j.TotalErrors = p.count()
		case "first_error":
			j.FirstError = int(int32(p.number()))
		case "sync":
			p.sync(&j)
		case "usr_cpu":
			j.CPU.User = p.percent()
		case "sys_cpu":
			j.CPU.System = p.percent()
		case "ctx":
			j.CPU.ContextSwitches = p.count()
		case "majf":
			j.CPU.MajorFaults = p.count()
		case "minf":
			j.CPU.MinorFaults = p.count()
		case "iodepth_level":
			j.Depths = p.shares()
		case "iodepth_submit":
			j.Submit = p.shares()
		case "iodepth_complete":
			j.Complete = p.shares()
		case "latency_ns":
			coarse[0], nanosecond = p.buckets(time.Nanosecond), true
		case "latency_us":
			coarse[1] = p.buckets(time.Microsecond)
		case "latency_ms":
			coarse[2] = p.buckets(time.Millisecond)
		case "latency_depth":
			tgt.Depth = int(int32(p.number()))
		case "latency_target":
			rawTarget, j.Target = p.count(), &tgt
		case "latency_percentile":
			tgt.Percentile = p.number()
		case "latency_window":
			tgt.Window = p.time(time.Microsecond)
		default:
			p.skip()
		}
	})
	if p.err != nil {
		return
	}
	if !named {
		unread(p.out, p.line(p.i), "an element of jobs", "without jobname")
		return
	}
	j.Buckets = slices.Concat(coarse[0], coarse[1], coarse[2])
	for i, d := range j.Directions() {
		*d = dirs[i].settle()
		j.Runtime = max(j.Runtime, d.Runtime)
	}
	if j.Mixed != nil {
		j.Runtime = max(j.Runtime, j.Mixed.Runtime)
	}
	if j.Target != nil {
		unit := time.Microsecond // nanoseconds since 2.99, as the bins are
		if nanosecond {
			unit = time.Nanosecond
		}
		tgt.Target = fio.Duration(float64(rawTarget), unit)
	}
	if j.Name == "All clients" {
		p.out.AllClients = &j
		return
	}
	p.out.Jobs = append(p.out.Jobs, j)
}

// jsonDir is a direction as written, before units that depend on other keys are settled.
type jsonDir struct {
	fio.Direction
	ios, bw, bwBytes     uint64 // io_bytes, bw, bw_bytes
	exact                bool   // it has bw_bytes or io_kbytes, which came when io_bytes became bytes
	hasBWBytes, hasTotal bool
}

func (p *jsonParser) direction() jsonDir {
	var d jsonDir
	p.object(func(key []byte) {
		switch string(key) {
		case "io_bytes":
			d.ios = p.count()
		case "io_kbytes":
			d.exact = true
			p.skip()
		case "bw":
			d.bw = p.count()
		case "bw_bytes":
			d.bwBytes, d.hasBWBytes, d.exact = p.count(), true, true
		case "iops":
			d.IOPS = units.IOPS(p.number())
		case "runtime":
			d.Runtime = p.time(time.Millisecond)
		case "total_ios":
			d.N, d.hasTotal = p.count(), true
		case "short_ios":
			d.Short = p.count()
		case "drop_ios":
			d.Dropped = p.count()
		case "slat_ns":
			d.Slat = p.latency(time.Nanosecond)
		case "clat_ns":
			d.Clat = p.latency(time.Nanosecond)
		case "lat_ns":
			d.Lat = p.latency(time.Nanosecond)
		case "slat":
			d.Slat = p.latency(time.Microsecond)
		case "clat":
			d.Clat = p.latency(time.Microsecond)
		case "lat":
			d.Lat = p.latency(time.Microsecond)
		case "bw_min":
			d.BWSamples.Min = p.number() * 1024
		case "bw_max":
			d.BWSamples.Max = p.number() * 1024
		case "bw_mean":
			d.BWSamples.Mean = p.number() * 1024
		case "bw_dev":
			d.BWSamples.StdDev = p.number() * 1024
		case "bw_agg":
			d.BWSamples.Share = p.percent()
		case "bw_samples":
			d.BWSamples.N = p.count()
		case "iops_min":
			d.IOPSSamples.Min = p.number()
		case "iops_max":
			d.IOPSSamples.Max = p.number()
		case "iops_mean":
			d.IOPSSamples.Mean = p.number()
		case "iops_stddev":
			d.IOPSSamples.StdDev = p.number()
		case "iops_samples":
			d.IOPSSamples.N = p.count()
		default:
			p.skip()
		}
	})
	return d
}

// settle works out units. Before io_kbytes came, io_bytes was in KiB; bw tells one from the other
// × runtime, which is KiB.
func (d jsonDir) settle() fio.Direction {
	sec := d.Runtime.Seconds()
	exact := d.exact
	if !exact && d.bw > 0 && sec > 0 {
		exact = float64(d.ios)/(float64(d.bw)*sec) > 32 // 1024 when in bytes, 1 when in KiB
	}
	d.Bytes = units.Bytes(d.ios)
	if !exact {
		d.Bytes = units.Bytes(d.ios) * units.KiB
	}
	switch {
	case d.hasBWBytes:
		d.BW = units.Rate(d.bwBytes)
	case exact && sec > 0 && d.ios > 0:
		d.BW = units.Rate(float64(d.Bytes) / sec)
	default:
		d.BW = units.Rate(d.bw) * 1024
	}
	if !d.hasTotal { // fio 2.0
		d.N = uint64(math.Round(float64(d.IOPS) * sec))
	}
	d.SettleCounts()
	return d.Direction
}
