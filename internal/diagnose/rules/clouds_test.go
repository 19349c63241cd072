package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// amazons are words of one cloud, which have no place in what is said of a machine of another.
var amazons = regexp.MustCompile(`\b(EBS|EC2|AWS|Amazon|Nitro|CloudWatch|IMDSv2|gp[23]|io[12])\b`)

// What limited a run on a machine of another cloud is said in the words of that cloud, too: bursts of the
// machine and of its disks, their ends, and the machine's limit.
func TestRunsOnOtherClouds(t *testing.T) {
	deep := fio.Workload{Engine: "libaio", Direct: true, Jobs: 8, Depth: 64, ReadShare: 1, ReadBS: 8 * units.KiB}
	few := deep
	few.Jobs, few.Depth = 1, 16
	ends := func(second int) float64 { return map[bool]float64{true: 20000, false: 12800}[second < 20] }
	for _, c := range []struct {
		volumes, machine, want string
		load                   fio.Workload
		options                []func(*diagnose.Measurement)
	}{
		{"4x P30", "Standard_D8s_v5", "PL601", deep, []func(*diagnose.Measurement){took(19900, 0, 25.7)}},
		{"2x P10", "Standard_D8s_v5", "PL602", deep, []func(*diagnose.Measurement){took(6900, 0, 74)}},
		{"4x P30", "Standard_D8s_v5", "PL406", deep, []func(*diagnose.Measurement){
			took(15200, 0, 33), series(60, 0.03, ends), rel(15200, 0.2),
		}},
		{"4x P30", "Standard_D8s_v3", "PL505", deep, []func(*diagnose.Measurement){took(15990, 0, 32)}},
		{"2x pd-ssd 1TiB", "n2-standard-8", "PL505", deep, []func(*diagnose.Measurement){took(14990, 0, 34)}},
		{"2x pd-ssd 1TiB", "n2-standard-8", "PL501", few, []func(*diagnose.Measurement){took(12000, 0, 1.32)}},
		{"2x pd-ssd 1TiB", "n2-standard-8", "PL503", deep, []func(*diagnose.Measurement){took(5000, 0, 102)}},
	} {
		decl, err := topology.FromFlags(c.volumes, "raid0", "", c.machine)
		if err != nil {
			t.Fatal(err)
		}
		top, err := topology.FromDeclaration(decl)
		if err != nil {
			t.Fatal(err)
		}
		one := under(top, measured(1, c.load, c.options...))
		found := Judge(&one, nil)
		text, err := json.Marshal(found)
		if err != nil || !slices.ContainsFunc(found, func(f finding.Finding) bool { return string(f.Code) == c.want }) {
			t.Errorf("%s on %s: no %s in %s", c.volumes, c.machine, c.want, text)
		}
		if word := amazons.FindIndex(text); word != nil {
			t.Errorf("%s on %s: …%s…", c.volumes, c.machine, text[max(0, word[0]-200):min(len(text), word[1]+100)])
		}
	}
}

// What is found on a machine of Azure or Google Cloud is said in the words of that cloud.
func TestOtherCloudsAreNotAmazons(t *testing.T) {
	for name, declared := range map[string][2]string{
		"azure-d8s-v5":         {"P30", "Standard_D8s_v5"},
		"google-n2-standard-8": {"pd-ssd", "n2-standard-8"},
	} {
		archive, err := os.ReadFile("../../block/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		m := &sys.Machine{Root: block.Captured(archive), Run: func(_ context.Context, _ io.Writer, argv ...string) error {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		}}
		decl, err := topology.FromFlags(declared[0], "", "", declared[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*topology.Declaration{nil, decl} {
			top, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: "/data"}, d)
			if err != nil {
				t.Fatal(err)
			}
			facts := host.Read(t.Context(), m)
			facts.CPU.Clock = "acpi_pm"
			found := Judge(&diagnose.Case{Topology: top, Host: facts}, nil)
			text, err := json.Marshal(map[string]any{"findings": found, "topology": top})
			if err != nil || len(found) < 2 {
				t.Fatal(len(found), err)
			}
			if word := amazons.FindIndex(text); word != nil {
				t.Errorf("%s: %q in …%s…", name, text[word[0]:word[1]], text[max(0, word[0]-200):min(len(text), word[1]+100)])
			}
		}
	}
}
