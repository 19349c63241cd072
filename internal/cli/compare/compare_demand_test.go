package compare

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/advise"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// TestSeedDecision: workload-to-jobfile.md as it stands, held against the demand that it describes.
func TestSeedDecision(t *testing.T) {
	env := &form.Env{Machine: sys.Host(), In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr}
	d, err := job.LoadDemand("../../workload/testdata/logging-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sides, _, err := measuredSides(t.Context(), env, "../../../testdata/seeds/workload-to-jobfile.md", "runs")
	if err != nil || len(sides) != 2 {
		t.Fatal(sides, err)
	}
	m := advise.Meets(d, sides)
	if m.Moved != 3680*units.MiB {
		t.Errorf("the demand moves %v, want 3,680 MiB", m.Moved)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.0006 {
			t.Errorf("%s: %.4f, want %.4f", what, got, want)
		}
	}
	for i, want := range []struct {
		write, read, moved, slow float64
		name                     string
	}{{1, 0.461, 0.823, 0.0600, "nvme1"}, {0.754, 0.334, 0.617, 0.2636, "nvme2"}} {
		s := m.Sides[i]
		near(want.name+" writes", s.Streams[0].Share, want.write)
		near(want.name+" reads", s.Streams[1].Share, want.read)
		near(want.name+" bytes", s.Share, want.moved)
		near(want.name+" above 1 s", s.Limits[len(s.Limits)-1].Above.Least, want.slow)
		near(want.name+" sustained, MiB/s / 100", float64(s.Sustained/units.MiBPerSec)/100, 0.4137)
		if s.Met || s.Name != want.name || s.Steady != 80*units.MiBPerSec || s.Instance != "t4g.medium" {
			t.Errorf("%+v", s)
		}
	}
	if want := "Neither meets the demand. nvme1 meets steady-write, for 30 min a day: then the t4g.medium limits it to 51.7 %."; m.Decision != want {
		t.Errorf("%q, want %q", m.Decision, want)
	}
	var out bytes.Buffer
	if err := page.Write(&out, page.Text, plans.Meets(m), page.Options{Details: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3,680 MiB", "3,029 MiB 82.3 %", "2,272 MiB 61.7 %", "41.4 MiB/s 51.7 %", "not met"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
