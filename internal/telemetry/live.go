package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Window is what the counters of a machine at work did in a while in which plimsoll did no I/O.
type Window struct {
	Span  time.Duration `json:"span_ns"`
	Ticks int           `json:"ticks"` // readings of the devices, ten a second
	// LateMean and LateMost are by how much the ticks came too late: a machine whose timers are late
	// cannot say how long its storage takes.
	LateMean time.Duration `json:"late_mean_ns"`
	LateMost time.Duration `json:"late_most_ns"`
	Devices  []LiveDevice  `json:"devices"` // as asked for
	// Machine is what all leaves of the machine did together, for limits of the instance.
	MachineIOs  float64    `json:"machine_iops"`
	MachineRate units.Rate `json:"machine_bytes_per_s"`
	Pressure    *Pressure  `json:"pressure,omitempty"` // nil without PSI
	Memory      LiveMemory `json:"memory"`
	CPU         LiveCPU    `json:"cpu"`
	Processes   []Process  `json:"processes"`
	// Stacks says that what tasks wait for could be read.
	Stacks bool     `json:"stacks"`
	Notes  []string `json:"notes,omitempty"`
}

// LiveDevice is what one device did in a window: differences of /proc/diskstats
// (Documentation/admin-guide/iostats.rst), and what only repeated looks show.
type LiveDevice struct {
	Name       string        `json:"name"`
	Reads      uint64        `json:"reads"`
	Writes     uint64        `json:"writes"`
	Discards   uint64        `json:"discards,omitempty"`
	Flushes    uint64        `json:"flushes,omitempty"`
	ReadBytes  units.Bytes   `json:"read_bytes"`
	WriteBytes units.Bytes   `json:"write_bytes"`
	Wait       time.Duration `json:"wait_ns"`  // summed over reads and writes
	Other      time.Duration `json:"other_ns"` // summed over discards and flushes
	// ReadWait, WriteWait and FlushWait are the parts of these sums. A write that asks for a flush before
	// it waits for that, too, so that the time of a flush is in both.
	ReadWait  time.Duration `json:"read_wait_ns,omitempty"`
	WriteWait time.Duration `json:"write_wait_ns,omitempty"`
	FlushWait time.Duration `json:"flush_wait_ns,omitempty"`
	// ReadWorst, WriteWorst and FlushWorst are the longest mean time of an I/O in 100 ms.
	ReadWorst  time.Duration `json:"read_worst_ns,omitempty"`
	WriteWorst time.Duration `json:"write_worst_ns,omitempty"`
	FlushWorst time.Duration `json:"flush_worst_ns,omitempty"`
	Busy       time.Duration `json:"busy_ns"`
	InFlight   float64       `json:"in_flight"` // mean of the ticks
	// Longest is the longest time with I/O in flight and nothing completed; Stalled is the sum of
	// such times of 0.3 s and more.
	Longest   time.Duration `json:"longest_stall_ns,omitempty"`
	Stalled   time.Duration `json:"stalled_ns,omitempty"`
	PeakIOs   uint64        `json:"peak_ios_1s,omitempty"`
	LastIOs   uint64        `json:"last_ios_1s,omitempty"` // of the last second
	Suspended float64       `json:"suspended,omitempty"`   // share of the ticks (device-mapper)
	Sync      *LiveSync     `json:"sync,omitempty"`        // of an md array
	Gone      bool          `json:"gone,omitempty"`        // it vanished meanwhile
}

// LiveSync is what an md array does beside its users' I/O.
type LiveSync struct {
	Action   string      `json:"action"`             // idle resync recover check repair reshape
	Speed    units.Rate  `json:"bytes_per_s"`        // of each member
	Left     float64     `json:"left,omitempty"`     // share that is still to do
	Size     units.Bytes `json:"size,omitempty"`     // of each member
	Degraded int         `json:"degraded,omitempty"` // members missing
}

// Pressure is the share of a window in which some task waited for a processor, and in which all waited for memory
// (Documentation/accounting/psi.rst).
type Pressure struct {
	CPUSome    float64 `json:"cpu_some"`
	MemoryFull float64 `json:"memory_full"`
}

// LiveMemory is what waits in memory to be written, and how much the machine swapped.
type LiveMemory struct {
	Dirty      units.Bytes `json:"dirty"`      // dirty and being written back, at the end
	Background units.Bytes `json:"background"` // from here on the kernel writes back
	Swap       float64     `json:"swap_pages_per_s"`
}

// LiveCPU are shares of all processors.
type LiveCPU struct {
	Idle  float64 `json:"idle"`
	Steal float64 `json:"steal"`
}

// WatchFor says what to watch, and for how long.
type WatchFor struct {
	Devices []string // kernel names, the stack from its top
	Span    time.Duration
	// Uses is whether a process has files on the devices, nil for nobody; Beside whether it has some on
	// others of the same disks, as far as it is known.
	Uses, Beside func(pid string) bool
	// Quick leaves out what takes longer than the window: the wait of processes for a processor.
	Quick bool
	// Counters leaves processes and their tasks out, which are most of what watching costs.
	Counters bool
	// Each is called after each tick with the time since the start; nil for nobody.
	Each func(since time.Duration)
}

// Watch looks at a machine for a while. It writes nothing, does no I/O and opens files below /proc
// and /sys alone. It ends early with its context, and what was seen until then is returned.
func Watch(ctx context.Context, m *sys.Machine, o WatchFor) (*Window, error) {
	w, err := newWatcher(m, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	// A thread of its own sleeps in the kernel: the runtime would wake a second one each tick.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.begin(); err != nil {
		return nil, err
	}
	for w.now()-w.start < o.Span && ctx.Err() == nil {
		w.wait(min(Interval, o.Span-(w.now()-w.start)))
		if err := w.tick(); err != nil {
			w.note("%v", err)
		}
		if w.scanNow() {
			w.procs.scan()
		}
		if o.Each != nil {
			o.Each(w.now() - w.start)
		}
	}
	return w.end(ctx)
}

// Looks for waiting tasks: once a second, where there are very many tasks less often, and twice in a
// window shorter than that. They are the largest part of what watching costs.
const (
	shortWindow = 2 * time.Second
	manyTasks   = 300
	ticksOfMany = 13
	firstLook   = 5
	shortAsWell = 2
)

func (w *watcher) scanNow() bool {
	if w.Counters {
		return false
	}
	n, every := w.out.Ticks, perTick
	if len(w.procs.before) > manyTasks {
		every = ticksOfMany
	}
	return n%every == firstLook || w.Span < shortWindow && n == shortAsWell
}

// liveCounters are a line of /proc/diskstats behind the name.
type liveCounters [17]uint64

// Places in a line of /proc/diskstats.
const (
	atReads, atReadBytes, atReadMs    = 0, 2, 3
	atWrites, atWriteBytes, atWriteMs = 4, 6, 7
	atInFlight, atBusy                = 8, 9
	atDiscards, atDiscardMs           = 11, 14
	atFlushes, atFlushMs              = 15, 16
	perTick                           = int(time.Second / Interval)
)

func (c *liveCounters) ios() uint64 { return c[atReads] + c[atWrites] }
func (c *liveCounters) all() uint64 { return c.ios() + c[atDiscards] + c[atFlushes] }

// less is by how much a counter grew; one that wrapped or began again has done nothing that is
// known.
func less(b, a uint64) uint64 {
	if b < a {
		return 0
	}
	return b - a
}

func millis(ms uint64) time.Duration { return time.Duration(min(ms, 1<<42)) * time.Millisecond }

type liveState struct {
	name        string
	first, last liveCounters
	seen        bool
	gone        bool
	inFlight    uint64
	still       time.Duration // with I/O in flight and none completed, up to now
	stilled     time.Duration
	longest     time.Duration
	ring        []liveCounters
	peakIOs     uint64
	lastIOs     uint64
	suspended   int
	worst       [3]time.Duration // of reads, writes and flushes
	isDM        bool
	isMD        bool
	sync        LiveSync
}

type watcher struct {
	WatchFor
	read      *sys.Reader
	stats     *procFile
	state     []*liveState // of the devices, in their order
	start     time.Duration
	at        time.Duration // of the last tick
	late      time.Duration
	out       Window
	leaves    map[string]bool
	machine   [2]uint64 // I/Os and sectors of all leaves at the start
	procs     *taskWatch
	pressure  *Pressure // totals at the start, in seconds
	memory    map[string]uint64
	cpu       []uint64
	now       func() time.Duration
	sleepTill func(time.Duration)
}

// newWatcher opens /proc/diskstats. On a captured machine time goes by without waiting.
func newWatcher(m *sys.Machine, o WatchFor) (*watcher, error) {
	w := &watcher{
		WatchFor: o, read: m.Reader(), leaves: map[string]bool{},
		now: sys.Monotonic, sleepTill: sleepUntil,
	}
	if !w.read.Here() && !m.Here {
		var passed time.Duration
		w.now = func() time.Duration { return passed }
		w.sleepTill = func(at time.Duration) { passed = at }
	}
	for _, d := range o.Devices {
		w.state = append(w.state, &liveState{name: d, isDM: strings.HasPrefix(d, "dm-")})
	}
	w.procs = newTaskWatch(w.read, o)
	var err error
	if w.stats, err = openProc(m.Root, "proc/diskstats", 32<<10, true); err != nil {
		return nil, fmt.Errorf("disk counters: %w", err)
	}
	return w, nil
}

func (w *watcher) close() {
	w.stats.close()
	w.procs.close()
}

func (w *watcher) note(format string, args ...any) {
	w.out.Notes = text.Once(w.out.Notes, fmt.Sprintf(format, args...))
}

// notLeaves are devices that are made of others or of memory, and so are not counted twice.
var notLeaves = strings.Fields("loop ram md dm- zram sr fd")

func (w *watcher) begin() error {
	names, _ := w.read.Names("sys/block")
	for _, n := range names {
		if !slices.ContainsFunc(notLeaves, func(p string) bool { return strings.HasPrefix(n, p) }) {
			w.leaves[n] = true
		}
	}
	for _, s := range w.state {
		if s.isMD = w.read.Text("sys/block/"+s.name+"/md/level") != ""; s.isMD {
			w.syncing(s)
		}
	}
	if !w.Counters {
		w.procs.begin()
	}
	w.pressure, w.memory = w.readPressure(), w.readMemory()
	w.cpu = w.readCPU()
	w.at = w.now()
	w.start = w.at
	return w.readStats(func(s *liveState, c liveCounters) {
		s.first, s.last, s.seen = c, c, true
		s.ring = append(s.ring, c)
	}, 0)
}

// wait sleeps until the next tick and notes how late it came.
func (w *watcher) wait(d time.Duration) {
	next := w.now() + d
	w.sleepTill(next)
	late := max(w.now()-next, 0)
	w.late += late
	w.out.LateMost = max(w.out.LateMost, late)
}

// readStats reads /proc/diskstats and calls each for the devices of the stack; end says which end of
// the machine's sums it is, -1 for none.
func (w *watcher) readStats(each func(*liveState, liveCounters), end int) error {
	text, err := w.stats.read()
	if err != nil {
		return err
	}
	var ios, sectors uint64
	for line := range bytes.Lines(text) {
		name, counters, ok := diskLine(line)
		i := slices.IndexFunc(w.state, func(s *liveState) bool { return s.name == string(name) })
		if !ok || i < 0 && (end < 0 || !w.leaves[string(name)]) {
			continue
		}
		c, n := parseLive(counters)
		if n < leastCounters {
			continue
		}
		if i >= 0 {
			each(w.state[i], c)
		}
		if end >= 0 && w.leaves[string(name)] {
			ios += c.ios()
			sectors += c[atReadBytes] + c[atWriteBytes]
		}
	}
	if end == 0 {
		w.machine = [2]uint64{ios, sectors}
	} else if end > 0 {
		span := w.out.Span.Seconds()
		w.out.MachineIOs = float64(less(ios, w.machine[0])) / span
		w.out.MachineRate = units.Rate(float64(less(sectors, w.machine[1])*sector) / span)
	}
	return nil
}

// leastCounters has each line: 15 since Linux 4.18 (discards), 17 since 5.5 (flushes).
const leastCounters = 11

// parseLive reads the counters of a line, and says how many there are.
func parseLive(b []byte) (c liveCounters, n int) {
	for n < len(c) {
		v, rest, ok := nextNumber(b)
		if !ok {
			break
		}
		c[n], b, n = v, rest, n+1
	}
	return c, n
}

func (w *watcher) tick() error {
	now := w.now()
	passed := now - w.at
	w.at = now
	w.out.Ticks++
	for _, s := range w.state {
		s.gone = true
	}
	err := w.readStats(func(s *liveState, c liveCounters) { s.tick(c, passed) }, -1)
	if err != nil {
		return err
	}
	for _, s := range w.state {
		if s.isDM && w.read.Text("sys/block/"+s.name+"/dm/suspended") == "1" {
			s.suspended++
		}
	}
	return nil
}

// stillLeast is the shortest time without a completion that is summed up.
const stillLeast = 300 * time.Millisecond

func (s *liveState) tick(c liveCounters, passed time.Duration) {
	s.gone = false
	if !s.seen { // it came meanwhile
		s.first, s.last, s.seen = c, c, true
	}
	for i, at := range [3][2]int{{atReads, atReadMs}, {atWrites, atWriteMs}, {atFlushes, atFlushMs}} {
		if n := less(c[at[0]], s.last[at[0]]); n > 0 {
			s.worst[i] = max(s.worst[i], millis(less(c[at[1]], s.last[at[1]]))/time.Duration(min(n, 1<<40)))
		}
	}
	s.inFlight += c[atInFlight]
	if c[atInFlight] >= 1 && s.last[atInFlight] >= 1 && c.all() == s.last.all() {
		s.still += passed
		s.longest = max(s.longest, s.still)
	} else {
		s.moved()
	}
	s.last = c
	s.ring = append(s.ring, c)
	if n := len(s.ring); n > perTick {
		old := &s.ring[n-1-perTick]
		s.lastIOs = less(c.ios(), old.ios())
		s.peakIOs = max(s.peakIOs, s.lastIOs)
		s.ring = s.ring[1:]
	}
}

func (s *liveState) moved() {
	if s.still >= stillLeast {
		s.stilled += s.still
	}
	s.still = 0
}

// syncing reads what an array does beside its users' I/O.
func (w *watcher) syncing(s *liveState) {
	dir := "sys/block/" + s.name + "/md/"
	action := w.read.Text(dir + "sync_action")
	if s.sync.Action == "" || action != "" && action != "idle" {
		s.sync.Action = action
	}
	if speed := parseLeading(w.read.Text(dir + "sync_speed")); speed > 0 { // KiB per second
		s.sync.Speed = max(s.sync.Speed, units.Rate(speed)*units.Rate(units.KiB))
	}
	s.sync.Degraded = int(parseLeading(w.read.Text(dir + "degraded")))
	done, all, _ := strings.Cut(w.read.Text(dir+"sync_completed"), " / ")
	if total := parseLeading(all); total > 0 {
		s.sync.Left = 1 - float64(min(parseLeading(done), total))/float64(total)
		s.sync.Size = units.Bytes(total) * sector
	}
}

// parseLeading is the number at the start of a text, 0 when there is none.
func parseLeading(s string) uint64 {
	v, _, _ := nextNumber([]byte(s))
	return v
}

// errShort is the error of a window that ended before anything could be compared.
var errShort = errors.New("the time was too short to see anything")

func (w *watcher) end(ctx context.Context) (*Window, error) {
	o := &w.out
	o.Span = w.now() - w.start
	if o.Ticks == 0 || o.Span <= 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, errShort
	}
	o.LateMean = w.late / time.Duration(o.Ticks)
	if err := w.readStats(func(s *liveState, c liveCounters) { s.last = c }, 1); err != nil {
		w.note("%v", err)
	}
	for _, s := range w.state {
		if s.isMD {
			w.syncing(s)
		}
		o.Devices = append(o.Devices, s.device(float64(o.Ticks)))
	}
	w.pressures()
	w.memories()
	w.processors()
	if !w.Counters {
		w.procs.end(o, w.now, w.sleepTill)
	}
	return o, nil
}

func (s *liveState) device(ticks float64) LiveDevice {
	s.moved()
	a, b := &s.first, &s.last
	d := func(at int) uint64 { return less(b[at], a[at]) }
	live := LiveDevice{
		Name: s.name, Reads: d(atReads), Writes: d(atWrites), Discards: d(atDiscards), Flushes: d(atFlushes),
		ReadBytes: units.Bytes(d(atReadBytes)) * sector, WriteBytes: units.Bytes(d(atWriteBytes)) * sector,
		Wait: millis(d(atReadMs) + d(atWriteMs)), Other: millis(d(atDiscardMs) + d(atFlushMs)), Busy: millis(d(atBusy)),
		ReadWait: millis(d(atReadMs)), WriteWait: millis(d(atWriteMs)), FlushWait: millis(d(atFlushMs)),
		ReadWorst: s.worst[0], WriteWorst: s.worst[1], FlushWorst: s.worst[2],
		InFlight: float64(s.inFlight) / ticks, Longest: s.longest, Stalled: s.stilled,
		PeakIOs: s.peakIOs, LastIOs: s.lastIOs, Gone: s.gone,
		Suspended: float64(s.suspended) / ticks,
	}
	if s.isMD {
		live.Sync = &s.sync
	}
	return live
}

// readPressure reads the totals, in seconds; nil where the kernel has none.
func (w *watcher) readPressure() *Pressure {
	total := func(of string, col int) float64 {
		row := make([]uint64, hostWidth)
		text, _ := w.read.Read("proc/pressure/" + of)
		_ = parsePressure(text, row) // what it cannot read is absent
		return duration(row[col], time.Microsecond).Seconds()
	}
	if w.read.Text("proc/pressure/cpu") == "" {
		return nil
	}
	return &Pressure{CPUSome: total("cpu", colIOSome), MemoryFull: total("memory", colIOFull)}
}

func (w *watcher) pressures() {
	now := w.readPressure()
	if now == nil || w.pressure == nil {
		w.note("this kernel has no pressure information (PSI)")
		return
	}
	share := func(to, from float64) float64 { return max(0, to-from) / w.out.Span.Seconds() }
	w.out.Pressure = &Pressure{
		CPUSome: share(now.CPUSome, w.pressure.CPUSome), MemoryFull: share(now.MemoryFull, w.pressure.MemoryFull),
	}
}

func (w *watcher) readMemory() map[string]uint64 {
	m := map[string]uint64{}
	text, _ := w.read.Read("proc/vmstat")
	for line := range bytes.Lines(text) {
		switch name, value, _ := strings.Cut(string(line), " "); name {
		case "nr_dirty", "nr_writeback", "nr_dirty_background_threshold", "pswpin", "pswpout":
			m[name] = parseLeading(value)
		}
	}
	return m
}

func (w *watcher) memories() {
	now, page := w.readMemory(), units.Bytes(unix.Getpagesize())
	w.out.Memory = LiveMemory{
		Dirty:      units.Bytes(now["nr_dirty"]+now["nr_writeback"]) * page,
		Background: units.Bytes(now["nr_dirty_background_threshold"]) * page,
		Swap: float64(less(now["pswpin"], w.memory["pswpin"])+less(now["pswpout"], w.memory["pswpout"])) /
			w.out.Span.Seconds(),
	}
}

// readCPU reads the processors' times, in the columns of a row; nil where they are not there.
func (w *watcher) readCPU() []uint64 {
	text, _ := w.read.Read("proc/stat")
	row := make([]uint64, hostWidth)
	if parseStat(text, row) != nil {
		return nil
	}
	return row
}

func (w *watcher) processors() {
	now := w.readCPU()
	if now == nil || w.cpu == nil {
		return
	}
	var total uint64
	for col := colUser; col <= colSteal; col++ {
		total += less(now[col], w.cpu[col])
	}
	share := func(cols ...int) (sum float64) {
		for _, col := range cols {
			sum += float64(less(now[col], w.cpu[col])) / float64(max(total, 1))
		}
		return sum
	}
	w.out.CPU.Idle, w.out.CPU.Steal = share(colIdle, colIOWait), share(colSteal)
}
