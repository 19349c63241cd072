package runs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
)

// TestPartsAreRows: hosts stand below their total in every format, and a sum of what ran at
// different times says over which.
func TestPartsAreRows(t *testing.T) {
	row := func(host string, n uint64) fio.Job {
		d := fio.Direction{N: n, Bytes: 4096 * 1000, IOPS: 1000, BW: 4096 * 1000, Runtime: time.Second}
		return fio.Job{Name: "j", Host: host, Count: 1, Runtime: time.Second, Read: d}
	}
	r := &result.Result{ID: 1, Name: "j", State: result.Done}
	result.FromOutput(r, &fio.Output{Jobs: []fio.Job{row("alpha", 1000), row("beta", 1000)}})
	serial := &result.Result{ID: 2, Name: "v", State: result.Done, Workloads: []fio.Workload{{Name: "v", Jobs: 1, Depth: 1, VerifyOn: true}}}
	both := row("", 1000)
	both.Name, both.Write = "v", both.Read
	both.Write.Runtime, both.Runtime = 3*time.Second, 3*time.Second
	result.FromOutput(serial, &fio.Output{Jobs: []fio.Job{both}})
	b := &bundle.Bundle{Scenarios: []bundle.Scenario{
		{Scenario: suite.Scenario{ID: 1, Name: "j"}, Result: r}, {Scenario: suite.Scenario{ID: 2, Name: "v"}, Result: serial},
	}}
	for format, want := range map[page.Format][]string{
		page.Text:     {"alpha: 1,000 IOPS", "beta: 1,000 IOPS", "2,000 IOPS", "over 4 s", "reads 1,000 IOPS, 3.91 MiB/s for 1 s"},
		page.Markdown: {"alpha: read", "beta: read", "over 4 s"},
		page.CSV:      {"j/alpha,", "j/beta,"},
		page.JSON:     {`"parts":[{"name":"alpha","host":"alpha"`, `"window_ns":4000000000`},
		page.HTML:     {"alpha: read", "over 4 s"},
	} {
		var out bytes.Buffer
		if err := page.Write(&out, format, Run(b), page.Options{Details: true, Width: 200}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s lacks %q:\n%.1500s", format, w, out.String())
			}
		}
	}
}
