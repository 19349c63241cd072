package text

import (
	"regexp"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

const (
	maxTextProgress = 1 << 16
	maxTextProgLen  = 400
)

var (
	progressHead = regexp.MustCompile(`^Jobs: (\d+) \(f=(-?\d+)`)
	progressPart = regexp.MustCompile(`\[([^\[\]]*)\]?`)
	progressEta  = regexp.MustCompile(`^eta (?:(\d+)d:)?(?:(\d+)h:)?(\d+)m:(\d+)s$`)
)

// parseProgress reads "Jobs: 16 (f=16): [w(16)][31.1%][w=626MiB/s][w=40.0k IOPS][eta 02m:04s]" or,
// of fio 2, "Jobs: 1 (f=1): [m] [12.5% done] [0K/12345K/0K /s] [0 /3086 /0 iops] [eta 00m:07s]".
// What it does not know stays in Text.
func parseProgress(line string) fio.Progress {
	p := fio.Progress{Text: line[:min(len(line), maxTextProgLen)]}
	if m := progressHead.FindStringSubmatch(line); m != nil {
		p.Jobs, p.Files = atoi(m[1]), atoi(m[2])
	}
	for _, m := range progressPart.FindAllStringSubmatch(line, 16) {
		part := strings.TrimSpace(m[1])
		switch {
		case strings.HasPrefix(part, "eta "):
			if e := progressEta.FindStringSubmatch(part); e != nil {
				p.Eta = time.Duration(atoi(e[1]))*24*time.Hour + time.Duration(
					atoi(e[2]),
				)*time.Hour + time.Duration(atoi(e[3]))*time.Minute + time.Duration(atoi(e[4]))*time.Second
			}
		case strings.HasSuffix(part, "%") || strings.HasSuffix(part, "% done"):
			p.Done, _ = ParseShare(strings.TrimSuffix(part, " done"))
		case strings.HasSuffix(part, "IOPS") || strings.HasSuffix(part, "iops"):
			p.IOPS = map[string]units.IOPS{}
			progressRates(strings.TrimSpace(part[:len(part)-4]), func(dir string, n Num) {
				if k, ok := n.kilo(); ok {
					p.IOPS[dir] = units.IOPS(n.Times(k))
				}
			})
		case strings.HasSuffix(part, "/s"):
			p.BW = map[string]units.Rate{}
			progressRates(part, func(dir string, n Num) {
				if factor, ok := n.bytes(1024); ok {
					p.BW[dir] = units.Rate(n.Times(factor))
				}
			})
		}
	}
	return p
}

// progressRates takes "r=82,w=94" apart, or fio 2's "0 /3086 /0", in the order read, write, trim.
func progressRates(part string, each func(dir string, n Num)) {
	names := map[string]string{"r": "read", "w": "write", "t": "trim"}
	if strings.Contains(part, "=") {
		for _, f := range textFields(part) {
			if dir := names[f[0]]; dir != "" {
				each(dir, ParseNum(f[1]))
			}
		}
		return
	}
	for i, s := range strings.Split(strings.TrimSuffix(part, "/s"), "/") {
		if n := ParseNum(s); i < 3 && n.OK {
			each(textDirNames[i], n)
		}
	}
}

// progress keeps a progress line with the run at hand, or for the next when that has ended.
func (t *Reader) progress(body string) {
	list := &t.pending
	if t.run != nil && !t.run.results() {
		list = &t.run.out.Progress
	}
	if len(*list) < maxTextProgress {
		*list = append(*list, parseProgress(body))
		return
	}
	(*list)[maxTextProgress-1] = fio.Progress{Text: "more progress lines than are kept"}
}
