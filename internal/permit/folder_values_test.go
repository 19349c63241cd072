package permit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func says(err error, want string) bool {
	return want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want)
}

// A file may be written over through one's own links, as many as the kernel follows: 40.
func TestOwnLinksOnTheWay(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := mkdir(t, filepath.Join(base, "data"))
	file, other := filepath.Join(data, "f"), filepath.Join(data, "other")
	write(t, file, "x")
	write(t, other, "x")
	link(t, data, filepath.Join(base, "whole"))
	link(t, "data", filepath.Join(base, "relative"))
	link(t, "../relative", filepath.Join(data, "up"))
	link(t, "../whole/f", filepath.Join(data, "deep"))
	link(t, file, filepath.Join(base, "link1"))
	for n := 2; n <= 41; n++ {
		link(t, fmt.Sprintf("link%d", n-1), filepath.Join(base, fmt.Sprintf("link%d", n)))
	}
	for name, want := range map[string]string{
		"data/f": "", "whole/f": "", "relative/f": "", "data/up/f": "", "data/up/up/deep": "", "link1": "", "link40": "", "link41": "too many links",
	} {
		held, err := openPin(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := held.checkOverwrite(filepath.Join(base, name)); !says(err, want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if held.info, err = os.Stat(other); err != nil {
			t.Fatal(err)
		}
		if err := held.checkOverwrite(filepath.Join(base, name)); want == "" && !says(err, "was replaced while plimsoll looked at it") {
			t.Errorf("%s leads elsewhere now: %v", name, err)
		}
		if err := held.close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that a job names again is held once.
func TestPinsHoldOneEach(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	write(t, file, "x")
	one, err1 := openPin(file)
	two, err2 := openPin(file)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	all := pins{}
	all.add("f", one)
	all.add("f", two)
	if one.close() == nil || all["f"] != two {
		t.Error("the first is still open")
	}
	if all.close(); two.close() == nil {
		t.Error("the second is still open")
	}
}

// The names that fio gets: plimsoll's own by the handle of its folder, others below the view, and those
// without a directory as they are.
func TestNamesInAView(t *testing.T) {
	p := lockedPlace(t)
	folder := p.folder.Path()
	run := held(t, t.TempDir())
	open := &Place{Role: p.Role, Path: p.Path}
	for name, c := range map[string]struct {
		place     *Place
		value     string
		directory bool
		want      string
	}{
		"as it is":                   {p, "x", false, "x"},
		"several":                    {p, "/d/a:/d/b", false, "VIEW/root/d/a:VIEW/root/d/b"},
		"a colon":                    {p, `/d/a\:b`, false, `VIEW/root/d/a\:b`},
		"the role's file":            {p, p.File(), false, folder + "/data.dat"},
		"the fresh file":             {p, p.Fresh(), false, folder + "/data-fresh.dat"},
		"no folder":                  {open, p.File(), false, "VIEW/root" + p.File()},
		"no folder, fresh":           {open, p.Fresh(), false, "VIEW/root" + p.Fresh()},
		"of a job":                   {p, p.jobDir() + "/sub/x", false, "VIEW/sub/x"},
		"the jobs' directory":        {p, p.jobDir(), true, "VIEW"},
		"jobs' files":                {p, p.JobFiles(), true, folder + "/data-files"},
		"jobs' files, fresh":         {p, p.Folder() + "/data-fresh-files", true, folder + "/data-fresh-files"},
		"jobs' files without folder": {open, p.JobFiles(), true, "VIEW/root" + p.JobFiles()},
		"another directory":          {p, "/no/such", true, "VIEW/root/no/such"},
	} {
		v := &view{place: c.place, parent: run, name: "v"}
		translate := v.file
		if c.directory {
			translate = v.directory
		}
		got, err := v.each(c.value, translate)
		if want := strings.ReplaceAll(c.want, "VIEW", v.path()); got != want || err != nil {
			t.Errorf("%s: %s %v, want %s", name, got, err, want)
		}
	}
}

// A grant's links go with it, and the whole view where it lies in the run's directory.
func TestGrantFollowsNoLinkOfAKilledRun(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	file, other := filepath.Join(p.Path, "f"), filepath.Join(t.TempDir(), "other")
	write(t, other, "precious")
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	s := job(t, "[x]\nrw=write\nsize=4k\nfilename="+file+"\n")
	if err := p.Check(s); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(p.jobDir(), absolute, file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(stale), 0o700), os.Symlink(other, stale)); err != nil {
		t.Fatal(err)
	}
	g, err := p.Grant(s, p.FileFor(s), held(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	name, _ := g.Job.Effective(0).Get("filename")
	if err := os.WriteFile(name, []byte("written by fio"), 0o600); err != nil {
		t.Error(err)
	}
	if kept, err := os.ReadFile(other); err != nil || string(kept) != "precious" {
		t.Errorf("%s holds %q, %v", other, kept, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestGrantLeavesNothing(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	file := filepath.Join(p.Path, "f")
	write(t, file, "x")
	run := held(t, t.TempDir())
	s := job(t, "[x]\nrw=read\nfilename="+file+"\n")
	view := func(g *Grant) string {
		t.Helper()
		name, _ := g.Job.Effective(0).Get("filename")
		if text, err := os.ReadFile(name); err != nil || string(text) != "x" {
			t.Errorf("%s: %q %v", name, text, err)
		}
		if got := g.Plain(name + ": no space"); got != file+": no space" {
			t.Error(got)
		}
		return name
	}
	g, err := p.Grant(s, p.FileFor(s), run)
	if err != nil {
		t.Fatal(err)
	}
	view(g)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if left, err := run.Entries(); err != nil || len(left) != 0 {
		t.Errorf("left %v %v", left, err)
	}
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if g, err = p.Grant(s, p.FileFor(s), run); err != nil {
		t.Fatal(err)
	}
	name := view(g)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link is still there: %v", err)
	}
	if left, err := p.folder.Entries(); err != nil || len(left) != 1 || left[0].Name() != "lock" {
		t.Errorf("an empty view is left: %v, %v", left, err)
	}
	// What was noted as to be made may be made; what was there before and is gone may not.
	if err := p.Check(s); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if g, err := p.Grant(s, p.FileFor(s), run); !says(err, file+" was there when the run began and is now gone") {
		t.Errorf("%v %v", g, err)
	}
	if err := p.Check(job(t, "[x]\nrw=write\nsize=4k\nfilename="+file+"\n")); err != nil {
		t.Fatal(err)
	}
	if g, err = p.Grant(job(t, "[x]\nrw=write\nsize=4k\nfilename="+file+"\n"), p.FileFor(s), run); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Each file that is there is linked into the view, also where one section names several.
func TestGrantHoldsAllFiles(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	run := held(t, t.TempDir())
	for _, name := range []string{"a.0.0", "a.0.1", "a.0.2"} {
		write(t, filepath.Join(p.Path, name), name)
	}
	s := job(t, "[a]\nrw=read\nnrfiles=3\nsize=3\ndirectory="+p.Path+"\n")
	g, err := p.Grant(s, p.FileFor(s), run)
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := g.Job.Effective(0).Get("directory")
	for _, name := range []string{"a.0.0", "a.0.1", "a.0.2"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != name {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A reading job keeps a file that is there from being rewritten; the others keep what they say.
func TestShownKeepsWhatIsOnlyRead(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	write(t, p.Path+"/f", "x")
	s := job(t, "[read]\nrw=read\nfilename="+p.Path+"/f\n[write]\nrw=write\nfilename="+p.Path+"/f\n[absent]\nrw=read\nfilename="+p.Path+"/g\n")
	shown := p.Shown(s, p.FileFor(s))
	for i, want := range []string{"1", "", ""} {
		if got, _ := shown.Effective(i).Get("create_on_open"); got != want {
			t.Errorf("job %d: create_on_open=%s, want %q", i, got, want)
		}
	}
}

// A directory is followed as the kernel does: its links first, then its dots; a relative one from here.
func TestWhereADirectoryLeads(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	far := mkdir(t, filepath.Join(mkdir(t, filepath.Join(base, "a")), "far"))
	link(t, far, filepath.Join(base, "link"))
	t.Chdir(base)
	for dir, want := range map[string]string{
		base + "/link": far + "/x", base + "/link/..": base + "/a/x", "link": far + "/x", "link/..": base + "/a/x",
		base + "/none": base + "/none/x", "none": base + "/none/x", ".": base + "/x",
	} {
		if got, err := joined(dir, "x"); got != want || err != nil {
			t.Errorf("%s: %s %v, want %s", dir, got, err, want)
		}
	}
	// A file engine changes what it opens, whatever rw= says.
	for engine, want := range map[string]bool{"filecreate": true, "filestat": true, "libaio": false, "sync": false} {
		list, err := accessesOf(effective(t, "rw=read\nioengine="+engine+"\nfilename=/d/f"))
		if err != nil || len(list) != 1 || list[0].writes != want || list[0].engine != engine {
			t.Errorf("%s: %+v %v", engine, list, err)
		}
	}
}

// What fio would read as something other than a name, and files of other filesystems and in memory.
func TestPathsThatAreRefused(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	for path, want := range map[string]string{
		"/d/a;b": `would read ";"`, "/d/a#b": `would read "#"`, "/d/${X}": `would read "${"`, "/d/$pagesize": "would read", "/d/$mb_memory": "would read",
		"/d/$ncpus": "would read", "/d/../f": "without the dots", "/proc/version": "is not on the storage of " + p.Path, "/d/none/f": "make the directory first",
		p.Path + "/$x": "", p.Path + "/a..b": "",
	} {
		held, err := p.checkAccess(access{path: path, engine: "libaio"}, true)
		if !says(err, want) || held != nil {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	memory := fmt.Sprintf("/dev/shm/plimsoll-test-%d", os.Getpid())
	if err := os.Mkdir(memory, 0o700); err != nil {
		t.Skipf("SKIPPED: no shared memory here: %v: this exam did not run", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(memory) })
	err := placeOn(t, memory, Consent{}).Check(job(t, "[x]\nrw=write\nsize=4k\nfilename="+memory+"/f\n"))
	if !says(err, "a file of that name in memory is not what you want to measure") {
		t.Error(err)
	}
}

// Jobs' own files are known by the directory's name with links and without.
func TestOwnFilesThroughALink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := mkdir(t, filepath.Join(base, "data"))
	link(t, data, filepath.Join(base, "link"))
	p := placeOn(t, base+"/link", Consent{})
	for path, want := range map[string]string{
		base + "/link/.plimsoll/data-files/job.0": "data-files", base + "/data/.plimsoll/data-fresh-files/job.0": "data-fresh-files",
		base + "/data/.plimsoll/data-job/x": "", base + "/data/.plimsoll/data-files": "", base + "/other/.plimsoll/data-files/x": "",
	} {
		if got, ok := p.jobFilesOf(path); got != want || ok != (want != "") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A device's lock is tried every tenth of a second, for ten seconds where nothing else is asked.
func TestPatienceOfADevicesLock(t *testing.T) {
	dir := t.TempDir() // a directory is locked as a device is
	release, err := sys.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	for patience, c := range map[time.Duration]struct {
		waits int
		took  time.Duration
	}{
		0:                      {100, 10 * time.Second}, // at 0 s, 0.1 s ... 10 s: 101 tries
		250 * time.Millisecond: {2, 200 * time.Millisecond},
		200 * time.Millisecond: {2, 200 * time.Millisecond},
		199 * time.Millisecond: {1, 100 * time.Millisecond},
		time.Millisecond:       {0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			waits, from := 0, time.Now()
			p := &Place{Path: dir, Device: &block.Device{}, Patience: patience, Waits: func(err error) {
				if waits++; !errors.Is(err, sys.ErrLocked) {
					t.Errorf("waits for %v", err)
				}
			}}
			_, err := p.lockDevice(t.Context())
			if !errors.Is(err, sys.ErrLocked) || waits != c.waits || time.Since(from) != c.took {
				t.Errorf("%v: %v after %d waits and %v", patience, err, waits, time.Since(from))
			}
			p.Waits = nil
			ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer stop()
			if _, err := p.lockDevice(ctx); patience > 100*time.Millisecond && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v: %v", patience, err)
			}
		})
	}
	release()
	p := &Place{Path: dir, Device: &block.Device{}}
	if release, err = p.lockDevice(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	p.Path += "/none"
	if _, err := p.Lock(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is gone is not waited for: %v", err)
	}
}

// Where nothing can be made, a place that is only read is locked itself; one that is written is refused.
func TestLockWhereNothingCanBeMade(t *testing.T) {
	const sysfs = "/sys/kernel" // in which nobody, not even root, makes a directory
	if err := os.Mkdir(sysfs+"/plimsoll-test", 0o700); !errors.Is(err, fs.ErrPermission) {
		t.Skipf("SKIPPED: %v: this exam did not run", err)
	}
	p := placeOn(t, sysfs, Consent{})
	if _, err := p.Lock(t.Context()); !says(err, sysfs+" is not writable: run as its owner") {
		t.Error(err)
	}
	p.Files = Files{}
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.folder != nil {
		t.Error("a folder that is not there")
	}
	release()
}

// What counts as written whole: the marker's own file, as it was made, of something.
func TestMarkersThatCount(t *testing.T) {
	for name, c := range map[string]struct {
		mark  string
		files Files
		want  bool
	}{
		"as wanted":               {`{"size":1024}`, Files{Size: 1024}, true},
		"larger":                  {`{"size":1025}`, Files{Size: 1024}, false}, // and the file is not so large
		"nothing is wanted":       {`{"size":1024}`, Files{}, false},
		"no marker's text":        {`{"size":1024,"jobs":"x"}`, Files{Size: 1024}, false},
		"too long":                {`{"size":1024}` + strings.Repeat(" ", 4096-12), Files{Size: 1024}, false},
		"as long as may be":       {`{"size":1024}` + strings.Repeat(" ", 4096-13), Files{Size: 1024}, true},
		"jobs that are not there": {`{"size":1024,"jobs":1,"job_size":1}`, Files{Size: 1024}, false},
	} {
		p := lockedPlace(t)
		p.Files = c.files
		write(t, p.File(), strings.Repeat("x", 1024))
		marker := p.File() + ".prefilled"
		write(t, marker, c.mark)
		if p.Prefilled() != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
		if err := os.Link(marker, marker+"2"); err != nil {
			t.Fatal(err)
		}
		if p.Prefilled() {
			t.Errorf("%s: a marker with two names counts", name)
		}
	}
}

// A mark counts when it is a file of the caller's or root's.
func TestMarksOfOthers(t *testing.T) {
	p := lockedPlace(t)
	mark := Mark("id", infoOf(t, p.Path))
	if err := p.folder.Mkdir(mark, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckMark(mark); !says(err, "has no mark of that run") {
		t.Errorf("a directory: %v", err)
	}
	if err := p.PutMark(mark); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckMark(mark); err != nil {
		t.Error(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(p.Folder(), mark), nobody, nobody); err != nil {
			t.Fatal(err)
		}
		if err := p.CheckMark(mark); !says(err, "has no mark of that run") {
			t.Errorf("another user's: %v", err)
		}
	}
	p.Files = Files{} // nothing is written: no mark is left
	if err := errors.Join(p.DropMark(mark), p.PutMark(mark)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.folder.Lstat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a mark in a place that is only read")
	}
}

// Folders are looked for 200 directories down, and no deeper.
func TestCleanGoesSoDeep(t *testing.T) {
	top := t.TempDir()
	deep := top + strings.Repeat("/d", 200)
	if err := os.MkdirAll(deep+"/.plimsoll", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, deep+"/.plimsoll/data.dat", "12345")
	var found []Leftover
	note := func(l Leftover) { found = append(found, l) }
	if err := Clean(top, true, note); err != nil || len(found) != 1 || found[0].Size != 5 {
		t.Errorf("%v %+v", err, found)
	}
	if _, err := os.Stat(deep + "/.plimsoll/lock"); err == nil {
		t.Error("looking made a lock")
	}
	mkdir(t, deep+"/e")
	if err := Clean(top, true, note); !says(err, "is more than 200 directories deep: clean it by its own name") {
		t.Error(err)
	}
}

// What is not plimsoll's as its lock is refused, a folder in use is left alone, also when it is only looked at.
func TestCleanAndLocks(t *testing.T) {
	p := lockedPlace(t)
	write(t, p.File(), "x")
	for _, dry := range []bool{true, false} {
		var found []Leftover
		err := Clean(p.Path, dry, func(l Leftover) { found = append(found, l) })
		if err != nil || len(found) != 1 || !found[0].InUse || len(found[0].Files) != 0 {
			t.Errorf("dry %v: %v %+v", dry, err, found)
		}
	}
	other := t.TempDir()
	mkdir(t, other+"/.plimsoll")
	link(t, "data.dat", other+"/.plimsoll/lock")
	write(t, other+"/.plimsoll/data.dat", "x")
	for _, dry := range []bool{true, false} {
		err := Clean(other, dry, func(l Leftover) { t.Errorf("%+v", l) })
		if !says(err, "plimsoll did not make it; nothing was removed") {
			t.Errorf("dry %v: %v", dry, err)
		}
	}
	if _, err := os.Stat(other + "/.plimsoll/data.dat"); err != nil {
		t.Error(err)
	}
}

// Refused options stay refused at 0, but those that 0 turns off.
func TestOptionsAtZero(t *testing.T) {
	off := []string{"fill_device", "verify_dump", "cgroup_nodelete", "touch_objects", "busy_poll", "pi_act"}
	for name, r := range reaches() {
		if r.reach != reachRefused {
			continue
		}
		err := Consent{}.checkOptions("j.fio", section(fio.Option{Name: name, Value: " 0 "}))
		if (err == nil) != slices.Contains(off, name) {
			t.Errorf("%s=0: %v", name, err)
		}
	}
	// What is left of a name: letters, digits, - _ and dot, with what lies beside each range in ASCII.
	if got := PlainName("az`{AZ@[09/:-_."); got != "az--AZ--09---_." {
		t.Error(got)
	}
}

// A file is never made twice in the space: a scenario's jobs each need their own, a device none.
func TestSpaceByHand(t *testing.T) {
	s := job(t, "[x]\nrw=write\nbs=512\nnumjobs=3\n")
	s.AsIs, s.Size = false, 1000
	for files, want := range map[suite.FileUse]units.Bytes{"": 1000, suite.FilePerJob: 3000, suite.RegionPerJob: 3000} {
		s.Files = files
		p := placeOn(t, t.TempDir(), Consent{})
		p.Files = FilesOf(s)
		if got := p.needed(false); got != want {
			t.Errorf("%q: %d, want %d", files, got, want)
		}
		if files == suite.FilePerJob { // whose directory is the caller's alone
			release, err := p.Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Prefills(); err != nil || infoOf(t, p.JobFiles()).Mode().Perm() != 0o700 {
				t.Errorf("%v", err)
			}
			if err := p.Empty(); err != nil {
				t.Error(err)
			}
			release()
		}
		if got := p.needed(true); got != 2*want {
			t.Errorf("%q, fresh: %d, want %d", files, got, 2*want)
		}
	}
}

// What a place that is not held, or not known, allows: no mark, no device, no look at its filesystem.
func TestPlacesThatAreNotHeld(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	if err := p.PutMark(Mark("id", infoOf(t, p.Path))); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(p.Path); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
	file := filepath.Join(p.Path, "f")
	write(t, file, "x")
	if !p.sameFilesystem(infoOf(t, file)) || p.sameFilesystem(infoOf(t, "/proc/version")) || (&Place{}).sameFilesystem(infoOf(t, file)) {
		t.Error("one filesystem")
	}
	if err := p.dir.Close(); err != nil {
		t.Fatal(err)
	}
	if p.sameFilesystem(infoOf(t, file)) {
		t.Error("a directory that was let go is on none")
	}
	node := filepath.Join(t.TempDir(), "node")
	if err := unix.Mknod(node, unix.S_IFBLK|0o600, int(unix.Mkdev(7, 250))); err != nil {
		t.Skipf("SKIPPED: %v: device nodes need root: this exam did not run", err)
	}
	top := &topology.Topology{Tree: &block.Tree{Devices: map[string]*block.Device{}}}
	if _, err := Open(top, topology.Target{Role: topology.Data, Path: node}, nil, Consent{}); !says(err, "/sys/block does not list this device") {
		t.Error(err)
	}
}

// Whatever is made in the folder is the caller's alone: directories 0700, files 0600.
func TestModesOfWhatIsMade(t *testing.T) {
	p := lockedPlace(t)
	many := job(t, "[x]\nrw=write\nbs=512\nnumjobs=2\n")
	many.AsIs, many.Files, many.Size = false, suite.FilePerJob, 4096
	p.Jobs, p.JobSize = 1, 512 // of which one needs its directory as well
	makes := job(t, "[x]\nrw=write\nsize=4k\nfilename="+p.Path+"/new\n")
	err := errors.Join(p.Check(makes), p.Keep(), p.PutMark(Mark("id", infoOf(t, p.Path))), p.RecordServer(Server{Run: "/x"}))
	_, err1 := p.MakeFresh(suite.Scenario{Size: 4096})
	_, err2 := p.MakeFresh(many)
	_, err3 := p.Prefills()
	_, err4 := p.MakeProbe(units.MiB)
	_, err5 := p.MakeDatabase("pg-data", uint32(os.Geteuid()), uint32(os.Getegid()))
	g, err6 := p.Grant(makes, p.File(), held(t, t.TempDir()))
	if err := errors.Join(err, err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	made := 0
	err = filepath.WalkDir(p.Folder(), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "lock" { // which whoever may read the folder may wait for
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if mode := infoOf(t, name).Mode().Perm(); mode != want {
			t.Errorf("%s is %04o, want %04o", name, mode, want)
		}
		made++
		return nil
	})
	// The folder, a marker, a mark, a record, a fresh file, two of jobs in a directory, one for written ones, a probe, a
	// database's directory, and the view with its directories.
	if err != nil || made < 12 || !infoOf(t, p.JobFiles()).IsDir() {
		t.Errorf("%d were made, %v", made, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
