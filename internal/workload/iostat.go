package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll/internal/text"
)

// iostat of sysstat prints a report for each interval: a time, where -t asked for one, a line of
// column names and a line a device. Names of columns changed over the years: sectors and queue
// sizes in 10 (rsec/s, avgrq-sz, avgqu-sz), rareq-sz and aqu-sz from 11.7 on, discards and flushes
// in 12. In all of them a column is known by its name, never by its place.

// report is one report: when it was made and its rows by device.
type iostatReport struct {
	at   time.Time // zero when it has no time
	rows []iostatRow
}

type iostatRow struct {
	device string
	value  map[string]float64
}

// mostDevices bounds what is kept of a log.
const mostDevices = 4096

var iostatTimes = []string{
	"2006-01-02T15:04:05-0700",
	"2006-01-02T15:04:05-07:00",
	"2006-01-02T15:04:05",
	"01/02/2006 03:04:05 PM",
	"01/02/2006 15:04:05",
	"01/02/06 15:04:05",
	"02/01/2006 15:04:05",
	"02/01/06 15:04:05",
	"2006-01-02 15:04:05",
	"01/02/06 03:04:05 PM",
}

// parseTime reads the time of a report. Every report of a log has the same form, so that day and
// month may be confused without harm: only the time between two counts.
func parseTime(s string) (time.Time, bool) {
	for _, form := range iostatTimes {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// add adds a row.
func (r *iostatReport) add(row iostatRow) error {
	if len(r.rows) == mostDevices {
		return fmt.Errorf("more than %d devices", mostDevices)
	}
	r.rows = append(r.rows, row)
	return nil
}

// eachLine calls f with each line of a text. Errors have the line's number.
func eachLine(data []byte, f func(line string) error) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if !utf8.Valid(line) {
			return fmt.Errorf("line %d: %s: not text", n, text.Quote(string(line)))
		}
		if err := f(string(line)); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// figure reads a number that sysstat prints; some locales write 0,50.
func figure(s string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	return v, err == nil && v >= 0 && v <= 1e15
}

// iostatText reads what iostat -x prints.
func iostatText(data []byte) (all []iostatReport, err error) {
	var columns []string
	var at time.Time
	err = eachLine(data, func(line string) error {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			columns = nil
			return nil
		case strings.HasPrefix(fields[0], "Device"):
			columns = fields[1:]
			if !slices.Contains(columns, "r/s") {
				return errors.New("no column r/s: iostat -x is needed")
			}
			all = append(all, iostatReport{at: at})
			at = time.Time{}
			return nil
		}
		if t, ok := parseTime(line); ok {
			at, columns = t, nil
		}
		if columns == nil { // the banner, the CPU's table
			return nil
		}
		if len(fields) != len(columns)+1 {
			return fmt.Errorf("%s: want %d columns as in the heading, found %d", text.Quote(fields[0]), len(columns)+1,
				len(fields))
		}
		row := iostatRow{fields[0], make(map[string]float64, len(columns))}
		for i, c := range columns {
			v, ok := figure(fields[i+1])
			if !ok {
				return fmt.Errorf("%s %s: %s is not a number that iostat prints", text.Quote(row.device), text.Quote(c),
					text.Quote(fields[i+1]))
			}
			row.value[c] = v
		}
		return all[len(all)-1].add(row)
	})
	if err == nil && len(all) == 0 {
		err = errors.New("it has no report of iostat -x, sar -d, sadf -d, blkparse or CloudWatch")
	}
	return all, err
}

// iostatJSON reads what iostat -x -o JSON prints.
func iostatJSON(data []byte) (all []iostatReport, err error) {
	var doc struct {
		Sysstat struct {
			Hosts []struct {
				Statistics []struct {
					Timestamp string           `json:"timestamp"`
					Disk      []map[string]any `json:"disk"`
				} `json:"statistics"`
			} `json:"hosts"`
		} `json:"sysstat"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("iostat's JSON: %w", err)
	}
	if len(doc.Sysstat.Hosts) > 1 {
		return nil, errors.New("iostat's JSON has several hosts: give one")
	}
	for _, h := range doc.Sysstat.Hosts {
		for _, s := range h.Statistics {
			r := iostatReport{}
			r.at, _ = parseTime(s.Timestamp)
			for _, disk := range s.Disk {
				row := iostatRow{value: map[string]float64{}}
				for k, v := range disk {
					switch v := v.(type) {
					case string:
						if k == "disk_device" {
							row.device = v
						}
					case float64:
						if v < 0 || v > 1e15 {
							return nil, fmt.Errorf("iostat's JSON: %s of %s is %g", text.Quote(k), text.Quote(row.device), v)
						}
						row.value[k] = v
					}
				}
				if _, ok := row.value["r/s"]; !ok || row.device == "" {
					return nil, errors.New("iostat's JSON: a disk has no r/s: iostat -x is needed")
				}
				if len(r.rows) < mostDevices {
					r.rows = append(r.rows, row)
				}
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has no report of iostat -x")
	}
	return all, nil
}

// interval is what a row says. Names of columns of all versions are looked for.
func (r iostatRow) interval() Interval {
	get := func(names ...string) (float64, bool) {
		for _, n := range names {
			if v, ok := r.value[n]; ok {
				return v, true
			}
		}
		return 0, false
	}
	rate := func(kb, mb, sectors string) float64 {
		if v, ok := get(kb); ok {
			return v * 1024 // iostat's kB are KiB
		}
		if v, ok := get(mb); ok {
			return v * (1 << 20)
		}
		v, _ := get(sectors)
		return v * 512
	}
	ms := func(names ...string) time.Duration {
		v, _ := get(names...)
		return time.Duration(min(v, 1e12) * float64(time.Millisecond))
	}
	var i Interval
	i.Read.IOPS, _ = get("r/s")
	i.Write.IOPS, _ = get("w/s")
	i.Read.Rate, i.Write.Rate = rate("rkB/s", "rMB/s", "rsec/s"), rate("wkB/s", "wMB/s", "wsec/s")
	i.Read.Wait, i.Write.Wait = ms("r_await", "await"), ms("w_await", "await")
	i.Queue, _ = get("aqu-sz", "avgqu-sz")
	i.Util, _ = get("%util", "util")
	i.Util /= 100
	i.Flushes, _ = get("f/s")
	i.FlushWait = ms("f_await")
	i.Discards, _ = get("d/s")
	i.DiscardWait = ms("d_await")
	return i
}

// fromIostat turns reports into devices. The first report is the mean since boot and is left out
// where there are others.
func fromIostat(reports []iostatReport, every time.Duration) ([]Observed, error) {
	if len(reports) > 1 {
		return fromReports(reports[1:], every, nil)
	}
	return fromReports(reports, every, []string{
		"there is one report: if it is iostat's first, it is the mean since boot, which hides every peak; run iostat -x -t 1",
	})
}

// fromReports makes a device's intervals of its rows. The notes are of all devices.
func fromReports(reports []iostatReport, every time.Duration, notes []string) ([]Observed, error) {
	length, known, gaps := iostatTiming(reports)
	switch {
	case known:
	case every > 0:
		length = every
	default:
		length = time.Second
		notes = append(notes, "the reports have no timestamps: 1 s apart is assumed; iostat -t adds it, or --every states it")
	}
	if gaps > 0 {
		notes = append(notes, fmt.Sprintf("the log has %s: what happened there is not known", text.Plural(gaps, "gap")))
	}
	byName := map[string]*Observed{}
	var order []string
	for k, r := range reports {
		for _, row := range r.rows {
			o := byName[row.device]
			if o == nil {
				if strings.HasPrefix(row.device, "loop") && row.value["r/s"]+row.value["w/s"] == 0 {
					continue
				}
				o = &Observed{Device: row.device, Known: known, Notes: notes}
				byName[row.device] = o
				order = append(order, row.device)
				for range k { // it came later: nothing was on it before
					o.Intervals = append(o.Intervals, Interval{Len: length})
				}
			}
			iv := row.interval()
			iv.Len = length
			iv.At = time.Duration(len(o.Intervals)+1) * length
			o.Intervals = append(o.Intervals, iv)
			merged := row.value["rrqm/s"] + row.value["wrqm/s"]
			if all := merged + iv.Read.IOPS + iv.Write.IOPS; all > 0 {
				o.Merged += merged / all
			}
		}
	}
	var all []Observed
	for _, name := range order {
		o := byName[name]
		o.Merged /= float64(max(len(o.Intervals), 1))
		all = append(all, *o)
	}
	if len(all) == 0 {
		return nil, errors.New("no device is in the reports")
	}
	return all, nil
}

// iostatTiming is the usual time between reports and how many gaps they have.
func iostatTiming(reports []iostatReport) (length time.Duration, known bool, gaps int) {
	var between []time.Duration
	for i := 1; i < len(reports); i++ {
		if reports[i].at.IsZero() || reports[i-1].at.IsZero() {
			return 0, false, 0
		}
		between = append(between, reports[i].at.Sub(reports[i-1].at))
	}
	length = usual(between)
	for _, b := range between {
		if b < 0 || b > length*3/2+time.Second {
			gaps++
		}
	}
	return length, length > 0, gaps
}
