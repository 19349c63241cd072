package foreign

import (
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

var (
	yabsHead  = regexp.MustCompile(`^fio Disk Speed Tests\b`)
	yabsSizes = regexp.MustCompile(`^Block Size \|((?: *\d+[km] +\(IOPS\) *\|?){1,4})$`)
	yabsSize  = regexp.MustCompile(`(\d+[km]) +\(IOPS\)`)
	yabsSide  = regexp.MustCompile(`^(Read|Write) +\|(.*)$`)
	yabsRate  = regexp.MustCompile(`^ *(\d+(?:\.\d+)?) (KB|MB|GB)/s +\((\d+(?:\.\d+)?k?)\) *$`)
)

// yabs reads the tables of yabs.sh: one mixed job for each block size. Its figures are fio's KiB/s,
// of which it calls 1,000 a MB (63.83 MB/s beside 997 IOPS of 64 KiB are 63,830 KiB/s), so that IOPS
// follow from the rate more exactly than they are printed.
func yabs(p *page) (outs []*fio.Output) {
	within, sizes, at := false, []string(nil), 0
	var jobs []fio.Job
	flush := func(end int) {
		for _, j := range jobs {
			if !figures(j) || len(outs) >= most {
				continue
			}
			o := made("yabs", "", at, end, j)
			o.Summary = true
			o.Doubts = append(o.Doubts, silent("yabs", "latencies, how long its jobs ran, or whether I/O was direct: "+
				"the options of its script are taken (two jobs on one file of 2 GiB, on ARM of 512 MiB, for 30 s at most)"))
			outs = append(outs, o)
			p.take(at, end)
		}
		jobs, sizes = nil, nil
	}
	for i, line := range p.lines {
		if yabsHead.MatchString(line) {
			within = true
			continue
		}
		if m := yabsSizes.FindStringSubmatch(line); m != nil && within {
			flush(i - 1)
			at = i
			for _, size := range yabsSize.FindAllStringSubmatch(m[1], -1) {
				sizes, jobs = append(sizes, size[1]), append(jobs, yabsJob(size[1]))
			}
			continue
		}
		m := yabsSide.FindStringSubmatch(line)
		if m == nil || len(sizes) == 0 {
			continue
		}
		for column, cell := range strings.Split(m[2], "|") {
			if column == len(sizes) {
				break
			}
			d := yabsFigure(cell, sizes[column])
			if m[1] == "Write" {
				jobs[column].Write = d
			} else {
				jobs[column].Read = d
			}
		}
		if m[1] == "Write" {
			flush(i)
		}
	}
	return outs
}

// yabsJob is a job of yabs.sh, by its script of 2025-11.
func yabsJob(bs string) fio.Job {
	return fio.Job{Name: "rand-rw-" + bs, Options: fio.Options{
		"rw": "randrw", "rwmixread": "50", "bs": bs, "ioengine": "libaio", "iodepth": "64", "numjobs": "2",
		"direct": "1",
	}, Count: 2}
}

func yabsFigure(cell, bs string) fio.Direction {
	m := yabsRate.FindStringSubmatch(cell)
	block := float64(size(bs))
	if m == nil || block == 0 {
		return fio.Direction{}
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return fio.Direction{}
	}
	bw := value * 1024 * map[string]float64{"KB": 1, "MB": 1e3, "GB": 1e6}[m[2]]
	return direction(bw/block, units.Rate(bw), 0)
}
