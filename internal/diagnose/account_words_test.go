package diagnose

import (
	"strings"
	"testing"

	"plimsoll/internal/finding"
)

// Each cause of a gap has one row that says what to do, and each row is of a cause.
func TestRemedies(t *testing.T) {
	causes := []finding.Cause{
		finding.Drain, finding.Split, finding.Copies, finding.IdleMembers, finding.Rebuild, finding.SlowMember,
		finding.OtherLoad, finding.Instance, finding.VolumeLimit, finding.BurstSpent, finding.CPU, finding.Depth,
		finding.RestLatency, finding.SlowVolume, finding.Tail, finding.Grouping, finding.SlowSync, finding.CommitCPU,
		finding.CommitWait, finding.IdleLog, finding.IdleCPU, finding.Waits, finding.RowLocks,
	}
	rows := strings.Split(strings.TrimSuffix(remedies, "\n"), "\n")[1:]
	if len(rows) != len(causes) {
		t.Errorf("%d rows for %d causes", len(rows), len(causes))
	}
	for _, row := range rows {
		if f := strings.Split(row, "\t"); len(f) != 2 || !strings.HasSuffix(f[1], ".") {
			t.Errorf("%q: want a cause and a sentence", row)
		}
	}
	for _, c := range causes {
		if s := Remedy(finding.Factor{Cause: c, Who: "sdb"}); s == "" || strings.Contains(s, "%s") {
			t.Errorf("%s: %q", c, s)
		}
	}
	if s := Remedy(finding.Factor{Cause: finding.SlowMember, Who: "sdb"}); !strings.HasPrefix(s, "Probe sdb alone") {
		t.Error(s)
	}
}
