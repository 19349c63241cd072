package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

var update = flag.Bool("update", false, "write golden files; read the difference before committing it")

func render(t testing.TB, f page.Format, b *bundle.Bundle, o page.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, f, Run(b), o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	b := synthetic(10)
	for _, f := range []page.Format{page.Text, page.Markdown, page.CSV, page.JUnit} {
		t.Run(string(f), func(t *testing.T) {
			got := render(t, f, b, page.Options{Details: true})
			name := filepath.Join("testdata", "report."+string(f))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestVerdictComesFirst(t *testing.T) {
	b := synthetic(3)
	for verdict, word := range map[verdict.Verdict]string{
		verdict.Pass: "READY", verdict.Warn: "READY WITH WARNINGS", verdict.Fail: "NOT READY", verdict.Invalid: "INVALID",
	} {
		b.Run.Verdict = verdict
		for f, head := range map[page.Format]string{page.Text: word + ": Scenario 9", page.Markdown: "# " + word + ": Scenario 9", page.HTML: `<h1><span class="verdict">` + word + "</span></h1>"} {
			got := render(t, f, b, page.Options{Details: true})
			if f == page.HTML {
				if !strings.Contains(got, head) || !strings.Contains(got, "<title>"+word+":") {
					t.Errorf("html does not show %s", word)
				}
				continue
			}
			if !strings.HasPrefix(got, head) {
				t.Errorf("%s begins with %.40q, want %q", f, got, head)
			}
		}
	}
	b.Run.State = bundle.Interrupted
	if got := render(t, page.Text, b, page.Options{Details: true}); !strings.HasPrefix(got, "INTERRUPTED: ") {
		t.Errorf("an interrupted run begins with %.30q", got)
	}
}

func TestTTYFitsItsWidthAndHasNoEscapes(t *testing.T) {
	for _, width := range []int{0, 60, 80, 120} {
		got := render(t, page.Text, synthetic(3), page.Options{Details: true, Width: width})
		want := width
		if width == 0 {
			want = 80
		}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			table := width == 60 && ansi.StringWidth(line) <= 80 // the overview's own least width
			if ansi.StringWidth(line) > want && !table && !strings.HasPrefix(line, "  $ ") {
				t.Errorf("at %d columns a line has %d: %s", want, ansi.StringWidth(line), line)
			}
			if strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("control character or tab in %q", line)
			}
		}
	}
	colored := render(t, page.Text, synthetic(3), page.Options{Details: true, Color: true})
	if !strings.Contains(colored, "\x1b[") {
		t.Error("no colour when asked for it")
	}
	if plain := render(t, page.Text, synthetic(3), page.Options{Details: true}); ansi.Strip(colored) != plain {
		t.Error("colour changes the text:", cmp.Diff(plain, ansi.Strip(colored)))
	}
}

// A terminal leaves the details out and says which, and every line that it prints is among all of them.
func TestATerminalLeavesDetailsOut(t *testing.T) {
	all, brief := render(t, page.Text, synthetic(3), page.Options{Details: true}), render(t, page.Text, synthetic(3), page.Options{})
	lines := strings.Split(strings.TrimSpace(brief), "\n")
	before, _, _ := strings.Cut(brief, "PL204")
	for _, line := range lines[:strings.Count(before, "\n")] {
		if !strings.Contains(all, line+"\n") {
			t.Errorf("only the short form has %q", line)
		}
	}
	last := strings.Join(lines[len(lines)-2:], " ")
	if !strings.Contains(last, "--details adds: fixes, all columns, evidence, 2 findings, 10 scenarios and machine") {
		t.Errorf("the last line is %q", last)
	}
	if len(brief) > len(all)/2 || !strings.Contains(brief, "PL204") {
		t.Error("the short form is too long:\n" + brief)
	}
}

func TestUnknownCeilingIsSaidAndNotGuessed(t *testing.T) {
	b := synthetic(3)
	for _, s := range b.Scenarios {
		row := newRow(&s, 0)
		known := s.Ceiling != nil
		if (row.Ceiling != words.Unknown) != known || (row.Percent != words.Unknown) != known || (row.From != words.Unknown) != known {
			t.Errorf("%s: ceiling known is %v, row says %+v", s.Name, known, row)
		}
	}
}

// chartScript is the script of pages with charts.
func chartScript(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("../page/assets/charts.js")
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

func TestUnknownFormat(t *testing.T) {
	err := page.Write(io.Discard, "pdf", Run(synthetic(1)), page.Options{Details: true})
	if err == nil || !strings.Contains(err.Error(), `"pdf"`) || !strings.Contains(err.Error(), "junit") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyBundles(t *testing.T) {
	waiting := synthetic(1)
	for i := range waiting.Scenarios {
		waiting.Scenarios[i].Result, waiting.Scenarios[i].Thresholds, waiting.Scenarios[i].Verdict = nil, nil, ""
	}
	hollow := synthetic(1)
	for i := range hollow.Scenarios {
		hollow.Scenarios[i].Result = &result.Result{State: result.Invalid}
	}
	for name, b := range map[string]*bundle.Bundle{"zero": {}, "waiting": waiting, "hollow": hollow} {
		for _, f := range page.Formats() {
			got := strings.Replace(render(t, f, b, page.Options{Details: true}), chartScript(t), "", 1)
			if strings.Contains(got, "NaN") || strings.Contains(got, "Inf ") {
				t.Errorf("%s as %s has NaN or Inf", name, f)
			}
		}
	}
}

// nasty is what a name may hold: markup, quotes, lines, ends of elements, a right-to-left override,
// terminal escapes, a broken rune, and length.
const nasty = "<script>alert(1)</script>\"'```|]]>--></title>\n\r\t\x1b[31m\x00\u202eevil\u2028\xff" + `\u003c` + "=cmd()"

func hostile() *bundle.Bundle {
	b := synthetic(2)
	b.Scenarios = b.Scenarios[:2]
	long := nasty + strings.Repeat("長", 300)
	r := &b.Run
	r.ID, r.Tool, r.Fio, r.Suite.Name = long, long, long, long
	r.Labels = map[string]string{long: long}
	r.Topology.Host.Name, r.Topology.Host.OS, r.Topology.Instance.Type = long, long, long
	r.Topology.Notes, r.Reasons = []string{long}, []string{long}
	r.Topology.Targets[0].Path, r.Topology.Arrays[0].Name = long, long
	r.Topology.Arrays[0].Volumes[0].Type = long
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		s.Name, s.Title, s.Why = "="+long, long, long
		// The text of a threshold has a form that cannot hold anything hostile.
		unjudged := threshold("write.iops >= 540", 540, 0, verdict.NotJudged)
		unjudged.Reason = long
		s.Thresholds = []verdict.ThresholdResult{unjudged, threshold("write.iops >= 540", 540, 1, verdict.Missed)}
		s.Ceiling.Bounds[0].How, s.Ceiling.Notes = long, []string{long}
		s.Result.Command = []string{"fio", "--name=" + long}
		s.Result.Jobs[0].Name, s.Result.Devices[1].Name = long, long
		s.Result.Jobs = append(s.Result.Jobs, s.Result.Jobs[0])
		s.Result.Doubts, s.Result.Reasons, s.Result.Depth.Note = []string{long}, []string{long}, long
		s.Result.Source, s.Result.State = long, result.Invalid
	}
	for i := range b.Findings {
		f := &b.Findings[i]
		f.Subject, f.Message, f.Title, f.Fix, f.Why, f.Commands = long, long, long, long, long, []string{long}
		f.Evidence = []finding.Evidence{{What: long, Found: long, Expected: long, Where: long}}
	}
	return b
}

func TestHostileNames(t *testing.T) {
	b := hostile()
	got := map[page.Format]string{}
	for _, f := range page.Formats() {
		got[f] = render(t, f, b, page.Options{Details: true})
		if f != page.JSON && strings.ContainsFunc(got[f], func(r rune) bool { return unicode.IsControl(r) && r != '\n' && f != page.HTML || r == '\u202e' }) {
			t.Errorf("%s lets a control character through", f)
		}
	}
	outside := "" // of code fences, within which Markdown has no markup
	for i, part := range strings.Split(got[page.Markdown], "\n````") {
		if i%2 == 0 {
			outside += part
		}
	}
	for f, phrase := range map[page.Format]string{page.HTML: strings.Replace(got[page.HTML], chartScript(t), "", 1), page.Markdown: outside} {
		if strings.Contains(phrase, "<script>alert") {
			t.Errorf("%s has a script element of the name", f)
		}
	}
	if n := strings.Count(got[page.HTML], "<script"); n != strings.Count(chartScript(t), "<script")+2 {
		t.Errorf("the page has %d script elements, want 2", n)
	}
	for line := range strings.Lines(got[page.Text]) {
		if !strings.HasPrefix(line, "  $ ") && !strings.HasPrefix(line, "    ") && ansi.StringWidth(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("tty line too long: %s", line)
		}
	}
	for line := range strings.Lines(got[page.Markdown]) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "| =") && cells != 12 {
			t.Errorf("a Markdown row of the overview has %d bars: %s", cells, line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(got[page.CSV])).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("csv has %d rows, %v", len(rows), err)
	}
	if !strings.HasPrefix(rows[1][2], "'=") {
		t.Errorf("csv name %q would be a formula", rows[1][2])
	}
	var x any = new(struct {
		XMLName xml.Name `xml:"testsuites"`
	})
	if err := xml.Unmarshal([]byte(got[page.JUnit]), x); err != nil {
		t.Error("junit:", err)
	}
	var back Document
	if err := json.Unmarshal([]byte(got[page.JSON]), &back); err != nil {
		t.Fatal(err)
	}
	if want := strings.ToValidUTF8(b.Scenarios[0].Name, "\ufffd"); back.Scenarios[0].Name != want {
		t.Errorf("json changed a name to %q", back.Scenarios[0].Name)
	}
}

func TestQuoteGivesBackWhatItWasGiven(t *testing.T) {
	for arg, want := range map[string]string{
		"--bs=8k": "--bs=8k", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$HOME": "'$HOME'",
		"x\ny": `"$(printf 'x\012y')"`, "\u202e": `"$(printf '\342\200\256')"`, "q'\n": `"$(printf 'q\047\357\277\275')"`,
	} {
		if got := text.ShellQuote(arg); got != want {
			t.Errorf("%q is quoted as %s, want %s", arg, got, want)
		}
	}
}

// TestJSONNamesUnits: what a program reads first, by names that say their units.
func TestJSONNamesUnits(t *testing.T) {
	var back struct {
		Schema    int    `json:"schema_version"`
		Document  string `json:"document"`
		Outcome   string `json:"outcome"`
		Scenarios []struct {
			Runtime int64 `json:"runtime_ns"`
			Result  struct {
				Seconds []struct {
					At int64 `json:"at_ns"`
				} `json:"seconds"`
			} `json:"result"`
		} `json:"scenarios"`
	}
	b := synthetic(3)
	if err := json.Unmarshal([]byte(render(t, page.JSON, b, page.Options{Details: true})), &back); err != nil {
		t.Fatal(err)
	}
	if back.Schema != page.Schema || back.Document != "report" || back.Outcome != "INVALID" || len(back.Scenarios) != len(b.Scenarios) {
		t.Errorf("schema %d, document %s, outcome %s, %d scenarios", back.Schema, back.Document, back.Outcome, len(back.Scenarios))
	}
	s, want := back.Scenarios[0], b.Scenarios[0]
	if s.Runtime != int64(want.Runtime) || len(s.Result.Seconds) != len(want.Result.Seconds) ||
		s.Result.Seconds[1].At != int64(want.Result.Seconds[1].At) {
		t.Errorf("%+v", s)
	}
}

// recorded is a run of real fio; see its README.
func recorded(t *testing.T) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open("testdata/real")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRecordedRun(t *testing.T) {
	b := recorded(t)
	for _, f := range page.Formats() {
		got := render(t, f, b, page.Options{Details: true})
		if f == page.SARIF || f == page.GitHub { // they have the findings only
			continue
		}
		if !strings.Contains(got, "sync-latency") || !strings.Contains(got, "mixed-stress") {
			t.Errorf("%s does not name the scenarios", f)
		}
	}
	row := newRow(&b.Scenarios[1], 1)
	if row.Measured != "116,815 IOPS" || row.Ceiling != "9,231 IOPS" || row.From != "volume IOPS" || row.Doubt == "" {
		t.Errorf("the mixed run's row is %+v", row)
	}
}

func BenchmarkHTML(b *testing.B) {
	run := synthetic(60)
	var size int
	for b.Loop() {
		var out bytes.Buffer
		if err := page.Write(&out, page.HTML, Run(run), page.Options{Details: true}); err != nil {
			b.Fatal(err)
		}
		size = out.Len()
	}
	b.ReportMetric(float64(size)/1e6, "MB")
	b.ReportMetric(1.5e6/float64(size), "x-of-1.5MB-budget-left")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/200, "of-200ms-budget")
}

func TestImportWithoutSecondsHasOnlyThePercentiles(t *testing.T) {
	b := synthetic(2)
	s := &b.Scenarios[6]
	s.Result.Seconds, s.Result.Devices, s.Result.Host = nil, nil, nil
	for _, d := range []*fio.Direction{&s.Result.Total.Read, &s.Result.Total.Write} {
		d.Clat.Hist = nil
		d.Clat.Percentiles = []fio.Percentile{{P: 50, Value: 14e6}, {P: 99, Value: 70e6}, {P: 100, Value: 90e6}}
	}
	s.Result.Disks = []fio.Disk{{Name: "md0", Reads: 1000, ReadTicks: 13000, Util: 0.97}, {Name: "nvme1n1", Member: true, Reads: 125}}
	row := newRow(s, 0)
	d, charts := newDrawing(s, row)
	if len(charts) != 1 || charts[0].Kind != "percentiles" || !charts[0].Wide {
		t.Errorf("charts are %+v", charts)
	}
	want := [][2]float64{{2, 14e6}, {100, 70e6}}
	if diff := cmp.Diff(want, d.Dirs[0].Curve); diff != "" {
		t.Error(diff)
	}
	if row.P99 != "read 70 ms" { // that of the slower one, by its name
		t.Errorf("percentiles of two directions were averaged to %s", row.P99)
	}
	if phrase := render(t, page.Text, b, page.Options{Details: true}); !strings.Contains(phrase, "· nvme1n1") || !strings.Contains(phrase, "13 ms") {
		t.Error("fio's disk statistics are not reported")
	}
}

func TestLongRunsAreMergedWithoutLoss(t *testing.T) {
	r := synthetic(60).Scenarios[6].Result
	all := merge(r.Seconds, 20)
	if len(all) > 21 {
		t.Errorf("%d intervals, want at most 20 and one for the ramp", len(all))
	}
	var had, has uint64
	var long time.Duration
	for _, s := range r.Seconds {
		had += s.Read.Hist.Count()
	}
	for _, s := range all {
		has += s.Read.Hist.Count()
		long += s.Len
		if got := float64(s.Read.N) / s.Len.Seconds(); got < 5000 || got > 15000 {
			t.Errorf("%.0f reads per second until %s", got, s.At)
		}
	}
	if had != has || long != 65*time.Second {
		t.Errorf("%d reads in %s became of %d", has, long, had)
	}
}

func TestHTMLOfTenScenariosIsSmall(t *testing.T) {
	if n := len(render(t, page.HTML, synthetic(60), page.Options{Details: true})); n > 1_500_000 {
		t.Errorf("%d bytes, want at most 1.5 MB", n)
	}
}

// A run that outlasts a burst is drawn with the course of its ceiling; a shorter one with two lines.
func TestCourseOfTheCeilingIsDrawn(t *testing.T) {
	s := &synthetic(60).Scenarios[6]
	c := ceiling.Ceiling{Bounds: []ceiling.Bound{
		{
			Kind: ceiling.InstanceIOPS, Name: "instance IOPS", IOPS: 40000, BW: 640 << 20, Burst: true,
			BurstFor: 30 * time.Second,
		},
		{Kind: ceiling.InstanceIOPS, Name: "instance IOPS", IOPS: 20000, BW: 320 << 20},
	}}
	for burst, want := range map[time.Duration][]limit{
		30 * time.Second: {{IOPS: 40000, BW: 640, Until: 30}, {IOPS: 20000, BW: 320}},
		2 * time.Minute:  nil,
	} {
		c.Bounds[0].BurstFor = burst
		s.Ceiling = &c
		d, _ := newDrawing(s, newRow(s, 0))
		if diff := cmp.Diff(want, d.Course); diff != "" || d.Ceiling.IOPS != 40000 || d.Lasting.IOPS != 20000 {
			t.Errorf("a burst of %v: %s", burst, diff)
		}
	}
}
