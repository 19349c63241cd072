package bundle

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
)

// What a text claims of the time that its I/Os took is compared with fio's figures: authors read shares
// off fio's buckets, of which the label is the upper end.

var (
	// slowClaim is a share of I/Os above a time: "over ~35% operations have a latency above 1s on nvme2".
	slowClaim = regexp.MustCompile(
		`(?i)(\d{1,3}(?:\.\d+)?) ?%([^.%]{0,60}?)(above|over|longer than|more than|exceed\w*|greater than|slower than|>|` +
			`below|under|less than|within|<) ?(\d{1,7}(?:\.\d+)?|one|a) ?` +
			`(ns|us|µs|μs|usec|ms|msec|s|sec|nanosecond|microsecond|millisecond|second)s?\b(?:[^.%]{0,12}\bon (\w+))?`)
	// ofIOs is in what stands between the share and the time where I/Os are meant, and not the CPU or
	// a spread.
	ofIOs = regexp.MustCompile(`(?i)operation|\bI/?Os?\b|request|read|write|latenc`)
	// alsoClaim continues with another result: "compared to ~7% on nvme1".
	alsoClaim = regexp.MustCompile(`(?i)compared (?:to|with) [~≈]? ?(\d{1,3}(?:\.\d+)?) ?% on (\w+)`)
)

// claim is a share of I/Os above a time that the text states, of the result that of names, or of the
// only one.
type claim struct {
	line  int
	share float64
	over  time.Duration
	of    string
}

func claims(lines []string) (list []claim) {
	for i, line := range lines {
		if len(list) >= mostClaims {
			break
		}
		if len(line) > maxStated || !strings.Contains(line, "%") {
			continue
		}
		for _, m := range slowClaim.FindAllStringSubmatch(line, -1) {
			over := claimTime(m[4], m[5])
			share, err := strconv.ParseFloat(m[1], 64)
			if err != nil || share > 100 || over == 0 || !ofIOs.MatchString(m[2]) {
				continue
			}
			below := slices.Contains([]string{"below", "under", "less than", "within", "<"}, strings.ToLower(m[3]))
			stated := func(percent float64, of string) {
				if below {
					percent = 100 - percent
				}
				list = append(list, claim{i + 1, percent / 100, over, of})
			}
			stated(share, m[6])
			for _, also := range alsoClaim.FindAllStringSubmatch(line, -1) {
				if share, err := strconv.ParseFloat(also[1], 64); err == nil {
					stated(share, also[2])
				}
			}
			break
		}
	}
	return list
}

// claimTime reads "1" and "second", "a" and "second", "500" and "us"; 0 for what is none.
func claimTime(count, unit string) time.Duration {
	n, err := strconv.ParseFloat(count, 64)
	if err != nil { // one, a
		n = 1
	}
	of := time.Microsecond
	switch unit = strings.ToLower(unit); {
	case unit[0] == 'n':
		of = time.Nanosecond
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "mil"):
		of = time.Millisecond
	case unit[0] == 's':
		of = time.Second
	}
	return fio.Duration(n, of)
}

// mostClaims bounds what is compared with each result.
const mostClaims = 64

const (
	// claimGap is how far a claim may be off in points, and claimPart as a part of what is true: people
	// round.
	claimGap, claimPart = 0.005, 0.1
)

// denied says where the text claims another share of slow or fast I/Os than a result's own figures say.
func (d *Document) denied(r *result.Result, o *fio.Output, alone bool) (list []string) {
	for _, c := range d.claims {
		if c.of == "" && !alone || c.of != "" && !isCalled(r, o, c.of) || o.Line <= c.line && c.line <= o.End {
			continue
		}
		b, ok := diagnose.Above(r.Total, c.over)
		gap := func(of float64) float64 { return max(claimGap, claimPart*of) }
		if !ok || c.share >= b.Least-gap(b.Least) && c.share <= b.Most+gap(b.Most) {
			continue
		}
		says := b.Print(text.Percent, 1)
		if len(r.Total.Buckets) > 0 {
			says += ": a bucket's label is its upper end"
		}
		list = append(list, fmt.Sprintf("the text says that %s of its I/Os took longer than %s (line %d); fio's figures "+
			"say %s", text.Percent(c.share), text.Duration(c.over), c.line, says))
	}
	return list
}

// isCalled says that a word names a result: by its name, or by one of its devices.
func isCalled(r *result.Result, o *fio.Output, word string) bool {
	return strings.EqualFold(r.Name, word) || strings.EqualFold(heading(o), word) ||
		slices.ContainsFunc(o.Disks, func(d fio.Disk) bool { return strings.EqualFold(d.Name, word) })
}
