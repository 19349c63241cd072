package live

import (
	"maps"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Confidence is how sure a cause is.
type Confidence string

// The grades: something that excludes anything else was seen; a pattern that had this cause in
// trials; a guess by exclusion.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Cause is why the storage is slow, or what else is wrong where it is not.
type Cause struct {
	Code       finding.Code       `json:"code"`
	Title      string             `json:"title"`
	Confidence Confidence         `json:"confidence"`
	Subject    string             `json:"subject"` // a device, a group, a program
	Message    string             `json:"message"` // one sentence, with its numbers
	Evidence   []finding.Evidence `json:"evidence"`
	Next       []string           `json:"next"` // what to do or to type
	// Elsewhere says that the storage is not what is wrong (PL910, PL911, PL317 where it is nearly full).
	Elsewhere bool `json:"elsewhere,omitempty"`
	row       row
}

// Finding is a cause in the form that all commands print.
func (c Cause) Finding() finding.Finding {
	severity := finding.Warn
	if c.Elsewhere || c.Confidence == Possible {
		severity = finding.Info
	}
	return finding.Finding{
		Code: c.Code, Severity: severity, Title: c.Title, Subject: c.Subject, Message: c.Message, Evidence: c.Evidence,
		Commands: c.Next,
	}
}

func titleOf(code finding.Code) string {
	p, _ := finding.PageOf(code)
	return p.Title
}

// Kind of an answer.
type Kind string

// The answers.
const (
	Found     Kind = "cause"
	Nothing   Kind = "nothing"
	CannotSee Kind = "cannot-see"
)

// Answer is what plimsoll why says, and its JSON.
type Answer struct {
	Answer Kind          `json:"answer"`
	First  finding.Code  `json:"first,omitempty"`
	Path   string        `json:"path"`
	Device string        `json:"device,omitempty"`
	Span   time.Duration `json:"window_ns"`
	// Causes are what was found in the order of their standing; the first is the answer.
	Causes  []Cause               `json:"causes"`
	Also    []Also                `json:"also"`
	Account *Account              `json:"account,omitempty"`
	Tasks   map[string]float64    `json:"tasks"`
	Devices []DeviceSeen          `json:"devices"`
	Limits  []topology.GroupLimit `json:"limits"`
	Users   []User                `json:"users"`
	// WrittenBack is what the devices move and no program asks for now.
	WrittenBack units.Rate `json:"written_back_bytes_per_s,omitempty"`
	RunQueue    float64    `json:"run_queue"`
	// Usual is what an I/O usually takes here, Slow from where on it is called slow.
	Usual   units.Latency `json:"usual_ns"`
	Slow    units.Latency `json:"slow_ns"`
	Late    time.Duration `json:"own_lateness_ns"`
	NotSeen []string      `json:"not_seen"`
	CPU     time.Duration `json:"cpu_ns"`
	Wall    time.Duration `json:"wall_ns"`
}

// Also is what is worth knowing beside the causes.
type Also struct {
	Code    finding.Code `json:"code"`
	Subject string       `json:"subject"`
	Message string       `json:"message"`
}

// DeviceSeen is one layer with what it did.
type DeviceSeen struct {
	Name      string        `json:"name"`
	Layer     string        `json:"layer"`
	Leaf      bool          `json:"leaf"`
	ReadIOPS  units.IOPS    `json:"read_iops"`
	WriteIOPS units.IOPS    `json:"write_iops"`
	ReadRate  units.Rate    `json:"read_bytes_per_s"`
	WriteRate units.Rate    `json:"write_bytes_per_s"`
	Wait      units.Latency `json:"wait_ns"`
	Waiting   float64       `json:"waiting"`   // I/Os on average, by Little's law
	AtDevice  float64       `json:"at_device"` // of these in flight below
	Busy      float64       `json:"busy"`
	Stall     time.Duration `json:"longest_stall_ns"`
	Stalled   time.Duration `json:"stalled_ns,omitempty"`
	// Reads, Writes and Flushes are what each direction did; a write's time is without the flush that it
	// asked for.
	Reads   Flow   `json:"reads"`
	Writes  Flow   `json:"writes"`
	Flushes Flow   `json:"flushes"`
	PeakIOs uint64 `json:"peak_iops_1s"`
}

// Judge answers from facts. It looks at nothing else, so that saved facts give the same answer
// again.
func Judge(f *Facts) *Answer {
	a := &Answer{
		Answer: CannotSee, Path: f.Path, Causes: []Cause{}, Also: []Also{}, Tasks: map[string]float64{},
		Devices: []DeviceSeen{}, Limits: []topology.GroupLimit{}, Users: []User{}, NotSeen: []string{},
		CPU: f.CPU, Wall: f.Wall,
	}
	a.NotSeen = append(a.NotSeen, f.NotSeen...)
	if f.Window != nil {
		a.Span, a.Late = f.Window.Span, f.Window.LateMean
	}
	v := newView(f)
	if v.top == nil || len(v.leaves) == 0 { // facts that somebody wrote may have layers that lie on each other
		return v.withoutDevice(a)
	}
	a.Device = v.top.Name
	v.look()
	a.Causes = append(a.Causes, v.causes...)
	a.Also = append(a.Also, v.also()...)
	v.fill(a)
	switch {
	case len(a.Causes) > 0 && !a.Causes[0].Elsewhere:
		a.Answer, a.First = Found, a.Causes[0].Code
	case len(a.Causes) == 0 && v.doubtful():
		a.Answer = CannotSee
	default:
		a.Answer = Nothing
		if len(a.Causes) > 0 {
			a.First = a.Causes[0].Code
		}
	}
	return a
}

// doubtfulTasks is the mean number of waiting tasks from which it matters that nobody could see what
// they wait for.
const doubtfulTasks = 0.3

// doubtful is whether tasks wait and what they wait for could not be seen.
func (v *view) doubtful() bool { return !v.Window.Stacks && v.waiters >= doubtfulTasks }

// withoutDevice answers where there is no device: another machine's storage, or none.
func (v *view) withoutDevice(a *Answer) *Answer {
	r := v.Remote
	if r == nil {
		return a
	}
	waiting := r.IOPS * float64(r.Exec) / 1e9
	if r.RTT >= remoteSlow && waiting >= slowQueue {
		a.Answer, a.First = Found, "PL909"
		c := cause(Possible, v.Source, "The server of %s is slow, or the network to it: %s per request.", v.Path, r.RTT).
			saw("round trip", r.RTT, "below "+remoteSlow.String(), mountstats).
			saw("with the wait in this machine", r.Exec, "", mountstats).
			try("plimsoll why on the server")
		c.Code, c.Title = a.First, titleOf(a.First)
		a.Causes = []Cause{*c}
	}
	return a
}

const mountstats = "/proc/self/mountstats"

// remoteSlow is the round trip from which a network filesystem's server is called slow.
const remoteSlow = units.Latency(20e6)

// fill puts the figures of the view into the answer.
func (v *view) fill(a *Answer) {
	for _, d := range v.all {
		read, write := d.reads(), d.writes()
		a.Devices = append(a.Devices, DeviceSeen{
			Name: d.Name, Layer: kindOf(d.Layer), Leaf: d.Leaf(),
			ReadIOPS: read.IOPS, WriteIOPS: write.IOPS,
			ReadRate: units.Rate(float64(d.did.ReadBytes) / d.span), WriteRate: units.Rate(float64(d.did.WriteBytes) / d.span),
			Wait: d.wait(), Waiting: d.waiting(), AtDevice: d.did.InFlight, Busy: d.busy(),
			Stall: d.did.Longest, PeakIOs: d.did.PeakIOs, Stalled: d.did.Stalled,
			Reads: read, Writes: write, Flushes: d.flushes(),
		})
	}
	maps.Copy(a.Tasks, v.tasks)
	for _, u := range v.users {
		a.Users = append(a.Users, *u)
	}
	a.Limits = append(a.Limits, v.Groups...)
	a.RunQueue, a.Usual, a.Slow = v.queue, v.typical, v.limit
	if moved := v.top.bytes(); v.Counters == "" && moved > writtenBackTimes*v.asked && moved > writtenBackLeast {
		a.WrittenBack = units.Rate(moved - v.asked)
	}
	a.Account = v.account()
}

// What a device moves beyond what programs ask for is named from here on.
const (
	writtenBackTimes = 1.5
	writtenBackLeast = float64(1 << 20)
)

// kindOf is what a layer is, in a word.
func kindOf(l *Layer) string {
	if l.Level != "" {
		return l.Level
	}
	if l.Crypt {
		return "dm-crypt"
	}
	return l.Kind
}

// cause is one of a code, and with a title, that its row in the order gives it.
func cause(how Confidence, subject, format string, args ...any) *Cause {
	return &Cause{Confidence: how, Subject: subject, Message: finding.Says(format, args...)}
}

// saw adds a piece of evidence; expected and where may be empty.
func (c *Cause) saw(what string, found, expected any, where string) *Cause {
	c.Evidence = append(c.Evidence, finding.Seen(what, found, expected, where))
	return c
}

// say gives it another message.
func (c *Cause) say(format string, args ...any) { c.Message = finding.Says(format, args...) }

// try adds what to do next, or to type, in the words of finding.Shell.
func (c *Cause) try(format string, words ...any) *Cause {
	c.Next = append(c.Next, finding.Shell(format, words...))
	return c
}

// Account divides the mean time of an I/O of the path: shares from 0 to 1 whose sum is 1. What waits
// outside of any device (a control group, a freeze, a place in a queue) is in no device's time and
// so not in here: Answer.Tasks has it.
type Account struct {
	Wait       units.Latency `json:"wait_ns"`
	Own        float64       `json:"own"`         // the volumes' own time
	SlowMember float64       `json:"slow_member"` // what one member takes longer than its peers
	Machine    float64       `json:"machine"`     // in layers of this machine
	Resync     float64       `json:"resync"`
	Others     float64       `json:"others"` // other programs
	Load       float64       `json:"load"`   // the user's own load above a limit
	Rest       float64       `json:"unexplained"`
}

// account is computed in this order: what each part takes is taken from what those before it left.
func (v *view) account() *Account {
	w := v.top.wait()
	if w <= 0 {
		return nil
	}
	a := &Account{Wait: w, Own: float64(min(w, v.typical) / w)}
	left := 1 - a.Own
	take := func(part *float64, share float64) {
		share = max(0, min(left, share))
		*part, left = *part+share, left-share // others take twice: by what they ask, and by what they wrote before
	}
	if v.has("PL204") {
		if m, ok := v.compared(); ok {
			take(&a.SlowMember, m.iops()*float64(m.wait()-m.peerWait)/max(v.top.iops(), 1e-9)/float64(w))
		}
	}
	if v.top.Leaf() {
		if n := v.top.waiting(); n > 0 {
			take(&a.Machine, min(1, max(0, n-v.top.did.InFlight)/n)*left)
		}
	} else {
		take(&a.Machine, float64((w-v.slowestLeaf())/w))
	}
	if v.has("PL202") {
		_, share := v.syncing()
		take(&a.Resync, left*share)
	}
	if v.has("PL906") {
		take(&a.Others, left*v.other)
	}
	if v.has("PL309") {
		take(&a.Others, left)
	}
	if v.limited() {
		take(&a.Load, left)
	}
	a.Rest = max(0, left)
	return a
}
