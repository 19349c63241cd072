package telemetry

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// Sampler reads the counters every Interval from Start to Stop. It writes nothing.
type Sampler struct {
	mu      sync.Mutex // guards all
	read    *reader
	kept    store
	ring    [][]uint64 // the last second and one more, the newest at (took-1) % len
	took    int
	err     error // of the last reading
	stopped *Series
}

// ringLen spans a second: eleven readings have ten intervals.
const ringLen = int(time.Second/Interval) + 1

// Start takes a first sample and goes on sampling until Stop. devices are kernel names (nvme0n1,
// md0, dm-0) and appear in that order in every sample; each must be in /proc/diskstats.
func Start(m *sys.Machine, devices []string) (*Sampler, error) {
	r, err := newReader(m, devices)
	if err != nil {
		return nil, err
	}
	s := &Sampler{read: r, kept: newStore(rowWidth(len(devices))), ring: make([][]uint64, ringLen)}
	for i := range s.ring {
		s.ring[i] = make([]uint64, rowWidth(len(devices)))
	}
	if s.tick(); s.err != nil {
		r.close()
		return nil, s.err
	}
	if i := slices.IndexFunc(
		devices,
		func(d string) bool { return deviceRow(r.row, r.index[d])[devReads] == absent },
	); i >= 0 {
		r.close()
		return nil, fmt.Errorf("device %q is not in /proc/diskstats: give the kernel's name, such as nvme0n1 or md0",
			devices[i])
	}
	go s.loop()
	return s, nil
}

// loop ticks until Stop. It sleeps in the kernel and not on a time.Ticker: the runtime wakes a
// second thread to look for more work each time a timer fires, and that alone is 0.22 % of a core
// at 10 Hz here, 0.10 % asleep in the kernel.
func (s *Sampler) loop() {
	// A thread of its own, so that its CPU clock counts all that sampling costs, waking up
	// included. It ends with the loop.
	runtime.LockOSThread()
	before := threadCPU() // the thread may have done other work
	next := sys.Monotonic()
	for {
		// A tick that is over already is missed, and the next ones stay where they were.
		next += Interval * max(1, (sys.Monotonic()-next+Interval-1)/Interval)
		sleepUntil(next)
		s.mu.Lock()
		if s.stopped != nil {
			s.mu.Unlock()
			return
		}
		s.read.own = threadCPU() - before
		s.tick()
		s.mu.Unlock()
	}
}

func sleepUntil(at time.Duration) {
	ts := unix.NsecToTimespec(int64(at))
	for errors.Is(unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil), unix.EINTR) {
	}
}

// tick takes one sample and keeps it. One that fails is a gap, which Series.Missed counts.
func (s *Sampler) tick() {
	if s.err = s.read.sample(); s.err != nil {
		return
	}
	s.kept.add(s.read.row)
	copy(s.ring[s.took%ringLen], s.read.row)
	s.took++
}

// Stop takes a last sample, ends the sampler and returns what it saw, without waiting for the next
// tick. A reading that failed is in Series.Missed; the error is for a series from which nothing can
// be said, as it has fewer than two samples. Stop again returns the same.
func (s *Sampler) Stop() (*Series, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.tick()
		s.read.close()
		s.stopped = s.read.series(&s.kept, maxCells)
	}
	if s.took < 2 {
		return s.stopped, s.err
	}
	return s.stopped, nil
}

// Latest returns the newest sample and each device's rates over the last second (less at the very start, nil
// before two samples).
func (s *Sampler) Latest() (Sample, []DeviceUse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := s.recent(s.took - 1)
	two := Series{Devices: s.read.devices, Samples: []Sample{s.recent(max(0, s.took-ringLen)), newest}}
	return newest, two.Use(two.Samples[0].At, newest.At)
}

func (s *Sampler) recent(n int) Sample {
	sample := Sample{Devices: make([]Device, len(s.read.devices))}
	decodeRow(s.ring[n%ringLen], &sample)
	return sample
}

// reader turns the files of /proc into rows. It is not safe for concurrent use.
type reader struct {
	machine *sys.Machine
	devices []string
	index   map[string]int
	start   time.Time
	sources []source
	row     []uint64
	own     time.Duration
}

// source is a file and what fills its part of a row.
type source struct {
	*procFile
	parse func(text []byte, row []uint64) error
}

func newReader(m *sys.Machine, devices []string) (_ *reader, err error) {
	r := &reader{
		machine: m, devices: slices.Clone(devices), index: make(map[string]int, len(devices)),
		row: make([]uint64, rowWidth(len(devices))),
	}
	for i, d := range devices {
		if _, twice := r.index[d]; twice {
			return nil, fmt.Errorf("device %q is named twice", d)
		}
		r.index[d] = i
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	text, err := fs.ReadFile(m.Root, "proc/stat")
	if err != nil {
		return nil, fmt.Errorf("CPU times: %w", err)
	}
	r.row[colCPUs] = countCPUs(text)
	open := func(what, name string, size int, whole bool, parse func([]byte, []uint64) error) {
		if f, failed := openProc(m.Root, name, size, whole); failed == nil {
			r.sources = append(r.sources, source{f, parse})
		} else if err == nil {
			err = fmt.Errorf("%s: %w", what, failed)
		}
	}
	if len(devices) > 0 { // tmpfs and network file systems have none
		open("disk counters", "proc/diskstats", 16<<10, true, func(text []byte, row []uint64) error {
			return parseDiskstats(text, r.index, row)
		})
	}
	// Only the first line of stat is wanted, and the first screen of meminfo holds Dirty and
	// Writeback.
	open("CPU times", "proc/stat", 512, false, parseStat)
	open("dirty pages", "proc/meminfo", 4<<10, false, parseMeminfo)
	if err != nil {
		return nil, err
	}
	// Without CONFIG_PSI, or with psi=0, there is no file or it cannot be read.
	if f, err := openProc(m.Root, "proc/pressure/io", 512, false); err == nil {
		if _, err := f.read(); err == nil {
			r.sources = append(r.sources, source{f, parsePressure})
		} else {
			f.close()
		}
	}
	r.row[colIOSome], r.row[colIOFull] = absent, absent
	r.start = m.Now()
	return r, nil
}

func (r *reader) close() {
	for _, f := range r.sources {
		f.close()
	}
}

// sample reads all files into r.row.
func (r *reader) sample() error {
	r.row[colAt] = uint64(r.machine.Now().Sub(r.start).Microseconds())
	r.row[colOwn] = uint64(r.own.Microseconds())
	for _, f := range r.sources {
		text, err := f.read()
		if err == nil {
			err = f.parse(text, r.row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// threadCPU is the CPU time of the calling thread, exact where getrusage(2) may count in clock
// ticks.
func threadCPU() time.Duration { return sys.Clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// series decodes what was kept, at most about limit numbers of it.
func (r *reader) series(kept *store, limit int) *Series {
	s := newSeries(r.start.Truncate(time.Microsecond), r.devices)
	// Counters are cumulative, so leaving rows out loses resolution but no I/O.
	every := 1 + kept.rows*kept.width/limit
	s.Samples = make([]Sample, 0, kept.rows/every+2)
	n := 0
	kept.each(func(row []uint64) {
		if n++; (n-1)%every == 0 || n == kept.rows {
			s.add(row)
		}
	})
	s.finish()
	return &s.Series
}
