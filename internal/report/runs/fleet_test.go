package runs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// aFleet has every field, one of them from a host that sends escapes.
func aFleet() *bundle.Fleet {
	at := time.Date(2026, 11, 21, 3, 12, 0, 0, time.UTC)
	hist := &fio.Hist{}
	hist.Add(100, 1000)
	rate := stats.Estimate{Center: 2000, Lo: 1900, Hi: 2100, N: 20}
	return &bundle.Fleet{
		Schema: 1, Tool: "plimsoll test", ID: "20261121T031200Z-db-fleet", Created: at, Finished: at.Add(time.Minute), State: bundle.Finished,
		Labels: map[string]string{"kernel": "6.8"}, Via: "ssh", Order: "both", Suite: "db", Shared: true, Lose: 1, Request: []string{"db"},
		Hosts: []bundle.FleetHost{
			{
				Name: "db1", State: bundle.HostDone, Clock: bundle.FleetClock{Offset: 5, Wall: time.Second, Error: 7, Source: "ping"}, Plimsoll: "p", Fio: "fio-3.33",
				Exit: 3, Verdict: verdict.Fail, Dir: "hosts/db1", Remote: "/r", Starts: map[int]time.Duration{3: 4}, Facts: map[string]string{"data layout": "raid10 of 8 gp3"},
			},
			{Name: "db2", State: bundle.HostLost, Why: "\x1b[2J gone"},
		},
		Scenarios: []bundle.FleetScenario{{
			ID: 3, Name: "rand-read", Title: "t", Size: 1 << 30, Runtime: time.Minute, At: at, Windows: []bundle.FleetWindow{{Host: "db1", From: 1, To: 2}},
			Common: bundle.FleetSpan{From: 1, To: 2, Share: 0.9}, Total: bundle.FleetTotal{IOPS: 2000, BW: 1, Interval: rate, Hist: hist, Sync: hist},
			Hosts: []bundle.FleetFigure{{
				Host: "db1", IOPS: 2000, BW: 1, Interval: stats.Estimate{Center: 1, Lo: 1, Hi: 1, None: "1 s only"}, P50: 1, P99: 2, Ceiling: 3000, Limit: "volume",
				Sustained: 1500, Alone: 2100,
			}},
			Ceiling:    &bundle.FleetCeiling{IOPS: 3000, BW: 4, Binds: "sum of hosts"},
			Stragglers: []bundle.FleetStraggler{{Host: "db1", Of: 0.4, Others: 0.9}}, Invalid: []string{"db2 has no result."},
		}},
		Verdict: verdict.Warn, Reasons: []string{"r"}, Findings: []finding.Finding{{Code: "PL801", Severity: finding.Warn, Subject: "db2", Message: "m"}},
	}
}

// A page that came with a run that is not whole is its host's, and nothing leads a reader to it.
func TestPagesOfLostHostsAreNotLinked(t *testing.T) {
	f := aFleet()
	f.Hosts[1].Dir, f.Hosts[1].Reasons = "hosts/db2", []string{"r"}
	for _, format := range []page.Format{page.HTML, page.Markdown, page.JSON} {
		var out bytes.Buffer
		if err := page.Write(&out, format, Fleet(f), page.Options{Details: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "db2/report.html") ||
			format == page.HTML && !strings.Contains(out.String(), "db1/report.html") {
			t.Errorf("%s: a page is linked that the host brought, or none is", format)
		}
	}
}

// fleet.json keeps to its published schema, and a document that does not is refused by it.
func TestFleetFollowsItsSchema(t *testing.T) {
	strict, loose := compile(t, fleetFileSchema, true), compile(t, fleetFileSchema, false)
	printed := compile(t, fleetSchemaFile, true)
	for name, f := range map[string]*bundle.Fleet{"whole": aFleet(), "empty": {}} {
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := strict.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var out bytes.Buffer
		if err := page.Write(&out, page.JSON, Fleet(f), page.Options{Details: true}); err != nil {
			t.Fatal(err)
		}
		shown, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := printed.Validate(shown); err != nil {
			t.Errorf("%s as it is printed: %v", name, err)
		}
		doc.(map[string]any)["hosts"] = "three"
		if loose.Validate(doc) == nil {
			t.Error("the schema lets a word pass for the hosts")
		}
	}
}

// Fleet runs are listed with the runs, newest first, and what a host sent cannot write to the
// terminal.
func TestRunsListFleets(t *testing.T) {
	f := aFleet()
	older, newer := f.Created.Add(-time.Hour), f.Created.Add(time.Hour)
	var out bytes.Buffer
	err := page.Write(&out, page.Text, List(Listed{"runs", []bundle.Run{{ID: "new", Created: newer}, {ID: "old", Created: older}}, []*bundle.Fleet{f}}), page.Options{Details: true, Width: 120})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 7 || lines[0] != "3 runs" || !strings.Contains(lines[4], "runs/20261121T031200Z-db-fleet") || !strings.Contains(lines[4], "2 hosts, 1 lost") ||
		!strings.Contains(lines[5], "runs/old") {
		t.Errorf("%q", lines)
	}
	out.Reset()
	if err := page.Write(&out, page.JSON, List(Listed{Dir: "runs", Fleets: []*bundle.Fleet{f}}), page.Options{Details: true}); err != nil || !strings.Contains(out.String(), `"runs": []`) || !strings.Contains(out.String(), `"db2"`) {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, format := range page.Formats() {
		out.Reset()
		if err := page.Write(&out, format, Fleet(f), page.Options{Details: true}); err != nil || strings.Contains(out.String(), "\x1b[2J") {
			t.Errorf("%s: %v\n%s", format, err, &out)
		}
	}
}

// The first line counts the hosts that are fine; an INVALID one has its cause, its rule's page and
// the place of its own report.
func TestFleetSaysWhyAndWhere(t *testing.T) {
	f := aFleet()
	f.Hosts[0].Verdict, f.Hosts[0].Reasons = verdict.Invalid, []string{"Other processes used the CPU. (PL425)"}
	f.Hosts = append(f.Hosts, bundle.FleetHost{Name: "db3", State: bundle.HostDone, Verdict: verdict.Pass})
	f.Verdict, f.Reasons = verdict.Invalid, []string{"db1 is INVALID: Other processes used the CPU. (PL425)"}
	var out bytes.Buffer
	if err := page.Write(&out, page.Text, Fleet(f), page.Options{Details: true, Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"INVALID, 1 of 3 hosts ok: db1 is INVALID: Other processes used the CPU. (PL425)\n",
		"  fix: see hosts/db1/report.html; plimsoll explain PL425\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "db3 is") {
		t.Error("a host that is fine is among the reasons")
	}
}

// TestFleetRounds: figures over the rounds that count, and how many do not.
func TestFleetRounds(t *testing.T) {
	var all []*bundle.Fleet
	for i, iops := range []units.IOPS{1000, 1100, 5000} {
		f := aFleet()
		f.Scenarios = f.Scenarios[:1]
		f.Scenarios[0].Invalid, f.Scenarios[0].Total.IOPS, f.Verdict = nil, iops, verdict.Measured
		if i == 2 {
			f.Verdict = verdict.Invalid
		}
		all = append(all, f)
	}
	d := FleetRounds(all)
	if d.Head.Word != "2 of 3 rounds ok" {
		t.Errorf("%q", d.Head.Word)
	}
	got := overRounds(all)[0]
	if len(got.IOPS) != 2 || got.Left != 1 || got.Estimate.Center < 1048 || got.Estimate.Center > 1049 || !got.Estimate.HasInterval() {
		t.Errorf("%+v, want the geometric mean of 1000 and 1100 without the INVALID one", got)
	}
	if got := overRounds(all[:1])[0]; got.Estimate.HasInterval() || got.Estimate.Center < 999 {
		t.Errorf("one round: %+v", got.Estimate)
	}
	if len(overRounds(nil)) != 0 {
		t.Error("scenarios of no rounds")
	}
}
