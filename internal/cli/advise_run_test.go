package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// imported is the directory that importing a document of the seeds makes.
func imported(t *testing.T, document, flags string) string {
	t.Helper()
	out := t.TempDir()
	printed(t, "import ../../testdata/seeds/"+document+" --out "+out+" "+flags)
	dirs, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	return dirs[0]
}

func has(t *testing.T, got string, want ...string) {
	t.Helper()
	got = strings.Join(strings.Fields(got), " ") // as it was before lines were broken
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in\n%s", w, got)
		}
	}
}

// TestDemandOfAnUnmetRun: the fourth seed's job asked for 80 and 256 MiB/s, and neither volume gave
// both. Its demand is what it asked for, with the read stream and its time, and says so.
func TestDemandOfAnUnmetRun(t *testing.T) {
	dir := imported(t, "workload-to-jobfile.md", "")
	got := printed(t, "workload from "+dir)
	has(t, got, "rate: 80MiB/s", "rate: 256MiB/s", "burst: {for: 5s, every: 30s, after: 10s}",
		"burst_read-read asked for 1,024 IOPS and got 473 (46.2 %): the rate it asked for is used",
		"results of the same job are one demand")
	if n := strings.Count(got, "- name:"); n != 2 {
		t.Errorf("%d streams, want the two of the job:\n%s", n, got)
	}
	got = printed(t, "advise "+dir+" --capacity 8GiB")
	has(t, got, "2,304 IOPS and 336 MiB/s at peak", "got 965 (75.4 %): the rate it asked for is used", "c8gb.xlarge")
}

// TestOwnedVolumesOfARun: the first seed's four gp2 did 36,300 IOPS with 16 in flight. They stand
// beside what would replace them, with their price, and gp3 is not left out for a latency that this
// very run refutes.
func TestOwnedVolumesOfARun(t *testing.T) {
	dir := imported(t, "raid0-4xgp2-m5.12xlarge.md", "--volumes '4x gp2 3000GiB' --level raid0 --chunk 64KiB")
	got := printed(t, "advise "+dir+" --details")
	has(t, got, "your volumes: not enough", "$1,200.00 for the volumes", "0.992 times", "x gp3")
	if strings.Contains(got, " gp3: ") {
		t.Errorf("gp3 is left out:\n%s", got)
	}
	// Near miss: a demand without the run shows nothing, and the catalogue's latency leaves it out.
	file := filepath.Join(t.TempDir(), "demand.yaml")
	printed(t, "workload from "+dir+" -o "+file)
	has(t, printed(t, "advise "+file+" --capacity 12000GiB --details"), " gp3: ")
	// Without --volumes they are those that the text names, and it says so.
	bare := printed(t, "advise "+imported(t, "raid0-4xgp2-m5.12xlarge.md", "")+" --details")
	has(t, bare, "Your volumes are assumed to be 4 x gp2, named in the text, lines 1 and 28", "$1,200.00 for the volumes", "0.992 times")
	// Of two results on different volumes neither's are the ones.
	if two := printed(t, "advise "+imported(t, "workload-to-jobfile.md", "")+" --capacity 8GiB"); strings.Contains(two, "your volumes") {
		t.Errorf("one of two results' volumes are taken for both:\n%s", two)
	}
}
