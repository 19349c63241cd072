package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// lockedPlace is a place whose folder is open, as while a run has it.
func lockedPlace(t *testing.T) *Place {
	t.Helper()
	p := placeOn(t, t.TempDir(), Consent{})
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return p
}

// A server is known by its process, its start, its program and its directory, all four.
func TestServerThatLives(t *testing.T) {
	p := lockedPlace(t)
	data := filepath.Join(p.Folder(), "pg-data")
	cmd := exec.Command("bash", "-c", endsOnQuit, "server", "-D", data)
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Before it says so, its command line may be empty and the signal unknown to it.
	if _, err := said.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	pid := cmd.Process.Pid
	start, ok := sys.StartOf(pid)
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	whole := Server{PID: pid, Start: start, Exe: exe, Data: data}
	for name, change := range map[string]func(*Server){
		"as recorded":     func(*Server) {},
		"another start":   func(s *Server) { s.Start++ },
		"another program": func(s *Server) { s.Exe += "2" },
		"another data":    func(s *Server) { s.Data += "2" },
		"no process":      func(s *Server) { s.PID = 0 },
	} {
		s := whole
		change(&s)
		if got := s.lives(); got != (name == "as recorded") {
			t.Errorf("%s: %v", name, got)
		}
	}
	copied := lockedPlace(t)
	if err := errors.Join(p.RecordServer(whole), copied.RecordServer(whole)); err != nil {
		t.Fatal(err)
	}
	if got, err := endServer(copied.folder, false); got != 0 || err != nil || !whole.lives() {
		t.Fatalf("by a copy of its folder: %d %v", got, err)
	}
	if got, err := endServer(p.folder, true); got != pid || err != nil || !whole.lives() {
		t.Fatalf("dry: %d %v", got, err)
	}
	if got, err := endServer(p.folder, false); got != pid || err != nil {
		t.Fatalf("%d %v", got, err)
	}
	if err := <-ended; err != nil {
		t.Logf("the server was waited for by another part: %v", err)
	}
	if got, err := endServer(p.folder, false); got != 0 || err != nil {
		t.Errorf("again: %d %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(p.Folder(), serverRecord), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := endServer(p.folder, false); err == nil || !strings.Contains(err.Error(), "is not yours") {
		t.Error(err)
	}
	if err := p.RemoveDatabase(); err != nil {
		t.Error(err)
	}
	if got, err := endServer(p.folder, false); got != 0 || err != nil {
		t.Errorf("no record: %d %v", got, err)
	}
}

// tempOf is a directory for a server's socket, made as by this process.
func tempOf(t *testing.T, base string) string {
	t.Helper()
	name, err := sys.TempDirIn(base, runUse)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// What a server left outside of the folder is removed by its name, its kind and its owner.
func TestSweepByNames(t *testing.T) {
	dir := t.TempDir()
	run, other := tempOf(t, dir), mkdir(t, filepath.Join(dir, RunPrefix+"notes"))
	file := filepath.Join(dir, RunPrefix+"file")
	write(t, file, "")
	for _, s := range []Server{{Run: other}, {Run: file}, {Run: run, UID: 12345}} {
		s.Sweep()
	}
	for _, name := range []string{run, other, file} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%v", err)
		}
	}
	Server{Run: run, UID: uint32(os.Geteuid())}.Sweep()
	if _, err := os.Stat(run); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server's directory is still there: %v", err)
	}
	if !removeSegment(-5, 0) {
		t.Error("a segment that is not there")
	}
}

// The process and the segment come from the server's own file where the record was written before.
func TestFoundByTheServersFile(t *testing.T) {
	p := lockedPlace(t)
	data, err := p.MakeDatabase("pg-data", uint32(os.Geteuid()), uint32(os.Getegid()))
	if err != nil || data != filepath.Join(p.Folder(), "pg-data") {
		t.Fatal(data, err)
	}
	for text, want := range map[string][]int{
		"1\n2\n3\n4\n5\n6\n 77  42\n": {42}, "1\n2\n3\n4\n5\n6\n42\n": nil, "1\n2\n3\n4\n5\n 77  42\n": nil, "x": nil,
	} {
		write(t, filepath.Join(data, "postmaster.pid"), text)
		var s Server
		s.found(p.folder)
		if !slices.Equal(s.SysV, want) || s.PID != 0 {
			t.Errorf("%q: %+v", text, s)
		}
		s.found(p.folder)
		if !slices.Equal(s.SysV, want) {
			t.Errorf("twice: %+v", s)
		}
	}
	if _, err := p.MakeDatabase("elsewhere", 0, 0); err == nil {
		t.Error("a name of no database")
	}
	if _, err := placeOn(t, t.TempDir(), Consent{}).MakeDatabase("pg-data", 0, 0); err == nil {
		t.Error("a folder that is not open")
	}
	write(t, filepath.Join(data, "old"), "x")
	if _, err := p.MakeDatabase("pg-data", uint32(os.Geteuid()), uint32(os.Getegid())); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(data); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	info, err := os.Stat(data)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if os.Geteuid() == 0 {
		if _, err := p.MakeDatabase("pg-wal", 65534, 65534); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(p.Folder())
		if err != nil || info.Mode().Perm() != 0o711 {
			t.Errorf("the folder is %v, %v", info.Mode(), err)
		}
	}
	name, err := p.MakeProbe(3 * units.MiB)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := os.ReadFile(name)
	if err != nil || len(probe) != 3<<20 || probe[1] != 7 || probe[255] != 255*7%256 || probe[1<<20+1] != 7 {
		t.Errorf("%d bytes %v", len(probe), err)
	}
	p.Files, p.ReadOnly = Files{}, true
	if p.writes() {
		t.Error("nothing is to be written")
	}
	if p.WantDatabase(); !p.writes() || p.ReadOnly {
		t.Error("a database is written")
	}
	if free, _, err := p.Space(); err != nil || free == 0 {
		t.Error(free, err)
	}
}

// What a crashed run left is removed, unless it was written whole; a database's files go always.
func TestClearedPlaces(t *testing.T) {
	var said []string
	note := func(s string) { said = append(said, s) }
	p := lockedPlace(t)
	if err := p.Clear(note); err != nil || said != nil {
		t.Fatalf("%v %q", err, said)
	}
	own := p.Folder() + "/"
	write(t, own+"data.dat", strings.Repeat("x", 1024))
	write(t, own+probeName, "x")
	write(t, own+"mine", "x")
	if err := p.Keep(); err != nil {
		t.Fatal(err)
	}
	if err := p.Clear(note); err != nil || len(said) != 1 || !strings.HasPrefix(said[0], "removed what an earlier run left in ") {
		t.Errorf("%v %q", err, said)
	}
	names := func() string {
		entries, _ := os.ReadDir(p.Folder())
		var all []string
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return strings.Join(all, " ")
	}
	if got := names(); got != "data.dat data.dat.prefilled lock mine" {
		t.Error(got)
	}
	p.Size = 2 * units.KiB // larger than what is there
	if err := p.Clear(note); err != nil || names() != "lock mine" {
		t.Errorf("%v %s", err, names())
	}
	s := suite.Scenario{Size: 8192}
	if at, err := p.MakeFresh(s); err != nil || at != p.Fresh() {
		t.Fatal(at, err)
	}
	if info, err := os.Stat(p.Fresh()); err != nil || info.Size() != 8192 {
		t.Error(err)
	}
	many := job(t, "[x]\nrw=write\nbs=512\nnumjobs=3\n")
	many.AsIs, many.Files, many.Size = false, suite.FilePerJob, 4096
	at, err := p.MakeFresh(many)
	files, _ := os.ReadDir(at)
	if err != nil || len(files) != 3 || at != own+"data-fresh-files" {
		t.Errorf("%s: %d %v", at, len(files), err)
	}
	if err := p.Empty(); err != nil || names() != "lock mine" {
		t.Errorf("%v %s", err, names())
	}
	none := placeOn(t, t.TempDir(), Consent{})
	if none.leftovers() != nil || none.Keep() != nil || none.RemoveDatabase() != nil || none.DropMark("x") != nil {
		t.Error("a folder that is not open")
	}
	second := placeOn(t, p.Path, Consent{})
	if second.Share(p); second.folder != p.folder {
		t.Error("shared")
	}
}

// How large a place's files must be, by its own role's scenarios, and whether any writes.
func TestNeedsOfAPlace(t *testing.T) {
	scenario := func(role topology.Role, rw string, size units.Bytes) suite.Scenario {
		s := job(t, "[x]\nrw="+rw+"\nbs=512\n")
		s.AsIs, s.Role, s.Size = false, role, size
		return s
	}
	dir := t.TempDir()
	top := &topology.Topology{Tree: &block.Tree{}}
	for name, c := range map[string]struct {
		scenarios []suite.Scenario
		size      units.Bytes
		readOnly  bool
	}{
		"reads":            {[]suite.Scenario{scenario(topology.Data, "randread", 4096), scenario(topology.Data, "read", 8192)}, 8192, true},
		"one writes":       {[]suite.Scenario{scenario(topology.Data, "write", 4096), scenario(topology.Data, "read", 8192)}, 8192, false},
		"another's writes": {[]suite.Scenario{scenario(topology.WAL, "write", 99999), scenario(topology.Data, "read", 8192)}, 8192, true},
		"as it is":         {[]suite.Scenario{{AsIs: true, Role: topology.Data, Size: 7}}, 0, true},
	} {
		p, err := Open(top, topology.Target{Role: topology.Data, Path: dir, Mount: &block.Mount{FS: "xfs"}}, c.scenarios, Consent{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Size != c.size || p.ReadOnly != c.readOnly || p.FSType != "xfs" || p.CheckWritable() != nil {
			t.Errorf("%s: %+v", name, p)
		}
		other := &Place{Path: t.TempDir()}
		if !p.Same(p) || p.Same(other) || !p.Same(&Place{Path: dir}) {
			t.Errorf("%s: the same place", name)
		}
		p.Close()
	}
	if _, err := Open(top, topology.Target{Path: dir + "/no"}, nil, Consent{}); err == nil {
		t.Error("a path that is not there")
	}
	if p := Sketch(&topology.Topology{Targets: []topology.Target{{Role: topology.WAL, Path: "/w"}}}, topology.WAL); p.Path != "/w" || Sketch(top, topology.WAL).Path != "" {
		t.Error("sketches")
	}
	read, err := suite.Select([]string{"rand-read-latency"}, suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	s, at, err := Sketched(&block.Tree{}, dir, read.Scenarios[0])
	if err != nil || at != dir+"/.plimsoll/data.dat" || s.Role != topology.Data {
		t.Error(at)
	}
	for err, want := range map[error]string{unix.EROFS: "read-only filesystem", fs.ErrPermission: "is not writable", unix.ENOSPC: "is full", unix.EDQUOT: "the quota there is used up", unix.EIO: "input/output error"} {
		if got := WriteError("/p", fmt.Errorf("x: %w", err)); !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// A block device by whichever node: it must be the one that is measured, and its writes are asked for.
func TestRawDevices(t *testing.T) {
	dir := t.TempDir()
	node, second, other := filepath.Join(dir, "node"), filepath.Join(dir, "second"), filepath.Join(dir, "other")
	for name, minor := range map[string]uint32{node: 200, second: 200, other: 201} {
		if err := unix.Mknod(name, unix.S_IFBLK|0o600, int(unix.Mkdev(7, minor))); err != nil {
			t.Skipf("SKIPPED: %v: device nodes need root: this exam did not run", err)
		}
	}
	device := &block.Device{Name: "loop200", Major: 7, Minor: 200, Serial: "S"}
	tree := &block.Tree{Devices: map[string]*block.Device{"loop200": device, "x": {Name: "x", Major: 8, Minor: 200}, "y": {Name: "y", Major: 7, Minor: 5}}}
	for name, c := range map[string]struct {
		path    string
		device  *block.Device
		writes  bool
		destroy string
		want    string
	}{
		"reads":               {node, device, false, "", ""},
		"reads, another node": {second, device, false, "", ""},
		"writes":              {node, device, true, "", "add --destroy"},
		"not in the tree":     {other, device, false, "", "/sys/block does not list this device (7:201)"},
		"not the one":         {node, nil, false, "", "is not on the storage of"},
		"another is measured": {node, &block.Device{Name: "y"}, false, "", "is not on the storage of"},
		"by another node":     {node, device, true, second, "no such device"}, // found by its number; there is no loop200
		"another is given up": {node, device, true, other, "add --destroy"},
	} {
		p := &Place{Path: "/dev/loop200", Device: c.device, tree: tree, consent: Consent{Destroy: map[string]string{c.destroy: "S"}}}
		there, err := openPin(c.path)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(p.checkRaw(access{path: c.path, writes: c.writes}, there), there.close())
		if c.want == "no such device" {
			if err != nil && strings.Contains(err.Error(), "add --destroy") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got, err := Device(dir); got != dir || err != nil {
		t.Error(got, err)
	}
	if got, err := Device("/dev/null"); got != "/dev/null" || err != nil {
		t.Error(got, err)
	}
	if !isDevice(node) || isDevice(dir) {
		t.Error("what a device is")
	}
	if byHand, _ := PrefillsByHand(node, func() suite.Scenario { s := job(t, "[x]\nrw=write\n"); s.AsIs, s.Size = false, 4096; return s }()); byHand != nil {
		t.Error("a device would be written over by hand")
	}
	reading := &Place{Path: node, Device: device, ReadOnly: true, tree: tree}
	if err := reading.checkDevice(); err != nil {
		t.Error(err)
	}
	writing := &Place{Path: node, Device: device, tree: tree}
	if err := writing.checkDevice(); err == nil {
		t.Error("it was not given up")
	}
}

// A file that was named for destruction may have become another by now, where the owner of a
// directory on the way to it is neither root, the caller nor the file's own.
func TestOverwritesOnTheWay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files of several users")
	}
	const attacker, victim = 64001, 64002
	for file, held := range map[int]bool{attacker: false, victim: true, 0: true} {
		data := mkdir(t, filepath.Join(t.TempDir(), "data"))
		name := filepath.Join(data, "image")
		write(t, name, "x")
		if err := errors.Join(os.Chown(data, attacker, attacker), os.Chown(name, file, file)); err != nil {
			t.Fatal(err)
		}
		err := placeOn(t, data,
			Consent{Destroy: map[string]string{name: ""}}).Check(job(t, "[x]\nrw=write\nfilename="+name+"\n"))
		if (err != nil) != held || held && !strings.Contains(err.Error(), "image cannot be written over: ") {
			t.Errorf("a file of user %d in a directory of user %d: %v", file, attacker, err)
		}
	}
}

// What a job may open that is not there, and what is behind a device.
func TestNewFiles(t *testing.T) {
	base := t.TempDir()
	data, away := mkdir(t, filepath.Join(base, "data")), mkdir(t, filepath.Join(base, "away"))
	write(t, filepath.Join(data, "image"), "x")
	for name, target := range map[string]string{"dangling": "/no/such", "out": away} {
		if err := os.Symlink(target, filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	for options, want := range map[string]string{
		"filename=DATA/dangling":               "is a link to /no/such, which does not exist",
		"filename=" + away + "/f":              "would be made outside of",
		"filename=DATA/out/f":                  "would be made outside of",
		"filename=/dev/shm/plimsoll-no-such":   "is not on the storage of",
		"filename=DATA/../data/f":              "name it without the dots",
		"filename=DATA/a\nioengine=filecreate": "cannot tell what ioengine=filecreate does to it",
		"filename=DATA/f":                      "",
	} {
		err := placeOn(t, data, Consent{}).Check(job(t, "[x]\nrw=write\nsize=4k\n"+strings.ReplaceAll(options, "DATA", data)+"\n"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", options, err, want)
		}
	}
	p := placeOn(t, data, Consent{Destroy: map[string]string{filepath.Join(data, "image"): ""}})
	p.tree = &block.Tree{Devices: map[string]*block.Device{"loop9": {Name: "loop9", Kind: block.Loop, Path: "/dev/loop9", Backing: filepath.Join(data, "image")}, "a": {Name: "a"}}}
	if err := p.Check(job(t, "[x]\nrw=write\nfilename="+data+"/image\n")); err == nil || !strings.Contains(err.Error(), "is behind /dev/loop9") {
		t.Error(err)
	}
	p.tree = &block.Tree{SwapFiles: []string{filepath.Join(data, "image")}}
	if err := p.Check(job(t, "[x]\nrw=write\nfilename="+data+"/image\n")); !says(err, "is in use as swap") {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(data, folderName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, filepath.Join(data, folderName, "data-job")); err != nil {
		t.Fatal(err)
	}
	if err := placeOn(t, data, Consent{}).Check(job(t, "[x]\nrw=write\nsize=4k\n")); err == nil || !strings.Contains(err.Error(), "is a symbolic link to") {
		t.Error(err)
	}
}

// What cannot be looked at is not gone: its removal is tried, and its failure said.
func TestUnseenIsNotGone(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := p.Empty(); err != nil {
		t.Errorf("nothing is there: %v", err)
	}
	if err := p.folder.Close(); err != nil { // from here on each look at it fails
		t.Fatal(err)
	}
	var said []string
	err = p.Clear(func(text string) { said = append(said, text) })
	if err == nil || strings.Contains(err.Error(), "not yours") || said != nil || p.Empty() == nil {
		t.Errorf("%v, said %q", err, said)
	}
}

// What a run had to leave is named with what removes it, and when: not before a failing device works again.
func TestLeftSaysWhatRemovesIt(t *testing.T) {
	p := &Place{Path: "/a b"}
	removes := func(when string) string {
		return "; to remove what the run left there" + when + ", run: plimsoll clean '/a b'"
	}
	of := func(number unix.Errno) error {
		return errors.Join(nil, &fs.PathError{Op: "unlinkat", Path: "data.dat", Err: number}, errors.New("and more"))
	}
	works := removes(", once the device works again")
	for want, err := range map[string]error{
		"input/output error" + works:                                           of(unix.EIO),
		"structure needs cleaning" + works:                                     of(unix.EUCLEAN),
		"no such device or address" + works:                                    of(unix.ENXIO),
		"no such device" + works:                                               of(unix.ENODEV),
		"read-only file system" + removes(", once it can be written to again"): of(unix.EROFS),
		"operation not permitted" + removes(""):                                of(unix.EPERM),
		"file already closed" + removes(""):                                    fs.ErrClosed,
	} {
		if got := p.Left(err); got != "/a b: "+want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

// Where the folder or the place cannot be looked at any more, nothing is taken for done: each fails, and nothing is
// trusted.
func TestFoldersThatFail(t *testing.T) {
	many := job(t, "[x]\nrw=write\nbs=512\nnumjobs=2\n")
	many.AsIs, many.Files, many.Size = false, suite.FilePerJob, 4096
	makes := func(p *Place) suite.Scenario { return job(t, "[x]\nrw=write\nsize=4k\nfilename="+p.Path+"/new\n") }
	for name, c := range map[string]struct {
		do   func(*Place) error
		want string
	}{
		"a database":         {func(p *Place) error { _, err := p.MakeDatabase("pg-data", 0, 0); return err }, ""},
		"a probe":            {func(p *Place) error { _, err := p.MakeProbe(units.MiB); return err }, ""},
		"a marker":           {func(p *Place) error { return p.Keep() }, ""},
		"a mark":             {func(p *Place) error { return p.PutMark("run-1") }, ""},
		"a mark dropped":     {func(p *Place) error { return p.DropMark("run-1") }, ""},
		"fresh":              {func(p *Place) error { _, err := p.MakeFresh(suite.Scenario{Size: 4096}); return err }, ""},
		"fresh of jobs":      {func(p *Place) error { _, err := p.MakeFresh(many); return err }, ""},
		"files of jobs":      {func(p *Place) error { p.Jobs, p.JobSize = 2, 512; _, err := p.Prefills(); return err }, ""},
		"all that is left":   {func(p *Place) error { return p.Empty() }, ""},
		"a database removed": {func(p *Place) error { return p.RemoveDatabase() }, ""},
		"what was prefilled": {func(p *Place) error { return p.CheckPrefilled() }, "does not hold the files of 1 KiB that prefilling should have written"},
		"a server":           {func(p *Place) error { _, err := endServer(p.folder, false); return err }, ""},
		"a grant":            {func(p *Place) error { _, err := p.Grant(makes(p), p.File(), held(t, t.TempDir())); return err }, ""},
		"a view's file": {func(p *Place) error {
			v := &view{place: p, parent: p.folder, name: "v"}
			_, err := v.each("/a:/b", v.file)
			return err
		}, ""},
		"a view's directory": {func(p *Place) error {
			v := &view{place: p, parent: p.folder, name: "v"}
			_, err := v.each("/no", v.directory)
			return err
		}, ""},
	} {
		p := placeOn(t, t.TempDir(), Consent{})
		release, err := p.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		write(t, p.File(), strings.Repeat("x", 1024))
		if err := p.Keep(); err != nil || !p.Prefilled() {
			t.Fatal(err)
		}
		if err := errors.Join(p.Check(makes(p)), p.folder.Close()); err != nil {
			t.Fatal(err)
		}
		if err := c.do(p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if p.Prefilled() || ownFile(p.folder, "data.dat") || ownMark(p.folder, "data.dat") || stands(p.dir, p.folder) {
			t.Errorf("%s: what cannot be looked at is trusted", name)
		}
		release()
	}
	for name, do := range map[string]func(*Place) error{
		"space":        func(p *Place) error { _, _, err := p.Space(); return err },
		"enough space": func(p *Place) error { return CheckSpace([]*Place{p}, false) },
		"a lock":       func(p *Place) error { _, err := p.Lock(t.Context()); return err },
		"a run's mark": func(p *Place) error { return p.CheckMark("run-1") },
		"its own folder": func(p *Place) error {
			f, err := openFolder(p.dir)
			return errors.Join(err, map[bool]error{true: errors.New("it was opened")}[f != nil])
		},
	} {
		p := placeOn(t, t.TempDir(), Consent{})
		if err := p.dir.Close(); err != nil {
			t.Fatal(err)
		}
		if err := do(p); err == nil || strings.Contains(err.Error(), "it was opened") {
			t.Errorf("%s: %v", name, err)
		}
		if p.Prefilled() || stands(p.dir, p.dir) {
			t.Errorf("%s: what cannot be looked at is trusted", name)
		}
	}
}

// A folder of the caller's own in a directory of another user, who may have moved it there, is plimsoll's where it has
// plimsoll's sign, which only its owner can give it; one of a third user's is not.
func TestFoldersThatWereMoved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files of several users")
	}
	const attacker, victim = 64001, 64002
	for owner, modes := range map[int]map[fs.FileMode]bool{
		0:        {0o700: false, 0o755: false, 0o777 | fs.ModeSticky: false, signed: true},
		victim:   {0o700: false, 0o777 | fs.ModeSticky: false, signed: false},
		attacker: {0o700: true, 0o755: true}, // of his own none is asked for
	} {
		for mode, sign := range modes {
			base := t.TempDir()
			kept := filepath.Join(mkdir(t, filepath.Join(base, folderName)), "data.dat")
			write(t, kept, "precious")
			err := errors.Join(os.Chown(base, attacker, attacker), os.Chmod(filepath.Dir(kept), mode),
				os.Chown(filepath.Dir(kept), owner, owner), os.Chown(kept, owner, owner))
			if err != nil {
				t.Fatal(err)
			}
			if err := checkFolder(held(t, base)); (err == nil) != (sign && owner == 0) {
				t.Errorf("a run with a folder of user %d, %v: %v", owner, mode, err)
			}
			err = Clean(base, false, func(Leftover) {})
			if _, gone := os.Stat(kept); (err == nil) != sign || sign != errors.Is(gone, fs.ErrNotExist) {
				t.Errorf("clean of a folder of user %d, %v: %v, %v", owner, mode, err, gone)
			}
		}
	}
	base := t.TempDir()
	if err := os.Chown(base, attacker, attacker); err != nil {
		t.Fatal(err)
	}
	for range 2 { // made, and found again
		release, err := placeOn(t, base, Consent{}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(base, folderName, "data.dat"), "kept")
		release()
	}
}

// In a directory of root's that others can write to they can rename what is not theirs, unless it has a sticky bit.
func TestFoldersThatOthersMoved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files of several users")
	}
	const victim, group = 64002, 64009
	for _, c := range []struct {
		parent, folder fs.FileMode
		owner          int
		cleaned        bool
	}{
		{0o777, 0o700, 0, false},
		{0o777, 0o700, victim, false},
		{0o775 | fs.ModeSetgid, 0o700, victim, false},
		{0o777 | fs.ModeSticky, 0o700, 0, true},
		{0o777 | fs.ModeSticky, 0o700, victim, true},
		{0o755, 0o700, victim, true},
		{0o777, signed, 0, true},
		{0o777, signed, victim, true},
		{0o777, signed | entered, 0, true}, // killed while a server of another user worked in it
	} {
		for _, name := range []string{folderName, ".02-x.tmp"} {
			base := t.TempDir()
			kept := filepath.Join(mkdir(t, filepath.Join(base, name)), "data.dat")
			write(t, kept, "precious")
			write(t, filepath.Join(base, "run.json"), "{}")
			err := errors.Join(os.Chown(kept, c.owner, c.owner), os.Chown(filepath.Dir(kept), c.owner, c.owner), os.Chmod(filepath.Dir(kept), c.folder),
				os.Chown(base, 0, group), os.Chmod(base, c.parent))
			if err != nil {
				t.Fatal(err)
			}
			want := c.cleaned && (name == folderName || c.folder&fs.ModeSticky == 0 || c.parent&0o022 == 0)
			err = Clean(base, false, func(Leftover) {})
			if _, gone := os.Stat(kept); (err == nil) != want || want != errors.Is(gone, fs.ErrNotExist) {
				t.Errorf("clean of %s, %v in %v of user %d: %v, %v", name, c.folder, c.parent, c.owner, err, gone)
			}
			if !want && !says(err, "others can write to") {
				t.Error(err)
			}
			if want || name != folderName || c.owner != 0 {
				continue
			}
			if err := checkFolder(held(t, base)); !says(err, "others can write to") {
				t.Errorf("a run in %v with a folder of %v: %v", c.parent, c.folder, err)
			}
		}
	}
}

// A block device by a node anywhere is known by the kernel's own name; one of which the kernel knows nothing is refused.
func TestNamesOfDevices(t *testing.T) {
	dir := t.TempDir()
	node := func(name string, major, minor uint32) string {
		at := filepath.Join(dir, name)
		if err := unix.Mknod(at, unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor))); err != nil {
			t.Skipf("SKIPPED: %v: device nodes need root: this exam did not run", err)
		}
		return at
	}
	if got, err := Device(node("none", 7, 0xfffff)); got != "" || !says(err, "none is block device 7:1048575, which the kernel does not know") {
		t.Errorf("%q %v", got, err)
	}
	all, err := os.ReadDir("/sys/class/block")
	if err != nil {
		t.Skipf("SKIPPED: %v: this exam did not run", err)
	}
	stays := regexp.MustCompile(`^(vd[a-z]|xvd[a-z]|nvme[0-9]+n[0-9]+)$`) // not what other tests make and take away
	tried := 0
	for _, e := range all {
		if !stays.MatchString(e.Name()) {
			continue
		}
		info, err := os.Stat("/dev/" + e.Name())
		text, err2 := os.ReadFile("/sys/class/block/" + e.Name() + "/dev")
		var major, minor uint32
		if _, err3 := fmt.Sscanf(string(text), "%d:%d", &major, &minor); errors.Join(err, err2, err3) != nil || !isBlock(info) || tried == 3 {
			continue
		}
		tried++
		at := node(e.Name(), major, minor)
		link := at + "-link"
		if err := os.Symlink("/dev/"+e.Name(), link); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{at, link, "/dev/" + e.Name()} {
			if got, err := Device(name); got != "/dev/"+e.Name() || err != nil {
				t.Errorf("%s: %q %v", name, got, err)
			}
			if got, err := storageOf(name); got != "/dev/"+e.Name() || err != nil {
				t.Errorf("%s is stored on %q %v", name, got, err)
			}
		}
		// As a file of the place it is another device, and in no tree nothing is known of it.
		p := placeOn(t, dir, Consent{})
		if held, err := p.checkAccess(access{path: at, engine: "libaio"}, true); held != nil || !says(err, "/sys/block does not list this device ("+strings.TrimSpace(string(text))+")") {
			t.Errorf("%s: %v", at, err)
		}
		p.tree = &block.Tree{Devices: map[string]*block.Device{"x": {Name: "x", Major: major, Minor: minor}}}
		if _, err := p.checkAccess(access{path: at, engine: "libaio"}, true); !says(err, "is not on the storage of "+dir) {
			t.Errorf("%s: %v", at, err)
		}
		read, err := suite.Select([]string{"rand-read-latency"}, suite.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if s, on, err := Sketched(p.tree, at, read.Scenarios[0]); err != nil || on != at || s.Size != read.Scenarios[0].Size {
			t.Errorf("%s: %+v", on, s)
		}
	}
	if tried == 0 {
		t.Log("no block device of this machine has a node below /dev")
	}
	file := filepath.Join(dir, "file")
	write(t, file, "x")
	for path, want := range map[string]string{
		file + "/x": "not a directory", filepath.Join(dir, "no", "x"): filepath.Join(dir, "no") + " does not exist: make the directory or name another",
	} {
		if got, err := storageOf(path); got != "" || !says(err, want) {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	for path, want := range map[string]string{file: dir, dir: dir, filepath.Join(dir, "new"): dir} {
		if got, err := storageOf(path); got != want || err != nil {
			t.Errorf("%s: %q %v, want %s", path, got, err, want)
		}
	}
	// Directories of two filesystems, or what is no directory, have none in common that is on one.
	sub := mkdir(t, filepath.Join(dir, "sub"))
	for _, c := range [][3]string{
		{dir, "/proc", ""},
		{"/proc", dir, ""},
		{dir, file, ""},
		{file, dir, ""},
		{dir, file + "1", ""},
		{file + "1", dir, ""},
		{dir, sub, dir},
		{sub, dir, dir},
		{file, file, file},
		{sub, mkdir(t, filepath.Join(dir, "sub2")), dir},
	} {
		if got, ok := common(c[0], c[1]); got != c[2] || ok != (c[2] != "") {
			t.Errorf("%s and %s: %q %v, want %q", c[0], c[1], got, ok, c[2])
		}
	}
	// What cannot be looked at is the same as nothing.
	for name, p := range map[string]*Place{"the first": {Path: file + "1"}, "the second": {Path: file}} {
		if p.Same(&Place{Path: file + "2"}) {
			t.Errorf("%s of two that are not there", name)
		}
	}
	// A device is written as it is, by its own name, and one that is gone is not looked at.
	p := &Place{Path: "/dev/x", Device: &block.Device{}, Files: Files{Size: 4096}}
	if list, err := p.Prefills(); err != nil || len(list) != 1 || list[0].Shown != "/dev/x" || list[0].given != "/dev/x" || p.CheckPrefilled() != nil {
		t.Errorf("%+v %v", list, err)
	}
	if p.Path = file + "1"; p.checkDevice() == nil {
		t.Error("a device that is gone")
	}
	if p.ReadOnly = true; p.checkDevice() != nil {
		t.Error("a device that is only read is not opened")
	}
}

// A server that a killed run left is ended before anything is measured, and that is said; a lock that is no file of
// plimsoll's is refused.
func TestClearEndsAServer(t *testing.T) {
	p := lockedPlace(t)
	s, ended := startedIn(t, p, endsOnQuit)
	if err := p.RecordServer(s); err != nil {
		t.Fatal(err)
	}
	var said []string
	if err := p.Clear(func(text string) { said = append(said, text) }); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Logf("Clear itself has waited for it: %v", err)
	}
	want := []string{"ended the database server of a run that was killed", "removed what an earlier run left in " + p.Folder()}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	other := placeOn(t, t.TempDir(), Consent{})
	if err := errors.Join(os.Mkdir(other.Folder(), 0o700), os.Symlink("/dev/null", filepath.Join(other.Folder(), "lock"))); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Lock(t.Context()); !says(err, "plimsoll did not make it; remove it, or name another path") || other.folder != nil {
		t.Errorf("%v", err)
	}
}
