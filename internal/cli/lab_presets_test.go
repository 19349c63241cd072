package cli_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// measures are findings that tell what was measured and how well, not that anything is wrong with
// the storage.
const measures = "PL403 PL404 PL408 PL501 PL502 PL506"

// TestLabPresets holds plimsoll to its word: each broken machine is caught by its own finding, and
// a healthy one gives none.
func TestLabPresets(t *testing.T) {
	const (
		onBoth = "--data /data --wal /wal"
		onData = "--data /data --wal /data"
		short  = " --runtime 10s --ramp 2s"
	)
	for _, c := range []struct {
		preset, paths string
		run           string // arguments of plimsoll run; empty where check must suffice
		want          string // the finding that the preset is for, and its severity
		also          string // what follows from the same fault
	}{
		{"gp3x8-raid10", onBoth, "2,4,8" + short, "", ""},
		{"gp2x4-raid0", onData, "2,4,8" + short, "", ""},
		{"nvme8", "--data /t0 --wal /t1", "2,4,8" + short, "", ""},
		{"slow-member", onData, "8" + short, "PL204 warning", "PL503 PL417"},
		{"degraded", onData, "", "PL201 error", "PL316"},
		{"resyncing", onData, "", "PL202 warning", ""},
		{"su-sw-mismatch", onData, "", "PL203 warning", ""},
		{"misaligned-partition", onData, "", "PL205 warning", ""},
		{"unwritten-blocks", onData, "job", "PL401 invalid", "PL413 PL418"},
		{"burst-runs-dry", onData, "2 --runtime 25s --ramp 0s", "PL406 warning", "PL405 PL417 PL605"},
		{"vm-burst-ends", onData, "2 --runtime 40s --ramp 0s", "PL406 warning", "PL405 PL417"},
		{"instance-cap", onData, "2" + short, "PL505 info", "PL417"},
		{"double-mount", onBoth, "", "PL207 error", ""},
		{"volatile-cache", onData, "", "PL209 info", ""},
	} {
		t.Run(c.preset, func(t *testing.T) {
			g := labtest.Start(t, c.preset)
			found := inGuest(t, g, "plimsoll check "+c.paths+" --topology plimsoll.yaml --json > check.json; cat check.json")
			switch c.run {
			case "":
			case "job":
				job := "[read]\nfilename=/data/unwritten.0\nrw=randread\nbs=8k\ndirect=1\nioengine=libaio\niodepth=16\ntime_based\nruntime=5\n"
				if err := g.Put(t.Context(), "/root/job.fio", 0o644, []byte(job)); err != nil {
					t.Fatal(err)
				}
				found = append(found, inGuest(t, g, "plimsoll run job.fio --topology plimsoll.yaml >&2; cat runs/*/findings.json")...)
			default:
				found = append(found, inGuest(t, g, "plimsoll run db "+c.paths+" --topology plimsoll.yaml --size 128m --cooldown 0s --only "+c.run+
					" >&2; cat runs/*/findings.json")...)
			}
			code, severity, _ := strings.Cut(c.want, " ")
			caught := code == ""
			for _, f := range found {
				t.Logf("%s %s: %s", f.Code, f.Severity, f.Message)
				switch {
				case string(f.Code) == code:
					caught = caught || string(f.Severity) == severity
				case strings.Contains(measures+" "+c.also, string(f.Code)):
				default:
					t.Errorf("%s %s: %s is a false alarm: %s", f.Code, f.Severity, f.Title, f.Message)
				}
			}
			if !caught {
				t.Errorf("no %s was found", c.want)
			}
		})
	}
}

// inGuest runs a command that prints findings as check --json or findings.json has them.
func inGuest(t *testing.T, g *lab.Guest, command string) []finding.Finding {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := g.Bash(ctx, command)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.TrimSpace(r.Stdout))
	var list []finding.Finding
	var doc struct{ Findings []finding.Finding }
	if err := json.Unmarshal(text, &list); err != nil {
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%s: %v\n%s%s", command, err, r.Stdout, r.Stderr)
		}
	}
	return slices.Concat(list, doc.Findings)
}
