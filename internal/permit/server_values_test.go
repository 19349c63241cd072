package permit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// nobody is a user who is not root: only what belongs to such a one is looked for by its user.
const nobody = 65534

// started runs a program until the test is over. Its first line says that it is ready.
func started(t *testing.T, cmd *exec.Cmd) (s Server, ended <-chan error) {
	t.Helper()
	said := ready(t, cmd)
	end := make(chan error, 1)
	go func() { _, _ = io.Copy(io.Discard, said); end <- cmd.Wait() }()
	start, ok := sys.StartOf(cmd.Process.Pid)
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	return Server{PID: cmd.Process.Pid, Start: start, Exe: exe, Data: "/no/data"}, end
}

// startedIn is started of a server whose directory is that of a place.
func startedIn(t *testing.T, p *Place, script string) (s Server, ended <-chan error) {
	t.Helper()
	data := filepath.Join(p.Folder(), "pg-data")
	s, ended = started(t, exec.Command("bash", "-c", script, "x", "-D", data))
	s.Data = data
	return s, ended
}

// ready starts a program, and returns its output when its first line has been read. The program is killed when the test
// is over.
func ready(t *testing.T, cmd *exec.Cmd) io.Reader {
	t.Helper()
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := said.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	return said
}

// waits is a script that says "ready" and then waits for signals. Of these bash ignores SIGQUIT by itself.
const (
	waits      = "echo ready; while :; do sleep 0.1; done"
	endsOnQuit = "trap 'exit 0' QUIT; " + waits
)

// copied is a program's file under another name, which others may run.
func copied(t *testing.T, program, name string) string {
	t.Helper()
	from, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := filepath.Join(dir, name)
	if err := errors.Join(os.WriteFile(at, text, 0o755), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return at
}

// A program whose file was removed, as by an upgrade of the package, is still the server; one that only
// calls itself by the directory, without -D before it, is not.
func TestServerByItsProgramAndDirectory(t *testing.T) {
	program := copied(t, "bash", "server")
	removed, _ := started(t, exec.Command(program, "-c", waits, "server", "-D", "/no/data"))
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if !removed.lives() {
		t.Error("its program was replaced")
	}
	named := exec.Command("bash", "-c", waits)
	named.Args[0] = "/no/data"
	if s, _ := started(t, named); s.lives() {
		t.Error("a program of that name has no directory")
	}
	if s, _ := started(t, exec.Command("bash", "-c", waits, "x", "-D", "other", "/no/data")); s.lives() {
		t.Error("the directory is what follows -D")
	}
}

// A server gets the time to end by itself: what it does at its end is done before it is killed.
func TestServerEndsByItself(t *testing.T) {
	p := lockedPlace(t)
	said := filepath.Join(t.TempDir(), "bye")
	s, ended := startedIn(t, p, "trap 'sleep 0.1; echo > "+said+"; exit 0' QUIT; "+waits)
	if err := p.RecordServer(s); err != nil {
		t.Fatal(err)
	}
	if pid, err := endServer(p.folder, false); pid != s.PID || err != nil {
		t.Fatal(pid, err)
	}
	if err := <-ended; err != nil {
		t.Logf("endServer itself has waited for it: %v", err)
	}
	if _, err := os.Stat(said); err != nil {
		t.Errorf("it was killed: %v", err)
	}
}

// A record without a process still leads to the directory of a socket, and looking removes nothing.
func TestServerThatNeverStarted(t *testing.T) {
	p := lockedPlace(t)
	run := tempOf(t, t.TempDir())
	record := Server{Run: run, Data: filepath.Join(p.Folder(), "pg-data")}
	if err := p.RecordServer(record); err != nil {
		t.Fatal(err)
	}
	if pid, err := endServer(p.folder, true); pid != 0 || err != nil {
		t.Fatal(pid, err)
	}
	if _, err := os.Stat(run); err != nil {
		t.Errorf("looking removed it: %v", err)
	}
	if pid, err := endServer(p.folder, false); pid != 0 || err != nil {
		t.Fatal(pid, err)
	}
	if _, err := os.Stat(run); os.Getuid() == 0 && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if err := p.RecordServer(record); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(p.Folder(), serverRecord), filepath.Join(p.Folder(), "second")); err != nil {
		t.Fatal(err)
	}
	if _, err := endServer(p.folder, false); err == nil || !strings.Contains(err.Error(), "is not yours") {
		t.Errorf("a record with two names counts: %v", err)
	}
}

// Programs beside a server end with it: those of its user that lead a group and name its own directory.
func TestToolsOfAServer(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root starts programs as another user: this exam did not run")
	}
	run := tempOf(t, t.TempDir())
	tool := func(uid uint32, group bool, env ...string) (*exec.Cmd, <-chan error) {
		cmd := exec.Command("bash", "-c", waits)
		cmd.Dir, cmd.Env = "/", append([]string{"PATH=" + os.Getenv("PATH")}, env...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: group, Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		_, ended := started(t, cmd)
		return cmd, ended
	}
	type one struct {
		cmd   *exec.Cmd
		ended <-chan error
	}
	left := map[string]one{}
	add := func(name string, uid uint32, group bool, env ...string) {
		cmd, ended := tool(uid, group, env...)
		left[name] = one{cmd, ended}
	}
	add("its own", nobody, true, "A=1", "PGHOST="+run)
	add("another server's", nobody, true, "PGHOST="+run+"4")
	add("another variable", nobody, true, "XPGHOST="+run)
	add("another user's", nobody-1, true, "PGHOST="+run)
	add("in another's group", nobody, false, "PGHOST="+run)
	add("root's", 0, true, "PGHOST="+run)                   // of a server of root's nothing is looked for
	for _, s := range []Server{{UID: nobody}, {Run: run}} { // without one of the two nothing is known
		s.endTools()
	}
	synctest.Test(t, func(*testing.T) { // whose clock stands still while anything is done
		from := time.Now()
		Server{Run: run + "none", UID: nobody}.endTools()
		if took := time.Since(from); took != 0 {
			t.Errorf("nothing was to be waited for: %v", took)
		}
	})
	Server{Run: run, UID: nobody}.endTools()
	if err := <-left["its own"].ended; err == nil {
		t.Error("its own ended by itself")
	}
	delete(left, "its own")
	for name, o := range left {
		if err := o.cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is killed and does not go, such as a process that its parent does not wait for, is waited for up to ten seconds.
func TestToolsThatDoNotEnd(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root starts programs as another user: this exam did not run")
	}
	run := tempOf(t, t.TempDir())
	cmd := exec.Command("bash", "-c", waits)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "PGHOST=" + run}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	ready(t, cmd)
	synctest.Test(t, func(*testing.T) {
		from := time.Now()
		Server{Run: run, UID: nobody}.endTools()
		if took := time.Since(from); took != 10*time.Second {
			t.Errorf("waited for %v", took)
			_ = cmd.Process.Kill() // or it would be waited for below
		}
	})
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it was not killed: %v", err)
	}
}

// A process that only has the number and the start of the record is another's: it goes on.
func TestRecordOfAnotherProcess(t *testing.T) {
	p := lockedPlace(t)
	s, ended := startedIn(t, p, endsOnQuit)
	for name, change := range map[string]func(*Server){
		"another program": func(s *Server) { s.Exe += "2" }, "another directory": func(s *Server) { s.Data += "2" },
	} {
		other := s
		change(&other)
		if err := p.RecordServer(other); err != nil {
			t.Fatal(err)
		}
		if pid, err := endServer(p.folder, false); pid != 0 || err != nil {
			t.Errorf("%s: %d %v", name, pid, err)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("it was ended: %v", err)
	default:
	}
	if !s.lives() { // a signal ends it before Stop returns
		t.Error("it does not live")
	}
}

// The process is taken from the server's own file when it is a postgres of the server's user, and the
// record names none.
func TestFoundProcess(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root starts programs as another user: this exam did not run")
	}
	p := lockedPlace(t)
	data := mkdir(t, filepath.Join(p.Folder(), "pg-data"))
	as := func(program string, uid uint32) Server {
		cmd := exec.Command(program, "-c", waits)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		s, _ := started(t, cmd)
		return s
	}
	postgres := copied(t, "bash", "postgres")
	roots := as(postgres, 0)
	its, other, program := as(postgres, nobody), as(postgres, nobody-1), as("bash", nobody)
	for name, c := range map[string]struct {
		first  string
		record Server
		want   Server
	}{
		"its own":               {fmt.Sprint(its.PID), Server{UID: nobody}, Server{UID: nobody, PID: its.PID, Start: its.Start, Exe: postgres}},
		"with a space":          {fmt.Sprint(" ", its.PID, " "), Server{UID: nobody}, Server{UID: nobody, PID: its.PID, Start: its.Start, Exe: postgres}},
		"one is recorded":       {fmt.Sprint(its.PID), Server{UID: nobody, PID: 1}, Server{UID: nobody, PID: 1}},
		"root's server":         {fmt.Sprint(its.PID), Server{}, Server{}},
		"another user's":        {fmt.Sprint(other.PID), Server{UID: nobody}, Server{UID: nobody}},
		"root's process":        {fmt.Sprint(roots.PID), Server{}, Server{}}, // whatever is root's may be anything
		"another program":       {fmt.Sprint(program.PID), Server{UID: nobody}, Server{UID: nobody}},
		"nothing by its number": {"999999999", Server{UID: nobody}, Server{UID: nobody}},
		"no number":             {"x", Server{UID: nobody}, Server{UID: nobody}},
	} {
		write(t, filepath.Join(data, "postmaster.pid"), c.first+"\n2\n3\n4\n5\n6\n 77 x\n")
		s := c.record
		if s.found(p.folder); fmt.Sprint(s) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", name, s, c.want)
		}
	}
}

// shared is a file of memory below /dev/shm that is gone with the test.
func shared(t *testing.T, name string, data []byte) string {
	t.Helper()
	at := "/dev/shm/" + name
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Skipf("SKIPPED: no shared memory here: %v: this exam did not run", err)
	}
	t.Cleanup(func() { _ = os.Remove(at) })
	return at
}

// Of shared memory only what has a server's name and is its user's is removed; of directories and control
// groups only absolute ones below the place where plimsoll makes them.
func TestSweepLeavesWhatIsNotTheServers(t *testing.T) {
	me := uint32(os.Geteuid())
	number := 7_000_000_000 + os.Getpid()
	its, odd := fmt.Sprintf("PostgreSQL.%d", number), fmt.Sprintf("PostgreSQL.%dx", number)
	shared(t, its, nil)
	shared(t, odd, nil)
	group := mkdir(t, filepath.Join(t.TempDir(), CgroupPrefix+"1"))
	dir := t.TempDir()
	t.Chdir(dir)
	relative := mkdir(t, RunPrefix+"1")
	there := func(name string) bool { _, err := os.Lstat(name); return err == nil }
	Server{UID: me + 1, SharedMemory: []string{its}}.Sweep()
	Server{UID: me, SharedMemory: []string{odd}, Run: relative, Cgroup: group}.Sweep()
	for _, name := range []string{"/dev/shm/" + its, "/dev/shm/" + odd, group, relative} {
		if !there(name) {
			t.Errorf("%s was removed", name)
		}
	}
	if (Server{UID: me, SharedMemory: []string{its}}).Sweep(); there("/dev/shm/" + its) {
		t.Error("its shared memory is still there")
	}
}

// What cannot be removed yet is tried again for ten seconds, and what is not there is not waited for.
func TestSweepWaits(t *testing.T) {
	const base = "/sys/fs/cgroup/"
	gone := base + CgroupPrefix + "gone"
	busy := fmt.Sprintf("%s%s%d", base, CgroupPrefix, os.Getpid())
	other := fmt.Sprintf("%splimsoll-test-%d", base, os.Getpid())
	for _, name := range []string{busy, other, busy + "/inner"} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Skipf("SKIPPED: no control groups can be made here: %v: this exam did not run", err)
		}
		t.Cleanup(func() { _ = os.Remove(name) })
	}
	for name, c := range map[string]struct {
		group string
		took  time.Duration
	}{"not there": {gone, 0}, "not of plimsoll's name": {other, 0}, "in use": {busy, 10 * time.Second}} {
		synctest.Test(t, func(*testing.T) {
			from := time.Now()
			if (Server{Cgroup: c.group}).Sweep(); time.Since(from) != c.took {
				t.Errorf("%s: waited for %v, want %v", name, time.Since(from), c.took)
			}
		})
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("it was removed: %v", err)
	}
	if err := os.Remove(busy + "/inner"); err != nil {
		t.Fatal(err)
	}
	Server{Cgroup: busy}.Sweep()
	if _, err := os.Stat(busy); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// systemV makes a segment that is gone with the test, of another user where that is given.
func systemV(t *testing.T, size int, data []byte, uid uint32) int {
	t.Helper()
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, 0o600|unix.IPC_CREAT)
	if err != nil {
		t.Skipf("SKIPPED: no System V segments here: %v: this exam did not run", err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	at, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	copy(at, data)
	if err := unix.SysvShmDetach(at); err != nil {
		t.Fatal(err)
	}
	if uid != 0 {
		desc := unix.SysvShmDesc{Perm: unix.SysvIpcPerm{Uid: uid, Gid: uid, Mode: 0o600}}
		if _, err := unix.SysvShmCtl(id, unix.IPC_SET, &desc); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// A segment is removed by its number and its user when nobody has it attached.
func TestSegmentsOfAUser(t *testing.T) {
	me := uint32(os.Geteuid())
	one, two := systemV(t, 12345, nil, 0), systemV(t, 4096, nil, 0)
	at, err := unix.SysvShmAttach(one, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := segmentsOf(me)
	if !slices.Contains(all, segment{one, 12345, 1}) || !slices.Contains(all, segment{two, 4096, 0}) {
		t.Errorf("%v has not both", all)
	}
	if slices.ContainsFunc(segmentsOf(me+1), func(s segment) bool { return s.id == one || s.id == two }) {
		t.Error("another's are the caller's")
	}
	if removeSegment(one, me) {
		t.Error("one in use was removed")
	}
	if !removeSegment(two, me+1) || !slices.Contains(segmentsOf(me), segment{two, 4096, 0}) {
		t.Error("one of another user's was removed")
	}
	if err := unix.SysvShmDetach(at); err != nil {
		t.Fatal(err)
	}
	if !removeSegment(one, me) {
		t.Error("one in nobody's use was not removed")
	}
	if all := segmentsOf(me); slices.ContainsFunc(all, func(s segment) bool { return s.id == one }) ||
		!slices.Contains(all, segment{two, 4096, 0}) {
		t.Errorf("left: %v", all)
	}
}

// A segment of a server that has ended is removed; one that is still in use is tried again for ten seconds, and left.
func TestSweepOfSegments(t *testing.T) {
	me := uint32(os.Geteuid())
	free, used := systemV(t, 4096, nil, 0), systemV(t, 4096, nil, 0)
	at, err := unix.SysvShmAttach(used, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	left := func(id int) bool {
		return slices.ContainsFunc(segmentsOf(me), func(s segment) bool { return s.id == id })
	}
	for id, want := range map[int]time.Duration{free: 0, used: 10 * time.Second} {
		synctest.Test(t, func(*testing.T) {
			from := time.Now()
			if (Server{UID: me, SysV: []int{id}}).Sweep(); time.Since(from) != want || left(id) != (want > 0) {
				t.Errorf("%d: waited for %v, left %v", id, time.Since(from), left(id))
			}
		})
	}
	if err := unix.SysvShmDetach(at); err != nil {
		t.Fatal(err)
	}
	if (Server{UID: me, SysV: []int{used}}).Sweep(); left(used) {
		t.Error("it is still there")
	}
	if control, ok := (segment{id: used, size: 4096}).isFor(1, 2); ok || control != 0 {
		t.Error("a segment that is gone is nobody's")
	}
}

// header is the beginning of a server's segment.
func header(control uint32, device, inode uint64) []byte {
	data, order := make([]byte, 56), binary.NativeEndian
	order.PutUint32(data, 679834894) // PGShmemMagic
	order.PutUint32(data[24:], control)
	order.PutUint64(data[40:], device)
	order.PutUint64(data[48:], inode)
	return data
}

// What initdb's servers left is found by the directory that their segments are for, and the files of
// shared memory by what the control segment lists. A header takes 56 bytes.
func TestHeldByADirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root gives segments to another user: this exam did not run")
	}
	p := lockedPlace(t)
	data := mkdir(t, filepath.Join(p.Folder(), "pg-data"))
	write(t, filepath.Join(data, "PG_VERSION"), "16\n")
	st, ok := infoOf(t, data).Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("no inode")
	}
	control := uint32(3_000_000_000 + os.Getpid())
	list := make([]byte, 16+40)
	binary.NativeEndian.PutUint32(list, 0x9a503d32)
	binary.NativeEndian.PutUint32(list[4:], 1)
	binary.NativeEndian.PutUint32(list[16:], 4711)
	binary.NativeEndian.PutUint32(list[20:], 1)
	shared(t, fmt.Sprintf("PostgreSQL.%d", control), list)
	its := systemV(t, 56, header(control, st.Dev, st.Ino), nobody)
	quiet := systemV(t, 4096, header(0, st.Dev, st.Ino), nobody)
	systemV(t, 55, header(control, st.Dev, st.Ino), nobody) // too small, though a page holds it
	systemV(t, 4096, header(control, st.Dev, st.Ino+1), nobody)
	systemV(t, 4096, header(control, st.Dev, st.Ino), nobody-1)
	s := Server{UID: nobody}
	for range 2 { // again it adds nothing
		s.held(p.folder)
		slices.Sort(s.SysV)
		want := []int{its, quiet}
		slices.Sort(want)
		names := []string{"PostgreSQL.4711", fmt.Sprintf("PostgreSQL.%d", control)}
		if !slices.Equal(s.SysV, want) || !slices.Equal(s.SharedMemory, names) {
			t.Errorf("%v %q, want %v %q", s.SysV, s.SharedMemory, want, names)
		}
	}
	var root Server
	if root.held(p.folder); root.SysV != nil {
		t.Errorf("root's server: %v", root.SysV)
	}
	if got := sharedFiles(control+1, "16"); !slices.Equal(got, []string{fmt.Sprintf("PostgreSQL.%d", control+1)}) {
		t.Errorf("a control segment that is gone: %q", got)
	}
}

// Only the entries that are used count, with a handle and a use; a version that is not known has the
// entries of before 14.
func TestListedEntries(t *testing.T) {
	order := binary.NativeEndian
	control := func(entry int, used uint32, entries ...[2]uint32) []byte {
		data := make([]byte, 16+len(entries)*entry)
		order.PutUint32(data, 0x9a503d32)
		order.PutUint32(data[4:], used)
		for i, e := range entries {
			order.PutUint32(data[16+i*entry:], e[0])
			order.PutUint32(data[16+i*entry+4:], e[1])
		}
		return data
	}
	three := [][2]uint32{{11, 2}, {12, 1}, {13, 1}}
	for name, c := range map[string]struct {
		data    []byte
		version string
		want    string
	}{
		"two of three":       {control(40, 2, three...), "14", "PostgreSQL.11 PostgreSQL.12"},
		"none used":          {control(40, 0, three...), "14", ""},
		"without a handle":   {control(40, 2, [2]uint32{0, 5}, [2]uint32{12, 1}), "14", "PostgreSQL.12"},
		"no version":         {control(24, 3, three...), "", "PostgreSQL.11 PostgreSQL.12 PostgreSQL.13"},
		"one byte missing":   {control(40, 3, three...)[:16+3*40-1], "14", "PostgreSQL.11 PostgreSQL.12"},
		"only the beginning": {control(40, 1), "14", ""},
		"not even that":      {control(40, 1)[:3], "14", ""},
	} {
		if got := strings.Join(listed(c.data, c.version), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A directory of the caller's own leaves the folder as closed as it was; a probe is whole mebibytes.
func TestDatabaseOfOnesOwn(t *testing.T) {
	p := lockedPlace(t)
	if _, err := p.MakeDatabase("pg-data", uint32(os.Geteuid()), uint32(os.Getegid())); err != nil {
		t.Fatal(err)
	}
	if mode := infoOf(t, p.Folder()).Mode().Perm(); mode != 0o700 {
		t.Errorf("the folder is open to others: %v", mode)
	}
	name, err := p.MakeProbe(2*units.MiB - 1)
	if err != nil || infoOf(t, name).Size() != 1<<20 {
		t.Errorf("%v", err)
	}
}
