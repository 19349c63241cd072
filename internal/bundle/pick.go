package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Pick chooses, orders and groups the results of a library.
type Pick struct {
	where []condition
	sort  string
	down  bool
	group string
}

// condition is one of --where: bs=4k, iops>10000, name~nvme.
type condition struct{ key, op, value string }

// pickKeys are what results are picked by beside their labels: texts, and figures with their units.
const (
	pickTexts   = "work rw bs engine file name title"
	pickFigures = "iops bw p50 p99 mean depth jobs runtime"
)

var conditionText = regexp.MustCompile(`^\s*([\w. -]+?)\s*(!=|>=|<=|=|>|<|~)\s*(.+?)\s*$`)

// NewPick reads --where (several with commas between them hold together), --sort (a key, with - ahead for
// the largest first) and --group.
func NewPick(where []string, sort, group string) (Pick, error) {
	var p Pick
	for _, given := range where {
		for each := range strings.SplitSeq(given, ",") {
			m := conditionText.FindStringSubmatch(each)
			if m == nil {
				return p, fmt.Errorf("--where %s: want KEY=VALUE, KEY!=VALUE, KEY~PART, or KEY>VALUE and the like of a figure (%s)",
					text.Quote(each), pickFigures)
			}
			c := condition{strings.ToLower(m[1]), m[2], m[3]}
			if strings.ContainsAny(c.op, "<>") && !isFigure(c.key) && c.key != "bs" {
				return p, fmt.Errorf("--where %s: %s is no figure; those are bs %s", text.Quote(each), c.key, pickFigures)
			}
			if isFigure(c.key) {
				if _, err := figureOf(c.key, c.value); err != nil {
					return p, fmt.Errorf("--where %s: %w", text.Quote(each), err)
				}
			}
			p.where = append(p.where, c)
		}
	}
	p.sort, p.down = strings.CutPrefix(sort, "-")
	p.group = strings.ToLower(group)
	p.sort = strings.ToLower(p.sort)
	return p, nil
}

// Empty says that nothing is to be picked, ordered or grouped.
func (p Pick) Empty() bool { return len(p.where) == 0 && p.sort == "" && p.group == "" }

func isFigure(key string) bool { return slices.Contains(strings.Fields(pickFigures), key) }

// figureOf reads a value of a condition in the unit of its key: 10k, 5ms, 100MiB/s.
func figureOf(key, value string) (float64, error) {
	switch key {
	case "p50", "p99", "mean", "runtime":
		d, err := time.ParseDuration(strings.ReplaceAll(value, " ", ""))
		if err != nil {
			return 0, fmt.Errorf("want a time such as 5ms for %s", key)
		}
		return float64(d), nil
	case "bw":
		r, err := units.ParseRate(value)
		if err != nil {
			return 0, fmt.Errorf("want a throughput such as 100MiB/s for bw")
		}
		return float64(r), nil
	case "iops":
		n, err := units.ParseIOPS(value)
		if err != nil {
			return 0, fmt.Errorf("want a number such as 10000 for iops")
		}
		return float64(n), nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, fmt.Errorf("want a number for %s", key)
	}
	return n, nil
}

// Of are the results that fulfil all conditions, in order.
func (p Pick) Of(all []*result.Result) []*result.Result {
	var list []*result.Result
	for _, r := range all {
		if !slices.ContainsFunc(p.where, func(c condition) bool { return !c.holds(r) }) {
			list = append(list, r)
		}
	}
	if p.sort == "" {
		return list
	}
	slices.SortStableFunc(list, func(a, b *result.Result) int {
		way := 1
		if p.down {
			way = -1
		}
		if isFigure(p.sort) {
			x, okX := resultFigure(a, p.sort)
			y, okY := resultFigure(b, p.sort)
			if okX != okY { // what is not known stands last
				return map[bool]int{true: -1, false: 1}[okX]
			}
			return way * cmp.Compare(x, y)
		}
		x, y := resultText(a, p.sort), resultText(b, p.sort)
		if n, m := sizeOf(x), sizeOf(y); p.sort == "bs" && n != m {
			return way * cmp.Compare(n, m)
		}
		return way * cmp.Compare(x, y)
	})
	return list
}

// Group is results that have something in common.
type Group struct {
	Name    string
	Results []*result.Result
}

// Groups divides results, in the order in which their groups appear. Without a group there is one.
func (p Pick) Groups(list []*result.Result) []Group {
	if p.group == "" {
		return []Group{{Results: list}}
	}
	var groups []Group
	at := map[string]int{}
	for _, r := range list {
		name := cmp.Or(resultText(r, p.group), "not known")
		i, seen := at[name]
		if !seen {
			i = len(groups)
			at[name] = i
			groups = append(groups, Group{Name: name})
		}
		groups[i].Results = append(groups[i].Results, r)
	}
	return groups
}

func (c condition) holds(r *result.Result) bool {
	if isFigure(c.key) {
		got, known := resultFigure(r, c.key)
		want, err := figureOf(c.key, c.value)
		return err == nil && known && compares(got, c.op, want)
	}
	got := strings.ToLower(resultText(r, c.key))
	want := strings.ToLower(c.value)
	if c.key == "bs" {
		if n, m := sizeOf(got), sizeOf(want); m > 0 {
			return n > 0 && compares(float64(n), c.op, float64(m))
		}
	}
	switch c.op {
	case "~":
		return strings.Contains(got, want)
	case "!=":
		return got != want
	case "=":
		return got == want
	}
	return false
}

func compares(a float64, op string, b float64) bool {
	switch op {
	case "=", "~":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case ">":
		return a > b
	case "<=":
		return a <= b
	}
	return a >= b
}

func sizeOf(s string) units.Bytes {
	if s != "" && strings.Trim(s, "0123456789") == "" {
		s += "B"
	}
	n, err := units.ParseBytes(fioSize(s))
	if err != nil {
		return 0
	}
	return n
}

// fioSize writes a size as fio takes it (4k, 1m) in full.
func fioSize(s string) string {
	if n := len(s); n > 1 && strings.ContainsRune("kKmMgG", rune(s[n-1])) {
		return s[:n-1] + strings.ToUpper(s[n-1:]) + "iB"
	}
	return s
}

// resultText is what a result has under a key of texts, or its label of that name; "" for nothing.
func resultText(r *result.Result, key string) string {
	loads := r.Workloads
	switch key {
	case "work":
		return what(loads)
	case "rw":
		return strings.Join(each(loads, fioRW), "+")
	case "bs":
		return strings.Join(each(loads, func(w fio.Workload) string {
			return strings.ToLower(strings.TrimSuffix(max(w.ReadBS, w.WriteBS).Arg(), "iB"))
		}), "+")
	case "engine", "ioengine":
		return strings.Join(each(loads, func(w fio.Workload) string { return w.Engine }), "+")
	case "file":
		return filepath.Base(r.Source)
	case "name":
		return r.Name
	case "title":
		return r.Title
	}
	for name, value := range r.Labels {
		if strings.EqualFold(name, key) {
			return value
		}
	}
	return ""
}

// each is a text of all workloads, each once.
func each(loads []fio.Workload, of func(fio.Workload) string) []string {
	var list []string
	for _, w := range loads {
		if s := of(w); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// fioRW is fio's word for what a job does.
func fioRW(w fio.Workload) string {
	word := "rw"
	switch {
	case w.TrimShare >= 1:
		word = "trim"
	case w.ReadShare >= 1:
		word = "read"
	case !w.Reads():
		word = "write"
	}
	if !w.Sequential {
		return "rand" + word
	}
	return word
}

// resultFigure is a figure of a result, with times in nanoseconds.
func resultFigure(r *result.Result, key string) (v float64, known bool) {
	sum := r.Sum()
	switch key {
	case "iops":
		v = float64(sum.IOPS)
	case "bw":
		v = float64(sum.BW)
	case "runtime":
		v = float64(r.Measured)
	case "depth":
		for _, w := range r.Workloads {
			v = max(v, float64(w.Depth))
		}
	case "jobs":
		for _, w := range r.Workloads {
			v += float64(max(w.Jobs, 1))
		}
	default:
		return latencyFigure(r, key)
	}
	return v, v > 0
}

// latencyFigure is that of the slower direction: a sum over both would say nothing of either.
func latencyFigure(r *result.Result, key string) (v float64, known bool) {
	for _, d := range []fio.Direction{r.Total.Read, r.Total.Write} {
		l := d.Completion()
		switch key {
		case "mean":
			v = max(v, l.Mean)
		default:
			p, err := strconv.ParseFloat(strings.TrimPrefix(key, "p"), 64)
			if at, ok := l.At(p); err == nil && ok {
				v = max(v, float64(at))
			}
		}
	}
	return v, v > 0
}

// Runs are those of the runs below a directory that have a result which fulfils all conditions, ordered
// by their first one.
func (p Pick) Runs(dir string, runs []Run) ([]Run, error) {
	var firsts []*result.Result
	of := map[*result.Result]Run{}
	for _, run := range runs {
		b, err := Open(filepath.Join(dir, run.ID))
		if err != nil {
			return nil, err
		}
		var all []*result.Result
		for i := range b.Scenarios {
			if r := b.Scenarios[i].Result; r != nil {
				all = append(all, r)
			}
		}
		if list := p.Of(all); len(list) > 0 {
			firsts = append(firsts, list[0])
			of[list[0]] = run
		}
	}
	var picked []Run
	for _, r := range p.Of(firsts) {
		picked = append(picked, of[r])
	}
	return picked, nil
}
