package foreign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

var (
	kubestrAlong = regexp.MustCompile(`^Global options - (.*)$`)
	kubestrFio   = regexp.MustCompile(`^FIO version - (fio-\S+)$`)
	kubestrJob   = regexp.MustCompile(`^JobName: (\S.{0,80})$`)
	kubestrWith  = regexp.MustCompile(`^blocksize=(\S+) +filesize=(\S*) +iodepth=(\d{1,6}) +rw=(\w+)$`)
	kubestrSide  = regexp.MustCompile(`^(read|write):$`)
	kubestrRate  = regexp.MustCompile(`^IOPS=([\d.]+) +BW\(KiB/s\)=(\d+)$`)
	kubestrEach  = regexp.MustCompile(`^(iops|bw\(KiB/s\)): +min=(\d+) +max=(\d+) +avg=([\d.]+)$`)
	kubestrDisk  = regexp.MustCompile(`^(\w[\w.-]*): ios=(\d+)/(\d+),? merge=(\d+)/(\d+),? ticks=(\d+)/(\d+),?` +
		` in_queue=(\d+), util=([\d.]+)%$`)
)

// kubestr reads what `kubestr fio` prints of fio's figures.
func kubestr(p *page) (outs []*fio.Output) {
	for i := 0; i < len(p.lines) && len(outs) < most; i++ {
		if kubestrJob.MatchString(p.lines[i]) {
			o, end := kubestrRun(p, i)
			if o != nil {
				outs = append(outs, kubestrApart(o)...)
				p.take(i, end)
			}
			i = end
		}
	}
	return outs
}

// kubestrRun reads the jobs of one run from its first one on, up to the line end.
func kubestrRun(p *page, from int) (o *fio.Output, end int) {
	o = made("kubestr", "", from, from)
	o.Global = fio.Options{}
	for i := from - 1; i >= max(0, from-4); i-- {
		if m := kubestrAlong.FindStringSubmatch(p.lines[i]); m != nil {
			for word := range strings.FieldsSeq(m[1]) {
				if key, value, ok := strings.Cut(word, "="); ok && value != "" {
					o.Global[key] = value
				}
			}
		}
		if m := kubestrFio.FindStringSubmatch(p.lines[i]); m != nil {
			o.Version = "kubestr " + m[1]
		}
	}
	var j *fio.Job
	var d *fio.Direction
	end = from
	for i := from; i < len(p.lines) && i <= end+kubestrGap; i++ {
		line := p.lines[i]
		if m := kubestrJob.FindStringSubmatch(line); m != nil && len(o.Jobs) < most {
			o.Jobs = append(o.Jobs, fio.Job{Name: m[1], Options: maps.Clone(o.Global), Count: 1})
			j, d, end = &o.Jobs[len(o.Jobs)-1], nil, i
		} else if kubestrLine(o, j, &d, line) {
			end = i
		}
		if strings.HasPrefix(line, "Running FIO test") {
			break
		}
	}
	o.End = end + 1
	known := false
	for _, j := range o.Jobs {
		if j.Options["ioengine"] == "" { // the line with the global options was not quoted
			kubestrEngine(j)
		}
		known = known || j.Read.IOPS+j.Write.IOPS > 0
	}
	if !known {
		return nil, end
	}
	return o, end
}

// kubestrOwn are the jobs of kubestr's own test, which are of libaio with direct=1 (its pkg/fio/fio_jobs.go).
func kubestrOwn() []string { return []string{"read_iops", "write_iops", "read_bw", "write_bw"} }

// kubestrEngine gives a job of kubestr's own test the engine of that; of another job without an engine nothing is
// known, so its depth, which fio's default engine would ignore, is not asked for.
func kubestrEngine(j fio.Job) {
	if slices.Contains(kubestrOwn(), j.Name) {
		j.Options["ioengine"], j.Options["direct"] = "libaio", "1"
		return
	}
	delete(j.Options, "iodepth")
}

// kubestrGap is how many lines may lie between those of one run.
const kubestrGap = 4

// kubestrLine puts one line into a job or an output, false where it is none of theirs.
func kubestrLine(o *fio.Output, j *fio.Job, d **fio.Direction, line string) bool {
	if m := kubestrDisk.FindStringSubmatch(line); m != nil && len(o.Disks) < most {
		o.Disks = append(o.Disks, fio.Disk{
			Name: m[1], Reads: uint64(number(m[2])), Writes: uint64(number(m[3])),
			ReadMerges: uint64(number(m[4])), WriteMerges: uint64(number(m[5])),
			ReadTicks: uint64(number(m[6])), WriteTicks: uint64(number(m[7])), InQueue: uint64(number(m[8])),
			Util: min(1, number(m[9])/100),
		})
		return true
	}
	if m := kubestrWith.FindStringSubmatch(line); m != nil {
		for n, key := range []string{"bs", "size", "iodepth", "rw"} {
			if m[n+1] != "" {
				j.Options[key] = m[n+1]
			}
		}
		return true
	}
	if m := kubestrSide.FindStringSubmatch(line); m != nil {
		*d = &j.Read
		if m[1] == "write" {
			*d = &j.Write
		}
		return true
	}
	if *d == nil {
		return false
	}
	if m := kubestrRate.FindStringSubmatch(line); m != nil {
		(*d).IOPS, (*d).BW = units.IOPS(number(m[1])), units.Rate(number(m[2])*1024)
		return true
	}
	if m := kubestrEach.FindStringSubmatch(line); m != nil {
		s, k := &(*d).IOPSSamples, 1.0
		if m[1] != "iops" {
			s, k = &(*d).BWSamples, 1024
		}
		s.Min, s.Max, s.Mean = number(m[2])*k, number(m[3])*k, number(m[4])*k
		return true
	}
	return false
}

// kubestrApart makes results of a run's jobs. Those of kubestr's own test ran at the same time, since
// its job file has no stonewall; of others this is not known.
func kubestrApart(o *fio.Output) []*fio.Output {
	const figures = "latencies, how long its jobs ran, or how many I/Os they made"
	names := make([]string, len(o.Jobs))
	for i, j := range o.Jobs {
		names[i] = j.Name
	}
	if slices.Equal(names, kubestrOwn()) {
		o.Title = "default-fio"
		o.Doubts = append(o.Doubts, silent("kubestr", figures), "the four jobs of kubestr's own test run at the same time "+
			"(its job file has no stonewall): the figures of one are what the others left it, with 256 I/Os in flight in all")
		return []*fio.Output{o}
	}
	var outs []*fio.Output
	for _, j := range o.Jobs {
		own := *o
		own.Jobs = []fio.Job{j}
		own.Doubts = append(own.Doubts, silent("kubestr", figures))
		if len(o.Jobs) > 1 {
			own.Disks = nil
			own.Doubts = append(own.Doubts, fmt.Sprintf("whether the %d jobs of this run ran at the same time kubestr does "+
				"not say: they stand apart", len(o.Jobs)))
		}
		outs = append(outs, &own)
	}
	return outs
}

var (
	dbenchIOPS = regexp.MustCompile(`^(Random|Mixed Random) Read/Write IOPS: *([\d.,]+k?) */ *([\d.,]+k?)` +
		`(?:\. *BW: *([\d.]+ ?\w+/s) */ *([\d.]+ ?\w+/s))?$`)
	dbenchBW   = regexp.MustCompile(`^Sequential Read/Write: *([\d.]+ ?\w+/s) */ *([\d.]+ ?\w+/s)$`)
	dbenchTime = regexp.MustCompile(`^Average Latency(?: \((\w+)\))? Read/Write: *([\d.]+)(?:\((\w+)\))? */ *([\d.]+)(?:\((\w+)\))?$`)
)

// dbench reads the summary of dbench for Kubernetes. Each of its figures is of a job of its own, of
// 15 s; only the mixed ones are of one.
func dbench(p *page) (outs []*fio.Output) {
	for i, line := range p.lines {
		var jobs []fio.Job
		if m := dbenchIOPS.FindStringSubmatch(line); m != nil {
			r, w := direction(number(m[2]), 0, 0), direction(number(m[3]), 0, 0)
			if m[1] != "Random" {
				jobs = append(jobs, dbenchJob("mixed-random", "randrw", "4k", "64", r, w))
			} else {
				jobs = append(jobs, dbenchJob("random-read", "randread", "4k", "64", r, fio.Direction{}),
					dbenchJob("random-write", "randwrite", "4k", "64", fio.Direction{}, w))
			}
			if m[4] != "" {
				jobs = append(jobs,
					dbenchJob("random-read-bw", "randread", "128k", "64", direction(0, rate(m[4]), 0), fio.Direction{}),
					dbenchJob("random-write-bw", "randwrite", "128k", "64", fio.Direction{}, direction(0, rate(m[5]), 0)))
			}
		} else if m := dbenchBW.FindStringSubmatch(line); m != nil {
			jobs = append(jobs, dbenchJob("sequential-read", "read", "1m", "16", direction(0, rate(m[1]), 0), fio.Direction{}),
				dbenchJob("sequential-write", "write", "1m", "16", fio.Direction{}, direction(0, rate(m[2]), 0)))
			jobs[0].Options["numjobs"], jobs[1].Options["numjobs"] = "4", "4"
		} else if m := dbenchTime.FindStringSubmatch(line); m != nil {
			jobs = append(jobs, dbenchJob("latency-read", "randread", "4k", "4", meanOf(m[2], m[1]+m[3]), fio.Direction{}),
				dbenchJob("latency-write", "randwrite", "4k", "4", fio.Direction{}, meanOf(m[4], m[1]+m[5])))
		}
		for _, j := range jobs {
			if o := made("dbench", "", i, i, j); figures(j) && len(outs) < most {
				o.Summary = true
				o.Doubts = append(o.Doubts, silent("dbench", "block sizes, depths, or whether I/O was direct: those of its "+
					"script are taken"))
				outs = append(outs, o)
				p.take(i, i)
			}
		}
	}
	return outs
}

// dbenchJob is a job of dbench's script with the figures of its summary.
func dbenchJob(name, rw, bs, depth string, r, w fio.Direction) fio.Job {
	options := fio.Options{"rw": rw, "bs": bs, "iodepth": depth, "ioengine": "libaio", "size": "2g"}
	if rw == "randrw" {
		options["rwmixread"] = "75"
	}
	block := float64(size(bs))
	for _, d := range []*fio.Direction{&r, &w} {
		switch {
		case d.IOPS > 0:
			d.BW = units.Rate(float64(d.IOPS) * block)
		case d.BW > 0:
			d.IOPS = units.IOPS(float64(d.BW) / block)
		}
	}
	return fio.Job{Name: name, Options: options, Read: r, Write: w}
}

// meanOf is a direction of which only the mean latency is known.
func meanOf(value, unit string) fio.Direction {
	word := map[string]string{"usec": "us", "us": "us", "msec": "ms", "ms": "ms", "nsec": "ns", "ns": "ns"}[unit]
	if word == "" {
		return fio.Direction{}
	}
	return fio.Direction{Clat: fio.Latency{Mean: float64(took(value + word))}}
}

// figures says that a job has a rate or a latency.
func figures(j fio.Job) bool {
	for _, d := range j.Directions() {
		if d.IOPS > 0 || d.BW > 0 || d.Clat.Mean > 0 {
			return true
		}
	}
	return false
}

var (
	kbenchHead  = regexp.MustCompile(`^(IOPS|Bandwidth in KiB/sec|Latency in ns) \(Read/Write\)$`)
	kbenchRow   = regexp.MustCompile(`^(Random|Sequential): +(\d[\d,]* / \d[\d,]*(?: +vs +\d[\d,]* / \d[\d,]*)?)(?: +:.*)?$`)
	kbenchPair  = regexp.MustCompile(`(\d[\d,]*) / (\d[\d,]*)`)
	kbenchNames = regexp.MustCompile(`^For: +(\S{1,60})(?: vs (\S{1,60}))?$`)
)

// kbench reads the summary of kbench, Longhorn's: each figure is of a job of its own, in one column for
// each volume that is compared.
func kbench(p *page) (outs []*fio.Output) {
	what, names := "", []string{"", ""}
	for i, line := range p.lines {
		if m := kbenchNames.FindStringSubmatch(line); m != nil {
			names = m[1:]
		}
		if m := kbenchHead.FindStringSubmatch(line); m != nil {
			what = m[1]
			continue
		}
		row := kbenchRow.FindStringSubmatch(line)
		if row == nil || what == "" {
			continue
		}
		for column, pair := range kbenchPair.FindAllStringSubmatch(row[2], 2) {
			for side, value := range pair[1:] {
				o := made("kbench", names[column], i, i, kbenchJob(what, row[1], side == 1, value))
				if !figures(o.Jobs[0]) || len(outs) >= most {
					continue
				}
				o.Summary = true
				o.Doubts = append(o.Doubts, silent("kbench", "block sizes, depths, or whether I/O was direct"))
				outs = append(outs, o)
				p.take(i, i)
			}
		}
	}
	return outs
}

// kbenchJob is a figure of a table with the job that it is of.
func kbenchJob(what, order string, write bool, value string) fio.Job {
	var d fio.Direction
	switch what {
	case "IOPS":
		d = direction(number(value), 0, 0)
	case "Latency in ns":
		d = meanOf(strings.ReplaceAll(value, ",", ""), "ns")
	default:
		d = direction(0, units.Rate(number(value)*1024), 0)
	}
	rw, j := "read", fio.Job{Read: d}
	if write {
		rw, j = "write", fio.Job{Write: d}
	}
	name := strings.ToLower(order) + "-" + rw + "-" + strings.ToLower(strings.Fields(what)[0])
	if order == "Random" {
		rw = "rand" + rw
	}
	j.Name, j.Options = name, fio.Options{"rw": rw}
	return j
}
