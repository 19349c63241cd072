package cli_test

import (
	"strings"
	"testing"

	"plimsoll/internal/advise"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// guideDemand is what the disk benchmark guide's database does on its DATA array; tenth is the same
// at a tenth of the rate, for a machine whose volumes are simulated at a tenth of theirs.
const (
	guideDemand = "workload: guide\ncapacity: 200GiB\nstreams:\n  - {name: mix, does: random readwrite, reads: 70%, block: 8KiB, rate: 18461 IOPS, threads: 1, depth: 64}\n"
	tenth       = "workload: guide\ncapacity: 512MiB\nstreams:\n  - {name: mix, does: random readwrite, reads: 70%, block: 8KiB, rate: 1846 IOPS, threads: 1, depth: 64}\n"
)

// TestLabAdvise builds the cheapest layout that advise finds for the guide's demand at the default
// headroom from its --yaml, at a tenth of its rates, and measures that it meets a tenth of the
// demand.
func TestLabAdvise(t *testing.T) {
	d, err := workload.Parse("guide.yaml", []byte(guideDemand))
	if err != nil {
		t.Fatal(err)
	}
	a, err := advise.Advise(advise.Request{Demand: d, Headroom: 0.2, VCPUs: 8, Memory: 16 * units.GiB})
	if err != nil || len(a.Rows) == 0 {
		t.Fatal(a, err)
	}
	yaml := plans.AdviceYAML(a, &a.Rows[0])
	t.Logf("cheapest:\n%s", yaml)
	g := built(t, yaml)
	do(t, g, "cat > tenth.yaml <<'END'\n"+tenth+"END\nplimsoll run tenth.yaml --data /data --topology plimsoll.yaml --runtime 20s --cooldown 0 || test $? -le 4")
	do(t, g, "plimsoll compare --demand tenth.yaml runs/* | tee met.txt; grep -q 'meets it' met.txt || { cat met.txt; exit 1; }")
	do(t, g, "plimsoll array teardown --yes")
	if !strings.Contains(yaml, "raid0") {
		t.Logf("the cheapest layout is not a stripe:\n%s", yaml)
	}
}
