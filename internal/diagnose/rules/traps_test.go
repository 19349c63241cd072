package rules

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/cloud"
	"plimsoll/internal/diagnose/layout"
	runrules "plimsoll/internal/diagnose/run"
	"plimsoll/internal/finding"
)

// TestTraps holds DESIGN 4.4: each trap that the seeds' data shows is found, with the figures of
// the case. Those of job files (PL1xx) are held beside their rules.
func TestTraps(t *testing.T) {
	found := map[string][]finding.Finding{}
	for _, l := range corpus(t) {
		found[l.name] = Judge(&l.c, nil)
	}
	for _, trap := range []struct {
		in       string
		code     finding.Code
		severity finding.Severity
		says     string // in what it says or its evidence
	}{
		{"striped round 16, drives declared", "PL401", finding.Invalid, "within 42 µs, but the drive needs 77 µs"},
		{"striped round 16, as imported", "PL401", finding.Warn, "A tenth of the reads returned within 23 µs, faster than flash"},
		{"striped, as mounted", "PL207", finding.Fail, "/opt/fio/t0 and /opt/fio/t1: these are one filesystem, but md1 is not mounted at all"},
		{"striped, as mounted", "PL203", finding.Warn, "sw=8 (a stripe of 512 KiB), but md0 has 4 data members"},
		{"striped, as mounted", "PL208", finding.Warn, "discard"},
		{"striped round 15, drives declared", "PL503", finding.Warn, "3,733 MiB/s (3,915 MB/s)"},
		{"striped round 15, drives declared", "PL503", finding.Warn, "32.6 %"},
		{"striped round 15, as imported", "PL206", finding.Info, "28 KiB on chunks of 512 KiB become 1.0469 volume I/Os"},
		{"raid0 of gp2, deep writes as imported", "PL204", finding.Info, "nvme2n1 and nvme4n1 take 7.39 ms and 6.58 ms per request"},
		{"raid0 of gp2, all four runs", "PL501", finding.Warn, "With 16 I/Os in flight at 601 µs each, 26,618 IOPS is the most that is possible (26,598 measured); the hardware allows 36,000"},
		{"c6a.xlarge, writes", "PL601", finding.Warn, "burst of at most 30 min: c6a.xlarge sustains 6,000 IOPS"},
		{"c6a.xlarge, 45 min at the burst", "PL601", finding.Warn, "the assumed limit or time is wrong"},
		{
			"c6a.xlarge, 45 min across its end", "PL503", finding.Warn,
			"the burst ended after 30 min: over the 45 min of the run",
		},
		{"m5a.xlarge, writes", "PL505", finding.Info, "100.2 % of what m5a.xlarge may do"},
		{"c6a.xlarge, reads of 37.1k", "PL501", finding.Warn, "With 16 I/Os in flight at 430 µs each, 37,"},
		{"m6a.xlarge, reads of 33.4k", "PL501", finding.Warn, "With 16 I/Os in flight at 480 µs each, 33,"},
		{"lab: burst was spent before", "PL503", finding.Warn, "the run ended at 3"},
		{"the guide, all ten", "PL408", finding.Info, "128 I/Os were asked for, but each job waits in a sync"},
		{"the guide, all ten", "PL506", finding.Info, "1,003 MiB/s exceed the 500 MiB/s of 4 volumes, since all 8 members of md0 serve reads (1,000 MiB/s)"},
		{"the guide, all ten", "PL601", finding.Warn, "18,700 IOPS is a burst"},
		{"the guide, all ten", "PL601", finding.Warn, "1,003 MiB/s (1,052 MB/s) is a burst"},
		{"the guide, all ten", "PL601", finding.Warn, "sustained 12,000 IOPS and 312.5 MB/s"},
		{"logging application on gp3", "PL417", finding.Warn, "26.4 % of all I/Os took longer than 1 s"},
		{"logging application on io2", "PL417", finding.Warn, "6.0 % of all I/Os took longer than 1 s"},
		{"logging application on gp3", "PL504", finding.Fail, "33.4 % of the 256 MiB/s of reads asked for (85.6 MiB/s) and 75.4 % of the 80 MiB/s of writes"},
		{"logging application on io2", "PL504", finding.Fail, "46.1 % of the 256 MiB/s of reads asked for (118 MiB/s)"},
	} {
		ok := slices.ContainsFunc(found[trap.in], func(f finding.Finding) bool {
			text := f.Message
			for _, e := range f.Evidence {
				text += "\n" + e.Found + "\n" + e.Expected
			}
			return f.Code == trap.code && f.Severity == trap.severity && strings.Contains(text, trap.says)
		})
		if !ok {
			t.Errorf("%s: no %s (%s) that says %q; found %+v", trap.in, trap.code, trap.severity, trap.says, found[trap.in])
		}
	}
}

// TestEachRuleIsLabelled: a rule without a case that fires it, and one of its kind where it is
// silent, is not tested.
func TestEachRuleIsLabelled(t *testing.T) {
	wanted, silent := map[finding.Code]int{}, map[finding.Code]int{}
	rules := slices.Concat(layout.Rules(), runrules.Rules(), cloud.Rules())
	for _, l := range corpus(t) {
		for _, r := range rules {
			if strings.Contains(l.want, string(r.Code)) {
				wanted[r.Code]++
			} else if !strings.Contains(l.also, string(r.Code)) {
				silent[r.Code]++
			}
		}
	}
	for _, r := range rules {
		if wanted[r.Code] == 0 || silent[r.Code] == 0 {
			t.Errorf("%s: fires in %d cases, is silent in %d", r.Code, wanted[r.Code], silent[r.Code])
		}
	}
}

func TestJudgeHidesSymptomsAndDisabled(t *testing.T) {
	c := seedCases(t)[0].c // PL401 explains PL503 of the same scenario
	for _, f := range Judge(&c, nil) {
		if f.Code == "PL503" {
			t.Errorf("%s is reported although PL401 explains it", f.Code)
		}
	}
	without := Judge(&c, finding.Disabled{"PL401": "known"})
	if !slices.ContainsFunc(without, func(f finding.Finding) bool { return f.Code == "PL503" }) {
		t.Error("with PL401 disabled its symptom PL503 should be reported")
	}
	for _, f := range without {
		if f.Code == "PL401" && (f.Disabled != "known" || f.Severity != finding.Info || !strings.HasSuffix(f.Message, " Disabled: known.")) {
			t.Errorf("PL401 is disabled, and listed as %+v", f)
		}
	}
	first := Judge(&c, nil)
	for range 20 {
		if again := Judge(&c, nil); !slices.EqualFunc(first, again, func(a, b finding.Finding) bool {
			return a.Code == b.Code && a.Subject == b.Subject && a.Message == b.Message
		}) {
			t.Fatal("two judgements of one case differ")
		}
	}
}

// Who imports a gap reads what to do about its cause where most of it is known, else what to ask for.
func TestWhatToDoAboutAGapOfOthers(t *testing.T) {
	const ask, plan = "Ask for the disk statistics", "Plan for the sustained rate"
	for in, want := range map[string]string{
		"c6a.xlarge, 45 min across its end": plan, "half of the ceiling": ask,
	} {
		all := corpus(t)
		c := all[slices.IndexFunc(all, func(l labelled) bool { return l.name == in })].c
		for i := range c.Runs {
			c.Runs[i].Source = "pasted"
		}
		found := Judge(&c, nil)
		if !slices.ContainsFunc(found,
			func(f finding.Finding) bool { return f.Code == "PL503" && strings.HasPrefix(f.Fix, want) }) {
			t.Errorf("%s: %+v", in, found)
		}
	}
}

// TestNothingKnown: rules are silent on what is not there, whatever is missing.
func TestNothingKnown(t *testing.T) {
	for name, c := range map[string]diagnose.Case{
		"empty":          {},
		"no topology":    {Runs: []diagnose.Measurement{{}}},
		"empty results":  {Runs: []diagnose.Measurement{measured(1, random(1, 4096, 1, 1))}},
		"no volumes":     {Topology: on("", array("md0", "raid0", 0, 0, gp3()))},
		"unknown device": {Topology: on("", array("md0", "raid10", 65536, 2, gp3()))},
	} {
		if fs := Judge(&c, nil); len(fs) != 0 {
			t.Errorf("%s: %+v", name, fs)
		}
	}
}
