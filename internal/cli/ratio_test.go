//go:build ratios

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
)

// TestRatios prints what plimsoll costs beside the same fio command run bare, in pairs within one
// run (make bench). It fails on nothing: a shared machine's timings are for eyes.
func TestRatios(t *testing.T) {
	binary, err := filepath.Abs("../../bin/plimsoll")
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 20
	for _, c := range []struct{ name, options string }{
		{"null engine", "{ioengine: 'null', rw: randread, bs: 4k, iodepth: 32}"},
		{"disk, randread 4k QD32", "{ioengine: libaio, direct: 1, rw: randread, bs: 4k, iodepth: 32}"},
		{"disk, sync write 8k", "{ioengine: libaio, direct: 1, rw: write, bs: 8k, fdatasync: 1}"},
	} {
		dir := t.TempDir()
		suite := fmt.Sprintf("cooldown: 0s\nruntime: 3s\nscenarios:\n  - id: 1\n    name: pair\n    size: 64MiB\n    fio: %s\n", c.options)
		if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(suite), 0o644); err != nil {
			t.Fatal(err)
		}
		_, argv := underPlimsoll(t, binary, dir) // lays the file out and tells the command
		var iops, wall []float64
		for i := range pairs {
			var ours, bare speed
			if i%2 == 0 { // whoever comes second finds another machine: they take turns
				ours, _ = underPlimsoll(t, binary, dir)
				bare = alone(t, argv)
			} else {
				bare = alone(t, argv)
				ours, _ = underPlimsoll(t, binary, dir)
			}
			iops = append(iops, ours.iops/bare.iops)
			wall = append(wall, float64(ours.wall-bare.wall)/1e6)
		}
		slices.Sort(iops)
		slices.Sort(wall)
		// Of 20 values the 6th and the 15th enclose the median with 95.9 % (binomial, any distribution).
		t.Logf("%-24s IOPS under plimsoll / bare: median %.4f [%.4f, %.4f]; fio's wall time beyond bare: median %.0f ms [%.0f, %.0f]",
			c.name, (iops[9]+iops[10])/2, iops[5], iops[14], (wall[9]+wall[10])/2, wall[5], wall[14])
	}
	var starts []float64
	for range 21 {
		begin := time.Now()
		if err := exec.Command(binary, "version").Run(); err != nil {
			t.Fatal(err)
		}
		starts = append(starts, float64(time.Since(begin))/1e6)
	}
	slices.Sort(starts)
	t.Logf("plimsoll version: median %.1f ms (%.1f to %.1f)", starts[10], starts[0], starts[20])
}

// speed is what one run of fio gave.
type speed struct {
	iops float64
	wall time.Duration
}

// underPlimsoll measures the scenario, and returns the command that plimsoll says it ran.
func underPlimsoll(t *testing.T, binary, dir string) (speed, []string) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(binary, "run", filepath.Join(dir, "s.yaml"), "--data", dir, "--out", out, "--keep-files", "--progress", "none")
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	_ = cmd.Run() // the verdict is not the question
	runs, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	b, err := bundle.Open(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	r := b.Scenarios[0].Result
	return speed{float64(r.Total.Read.IOPS + r.Total.Write.IOPS), r.Wall}, r.Command
}

// alone runs the same command without plimsoll.
func alone(t *testing.T, command []string) speed {
	t.Helper()
	argv := slices.Insert(slices.Clone(command[1:]), 0, "--output-format=json")
	begin := time.Now()
	text, err := exec.Command(command[0], argv...).Output()
	wall := time.Since(begin)
	if err != nil {
		t.Fatal(strings.Join(command, " "), err)
	}
	var doc struct {
		Jobs []struct{ Read, Write struct{ IOPS float64 } }
	}
	if err := json.NewDecoder(bytes.NewReader(text[bytes.IndexByte(text, '{'):])).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return speed{doc.Jobs[0].Read.IOPS + doc.Jobs[0].Write.IOPS, wall}
}
