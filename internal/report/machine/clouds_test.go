package machine_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/host"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/report/page"
	"plimsoll/internal/topology"
)

var amazons = regexp.MustCompile(`\b(EBS|EC2|AWS|Amazon|Nitro|CloudWatch|IMDSv2|gp[23]|io[12])\b`)

// What inspect and check print of a machine of Azure or Google Cloud names its cloud, and no other.
func TestPagesOfOtherClouds(t *testing.T) {
	for name, want := range map[string]string{"azure-d8s-v5": "Azure", "google-n2-standard-8": "Google Cloud"} {
		m := captured(t, name)
		top, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: "/data"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		inv, err := topology.TakeInventory(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		c := &diagnose.Case{Topology: top, Host: host.Read(t.Context(), m)}
		found := rules.Judge(c, nil)
		var all bytes.Buffer
		for _, d := range []*page.Document{
			machine.Inspect(top), machine.Disks(inv), machine.Check(found, rules.Passes(c), top.Notes, nil),
		} {
			if err := page.Write(&all, page.Text, d, page.Options{Details: true, Width: 200}); err != nil {
				t.Fatal(err)
			}
		}
		if word := amazons.FindStringIndex(all.String()); word != nil {
			t.Errorf("%s: %s", name, all.String()[max(0, word[0]-100):min(all.Len(), word[1]+100)])
		}
		if !strings.Contains(all.String(), want) {
			t.Errorf("%s: nothing names %s:\n%s", name, want, all.String())
		}
	}
}
