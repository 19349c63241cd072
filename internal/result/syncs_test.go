package result

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
)

func TestSyncsThatFioDidNotTimeAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		version, engine string
		mean            float64 // ns, as each fio said of a write of 52 µs and a sync
		depth           int
		kept            bool
		doubt           string
	}{
		"3.25 libaio":          {"fio-3.25", "libaio", 44, 1, false, "fio-3.25 does not measure how long syncs take with libaio (it says 44 ns), so they are left out; fio-3.33 does, or ioengine=psync"},
		"3.28 libaio":          {"fio-3.28", "libaio", 330, 16, false, "fio-3.28 does not measure"},
		"3.25 psync":           {"fio-3.25", "psync", 74459, 1, true, ""},
		"3.30, mended already": {"fio-3.30", "libaio", 110037, 1, true, ""},
		"3.33 libaio":          {"fio-3.33", "libaio", 110037, 1, true, "of the 110 µs on average 52 µs are the write's"},
		"3.39 libaio, deep":    {"fio-3.39", "libaio", 4e6, 16, true, "syncs took less than the 4 ms that it says"},
		"3.39 psync":           {"fio-3.39", "psync", 65172, 1, true, ""},
		"3.41 libaio":          {"fio-3.41", "libaio", 44519, 1, true, ""},
		"3.41, fast":           {"fio-3.41", "libaio", 589, 1, true, ""},
		"no version":           {"", "libaio", 44, 1, false, "no sync takes the 44 ns"},
		"no version, slower":   {"", "libaio", 44e3, 1, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sync := fio.Sync{Lat: fio.Latency{N: 7666, Mean: c.mean}}
			o := &fio.Output{Version: c.version, Jobs: []fio.Job{{Name: "a", Sync: sync, Write: fio.Direction{N: 7666, Lat: fio.Latency{N: 7666, Mean: 52e3}}}}}
			r := &Result{
				Workloads: []fio.Workload{{Engine: c.engine, Depth: c.depth, SyncEvery: 1}},
				Seconds:   []Second{{Len: time.Second, Sync: &fio.Hist{}}},
			}
			FromOutput(r, o)
			if r.Total.Sync.Lat.Measured() != c.kept || r.Jobs[0].Sync.Lat.Measured() != c.kept || (r.Seconds[0].Sync != nil) != c.kept {
				t.Errorf("kept: %+v", r.Total.Sync)
			}
			if !o.Jobs[0].Sync.Lat.Measured() {
				t.Error("fio's own document was changed")
			}
			if doubts := strings.Join(r.Doubts, "\n"); !strings.Contains(doubts, c.doubt) || (doubts == "") != (c.doubt == "") {
				t.Errorf("doubts %q", doubts)
			}
		})
	}
}

// TestSyncLatencyIsPlausible runs the installed fio, whichever it is: a write and its sync cannot
// together take less than the time from one write to the next, less what fio itself needs.
func TestSyncLatencyIsPlausible(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if _, err := exec.LookPath("fio"); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"psync", "libaio"} {
		docs := record(t, "--ioengine="+engine, "--size=8m", "--rw=write", "--bs=8k", "--direct=1", "--fdatasync=1")
		r := &Result{Workloads: []fio.Workload{{Engine: engine, Depth: 1, SyncEvery: 1}}}
		FromOutput(r, docs[len(docs)-1])
		sync, write := r.Total.Sync.Lat, r.Total.Write
		if !sync.Measured() {
			if engine == "psync" || len(r.Doubts) == 0 {
				t.Errorf("%s %s: syncs are not measured; doubts %q", r.Fio, engine, r.Doubts)
			}
			continue
		}
		cycle := 1e9 / float64(write.IOPS)
		if both := sync.Mean + write.Lat.Mean; both < cycle/2 {
			t.Errorf("%s %s: write %.0f ns and sync %.0f ns in a cycle of %.0f ns", r.Fio, engine, write.Lat.Mean, sync.Mean, cycle)
		}
		if sync.Mean > cycle && slices.Equal(r.Doubts, nil) {
			t.Errorf("%s %s: a sync of %.0f ns in a cycle of %.0f ns", r.Fio, engine, sync.Mean, cycle)
		}
	}
}
