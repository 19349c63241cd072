package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/advise"
	"plimsoll/internal/block"
	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/compare"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/provision"
	written "plimsoll/internal/provision/records"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/script"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// imported is an import of documents.
func imported(t *testing.T, files ...string) *bundle.Bundle {
	t.Helper()
	outputs, documents, err := bundle.Gather(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Import(t.TempDir(), bundle.Run{
		Tool: "plimsoll", Fio: outputs[0].Version, Created: time.Date(2026, 11, 23, 8, 41, 0, 0, time.UTC), Imported: files,
		Suite: suite.Suite{Name: "import", Source: "import"},
	}, bundle.Found{Outputs: outputs, Documents: documents})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// importKinds are the documents of imports: of one file, of several, as a list, and how far one meets
// a demand.
func importKinds(t *testing.T, all map[string]*page.Document) {
	t.Helper()
	const seeds = "../../../testdata/seeds/"
	across := imported(t, seeds+"ebs-across-instances.md")
	both := imported(t, seeds+"ebs-across-instances.md", seeds+"workload-to-jobfile.md")
	all["import"], all["library"] = Run(across), Run(both)
	outputs, documents, err := bundle.Gather([]string{seeds + "ebs-across-instances.md"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := bundle.Found{Outputs: outputs, Documents: documents}.Results()
	if err != nil {
		t.Fatal(err)
	}
	all["summary"] = Summary(bundle.Pick{}.Groups(results))
	largeImports(t, all)

	demand := demanded(t)
	var sides []advise.Side
	for i := range both.Scenarios {
		sides = append(sides, advise.Side{Name: both.Scenarios[i].Name, Result: both.Scenarios[i].Result})
	}
	loose := *demand
	loose.Streams = []workload.Stream{{Name: "random-write", Blocks: []workload.Block{{Size: 16 << 10, Share: 1}}, Random: true, Rate: 100 << 20}}
	met := advise.Meets(&loose, sides[:1])
	if !met.Sides[0].Met {
		t.Errorf("a demand of a sixth of what was measured is not met: %s", met.Decision)
	}
	all["demand met"] = plans.Meets(met)
	missed := advise.Meets(demand, sides)
	if slices.ContainsFunc(missed.Sides, func(s advise.MetSide) bool { return s.Met }) {
		t.Errorf("the demand of the seed is met: %s", missed.Decision)
	}
	all["demand not met"] = plans.Meets(missed)
}

// largeImports are a library of more files than a screen has lines, and a file of as many results.
func largeImports(t *testing.T, all map[string]*page.Document) {
	t.Helper()
	const many = 42
	data, err := os.ReadFile("../../fio/output/testdata/versions/fio-3.41.txt")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	dir := t.TempDir()
	for i := range many {
		file := filepath.Join(dir, fmt.Sprintf("random-reads-of-the-data-volume-%02d.txt", i))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	all["paste"] = Run(imported(t, files[0]))
	all["large library"] = Run(imported(t, files...))
	outputs, documents, err := bundle.Gather(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := bundle.Found{Outputs: outputs, Documents: documents}.Results()
	if err != nil {
		t.Fatal(err)
	}
	all["large summary"] = Summary(bundle.Pick{}.Groups(results))
	if len(results) < many {
		t.Errorf("%d results of %d files", len(results), many)
	}
	one := filepath.Join(dir, "all.txt")
	if err := os.WriteFile(one, bytes.Repeat(append(data, '\n'), many), 0o600); err != nil {
		t.Fatal(err)
	}
	all["import of many results"] = Run(imported(t, one))
}

// demanded is the demand of a logging application.
func demanded(t *testing.T) *workload.Demand {
	t.Helper()
	data, err := os.ReadFile("../../workload/testdata/logging-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := workload.Parse("logging-app.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// adviceKinds are the documents of what to buy and of what is claimed.
func adviceKinds(t *testing.T, all map[string]*page.Document) {
	t.Helper()
	demand := demanded(t)
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	all["demand"] = plans.Demand(demand, time.Millisecond, true)
	for name, instance := range map[string]string{"advice": "c6in.2xlarge", "advice without a choice": "c8g.2xlarge"} {
		a, err := advise.Advise(advise.Request{
			Now: now, Demand: demand, Prices: cloud.BuiltinPrices(), Headroom: .2, MaxVolumes: 4, Instance: instance,
		})
		if err != nil {
			t.Fatal(err)
		}
		if (len(a.Rows) > 0) != (name == "advice") {
			t.Errorf("%s has %d rows", name, len(a.Rows))
		}
		all[name] = plans.Advice(a, false)
	}
	azure := cloud.Named("azure")
	own, err := advise.Advise(advise.Request{
		Now: now, Demand: demand, Prices: cloud.BuiltinPrices(), Headroom: .2, MaxVolumes: 4, Instance: "r6i.2xlarge",
		Keep: &advise.Layout{N: 4, Level: topology.RAID0, Spec: cloud.VolumeSpec{Type: "gp3", Size: 125 * units.GiB}},
	})
	if err != nil {
		t.Fatal(err)
	}
	all["advice beside own volumes"] = plans.Advice(own, false)
	bare := *demand
	bare.Durability = workload.Durability{}
	there, err := advise.Advise(advise.Request{Now: now, Demand: &bare, Cloud: azure, Prices: azure.Prices(), Headroom: .2, MaxVolumes: 4})
	if err != nil {
		t.Fatal(err)
	}
	all["advice elsewhere"] = plans.Advice(there, false)
	claim, err := advise.ParseClaim("40000 IOPS")
	if err != nil {
		t.Fatal(err)
	}
	d, err := topology.FromFlags("", "", "", "c6a.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	layout, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	all["claim"] = plans.Claim(claim.Check(layout))

	if d, err = topology.FromFlags("1xgp3", "", "", ""); err != nil {
		t.Fatal(err)
	}
	if layout, err = topology.FromDeclaration(d); err != nil {
		t.Fatal(err)
	}
	rates, err := ceiling.Rates(layout, topology.Data, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	all["limits"] = plans.Limits(&plans.Limited{
		Path: "/data", Keep: "postgresql.service", Share: .7, Rates: rates, Allowed: ceiling.Allow(rates, .3, 1),
		Wait:   ceiling.Wait(.3),
		Device: &block.Device{Path: "/dev/nvme1n1", Major: 259, Minor: 3},
		Groups: []plans.LimitedGroup{{Name: "backup.service", Dir: "/sys/fs/cgroup/system.slice/backup.service"}},
	}, false)
}

// arrayKinds are the documents of arrays that are built, looked at and taken down.
func arrayKinds(t *testing.T, all map[string]*page.Document) {
	t.Helper()
	decl, err := topology.LoadDeclaration("plimsoll.yaml", []byte(`
arrays:
  - {name: data, role: data, level: raid10, chunk: 64KiB, volumes: 8 x gp3 50GiB, filesystem: {type: xfs, label: DATA, mount: /data, owner: "104:110", mode: "0700"}}
  - {name: t1, role: wal, level: raid0, using: lvm, volume_group: pool, chunk: 128KiB, volumes: [{serial: S2}, {serial: S3}], filesystem: {type: ext4, mount: /opt/t1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := provision.Here(sys.Host(), nil).Imagine(decl)
	if err != nil {
		t.Fatal(err)
	}
	all["array plan"] = plans.Plan(plan)
	for _, a := range plan.Arrays {
		a.Started = time.Date(2026, 11, 21, 21, 54, 0, 0, time.UTC)
		for i := range a.Steps {
			a.Steps[i].State = written.StepDone
		}
	}
	all["teardown"] = plans.Undo(plan.Arrays)
	all["verify"] = plans.Differences(decl, []provision.Difference{
		{Array: "data", What: "fstab options", Have: "noatime", Want: "including nofail"},
	})
	all["probe"] = machine.Probe([]machine.Probed{{Name: "md127", Answer: "slow volume: nvme7n1 reaches 72.8 IOPS alone, 24.3 % of its peers' median of 299", Members: []diagnose.Probed{
		{Device: "nvme2n1", Serial: "vol0000000000ab00000", Alone: 300, Together: 300, Latency: units.Latency(53 * time.Millisecond)},
		{Device: "nvme7n1", Serial: "vol0100000000ab00100", Alone: 72.8, Together: 75, Latency: units.Latency(213 * time.Millisecond)},
	}}}, nil)
}

// liveKinds are answers of why, one for each kind of cause that the exam planted.
func liveKinds(t *testing.T, all map[string]*page.Document) {
	t.Helper()
	for _, trial := range []string{"3-burst-spent", "3-neighbour-buffered", "3-healthy-idle"} {
		data, err := os.ReadFile("../../diagnose/live/testdata/trials/" + trial + ".json")
		var kept struct {
			Facts *live.Facts `json:"facts"`
		}
		if err == nil {
			err = json.Unmarshal(data, &kept)
		}
		if err != nil {
			t.Fatal(trial, err)
		}
		all["why "+trial[2:]] = machine.Live(kept.Facts, live.Judge(kept.Facts))
	}
}

// listKinds are the lists, and a comparison with a baseline.
func listKinds(t *testing.T, all map[string]*page.Document) {
	t.Helper()
	var suites []*suite.Suite
	for _, name := range suite.Names() {
		s, err := suite.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		suites = append(suites, s)
	}
	all["suites"] = plans.Suites(suites)
	instances, unknown, ok := plans.InstanceTable([]string{"c8g.2xlarge", "m5.12xlarge"}, time.Now())
	if !ok {
		t.Fatal("unknown:", unknown)
	}
	all["instances"] = instances
	for kind, name := range map[string]string{
		"volume type": "gp3", "instance": "c8g.2xlarge", "machine of Azure": "Standard_D8pls_v6", "drives": "P4510", "some instances": "c8g",
	} {
		if all[kind], ok = plans.CatalogEntry(name, time.Now()); !ok {
			t.Fatalf("the catalogue has no %s", name)
		}
	}
	all["explained"] = plans.Rules(finding.Pages()[:1], true, nil)
	all["nothing to lint"] = plans.Lint(plans.Linted{})
	guide, err := os.ReadFile("../../../testdata/seeds/disk-benchmark-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	c := lint.NewCase(lint.Case{Scripts: []*script.File{script.Parse("disk-benchmark-guide.md", guide, script.Options{})}})
	all["lint of a guide"] = plans.Lint(plans.Linted{Files: c.Scripts, Findings: lint.Judge(c).Found})
	all["against a baseline"] = compared.Against(&compare.Against{
		Run: "20261122T194909Z-import", Baseline: "the last 10 runs", Notes: []string{"the kernel changed"},
		Rows: []compare.Judgment{{
			Scenario: "rand-write", Figure: compare.Figure{Name: "IOPS", Unit: compare.PerSecond}, Standing: compare.Regression,
			Now: stats.Estimate{Center: 9400, N: 1}, Expected: stats.Estimate{Center: 11800, Lo: 11400, Hi: 12200, N: 10}, Earlier: 10,
			Changed: []string{"kernel 6.1.0-25-cloud-amd64, now 6.8.0-1018-aws"},
		}},
	})
}
