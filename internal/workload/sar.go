package workload

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
)

// sar -d and sadf -d of sysstat have a row a device and interval, with one count of requests for
// both directions. As with iostat, a column is known by its name: rd_sec/s, avgrq-sz and avgqu-sz
// up to 11.6, rkB/s, areq-sz and aqu-sz since, and DEV stands first or, with -p in 12, last.

var (
	// sarHead is the line of names: a time of day, then the columns.
	sarHead  = regexp.MustCompile(`(?m)^[0-9]{2}:[0-9]{2}:[0-9]{2}(?: [AP]M)?[ \t].*\btps\b.*$`)
	sarClock = regexp.MustCompile(`^[0-9]{2}:[0-9]{2}:[0-9]{2}$`)
)

const sadfHead = "# hostname;interval;timestamp;"

// sarText reads what sar -d prints.
func sarText(data []byte) ([]iostatReport, error) {
	var s sarReports
	return s.read(data, func(line string) error {
		fields := strings.Fields(line)
		if len(fields) < 2 || !sarClock.MatchString(fields[0]) {
			return nil // the banner, an empty line, Average:
		}
		form, clock, rest := "15:04:05", fields[0], fields[1:]
		if rest[0] == "AM" || rest[0] == "PM" {
			form, clock, rest = "03:04:05 PM", clock+" "+rest[0], rest[1:]
		}
		if slices.Contains(rest, "DEV") {
			s.columns = rest
			return nil
		}
		if slices.Contains(rest, "RESTART") || slices.Contains(rest, "CPU") || slices.Contains(rest, "IFACE") {
			s.columns = nil // another table
		}
		at, err := time.Parse(form, clock)
		if err != nil && s.columns != nil {
			return fmt.Errorf("%s is not a time of day", text.Quote(clock))
		}
		return s.add(at, rest)
	})
}

// sadfText reads what sadf -d prints of sar -d: fields with semicolons between them.
func sadfText(data []byte) ([]iostatReport, error) {
	var s sarReports
	return s.read(data, func(line string) error {
		fields := strings.Split(strings.TrimSpace(line), ";")
		switch {
		case strings.HasPrefix(line, sadfHead):
			if s.columns = fields[3:]; !slices.Contains(s.columns, "DEV") {
				s.columns = nil // another table
			}
			return nil
		case strings.HasPrefix(line, "#") || len(fields) < 5 || s.columns == nil:
			return nil // another table, LINUX-RESTART
		}
		stamp := strings.TrimSuffix(fields[2], " UTC")
		at, err := time.Parse("2006-01-02 15:04:05", stamp)
		if seconds, number := strconv.ParseInt(stamp, 10, 64); err != nil && number == nil { // sadf -U
			at, err = time.Unix(seconds, 0), nil
		}
		if err != nil {
			return fmt.Errorf("%s is not a time that sadf prints", text.Quote(fields[2]))
		}
		return s.add(at, fields[3:])
	})
}

// sarReports gathers rows of one time.
type sarReports struct {
	columns []string // nil in another table
	all     []iostatReport
	days    time.Duration // that midnights have added to a time of day
	last    time.Time
}

func (s *sarReports) read(data []byte, line func(string) error) ([]iostatReport, error) {
	err := eachLine(data, line)
	if err == nil && len(s.all) == 0 {
		err = errors.New("it has no report of sar -d")
	}
	return s.all, err
}

func (s *sarReports) add(at time.Time, fields []string) error {
	if s.columns == nil {
		return nil
	}
	if len(fields) != len(s.columns) {
		return fmt.Errorf("want %d columns as in the heading, found %d", len(s.columns), len(fields))
	}
	row := iostatRow{value: map[string]float64{}}
	for i, c := range s.columns {
		if c == "DEV" {
			row.device = fields[i]
			continue
		}
		v, ok := figure(fields[i])
		if !ok {
			return fmt.Errorf("%s: %s is not a number that sar prints", text.Quote(c), text.Quote(fields[i]))
		}
		row.value[c] = v
	}
	if row.device == "" || !slices.Contains(s.columns, "tps") {
		return errors.New("no column tps: sar -d is needed")
	}
	divide(row.value)
	if at.Before(s.last) && s.last.Sub(at) > 12*time.Hour && at.Year() == 0 { // past midnight
		s.days += 24 * time.Hour
	}
	s.last = at
	at = at.Add(s.days)
	if k := len(s.all); k == 0 || !s.all[k-1].at.Equal(at) {
		s.all = append(s.all, iostatReport{at: at})
	}
	return s.all[len(s.all)-1].add(row)
}

// divide gives each direction its part of the requests by its part of the bytes, as if both had one
// size. Requests without bytes, such as flushes, count as writes.
func divide(v map[string]float64) {
	v["rsec/s"], v["wsec/s"] = v["rd_sec/s"], v["wr_sec/s"]
	read, written := v["rkB/s"]+v["rsec/s"]/2, v["wkB/s"]+v["wsec/s"]/2
	if all := read + written + v["dkB/s"]; all > 0 {
		v["r/s"], v["w/s"] = v["tps"]*read/all, v["tps"]*written/all
		return
	}
	v["r/s"], v["w/s"] = 0, v["tps"]
}
