package compare

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
)

// corpus are public results of fio that are not part of this repository; where they are, they are
// checked too.
const corpus = "/work/shared/corpus/import"

// madeUp are outputs that contradict themselves, and how.
var madeUp = map[string]string{
	"TestFioJson.txt": "a unit test's data: 35,516 IOPS of 7.8 ms each, at depth 1 of psync",
}

// TestLittlesLaw: in every row of every fixture X = N/L holds within 5 %, or a reason is stated. N
// is what the jobs keep in flight, L the mean latency, X the IOPS.
func TestLittlesLaw(t *testing.T) {
	roots := []string{"../../../testdata/seeds", "../../fio/output/testdata"}
	if _, err := os.Stat(corpus); err == nil {
		roots = append(roots, corpus)
	} else {
		t.Logf("NOT CHECKED: %s is not on this machine; the fixtures of the repository are", corpus)
	}
	rows := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/fuzz/") {
				return err
			}
			outputs, documents, err := bundle.Gather([]string{path}, nil)
			if err != nil {
				t.Logf("%s: %v", path, err)
				return nil
			}
			results, err := bundle.Found{Outputs: outputs, Documents: documents, Beside: besideJob}.Results()
			if err != nil {
				return err
			}
			for _, r := range results {
				rows++
				holdsLittle(t, path, r)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows were checked", rows)
	}
	t.Logf("%d rows", rows)
}

func holdsLittle(t *testing.T, path string, r *result.Result) {
	t.Helper()
	asked, got := float64(r.Depth.Asked), r.Depth.Little
	if r.Depth.Note == result.Contradiction && madeUp[filepath.Base(path)] == "" {
		t.Errorf("%s, %s: %.3g I/Os in flight of %g asked for", path, r.Name, got, asked)
	}
	if asked == 0 || got == 0 || got > 0.95*asked && got < 1.05*asked || r.Depth.Note != "" {
		return
	}
	if got < 0.8*asked { // PL407 reports it
		t.Logf("PL407: %s, %s: %.3g of %g", path, r.Name, got, asked)
		return
	}
	t.Errorf("%s, %s: %.3g I/Os in flight of %g asked for, and no reason; %v, CPU %+v, %+v", path, r.Name, got, asked, r.Measured, r.Total.CPU, r.Workloads)
}
