package bundle

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"plimsoll/internal/finding"
	"plimsoll/internal/verdict"
)

// TestPastesOfTheReview: what reviewers found in pastes stays as it was corrected: how many results and lines that are
// not read, figures of the whole import, what is missing, and findings that must be there (or, with !, must not).
func TestPastesOfTheReview(t *testing.T) {
	packed, err := txtar.ParseFile(filepath.Join("testdata", "review.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range packed.Files {
		texts[f.Name] = string(f.Data)
	}
	type want struct {
		defect, file    string
		results, unread int
		figures         map[figure]float64
		missing         string
		findings, says  string
		verdict         verdict.Verdict
	}
	sum := func(side, what string) figure { return figure{"", side, what} }
	for _, c := range []want{
		{"G1", "no-read-reached-the-device.txt", 1, 0, nil, "no job options, no end", "PL419 !PL501", "", verdict.Invalid},
		{
			"G2", "pl407-full-request-queue.txt", 1, 0, nil, "no command, no disk statistics", "PL407 !PL417",
			"Between 2 and 512", verdict.Measured,
		},
		{"G3", "two-runs-interleaved.log", 0, 1, nil, "", "", "", ""},
		{
			"G4", "mixed-latency.txt", 1, 0,
			map[figure]float64{sum("read", "clat p99"): 4e6, sum("write", "clat p99"): 5e6},
			"",
			"", "", verdict.Measured,
		},
		{
			"G5", "fdatasync-summary.txt", 1, 0,
			map[figure]float64{sum("sync", "lat p99"): 260e3},
			"", "", "",
			verdict.Measured,
		},
		{"S1", "one-job-of-four.txt", 1, 0, nil, "1 of 4 jobs", "!PL407", "", verdict.Measured},
		{"S2", "half-mix.txt", 1, 0, nil, "no writes", "!PL407 !PL402", "", verdict.Measured},
		{"S3", "kbench-beside-whole-fio.md", 13, 0, nil, "", "", "", verdict.Measured},
		{"S4", "truncated-bw.txt", 1, 1, map[figure]float64{sum("write", "bw"): 0}, "no end", "", "", verdict.Measured},
		{
			"S4", "thousands-separator.txt", 1, 0,
			map[figure]float64{sum("read", "iops"): 27101},
			"", "!PL407", "",
			verdict.Measured,
		},
		{
			"S5", "cut-percentiles.txt", 1, 1,
			map[figure]float64{sum("write", "clat p99"): 3792e3},
			"no percentiles above p99.9", "", "", verdict.Invalid, // 1.3 s
		},
		{
			"S6", "kubestr-custom-fio-file.md", 1, 0,
			map[figure]float64{{"disk", "nvme1n1", "reads"}: 2433523},
			"", "", "",
			verdict.Measured,
		},
		{
			"S7", "sysbench-without-last-line.txt", 1, 0,
			map[figure]float64{sum("write", "iops"): 68869.43},
			"", "", "",
			verdict.Measured,
		},
		{
			"S8", "pg_test_fsync-macos.txt", 5, 0,
			map[figure]float64{sum("sync", "lat mean"): 11364e3},
			"", "", "",
			verdict.Invalid,
		},
		{"S9", "three-runs-one-command.txt", 2, 0, map[figure]float64{
			sum("read", "iops"):     13945,
			{"row", "read", "iops"}: 62500,
		}, "", "", "", verdict.Measured},
		{"S10", "io-errors-no-result.txt", 1, 0, nil, "", "", "", verdict.Invalid},
		{"a sum of unlike jobs", "unlike-jobs-as-one.txt", 1, 0, nil, "", "PL429", "", verdict.Measured},
	} {
		j, err := importText(texts[c.file])
		if err != nil || len(j.b.Scenarios) != c.results || j.unread != c.unread {
			t.Errorf("%s %s: %d results, %d lines unread, %v", c.defect, c.file, len(j.b.Scenarios), j.unread, err)
			continue
		}
		all := j.figures()
		for f, v := range c.figures {
			if v > 0 && !near(f.what, v, all[f], 0, false) || v == 0 && len(all[f]) > 0 {
				t.Errorf("%s %s: %v is %v, want %v", c.defect, c.file, f, all[f], v)
			}
		}
		missing := ""
		for _, s := range j.b.Scenarios {
			if m := s.Result.Missing; m != nil {
				missing += m.String()
			}
		}
		if !strings.Contains(missing, c.missing) {
			t.Errorf("%s %s: missing is %q, want %q", c.defect, c.file, missing, c.missing)
		}
		for code := range strings.FieldsSeq(c.findings) {
			code, not := strings.CutPrefix(code, "!")
			if has := slices.ContainsFunc(j.b.Findings,
				func(f finding.Finding) bool { return string(f.Code) == code }); has == not {
				t.Errorf("%s %s: %s %v", c.defect, c.file, code, has)
			}
		}
		if !slices.ContainsFunc(j.b.Findings, func(f finding.Finding) bool { return strings.Contains(f.Message, c.says) }) &&
			c.says != "" {
			t.Errorf("%s %s: no finding says %q", c.defect, c.file, c.says)
		}
		if j.b.Run.Verdict != c.verdict {
			t.Errorf("%s %s: %s, want %s", c.defect, c.file, j.b.Run.Verdict, c.verdict)
		}
	}
}
