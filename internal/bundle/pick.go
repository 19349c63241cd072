package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// Pick chooses, orders and groups the results of a library.
type Pick struct {
	where       []condition
	sort, group key
	down        bool
}

// condition is one of --where: bs=4k, iops>10000, name~nvme.
type condition struct {
	key
	op     suite.Op
	value  string
	figure float64 // value, where the key is a figure
}

// key is what results are picked by: a text, a figure, or both as the block size is. A name that is not
// in keys is that of a label.
type key struct {
	name   string
	text   func(*result.Result) string
	figure func(*result.Result) (v float64, known bool)
	parse  func(value string) (float64, error) // a value of the figure, with its unit
}

// keys are those that every result has.
func keys() []key {
	return []key{
		{name: "work", text: func(r *result.Result) string { return what(r.Workloads) }},
		{name: "rw", text: eachOf(fio.Workload.RW)},
		{name: "engine", text: eachOf(func(w fio.Workload) string { return w.Engine })},
		{name: "file", text: func(r *result.Result) string { return filepath.Base(r.Source) }},
		{name: "name", text: func(r *result.Result) string { return r.Name }},
		{name: "title", text: func(r *result.Result) string { return r.Title }},
		{name: verdictKey, text: func(r *result.Result) string { return r.Verdict }},
		{name: "bs", text: eachOf(blockSize), figure: oneBlockSize, parse: number(func(s string) (units.Bytes, error) {
			return fio.ParseSize(s, 1024)
		})},
		{
			name: "iops", figure: figureOf(func(r *result.Result) float64 { return float64(r.Sum().IOPS) }),
			parse: number(units.ParseIOPS),
		},
		{
			name: "bw", figure: figureOf(func(r *result.Result) float64 { return float64(r.Sum().BW) }),
			parse: number(units.ParseRate),
		},
		{name: "p50", figure: latency(percentile(50)), parse: number(units.ParseLatency)},
		{name: "p99", figure: latency(percentile(99)), parse: number(units.ParseLatency)},
		{name: "mean", figure: latency(func(l *fio.Latency) float64 { return l.Mean }), parse: number(units.ParseLatency)},
		{name: "depth", text: digits(deepest), figure: figureOf(deepest), parse: number(strconv.Atoi)},
		{name: "jobs", text: digits(jobs), figure: figureOf(jobs), parse: number(strconv.Atoi)},
		{
			name: "runtime", figure: figureOf(func(r *result.Result) float64 { return float64(r.Measured) }),
			parse: number(time.ParseDuration),
		},
	}
}

const verdictKey = "verdict"

// judges says that results have to be judged before they are picked.
func (p Pick) judges() bool {
	return p.sort.name != "" || slices.ContainsFunc(p.where, func(c condition) bool { return c.name == verdictKey })
}

// keyOf is the key of a name, which may be that of a label.
func keyOf(name string) key {
	name = strings.ToLower(strings.TrimSpace(name))
	all := keys()
	if i := slices.IndexFunc(all, func(k key) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	return key{name: name}
}

// KeyText is the text that a result has under a key of --where, "" for none.
func KeyText(r *result.Result, name string) string { return keyOf(name).of(r) }

// of is the text that a result has under a key, "" for none.
func (k key) of(r *result.Result) string {
	if k.text != nil {
		return k.text(r)
	}
	for name, value := range r.Labels {
		if strings.EqualFold(name, k.name) {
			return value
		}
	}
	return ""
}

var conditionText = regexp.MustCompile(`^\s*([\w. -]+?)\s*(!=|>=|<=|=|>|<|~)\s*(.+?)\s*$`)

// NewPick reads --where (several with commas between them hold together), --sort (a key, with - ahead for
// the largest first) and --group.
func NewPick(where []string, sort, group string) (Pick, error) {
	var p Pick
	for _, given := range where {
		for each := range strings.SplitSeq(given, ",") {
			c, err := newCondition(each)
			if err != nil {
				return p, fmt.Errorf("--where %s: %w", text.Quote(each), err)
			}
			p.where = append(p.where, c)
		}
	}
	sort, p.down = strings.CutPrefix(sort, "-")
	p.sort, p.group = keyOf(sort), keyOf(group)
	if p.group.figure != nil && p.group.text == nil {
		return p, fmt.Errorf("--group %s: nearly every result has its own; group by %s, or a label", p.group.name,
			named(isText))
	}
	return p, nil
}

func newCondition(s string) (condition, error) {
	m := conditionText.FindStringSubmatch(s)
	if m == nil {
		return condition{}, fmt.Errorf("want KEY=VALUE, KEY!=VALUE, KEY~PART, or for a figure (%s) also KEY>VALUE "+
			"and the like",
			named(isFigure))
	}
	c := condition{key: keyOf(m[1]), op: suite.Op(m[2]), value: strings.ToLower(m[3])}
	switch {
	case c.op == "~" && c.key.figure != nil && c.text == nil:
		return c, fmt.Errorf("%s is a figure: compare it with = or >", c.name)
	case c.op == "~" || c.key.figure == nil && !strings.ContainsAny(string(c.op), "<>"):
		return c, nil
	case c.key.figure == nil:
		return c, fmt.Errorf("%s is not a figure but text; figures are %s", c.name, named(isFigure))
	}
	var err error
	c.figure, err = c.parse(strings.ReplaceAll(c.value, " ", ""))
	return c, err
}

func isFigure(k key) bool { return k.figure != nil }

func isText(k key) bool { return k.text != nil }

// named are the names of those keys.
func named(which func(key) bool) string {
	var names []string
	for _, k := range keys() {
		if which(k) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

// Empty says that nothing is to be picked, ordered or grouped.
func (p Pick) Empty() bool { return len(p.where) == 0 && p.sort.name == "" && p.group.name == "" }

// ErrKey is in the chain of an error about a key that no result has.
var ErrKey = errors.New("is neither a key nor a label of any result")

// Of are the results that fulfil all conditions, in order. A key that is neither known nor a label of any
// of them is an error: it would choose nothing, or order nothing, and say neither. So are conditions that none fulfils.
func (p Pick) Of(all []*result.Result) ([]*result.Result, error) {
	asked := []key{p.sort, p.group}
	for _, c := range p.where {
		asked = append(asked, c.key)
	}
	for _, k := range asked {
		if k.name != "" && k.text == nil && k.figure == nil &&
			!slices.ContainsFunc(all, func(r *result.Result) bool { return k.of(r) != "" }) {
			return nil, fmt.Errorf("%s %w: keys are %s, dir", text.Quote(k.name), ErrKey, named(func(key) bool { return true }))
		}
	}
	list := p.chosen(all)
	if len(list) == 0 {
		return nil, errors.New("no result matches --where")
	}
	return list, nil
}

func (p Pick) chosen(all []*result.Result) (list []*result.Result) {
	for _, r := range all {
		if !slices.ContainsFunc(p.where, func(c condition) bool { return !c.holds(r) }) {
			list = append(list, r)
		}
	}
	if p.sort.name != "" {
		slices.SortStableFunc(list, p.order)
	}
	return list
}

// order is that of --sort; what is not known stands last, and behind it what is invalid.
func (p Pick) order(a, b *result.Result) int {
	last := func(x, y bool) int {
		switch {
		case x == y:
			return 0
		case x:
			return 1
		}
		return -1
	}
	behind := last(a.Verdict == string(verdict.Invalid), b.Verdict == string(verdict.Invalid))
	var by int
	if p.sort.figure == nil {
		by = cmp.Compare(p.sort.of(a), p.sort.of(b))
	} else {
		x, okX := p.sort.figure(a)
		y, okY := p.sort.figure(b)
		behind, by = cmp.Or(behind, last(!okX, !okY)), cmp.Compare(x, y)
	}
	if p.down {
		by = -by
	}
	return cmp.Or(behind, by)
}

// Group is results that have something in common.
type Group struct {
	Name    string
	Results []*result.Result
}

// Groups divides results, in the order in which their groups appear. Without a group there is one.
func (p Pick) Groups(list []*result.Result) (groups []Group) {
	if p.group.name == "" {
		return []Group{{Results: list}}
	}
	at := map[string]int{}
	for _, r := range list {
		name := cmp.Or(p.group.of(r), "not known")
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
	if c.op != "~" && c.key.figure != nil {
		got, known := c.key.figure(r)
		return known && c.op.Compares(got, c.figure)
	}
	got := strings.ToLower(c.of(r))
	if source := "/" + strings.ToLower(r.Source); c.name == "file" && c.op == "~" {
		got = source[1:] // with its folders
	} else if c.name == "file" && strings.HasSuffix(source, "/"+c.value) { // as it is printed
		got = c.value
	}
	switch c.op {
	case "~":
		return strings.Contains(got, c.value)
	case "!=":
		return got != c.value
	}
	return got == c.value
}

// number makes a parser of a unit one of a figure.
func number[T ~int | ~uint64 | ~int64 | ~float64](parse func(string) (T, error)) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := parse(s)
		return float64(v), err
	}
}

// eachOf is a text of all workloads of a result, each once.
func eachOf(of func(fio.Workload) string) func(*result.Result) string {
	return func(r *result.Result) string {
		var list []string
		for _, w := range r.Workloads {
			if s := of(w); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		return strings.Join(list, "+")
	}
}

// blockSize is the larger block of a job, as fio takes it.
func blockSize(w fio.Workload) string {
	return strings.ToLower(strings.TrimSuffix(max(w.ReadBS, w.WriteBS, w.TrimBS).Arg(), "iB"))
}

// oneBlockSize is that of a result whose jobs have the same.
func oneBlockSize(r *result.Result) (v float64, known bool) {
	for i, w := range r.Workloads {
		bs := float64(max(w.ReadBS, w.WriteBS, w.TrimBS))
		if i > 0 && bs != v {
			return 0, false
		}
		v = bs
	}
	return v, v > 0
}

func deepest(r *result.Result) float64 {
	depth := 0
	for _, w := range r.Workloads {
		depth = max(depth, w.Depth)
	}
	return float64(depth)
}

func jobs(r *result.Result) float64 {
	n := 0
	for _, w := range r.Workloads {
		n += max(w.Jobs, 1)
	}
	return float64(n)
}

// digits is a figure as a text, "" for 0.
func digits(of func(*result.Result) float64) func(*result.Result) string {
	return func(r *result.Result) string {
		if n := of(r); n > 0 {
			return strconv.Itoa(int(n))
		}
		return ""
	}
}

// figureOf is a figure that is not known where it is 0.
func figureOf(of func(*result.Result) float64) func(*result.Result) (float64, bool) {
	return func(r *result.Result) (float64, bool) {
		v := of(r)
		return v, v > 0
	}
}

// latency is that of the syncs, or of the slower direction, in nanoseconds: a sum over both would say nothing
// of either.
func latency(of func(*fio.Latency) float64) func(*result.Result) (float64, bool) {
	return figureOf(func(r *result.Result) (slowest float64) {
		for _, l := range r.Latencies() {
			slowest = max(slowest, of(&l.Latency))
		}
		return slowest
	})
}

// percentile is one in nanoseconds, 0 where it is not known.
func percentile(percent float64) func(*fio.Latency) float64 {
	return func(l *fio.Latency) float64 {
		v, _ := l.At(percent)
		return float64(v)
	}
}

// Runs are those of the runs below a directory that have a result which fulfils all conditions, ordered
// by their first one.
func (p Pick) Runs(dir string, runs []Run) (picked []Run, err error) {
	var results, firsts []*result.Result
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
		results = append(results, all...)
		if list := p.chosen(all); len(list) > 0 {
			firsts = append(firsts, list[0])
			of[list[0]] = run
		}
	}
	if _, err := p.Of(results); errors.Is(err, ErrKey) {
		return nil, err
	}
	for _, r := range p.chosen(firsts) {
		picked = append(picked, of[r])
	}
	return picked, nil
}
