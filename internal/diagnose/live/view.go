package live

import (
	"cmp"
	"slices"
	"time"

	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// What counts as slow. Set on seeds 3 to 5 of the live exam's first form (docs/evidence/exam.md).
const (
	// slowQueue is the least number of I/Os that wait on average (Little: I/Os per second times the
	// seconds of each). Below it an I/O may be as slow as it likes: nobody waits for it.
	slowQueue = 0.25
	// slowTimes is how many times its usual time an I/O takes before it is called slow.
	slowTimes = 4
	// lateTimes the mean lateness of plimsoll's own timers is added before a latency alone accuses
	// anything.
	lateTimes = 2
	// fewLate of an I/O's usual time cannot make it slow, nor can a lateness below mostLate keep a device
	// busy for keptBusy of the time.
	fewLate  = 0.25
	mostLate = 2 * time.Millisecond
	keptBusy = 0.8
	// worstLate times the latest of plimsoll's own timers, and worstTimes what is slow, no lateness makes an I/O
	// take: the mean of 100 ms.
	worstLate, worstTimes = 5, 10
	// The later the timers, the more threads of the storage's own driver wait for a processor, too, each in its
	// turn: at starved it counts twice.
	starved = 5 * time.Millisecond
)

// Usual time of an I/O where nobody states it: flash and network SSD, and a rotating disk's seek.
const (
	flashTypical   = units.Latency(1e6)
	rotatesTypical = units.Latency(8e6)
)

// device is a layer with what it did.
type device struct {
	*Layer
	did  telemetry.LiveDevice
	span float64 // seconds
}

func (d *device) ios() float64  { return float64(d.did.Reads + d.did.Writes) }
func (d *device) iops() float64 { return d.ios() / d.span }

// Flow is one direction of a device: I/Os per second, the mean time of one, and the longest mean in
// 100 ms, 0 where that is not known.
type Flow struct {
	IOPS    units.IOPS    `json:"done_per_s"`
	Wait    units.Latency `json:"wait_ns"`
	Worst   units.Latency `json:"worst_ns,omitempty"`
	Waiting float64       `json:"waiting"` // on average
}

func (d *device) flow(n uint64, wait, worst time.Duration) Flow {
	f := Flow{IOPS: units.IOPS(float64(n) / d.span), Worst: units.LatencyOf(worst), Waiting: wait.Seconds() / d.span}
	if n > 0 {
		f.Wait = units.Latency(float64(wait) / float64(n))
	}
	return f
}

func (d *device) reads() Flow   { return d.flow(d.did.Reads, d.did.ReadWait, d.did.ReadWorst) }
func (d *device) flushes() Flow { return d.flow(d.did.Flushes, d.did.FlushWait, d.did.FlushWorst) }

// writes are without the time of flushes, which is in that of the writes that asked for them.
func (d *device) writes() Flow {
	return d.flow(d.did.Writes, max(0, d.did.WriteWait-d.did.FlushWait), d.did.WriteWorst)
}

// discards have what of the time of flushes and discards is not the flushes'.
func (d *device) discards() Flow { return d.flow(d.did.Discards, d.did.Other-d.did.FlushWait, 0) }

// parted divides sums that older facts do not tell apart.
func parted(d telemetry.LiveDevice) telemetry.LiveDevice {
	if n := d.Reads + d.Writes; d.ReadWait+d.WriteWait == 0 && n > 0 {
		d.ReadWait = time.Duration(float64(d.Wait) * float64(d.Reads) / float64(n))
		d.WriteWait = d.Wait - d.ReadWait
	}
	if d.FlushWait == 0 && d.Discards == 0 {
		d.FlushWait = d.Other
	}
	return d
}

// wait is the mean time of an I/O.
func (d *device) wait() units.Latency {
	if d.ios() == 0 {
		return 0
	}
	return units.Latency(float64(d.did.Wait) / d.ios())
}

// waiting is the mean number of I/Os in it, by Little's law: in_flight of a device-mapper device
// counts only what was passed on.
func (d *device) waiting() float64 { return (d.did.Wait + d.did.Other).Seconds() / d.span }

func (d *device) bytes() float64 {
	return float64(d.did.ReadBytes+d.did.WriteBytes) / d.span
}

func (d *device) busy() float64 { return min(1, d.did.Busy.Seconds()/d.span) }

// writeSize is the mean size of a write.
func (d *device) writeSize() units.Bytes {
	return d.did.WriteBytes / max(units.Bytes(d.did.Writes), 1)
}

// User is a program with files on the devices.
type User struct {
	Name      string             `json:"name"`
	Unit      string             `json:"unit,omitempty"`
	Group     string             `json:"group,omitempty"`
	Processes int                `json:"processes"`
	Read      units.Rate         `json:"read_bytes_per_s"`
	Write     units.Rate         `json:"write_bytes_per_s"`
	Waiting   float64            `json:"tasks_waiting"`
	For       map[string]float64 `json:"waiting_for,omitempty"`
	version   int
	// held is the mean number of its I/Os in the device, and cost what they take of it, in I/Os per second
	// of the smallest size: both estimates.
	held, ios, cost float64
	back            float64 // bytes per second that it wrote into memory before and that are written now
	ended           bool    // all of its processes
}

func (u *User) bytes() float64 { return float64(u.Read + u.Write) }
func (u *User) moves() float64 { return u.bytes() + u.back }

// view is what all steps look at.
type view struct {
	*Facts
	span    float64 // seconds
	all     []*device
	top     *device
	leaves  []*device
	typical units.Latency // what an I/O usually takes
	stated  bool          // typical is of the volumes' own data
	limit   units.Latency // slow above it
	slow    bool
	near    bool // slow by no more than the machine's own timers are late
	proven  bool // slow, and not by lateness
	turns   bool // each thread that an I/O passes waits for its turn on a processor
	users   []*User
	queue   float64            // the longest that a user waits for a processor, seconds a second
	asked   float64            // bytes per second of all users
	tasks   map[string]float64 // mean number of waiting tasks of users, by what they wait for
	waiters float64            // all of them
	causes  []Cause
	late    units.Latency // by which lateness of this machine may make an I/O seem slower
	other   float64       // what others take of what the device does
}

func newView(f *Facts) *view {
	v := &view{Facts: f, tasks: map[string]float64{}}
	if f.Window == nil || len(f.Layers) == 0 {
		return v
	}
	v.span = f.Window.Span.Seconds()
	for i := range f.Layers {
		d := &device{Layer: &f.Layers[i], span: v.span}
		for _, did := range f.Window.Devices {
			if did.Name == d.Name {
				d.did = parted(did)
			}
		}
		if v.all = append(v.all, d); d.Leaf() {
			v.leaves = append(v.leaves, d)
		}
	}
	v.top = v.all[0]
	v.gatherUsers()
	v.usual()
	w := v.top.wait()
	if r := v.top.reads(); r.Waiting >= slowQueue { // whoever reads waits, and many quick writes hide it
		w = max(w, r.Wait)
	}
	late := units.Latency(f.Window.LateMean)
	v.turns = v.threads() && f.Window.CPU.Idle < cpuIdle
	each := late
	if v.turns { // whatever plimsoll's own timers got
		each = max(late, units.Latency(starved))
	}
	v.late = lateTimes * each * (1 + each/units.Latency(starved))
	v.slow = v.top.waiting() >= slowQueue && w > v.limit
	v.near = v.slow && w <= v.limit+v.late
	worst := units.Latency(max(v.top.did.ReadWorst, v.top.did.WriteWorst))
	v.proven = v.slow && (!v.near || v.deepQueue() ||
		late <= fewLate*v.typical || v.top.busy() >= keptBusy && late < units.Latency(mostLate) ||
		!v.turns && worst >= worstLate*units.Latency(f.Window.LateMost) && worst >= worstTimes*v.limit)
	return v
}

// threads is whether a device needs a thread to complete an I/O.
func (v *view) threads() bool {
	return slices.ContainsFunc(v.all, func(d *device) bool { return d.Crypt || d.Kind == "loop" })
}

// deepQueue is whether devices that need no thread have a long queue without a pause: late tasks would leave them less
// to do.
func (v *view) deepQueue() bool {
	return v.Window.CPU.Steal <= cpuSteal && !v.threads() && !slices.ContainsFunc(v.leaves, func(d *device) bool {
		return d.busy() < sureBusy || d.did.InFlight <= fewWait
	})
}

// usual works out what an I/O usually takes, and from where it is slow.
func (v *view) usual() {
	v.typical = flashTypical
	var read, write float64
	for _, l := range v.leaves {
		if l.Rotational && l.Kind != "loop" { // a file has no heads
			v.typical = rotatesTypical
		}
		if l.Volume != nil {
			read, write = max(read, float64(l.Volume.ReadLatency)), max(write, float64(l.Volume.WriteLatency))
		}
	}
	r, w := float64(v.top.did.Reads), float64(v.top.did.Writes)
	if (r == 0 || read > 0) && (w == 0 || write > 0) && r+w > 0 {
		v.typical, v.stated = units.Latency((r*read+w*write)/(r+w)), true
	}
	v.limit = slowTimes * v.typical
	if v.Counters != "" { // whether that machine's own lateness is in them they do not show
		v.limit *= 2
	}
	if v.Expect > 0 {
		v.limit = v.Expect
	}
}

// gatherUsers puts processes with files on the devices together by name and control group. What a script starts
// and waits for, one after the other, is the script's.
func (v *view) gatherUsers() {
	byPID := map[int]telemetry.Process{}
	for _, p := range v.Window.Processes {
		byPID[p.PID] = p
	}
	for _, p := range v.Window.Processes {
		if !p.Uses {
			continue
		}
		if parent := byPID[p.Parent]; parent.Uses && parent.Group == p.Group {
			p.Name = parent.Name
		}
		at := slices.IndexFunc(v.users, func(u *User) bool { return u.Name == p.Name && u.Group == p.Group })
		if at < 0 {
			at = len(v.users)
			v.users = append(v.users, &User{
				Name: p.Name, Unit: p.Unit(), Group: p.Group, version: p.Version, For: map[string]float64{}, ended: true,
			})
		}
		u := v.users[at]
		u.Processes++
		u.ended = u.ended && p.Ended
		u.Read += p.Read
		u.Write += p.Write
		u.Waiting += p.Waiting
		v.queue = max(v.queue, p.RunQueue)
		v.asked += float64(p.Read + p.Write)
		v.waiters += p.Waiting
		for what, n := range p.For {
			u.For[what] += n
			v.tasks[what] += n
		}
	}
	slices.SortStableFunc(v.users, func(a, b *User) int {
		return cmp.Or(cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Name, b.Name))
	})
}

// sum adds up a figure of the leaves.
func (v *view) sum(of func(*device) float64) float64 {
	s := 0.0
	for _, l := range v.leaves {
		s += of(l)
	}
	return s
}

// slowestLeaf is the longest mean time of a leaf that did anything.
func (v *view) slowestLeaf() (w units.Latency) {
	for _, l := range v.leaves {
		if l.iops() >= 0.1 {
			w = max(w, l.wait())
		}
	}
	return w
}
