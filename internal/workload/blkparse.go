package workload

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
)

// blkparse prints a line an event of blktrace (blkparse(1), "OUTPUT DESCRIPTION AND FORMATTING"):
//
//	8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
//
// that is device, CPU, sequence, seconds, process, action, direction, sector, sectors of 512 bytes.
// A request counts when it is completed (C); it has waited since it was queued (Q) or, where that
// was not traced, issued (D).

var blkLine = regexp.MustCompile(`(?m)^ *[0-9]+,[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]{9} +[0-9]+ +[A-Z]{1,2} `)

const (
	sector = 512
	// longestTrace bounds the intervals that are kept, mostInFlight the requests that have not been
	// completed.
	longestTrace = 30 * 24 * time.Hour
	mostInFlight = 1 << 20
)

// blkDevice is what was seen of one device.
type blkDevice struct {
	intervals       []Interval               // of sums
	begun           map[uint64]time.Duration // by sector
	queued, merged  float64
	completed, late int
}

// fromBlkparse reads blkparse's text.
func fromBlkparse(data []byte, every time.Duration) ([]Observed, error) {
	if every <= 0 {
		every = time.Second
	}
	devices := map[string]*blkDevice{}
	var end time.Duration
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if !blkLine.Match(line) { // the summary, messages
			continue
		}
		f := strings.Fields(string(line))
		at, err := blkTime(f[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(f) < 10 || f[8] != "+" { // a message, a plug, a flush without data
			continue
		}
		first, err1 := strconv.ParseUint(f[7], 10, 64)
		sectors, err2 := strconv.ParseUint(f[9], 10, 32)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("line %d: %s + %s: want a sector and a number of them", n, text.Quote(f[7]),
				text.Quote(f[9]))
		}
		name := "dev" + strings.Replace(f[0], ",", "-", 1)
		d := devices[name]
		if d == nil {
			if len(devices) == mostDevices {
				return nil, fmt.Errorf("line %d: more than %d devices", n, mostDevices)
			}
			d = &blkDevice{begun: map[uint64]time.Duration{}}
			devices[name] = d
		}
		end = max(end, at)
		d.event(f[5], f[6], at, every, first, sectors)
	}
	return blkObserved(devices, every, end)
}

func blkTime(s string) (time.Duration, error) {
	seconds, part, _ := strings.Cut(s, ".")
	whole, err1 := strconv.ParseInt(seconds, 10, 64)
	ns, err2 := strconv.ParseInt(part, 10, 64)
	if err1 != nil || err2 != nil || whole >= int64(longestTrace/time.Second) {
		return 0, fmt.Errorf("%s: want seconds since the trace began, %s at most", text.Quote(s),
			text.Duration(longestTrace))
	}
	return time.Duration(whole)*time.Second + time.Duration(ns), nil
}

func (d *blkDevice) event(action, direction string, at, every time.Duration, first, sectors uint64) {
	read, write := strings.Contains(direction, "R"), strings.Contains(direction, "W")
	if !read && !write || sectors == 0 || strings.Contains(direction, "D") && !read { // a discard, a flush
		return
	}
	switch action {
	case "Q":
		d.queued++
		fallthrough
	case "D":
		if _, known := d.begun[first]; !known && len(d.begun) < mostInFlight {
			d.begun[first] = at
		}
	case "M": // to the end of a request, which began before
		delete(d.begun, first)
		fallthrough
	case "F":
		d.merged++
	case "C":
		k := int(at / every)
		for len(d.intervals) <= k {
			d.intervals = append(d.intervals, Interval{Len: every, At: time.Duration(len(d.intervals)+1) * every})
		}
		begun, known := d.begun[first]
		delete(d.begun, first)
		if d.completed++; !known || begun > at {
			begun = at
			d.late++
		}
		flow := d.intervals[k].Flow(read)
		flow.IOPS++
		flow.Rate += float64(sectors * sector)
		flow.Wait += at - begun
	}
}

// blkObserved makes rates of the sums. The last interval is left out where the trace ended within
// it.
func blkObserved(devices map[string]*blkDevice, every, end time.Duration) (all []Observed, err error) {
	whole := int(end / every)
	for _, name := range slices.Sorted(maps.Keys(devices)) {
		d := devices[name]
		if d.completed == 0 {
			continue
		}
		o := Observed{Device: name, Known: true}
		if d.queued+d.merged > 0 {
			o.Merged = min(d.merged/max(d.queued, d.merged), 1)
		}
		if d.late > 0 {
			o.Notes = append(o.Notes, fmt.Sprintf(
				"the start of %d of %d requests was not traced: their latency counts as 0", d.late, d.completed))
		}
		for k := range d.intervals {
			i := &d.intervals[k]
			if k >= whole && whole > 0 {
				break
			}
			seconds := every.Seconds()
			if whole == 0 {
				i.Len = max(end, time.Millisecond)
				i.At, seconds = i.Len, i.Len.Seconds()
			}
			for _, flow := range []*Flow{&i.Read, &i.Write} {
				i.Queue += flow.Wait.Seconds() / seconds // Little's law
				flow.Wait /= time.Duration(max(flow.IOPS, 1))
				flow.IOPS, flow.Rate = flow.IOPS/seconds, flow.Rate/seconds
			}
			o.Intervals = append(o.Intervals, *i)
		}
		for len(o.Intervals) < whole { // nothing was completed at the end
			o.Intervals = append(o.Intervals, Interval{Len: every, At: time.Duration(len(o.Intervals)+1) * every})
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		return nil, errors.New("no request was completed in it (action C): trace with blktrace -a complete too")
	}
	return all, nil
}
