package bundle

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
)

// What a text claims of its own figures is compared with them. Of many things that authors say, this is
// the one that they read off fio's buckets, and read wrongly: a bucket's label is its upper end.

var (
	// slowClaim is a share of I/Os above a second: "over ~35% operations have a latency above 1s on nvme2".
	slowClaim = regexp.MustCompile(
		`(?i)(\d{1,3}(?:\.\d+)?) ?%[^.%]{0,60}?(?:above|over|longer than|more than|exceed\w*|greater than|slower than|>)` +
			` ?(?:1|one) ?s(?:ec\w*)?\b(?:[^.%]{0,12}\bon (\w+))?`)
	// alsoClaim goes on with another result: "compared to ~7% on nvme1".
	alsoClaim = regexp.MustCompile(`(?i)compared (?:to|with) [~≈]? ?(\d{1,3}(?:\.\d+)?) ?% on (\w+)`)
)

// claim is a share that the text states, of the result that of names, or of the only one.
type claim struct {
	line  int
	share float64
	of    string
}

func claims(lines []string) []claim {
	var list []claim
	for i, line := range lines {
		if len(list) >= mostClaims {
			break
		}
		if len(line) > maxStated {
			continue
		}
		for _, m := range slowClaim.FindAllStringSubmatch(line, -1) {
			share, err := strconv.ParseFloat(m[1], 64)
			if err != nil || share > 100 {
				continue
			}
			list = append(list, claim{i + 1, share / 100, m[2]})
			for _, also := range alsoClaim.FindAllStringSubmatch(line, -1) {
				if share, err := strconv.ParseFloat(also[1], 64); err == nil {
					list = append(list, claim{i + 1, share / 100, also[2]})
				}
			}
			break
		}
	}
	return list
}

// mostClaims bounds what is compared with each result.
const mostClaims = 64

const (
	// claimGap is how far a claim may be off in points, and claimPart as a part of what is true: people
	// round.
	claimGap, claimPart = 0.005, 0.1
)

// denied says where the text claims another share of slow I/Os than a result's own figures say.
func (d *Document) denied(r *result.Result, o *fio.Output, alone bool) []string {
	var list []string
	for _, c := range d.claims {
		if c.of == "" && !alone || c.of != "" && !isCalled(r, o, c.of) || o.Line <= c.line && c.line <= o.End {
			continue
		}
		share, _, ok := diagnose.Above(r.Total, time.Second)
		if off := math.Abs(share - c.share); !ok || off <= claimGap || off <= claimPart*share {
			continue
		}
		list = append(list, fmt.Sprintf("the text says that %s of its I/Os took longer than 1 s (line %d); fio's figures "+
			"say %s: a bucket's label is its upper end", text.Percent(c.share), c.line, text.Percent(share)))
	}
	return list
}

// isCalled says that a word names a result: by its name, or by one of its devices.
func isCalled(r *result.Result, o *fio.Output, word string) bool {
	if strings.EqualFold(r.Name, word) || strings.EqualFold(heading(o), word) {
		return true
	}
	for _, disk := range o.Disks {
		if strings.EqualFold(disk.Name, word) {
			return true
		}
	}
	return false
}
