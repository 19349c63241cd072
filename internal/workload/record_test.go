package workload

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// loopDevice is a block device of its own, so that nothing else on the machine is counted.
func loopDevice(t *testing.T, size int64) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: a loop device needs root; what record sees was not compared with fio")
	}
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < size; at += int64(len(data)) {
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", "--direct-io=on", file).CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: losetup: %v: %s; what record sees was not compared with fio", err, out)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", dev).Run() })
	return dev
}

type fioSide struct {
	N     float64 `json:"total_ios"`
	Bytes float64 `json:"io_bytes"`
	Clat  struct {
		Mean float64 `json:"mean"`
	} `json:"clat_ns"`
}

// TestRecordSeesWhatFioDoes: the recording covers a whole run of the real fio on a device of its
// own. Counts are compared with fio's own totals, so that a busy machine, on which fio gets less
// done, changes nothing.
func TestRecordSeesWhatFioDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	dev := loopDevice(t, 64<<20)
	const depth, jobs = 8, 2
	ctx, done := context.WithCancel(t.Context())
	type outcome struct {
		rec *Recording
		err error
	}
	recorded := make(chan outcome)
	var before unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	go func() {
		rec, err := Record(ctx, sys.Host(), []string{filepath.Base(dev)}, time.Minute)
		recorded <- outcome{rec, err}
	}()
	out, err := exec.CommandContext(t.Context(), "fio", "--name=known", "--filename="+dev, "--rw=randrw", "--rwmixread=70", "--bs=16k", "--direct=1",
		"--ioengine=libaio", "--iodepth=8", "--numjobs=2", "--time_based", "--runtime=6", "--group_reporting", "--output-format=json").
		Output()
	done()
	got := <-recorded
	if err != nil || got.err != nil {
		t.Fatal(err, got.err)
	}
	var after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Jobs []struct {
			Read, Write fioSide
			Runtime     float64 `json:"job_runtime"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(out[strings.IndexByte(string(out), '{'):], &doc); err != nil {
		t.Fatal(err)
	}
	j := doc.Jobs[0]
	all := Observe(got.rec.Series, time.Second)
	var length, readIOs, writeIOs, readBytes, writeBytes, inFlight float64
	for _, iv := range all[0].Intervals {
		s := iv.Len.Seconds()
		length += s
		readIOs += iv.Read.IOPS * s
		writeIOs += iv.Write.IOPS * s
		readBytes += iv.Read.Rate * s
		writeBytes += iv.Write.Rate * s
		inFlight += (iv.Read.IOPS*iv.Read.Wait.Seconds() + iv.Write.IOPS*iv.Write.Wait.Seconds()) * s
	}
	within := func(what string, got, want float64) {
		t.Helper()
		t.Logf("%s: recorded %.6g, fio %.6g (%+.2f %%)", what, got, want, 100*(got/want-1))
		if math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s: recorded %.6g, fio did %.6g: more than 3 %% apart", what, got, want)
		}
	}
	within("reads", readIOs, j.Read.N)
	within("writes", writeIOs, j.Write.N)
	within("bytes", readBytes+writeBytes, j.Read.Bytes+j.Write.Bytes)
	within("share of reads", readIOs/(readIOs+writeIOs), j.Read.N/(j.Read.N+j.Write.N))
	d, seen, err := Derive("known", all)
	if err != nil || len(d.Streams) != 2 {
		t.Fatal(d, err)
	}
	for _, s := range seen {
		within("block", float64(s.Block), 16384)
	}
	// What fio counts as an I/O's time holds the wait for its thread to look, which a device does
	// not see.
	byFio := (j.Read.N*j.Read.Clat.Mean + j.Write.N*j.Write.Clat.Mean) / 1e9
	t.Logf("mean in flight: device %.3g, fio %.3g of %d", inFlight/6, byFio/6, depth*jobs)
	within("depth", all[0].Depth, depth*jobs)
	within("threads", float64(d.Streams[0].Threads+d.Streams[1].Threads), depth*jobs)
	if inFlight > 1.03*byFio || inFlight > 1.03*depth*jobs*length {
		t.Errorf("%.4g s in flight, fio says %.4g", inFlight, byFio)
	}
	cpu := float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
	took := time.Since(started).Seconds()
	t.Logf("watching: %.2f %% of a core by its own clock, %.2f %% of the process", 100*got.rec.Series.Overhead,
		100*cpu/took)
	// What the same work takes of a core grows with what else runs: make bench holds it, on an idle machine.
	if os.Getenv("PLIMSOLL_COSTS") != "" && got.rec.Series.Overhead > 0.005 {
		t.Errorf("watching took %.2f %% of a core, want less than 0.5 %%", 100*got.rec.Series.Overhead)
	}
	found := false
	for _, p := range got.rec.Processes {
		found = found || p.Name == "fio"
	}
	if !found && len(got.rec.Processes) > 0 {
		t.Logf("fio had ended before its I/O could be read: %+v", got.rec.Processes)
	}
}
