package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// loops makes block devices of files.
func loops(t *testing.T, n int) (names []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for range n {
		file := filepath.Join(t.TempDir(), "disk")
		if err := os.WriteFile(file, make([]byte, 8<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("losetup", "--find", "--show", file).CombinedOutput()
		if err != nil {
			t.Skipf("NO LOOP DEVICES HERE, so no run was probed: losetup: %v: %s (needs root and the loop driver)", err, out)
		}
		dev := strings.TrimSpace(string(out))
		t.Cleanup(func() { _ = exec.Command("losetup", "--detach", dev).Run() })
		names = append(names, strings.TrimPrefix(dev, "/dev/"))

	}
	return names
}

// A run that is to probe reads all members of its arrays together, and alone those that give less
// than they were ordered with.
func TestRunProbesMembers(t *testing.T) {
	names := loops(t, 2)
	a := topology.Array{Name: "md0", Level: topology.RAID0}
	for i, name := range names {
		v := topology.Volume{Device: name, Sustained: topology.Limits{IOPS: 1}} // any file gives that
		if i == 1 {
			v.Sustained.IOPS = 1e9
		}
		a.Volumes = append(a.Volumes, v)
	}
	single := topology.Array{Name: "nvme9n1", Level: topology.Single, Volumes: a.Volumes[:1]}
	var notes []string
	r := &runner{
		m:    sys.Host(),
		plan: Plan{Topology: topology.Topology{Arrays: []topology.Array{a, single}}, Settings: bundle.Settings{Probe: 400 * time.Millisecond}},
		emit: func(e Event) {
			if n, ok := e.(Noted); ok {
				notes = append(notes, n.Text)
			}
		},
	}
	probes, err := r.probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(probes) != 1 || probes[0].Array != "md0" || len(probes[0].Members) != 2 || len(notes) != 1 {
		t.Fatalf("%+v, notes %q", probes, notes)
	}
	for i, m := range probes[0].Members {
		if m.Together == 0 || (m.Alone > 0) != (i == 1) {
			t.Errorf("member %d: %+v", i, m)
		}
	}
	r.plan.Settings.Probe = 0
	if probes, err := r.probe(t.Context()); probes != nil || err != nil {
		t.Errorf("probed without being asked: %+v, %v", probes, err)
	}
}

// The first quarter is not counted, and devices are opened for reading only.
func TestProbeJob(t *testing.T) {
	job := probeJob([]diagnose.Probed{{Device: "nvme1n1"}, {Device: "nvme2n1"}}, 2*time.Second)
	for _, want := range []string{"ramp_time=500ms", "runtime=1500ms", "rw=randread", "filename=/dev/nvme2n1"} {
		if !strings.Contains(job, want) {
			t.Errorf("no %q in\n%s", want, job)
		}
	}
	devices := []diagnose.Probed{{Device: "no-such-device"}, {Device: "null"}}
	err := Probe(context.Background(), sys.Host(), devices, 200*time.Millisecond, func(int) {})
	if err == nil || !strings.Contains(err.Error(), "/dev/no-such-device") || devices[0].Alone != units.IOPS(0) {
		t.Errorf("a device that is not there: %v, %+v", err, devices)
	}
}
