package live

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// quietFacts are of a machine at ease: a mirror md0 without a mirror's level over two drives, half of whose
// time is free, and a database.
func quietFacts() *Facts {
	disk := func(name string) telemetry.LiveDevice {
		return telemetry.LiveDevice{
			Name: name, Reads: 500, Writes: 500, ReadBytes: 4000 * units.KiB, WriteBytes: 4000 * units.KiB,
			Wait: time.Second / 2, ReadWait: time.Second / 4, WriteWait: time.Second / 4, Busy: time.Second, InFlight: 0.1,
		}
	}
	top := disk("md0")
	top.Reads, top.Writes = 1000, 1000
	return &Facts{
		Format: Format, Path: "/d", Mount: "/d", FS: "ext4", Free: 0.5, Root: true, Now: time.Hour,
		Layers: []Layer{
			{Name: "md0", Number: "9:0", Kind: "md", Level: "raid0", Under: []string{"sda", "sdb"}},
			{Name: "sda", Number: "8:0", Kind: "disk", Scheduler: "none", Requests: 64},
			{Name: "sdb", Number: "8:16", Kind: "disk", Scheduler: "none", Requests: 64},
		},
		Window: &telemetry.Window{
			Span: 5 * time.Second, Ticks: 50, Stacks: true, CPU: telemetry.LiveCPU{Idle: 0.8},
			Pressure: &telemetry.Pressure{}, Memory: telemetry.LiveMemory{Background: units.GiB},
			Devices: []telemetry.LiveDevice{top, disk("sda"), disk("sdb")},
			Processes: []telemetry.Process{{
				PID: 7, Name: "db", Uses: true, Group: "/db", Version: 2, CPUGroup: "/db", Read: 800 * 1024,
				Write: 800 * 1024, For: map[string]float64{},
			}},
		},
	}
}

// takes makes each I/O of a device take so long, by no more of them.
func takes(f *Facts, wait time.Duration, names ...string) {
	for _, name := range names {
		d := at(f, name)
		d.ReadWait, d.WriteWait = wait*time.Duration(d.Reads), wait*time.Duration(d.Writes)
		d.Wait = d.ReadWait + d.WriteWait
		d.InFlight, d.Busy = min(60, d.Wait.Seconds()/5), min(5*time.Second, d.Wait)
	}
}

func allTake(f *Facts, wait time.Duration) { takes(f, wait, "md0", "sda", "sdb") }

func waitsFor1(f *Facts, what string, n float64) {
	p := &f.Window.Processes[0]
	p.For[what] += n
	p.Waiting += n
}

func addProgram(f *Facts, p telemetry.Process) { f.Window.Processes = append(f.Window.Processes, p) }

// bought gives both drives limits.
func bought(f *Facts, sustained, burst units.IOPS) {
	for i := range f.Layers[1:] {
		f.Layers[i+1].Volume = &topology.Volume{
			Device: f.Layers[i+1].Name, Network: true, Sustained: topology.Limits{IOPS: sustained}, Burst: topology.Limits{IOPS: burst},
		}
	}
}

// partition makes the path one on a partition of sda, which does as much as md0 did.
func partition(f *Facts) {
	f.Layers = []Layer{
		{Name: "md0", Number: "8:1", Kind: "partition", Under: []string{"sda"}},
		{Name: "sda", Number: "8:0", Kind: "disk", Scheduler: "none", Requests: 64},
	}
	*at(f, "sda") = *at(f, "md0")
	f.Window.Devices[1].Name = "sda"
}

// firing is a change of quietFacts for each row of the order of causes, and one that differs in one figure and
// does not fire it. The order stands here once more: it is what the table is held to.
var firing = []struct {
	row        string
	fire, miss func(*Facts)
}{
	{
		"errors",
		func(f *Facts) {
			f.Log = []host.Event{{Kind: host.IOError, Device: "sda", Count: 3, Last: time.Hour - 5*time.Second, Text: "I/O error, dev sda, sector 8"}}
		},
		func(f *Facts) {
			f.Log = []host.Event{{Kind: host.IOError, Device: "sda", Count: 3, Last: time.Hour - 7*time.Second, Text: "I/O error, dev sda, sector 8"}}
		},
	},
	{"read-only", func(f *Facts) { f.Failed = "input/output error" }, func(*Facts) {}},
	{"full", func(f *Facts) { f.Inodes = 1 }, func(f *Facts) { f.Inodes = 0.9999 }},
	{
		"no answer", func(f *Facts) { at(f, "sdb").Longest = 950 * time.Millisecond },
		func(f *Facts) { at(f, "sdb").Longest = 949 * time.Millisecond },
	},
	{
		"frozen", func(f *Facts) { waitsFor1(f, telemetry.ForFrozen, 0.3) },
		func(f *Facts) { waitsFor1(f, telemetry.ForFrozen, 0.29) },
	},
	{
		"group",
		func(f *Facts) {
			f.Groups = []topology.GroupLimit{{Group: "/db", File: "/io.max", Device: "sda", Number: "8:0", What: "wbps", Limit: 1000, Used: 990, Version: 2}}
		},
		func(f *Facts) { // the backup is held to its limit, and the database gets what it asks for
			f.Groups = []topology.GroupLimit{{Group: "/backup", File: "/io.max", Device: "sda", Number: "8:0", What: "wbps", Limit: 1000, Used: 990, Version: 2}}
			waitsFor1(f, telemetry.ForLog, 0.29)
		},
	},
	{
		"resync", func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			at(f, "md0").Sync = &telemetry.LiveSync{Action: "check", Speed: 492 * 1024}
		}, func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			at(f, "md0").Sync = &telemetry.LiveSync{Action: "check", Speed: 475 * 1024}
		},
	},
	{
		"discards", func(f *Facts) { at(f, "md0").Discards, at(f, "md0").Other = 20, 1260*time.Millisecond },
		func(f *Facts) { at(f, "md0").Discards, at(f, "md0").Other = 20, 1240*time.Millisecond },
	},
	{
		"slow flushes", func(f *Facts) { at(f, "sda").Flushes, at(f, "sda").FlushWait = 124, 1260*time.Millisecond },
		func(f *Facts) { at(f, "sda").Flushes, at(f, "sda").FlushWait = 127, 1260*time.Millisecond },
	},
	{
		"synced writes", func(f *Facts) { waitsFor1(f, telemetry.ForLog, 1) },
		func(f *Facts) { waitsFor1(f, telemetry.ForLog, 0.99) },
	},
	{
		"beside", func(f *Facts) {
			partition(f)
			allTake(f, 5*time.Millisecond)
			at(f, "sda").Reads, at(f, "sda").ReadBytes = 4500, 20000*units.KiB
		}, func(f *Facts) {
			partition(f)
			allTake(f, 5*time.Millisecond)
			at(f, "sda").Reads, at(f, "sda").ReadBytes = 3000, 12000*units.KiB
		},
	},
	{
		"another program", func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			addProgram(f, telemetry.Process{PID: 8, Name: "backup", Uses: true, Read: 12 * units.MiBPerSec, Write: 12 * units.MiBPerSec})
			waitsFor1(f, telemetry.ForIO, 0.9)
		}, func(f *Facts) { // one that does a twelfth and seldom waits is no victim of the path's own program
			allTake(f, 5*time.Millisecond)
			addProgram(f, telemetry.Process{PID: 8, Name: "backup", Uses: true, Read: 20 * units.MiBPerSec})
			f.Window.Processes[0].Read, f.Window.Processes[0].Write = units.MiBPerSec, 0
			waitsFor1(f, telemetry.ForIO, 0.1)
		},
	},
	{
		"write-back", func(f *Facts) { waitsFor1(f, telemetry.ForWBT, 0.4) },
		func(f *Facts) { waitsFor1(f, telemetry.ForWBT, 0.39) },
	},
	{
		"instance", func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			f.Instance.Baseline.IOPS, f.Window.MachineIOs = 1000, 940
		}, func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			f.Instance.Baseline.IOPS, f.Window.MachineIOs = 1000, 920
		},
	},
	{
		"volume", func(f *Facts) { allTake(f, 5*time.Millisecond); bought(f, 214, 0) },
		func(f *Facts) { allTake(f, 5*time.Millisecond); bought(f, 216, 0) },
	},
	{
		"burst", func(f *Facts) { allTake(f, 5*time.Millisecond); bought(f, 200, 3000) },
		func(f *Facts) { allTake(f, 5*time.Millisecond); bought(f, 150, 3000) },
	},
	{
		"slow member", func(f *Facts) { takes(f, 5*time.Millisecond, "md0"); takes(f, 8*time.Millisecond, "sda") },
		func(f *Facts) { takes(f, 5*time.Millisecond, "md0"); takes(f, 2*time.Millisecond, "sda") },
	},
	{
		"hot member", func(f *Facts) {
			takes(f, 5*time.Millisecond, "md0")
			at(f, "sda").Reads = 2000
			takes(f, 2500*time.Microsecond, "sda")
		}, func(f *Facts) {
			takes(f, 5*time.Millisecond, "md0")
			at(f, "sda").Reads = 1400
			takes(f, 2500*time.Microsecond, "sda")
		},
	},
	{
		"layer", func(f *Facts) { takes(f, 5*time.Millisecond, "md0"); takes(f, 1900*time.Microsecond, "sda", "sdb") },
		func(f *Facts) { takes(f, 5*time.Millisecond, "md0"); takes(f, 2100*time.Microsecond, "sda", "sdb") },
	},
	{
		"scheduler", func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			f.Layers[1].Scheduler, at(f, "sda").InFlight, at(f, "sdb").InFlight = "bfq", 0.4, 0.4
		}, func(f *Facts) {
			allTake(f, 5*time.Millisecond)
			f.Layers[1].Scheduler, at(f, "sda").InFlight, at(f, "sdb").InFlight = "bfq", 0.6, 0.6
		},
	},
	{
		"places", func(f *Facts) { waitsFor1(f, telemetry.ForTags, 0.4); at(f, "sdb").InFlight = 45 },
		func(f *Facts) { waitsFor1(f, telemetry.ForTags, 0.4); at(f, "sdb").InFlight = 44 },
	},
	{"slow volume", func(f *Facts) { allTake(f, 4100*time.Microsecond) }, func(f *Facts) { allTake(f, 3900*time.Microsecond) }},
	{"unknown limit", func(f *Facts) { allTake(f, 21*time.Millisecond) }, func(f *Facts) { allTake(f, 19*time.Millisecond) }},
	{"memory", func(f *Facts) { f.Window.Memory.Swap = 101 }, func(f *Facts) { f.Window.Memory.Swap = 100 }},
	{"nearly full", func(f *Facts) { f.Free = 0.049 }, func(f *Facts) { f.Free = 0.05 }},
	{
		"processors", func(f *Facts) { f.Quotas = []topology.Quota{{Group: "/db", Periods: 40, Throttled: 10}} },
		func(f *Facts) { f.Quotas = []topology.Quota{{Group: "/db", Periods: 40, Throttled: 9}} },
	},
}

func rowsOf(a *Answer) (names []string) {
	for _, c := range a.Causes {
		names = append(names, c.row.name)
	}
	return names
}

// A row without a case fails; each fires, and not by its near miss; on quiet facts none does.
func TestEachRowAndItsNearMiss(t *testing.T) {
	if a := Judge(quietFacts()); len(a.Causes) > 0 {
		t.Fatalf("quiet: %v", rowsOf(a))
	}
	rows := order()
	for i, r := range rows {
		if i >= len(firing) || firing[i].row != r.name {
			t.Fatalf("row %d is %q, which has no case in its place", i, r.name)
		}
		if (r.why == "") != (i == len(rows)-1) {
			t.Errorf("%s: why it stands before the next is to be said, and of the last nothing", r.name)
		}
		f := quietFacts()
		firing[i].fire(f)
		if a := Judge(f); !slices.Contains(rowsOf(a), r.name) {
			t.Errorf("%s: %v", r.name, rowsOf(a))
		}
		f = quietFacts()
		firing[i].miss(f)
		if a := Judge(f); slices.Contains(rowsOf(a), r.name) {
			t.Errorf("near miss of %s: %v", r.name, rowsOf(a))
		}
	}
	if len(firing) != len(rows) {
		t.Errorf("%d cases for %d rows", len(firing), len(rows))
	}
}

// Of two neighbours that are both true the upper stands first, unless the lower is surer and not explained.
func TestOrderOfNeighbours(t *testing.T) {
	rows := order()
	sure := []Confidence{Certain, Likely, Possible}
	both := 0
	for i := range len(rows) - 1 {
		f := quietFacts()
		firing[i+1].fire(f)
		firing[i].fire(f)
		a := Judge(f)
		names := rowsOf(a)
		up, down := slices.Index(names, rows[i].name), slices.Index(names, rows[i+1].name)
		if up < 0 || down < 0 {
			if len(names) == 0 {
				t.Errorf("%s and %s: nothing is found", rows[i].name, rows[i+1].name)
			}
			continue // each excludes the other, or the lower is asked alone
		}
		both++
		explained := slices.Contains(rows[i].explains, a.Causes[down].Code)
		upper := explained || slices.Index(sure, a.Causes[up].Confidence) <= slices.Index(sure, a.Causes[down].Confidence)
		if upper != (up < down) {
			t.Errorf("%s and %s: %v", rows[i].name, rows[i+1].name, names)
		}
	}
	if both < 14 {
		t.Errorf("only %d pairs of %d stand together", both, len(rows)-1)
	}
}

// Each cause has a page, and each page of the family a cause.
func TestCausesHaveTheirPages(t *testing.T) {
	named := map[finding.Code]bool{}
	for _, r := range order() {
		if named[r.code] = true; titleOf(r.code) == "" {
			t.Errorf("%s, %s, has no page", r.name, r.code)
		}
	}
	for _, p := range finding.Pages() {
		if p.Code[:3] == "PL9" && !named[p.Code] {
			t.Errorf("no cause has the code of the page %s", p.Code)
		}
	}
}

// Whoever is found, what is certain stands before what is likely, and that before what is possible, but for
// what another explains.
func TestSurerFirst(t *testing.T) {
	of := func(names ...string) *Facts {
		f := quietFacts()
		for _, c := range firing {
			if slices.Contains(names, c.row) {
				c.fire(f)
			}
		}
		return f
	}
	for _, c := range []struct {
		fire  []string
		first finding.Code
	}{
		{[]string{"another program", "volume"}, "PL906"}, // it says who fills the volume
		{[]string{"no answer", "errors"}, "PL316"},
		{[]string{"slow flushes", "group"}, "PL904"},
		{[]string{"processors", "nearly full"}, "PL910"},
		{[]string{"processors", "full"}, "PL317"},
		{[]string{"processors", "slow volume"}, "PL909"},
	} {
		if a := Judge(of(c.fire...)); a.First != c.first {
			t.Errorf("%v: %s of %v, want %s", c.fire, a.First, rowsOf(a), c.first)
		}
	}
}

// What a script starts one after the other is the script's: shares of a program that is many, one of them gone, another
// new, are those of one.
func TestShortLivedProgramsAreTheirScripts(t *testing.T) {
	f := quietFacts()
	allTake(f, 40*time.Millisecond)
	waitsFor1(f, telemetry.ForIO, 1)
	f.Window.Processes[0].Read, f.Window.Processes[0].Write = 40*1024, 0
	script := telemetry.Process{PID: 20, Name: "backup", Uses: true, Write: 700 * 1024}
	child := telemetry.Process{PID: 21, Name: "dd", Uses: true, Ended: true, Write: 500 * 1024, Parent: 20}
	f.Window.Processes = append(f.Window.Processes, script, child)
	if a := Judge(f); a.First != "PL906" || a.Causes[0].Subject != "backup" || a.Users[0].Processes != 2 {
		t.Errorf("%v %+v", rowsOf(a), a.Users)
	}
	for name, change := range map[string]func(p *telemetry.Process){
		"another group": func(p *telemetry.Process) { p.Group, p.Version = "/system.slice/copy.service", 2 },
		"another's":     func(p *telemetry.Process) { p.Parent = 999 },
		"a long life":   func(p *telemetry.Process) { p.Parent = 0 },
	} {
		near := *f.Window
		near.Processes = slices.Clone(near.Processes)
		change(&near.Processes[len(near.Processes)-1])
		g := *f
		g.Window = &near
		if a := Judge(&g); a.First == "PL906" || a.Users[0].Processes != 1 {
			t.Errorf("%s: %v %+v", name, rowsOf(a), a.Users)
		}
	}
}

// What is written is his who wrote it into memory and waits for it, and accuses nobody who only reads meanwhile. It has
// to be most of the bytes and of the time together, and twice the second's.
func TestWhoseMemoryIsWritten(t *testing.T) {
	for _, c := range []struct {
		name    string
		wait    float64    // tasks of copy that wait for a sync
		asks    units.Rate // of db, which reads
		reading time.Duration
		accused bool
	}{
		{"waits", 0.25, 480 << 10, 2400 * time.Millisecond, true},
		{"hardly waits", 0.15, 480 << 10, 2400 * time.Millisecond, false},
		{"waits for nothing", 0, 480 << 10, 2400 * time.Millisecond, false},
		{"60 %", 0.25, 480 << 10, 7600 * time.Millisecond, true},
		{"59.8 %", 0.25, 480 << 10, 7800 * time.Millisecond, false},
		{"67 and 33 %", 0.25, 2522 << 10, 2463 * time.Millisecond, true},
		{"66 and 34 %", 0.25, 2638 << 10, 2576 * time.Millisecond, false},
	} {
		f := quietFacts()
		allTake(f, 10*time.Millisecond)
		d := at(f, "md0")
		d.Writes, d.WriteBytes, d.WriteWait = 25, 25*units.MiB, 5*time.Second // 200 ms each
		d.Reads, d.ReadBytes, d.ReadWait = 300, units.Bytes(5*c.asks), c.reading
		d.Wait = d.ReadWait + d.WriteWait
		db := &f.Window.Processes[0]
		db.Read, db.Write = c.asks, 0
		waitsFor1(f, telemetry.ForIO, 0.5)
		addProgram(f, telemetry.Process{
			PID: 20, Name: "copy", Uses: true, Ended: true, Write: 512 * 1024, Waiting: c.wait,
			For: map[string]float64{telemetry.ForSync: c.wait},
		})
		a := Judge(f)
		if accused := a.First == "PL906" && a.Causes[0].Subject == "copy"; accused != c.accused {
			t.Errorf("%s: %v %s", c.name, rowsOf(a), a.Causes[0].Message)
		}
	}
}

// A program that waits for itself alone holds nobody up: a neighbour is one for whom somebody else waits.
func TestOwnWaitIsNoEvidence(t *testing.T) {
	f := quietFacts()
	addProgram(f, telemetry.Process{
		PID: 20, Name: "copy", Uses: true, Write: 40 * units.MiBPerSec, Waiting: 1,
		For: map[string]float64{telemetry.ForSync: 1},
	})
	if a := Judge(f); len(a.Causes) > 0 {
		t.Errorf("%v %s", rowsOf(a), a.Causes[0].Message)
	}
	waitsFor1(f, telemetry.ForIO, 0.95)
	if a := Judge(f); len(a.Causes) > 0 {
		t.Errorf("another waits most of the time: %v %s", rowsOf(a), a.Causes[0].Message)
	}
	waitsFor1(f, telemetry.ForIO, 0.05)
	if a := Judge(f); a.First != "PL906" || a.Causes[0].Subject != "copy" {
		t.Errorf("another waits: %v", rowsOf(a))
	}
}

// Who writes as much as is written back and has nothing open on the path is named for it only where a program of his was
// seen there.
func TestWhoWritesElsewhereIsNotNamed(t *testing.T) {
	for seen, want := range map[bool]string{true: "unpack", false: "md0"} {
		f := quietFacts()
		allTake(f, 40*time.Millisecond)
		at(f, "md0").WriteBytes, f.Window.Memory.Dirty = 50*units.MiB, 100*units.MiB
		f.Window.Processes[0].Read, f.Window.Processes[0].Write = 1024, 1024
		addProgram(f, telemetry.Process{PID: 20, Name: "unpack", Write: 9 * units.MiBPerSec})
		if seen {
			addProgram(f, telemetry.Process{PID: 21, Name: "cp", Uses: true, Ended: true, Parent: 20})
		}
		a := Judge(f)
		i := slices.IndexFunc(a.Causes, func(c Cause) bool { return c.Code == "PL309" })
		if i < 0 || a.Causes[i].Subject != want {
			t.Errorf("seen %t: %v %+v", seen, rowsOf(a), a.Causes)
		}
	}
}
