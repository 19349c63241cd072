package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// children are the processes that this one has started and that run in a directory whose name ends so.
func children(dir string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, name := range names {
		cwd, _ := os.Readlink(name)
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "stat"))
		field := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(field) < 2 || field[1] != strconv.Itoa(os.Getpid()) || !strings.HasSuffix(cwd, dir) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		pids = append(pids, pid)
	}
	return pids
}

// A job whose length nobody knows, and one of an hour: the fio of each is stopped after its first
// second, and the run goes on to the next scenario, which is measured.
func TestStandstillEndsAJob(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for name, length := range map[string]string{
		"hour": "time_based\nruntime=1h\n", "by-size": "loops=1000000\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is the wait for fio's answer to SIGINT
			dir := t.TempDir()
			job := filepath.Join(dir, name+".fio")
			text := "[" + name + "]\nrw=randwrite\nsize=1m\nbs=4k\nioengine=psync\nthinktime=1ms\n" + length
			if err := os.WriteFile(job, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := suite.FromJobFile(job)
			if err != nil {
				t.Fatal(err)
			}
			where, err := topology.Detect(t.Context(), sys.Host(), map[topology.Role]string{topology.Data: dir}, nil)
			if err != nil {
				t.Fatal(err)
			}
			plan := Plan{Suite: *s, Topology: *where, Out: filepath.Join(dir, "runs"), Stall: 3 * time.Second}
			stopped := false
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			b, err := Run(ctx, sys.Host(), plan, func(e Event) {
				if _, ticks := e.(Ticked); !ticks || stopped {
					return
				}
				for _, pid := range children("-" + name + ".tmp") {
					stopped = syscall.Kill(pid, syscall.SIGSTOP) == nil
				}
			})
			if err != nil || !stopped {
				t.Fatalf("stopped %t: %v", stopped, err)
			}
			wantHung(t, b)
		})
	}
}

func wantHung(t *testing.T, b *bundle.Bundle) {
	t.Helper()
	r := b.Scenarios[0].Result
	if r == nil || r.State != result.Invalid || !strings.Contains(strings.Join(r.Reasons, " "), "fio transferred nothing for 3 s") {
		t.Errorf("%+v", r)
	}
}

func TestPauses(t *testing.T) {
	commands := fio.JobFile{Sections: []fio.Section{{Name: "a", Options: []fio.Option{{Name: "exec_prerun", Value: "x"}}}}}
	for name, c := range map[string]struct {
		job  fio.JobFile
		load fio.Workload
		want time.Duration
	}{
		"none":          {want: 0},
		"starts later":  {load: fio.Workload{StartDelay: time.Hour}, want: time.Hour},
		"thinks":        {load: fio.Workload{ThinkTime: 90 * time.Second}, want: 90 * time.Second},
		"one in 10 s":   {load: fio.Workload{ReadIOPS: 0.1}, want: 200 * time.Second},
		"4 KiB in 1 s":  {load: fio.Workload{WriteBS: 4096, WriteRate: 4096}, want: 20 * time.Second},
		"a high rate":   {load: fio.Workload{ReadIOPS: 20_000}, want: time.Millisecond},
		"hardly a rate": {load: fio.Workload{ReadIOPS: 1e-300}, want: longestPause},
		"commands":      {job: commands, want: sys.ChangeLimit},
	} {
		if got := pauses(c.job, []fio.Workload{{}, c.load}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A job that thinks for longer than the limit is not taken for one that hangs.
func TestThinkingIsNoStandstill(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	dir := t.TempDir()
	job := filepath.Join(dir, "think.fio")
	text := "[think]\nrw=write\nsize=8k\nbs=4k\nioengine=psync\nthinktime=4s\n"
	if err := os.WriteFile(job, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := suite.FromJobFile(job)
	if err != nil {
		t.Fatal(err)
	}
	where, err := topology.Detect(context.Background(), sys.Host(), map[topology.Role]string{topology.Data: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Suite: *s, Topology: *where, Out: filepath.Join(dir, "runs"), Stall: 3 * time.Second}
	b, err := Run(t.Context(), sys.Host(), plan, func(Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if r := b.Scenarios[0].Result; strings.Contains(strings.Join(r.Reasons, " "), "transferred nothing") {
		t.Errorf("%s %v", r.State, r.Reasons)
	}
}
