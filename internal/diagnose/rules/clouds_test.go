package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/host"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// amazons are words of one cloud, which have no place in what is said of a machine of another.
var amazons = regexp.MustCompile(`\b(EBS|EC2|AWS|Amazon|Nitro|CloudWatch|IMDSv2|gp[23]|io[12])\b`)

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
			found := Judge(&diagnose.Case{Topology: top, Host: host.Read(t.Context(), m)}, nil)
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
