package job

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
)

// lintSeeds lints the five documents.
func lintSeeds(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/seeds/*.md")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d seeds: %v", len(files), err)
	}
	var out bytes.Buffer
	err = (&lintOptions{Format: "text", failOn: "error"}).run(t.Context(), &form.Env{Machine: sys.Host(), Out: &out, Err: &out}, files)
	if !errors.Is(err, form.ErrVerdict) {
		t.Errorf("error %v: the seeds hold errors", err)
	}
	return out.String()
}

func TestLintOfTheSeeds(t *testing.T) {
	got := lintSeeds(t)
	const golden = "testdata/lint.golden"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("lint of the seeds changed:\n%s", got)
	}
}

// The traps of DESIGN 4.4 that can be seen in the text of the seeds, each at its line.
func TestLintFindsTheTraps(t *testing.T) {
	got := lintSeeds(t)
	for trap, want := range map[string]string{
		"both mount lines mount /dev/md0, md1 is unused": "striped-8xnvme-rounds.md:33:39: PL131 error: /dev/md0 is already mounted on /opt/fio/t0 (line 32): /opt/fio/t1 is the same filesystem, and /dev/md1 is never mounted.",
		"sw=8 on a four-drive array":                     "striped-8xnvme-rounds.md:53:35: PL130 error: sw=8, but /dev/md0 (created on line 44 as raid0 of 4 members) has a stripe 4 members wide",
		"discard, which explains round 16":               "striped-8xnvme-rounds.md:32:12: PL132",
		"psync: concurrency-bound":                       "raid0-4xgp2-m5.12xlarge.md:206:105: PL140",
		"long dashes":                                    "ebs-across-instances.md:70:10: PL101 error: 12 words",
		"16 KiB working set":                             "ebs-across-instances.md:70:94: PL106 warning",
		"40,000 IOPS are burst":                          "a c6a.xlarge does 40,000 IOPS on EBS for 30 minutes a day and sustains 6,000 IOPS",
		"37.1k and 33.4k are concurrency-bound":          "ebs-across-instances.md:70:26: PL140 info: ioengine=psync with 16 jobs keeps 16 I/Os in flight",
		"fdatasync blocks the submitter":                 "disk-benchmark-guide.md:158:5: PL111",
		"and in the mixed scenario":                      "also on lines: 359\n",
		"18,700 IOPS are burst":                          "a c8g.2xlarge does 40,000 IOPS on EBS for 30 minutes a day and sustains 12,000 IOPS",
		"four jobs on one filename":                      "disk-benchmark-guide.md:160:5: PL107 warning: 4 jobs write the same blocks of one file",
		"the demand is 16 jobs at 16 MB/s: 256 MiB/s":    "workload-to-jobfile.md:94:1: PL119 info: Each of the 16 jobs of [burst_read] may do 16 MiB/s of reads, 256 MiB/s in total.",
		"a raw device is written":                        "workload-to-jobfile.md:97:1: PL113",
		"percentiles of a job that cannot keep its rate": "workload-to-jobfile.md:94:1: PL122",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: not found: %s", trap, want)
		}
	}
}
