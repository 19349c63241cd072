package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// ofRoot is a site whose commands make and remove directories below its root, or fail, and what they were.
func ofRoot(t *testing.T) (s *Site, ran *[]string) {
	t.Helper()
	ran = new([]string)
	s = site(t, machine([]drive{{name: "sda", serial: "S0", gib: 10}, {name: "sdb", serial: "S1", gib: 10}}, nil))
	s.Run = func(_ context.Context, _ io.Writer, argv ...string) error {
		if argv[0] == "udevadm" {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		}
		*ran = append(*ran, strings.Join(argv, " "))
		switch argv[0] {
		case "mkdir":
			return os.Mkdir(s.at(argv[1]), 0o755)
		case "rmdir":
			return os.Remove(s.at(argv[1]))
		case "true":
			return nil
		}
		return &sys.Failed{Argv: argv, Code: 1, Stderr: "no luck"}
	}
	if err := os.MkdirAll(s.Journal, 0o700); err != nil {
		t.Fatal(err)
	}
	return s, ran
}

// What becomes of a step, by how far it was and by what is there: the events, the commands and the error.
func TestStepByItsState(t *testing.T) {
	there := records.Cond{Is: "path", Of: "/x"}
	made, gone := records.Action{Run: []string{"mkdir", "/x"}}, records.Action{If: &there, Run: []string{"rmdir", "/x"}}
	idle := records.Action{Run: []string{"true"}}
	for name, c := range map[string]struct {
		st     records.Step
		exists bool
		events string
		ran    string
		err    string
		state  records.StepState
	}{
		"to do":               {records.Step{Check: []records.Cond{there}, Do: []records.Action{made}}, false, "doing done", "mkdir /x", "", records.StepDone},
		"to do, no check":     {records.Step{Do: []records.Action{idle}}, false, "doing done", "true", "", records.StepDone},
		"fails":               {records.Step{Check: []records.Cond{there}, Do: []records.Action{{Run: []string{"umount"}}}}, false, "doing", "umount", "no luck", records.StepBegun},
		"has run in vain":     {records.Step{Check: []records.Cond{there}, Do: []records.Action{idle}}, false, "doing", "true", "its commands ran, but it is not in place: no path /x", records.StepToDo},
		"in vain, and undone": {records.Step{Check: []records.Cond{there}, Do: []records.Action{idle}, Undo: []records.Action{idle}}, false, "doing", "true|true", "its commands ran, but it is not in place: no path /x", records.StepToDo},
		"begun":               {records.Step{State: records.StepBegun, Check: []records.Cond{there}, Do: []records.Action{made}, Undo: []records.Action{gone}}, true, "repairing doing done", "rmdir /x|mkdir /x", "", records.StepDone},
		"begun, nothing made": {records.Step{State: records.StepBegun, Check: []records.Cond{there}, Do: []records.Action{made}, Undo: []records.Action{gone}}, false, "repairing doing done", "mkdir /x", "", records.StepDone},
		"begun, cannot undo":  {records.Step{State: records.StepBegun, Check: []records.Cond{there}, Do: []records.Action{made}, Undo: []records.Action{{Run: []string{"umount"}}}}, true, "repairing", "umount", "no luck", records.StepBegun},
		"done":                {records.Step{State: records.StepDone, Check: []records.Cond{there}, Do: []records.Action{made}}, true, "in place", "", "", records.StepDone},
		"done, no check":      {records.Step{State: records.StepDone, Do: []records.Action{made}}, false, "in place", "", "", records.StepDone},
		"lost": {
			records.Step{State: records.StepDone, Check: []records.Cond{there}, Do: []records.Action{made}, Ended: time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC)},
			false, "", "", "it was done on 2026-11-23 and is no longer in place (no path /x); see: plimsoll array verify", records.StepDone,
		},
		"brought back":     {records.Step{State: records.StepDone, Check: []records.Cond{there}, Again: []records.Action{made}}, false, "restoring", "mkdir /x", "", records.StepDone},
		"not brought back": {records.Step{State: records.StepDone, Check: []records.Cond{there}, Again: []records.Action{idle}}, false, "restoring", "true", "it could not be brought back: no path /x", records.StepDone},
		"cannot be":        {records.Step{State: records.StepDone, Check: []records.Cond{there}, Again: []records.Action{{Run: []string{"umount"}}}}, false, "restoring", "umount", "no luck", records.StepDone},
		"not understood":   {records.Step{State: records.StepDone, Check: []records.Cond{{Is: "nonsense", Of: "@S0"}}}, false, "", "", "this plimsoll does not know", records.StepDone},
	} {
		s, ran := ofRoot(t)
		var events []string
		s.Emit = func(e Event) {
			events = append(events, string(e.What))
			if e.Step != 2 || e.Steps != 2 || e.Title != "x" || e.Array != "t" {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if c.exists {
			if err := os.Mkdir(s.at("/x"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		c.st.Title = "x"
		w := workOf(2, 10*units.GiB, records.Want{})
		w.Steps = []records.Step{{State: records.StepDone}, c.st}
		err := s.step(t.Context(), w, 1)
		if got := strings.Join(events, " "); got != c.events || strings.Join(*ran, "|") != c.ran || w.Steps[1].State != c.state {
			t.Errorf("%s: %q, ran %q, %q; want %q, %q, %q", name, got, *ran, w.Steps[1].State, c.events, c.ran, c.state)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if changed := w.Steps[1].State != c.st.State; changed && (w.Steps[1].Begun != s.Now().UTC() || c.err == "" && w.Steps[1].Ended != s.Now().UTC()) {
			t.Errorf("%s: from %v to %v", name, w.Steps[1].Begun, w.Steps[1].Ended)
		}
	}
}

// What apply refuses before its first step, and where it says that it stopped.
func TestAppliesRefused(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		change func(*Site, *records.Work)
		ctx    context.Context
		err    string
	}{
		"as planned":       {func(*Site, *records.Work) {}, t.Context(), ""},
		"half taken down":  {func(_ *Site, w *records.Work) { w.Undoing = true }, t.Context(), "array t: its teardown has begun; finish that first: plimsoll array teardown t"},
		"a member is gone": {func(_ *Site, w *records.Work) { w.Members[1].Serial = "S9" }, t.Context(), "array t: volume S9 is not attached"},
		"ended before":     {func(*Site, *records.Work) {}, ended, "array t stopped before step 1 of 2, make /a: context canceled"},
		"a step fails":     {func(_ *Site, w *records.Work) { w.Steps[1].Do[0].Run = []string{"umount"} }, t.Context(), "array t, step 2 of 2, make /b: "},
		"found, and also a journal": {func(s *Site, w *records.Work) {
			if err := s.save(w); err != nil {
				t.Fatal(err)
			}
			w.Found = true
		}, t.Context(), "array t: something has changed since the plan was made; apply again"},
		"another's journal": {func(s *Site, w *records.Work) {
			other := *w
			if other.Started = s.Now(); s.save(&other) != nil {
				t.Fatal("not saved")
			}
		}, t.Context(), "array t: something has changed since the plan was made; apply again"},
		"its own journal": {func(s *Site, w *records.Work) {
			if w.Started = s.Now(); s.save(w) != nil {
				t.Fatal("not saved")
			}
		}, t.Context(), ""},
		"a journal of another array": {func(s *Site, w *records.Work) {
			other := *w
			if other.Array = "u"; s.save(&other) != nil {
				t.Fatal("not saved")
			}
		}, t.Context(), ""},
		"its journal is broken": {func(s *Site, _ *records.Work) {
			if err := os.WriteFile(filepath.Join(s.Journal, "t.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, t.Context(), "array t: its journal cannot be read"},
		"another's is broken": {func(s *Site, _ *records.Work) {
			if err := os.WriteFile(filepath.Join(s.Journal, "u.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, t.Context(), ""},
	} {
		s, ran := ofRoot(t)
		w := workOf(2, 10*units.GiB, records.Want{})
		for _, dir := range []string{"/a", "/b"} {
			w.Add(records.Step{Title: "make " + dir, Check: []records.Cond{{Is: "path", Of: dir}}, Do: []records.Action{{Run: []string{"mkdir", dir}}}})
		}
		c.change(s, w)
		was := w.Started
		err := s.Apply(c.ctx, &Plan{Arrays: []*records.Work{w}})
		if c.err == "" && (err != nil || len(*ran) != 2) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, ran %q; want %q", name, err, *ran, c.err)
		}
		if c.err == "" && !w.Started.Equal(s.Now()) || !was.IsZero() && !w.Started.Equal(was) {
			t.Errorf("%s: begun at %v", name, w.Started)
		}
	}
	// What was there before plimsoll is left alone.
	s, ran := ofRoot(t)
	var said []Event
	s.Emit = func(e Event) { said = append(said, e) }
	w := workOf(2, 10*units.GiB, records.Want{Using: "md"})
	w.Found, w.Steps = true, []records.Step{{Do: []records.Action{{Run: []string{"mkdir", "/a"}}}}}
	if err := s.Apply(t.Context(), &Plan{Arrays: []*records.Work{w}}); err != nil || len(*ran) != 0 || len(said) != 1 || said[0].What != InPlace {
		t.Errorf("%v %q %+v", err, *ran, said)
	}
}

// A resync is reported every half second until the copies agree: the part that is done, how fast it is, and how long it
// lasts: what is left of the smallest member, or of the array's sectors where RAID10 counts those.
func TestAwaitByHand(t *testing.T) {
	const md = "sys/class/block/md0/"
	base := map[string]string{
		md + "dev": "9:0\n", md + "size": fmt.Sprintf("%d\n", 20<<21), md + "md/level": "raid1\n", md + "md/array_state": "clean\n", md + "md/uuid": ourUUID + "\n",
		md + "md/raid_disks": "2\n", md + "slaves/sda": "", md + "slaves/sdb": "", md + "md/dev-sda/state": "in_sync\n", md + "md/dev-sdb/state": "in_sync\n",
		md + "md/sync_action": "resync\n", md + "md/sync_completed": "5 / 20\n", md + "md/sync_speed": "7168\n", // 7 MiB/s
	}
	const gib = 1 << 30
	left := func(bytes float64) time.Duration { return time.Duration(bytes/(7<<20)) * time.Second } // of whole seconds below
	for name, c := range map[string]struct {
		level  topology.Level
		change map[string]string
		least  units.Bytes
		want   Event
		err    string
	}{
		// 0.75 × 10 GiB / 7 MiB/s = 1,097.14 s; of 7 GiB 768 s; of the array's 20 GiB 2,194.29 s.
		"raid1":              {"raid1", nil, 10 * gib, Event{Fraction: 0.25, Rate: 7 << 20, Left: 1097 * time.Second}, ""},
		"a smaller member":   {"raid1", nil, 7 * gib, Event{Fraction: 0.25, Rate: 7 << 20, Left: left(0.75 * 7 * gib)}, ""},
		"raid10":             {"raid10", nil, 10 * gib, Event{Fraction: 0.25, Rate: 7 << 20, Left: 2194 * time.Second}, ""},
		"raid10, one member": {"raid10", map[string]string{md + "md/sync_action": "recover\n"}, 10 * gib, Event{Fraction: 0.25, Rate: 7 << 20, Left: 1097 * time.Second}, ""},
		"no speed yet":       {"raid1", map[string]string{md + "md/sync_speed": "none\n"}, 10 * gib, Event{Fraction: 0.25}, ""},
		"at its beginning":   {"raid1", map[string]string{md + "md/sync_completed": "none\n"}, 7 * gib, Event{Rate: 7 << 20, Left: 1024 * time.Second}, ""},
		"one failed":         {"raid1", map[string]string{md + "md/dev-sdb/state": "faulty\n"}, 10 * gib, Event{}, "/dev/md/t has lost a member; see: mdadm --detail /dev/md/t"},
		"stopped meanwhile":  {"raid1", map[string]string{md + "md/uuid": "1:2:3:4\n"}, 10 * gib, Event{}, "/dev/md/t is not attached"},
	} {
		synctest.Test(t, func(t *testing.T) {
			files := maps.Clone(base)
			maps.Copy(files, c.change)
			m := machine([]drive{{name: "sda", serial: "S0", gib: 10}, {name: "sdb", serial: "S1", gib: 10}}, files)
			s := site(t, m)
			w := workOf(2, 10*units.GiB, records.Want{Level: c.level, Using: "md"})
			w.Members[1].Size = c.least
			w.Steps = []records.Step{{Check: []records.Cond{{Is: "array", Want: ourUUID}}}, {Title: "wait", Do: []records.Action{{Run: []string{"x"}}, {Await: true}}}, {}}
			var said []Event
			s.Emit = func(e Event) {
				if said = append(said, e); len(said) == 2 {
					m.Root.(fstest.MapFS)[md+"md/sync_action"] = &fstest.MapFile{Data: []byte("idle\n")}
				}
			}
			from := time.Now()
			err := s.await(t.Context(), w)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || len(said) != 0 {
					t.Errorf("%s: %v %+v, want %q", name, err, said, c.err)
				}
				return
			}
			c.want.Array, c.want.Step, c.want.Steps, c.want.Title, c.want.What = "t", 2, 3, "wait", Progress
			if err != nil || len(said) != 2 || said[0] != c.want || said[1] != c.want || time.Since(from) != time.Second {
				t.Errorf("%s: %v after %v\n%+v, want twice\n%+v", name, err, time.Since(from), said, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // Ctrl-C ends it
		s := site(t, machine([]drive{{name: "sda", serial: "S0", gib: 10}, {name: "sdb", serial: "S1", gib: 10}}, base))
		w := workOf(2, 10*units.GiB, records.Want{Level: "raid1", Using: "md"})
		w.Steps = []records.Step{{Check: []records.Cond{{Is: "array", Want: ourUUID}}, Do: []records.Action{{Await: true}}}}
		ctx, stop := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer stop()
		if err := s.await(ctx, w); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// LVM tells the part of a volume's copies that agree, and no speed.
func TestAwaitOfLVM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const dm = "sys/class/block/dm-0/"
		s := site(t, machine([]drive{{name: "sda", serial: "S0", gib: 10}}, map[string]string{dm + "dev": "253:0\n", dm + "dm/name": "g-t\n", dm + "dm/uuid": "LVM-x\n"}))
		percent := "12.50"
		s.Run = func(_ context.Context, out io.Writer, argv ...string) error {
			if argv[0] != "lvs" {
				return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
			}
			_, err := fmt.Fprintf(out, `{"report":[{"lv":[{"lv_name":"t","sync_percent":%q}]}]}`, percent)
			return err
		}
		w := workOf(1, units.GiB, records.Want{Level: "raid1", Using: "lvm", Group: "g"})
		w.Steps = []records.Step{{Title: "wait", Do: []records.Action{{Await: true}}}}
		var said []Event
		s.Emit = func(e Event) { said, percent = append(said, e), "100.00" }
		want := Event{Array: "t", Step: 1, Steps: 1, Title: "wait", What: Progress, Fraction: 0.125}
		if err := s.await(t.Context(), w); err != nil || len(said) != 1 || said[0] != want {
			t.Errorf("%v %+v", err, said)
		}
	})
}

// The first undo that fails leaves an array as usable as it was, where its step is whole all the same; a later one,
// or one that has undone a part, leaves a teardown that has begun.
func TestUndoThatFails(t *testing.T) {
	there := records.Cond{Is: "path", Of: "/x"}
	bad := []records.Action{{Run: []string{"umount"}}}
	for name, c := range map[string]struct {
		st      records.Step
		undoing bool // before
		err     string
		after   bool
		state   records.StepState
	}{
		"whole all the same":     {records.Step{State: records.StepDone, Check: []records.Cond{there}, Undo: bad}, false, "no luck", false, records.StepDone},
		"it was in the midst":    {records.Step{State: records.StepDone, Check: []records.Cond{there}, Undo: bad}, true, "no luck", true, records.StepBegun},
		"a part is undone":       {records.Step{State: records.StepDone, Check: []records.Cond{there, {Is: "path", Of: "/y"}}, Undo: bad}, false, "no luck", true, records.StepBegun},
		"it was not done":        {records.Step{State: records.StepBegun, Check: []records.Cond{there}, Undo: bad}, false, "no luck", true, records.StepBegun},
		"nothing shows it":       {records.Step{State: records.StepDone, Undo: bad}, false, "no luck", true, records.StepBegun},
		"a member is gone":       {records.Step{State: records.StepDone, Check: []records.Cond{there}, Undo: []records.Action{{Zero: []string{"@S9"}}}}, false, "is not attached", true, records.StepBegun},
		"undone":                 {records.Step{State: records.StepDone, Check: []records.Cond{there}, Undo: []records.Action{{Run: []string{"rmdir", "/x"}}}}, false, "", true, records.StepToDo},
		"others take it along":   {records.Step{State: records.StepDone}, true, "", true, records.StepToDo},
		"others will, not begun": {records.Step{State: records.StepDone}, false, "", false, records.StepDone},
	} {
		s, _ := ofRoot(t)
		if err := os.Mkdir(s.at("/x"), 0o755); err != nil {
			t.Fatal(err)
		}
		w := workOf(2, 10*units.GiB, records.Want{})
		w.Undoing, w.Steps = c.undoing, []records.Step{{State: records.StepDone}, c.st}
		err := s.undo(t.Context(), w, 1)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if w.Undoing != c.after || w.Steps[1].State != c.state {
			t.Errorf("%s: undoing %v, %q; want %v, %q", name, w.Undoing, w.Steps[1].State, c.after, c.state)
		}
		if kept, _, err := s.Journals(); len(c.st.Undo) > 0 && (err != nil || len(kept) != 1 || kept[0].Undoing != c.after || kept[0].Steps[1].State != c.state) {
			t.Errorf("%s: the journal says %+v, %v", name, kept, err)
		}
	}
}

// Of several arrays those are taken down that are named; one of which a member is being replaced, or is gone, is not,
// and of the latter what can be is.
func TestTeardownOfSome(t *testing.T) {
	for name, c := range map[string]struct {
		names  []string
		change func(*records.Work) // of the first
		left   string
		err    string
	}{
		"all":                    {nil, func(*records.Work) {}, "", ""},
		"the first":              {[]string{"a"}, func(*records.Work) {}, "b", ""},
		"the second":             {[]string{"b"}, func(*records.Work) {}, "a", ""},
		"both":                   {[]string{"b", "a"}, func(*records.Work) {}, "", ""},
		"one that is not there":  {[]string{"a", "c"}, func(*records.Work) {}, "a b", "array \"c\": plimsoll has built no array of that name here; see: ls "},
		"a replacement":          {nil, func(w *records.Work) { w.Replacing = &records.Replacement{Old: "S0", New: "S1"} }, "a b", "array a: its member S0 is being replaced by S1; finish that first: plimsoll array apply"},
		"a replacement, another": {[]string{"b"}, func(w *records.Work) { w.Replacing = &records.Replacement{Old: "S0", New: "S1"} }, "a", ""},
		"a member is gone":       {nil, func(w *records.Work) { w.Steps[1].Undo = []records.Action{{Zero: []string{"@S9"}}} }, "a", "array a: the rest is taken down; attach these and tear down again: volume S9 is not attached"},
		"a step fails":           {nil, func(w *records.Work) { w.Steps[0].Undo = []records.Action{{Run: []string{"umount"}}} }, "a b", "array a, undoing step 1 of 2, make /a0: "},
	} {
		s, _ := ofRoot(t)
		for i, array := range []string{"a", "b"} {
			w := &records.Work{Members: []records.Member{{Serial: "S8"}}, Want: records.Want{Using: "md"}} // nothing is read of what is not attached
			w.Array, w.Started = array, s.Now().Add(time.Duration(i)*time.Second)
			for _, dir := range []string{"/" + array + "0", "/" + array + "1"} {
				if err := os.Mkdir(s.at(dir), 0o755); err != nil {
					t.Fatal(err)
				}
				is := records.Cond{Is: "path", Of: dir}
				w.Add(records.Step{Title: "make " + dir, State: records.StepDone, Check: []records.Cond{is}, Undo: []records.Action{{If: &is, Run: []string{"rmdir", dir}}}})
			}
			if i == 0 {
				c.change(w)
			}
			if err := s.save(w); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Teardown(t.Context(), c.names, records.GiveUp{})
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		kept, _, _ := s.Made()
		var left []string
		for _, w := range kept {
			left = append(left, w.Array)
		}
		if strings.Join(left, " ") != c.left {
			t.Errorf("%s: left %q, want %q", name, left, c.left)
		}
	}
}

// The array's device goes by the name that it was given, where that name leads to a device.
func TestPathOfTheArray(t *testing.T) {
	for name, c := range map[string]struct {
		using  string
		target string // of the link of that name, or "file"
		want   string
	}{
		"a device":              {"md", "/dev/null", "/dev/md/t"},
		"no name":               {"md", "", "/dev/md0"},
		"a file":                {"md", "file", "/dev/md0"},
		"one volume, now other": {"", "/dev/null", "/dev/sda"}, // its name of plan time is another's today
	} {
		s := asMD(t, nil)
		s.w.Want.Using, s.w.Members[0].Path = c.using, "/dev/sdx"
		at := s.at(s.w.Top())
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch c.target {
		case "":
		case "file":
			err = os.WriteFile(at, nil, 0o600)
		default:
			err = os.Symlink(c.target, at)
		}
		if got, err2 := s.path("@array"); err != nil || err2 != nil || got != c.want {
			t.Errorf("%s: %s %v %v, want %s", name, got, err, err2, c.want)
		}
	}
	s := asMD(t, nil)
	s.tree.Devices["md1"] = &block.Device{Name: "md1", MD: &block.Raid{}}
	if mdBy(s.tree, "") != nil {
		t.Error("an array of no UUID is none")
	}
}

// A mount point is refused where others can replace it: now, or once the array above it has its
// owner.
func TestReachOfAMountPoint(t *testing.T) {
	fs := func(mount, owner string) *topology.DeclaredFilesystem {
		return &topology.DeclaredFilesystem{Mount: mount, Owner: owner}
	}
	for _, c := range []struct{ above, owner, want string }{
		{"/data", "postgres:postgres", "lies under /data of array d, which will then belong to postgres:postgres"},
		{"/data/", "26", "mount it outside of that"},
		{"/data", "root:postgres", ""},
		{"/data", ":postgres", ""},
		{"/data", "", ""},
		{"/dat", "postgres", ""},
	} {
		p := &planner{imagined: true, decl: &topology.Declaration{Arrays: []topology.DeclaredArray{
			{Name: "d", Filesystem: fs(c.above, c.owner)}, {Name: "w", Filesystem: fs("/data/wal", "postgres")}, {Name: "raw"},
		}}}
		err := p.reach("/data/wal")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %s: %v, want %q", c.above, c.owner, err, c.want)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to somebody else")
	}
	s, _ := ofRoot(t)
	s.Machine.Root = os.DirFS(s.Root)
	p := &planner{Site: s, decl: &topology.Declaration{}}
	at := s.at("/home/u")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.reach("/home/u/a/b"); err != nil {
		t.Error(err)
	}
	if err := os.Chown(at, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := p.reach("/home/u/a/b"); err == nil || !strings.Contains(err.Error(), at+" belongs to ") {
		t.Error(err)
	}
}

// Each condition of the table has an answer, and no other has.
func TestConditionsAreAnswered(t *testing.T) {
	s, _ := ofRoot(t)
	now, err := s.look(t.Context(), workOf(2, 10*units.GiB, records.Want{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range records.Kinds() {
		if _, err := now.holds(t.Context(), records.Cond{Is: kind, Of: "@S0", Want: "x"}, false); err != nil &&
			strings.Contains(err.Error(), "does not know") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := now.holds(t.Context(), records.Cond{Is: "nonsense", Of: "@S0"}, false); err == nil {
		t.Error("a condition that is in no table holds")
	}
}
