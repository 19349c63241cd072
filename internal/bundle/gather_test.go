package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/fio"
)

func gatherText(t *testing.T, text string) []*fio.Output {
	t.Helper()
	outs, _, err := Gather([]string{"-"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return outs
}

// TestPhasesAreApart: groups behind a stonewall ran one after another, so their rates do not add
// up.
func TestPhasesAreApart(t *testing.T) {
	const text = `fio 1.59
seq-read: (groupid=0, jobs=1): err= 0: pid=15066
  read : io=1813.1MB, bw=30957KB/s, iops=7739 , runt= 60001msec
random-write: (groupid=1, jobs=2): err= 0: pid=2452
  write: io=6377.3MB, bw=472902KB/s, iops=59112 , runt= 13809msec

Run status group 0 (all jobs):
   READ: io=1813.1MB, aggrb=30956KB/s, minb=31699KB/s, maxb=31699KB/s, mint=60001msec, maxt=60001msec

Run status group 1 (all jobs):
  WRITE: io=6377.3MB, aggrb=472902KB/s, minb=484252KB/s, maxb=484252KB/s, mint=13809msec, maxt=13809msec
`
	outs := gatherText(t, text)
	if len(outs) != 2 || len(outs[0].Jobs) != 1 || outs[0].Groups[0].ID != 0 || outs[1].Jobs[0].Name != "random-write" || outs[1].Phase != 2 || outs[1].Groups[0].ID != 1 || outs[1].Version != "fio-1.59" {
		t.Fatalf("%d outputs: %+v", len(outs), outs)
	}
	// fio's JSON leaves out options without a value: two groups of 2 s each in an invocation of 3 s
	// ran together, in one of 5 s they did not.
	doc := `{"fio version":"fio-3.33","jobs":[{"jobname":"a","groupid":0,"elapsed":%[1]d,"read":{"total_ios":1,"runtime":2000}},
		{"jobname":"b","groupid":1,"elapsed":%[1]d,"read":{"total_ios":1,"runtime":2000}}]}`
	if outs := gatherText(t, fmt.Sprintf(doc, 3)); len(outs) != 1 {
		t.Errorf("%d outputs of groups that ran together", len(outs))
	}
	if outs := gatherText(t, fmt.Sprintf(doc, 5)); len(outs) != 2 {
		t.Errorf("%d outputs of groups that ran one after the other", len(outs))
	}
}

// TestMixedCounts: what unified_rw_reporting adds up must not read as nothing.
func TestMixedCounts(t *testing.T) {
	text := "p: (groupid=0, jobs=1): err= 0: pid=18348: Wed Apr 12 17:55:48 2017\n  mixed: IOPS=1217, BW=152MiB/s (160MB/s)(18.5GiB/124267msec)\n     issued rwt: total=151247,0,0, short=0,0,0, dropped=0,0,0\n"
	if o := gatherText(t, text)[0]; o.Jobs[0].Read.N != 151247 || len(o.Doubts) == 0 {
		t.Errorf("%+v", o)
	}
	if o := gatherText(t, "p: (g=0): rw=randwrite, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB, ioengine=psync, iodepth=1\nfio-2.19\n"+text)[0]; o.Jobs[0].Write.N != 151247 {
		t.Errorf("%+v", o)
	}
}

// TestUnreadTables: a file with a table of which nothing was read says what one needs, and a file without one does not.
func TestUnreadTables(t *testing.T) {
	for text, want := range map[string]bool{"| Kịch bản | Đo được |\n|--|--|\n| Đọc | 12 |\n": true, "a | b\n": false} {
		name := filepath.Join(t.TempDir(), "a.md")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Unread([]string{name}); (got != "") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
