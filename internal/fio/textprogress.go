package fio

import (
	"regexp"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// Progress is one of the lines that fio shows while it runs: rates of the last interval, as rounded
// there.
type Progress struct {
	Jobs  int           `json:"jobs"`  // running
	Files int           `json:"files"` // open
	Done  float64       `json:"done"`  // 0..1
	Eta   time.Duration `json:"eta"`
	// Rates by "read", "write", "trim".
	BW   map[string]units.Rate `json:"bw,omitempty"`
	IOPS map[string]units.IOPS `json:"iops,omitempty"`
	Text string                `json:"text"`
}

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
func parseProgress(line string) Progress {
	p := Progress{Text: line[:min(len(line), maxTextProgLen)]}
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
			p.Done, _ = percentShare(strings.TrimSuffix(part, " done"))
		case strings.HasSuffix(part, "IOPS") || strings.HasSuffix(part, "iops"):
			p.IOPS = map[string]units.IOPS{}
			progressRates(strings.TrimSpace(part[:len(part)-4]), func(dir string, n textNum) {
				if k, ok := n.kilo(); ok {
					p.IOPS[dir] = units.IOPS(n.times(k))
				}
			})
		case strings.HasSuffix(part, "/s"):
			p.BW = map[string]units.Rate{}
			progressRates(part, func(dir string, n textNum) {
				if factor, ok := n.bytes(1024); ok {
					p.BW[dir] = units.Rate(n.times(factor))
				}
			})
		}
	}
	return p
}

// progressRates takes "r=82,w=94" apart, or fio 2's "0 /3086 /0", in the order read, write, trim.
func progressRates(part string, each func(dir string, n textNum)) {
	names := map[string]string{"r": "read", "w": "write", "t": "trim"}
	if strings.Contains(part, "=") {
		for _, f := range textFields(part) {
			if dir := names[f[0]]; dir != "" {
				each(dir, parseTextNum(f[1]))
			}
		}
		return
	}
	for i, s := range strings.Split(strings.TrimSuffix(part, "/s"), "/") {
		if n := parseTextNum(s); i < 3 && n.ok {
			each(textDirNames[i], n)
		}
	}
}

// progress keeps a progress line with the run at hand, or for the next when that has ended.
func (t *textReader) progress(body string) {
	list := &t.pending
	if t.run != nil && !t.run.results() {
		list = &t.run.out.Progress
	}
	if len(*list) < maxTextProgress {
		*list = append(*list, parseProgress(body))
		return
	}
	(*list)[maxTextProgress-1] = Progress{Text: "more progress lines than are kept"}
}
