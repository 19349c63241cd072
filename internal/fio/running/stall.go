package running

import (
	"cmp"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// looks is how often a limit of standstill is divided: so many looks in a row that see nothing end
// fio. They are counted, and not the time, so that a plimsoll that was stopped itself and goes on
// takes nothing for a standstill that it could not see.
const looks = 6

// watch cancels a run that stands still for too long.
type watch struct {
	m       *sys.Machine
	disks   []string
	work    sys.Work
	shown   atomic.Uint64 // what the last document counts
	stalled atomic.Bool
	held    atomic.Uint64 // memory that was too much
	end     chan struct{}
	ended   sync.WaitGroup
}

// sight is what there is to see of fio's progress.
type sight struct {
	shown, moved uint64
	disks        string // what the disks have completed, where a process waits for them
}

// newWatch begins to watch; without a limit nothing is looked at.
func newWatch(m *sys.Machine, inv *Invocation, cancel func()) *watch {
	w := &watch{m: m, disks: inv.Disks, end: make(chan struct{})}
	w.ended.Go(func() {
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		w.weigh(tick.C, cmp.Or(inv.Memory, mostMemory))
	})
	if inv.Stall <= 0 {
		return w
	}
	w.ended.Go(func() {
		tick := time.NewTicker(inv.Stall / looks)
		defer tick.Stop()
		w.count(tick.C, cancel)
	})
	return w
}

const (
	memoryEvery = 250 * time.Millisecond
	// mostMemory is twice what the buffers of a job may be: what fio notes of its I/Os, for verify= or for its logs,
	// grows with them and with no bound.
	mostMemory = 4 * units.GiB
	// mostAvailable is the share of the memory that was available at the start.
	mostAvailable = 0.75
)

// weigh kills fio once it holds more memory than it may. Its processes are looked at where so much is gone.
func (w *watch) weigh(tick <-chan time.Time, most units.Bytes) {
	available := func() units.Bytes { return units.Bytes(sys.Meminfo(w.m.Root, "MemAvailable")) }
	before := available()
	most = min(most, units.Bytes(mostAvailable*float64(before)))
	for {
		select {
		case <-tick:
		case <-w.end:
			return
		}
		now := available()
		if before = max(before, now); before == 0 || now+most/2 > before { // others may give some back meanwhile
			continue
		}
		if held := w.work.Memory(); units.Bytes(held) > most {
			w.held.Store(held)
			w.work.Kill()
		}
	}
}

// count looks at each tick, and cancels when so many looks in a row have seen nothing.
func (w *watch) count(tick <-chan time.Time, cancel func()) {
	var last sight
	for still := 0; ; {
		select {
		case <-tick:
		case <-w.end:
			return
		}
		now := w.look(last)
		if still++; now != last {
			last, still = now, 0
		}
		if still >= looks {
			w.stalled.Store(true)
			cancel()
			return
		}
	}
}

// look sees whether anything was done since last. What fio's documents say comes first; only where
// they say nothing new is /proc read: files are prefilled, flushed and trimmed without a count in
// them. A process that waits in the kernel makes progress if its disks do.
func (w *watch) look(last sight) sight {
	now := sight{w.shown.Load(), last.moved, last.disks}
	if now != last {
		return now
	}
	moved, waits := w.work.Look()
	now.moved = moved
	if waits {
		now.disks = completed(w.m.Root, w.disks)
	}
	return now
}

// completed is what the disks have done, as text that changes with it: Documentation/block/stat.rst,
// fields 1, 5, 12 and 16, which are completed reads, writes, discards and flushes.
func completed(root fs.FS, disks []string) string {
	var all []string
	for _, name := range disks {
		text, err := fs.ReadFile(root, "sys/class/block/"+name+"/stat")
		if err != nil {
			continue
		}
		field := strings.Fields(string(text))
		for _, i := range []int{0, 4, 11, 15} {
			if i < len(field) {
				all = append(all, field[i])
			}
		}
	}
	return strings.Join(all, " ")
}

// saw takes what a document counts. The counters fall at the end of a ramp, so any change is
// progress.
func (w *watch) saw(o *fio.Output) {
	var sum uint64
	for _, j := range o.Jobs {
		for _, d := range []*fio.Direction{&j.Read, &j.Write, &j.Trim, j.Mixed} {
			if d != nil {
				sum += d.N + uint64(d.Bytes)
			}
		}
	}
	w.shown.Store(sum)
}

func (w *watch) stop() {
	close(w.end)
	w.ended.Wait()
}
