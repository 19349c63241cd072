package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/suite"
)

// The mutilator: whole outputs of fio's, as text, JSON and terse, damaged as people damage them when they paste. A part
// may never contradict the whole. PLIMSOLL_MUTILATE is how many cases are tried (300; of more the installed fio makes
// fresh wholes, up to mostWholes), PLIMSOLL_SEED their seed (54; of more cases the clock), PLIMSOLL_CORPUS a folder of
// further whole outputs.

// judgedText is what an import says of a text.
type judgedText struct {
	b       *Bundle
	unread  int
	mixed   bool // two runs are in it
	outputs int
}

func importText(text string) (*judgedText, error) {
	outs, err := output.Read("paste.txt", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	found := Found{Outputs: source("paste.txt", outs), Documents: map[string]*Document{}}
	if quotes([]byte(text)) {
		around(found.Documents, found.Outputs, []byte(text))
	}
	j := &judgedText{
		outputs: len(outs),
		b:       &Bundle{Run: Run{Imported: []string{"paste.txt"}, Suite: suite.Suite{Name: "import"}}},
	}
	for _, o := range found.Outputs {
		j.unread += len(o.Unread)
	}
	if len(outs) == 0 || found.Unreadable() {
		return j, nil
	}
	results, err := found.into(&j.b.Run)
	if err != nil {
		return nil, err
	}
	for i, s := range j.b.Run.Suite.Scenarios {
		sc := Scenario{Scenario: s, Result: results[i]}
		if c, ok := j.b.Run.Ceilings[s.ID]; ok {
			sc.Ceiling = &c
		}
		j.b.Scenarios = append(j.b.Scenarios, sc)
	}
	j.b.Judge()
	return j, nil
}

// figure names a figure: of a row or, with no name, of a result as a whole.
type figure struct {
	row, side, what string
}

// figures are all that an import shows, each with the values that it has.
func (j *judgedText) figures() map[figure][]float64 {
	all := map[figure][]float64{}
	add := func(row, side, what string, v float64) {
		if v > 0 {
			f := figure{row, side, what}
			all[f] = append(all[f], v)
		}
	}
	for _, s := range j.b.Scenarios {
		r := s.Result
		rows := map[string][]fio.Job{"": {r.Total}}
		for _, row := range r.Jobs {
			name := "row"
			if row.Name == "" && row.IOs() == 0 && row.Read.IOPS+row.Write.IOPS == 0 { // all that have no row, by subtraction
				name = fmt.Sprintf("%d rows", row.Count)
			}
			rows[name] = append(rows[name], row)
		}
		for _, p := range r.Parts {
			rows["part"] = append(rows["part"], p.Total)
		}
		for name, list := range rows {
			for _, row := range list {
				for side, d := range map[string]fio.Direction{"read": row.Read, "write": row.Write, "trim": row.Trim} {
					add(name, side, "iops", float64(d.IOPS))
					add(name, side, "bw", float64(d.BW))
					add(name, side, "n", float64(d.N))
					add(name, side, "runtime", float64(d.Runtime))
					for kind, l := range map[string]fio.Latency{"clat": d.Clat, "slat": d.Slat, "lat": d.Lat} {
						latencyFigures(add, name, side, kind, l)
					}
				}
				latencyFigures(add, name, "sync", "lat", row.Sync.Lat)
			}
		}
		for _, d := range r.Disks {
			add("disk", d.Name, "reads", float64(d.Reads))
			add("disk", d.Name, "writes", float64(d.Writes))
		}
	}
	return all
}

func latencyFigures(add func(row, side, what string, v float64), row, side, kind string, l fio.Latency) {
	add(row, side, kind+" mean", l.Mean)
	add(row, side, kind+" max", float64(l.Max))
	for _, p := range l.Percentiles {
		add(row, side, fmt.Sprintf("%s p%g", kind, p.P), float64(p.Value))
	}
}

// fioRounds is how far a figure of three digits may be off, and what is printed twice.
const fioRounds = 0.012

// near says that a value is one of those of the whole, as exact as fio's text rounds it, or what it is subtracted from.
func near(what string, v float64, values []float64, of float64, cut bool) bool {
	return slices.ContainsFunc(values, func(w float64) bool {
		slack := fioRounds * max(w, of)
		if what == "n" && cut { // IOPS × runtime, where the counts are cut off
			slack = 0.06 * w
		}
		if what == "iops" || what == "n" {
			slack = max(slack, 1.01)
		}
		return math.Abs(v-w) <= slack
	})
}

// sumsOf are those of n of the values.
func sumsOf(values []float64, n int) (all []float64) {
	if n < 1 {
		return nil
	}
	for i, v := range values {
		if n == 1 {
			all = append(all, v)
			continue
		}
		for _, rest := range sumsOf(values[i+1:], n-1) {
			all = append(all, v+rest)
		}
	}
	return all
}

// contradicts says where a part says what the whole does not.
func contradicts(whole, p *judgedText) (faults []string) {
	want := whole.figures()
	partial := slices.ContainsFunc(
		p.b.Scenarios,
		func(s Scenario) bool { return s.Result.Lacks(part.AllJobs, part.AllSides) },
	)
	cut := slices.ContainsFunc(p.b.Scenarios, func(s Scenario) bool { return s.Result.Lacks(part.Ending) })
	for f, values := range p.figures() {
		all, of := want[f], 0.0
		if n, err := strconv.Atoi(strings.TrimSuffix(f.row, " rows")); err == nil && f.what != "runtime" {
			rows := want[figure{"row", f.side, f.what}]
			took := want[figure{"row", f.side, "runtime"}]
			of = slices.Max(append(want[figure{"", f.side, f.what}], 0))
			if len(took) > 0 { // the sum is over the longest time
				of *= 1 + (1-slices.Min(took)/slices.Max(took))/fioRounds
			}
			if all = sumsOf(rows, n); len(all) == 0 { // nothing says of how many rows
				for n := range min(len(rows), 10) {
					all = append(all, sumsOf(rows, n+1)...)
				}
			}
			all = append(all, want[f]...)
		} else if f.row != "disk" {
			all = slices.Concat(want[figure{"row", f.side, f.what}], want[figure{"part", f.side, f.what}],
				want[figure{"", f.side, f.what}])
		}
		for _, v := range values {
			if (f.row == "" || f.row == "part") && partial && !strings.Contains(f.what, " p") { // a sum of what is there, and marked as such
				continue
			}
			if !near(f.what, v, all, of, cut) {
				faults = append(
					faults,
					fmt.Sprintf("new figure: %s %s %s %g, want one of %g", cmp.Or(f.row, "sum"), f.side, f.what, v, all),
				)
			}
		}
	}
	known := map[finding.Code]bool{}
	for _, f := range whole.b.Findings {
		known[f.Code] = true
	}
	for _, f := range p.b.Findings {
		// Counters of the whole may hold what others wrote: what the latencies say of buffered writes is nearer. That
		// nothing synced them is of the storage what its counters could say.
		if (f.Code == "PL419" || f.Code == "PL430") && slices.ContainsFunc(p.b.Scenarios, func(s Scenario) bool {
			return s.Result.Lacks(part.DiskStats) || s.Result.DisksShared
		}) {
			continue
		}
		if f.Code == "PL402" && p.mixed { // of two commands one above the other the last is taken for the run below
			continue
		}
		// What explained it away in the whole may need what is gone.
		page, _ := finding.PageOf(f.Code)
		hidden := slices.ContainsFunc(page.After, func(cause finding.Code) bool { return known[cause] })
		if f.Severity.Rank() >= finding.Warn.Rank() && !known[f.Code] && !hidden {
			faults = append(faults, fmt.Sprintf("new finding: %s %s %s", f.Code, f.Severity, f.Message))
		}
	}
	return faults
}

// lostVerdict says which reason for INVALID a part does not have, although nothing was taken away that
// its rule needs: kept are the parts that the mutilation leaves.
func lostVerdict(whole, p *judgedText) (faults []string) {
	if len(p.b.Scenarios) == 0 {
		return nil
	}
	for _, f := range whole.b.Findings {
		if f.Severity == finding.Invalid &&
			!slices.ContainsFunc(p.b.Findings, func(g finding.Finding) bool { return g.Severity == finding.Invalid }) {
			faults = append(faults, fmt.Sprintf("INVALID lost: %s %s", f.Code, f.Message))
		}
	}
	return faults
}

// mutilation is what people do to an output. Keeps says that nothing of it is gone, so that the verdict stands.
type mutilation struct {
	name  string
	keeps bool
	do    func(r *rand.Rand, text string) string
	of    string // forms that it is done to, "" for all
}

// formOf is the form of a whole output.
func formOf(text string) string {
	switch {
	case strings.Contains(text, `"fio version"`):
		return "json"
	case strings.Count(text, ";") > 90:
		return "terse"
	}
	return "text"
}

// wholeRow is the first row of fio's document, as jq '.jobs[0]' prints it.
func wholeRow(_ *rand.Rand, s string) string {
	var doc struct{ Jobs []json.RawMessage }
	if json.Unmarshal([]byte(s[max(strings.IndexByte(s, '{'), 0):]), &doc) != nil || len(doc.Jobs) != 1 {
		return s
	}
	return string(doc.Jobs[0]) + "\n"
}

// printed prints a document again, as a program does that has read it.
func printed(write func(any) ([]byte, error)) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, s string) string {
		var doc any
		d := json.NewDecoder(strings.NewReader(s[max(strings.IndexByte(s, '{'), 0):]))
		d.UseNumber()
		if d.Decode(&doc) != nil {
			return s
		}
		out, err := write(doc)
		if err != nil {
			return s
		}
		return string(out) + "\n"
	}
}

var (
	rowBegins  = regexp.MustCompile(`(?m)^\S.*\(groupid=\d+, jobs=`)
	sideBegins = regexp.MustCompile(`^\s*(read|write)\s*:`)
	rowRest    = regexp.MustCompile(`^\s*(cpu|lat \(|IO depths|fsync)|^Run status|^\S`)
	decimals   = regexp.MustCompile(`(\d)\.(\d)`)
	thousand   = regexp.MustCompile(`([=, ])(\d{1,3})(\d{3})([,\s])`)
	anyNumber  = regexp.MustCompile(`\d{2,}`)
)

func eachLine(text string, f func(line string) string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = f(l)
		}
	}
	return strings.Join(lines, "")
}

func prefixed(with string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, text string) string {
		return eachLine(text, func(l string) string { return with + l })
	}
}

func cutAt(text string, at int) string { return text[:min(max(at, 0), len(text))] }

// firstRow is where the first row begins, 0 for none.
func firstRow(text string) int {
	if at := rowBegins.FindStringIndex(text); at != nil {
		return at[0]
	}
	return 0
}

func mutilations() []mutilation {
	return []mutilation{
		{"cut anywhere", false, func(r *rand.Rand, s string) string { return cutAt(s, len(s)/4+r.IntN(len(s)*3/4)) }, ""},
		{"cut at a line", false, func(r *rand.Rand, s string) string {
			at := cutAt(s, len(s)/4+r.IntN(len(s)*3/4))
			return at[:strings.LastIndexByte(at, '\n')+1]
		}, ""},
		{"cut in a number", false, func(r *rand.Rand, s string) string {
			from := firstRow(s)
			all := anyNumber.FindAllStringIndex(s[from:], -1)
			if len(all) == 0 {
				return s
			}
			n := all[r.IntN(len(all))]
			return s[:from+n[0]+1+r.IntN(n[1]-n[0]-1)]
		}, ""},
		{"cut in the percentiles", false, func(r *rand.Rand, s string) string {
			if at := strings.Index(s, "th=["); at > 0 {
				return cutAt(s, at+r.IntN(700))
			}
			return s
		}, "text"},
		{"without its head", false, func(r *rand.Rand, s string) string {
			at := r.IntN(len(s) / 3)
			return s[at+strings.IndexByte(s[at:], '\n')+1:]
		}, ""},
		{"from the row on", false, func(_ *rand.Rand, s string) string { return s[firstRow(s):] }, "text"},
		{"without header lines", false, func(_ *rand.Rand, s string) string {
			return eachLine(s, func(l string) string {
				if strings.Contains(l, "(g=") {
					return ""
				}
				return l
			})
		}, "text"},
		{"without the command", false, func(_ *rand.Rand, s string) string {
			return eachLine(s, func(l string) string {
				if strings.HasPrefix(l, "$ fio") {
					return ""
				}
				return l
			})
		}, "text"},
		{"from a direction on", false, func(_ *rand.Rand, s string) string {
			at := firstRow(s)
			return s[at+strings.IndexByte(s[at:], '\n')+1:]
		}, "text"},
		{"one direction", false, func(r *rand.Rand, s string) string {
			gone, skip := []string{"read", "write"}[r.IntN(2)], false
			return eachLine(s, func(l string) string {
				if m := sideBegins.FindStringSubmatch(l); m != nil {
					skip = m[1] == gone
				} else if rowRest.MatchString(l) && !strings.HasPrefix(strings.TrimSpace(l), "lat (") || strings.HasPrefix(l, "  lat (") {
					skip = false
				}
				if skip {
					return ""
				}
				return l
			})
		}, "text"},
		{"a job less", false, func(r *rand.Rand, s string) string {
			at := rowBegins.FindAllStringIndex(s, -1)
			if len(at) < 2 {
				return s
			}
			i := r.IntN(len(at))
			end := strings.Index(s, "\nRun status")
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			return s[:at[i][0]] + s[max(end, at[i][0]):]
		}, "text"},
		{"one job", false, func(r *rand.Rand, s string) string {
			at := rowBegins.FindAllStringIndex(s, -1)
			end := strings.Index(s, "\nRun status")
			if len(at) < 2 || end < 0 {
				return s
			}
			i := r.IntN(len(at))
			to := end + 1
			if i+1 < len(at) {
				to = at[i+1][0]
			}
			if to < at[i][0] { // rows of another run behind the sums
				return s
			}
			return s[:at[0][0]] + s[at[i][0]:to] + s[end+1:]
		}, "text"},
		{"only the sums", false, func(_ *rand.Rand, s string) string {
			return s[max(strings.Index(s, "\nRun status"), 0):]
		}, "text"},
		{"without disk statistics", false, func(_ *rand.Rand, s string) string {
			before, _, _ := strings.Cut(s, "Disk stats")
			return before
		}, "text"},
		{"wrapped", true, func(r *rand.Rand, s string) string {
			w := 60 + r.IntN(21)
			return eachLine(s, func(l string) string {
				var b strings.Builder
				for len(l) > w+1 {
					at := w
					if space := strings.LastIndexByte(l[:w], ' '); space > w/2 {
						at = space + 1
					}
					b.WriteString(l[:at] + "\n")
					l = l[at:]
				}
				return b.String() + l
			})
		}, "text"},
		{"docker compose", true, prefixed("fio-1  | "), ""},
		{"kubectl", true, prefixed("[pod/fio-abc/fio] "), ""},
		{"journal", true, prefixed("Nov 26 10:00:00 host fio[123]: "), ""},
		{"timestamps", true, prefixed("2026-11-26T10:00:00.123456Z "), ""},
		{"quoted", true, prefixed("> "), ""},
		{"quoted twice", true, prefixed("> > "), ""},
		{"indented", true, prefixed("    "), ""},
		{"pasted twice", true, func(_ *rand.Rand, s string) string { return s + "\n" + s }, ""},
		{"carriage returns", true, func(_ *rand.Rand, s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, ""},
		{"colours", true, func(_ *rand.Rand, s string) string {
			return eachLine(s, func(l string) string { return "\x1b[32m" + strings.TrimSuffix(l, "\n") + "\x1b[0m\n" })
		}, ""},
		{"html", true, func(_ *rand.Rand, s string) string {
			return "<pre><code>" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s) + "</code></pre>\n"
		}, ""},
		{"wiki", true, func(_ *rand.Rand, s string) string { return "h2. Results\n{code}\n" + s + "{code}\n" }, ""},
		{"fenced", true, func(_ *rand.Rand, s string) string {
			return "We measured this:\n\n```\n" + s + "```\n\nIs that good?\n"
		}, ""},
		{"decimal commas", true, func(_ *rand.Rand, s string) string {
			return eachLine(s, func(l string) string {
				if strings.HasPrefix(l, "fio-") || strings.HasPrefix(l, "$ ") {
					return l
				}
				return decimals.ReplaceAllString(l, "$1,$2")
			})
		}, "text"},
		{"thousands", true, func(_ *rand.Rand, s string) string {
			return eachLine(s, func(l string) string {
				if strings.Contains(l, "issued") || strings.Contains(l, "pid=") || strings.HasPrefix(l, "$ ") {
					return l
				}
				return thousand.ReplaceAllString(l, "$1$2,$3$4")
			})
		}, "text"},
		{"translated headings", true, func(_ *rand.Rand, s string) string {
			return "# Ergebnisse\n\nHier die Ausgabe:\n\n" + s + "\nGruß\n"
		}, ""},
		{"one row of a document", false, wholeRow, "json"},
		{"compact", true, printed(json.Marshal), "json"},
		{"sorted keys", true, printed(func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "    ") }), "json"},
		{"without its counters", false, func(_ *rand.Rand, s string) string {
			before, _, cut := strings.Cut(s, `"disk_util"`)
			if !cut {
				return s
			}
			return strings.TrimRight(before, ", \n\t") + "\n}\n"
		}, "json"},
		{"between two of its lines", false, func(r *rand.Rand, s string) string {
			lines := strings.SplitAfter(s, "\n")
			from := r.IntN(len(lines) / 2)
			return "The interesting part:\n```\n" + strings.Join(lines[from:from+1+r.IntN(len(lines)-from)], "") + "```\n"
		}, "json"},
	}
}

// interleave mixes two outputs line by line, as two containers print at once.
func interleave(r *rand.Rand, a, b, of, other string) string {
	var out strings.Builder
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for len(x)+len(y) > 0 {
		list, with := &x, of
		if len(x) == 0 || len(y) > 0 && r.IntN(len(x)+len(y)) >= len(x) {
			list, with = &y, other
		}
		if l := (*list)[0]; l != "" {
			out.WriteString(with + strings.TrimSuffix(l, "\n") + "\n")
		}
		*list = (*list)[1:]
	}
	return out.String()
}

// wholes are the outputs that are damaged: some that fio 3.33 printed on 2026-11-26 for this test, and those
// of a folder.
func wholes(t *testing.T, r *rand.Rand, fresh bool) (texts map[string]string, names []string) {
	t.Helper()
	texts = map[string]string{}
	packed, err := txtar.ParseFile(filepath.Join("testdata", "whole.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range packed.Files {
		texts[f.Name] = string(f.Data)
	}
	if dir := os.Getenv("PLIMSOLL_CORPUS"); dir != "" {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			plain := bytes.Contains(data, []byte(": (g=0): rw=")) && bytes.Count(data, []byte("Run status group 0")) == 1
			document := bytes.HasPrefix(data, []byte("{")) && bytes.Count(data, []byte(`"fio version"`)) == 1 && json.Valid(data)
			if err == nil && len(data) < 64<<10 && (plain || document) {
				texts[path] = string(data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if fresh {
		maps.Copy(texts, freshWholes(t, r, mostWholes-len(texts)))
	}
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return texts, names
}

// mostWholes is how many whole outputs the large form of the test damages.
const mostWholes = 320

func TestPartsNeverContradictTheWhole(t *testing.T) {
	cases, seed := 300, uint64(54)
	if s, err := strconv.Atoi(os.Getenv("PLIMSOLL_MUTILATE")); err == nil {
		cases = s
	}
	switch s, err := strconv.ParseUint(os.Getenv("PLIMSOLL_SEED"), 10, 64); {
	case err == nil:
		seed = s
	case cases > 300:
		seed = uint64(time.Now().UnixNano()) //nolint:gosec // any number
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	texts, names := wholes(t, r, cases > 300)
	known := map[string]*judgedText{}
	whole := func(name string) *judgedText {
		if known[name] == nil {
			j, err := importText(texts[name])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			known[name] = j
		}
		return known[name]
	}
	kinds, count, faulty := mutilations(), map[string]int{}, map[string]int{}
	for range cases {
		name := names[r.IntN(len(names))]
		w := whole(name)
		if len(w.b.Scenarios) == 0 {
			continue
		}
		var kind mutilation
		var text string
		if at := r.IntN(len(kinds) + 2); at < len(kinds) {
			kind = kinds[at]
			if kind.of != "" && kind.of != formOf(texts[name]) {
				continue
			}
			// whole rows, of which nothing says how many there were
			if (kind.name == "cut at a line" || kind.name == "without its head") && formOf(texts[name]) == "terse" {
				continue
			}
			if text = kind.do(r, texts[name]); text == texts[name] {
				continue
			}
		} else { // two at once
			other := names[r.IntN(len(names))]
			if other == name || len(whole(other).b.Scenarios) == 0 || strings.Contains(texts[name]+texts[other], "```") {
				continue // a program prints no page of Markdown
			}
			with := [][2]string{{"fio1  | ", "fio2  | "}, {"", ""}}[at-len(kinds)]
			kind.name = "interleaved"
			if with[0] == "" {
				if formOf(texts[name]) != "text" || formOf(texts[other]) != "text" {
					continue // what is no document any more is not read
				}
				kind.name = "interleaved bare"
			}
			text = interleave(r, texts[name], texts[other], with[0], with[1])
			both := *w.b
			both.Scenarios = slices.Concat(w.b.Scenarios, whole(other).b.Scenarios)
			both.Findings = slices.Concat(w.b.Findings, whole(other).b.Findings)
			w = &judgedText{b: &both}
		}
		count[kind.name]++
		p, err := importText(text)
		if err != nil {
			t.Errorf("%s of %s: %v", kind.name, name, err)
			continue
		}
		p.mixed = strings.HasPrefix(kind.name, "interleaved")
		faults := contradicts(w, p)
		if kind.keeps {
			faults = append(faults, lostVerdict(w, p)...)
			if len(p.b.Scenarios) == 0 {
				faults = append(faults, "nothing was read")
			}
		}
		if len(faults) == 0 {
			continue
		}
		slices.Sort(faults)
		if faulty[kind.name]++; faulty[kind.name] <= 2 {
			file := filepath.Join(
				os.TempDir(),
				fmt.Sprintf("mutilated-%s-%d.txt", strings.ReplaceAll(kind.name, " ", "-"), faulty[kind.name]),
			)
			if os.WriteFile(file, []byte(text), 0o600) != nil {
				file = "(not written)"
			}
			t.Errorf(
				"%s of %s (%s): %d faults:\n  %s",
				kind.name,
				name,
				file,
				len(faults),
				strings.Join(faults[:min(len(faults), 4)], "\n  "),
			)
		}
	}
	total, bad := 0, 0
	for _, kind := range slices.Sorted(func(yield func(string) bool) {
		for k := range count {
			if !yield(k) {
				return
			}
		}
	}) {
		total, bad = total+count[kind], bad+faulty[kind]
		t.Logf("%-25s %4d cases, %d with faults", kind, count[kind], faulty[kind])
	}
	t.Logf("%d of %d cases of %d outputs have faults", bad, total, len(names))
}

// TestMakeWholeOutputs adds outputs of the fio at hand to testdata/whole.txtar, where PLIMSOLL_WHOLE says how many.
func TestMakeWholeOutputs(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PLIMSOLL_WHOLE"))
	if err != nil {
		t.Skip("PLIMSOLL_WHOLE is not set: the outputs stay as they are")
	}
	file := filepath.Join("testdata", "whole.txtar")
	packed, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fresh := freshWholes(t, rand.New(rand.NewPCG(54, 2)), n)
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		packed.Files = append(packed.Files, txtar.File{Name: name, Data: []byte(fresh[name])})
	}
	if err := os.WriteFile(file, txtar.Format(packed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freshWholes are outputs that the installed fio prints of jobs made at random, four at a time.
func freshWholes(t *testing.T, r *rand.Rand, n int) map[string]string {
	t.Helper()
	texts, dir := make([]string, n), t.TempDir()
	var wg sync.WaitGroup
	next := make(chan func())
	for range 4 {
		wg.Go(func() {
			for do := range next {
				do()
			}
		})
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for i := range n {
		file := filepath.Join(dir, strconv.Itoa(i))
		form := pick("normal", "json", "json", "terse")
		args := []string{
			"--output-format=" + form,
			"--filename=" + file,
			"--size=" + pick("4m", "16m", "64m"),
			"--bs=" + pick("4k", "8k", "16k", "128k", "1m", "4k,64k"),
			"--runtime=" + pick("1", "2", "3"),
			"--time_based",
			"--direct=" + pick("0", "1", "1"),
		}
		args = append(
			args,
			"--ioengine="+pick("psync", "libaio", "libaio", "io_uring", "sync", "mmap"),
			"--iodepth="+pick("1", "4", "32", "64"),
		)
		args = append(
			args,
			strings.Fields(
				pick(
					"",
					"--group_reporting",
					"--fdatasync=1",
					"--rate_iops=500",
					"--lat_percentiles=1",
					"--percentile_list=50:99:99.9",
					"--invalidate=0",
				),
			)...)
		args = append(
			args,
			strings.Fields(
				pick("", "", "--numjobs=2", "--numjobs=4 --group_reporting", "--numjobs=3", "--numjobs=2 --new_group"),
			)...)
		job := "--name=" + pick(
			"a",
			"test",
			"rand-write",
			"job1",
		) + " --rw=" + pick(
			"read",
			"write",
			"randread",
			"randwrite",
			"rw",
			"randrw",
			"randrw --rwmixread=70",
		)
		if r.IntN(3) == 0 {
			job += " --name=" + pick(
				"b",
				"second",
			) + " " + pick(
				"",
				"--stonewall",
				"--new_group",
			) + " --rw=" + pick(
				"randread",
				"randwrite",
				"randrw",
			)
		}
		args = append(args, strings.Fields(job)...)
		next <- func() {
			cmd := exec.Command("fio", args...) //nolint:gosec // our own options
			run := cmd.Output
			if form == "normal" {
				run = cmd.CombinedOutput
			}
			out, err := run()
			if err != nil || len(out) > 24<<10 {
				return
			}
			texts[i] = strings.ReplaceAll(string(out), file, "/mnt/f")
			if form == "normal" {
				texts[i] = "$ fio " + strings.ReplaceAll(strings.Join(args[1:], " "), file, "/mnt/f") + "\n" +
					strings.ReplaceAll(texts[i], "\r", "\n")
			}
			_ = os.Remove(file)
		}
	}
	close(next)
	wg.Wait()
	all := map[string]string{}
	for i, text := range texts {
		if text != "" {
			all[fmt.Sprintf("fresh %03d %s", i, formOf(text))] = text
		}
	}
	return all
}
