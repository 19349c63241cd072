package telemetry

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// A captured machine stands still: a window over it shows nothing, and takes no time.
func TestWatchACapturedMachine(t *testing.T) {
	dir, devices := tree(t, 2)
	began := time.Now()
	w, err := Watch(t.Context(), machine(dir), WatchFor{Devices: devices, Span: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if w.Ticks != int(time.Hour/Interval) || w.Span != time.Hour || len(w.Devices) != 2 || w.Devices[0].Reads != 0 ||
		w.LateMean != 0 || time.Since(began) > time.Minute {
		t.Errorf("%+v", w)
	}
}

// What a device does between the first and the last reading is counted; one that vanishes is named.
func TestLiveDevices(t *testing.T) {
	dir, devices := tree(t, 2)
	step := 0
	w, err := Watch(t.Context(), machine(dir), WatchFor{
		Devices: devices, Span: 3 * time.Second,
		Each: func(time.Duration) {
			step++
			shown := devices
			if step > 20 {
				shown = devices[:1]
			}
			put(t, dir, "proc/diskstats", diskstats(shown, min(step, 20)))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.Devices[0], w.Devices[1]
	// The tree's device does 1,000 reads, 500 writes a step; after step 20 it stands still with 3 in flight.
	if a.Reads != 20*1000 || a.PeakIOs != 10*1500 || a.Gone || a.Longest < 800*time.Millisecond || a.InFlight != 3 {
		t.Errorf("%+v", a)
	}
	if !b.Gone {
		t.Errorf("%+v is not gone", b)
	}
}

// A watch ends with its context, and what was seen until then is returned.
func TestWatchEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := Watch(ctx, sys.Host(), WatchFor{Span: time.Hour, Each: func(since time.Duration) {
		if since > 200*time.Millisecond {
			cancel()
		}
	}})
	if err != nil || w.Span > time.Minute || w.Ticks < 1 {
		t.Errorf("%+v %v", w, err)
	}
}

// Old kernels count fewer things and have no PSI; nothing depends on that.
func TestWatchAnOldKernel(t *testing.T) {
	dir, _ := tree(t, 1)
	put(t, dir, "proc/diskstats", "   8       0 sda 10 1 80 5 20 2 160 7 0 9 12\n")
	if err := os.Remove(filepath.Join(dir, "proc/pressure/io")); err != nil {
		t.Fatal(err)
	}
	w, err := Watch(t.Context(), machine(dir), WatchFor{Devices: []string{"sda"}, Span: time.Second})
	if err != nil || w.Pressure != nil || !strings.Contains(strings.Join(w.Notes, " "), "PSI") {
		t.Errorf("%+v %v", w, err)
	}
}

// What is read in each look stays open while there is room, is read by its name where there is none, and
// is let go where its process ended.
func TestHeldFilesOfProcesses(t *testing.T) {
	root := fstest.MapFS{"proc/1/stat": {Data: []byte("one")}, "proc/2/stat": {Data: []byte("two")}}
	w := newTaskWatch((&sys.Machine{Root: root}).Reader(), WatchFor{})
	w.room = 1
	for range 2 {
		for name, want := range map[string]string{"proc/1/stat": "one", "proc/2/stat": "two"} {
			if text, err := w.again(name); err != nil || string(text) != want {
				t.Errorf("%s: %q %v", name, text, err)
			}
		}
	}
	if len(w.held) != 1 {
		t.Errorf("%d files are held, want 1", len(w.held))
	}
	clear(root)
	for name := range w.held {
		if _, err := w.again(name); err == nil || len(w.held) != 0 {
			t.Errorf("%s ended: %v, %d held", name, err, len(w.held))
		}
	}
	w.close()
}

func TestParseStat(t *testing.T) {
	const rest = " 1 2 3 0 -1 2097152 0 0 0 0 0 0 0 0 20 0 7 0 100"
	s := ParseStat([]byte("12 (a) D (b)) D" + rest))
	if s.state != 'D' || s.parent != 1 || s.flags&kernelThread == 0 || s.threads != 7 || s.Start != 100 ||
		string(s.Name) != "a) D (b)" {
		t.Errorf("%c %x %d %d %s", s.state, s.flags, s.threads, s.Start, s.Name)
	}
}

func TestWaitsFor(t *testing.T) {
	for stack, want := range map[string]string{
		"[<0>] io_schedule+0x46\n[<0>] blk_mq_get_tag+0x11c\n": ForTags,
		"[<0>] jbd2_log_wait_commit+0xe9\n":                    ForLog,
		"xlog_wait_on_iclog":                                   ForLog,
		"[<0>] percpu_rwsem_wait+0x116\n":                      ForFrozen,
		"[<0>] folio_wait_bit_common+0x13d\n":                  ForPage,
		"0":                                                    ForOther,
	} {
		if got := waitsFor([]byte(stack)); got != want {
			t.Errorf("%q: %s, want %s", stack, got, want)
		}
	}
}

func FuzzLive(f *testing.F) {
	f.Add([]byte(" 10 1 80 5 20 2 160 7 0 9 12"))
	f.Add([]byte("12 (a) D 1 2 3"))
	bounded.Fuzz(f, func(_ *testing.T, text []byte) {
		parseLive(text)
		ParseStat(text)
		ParseIO(text)
		parseLeading(string(text))
		waitsFor(text)
	})
}

// A parent's counters get what a child did when it is waited for: what it did before the window, and what it did in it
// under its own name, are none of the parent's.
func TestInheritedFromChildrenThatEnded(t *testing.T) {
	w := newTaskWatch((&sys.Machine{Root: fstest.MapFS{}}).Reader(), WatchFor{})
	w.before = map[string]asked{"10": {1, 100}, "11": {2, 200}, "12": {4, 400}, "13": {8, 800}, "14": {16, 1600}}
	w.last = map[string]asked{"12": {5, 500}}
	w.parents = map[string]string{"10": "1", "11": "10", "12": "11", "13": "1", "14": "13", "15": "14"}
	got := w.inherited([]string{"1", "10", "13", "15"}) // 11, 12 and 14 ended
	if len(got) != 2 || got["10"] != (asked{7, 700}) || got["13"] != (asked{16, 1600}) {
		t.Errorf("%v", got)
	}
}

// The same by a real shell whose child writes before the window and ends within it.
func TestShellsChildIsNotTheShell(t *testing.T) {
	dir := t.TempDir()
	// What the child writes last says that it will end once it may.
	shell := exec.Command("bash", "-c", `bash -c 'head -c 32M /dev/zero >"$0/data"; sync "$0/data"; touch "$0/wrote"
until [ -e "$0/go" ]; do sleep 0.02; done' "$0"; until [ -e "$0/end" ]; do sleep 0.02; done`, dir)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = os.WriteFile(filepath.Join(dir, "end"), nil, 0o600)
		_ = shell.Wait()
	}()
	for !exists(filepath.Join(dir, "wrote")) {
		if t.Context().Err() != nil {
			t.Fatal("the child wrote nothing")
		}
		time.Sleep(10 * time.Millisecond)
	}
	scans := 0
	w, err := Watch(t.Context(), sys.Host(), WatchFor{Span: 3 * time.Second, Uses: func(string) bool {
		if scans++; scans == 1 {
			time.AfterFunc(time.Second, func() { _ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600) })
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range w.Processes {
		if p.PID == shell.Process.Pid && p.Write > units.Rate(units.MiB) {
			t.Errorf("the shell is said to write %v, which its child did before the window", p.Write)
		}
	}
	if !slices.ContainsFunc(w.Processes, func(p Process) bool { return p.Ended && p.Parent == shell.Process.Pid }) {
		t.Errorf("no child of the shell's, %d, is known to have ended: %+v", shell.Process.Pid, w.Processes)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
