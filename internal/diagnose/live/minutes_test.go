package live

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func moment(at int, code finding.Code, whose Whose, whole bool, wait units.Latency, iops units.IOPS) Moment {
	m := Moment{Whole: whole, Minute: Minute{
		Start: time.Unix(int64(at), 0), Span: MomentSpan, Whose: whose, Wait: wait, IOPS: iops,
		Waiting: float64(wait) * float64(iops) / 1e9, Silent: code == "PL902", First: code,
	}}
	if code != "" {
		m.Subject, m.Slow = "x", m.Span
	}
	return m
}

// A minute takes its figures from slow moments, and its cause from those with processes.
func TestMinuteOf(t *testing.T) {
	slow := func(at int, code finding.Code, whose Whose, whole bool, ms, iops float64) Moment {
		return moment(at, code, whose, whole, units.Latency(ms*1e6), units.IOPS(iops))
	}
	fine := func(at int) Moment { return moment(at, "", Fine, at == 0, 1e6, 300) }
	all := []Moment{fine(0)}
	for i := 1; i < 7; i++ {
		all = append(all, fine(6*i))
	}
	// By counters alone it looks like a slow volume; with processes it is another program.
	all = append(all, slow(42, "PL909", Unknown, false, 50, 100), slow(48, "PL906", Here, true, 40, 50), slow(54, "PL906", Here, true, 20, 150))
	got := MinuteOf(all)
	// (40 ms × 50 + 20 ms × 150) / 200 = 25 ms; (50 + 150) / 2 = 100 IOPS; (2 + 3) / 2 = 2.5 wait.
	want := Minute{
		Start: time.Unix(0, 0), Span: time.Minute, Slow: 18 * time.Second, Whose: Here, First: "PL906", Subject: "x",
		Wait: 25e6, Waiting: 2.5, IOPS: 100,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	quiet := MinuteOf([]Moment{fine(0), fine(6)})
	if quiet.Whose != Fine || quiet.Slow != 0 || quiet.First != "" || quiet.IOPS != 300 || quiet.Wait != 1e6 {
		t.Errorf("%+v", quiet)
	}
	// The cause that held longest, not the first one.
	longer := MinuteOf([]Moment{
		slow(0, "PL204", Unknown, true, 9, 10), slow(6, "PL904", Here, true, 9, 10), slow(12, "PL904", Here, true, 9, 10),
	})
	if longer.First != "PL904" || longer.Whose != Here {
		t.Errorf("%+v", longer)
	}
	if none := MinuteOf(nil); none != (Minute{Whose: Fine}) {
		t.Errorf("%+v", none)
	}
}

// Each captured trial lies on the side that its truth says; a volume is accused only of less than is
// stated of it, with enough I/Os in it, and where nothing here explains it.
func TestWhoseItIs(t *testing.T) {
	sides := map[string]Whose{
		"healthy": Fine, "stall": Theirs, "frozen": Here, "cgroup": Here, "resync": Here, "fsync-storm": Yours,
		"neighbour": Here, "instance-cap": Yours, "volume-limit": Yours, "burst-spent": Yours, "host-queue": Here,
		"cpu": Fine, "nearly-full": Fine,
	}
	for _, one := range trials(t) {
		want, ok := sides[one.Truth]
		a := Judge(one.Facts)
		if !ok || !slices.Contains(right[one.Truth], a.First) {
			continue // judged wrongly, or a side that depends on what is stated
		}
		if m := Look(one.Facts, time.Time{}, true); m.Whose != want {
			t.Errorf("%s (%s, %s): %s, want %s", one.Name, one.Truth, a.First, m.Whose, want)
		}
	}
	for _, c := range []struct {
		name    string
		iops    uint64 // of the slow member
		waiting float64
		stated  units.IOPS
		want    Whose
	}{
		{"nothing is stated", 30, 10, 0, Unknown},
		{"less than stated, and enough waits", 30, 10, 120, Theirs},
		{"what is stated", 30, 10, 33, Unknown}, // 30 of 33 is 91 %
		{"just below", 30, 10, 34, Theirs},      // 88 %
		{"too little waits to ask for more", 30, 3.9, 120, Unknown},
	} {
		if got := memberAt(t, c.iops, c.waiting, c.stated); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// memberAt judges one leaf at a rate with so many I/Os in it, as a moment in which PL909 or PL204
// is what the latency suggests.
func memberAt(t *testing.T, iops uint64, waiting float64, stated units.IOPS) Whose {
	t.Helper()
	f := captured(t, "4-slow-volume")
	f.Instance = topology.Instance{}
	for i := range f.Layers {
		if !f.Layers[i].Leaf() {
			continue
		}
		f.Layers[i].Volume = nil
		if stated > 0 {
			f.Layers[i].Volume = &topology.Volume{Sustained: topology.Limits{IOPS: stated}}
		}
		d := at(f, f.Layers[i].Name)
		n := uint64(float64(iops) * f.Window.Span.Seconds())
		d.Reads, d.Writes, d.ReadBytes, d.WriteBytes = n, 0, units.Bytes(n)*4096, 0
		d.Wait, d.Other = time.Duration(waiting*float64(f.Window.Span)), 0
	}
	v := newView(f)
	return v.side([]Cause{{Code: "PL909"}})
}

func TestSumOfMinutes(t *testing.T) {
	var s Sum
	for _, m := range []Minute{
		{Whose: Fine},
		{Whose: Fine},
		{Whose: Theirs, First: "PL902", Silent: true},
		{Whose: Theirs, First: "PL204"},
		{Whose: Here, First: "PL202"},
		{Whose: Here, First: "PL904"},
		{Whose: Here, First: "PL904"},
		{Whose: Yours, First: "PL901"},
		{Whose: Unknown, First: "PL909"},
	} {
		s.Add(m)
	}
	if s.Minutes != 9 || s.Fine != 2 || s.Theirs != 2 || s.Silent != 1 || s.Here != 3 || s.Yours != 1 || s.Unknown != 1 {
		t.Errorf("%+v", s)
	}
	if of := s.Of(Here); len(of) != 2 || of[0] != (CodeMinutes{"PL904", 2}) || of[1] != (CodeMinutes{"PL202", 1}) {
		t.Errorf("%+v", of)
	}
}
