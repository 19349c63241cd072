package live

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func codes(a *Answer) []finding.Code {
	var all []finding.Code
	for _, c := range a.Causes {
		all = append(all, c.Code)
	}
	return all
}

// at is what a device of the facts did.
func at(f *Facts, name string) *telemetry.LiveDevice {
	for i := range f.Window.Devices {
		if f.Window.Devices[i].Name == name {
			return &f.Window.Devices[i]
		}
	}
	return nil
}

func leaves(f *Facts) (all []*telemetry.LiveDevice) {
	for i := range f.Layers {
		if f.Layers[i].Leaf() {
			all = append(all, at(f, f.Layers[i].Name))
		}
	}
	return all
}

// program finds a process of the facts that waits for something, else the first that uses the path.
func waiting(f *Facts, what string) (all []*telemetry.Process) {
	for i := range f.Window.Processes {
		if p := &f.Window.Processes[i]; p.Uses && p.For[what] > 0 {
			all = append(all, p)
		}
	}
	return all
}

// scaled makes everything that tasks of users wait for, of one kind, as much as asked.
func scaled(f *Facts, what string, to float64) {
	sum := 0.0
	for _, p := range waiting(f, what) {
		sum += p.For[what]
	}
	for _, p := range waiting(f, what) {
		p.Waiting -= p.For[what]
		p.For[what] *= to / sum
		p.Waiting += p.For[what]
	}
}

// small makes all programs but dd ask for a share of what that asks for, and wait for nothing.
func small(f *Facts, share float64) {
	asked := units.Rate(0)
	for i := range f.Window.Processes {
		if p := &f.Window.Processes[i]; p.Uses && p.Name == "dd" {
			p.Write = 10 * units.MiBPerSec
			asked += p.Write
		}
	}
	for i := range f.Window.Processes {
		if p := &f.Window.Processes[i]; p.Uses && p.Name != "dd" {
			p.Read, p.Write, p.Waiting, p.For = 0, asked*units.Rate(share), 0, nil
		}
	}
}

// quick makes every I/O of all devices take as long as asked.
func quick(f *Facts, wait time.Duration) {
	for i := range f.Window.Devices {
		d := &f.Window.Devices[i]
		d.Wait, d.Other = wait*time.Duration(d.Reads+d.Writes), 0
		d.InFlight = min(d.InFlight, d.Wait.Seconds()/f.Window.Span.Seconds())
	}
}

// onGoogle makes the leaves Persistent Disks whose pool, and whose machine for that type, allow so many
// times what they do. What each volume alone would be allowed, less than it does, and what the machine
// allows others count for nothing.
func onGoogle(f *Facts, pool, machine float64) {
	reads, writes := 0.0, 0.0
	for _, d := range leaves(f) {
		reads, writes = reads+float64(d.Reads)/f.Window.Span.Seconds(), writes+float64(d.Writes)/f.Window.Span.Seconds()
	}
	limits := func(times float64) topology.Limits {
		return topology.Limits{ReadIOPS: units.IOPS(reads * times), WriteIOPS: units.IOPS(writes * times)}
	}
	for i := range f.Layers {
		if v := f.Layers[i].Volume; v != nil {
			v.Type, v.Network, v.Pooled, v.Sustained, v.Burst = "gcp-pd-ssd", true, true, topology.Limits{IOPS: 1}, topology.Limits{}
		}
	}
	f.Instance = topology.Instance{
		Type: "n2-standard-8", Cloud: "Google Cloud", Baseline: topology.Limits{IOPS: 1},
		Caps:  []cloud.Cap{{Name: "pd-ssd", Types: []string{"gcp-pd-ssd"}, Baseline: limits(machine)}},
		Pools: []topology.Pool{{Type: "gcp-pd-ssd", Limits: limits(pool)}},
	}
}

// Whatever makes storage slow on a machine of another cloud is said without a word of Amazon's.
func TestNoAmazonElsewhere(t *testing.T) {
	amazons := regexp.MustCompile(`\b(EBS|EC2|AWS|Amazon|Nitro|CloudWatch|gp[23]|io[12])\b`)
	seen := map[finding.Code]bool{}
	for _, trial := range trials(t) {
		for _, make := range []func(*Facts){
			func(f *Facts) { onGoogle(f, 1, 100) },
			func(f *Facts) { onGoogle(f, 100, 1) },
			func(f *Facts) { onGoogle(f, 100, 100) },
			func(f *Facts) { f.Instance = topology.Instance{Type: "Standard_D8s_v5", Cloud: "Azure"} },
		} {
			data, err := json.Marshal(trial.Facts)
			var f Facts
			if err != nil || json.Unmarshal(data, &f) != nil {
				t.Fatal(trial.Name, err)
			}
			if f.Window == nil {
				continue
			}
			for i := range f.Layers { // the trials were taken on EBS volumes
				f.Layers[i].Exceeded = nil
				if v := f.Layers[i].Volume; v != nil {
					v.Type, v.Model, v.Origin, v.Origins = "azure-premium", "", topology.Origin{}, nil
				}
			}
			make(&f)
			for _, c := range Judge(&f).Causes {
				seen[c.Code] = true
				text, err := json.Marshal(c)
				if word := amazons.Find(text); err != nil || word != nil {
					t.Errorf("%s: %q in %s", trial.Name, word, text)
				}
			}
		}
	}
	if !seen["PL505"] || !seen["PL901"] || !seen["PL912"] {
		t.Errorf("only %v were looked at", seen)
	}
}

// Each step fires on captured facts, and not where one figure of them lies on the other side of its
// threshold.
func TestEachStepAndItsNearMiss(t *testing.T) {
	for _, c := range []struct {
		step  string
		trial string
		fire  func(*Facts) // what makes it fire; nil where the trial does by itself
		code  finding.Code
		miss  func(*Facts)
	}{
		{"stall", "4-stall", nil, "PL902", func(f *Facts) {
			for _, d := range leaves(f) {
				d.Longest = 940 * time.Millisecond
			}
			f.Window.Devices[0].Longest = 940 * time.Millisecond
		}},
		{"a gap of a volume that did half of its baseline", "4-burst-spent", func(f *Facts) {
			for _, d := range leaves(f) {
				d.Longest, d.Reads, d.Writes = time.Second, d.Reads/2, d.Writes/2
			}
		}, "PL902", func(f *Facts) {
			for _, d := range leaves(f) {
				d.Longest = time.Second
			}
		}},
		{"an upper layer rests while its leaves work", "4-healthy-busy", func(f *Facts) {
			f.Window.Devices[0].Longest = 3300 * time.Millisecond
			for _, d := range leaves(f) {
				d.InFlight = 0.1
			}
		}, "PL902", func(f *Facts) {
			f.Window.Devices[0].Longest = 3300 * time.Millisecond
			for _, d := range leaves(f) {
				d.InFlight = 90
			}
		}},
		{
			"suspended", "4-dm-layer", func(f *Facts) { f.Window.Devices[0].Suspended = 0.06 }, "PL902",
			func(f *Facts) { f.Window.Devices[0].Suspended = 0.04 },
		},
		{"vanished", "4-healthy-idle", func(f *Facts) { leaves(f)[0].Gone = true }, "PL902", func(*Facts) {}},
		{"frozen", "4-frozen", nil, "PL903", func(f *Facts) { scaled(f, telemetry.ForFrozen, 0.29) }},
		{"control group", "4-cgroup", nil, "PL904", func(f *Facts) {
			for i := range f.Groups {
				f.Groups[i].Used = 0.88 * f.Groups[i].Effective() // 0.882 is 0.9 of 5 s less a slice of 100 ms
			}
		}},
		{"a limit that the slices make smaller", "4-cgroup", func(f *Facts) {
			f.Groups[0].Limit, f.Groups[0].Used, f.Groups = 38, 28, f.Groups[:1] // 30 in slices of 100 ms
		}, "PL904", func(f *Facts) { f.Groups[0].Limit, f.Groups[0].Used, f.Groups = 40, 28, f.Groups[:1] }},
		{"resync", "4-resync", nil, "PL202", func(f *Facts) { f.Window.Devices[0].Sync.Action = "idle" }},
		{"a small part of a resync", "4-resync", nil, "PL202", func(f *Facts) {
			f.Window.Devices[0].Sync.Speed *= 0.05
		}},
		{"synced writes", "4-fsync-storm", nil, "PL907", func(f *Facts) { scaled(f, telemetry.ForLog, 0.29) }},
		{"large synced writes", "4-fsync-storm", nil, "PL907", func(f *Facts) {
			f.Window.Devices[0].WriteBytes = units.Bytes(f.Window.Devices[0].Writes) * 33 * units.KiB
		}},
		{"another program", "5-neighbour-buffered", nil, "PL906", func(f *Facts) {
			for i := range f.Window.Processes { // it is alone
				if p := &f.Window.Processes[i]; p.Name != "dd" {
					p.Uses = false
				}
			}
		}},
		{"another program whose pages are written back", "5-neighbour-buffered", func(f *Facts) {
			small(f, 0.0065)
			f.Window.Memory.Dirty = f.Window.Memory.Background + 1
		}, "PL906", func(f *Facts) {
			small(f, 0.006)
			f.Window.Memory.Dirty = f.Window.Memory.Background + 1
		}},
		{"write-back", "4-neighbour-buffered", func(f *Facts) {
			for i := range f.Window.Processes {
				f.Window.Processes[i].Read, f.Window.Processes[i].Write = 0, 0
			}
			for _, d := range leaves(f) {
				d.WriteBytes = 4 * units.MiB * units.Bytes(f.Window.Span.Seconds())
			}
		}, "PL309", func(f *Facts) {
			for i := range f.Window.Processes {
				f.Window.Processes[i].Read, f.Window.Processes[i].Write, f.Window.Processes[i].For = 0, 0, nil
			}
			f.Window.Memory.Dirty = 15 * units.MiB // less than a second of what is written
		}},
		{
			"the instance's limit", "4-instance-cap", nil, "PL505",
			func(f *Facts) { f.Window.MachineIOs = 0.92 * float64(f.Instance.Baseline.IOPS) },
		},
		{"the instance's own counters", "4-instance-cap", func(f *Facts) {
			f.Instance = topology.Instance{}
			f.Layers[1].Exceeded = &Exceeded{Instance: f.Window.Span / 10}
		}, "PL604", func(f *Facts) { f.Layers[1].Exceeded = &Exceeded{Instance: f.Window.Span / 25} }},
		{"the volumes' limit", "4-over-limit", nil, "PL901", func(f *Facts) {
			for i := range f.Layers {
				if v := f.Layers[i].Volume; v != nil {
					v.Sustained.IOPS *= 1.2
				}
			}
		}},
		{
			"the volumes' limit while nobody waits", "4-over-limit", nil, "PL901",
			func(f *Facts) { quick(f, 2*time.Millisecond) },
		},
		{"a pool of volumes", "4-over-limit", func(f *Facts) { onGoogle(f, 1, 100) }, "PL901", func(f *Facts) { onGoogle(f, 1.2, 100) }},
		{"the machine's limit on a type", "4-over-limit", func(f *Facts) { onGoogle(f, 100, 1) }, "PL505", func(f *Facts) {
			onGoogle(f, 100, 1.2)
		}},
		{"the volume's own counters", "4-slow-volume", func(f *Facts) {
			f.Layers[0].Exceeded = &Exceeded{Volume: f.Window.Span / 10}
		}, "PL603", func(f *Facts) { f.Layers[0].Exceeded = &Exceeded{Volume: f.Window.Span / 25} }},
		{"burst spent", "4-burst-spent", nil, "PL602", func(f *Facts) {
			for i := range f.Layers {
				if v := f.Layers[i].Volume; v != nil {
					v.Sustained.IOPS /= 2
				}
			}
		}},
		{"a burst that ends in the look", "4-burst-spent", func(f *Facts) {
			for _, d := range leaves(f) {
				d.Reads, d.LastIOs = 2*d.Reads, uint64(float64(d.Reads+d.Writes)/f.Window.Span.Seconds())
				d.Writes *= 2
			}
		}, "PL602", func(f *Facts) {
			for _, d := range leaves(f) {
				d.Reads, d.LastIOs = 2*d.Reads, uint64(2*float64(d.Reads+d.Writes)/f.Window.Span.Seconds())
				d.Writes *= 2
			}
		}},
		{"slow member", "4-slow-member", nil, "PL204", func(f *Facts) {
			for _, d := range leaves(f) {
				if d.Name == "nvme5n1" {
					d.Wait /= 12
				}
			}
		}},
		{"a long queue on one of equal volumes, all of them at a limit", "4-slow-member", nil, "PL204", func(f *Facts) {
			for _, d := range leaves(f) { // seed 3002: 296 ms beside 113 ms at 92.7 % of the instance's limit
				if d.Name != "nvme5n1" {
					d.Wait, d.Busy = 20*time.Millisecond*time.Duration(d.Reads+d.Writes), f.Window.Span
				}
			}
		}},
		{"the same peers, resting in between", "4-slow-member", func(f *Facts) {
			for _, d := range leaves(f) {
				if d.Name != "nvme5n1" {
					d.Wait, d.Busy = 20*time.Millisecond*time.Duration(d.Reads+d.Writes), f.Window.Span*3/4
				}
			}
		}, "PL204", func(f *Facts) {
			for _, d := range leaves(f) {
				if d.Name != "nvme5n1" {
					d.Wait, d.Busy = 20*time.Millisecond*time.Duration(d.Reads+d.Writes), f.Window.Span*4/5
				}
			}
		}},
		{"one of two whose peer is slow, too", "5-slow-member", nil, "PL204", func(f *Facts) {
			two := f.Layers[:1]
			for i := range f.Layers {
				if l := f.Layers[i]; l.Name != f.Layers[0].Name && len(two) < 3 {
					two = append(two, l)
				}
			}
			f.Layers = two
			for _, d := range leaves(f) {
				d.Wait *= 30
			}
		}},
		{"hot member", "4-slow-member", func(f *Facts) {
			at(f, "nvme5n1").Reads *= 4
			at(f, "nvme5n1").Wait *= 4
		}, "PL905", func(*Facts) {}},
		{"a layer of device-mapper", "4-dm-layer", nil, "PL908", func(f *Facts) {
			for _, d := range leaves(f) {
				d.Wait = f.Window.Devices[0].Wait / 2
			}
		}},
		{"the scheduler", "4-slow-volume", func(f *Facts) {
			held(f, "mq-deadline")
		}, "PL302", func(f *Facts) { held(f, "mq-deadline"); f.Window.Devices[0].InFlight = 3 }},
		{"the scheduler, and there is none", "4-slow-volume", func(f *Facts) { held(f, "bfq") }, "PL302", func(f *Facts) { held(f, "none") }},
		{"places in the queue", "4-host-queue", nil, "PL303", func(f *Facts) { scaled(f, telemetry.ForTags, 0.39) }},
		{"slow volume", "4-slow-volume", nil, "PL909", func(f *Facts) { quick(f, 7*time.Millisecond) }},
		{
			"a machine whose timers are late", "4-slow-volume", nil, "PL909",
			func(f *Facts) { f.Window.LateMean = 20 * time.Millisecond },
		},
		{"what the user expects", "4-slow-volume", nil, "PL909", func(f *Facts) { f.Expect = units.Latency(200e6) }},
		{"an unknown limit", "4-over-limit", func(f *Facts) {
			for i := range f.Layers {
				f.Layers[i].Volume = nil
			}
			f.Instance = topology.Instance{}
		}, "PL912", func(*Facts) {}},
		{"too much dirty memory", "4-healthy-busy", func(f *Facts) {
			p := &f.Window.Processes[0]
			p.Uses, p.For, p.Waiting = true, map[string]float64{telemetry.ForDirty: 0.4}, 0.4
		}, "PL309", func(f *Facts) {
			p := &f.Window.Processes[0]
			p.Uses, p.For, p.Waiting = true, map[string]float64{telemetry.ForDirty: 0.39}, 0.39
		}},
		{
			"memory", "4-healthy-busy", func(f *Facts) { f.Window.Memory.Swap = 101 }, "PL911",
			func(f *Facts) { f.Window.Memory.Swap = 100 },
		},
		{"processors", "4-cpu", nil, "PL910", func(f *Facts) {
			for i := range f.Window.Processes {
				f.Window.Processes[i].RunQueue = 0.2
			}
			f.Window.CPU.Idle = 0.2
		}},
		{
			"steal", "4-healthy-busy", func(f *Facts) { f.Window.CPU.Steal = 0.16 }, "PL910",
			func(f *Facts) { f.Window.CPU.Steal = 0.14 },
		},
		{"nearly full", "4-nearly-full", nil, "PL317", func(f *Facts) { f.Free = 0.05 }},
	} {
		t.Run(c.step, func(t *testing.T) {
			f := captured(t, c.trial)
			if c.fire != nil {
				c.fire(f)
			}
			if a := Judge(f); !slices.Contains(codes(a), c.code) {
				t.Errorf("%s: %v, want %s", c.trial, codes(a), c.code)
			}
			f = captured(t, c.trial)
			c.miss(f)
			if a := Judge(f); slices.Contains(codes(a), c.code) {
				t.Errorf("near miss: %v, with %s: %s", codes(a), c.code, a.Causes[0].Message)
			}
		})
	}
}

// Waits of a program's threads add up: below one they are a share of the time, above it threads.
func TestWaitsForAProcessor(t *testing.T) {
	for queue, want := range map[float64]string{0.4: "wait for a processor 40.0 % of the time", 1.59: "1.59 threads of its programs wait for a processor on average"} {
		f := captured(t, "4-cpu")
		for i := range f.Window.Processes {
			f.Window.Processes[i].RunQueue = queue
		}
		c := Judge(f).Causes[0]
		if !strings.Contains(c.Message, want) || c.Evidence[0].Found != units.Number(queue) || c.Evidence[0].Expected != "below 0.25" {
			t.Errorf("%v: %s %+v", queue, c.Message, c.Evidence[0])
		}
	}
}

// What is worth knowing beside a cause is never the cause.
func TestAlso(t *testing.T) {
	f := captured(t, "4-healthy-busy")
	f.Window.Devices[0].Sync.Degraded = 1
	f.Layers[1].Scheduler = "mq-deadline"
	f.Log = []host.Event{{Kind: host.Timeout, Device: "nvme1", Text: "nvme nvme1: I/O 5 QID 2 timeout"}}
	f.Free = 0.03
	f.Window.Processes[0].Uses = true
	a := Judge(f)
	var found []finding.Code
	for _, o := range a.Also {
		found = append(found, o.Code)
	}
	if want := []finding.Code{"PL201", "PL302", "PL316"}; !slices.Equal(found, want) {
		t.Errorf("also %v, want %v", found, want)
	}
	if a.Answer != Nothing || a.First != "PL317" {
		t.Errorf("%s %s", a.Answer, a.First)
	}
}

// Without root nobody's stack is seen: waiting tasks are a reason to say so, and no reason for a
// cause.
func TestWhatCouldNotBeSeen(t *testing.T) {
	f := captured(t, "4-healthy-busy")
	f.Root, f.Window.Stacks = false, false
	p := &f.Window.Processes[0]
	p.Uses, p.Waiting, p.For = true, 0.3, map[string]float64{telemetry.ForOther: 0.3}
	if a := Judge(f); a.Answer != CannotSee || len(a.Causes) > 0 {
		t.Errorf("%s %v", a.Answer, a.Causes)
	}
	p.Waiting = 0.29
	if a := Judge(f); a.Answer != Nothing {
		t.Errorf("%s %v", a.Answer, a.Causes)
	}
}

func TestAnotherMachinesStorage(t *testing.T) {
	f := &Facts{Format: Format, Path: "/net", Source: "filer:/vol", Remote: &Remote{
		IOPS: 50, RTT: units.Latency(20e6), Exec: units.Latency(21e6),
	}}
	if a := Judge(f); a.Answer != Found || a.First != "PL909" {
		t.Errorf("%+v", a)
	}
	f.Remote.RTT = units.Latency(19e6)
	if a := Judge(f); a.Answer != CannotSee || len(a.Causes) > 0 {
		t.Errorf("%+v", a)
	}
}

// Facts that were saved give the same answer again.
func TestSavedFacts(t *testing.T) {
	for _, tr := range trials(t) {
		data, err := json.Marshal(tr.Facts)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(Judge(tr.Facts))
		b, _ := json.Marshal(Judge(again))
		if string(a) != string(b) {
			t.Errorf("%s:\n%s\n%s", tr.Name, a, b)
		}
	}
	for _, bad := range []string{"", "{}", `{"plimsoll_why":2}`, `{"plimsoll_why":1,"window":{}}`} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Judge stands whatever a file of facts says.
func FuzzJudge(f *testing.F) {
	f.Add([]byte(`{"plimsoll_why":1,"layers":[{"name":"a"}],"window":{"span_ns":1,"ticks":1}}`))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		facts, err := Decode(data)
		if err != nil {
			return
		}
		a := Judge(facts)
		if a.Account != nil && (sum(a.Account) < 0.999 || sum(a.Account) > 1.001) {
			t.Errorf("the account adds up to %v", sum(a.Account))
		}
	})
}

// The line that limits another program is ready to be typed: of its control group, in the way that
// version wants it, on the whole device, at half of what that moves now.
func TestTheLineThatLimitsAnother(t *testing.T) {
	for _, c := range []struct {
		what        string
		group       string
		version     int
		read, write units.Rate
		want        string
	}{
		{"version 2", "/system.slice/backup.service", 2, 1, 9, `^echo '9:127 wbps=\d+' > /sys/fs/cgroup/system.slice/backup.service/io.max   # limits it$`},
		{"version 1", "/batch", 1, 9, 1, `^echo '9:127 \d+' > /sys/fs/cgroup/blkio/batch/blkio.throttle.read_bps_device   # limits it$`},
		{"no group", "", 0, 1, 9, `^put dd into a control group of its own, .*IOWriteBandwidthMax=`},
	} {
		f := captured(t, "5-neighbour-buffered")
		for i := range f.Window.Processes {
			if p := &f.Window.Processes[i]; p.Name == "dd" {
				sum := p.Read + p.Write
				p.Group, p.Version, p.Read, p.Write = c.group, c.version, sum*c.read/10, sum*c.write/10
			}
		}
		a := Judge(f)
		if a.First != "PL906" || !regexp.MustCompile(c.want).MatchString(a.Causes[0].Next[0]) {
			t.Errorf("%s: %s %v, want %s", c.what, a.First, a.Causes, c.want)
		}
	}
}

// A window sees up to one slice of 100 ms less of a limit than its time, which counts in a short one.
func TestShareOfALimitThatIsUsed(t *testing.T) {
	for span, want := range map[time.Duration]float64{
		0: 0.9, 100 * time.Millisecond: 0.9, 800 * time.Millisecond: 0.9 * 7 / 8, 5 * time.Second: 0.882,
	} {
		v := &view{Facts: &Facts{Window: &telemetry.Window{Span: span}}}
		if got := v.groupUse(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", span, got, want)
		}
	}
	if got := (&view{Facts: &Facts{}}).groupUse(); got != 0.9 {
		t.Errorf("no window: %v", got)
	}
}

// held keeps I/Os of the slow volume in the queue of a scheduler.
func held(f *Facts, scheduler string) {
	f.Window.Devices[0].Wait *= 4
	f.Window.Devices[0].InFlight = 0.2
	for i := range f.Layers {
		f.Layers[i].Scheduler = scheduler
	}
}

// The first evidence of PL910 is what its message says, and is not as expected.
func TestEvidenceOfTheProcessorsFitsItsMessage(t *testing.T) {
	for what, change := range map[string]func(*Facts){
		"steal": func(f *Facts) { f.Window.CPU.Steal = 2 * cpuSteal },
		"the processors are idle": func(f *Facts) {
			f.Window.CPU.Steal, f.Window.CPU.Idle = 0, cpuIdle/2
			f.Window.Pressure = &telemetry.Pressure{CPUSome: 2 * cpuSome}
		},
	} {
		f := captured(t, "4-slow-volume")
		quick(f, time.Millisecond)
		change(f)
		v := &view{Facts: f}
		c := v.processor()
		if c == nil || c.Evidence[0].What != what {
			t.Errorf("%s: %+v", what, c)
		}
	}
}
