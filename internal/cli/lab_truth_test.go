package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/result"
)

// onGuide runs on the guide's arrays, at a tenth of their rates.
const onGuide = " --data /data --wal /wal --topology plimsoll.yaml --size 128m --cooldown 0s --progress none"

// TestLabStop is T21: where a volume sits on its ceiling, --stop ends a scenario after 16 s or so,
// and what it says then is what a minute says.
func TestLabStop(t *testing.T) {
	g := labtest.Start(t, "gp3x8-raid10")
	const rounds, latest = 3, 25 * time.Second
	var ends []time.Duration
	short, long := map[string][]float64{}, map[string]float64{}
	figures := func(out, flags string, each func(*bundle.Scenario)) {
		do(t, g, "plimsoll run db --only 4,6,10 --ramp 3s --out "+out+onGuide+flags+" || test $? -le 4")
		b := fetched(t, g, out)
		for i := range b.Scenarios {
			if s := &b.Scenarios[i]; s.Result == nil || s.Result.State != result.Done {
				t.Fatalf("%s: %+v", s.Name, s.Result)
			} else {
				each(s)
			}
		}
	}
	figures("long", " --runtime 60s", func(s *bundle.Scenario) {
		long[s.Name] = s.Result.IOPS.Center
		share, known := s.Result.IOPS.Center/float64(s.Ceiling.Hardware().IOPS), s.Result.IOPS.Rel()
		if share < .98 || share > 1.02 || known > .01 {
			t.Skipf("SKIPPED: %s is at %.1f %% of its ceiling ± %.1f %% in a minute: this machine is too busy to hold T21",
				s.Name, 100*share, 100*known)
		}
	})
	for k := range rounds {
		figures(fmt.Sprintf("short%d", k), " --stop 2% --runtime 60s", func(s *bundle.Scenario) {
			at := s.Result.Stopped
			if at == nil || at.At == 0 || time.Duration(at.At)*time.Second > latest {
				var rates []float64
				for _, second := range s.Result.Seconds {
					rates = append(rates, float64(second.IOPS()))
				}
				t.Errorf("%s: %+v, want it stopped after %v at most: %.4g", s.Name, at, latest, rates)
				return
			}
			t.Logf("%s: stopped after %d s, %.6g IOPS", s.Name, at.At, s.Result.IOPS.Center)
			ends = append(ends, time.Duration(at.At)*time.Second)
			short[s.Name] = append(short[s.Name], s.Result.IOPS.Center)
		})
	}
	slices.Sort(ends)
	if len(ends) < 3*rounds || ends[len(ends)/2] > 16*time.Second {
		t.Errorf("ended after %v, want all %d, and 16 s in the median", ends, 3*rounds)
	}
	for name, figures := range short {
		for _, v := range figures {
			if off := v/long[name] - 1; off > .01 || off < -.01 {
				t.Errorf("%s: %.6g when stopped, %.6g in 60 s: %+.1f %%", name, v, long[name], 100*off)
			}
		}
	}
}

// TestLabAB is T22: of three comparisons of a variant with itself at most one claims a difference,
// and a loss of 15 % is found.
func TestLabAB(t *testing.T) {
	g := labtest.Start(t, "gp3x8-raid10")
	const ab = "plimsoll ab rand-write --rounds 6 --runtime 5s --ramp 2s" + onGuide
	claims, level := 0, 0.0
	for k := range 3 {
		out := fmt.Sprintf("aa%d", k)
		do(t, g, ab+" --variant a --variant b --seed "+fmt.Sprint(k)+" --out "+out)
		c := changeOf(t, g, out, &level)
		t.Logf("A/A: %s, %+v", c.Word, c.Ratio)
		if c.Word == compare.Faster || c.Word == compare.Slower {
			claims++
		}
	}
	if claims > 1 {
		t.Errorf("%d of 3 comparisons of a variant with itself claim a difference", claims)
	}
	rate := fmt.Sprintf("%.0f", .85*level/4) // of each of the four jobs
	do(t, g, ab+" --variant a --variant b:fio.rate_iops="+rate+" --out loss")
	c := changeOf(t, g, "loss", &level)
	t.Logf("A/B: %s, %+v", c.Word, c.Ratio)
	if c.Word != compare.Slower || c.Ratio.Hi < .82 || c.Ratio.Lo > .88 {
		t.Errorf("a loss of 15 %%: %s, %+v", c.Word, c.Ratio)
	}
}

// TestLabMost searches the load that keeps a latency on volumes whose limit is exact.
func TestLabMost(t *testing.T) {
	g := labtest.Start(t, "gp3x8-raid10")
	do(t, g, "plimsoll sweep rand-read-latency --most 'read.clat.p99 <= 20ms' --runtime 20s --out most"+onGuide)
	m, err := compare.FindMost(fetched(t, g, "most"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v, checked %+v", m.Bracket, m.Check)
	for _, p := range m.Probes {
		t.Logf("%+v", p)
	}
	if m.Closed == nil || m.Closed.Latency > 10e6 {
		t.Skipf("SKIPPED: one read at a time has a p99 of %+v already: this machine is too busy for a threshold of 20 ms", m.Closed)
	}
	// Eight volumes of 300 reads per second; chance loads one of them more than the others.
	if k := m.Bracket; !k.Done || k.Low < .4*m.Ceiling || k.Low > 1.03*m.Ceiling || k.High > 0 && k.High > 1.04*k.Low {
		t.Errorf("%+v of a ceiling of %g", k, m.Ceiling)
	}
}

// fetched is the only run below a directory in the guest.
func fetched(t *testing.T, g *lab.Guest, out string) *bundle.Bundle {
	t.Helper()
	names := fetch(t, g, out)
	if len(names) != 1 {
		t.Fatal(names)
	}
	b, err := bundle.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fetch(t *testing.T, g *lab.Guest, out string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	if err := g.Fetch(ctx, "/root/"+out, dir); err != nil {
		t.Fatal(err)
	}
	if kept := os.Getenv("PLIMSOLL_TRUTH_DIR"); kept != "" {
		if err := os.CopyFS(filepath.Join(kept, t.Name()), os.DirFS(dir)); err != nil {
			t.Log(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, out, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// changeOf is what a comparison of two variants says, and the base's level.
func changeOf(t *testing.T, g *lab.Guest, out string, level *float64) compare.Change {
	t.Helper()
	l, err := compare.Load([]string{fetch(t, g, out)[0]}, compare.Source{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := compare.New(l.Sides, compare.Options{Margin: compare.Margin, Paired: l.Paired, ByName: l.ByName})
	if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != 2 || table.Rows[0].Cells[1].Change == nil {
		t.Fatal(strings.TrimSpace(fmt.Sprintf("%+v %v", table, err)))
	}
	*level = table.Rows[0].Cells[0].Figure.Center
	return *table.Rows[0].Cells[1].Change
}
