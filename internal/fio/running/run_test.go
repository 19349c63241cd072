package running_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// living returns fio's processes that work on a job file, the parent and its jobs, as /proc shows
// them.
func living(t *testing.T, jobFile string) (parent int, jobs []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range names {
		line, _ := os.ReadFile(dir + "/cmdline")
		stat, _ := os.ReadFile(dir + "/stat")
		_, after, _ := bytes.Cut(stat, []byte(") "))
		field := strings.Fields(string(after))
		if !bytes.Contains(line, []byte(jobFile)) || len(field) < 2 || field[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if field[1] == strconv.Itoa(os.Getpid()) {
			parent = pid
		} else {
			jobs = append(jobs, pid)
		}
	}
	return parent, jobs
}

// runForever starts the real fio on a job without an end and calls first with its processes when
// they do I/O.
func runForever(t *testing.T, inv running.Invocation, first func(parent int, jobs []int)) error {
	t.Helper()
	dir := t.TempDir()
	inv.JobFile = filepath.Join(dir, "job.fio")
	text := fmt.Sprintf("[a]\nfilename=%s/file\nsize=1m\nrw=write\nbs=4k\nioengine=psync\nthinktime=1ms\ntime_based\nruntime=1h\nnumjobs=2\n", dir)
	if err := os.WriteFile(inv.JobFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inv.Raw, inv.Read, inv.Text, inv.Dir = io.Discard, output.ParseJSON, func(string) {}, dir
	inv.Doc = func(o *fio.Output) {
		if first == nil || len(o.Jobs) < 2 || o.Jobs[0].Write.Bytes == 0 {
			return
		}
		parent, jobs := living(t, inv.JobFile)
		if parent == 0 || len(jobs) < 2 {
			t.Errorf("fio is %d with jobs %v", parent, jobs)
		}
		first(parent, jobs)
		first = nil
	}
	err := running.Run(t.Context(), sys.Host(), inv)
	if parent, jobs := living(t, inv.JobFile); parent != 0 || len(jobs) > 0 {
		t.Errorf("fio is over and %d %v live", parent, jobs)
		for _, pid := range append(jobs, parent) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return err
}

// The kernel kills fio's parent when memory runs out: its jobs, session leaders, would go on
// writing next to the next scenario.
func TestJobsEndWithKilledFio(t *testing.T) {
	t.Parallel() // most of the time is sys.Grace
	err := runForever(t, running.Invocation{}, func(parent int, _ []int) { _ = syscall.Kill(parent, syscall.SIGKILL) })
	if failed, ok := errors.AsType[*sys.Failed](err); !ok || failed.Signal != syscall.SIGKILL || !strings.HasPrefix(err.Error(), "fio: ended by SIGKILL") {
		t.Error(err)
	}
}

// What fio notes of each write, to verify it at the end, has no bound: fio is killed for it, and says what to change.
func TestFioThatTakesAllMemory(t *testing.T) {
	dir := t.TempDir()
	job := filepath.Join(dir, "job.fio")
	text := "[a]\nioengine=null\nrw=write\nbs=512\nsize=1t\nverify=pattern\nverify_pattern=0xff\ntime_based\nruntime=1h\n"
	if err := os.WriteFile(job, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := running.Run(t.Context(), sys.Host(), running.Invocation{
		Dir: dir, JobFile: job, Raw: io.Discard, Read: output.ParseJSON, Text: func(string) {}, Doc: func(*fio.Output) {},
		Memory: 128 * units.MiB,
	})
	if greedy, ok := errors.AsType[*running.Greedy](err); !ok || greedy.Held < 128*units.MiB {
		t.Error(err)
	}
	if parent, jobs := living(t, job); parent != 0 || len(jobs) > 0 {
		t.Errorf("%d and %d live", parent, jobs)
	}
}

// A job that does not answer, here because it is stopped, as one in a device that hangs: fio waits
// for it, and the limit ends both.
func TestStoppedJobsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	t.Parallel() // most of the time is sys.Grace
	stop := func(_ int, jobs []int) {
		for _, pid := range jobs {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
	}
	err := runForever(t, running.Invocation{Stall: 3 * time.Second}, stop)
	if hung, ok := errors.AsType[*running.Hung](err); !ok || !hung.Stalled || !strings.Contains(err.Error(), "transferred nothing for 3 s") {
		t.Error(err)
	}
}

// A fio that is stopped itself ends by its limit. Where a busy machine has not shown its first figures
// by then, nothing was stopped, and it gets more time.
func TestStoppedFioEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	t.Parallel()
	for limit, stopped := 4*time.Second, false; !stopped; limit *= 2 {
		t.Run(limit.String(), func(t *testing.T) {
			err := runForever(t, running.Invocation{Limit: limit}, func(parent int, _ []int) {
				stopped = true
				_ = syscall.Kill(parent, syscall.SIGSTOP)
			})
			if hung, ok := errors.AsType[*running.Hung](err); stopped && (!ok || hung.Stalled || !strings.Contains(err.Error(), "did not end within "+text.Duration(limit))) {
				t.Error(err)
			}
		})
	}
}

// A fio that is stopped ends also where nobody knows how long it was to take, whether or not its
// jobs go on without it.
func TestStoppedFioStandsStill(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	t.Parallel() // most of the time is sys.Grace
	err := runForever(t, running.Invocation{Stall: 3 * time.Second, Disks: []string{"vdz"}}, func(parent int, _ []int) {
		_ = syscall.Kill(parent, syscall.SIGSTOP)
	})
	if hung, ok := errors.AsType[*running.Hung](err); !ok || !hung.Stalled || !strings.Contains(err.Error(), "or vdz does not answer") {
		t.Error(err)
	}
}

// A program called fio that prints for ever what is no result is ended, and said to be no fio.
func TestFioThatPrintsForEver(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "fio"), []byte("#!/bin/sh\nyes not a result\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	err := running.Run(t.Context(), sys.Host(), running.Invocation{
		JobFile: "x", Raw: io.Discard, Read: output.ParseJSON, Doc: func(*fio.Output) {}, Text: func(string) {}, Stall: time.Minute,
	})
	if err == nil || !strings.Contains(err.Error(), "printed more than 16 MiB that are not a result") {
		t.Error(err)
	}
}
