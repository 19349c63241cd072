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
	const pairs = 5
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
		var iops, wall []float64
		for range pairs {
			ours, bare := pair(t, binary, dir)
			iops = append(iops, ours.iops/bare.iops)
			wall = append(wall, float64(ours.wall-bare.wall)/1e6)
		}
		slices.Sort(iops)
		slices.Sort(wall)
		t.Logf("%-24s IOPS under plimsoll / bare: median %.4f (%.4f to %.4f); fio's wall time beyond bare: median %.0f ms (%.0f to %.0f)",
			c.name, iops[pairs/2], iops[0], iops[pairs-1], wall[pairs/2], wall[0], wall[pairs-1])
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

type measured struct {
	iops float64
	wall time.Duration
}

// pair measures the scenario under plimsoll and then the command that plimsoll says it ran, bare.
func pair(t *testing.T, binary, dir string) (ours, bare measured) {
	t.Helper()
	out, err := os.MkdirTemp(dir, "runs")
	if err != nil {
		t.Fatal(err)
	}
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
	ours = measured{float64(r.Total.Read.IOPS + r.Total.Write.IOPS), r.Wall}

	argv := slices.Insert(slices.Clone(r.Command[1:]), 0, "--output-format=json")
	begin := time.Now()
	text, err := exec.Command(r.Command[0], argv...).Output()
	bare.wall = time.Since(begin)
	if err != nil {
		t.Fatal(strings.Join(r.Command, " "), err)
	}
	var doc struct {
		Jobs []struct{ Read, Write struct{ IOPS float64 } }
	}
	if err := json.NewDecoder(bytes.NewReader(text[bytes.IndexByte(text, '{'):])).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	bare.iops = doc.Jobs[0].Read.IOPS + doc.Jobs[0].Write.IOPS
	return ours, bare
}
