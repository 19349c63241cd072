package live

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/host"
	"plimsoll/internal/units"
)

// A deep queue at drives that are busy throughout accuses them though this machine's timers come late: late tasks
// would leave them less to do. Where a thread must complete an I/O, or a drive rests, it does not.
func TestDeepQueueProves(t *testing.T) {
	deep := func(change func(*Facts)) *Answer {
		f := quietFacts()
		f.Window.LateMean, f.Window.LateMost = 12*time.Millisecond, 40*time.Millisecond
		allTake(f, 30*time.Millisecond)
		for _, name := range []string{"md0", "sda", "sdb"} {
			at(f, name).Busy, at(f, name).InFlight = f.Window.Span, 20
		}
		f.Window.Processes[0].RunQueue = 0.6
		change(f)
		return Judge(f)
	}
	const asker = "wait on each of 2 volumes at 200 IOPS, most of them from db ("
	if says := deep(func(*Facts) {}).Causes[0].Message; !strings.Contains(says, asker) {
		t.Error(says)
	}
	for name, c := range map[string]struct {
		change func(*Facts)
		code   string
	}{
		"busy throughout":   {func(*Facts) {}, "PL912"},
		"steal":             {func(f *Facts) { f.Window.CPU.Steal = 0.3 }, "PL910"},
		"a thread of loop":  {func(f *Facts) { f.Layers[1].Kind = "loop" }, "PL910"},
		"one drive rests":   {func(f *Facts) { at(f, "sda").Busy = f.Window.Span / 2 }, "PL910"},
		"few are in flight": {func(f *Facts) { at(f, "sdb").InFlight = 4 }, "PL910"},
	} {
		if a := deep(c.change); string(a.First) != c.code {
			t.Errorf("%s: %s, want %s", name, a.First, c.code)
		}
	}
}

// On a machine whose processors are never idle a latency alone does not accuse a volume that needs threads to complete
// an I/O: each waits for its turn, though plimsoll's own timers come in time. One that is far longer does, and so does
// one of a volume that is busy nearly all the time.
func TestThreadsWaitForTheirTurn(t *testing.T) {
	for _, c := range []struct {
		kind       string
		idle, busy float64
		wait       time.Duration
		code       string
	}{
		{"loop", 0, 0.4, 12 * time.Millisecond, "PL910"},
		{"loop", 0.04, 0.4, 20 * time.Millisecond, "PL910"},
		{"loop", 0.06, 0.4, 12 * time.Millisecond, "PL909"},
		{"disk", 0, 0.4, 12 * time.Millisecond, "PL909"},
		{"loop", 0, 0.4, 30 * time.Millisecond, "PL912"},
		{"loop", 0, 0.85, 12 * time.Millisecond, "PL909"},
	} {
		f := quietFacts()
		f.Layers, f.Window.Devices = f.Layers[1:2], f.Window.Devices[1:2]
		f.Layers[0].Kind, f.Window.CPU.Idle, f.Window.LateMean = c.kind, c.idle, 300*time.Microsecond
		takes(f, c.wait, "sda")
		at(f, "sda").Busy, at(f, "sda").InFlight = time.Duration(c.busy*5e9), 1
		a := Judge(f)
		says := len(a.Causes) > 0 && strings.Contains(a.Causes[0].Message, "needs threads to complete one")
		if string(a.First) != c.code || says != (c.code == "PL910") {
			t.Errorf("%+v: %s, %+v", c, a.First, a.Causes)
		}
	}
}

// A limit that is exceeded half again is not the storage's limit, whatever was declared.
func TestWhatIsExceededIsNoLimit(t *testing.T) {
	for times, over := range map[float64]bool{1: false, 1.4: false, 1.6: true, 2: true} {
		for code, limit := range map[string]func(*Facts){
			"PL901": func(f *Facts) {
				one := float64(at(f, "sda").Reads+at(f, "sda").Writes) / f.Window.Span.Seconds()
				bought(f, units.IOPS(one/times), 0)
			},
			"PL505": func(f *Facts) { f.Instance.Baseline.IOPS, f.Window.MachineIOs = 1000, 1000*times },
		} {
			f := quietFacts()
			allTake(f, 30*time.Millisecond)
			limit(f)
			a := Judge(f)
			says := len(a.Also) > 0 && strings.Contains(a.Also[0].Message, units.Number(times)+" times the ") &&
				strings.Contains(a.Also[0].Message, "that is not its limit")
			if over {
				code = "PL912"
			}
			if string(a.First) != code || says != over {
				t.Errorf("%v times: %s, want %s, also %+v", times, a.First, code, a.Also)
			}
		}
	}
}

// What the kernel's log says beside the answer, it says with its time.
func TestLogHasItsTime(t *testing.T) {
	f := quietFacts()
	f.Now = time.Hour
	f.Log = []host.Event{{Kind: host.Timeout, Device: "sda", Count: 1, Last: 50 * time.Minute, Text: "timeout"}}
	if a := Judge(f); len(a.Also) != 1 || !strings.Contains(a.Also[0].Message, "log, 10 min ago: timeout") {
		t.Errorf("%+v", a.Also)
	}
}
