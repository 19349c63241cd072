package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

const (
	// guideLayout is the disk benchmark guide's.
	guideLayout = `
arrays:
  - {name: data, role: data, level: raid10, chunk: 64KiB, volumes: 8x gp3 50GiB,
     filesystem: {type: xfs, label: DATA, mount: /data, options: [noatime], owner: "postgres:postgres", mode: "0700"}}
  - {name: wal, role: wal, level: raid10, chunk: 256KiB, assume_clean: true, volumes: 8x gp3 30GiB,
     filesystem: {type: xfs, label: WAL, mount: /wal, options: [noatime]}}
`
	// seedLayout is that of the articles: RAID0 of gp2 on partitions, and LVM's stripes.
	seedLayout = `
arrays:
  - {name: t0, role: data, level: raid0, chunk: 64KiB, partition: true, volumes: 4x gp2 3000GiB,
     filesystem: {type: xfs, mount: /data, options: [noatime]}}
  - {name: t1, role: wal, level: raid0, using: lvm, volume_group: pool, chunk: 128KiB, volumes: 4x gp3 100GiB,
     filesystem: {type: xfs, mount: /wal, options: [noatime]}}
`
)

// TestLabLayout is the whole of it on declared layouts, at a tenth of their rates: plimsoll builds
// the arrays, checks them, finds their throughput to be what it said it would be before, and takes
// them down again.
func TestLabLayout(t *testing.T) {
	for name, layout := range map[string]string{"guide": guideLayout, "seeds": seedLayout} {
		t.Run(name, func(t *testing.T) {
			g := built(t, layout)
			for _, f := range inGuest(t, g, "plimsoll check --data /data --wal /wal --topology plimsoll.yaml --json > check.json; cat check.json") {
				if f.Severity != finding.Info {
					t.Errorf("check: %s %s: %s", f.Code, f.Severity, f.Message)
				}
			}
			// The verdict may be that a latency target of the suite was missed: 3 is no failure of
			// the run.
			do(t, g, "plimsoll run db --data /data --wal /wal --topology plimsoll.yaml --runtime 12s --ramp 3s --size 128m --only 4-7,10 || test $? = 3")
			reached(t, fetched(t, g, "runs"))
			do(t, g, `plimsoll array teardown --yes && for d in /dev/nvme*n1; do wipefs $d; done | tee left; test ! -s left`)
		})
	}
}

// built is a guest on whose volumes, at a tenth of their rates, plimsoll built what a plimsoll.yaml
// declares.
func built(t *testing.T, layout string, programs ...string) *lab.Guest {
	t.Helper()
	s, err := lab.FromDeclaration("plimsoll.yaml", []byte(layout), 0.1)
	if err != nil {
		t.Fatal(err)
	}
	s.Programs = programs
	g := labtest.StartSpec(t, s)
	if err := g.Unlimit(); err != nil {
		t.Fatal(err)
	}
	do(t, g, "plimsoll array apply plimsoll.yaml --yes && plimsoll array verify plimsoll.yaml")
	if err := g.Limit(); err != nil {
		t.Fatal(err)
	}
	return g
}

// reached compares the throughput of a run with its ceilings, where throughput is what binds.
func reached(t *testing.T, b *bundle.Bundle) {
	t.Helper()
	bound := 0
	for _, s := range b.Scenarios {
		limit := s.Ceiling.Hardware()
		if limit == nil || s.Result == nil {
			t.Fatalf("%s: no ceiling or no result", s.Name)
		}
		got := s.Result.Total.Read.BW + s.Result.Total.Write.BW
		share := float64(got / limit.BW)
		t.Logf("%-16s %v of %v (%s): %.1f %%", s.Name, got, limit.BW, limit.Label(), 100*share)
		if limit.Kind != ceiling.VolumeRate && limit.Kind != ceiling.InstanceRate {
			continue
		}
		bound++
		if share < 0.95 || share > 1.05 {
			t.Errorf("%s: %v, which is %.1f %% of the %v predicted: want 5 %% at most either way", s.Name, got, 100*share, limit.BW)
		}
	}
	if bound < 4 {
		t.Errorf("%d scenarios were bound by throughput, want 4", bound)
	}
	text, err := os.ReadFile(filepath.Join(b.Dir, "report.md"))
	if err != nil || !strings.Contains(string(text), "rates at 0.1 of the real ones") {
		t.Errorf("the report does not say its scale: %v", err)
	}
}

func do(t *testing.T, g *lab.Guest, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	r, err := g.Bash(ctx, script)
	if err != nil || r.Code != 0 {
		t.Fatalf("%s: %v, exit status %d\n%s\n%s", script, err, r.Code, r.Stdout, r.Stderr)
	}
}
