package foreign

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

var (
	sysbenchHead = regexp.MustCompile(`^sysbench (\d[\w.]*)`)
	// sysbenchSays are the options that sysbench repeats, sysbenchGot its figures: of 1.0, and behind
	// them those of 0.4 and 0.5.
	sysbenchSays = map[string]*regexp.Regexp{
		"threads": regexp.MustCompile(`^Number of threads: (\d{1,6})$`),
		"flags":   regexp.MustCompile(`^Extra file open flags: (.+)$`),
		"total":   regexp.MustCompile(`^([\d.]+ ?[KMGT]?i?[Bb]) total file size$`),
		"block":   regexp.MustCompile(`^Block size ([\d.]+ ?[KMGT]?i?[Bb])$`),
		"ratio":   regexp.MustCompile(`^Read/Write ratio for combined random IO test: ([\d.]+)$`),
		"each":    regexp.MustCompile(`^Calling fsync\(\) (after each write) operation`),
		"mode":    regexp.MustCompile(`^Using (\w+|fast mmaped|slow mmaped) I/O mode$`),
		"order":   regexp.MustCompile(`^Doing (random|sequential) (?:read|write|rewrite|r/w)\b.* test$`),
		"what":    regexp.MustCompile(`^Doing (?:random|sequential) (read|write|rewrite|r/w)(?: .*)? test$`),
	}
	sysbenchGot = map[string]*regexp.Regexp{
		"reads":   regexp.MustCompile(`^reads/s: +([\d.]+)$`),
		"writes":  regexp.MustCompile(`^writes/s: +([\d.]+)$`),
		"syncs":   regexp.MustCompile(`^fsyncs/s: +([\d.]+)$`),
		"read":    regexp.MustCompile(`^read, MiB/s: +([\d.]+)$`),
		"written": regexp.MustCompile(`^written, MiB/s: +([\d.]+)$`),
		"did":     regexp.MustCompile(`^Operations performed: +(\d+) [Rr]eads?, +\d+ [Ww]rites?,`),
		"wrote":   regexp.MustCompile(`^Operations performed: +\d+ [Rr]eads?, +(\d+) [Ww]rites?,`),
		"time":    regexp.MustCompile(`^total time: +([\d.]+s)$`),
		"events":  regexp.MustCompile(`^total number of events: +(\d+)$`),
		"min":     regexp.MustCompile(`^min: +([\d.]+)(?:ms)?$`),
		"avg":     regexp.MustCompile(`^avg: +([\d.]+)(?:ms)?$`),
		"max":     regexp.MustCompile(`^max: +([\d.]+)(?:ms)?$`),
		"sum":     regexp.MustCompile(`^sum: +([\d.]+)$`),
		"p":       regexp.MustCompile(`^(?:approx\. +)?(\d{1,2})(?:th)? percentile: +[\d.]+(?:ms)?$`),
		"pvalue":  regexp.MustCompile(`^(?:approx\. +)?\d{1,2}(?:th)? percentile: +([\d.]+)(?:ms)?$`),
	}
)

// sysbench reads what `sysbench fileio run` prints, of 0.4 to 1.0: a paragraph of options, and figures
// up to the fairness of its threads. Tests of CPU, memory and databases print no such figures.
func sysbench(p *page) (outs []*fio.Output) {
	version, said, got, from := "sysbench", map[string]string{}, map[string]string{}, 0
	for i, line := range p.lines {
		if m := sysbenchHead.FindStringSubmatch(line); m != nil {
			version, said, got, from = "sysbench "+strings.TrimRight(m[1], ":"), map[string]string{}, map[string]string{}, i
		}
		match(sysbenchSays, line, said)
		match(sysbenchGot, line, got)
		if !strings.HasPrefix(line, "execution time (avg/stddev):") {
			continue
		}
		if o := fileio(version, said, got, from, i); o != nil && len(outs) < most {
			outs = append(outs, o)
			p.take(from, i)
		}
		said, got, from = map[string]string{}, map[string]string{}, i+1
	}
	return outs
}

// match keeps the first part of each pattern that a line matches.
func match(patterns map[string]*regexp.Regexp, line string, into map[string]string) {
	for key, pattern := range patterns {
		if m := pattern.FindStringSubmatch(line); m != nil {
			into[key] = m[1]
		}
	}
}

// fileio makes an output of what one run said and got; nil where it holds no rate.
func fileio(version string, said, got map[string]string, from, to int) *fio.Output {
	ran, j := took(got["time"]), fio.Job{Options: sysbenchJob(said)}
	reads, writes := number(got["reads"]), number(got["writes"])
	readBW, writeBW := mib(got["read"]), mib(got["written"])
	if got["did"] != "" && ran > 0 {
		reads, writes = number(got["did"])/ran.Seconds(), number(got["wrote"])/ran.Seconds()
		bs := size(said["block"])
		readBW, writeBW = units.Rate(reads*float64(bs)), units.Rate(writes*float64(bs))
	}
	if reads+writes <= 0 {
		return nil
	}
	j.Read, j.Write = direction(reads, readBW, ran), direction(writes, writeBW, ran)
	j.Name = "fileio-" + cmp.Or(j.Options["rw"], "unknown")
	j.Runtime, j.Count = ran, max(1, int(number(said["threads"])))
	o := made(version, "", from, to)
	o.Doubts = append(o.Doubts, silent("sysbench", "CPU, disk statistics, the kernel's depth or a median"))
	if doubt := sysbenchLatency(&j, got, j.Options["ioengine"] == "libaio"); doubt != "" {
		o.Doubts = append(o.Doubts, doubt)
	}
	if j.Options["ioengine"] == "libaio" {
		o.Doubts = append(o.Doubts, "sysbench does not print --file-async-backlog: its default of 128 is taken for the depth")
	}
	o.Jobs = []fio.Job{j}
	return o
}

func mib(s string) units.Rate { return units.Rate(number(s) * (1 << 20)) }

// sysbenchJob says in fio's words what a test asked for.
func sysbenchJob(said map[string]string) fio.Options {
	options := fio.Options{"iodepth": "1", "ioengine": "psync"}
	switch said["mode"] {
	case "asynchronous":
		options["ioengine"], options["iodepth"] = "libaio", "128"
	case "fast mmaped", "slow mmaped":
		options["ioengine"] = "mmap"
	}
	switch flags := said["flags"]; {
	case flags == "(none)", flags == "0":
		options["direct"] = "0"
	case strings.Contains(flags, "direct"), flags == "16384": // O_DIRECT of x86
		options["direct"] = "1"
	}
	if strings.Contains(said["flags"], "sync") {
		options["sync"] = "1"
	}
	if bs := size(said["block"]); bs > 0 {
		options["bs"] = strconv.FormatUint(uint64(bs), 10)
	}
	if total := size(said["total"]); total > 0 {
		options["size"] = strconv.FormatUint(uint64(total), 10)
	}
	if said["each"] != "" {
		options["fsync"] = "1"
	}
	what := said["what"]
	rw := map[string]string{"read": "read", "write": "write", "rewrite": "write", "r/w": "rw"}[what]
	if said["order"] == "random" {
		rw = "rand" + rw
	}
	if rw != "" {
		options["rw"] = rw
	}
	if ratio := number(said["ratio"]); what == "r/w" && ratio > 0 && ratio < 1e6 {
		options["rwmixread"] = strconv.Itoa(int(100*ratio/(1+ratio) + 0.5))
	}
	return options
}

// sysbenchLatency gives the latency to the direction that it is of, or says why it is of none: it is one
// figure for reads, writes and, from 1.0 on, the syncs between them; of asynchronous I/O it is the
// time of the submission.
func sysbenchLatency(j *fio.Job, got map[string]string, async bool) string {
	const ms = float64(time.Millisecond)
	mean := number(got["avg"]) * ms
	if sum, n := number(got["sum"]), number(got["events"]); sum > 0 && n > 0 {
		mean = sum * ms / n // avg has two digits
	}
	if mean <= 0 {
		return ""
	}
	switch both, syncs := j.Read.IOPS > 0 && j.Write.IOPS > 0, number(got["syncs"]) > 0; {
	case async:
		return fmt.Sprintf("its latency of %v is that of handing I/Os over, and is left out",
			units.Latency(mean))
	case both, syncs:
		return fmt.Sprintf("its latency of %v is one figure for %s, and is left out", units.Latency(mean),
			map[bool]string{true: "reads, writes and syncs", false: "writes and syncs"}[both])
	}
	l := fio.Latency{
		Mean: mean, Min: fio.Duration(number(got["min"]), time.Millisecond),
		Max: fio.Duration(number(got["max"]), time.Millisecond),
	}
	if at := fio.Duration(number(got["pvalue"]), time.Millisecond); at > 0 {
		l.Percentiles = []fio.Percentile{{P: number(got["p"]), Value: at}}
	}
	d := &j.Read
	if j.Write.IOPS > 0 {
		d = &j.Write
	}
	l.N = d.N
	d.Clat = l
	return ""
}
