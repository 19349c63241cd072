package foreign

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

var (
	pingHead = regexp.MustCompile(`^--- (\S.{0,200}?) \((.{0,200})\) ioping statistics ---$`)
	pingDone = regexp.MustCompile(`^([\d.]+ ?[kMG]?) requests completed in ([\d.]+ ?\w+),` +
		`(?: ([\d.]+ ?[KMGT]?i?B)( read| written)?,)? ([\d.]+ ?[kMG]?) iops, ([\d.]+) ?([KMGTkmg]?i?[Bb]/s)$`)
	pingMade = regexp.MustCompile(`^generated ([\d.]+ ?[kMG]?) requests in ([\d.]+ ?\w+),`)
	pingTook = regexp.MustCompile(
		`^min/avg/max/mdev = ([\d.]+)( ?[nmu]?s)? ?/ ?([\d.]+)( ?[nmu]?s)? ?/ ?([\d.]+)( ?[nmu]?s)? ?/ ?([\d.]+)( ?[nmu]?s)$`)
	pingEach = regexp.MustCompile(`^(?:([\d.]+ ?[KMG]?i?B) (<<<|>>>)|(\d+) bytes from) `)
)

// pingAbove is how far above its statistics a command of ioping is looked for, in lines.
const pingAbove = 64

// ioping reads the statistics that ioping prints at its end. Its rate is that of one request behind the
// other without the pauses between them.
func ioping(p *page) (outs []*fio.Output) {
	bs, rw, begin := units.Bytes(0), "", 0
	for i, line := range p.lines {
		if m := pingEach.FindStringSubmatch(line); m != nil {
			if bs == 0 {
				begin = i
			}
			bs, rw = size(m[1]+m[3]), map[string]string{"<<<": "read", ">>>": "write"}[m[2]]
		}
		head := pingHead.FindStringSubmatch(line)
		if head == nil {
			continue
		}
		from := i
		if bs > 0 {
			from = begin
		}
		if o, end := pinged(p, i, bs, rw); o != nil && len(outs) < most {
			o.Title, o.Line = "ioping "+head[1]+" ("+head[2]+")", from+1
			outs = append(outs, o)
			p.take(from, end)
		}
		bs, rw = 0, ""
	}
	return outs
}

// pinged reads the statistics below a heading, up to the line end; nil where they hold no latency.
func pinged(p *page, head int, bs units.Bytes, rw string) (o *fio.Output, end int) {
	var n, iops float64
	var bw units.Rate
	var l fio.Latency
	paused := ""
	for i := head + 1; i < min(len(p.lines), head+6); i++ {
		line := p.lines[i]
		if m := pingDone.FindStringSubmatch(line); m != nil {
			n, iops, end = number(m[1]), number(m[5]), i
			bw = units.Rate(number(m[6]) * float64(size("1"+strings.TrimSuffix(m[7], "/s"))))
			if word := strings.TrimSpace(m[4]); word != "" {
				rw = map[string]string{"read": "read", "written": "write"}[word]
			} else if m[3] != "" {
				rw = "" // reads and writes in turns
			}
		} else if m := pingMade.FindStringSubmatch(line); m != nil {
			paused, end = fmt.Sprintf("; with its pauses it made %s requests in %s", strings.TrimSpace(m[1]), m[2]), i
		} else if m := pingTook.FindStringSubmatch(line); m != nil {
			l, end = pingLatency(m), i
		}
	}
	if n < 1 || l.Mean <= 0 {
		return nil, 0
	}
	ran := fio.Duration(n*l.Mean, time.Nanosecond)
	if bs == 0 {
		bs = pingSize(iops, bw)
	}
	d := direction(iops, bw, ran)
	d.N, l.N = uint64(min(n, 1<<53)), uint64(min(n, 1<<53))
	d.Clat = l
	j := fio.Job{Count: 1, Runtime: ran, Options: fio.Options{"iodepth": "1", "ioengine": "psync"}}
	if bs > 0 {
		j.Options["bs"] = strconv.FormatUint(uint64(bs), 10)
	}
	o = made("ioping", "", head, end)
	o.Doubts = append(o.Doubts, silent("ioping", "percentiles, and whether its I/O was direct (-D)"),
		"one request waits for the other, so its IOPS are what the latency makes"+paused)
	switch rw {
	case "write":
		j.Write = d
	case "":
		rw, j.Read = "read", d
		o.Doubts = append(o.Doubts, "whether they were reads or writes ioping does not say here, and they stand as reads")
	default:
		j.Read = d
	}
	j.Name = "ioping-" + rw
	pingOptions(p, head, rw, j.Options)
	o.Jobs = []fio.Job{j}
	return o, end
}

// pingSize is the request size that a rate of few digits means: a power of two near by; 0 for none.
func pingSize(iops float64, bw units.Rate) units.Bytes {
	const near = 0.1
	if iops <= 0 || bw <= 0 {
		return 0
	}
	power := math.Round(math.Log2(float64(bw) / iops))
	if power < 9 || power > 30 || math.Abs(float64(bw)/iops/math.Exp2(power)-1) > near {
		return 0
	}
	return units.Bytes(math.Exp2(power))
}

// pingLatency reads min/avg/max/mdev, with a unit each or one for all.
func pingLatency(m []string) fio.Latency {
	at := func(i int) time.Duration {
		unit := m[i+1]
		if strings.TrimSpace(unit) == "" {
			unit = m[8]
		}
		return took(m[i] + unit)
	}
	return fio.Latency{Min: at(1), Mean: float64(at(3)), Max: at(5), StdDev: float64(at(7))}
}

// pingOptions adds what the command above says: ioping's I/O is at random places unless -L says
// otherwise.
func pingOptions(p *page, head int, rw string, options fio.Options) {
	args, found := p.command("ioping", head-1, pingAbove)
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "--") {
			continue
		}
		if strings.Contains(arg, "D") {
			options["direct"] = "1"
		}
		if strings.Contains(arg, "C") {
			options["direct"] = "0"
		}
		if strings.Contains(arg, "L") {
			options["rw"] = rw
		}
	}
	if found && options["rw"] == "" {
		options["rw"] = "rand" + rw
	}
}
