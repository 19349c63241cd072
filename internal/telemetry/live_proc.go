package telemetry

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// Process is what one process asked for in a window, and what its tasks waited for.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
	// Group is its control group, of version 1 or 2 as Version says; empty for the outermost.
	Group   string `json:"group,omitempty"`
	Version int    `json:"group_version,omitempty"`
	// Read and Write are bytes asked for as /proc/PID/io counts them: a buffered write when the page
	// is made dirty.
	Read  units.Rate `json:"read_bytes_per_s"`
	Write units.Rate `json:"write_bytes_per_s"`
	// Waiting is the mean number of its tasks in uninterruptible sleep, For by what they wait for.
	Waiting float64            `json:"waiting,omitempty"`
	For     map[string]float64 `json:"waiting_for,omitempty"`
	// RunQueue is how long its busiest moment's tasks waited for a processor, in seconds a second.
	RunQueue float64 `json:"run_queue,omitempty"`
	// Uses says that it has files on the devices, Beside on others of the same disks; Kernel that it is a
	// thread of the kernel.
	Uses   bool `json:"uses,omitempty"`
	Beside bool `json:"beside,omitempty"`
	Kernel bool `json:"kernel,omitempty"`
	// CPUGroup is its control group of processor time; empty for the outermost.
	CPUGroup string `json:"cpu_group,omitempty"`
	// Ended says that it is no longer there: what it asked for is known up to the last look at it.
	Ended bool `json:"ended,omitempty"`
	// Parent is who started one that began or ended in the window; 0 for others, and where nobody saw it.
	Parent int `json:"parent,omitempty"`
}

// Unit is the last part of the process's control group, such as postgresql.service.
func (p *Process) Unit() string { return p.Group[strings.LastIndexByte(p.Group, '/')+1:] }

// What a waiting task may wait for, by its kernel stack.
const (
	ForDirty     = "dirty-limit" // balance_dirty_pages: too much of memory is dirty
	ForThrottle  = "throttle"    // a control group's limit
	ForWBT       = "wbt"         // write-back throttling
	ForTags      = "tags"        // a place in the device's queue
	ForLog       = "log"         // the filesystem's journal
	ForFrozen    = "frozen"      // fsfreeze
	ForInodeLock = "inode-lock"
	ForSync      = "sync"
	ForPage      = "page-read"
	ForIO        = "io"
	ForOther     = "other"
)

// waits name functions of the kernel (4.14 to 6.18) on the stack of a waiting task, and what it waits for; the first
// that is found decides.
const waits = `
balance_dirty_pages dirty-limit
blk_throtl throttle
rq_qos_wait wbt
wbt_wait wbt
blk_mq_get_tag tags
md_handle_request md
wait_barrier md
raid10_ md
raid5_get_active md
jbd2_log_wait_commit log
jbd2_complete log
xlog_ log
xfs_log_force log
start_this_handle log
add_transaction_credits log
percpu_rwsem_wait frozen
__percpu_down_read frozen
sb_start_write frozen
rwsem_down_write inode-lock
nfs_ nfs
rpc_ nfs
folio_wait_writeback sync
wait_on_page_writeback sync
file_write_and_wait sync
folio_wait_bit page-read
wait_on_page_bit page-read
io_schedule io
submit_bio_wait io
`

// waitsFor says what a task waits for by its stack, or by the one function of wchan.
func waitsFor(stack []byte) string {
	for line := range strings.Lines(waits) {
		if function, what, ok := strings.Cut(line, " "); ok && bytes.Contains(stack, []byte(function)) {
			return strings.TrimSpace(what)
		}
	}
	return ForOther
}

// asked is what /proc/PID/io counts.
type asked struct{ read, written uint64 }

// taskWatch looks at the tasks of a machine.
type taskWatch struct {
	WatchFor
	read    *sys.Reader
	before  map[string]asked
	met     map[string]*Process           // programs that did much and may end before the window does
	last    map[string]asked              // of them, at the last look
	waiting map[string]map[string]float64 // by process, what its tasks waited for, summed over scans
	scans   int
	stacks  bool
	partial bool              // a look was ended by its budget
	whole   bool              // the one at the start was not
	kernel  map[string]bool   // threads of the kernel: nobody's program
	parents map[string]string // of each process that a scan met
	self    string
	held    map[string]*sys.Held // what is read in each look stays open …
	room    int                  // … up to so many files
	holdIO  bool                 // there is room for what is read twice, too
}

// Bounds of a look at very many tasks: before and after the window it goes on as long as lookBudget,
// within it as long as scanBudget; a process counts with its first mostThreads. 10,000 processes take
// some 100 ms; an emulated machine needs as long for a hundred.
const (
	lookBudget  = 350 * time.Millisecond
	scanBudget  = 900 * time.Millisecond
	mostThreads = 256
)

func newTaskWatch(r *sys.Reader, o WatchFor) *taskWatch {
	return &taskWatch{
		WatchFor: o,
		read:     r,
		before:   map[string]asked{},
		met:      map[string]*Process{},
		last:     map[string]asked{},
		waiting:  map[string]map[string]float64{},
		self: strconv.Itoa(
			os.Getpid(),
		),
		kernel:  map[string]bool{},
		parents: map[string]string{},
		held:    map[string]*sys.Held{},
		room:    heldRoom(),
	}
}

// heldMost files of processes stay open at a time, and half of those that plimsoll may open at most.
const heldMost = 2000

func heldRoom() int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0
	}
	return int(min(heldMost, files.Cur/2))
}

// again reads a file that is read in each look. It is kept open where there is room.
func (t *taskWatch) again(name string) ([]byte, error) {
	h := t.held[name]
	if h == nil {
		if len(t.held) >= t.room {
			return t.read.Read(name)
		}
		var err error
		if h, err = t.read.Hold(name); err != nil {
			return nil, err
		}
		t.held[name] = h
	}
	text, err := h.Read()
	if err != nil { // its process ended: the next look finds whoever has the number then
		h.Close()
		delete(t.held, name)
	}
	return text, err
}

func (t *taskWatch) close() {
	for _, h := range t.held {
		h.Close()
	}
	clear(t.held)
}

// processes are the numbers of all processes.
func (t *taskWatch) processes() []string {
	names, _ := t.read.Names("proc")
	return slices.DeleteFunc(names, func(n string) bool { return n[0] < '0' || n[0] > '9' || t.kernel[n] || n == t.self })
}

// within runs look for each of the names until the budget is spent; false when it was.
func (t *taskWatch) within(budget time.Duration, names []string, look func(string)) bool {
	deadline := sys.Monotonic() + budget
	for i, n := range names {
		if i%16 == 15 && sys.Monotonic() > deadline {
			t.partial = true
			return false
		}
		look(n)
	}
	return true
}

func (t *taskWatch) begin() {
	all := t.processes()
	t.holdIO = 2*len(all) <= t.room
	t.whole = t.within(lookBudget, all, func(pid string) {
		if io, err := t.asked(pid); err == nil {
			t.before[pid] = io
			t.meet(pid, io)
		}
	})
}

// Of a program that did so much so far it is noted who it is, of so many at most: it may end meanwhile.
const (
	metLeast = 1 << 20
	metMost  = 200
)

func (t *taskWatch) meet(pid string, io asked) {
	if t.met[pid] == nil && io.read+io.written >= metLeast && len(t.met) < metMost && t.Uses != nil {
		p := Process{}
		if t.Uses(pid) {
			p = t.who(pid)
			p.Uses = true
		}
		t.met[pid] = &p
	}
	if p := t.met[pid]; p != nil && p.Uses {
		t.last[pid] = io
	}
}

func (t *taskWatch) asked(pid string) (a asked, err error) {
	look := t.read.Read
	if t.holdIO {
		look = t.again
	}
	text, err := look("proc/" + pid + "/io")
	a.read, a.written, _ = ParseIO(text)
	return a, err
}

// ParseIO reads /proc/PID/io: bytes that were fetched from storage, those that were to be sent to it, and
// those of these that were truncated before.
func ParseIO(text []byte) (read, written, cancelled uint64) {
	for line := range bytes.Lines(text) {
		switch name, value, _ := bytes.Cut(line, []byte(":")); string(name) {
		case "read_bytes":
			read, _, _ = nextNumber(value)
		case "write_bytes":
			written, _, _ = nextNumber(value)
		case "cancelled_write_bytes":
			cancelled, _, _ = nextNumber(value)
		}
	}
	return read, written, cancelled
}

// scan looks which tasks are in uninterruptible sleep now, and what they wait for.
func (t *taskWatch) scan() {
	t.scans++
	t.within(scanBudget, t.processes(), func(pid string) {
		if _, known := t.before[pid]; !known || t.met[pid] != nil && t.met[pid].Uses {
			if io, err := t.asked(pid); err == nil {
				t.meet(pid, io)
			}
		}
		text, err := t.again("proc/" + pid + "/stat")
		if err != nil {
			return
		}
		stat := ParseStat(text)
		t.parents[pid] = strconv.FormatUint(stat.parent, 10)
		if stat.flags&kernelThread != 0 {
			t.kernel[pid] = true // its number is not given to another within a window
			return
		}
		if stat.threads <= 1 {
			if stat.state == 'D' {
				t.waits(pid, pid)
			}
			return
		}
		tasks, _ := t.read.Names("proc/" + pid + "/task")
		for i, task := range tasks {
			if i >= mostThreads {
				break
			}
			text, err := t.again("proc/" + pid + "/task/" + task + "/stat")
			if err != nil {
				continue
			}
			if ParseStat(text).state == 'D' {
				t.waits(pid, task)
			}
		}
	})
}

// kernelThread is PF_KTHREAD (include/linux/sched.h).
const kernelThread = 0x00200000

// Stat is what /proc/PID/stat says of a process or a thread.
type Stat struct {
	Name                   []byte
	Start                  uint64 // ticks since boot: the same number may be another process later
	state                  byte
	parent, flags, threads uint64
}

// ParseStat reads /proc/PID/stat. The name stands in parentheses and may hold any of them.
func ParseStat(text []byte) (s Stat) {
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from || to+2 >= len(text) {
		return s
	}
	s.Name, s.state = text[from+1:to], text[to+2]
	rest, more := text[to+2:], true
	for field := 4; more; field++ {
		var n uint64
		_, rest, more = bytes.Cut(rest, []byte(" "))
		switch n, _, _ = nextNumber(rest); field {
		case 4:
			s.parent = n
		case 9:
			s.flags = n
		case 20:
			s.threads = n
		case 22:
			s.Start = n
			return s
		}
	}
	return s
}

func (t *taskWatch) waits(pid, task string) {
	dir := "proc/" + pid + "/task/" + task
	stack, err := t.read.Read(dir + "/stack")
	if err == nil && len(stack) > 0 {
		t.stacks = true
	} else {
		stack, _ = t.read.Read(dir + "/wchan")
	}
	if t.waiting[pid] == nil {
		t.waiting[pid] = map[string]float64{}
	}
	t.waiting[pid][waitsFor(stack)]++
}

// runQueueFor is how long the wait for a processor is looked at, after the window: who has files on
// the devices is known only then.
const runQueueFor = 200 * time.Millisecond

func (t *taskWatch) end(o *Window, now func() time.Duration, sleepTill func(time.Duration)) {
	all := t.processes()
	o.Stacks = t.stacks || os.Geteuid() == 0
	seconds := o.Span.Seconds()
	inherited := t.inherited(all)
	t.within(lookBudget, all, func(pid string) {
		io, err := t.asked(pid)
		if err != nil && t.waiting[pid] == nil {
			return
		}
		old, had := t.before[pid] // zero for one that began meanwhile …
		if !had && !t.whole {
			old = io // … unless it may have been left out at the start
		}
		from := inherited[pid]
		read, written := less(io.read, old.read+from.read), less(io.written, old.written+from.written)
		if read+written == 0 && t.waiting[pid] == nil {
			delete(t.last, pid)
			return
		}
		p := t.who(pid)
		if !had && t.whole {
			p.Parent, _ = strconv.Atoi(t.parents[pid])
		}
		p.did(seconds, read, written)
		t.waited(&p, pid)
		p.Uses = t.Uses != nil && t.Uses(pid)
		p.Beside = t.Beside != nil && !p.Uses && t.Beside(pid)
		if p.Kernel = !p.Uses && t.read.Text("proc/"+pid+"/cmdline") == ""; p.Kernel && t.last[pid] != (asked{}) {
			return // what is left of one that ended
		}
		delete(t.last, pid)
		o.Processes = append(o.Processes, p)
	})
	for pid, io := range t.last {
		p, old := t.met[pid], t.before[pid]
		p.Ended = true
		p.Parent, _ = strconv.Atoi(t.parents[pid])
		p.did(seconds, less(io.read, old.read), less(io.written, old.written))
		t.waited(p, pid)
		o.Processes = append(o.Processes, *p)
	}
	if t.partial {
		o.Notes = append(o.Notes, "there are too many processes to look at all of them")
	}
	if !t.Quick {
		t.runQueues(o, now, sleepTill)
	}
	MostFirst(o.Processes)
}

// MostFirst puts the processes first that moved most.
func MostFirst(all []Process) {
	slices.SortFunc(all, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.Read+b.Write, a.Read+a.Write), cmp.Compare(a.PID, b.PID))
	})
}

// inherited is what the counters of those that are still there got from children that ended (wait4(2) adds them up):
// all that a child did before the window, and in it under its own name.
func (t *taskWatch) inherited(all []string) map[string]asked {
	left, alive := map[string]asked{}, map[string]bool{}
	for _, pid := range all {
		alive[pid] = true
	}
	for pid, parent := range t.parents {
		if alive[pid] {
			continue
		}
		io, ok := t.last[pid]
		if !ok {
			io = t.before[pid]
		}
		for range maxAncestors {
			if alive[parent] || t.parents[parent] == "" {
				break
			}
			parent = t.parents[parent]
		}
		sum := left[parent]
		left[parent] = asked{sum.read + io.read, sum.written + io.written}
	}
	return left
}

// maxAncestors that ended are passed over for one that is still there.
const maxAncestors = 16

func (p *Process) did(seconds float64, read, written uint64) {
	p.Read, p.Write = units.Rate(float64(read)/seconds), units.Rate(float64(written)/seconds)
}

func (t *taskWatch) waited(p *Process, pid string) {
	for what, n := range t.waiting[pid] {
		if p.For == nil {
			p.For = map[string]float64{}
		}
		p.For[what] = n / float64(t.scans)
		p.Waiting += p.For[what]
	}
}

// who is a process by its name and its control groups.
func (t *taskWatch) who(pid string) (p Process) {
	p.PID, _ = strconv.Atoi(pid)
	p.Name = t.read.Text("proc/" + pid + "/comm")
	for line := range strings.Lines(t.read.Text("proc/" + pid + "/cgroup")) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":") // 0::/system.slice/db.service, 7:blkio:/batch
		controllers, group, _ := strings.Cut(rest, ":")
		if group != "/" &&
			(slices.Contains(strings.Split(controllers, ","), "cpu") || controllers == "" && p.CPUGroup == "") {
			p.CPUGroup = group
		}
		switch {
		case group == "/" || group == "":
		case slices.Contains(strings.Split(controllers, ","), "blkio"):
			p.Group, p.Version = group, 1
		case controllers == "" && p.Version == 0:
			p.Group, p.Version = group, 2
		}
	}
	return p
}

// runQueues measures how long those that use the devices wait for a processor (field 2 of schedstat,
// Documentation/scheduler/sched-stats.rst).
func (t *taskWatch) runQueues(o *Window, now func() time.Duration, sleepTill func(time.Duration)) {
	before := make([]uint64, len(o.Processes))
	from, some := now(), false
	for i, p := range o.Processes {
		if p.Uses {
			before[i], some = t.runQueue(p.PID), true
		}
	}
	if !some {
		return
	}
	sleepTill(from + runQueueFor)
	for i := range o.Processes {
		if p := &o.Processes[i]; p.Uses {
			p.RunQueue = float64(less(t.runQueue(p.PID), before[i])) / float64(max(now()-from, 1))
		}
	}
}

// mostRunners are the threads of a process whose wait for a processor is added up.
const mostRunners = 64

func (t *taskWatch) runQueue(pid int) (ns uint64) {
	dir := "proc/" + strconv.Itoa(pid) + "/task"
	tasks, _ := t.read.Names(dir)
	for i, task := range tasks {
		if i >= mostRunners {
			break
		}
		text, _ := t.read.Read(dir + "/" + task + "/schedstat")
		_, rest, _ := nextNumber(text)
		waited, _, _ := nextNumber(rest)
		ns += waited
	}
	return ns
}
