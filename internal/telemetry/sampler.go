package telemetry

import (
	"fmt"
	"plimsoll/internal/sys"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Sampler reads the counters every Interval from Start to Stop. It writes nothing.
type Sampler struct {
	read   *reader
	stop   chan struct{}
	done   chan struct{}
	finish sync.Once
	series *Series
	err    error

	mu   sync.Mutex // guards what the live view sees
	kept store
	ring [][]uint64 // the last second and one more, the newest at (taken-1) % len
	took int
}

// ringLen spans a second: eleven readings have ten intervals.
const ringLen = int(time.Second/Interval) + 1

// Start takes a first sample and goes on sampling until Stop. devices are kernel names (nvme0n1, md0, dm-0) and appear in
// that order in every sample; each must be in /proc/diskstats.
func Start(m *sys.Machine, devices []string) (*Sampler, error) {
	r, err := newReader(m, devices)
	if err != nil {
		return nil, err
	}
	s := &Sampler{
		read: r, stop: make(chan struct{}), done: make(chan struct{}),
		kept: newStore(rowWidth(len(devices))),
		ring: make([][]uint64, ringLen),
	}
	for i := range s.ring {
		s.ring[i] = make([]uint64, rowWidth(len(devices)))
	}
	if err := s.tick(); err != nil {
		r.close()
		return nil, err
	}
	if i := slices.IndexFunc(devices, func(d string) bool { return deviceRow(r.row, r.index[d])[devReads] == absent }); i >= 0 {
		r.close()
		return nil, fmt.Errorf("device %q is not in /proc/diskstats: give the kernel's name, such as nvme0n1 or md0", devices[i])
	}
	go s.loop()
	return s, nil
}

func (s *Sampler) loop() {
	defer close(s.done)
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			// A reading that fails is a gap, which Series.Missed counts; Stop tells the reason if all the rest failed.
			s.err = s.tick()
		}
	}
}

// tick takes one sample and keeps it.
func (s *Sampler) tick() error {
	if err := s.read.sample(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.add(s.read.row)
	copy(s.ring[s.took%ringLen], s.read.row)
	s.took++
	return nil
}

// Stop takes a last sample, ends the sampler and returns what it saw. The error is that of the last reading, with the
// samples taken before it. Stop again returns the same.
func (s *Sampler) Stop() (*Series, error) {
	s.finish.Do(func() {
		close(s.stop)
		<-s.done
		s.err = s.tick()
		s.read.close()
		s.series = s.read.series(&s.kept)
	})
	return s.series, s.err
}

// Latest returns the newest sample; false before there is one.
func (s *Sampler) Latest() (Sample, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.took == 0 {
		return Sample{}, false
	}
	return s.recent(s.took - 1), true
}

// LatestUse returns each device's rates over the last second (less at the very start, nil before two samples).
func (s *Sampler) LatestUse() []DeviceUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.took < 2 {
		return nil
	}
	two := Series{Devices: s.read.devices, Samples: []Sample{s.recent(max(0, s.took-ringLen)), s.recent(s.took - 1)}}
	return two.Use(two.Samples[0].At, two.Samples[1].At)
}

func (s *Sampler) recent(n int) Sample {
	sample := Sample{Devices: make([]Device, len(s.read.devices))}
	decodeRow(s.ring[n%ringLen], &sample)
	return sample
}

// reader turns the files of /proc into rows. It is not safe for concurrent use.
type reader struct {
	machine                          *sys.Machine
	devices                          []string
	index                            map[string]int
	start                            time.Time
	diskstats, stat, meminfo, stalls *procFile // stalls is nil without PSI
	row                              []uint64
	own                              time.Duration
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
	whole, err := openProc(m.Root, "proc/stat", 64<<10, true)
	if err != nil {
		return nil, fmt.Errorf("CPU times: %w", err)
	}
	text, err := whole.read()
	whole.close()
	if err != nil {
		return nil, err
	}
	r.row[colCPUs] = countCPUs(text)
	// Only the first line of stat is wanted, and the first screen of meminfo holds Dirty and Writeback.
	if r.stat, err = openProc(m.Root, "proc/stat", 512, false); err != nil {
		return nil, fmt.Errorf("CPU times: %w", err)
	}
	if r.meminfo, err = openProc(m.Root, "proc/meminfo", 4<<10, false); err != nil {
		return nil, fmt.Errorf("dirty pages: %w", err)
	}
	if r.diskstats, err = openProc(m.Root, "proc/diskstats", 16<<10, true); err != nil {
		return nil, fmt.Errorf("disk counters: %w", err)
	}
	// Without CONFIG_PSI, or with psi=0, there is no file or it cannot be read.
	if r.stalls, _ = openProc(m.Root, "proc/pressure/io", 512, false); r.stalls != nil {
		if _, err := r.stalls.read(); err != nil {
			r.stalls.close()
			r.stalls = nil
		}
	}
	r.row[colIOSome], r.row[colIOFull] = absent, absent
	r.start = m.Now()
	return r, nil
}

func (r *reader) close() {
	for _, f := range []*procFile{r.diskstats, r.stat, r.meminfo, r.stalls} {
		f.close()
	}
}

// sample reads all files into r.row.
func (r *reader) sample() error {
	// The goroutine must not change threads between the two readings of the thread's CPU clock. Locking it only so long,
	// instead of for life, spares the hand-over from the thread that the timer woke.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	r.row[colAt] = uint64(r.machine.Now().Sub(r.start).Microseconds())
	r.row[colOwn] = uint64(r.own.Microseconds())
	err := r.readAll()
	r.own += threadCPU() - before
	return err
}

func (r *reader) readAll() error {
	text, err := r.diskstats.read()
	if err != nil {
		return err
	}
	if err := parseDiskstats(text, r.index, r.row); err != nil {
		return err
	}
	if text, err = r.stat.read(); err != nil {
		return err
	}
	if err := parseStat(text, r.row); err != nil {
		return err
	}
	if text, err = r.meminfo.read(); err != nil {
		return err
	}
	if err := parseMeminfo(text, r.row); err != nil {
		return err
	}
	if r.stalls == nil {
		return nil
	}
	if text, err = r.stalls.read(); err != nil {
		return err
	}
	return parsePressure(text, r.row)
}

// threadCPU is the CPU time of the calling thread (clock_gettime(2): exact, where getrusage may count in ticks).
func threadCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// series decodes what was kept.
func (r *reader) series(kept *store) *Series {
	s := newSeries(r.start.Truncate(time.Microsecond), r.devices)
	// Counters are cumulative, so leaving rows out loses resolution but no I/O.
	every := 1 + kept.rows*kept.width/maxCells
	n := 0
	kept.each(func(row []uint64) {
		if n++; (n-1)%every == 0 || n == kept.rows {
			s.add(row)
		}
	})
	s.finish()
	return &s.Series
}
