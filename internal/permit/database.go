package permit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Server is the record of a database server that runs on plimsoll's folders, written before it is
// started: whoever finds it later can end exactly that server and remove what it holds outside of
// the folders.
type Server struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // in clock ticks since boot
	Exe   string `json:"exe"`   // the program's file
	Data  string `json:"data"`  // its -D
	UID   uint32 `json:"uid"`
	Run   string `json:"run"` // directory of its socket
	// SysV are System V segments, SharedMemory names below /dev/shm.
	SysV         []int    `json:"sysv,omitempty"`
	SharedMemory []string `json:"shared_memory,omitempty"`
	Cgroup       string   `json:"cgroup,omitempty"`
}

const (
	serverRecord = "pg-server.json"
	probeName    = "pg-probe.dat"
	// RunPrefix begins the names of directories that hold a server's socket, which sys.TempDir makes for runUse.
	RunPrefix = "plimsoll-" + runUse + "-"
	runUse    = "pg"
	// CgroupPrefix begins the names of its control groups.
	CgroupPrefix = "plimsoll-pg-"
)

// databaseNames are what runs of a database make in the folder.
func databaseNames() []string {
	return []string{serverRecord, probeName, "pg-data", "pg-wal", "pg-test"}
}

// WantDatabase says that a database will be put into the place, so that it is written to.
func (p *Place) WantDatabase() { p.database, p.ReadOnly = true, false }

// Folder is the path of plimsoll's folder in the place.
func (p *Place) Folder() string { return p.in("") }

// in is the path of a name in plimsoll's folder.
func (p *Place) in(name string) string { return filepath.Join(p.Path, folderName, name) }

// DatabaseWay refuses a directory in which others than root, the caller and the server's user could
// put something in the place of plimsoll's folder: PostgreSQL's programs take names.
func DatabaseWay(dir string, uid uint32) error {
	return Way(filepath.Join(dir, folderName), "hold a database", uid)
}

// MakeDatabase makes an empty directory of a name in plimsoll's folder that belongs to the server's
// user alone, and lets that user pass through the folder, which stays the caller's. It returns the
// directory's path.
func (p *Place) MakeDatabase(name string, uid, gid uint32) (string, error) {
	if !slices.Contains(databaseNames(), name) || p.folder == nil {
		return "", fmt.Errorf("%s: no directory for a database", name)
	}
	path := filepath.Join(p.Folder(), name)
	if err := DatabaseWay(p.Path, uid); err != nil {
		return "", err
	}
	named, err1 := os.Lstat(p.Folder())
	held, err2 := p.folder.Info()
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	if !os.SameFile(named, held) {
		return "", fmt.Errorf("%s was replaced while plimsoll worked in it", p.Folder())
	}
	if err := p.folder.RemoveAll(name); err != nil {
		return "", err
	}
	if err := p.folder.Mkdir(name, 0o700); err != nil {
		return "", WriteError(p.Path, err)
	}
	if int(uid) != os.Geteuid() {
		err := errors.Join(p.folder.Lchown(name, int(uid), int(gid)), os.Chmod(p.folder.Path(), signed|entered))
		if err != nil {
			return "", err
		}
	}
	return path, nil
}

// MakeProbe makes the file that the log's sync is probed on, written whole and synced, and returns
// its name for fio.
func (p *Place) MakeProbe(size units.Bytes) (string, error) {
	if err := p.folder.RemoveAll(probeName); err != nil {
		return "", err
	}
	f, err := p.folder.Create(probeName, 0o600)
	if err != nil {
		return "", WriteError(p.Path, err)
	}
	block := make([]byte, units.MiB)
	for i := range block {
		block[i] = byte(i * 7)
	}
	for range size / units.MiB {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	return p.folder.Path(probeName), errors.Join(err, f.Sync(), f.Close())
}

// Space is what is free for the place's owner.
func (p *Place) Space() (units.Bytes, unix.Fsid, error) {
	free, id, err := p.dir.Free()
	return units.Bytes(free), id, err
}

// RecordServer writes the record into plimsoll's folder, in place of an earlier one.
func (p *Place) RecordServer(s Server) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return p.folder.WriteFile(serverRecord, append(data, '\n'), 0o600)
}

// endServer ends the server that a folder's record names, if it still lives, and removes what it
// left outside of the folder. Only a record of the caller's own counts. With dry it only looks
// whether the server lives. It returns the server's process, 0 where none lived.
func endServer(folder *sys.Dir, dry bool) (ended int, err error) {
	data, err := folder.ReadSmall(serverRecord, 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrPermission) {
		return 0, failed // a device that fails says nothing of whose it is
	}
	var s Server
	if err != nil || !ownFile(folder, serverRecord) || json.Unmarshal(data, &s) != nil {
		return 0, fmt.Errorf("%s: the record of a database server is not yours: remove it as its owner",
			filepath.Join(folder.Name(), serverRecord))
	}
	if !s.of(folder) {
		return 0, nil // it came here with a copy: what it leads to is another folder's
	}
	s.found(folder)
	if s.lives() {
		ended = s.PID
	}
	if dry || s.PID == 0 && s.Run == "" {
		return ended, nil
	}
	if ended != 0 { // SIGQUIT lets it remove its shared memory; a server in the kernel's hands does not end
		if !sys.Stop(s.PID, s.Start, syscall.SIGQUIT, 10*time.Second) &&
			!sys.Stop(s.PID, s.Start, syscall.SIGKILL, 10*time.Second) {
			return ended, fmt.Errorf("the database server %d of a run that was killed does not end", s.PID)
		}
	}
	s.endTools()
	s.held(folder)
	s.Sweep()
	return ended, nil
}

// of says whether a server's directory is that of a folder.
func (s Server) of(folder *sys.Dir) bool {
	named, err1 := os.Stat(filepath.Dir(s.Data))
	own, err2 := folder.Info()
	return err1 == nil && err2 == nil && filepath.IsAbs(s.Data) && os.SameFile(named, own)
}

// endTools ends what ran as the server's user next to it, such as initdb, with all that it started:
// its environment names the server's own directory, and it leads a group of processes.
func (s Server) endTools() {
	entries, err := os.ReadDir("/proc")
	if err != nil || !sys.LeftTemp(s.Run, runUse) || s.UID == 0 {
		return
	}
	mark := "PGHOST=" + s.Run
	var groups []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil || sys.Owner(info) != s.UID {
			continue
		}
		if group, err := syscall.Getpgid(pid); err == nil && group == pid && slices.Contains(sys.Environ(pid), mark) {
			groups = append(groups, group)
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	}
	deadline := time.Now().Add(sweepWithin)
	for ; len(groups) > 0 && time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		groups = slices.DeleteFunc(groups, func(group int) bool { return syscall.Kill(-group, 0) != nil })
	}
}

// AddSegment adds the server's System V segment, of which line 7 of postmaster.pid has the key and the number.
func (s *Server) AddSegment(pidFile []string) {
	if len(pidFile) < 7 {
		return
	}
	if field := strings.Fields(pidFile[6]); len(field) == 2 {
		if id, err := strconv.Atoi(field[1]); err == nil && !slices.Contains(s.SysV, id) {
			s.SysV = append(s.SysV, id)
		}
	}
}

// found adds what the record, which is written first, could not know yet when plimsoll was killed:
// the process and the System V segment, from the file that the server itself writes into its
// directory. What it says leads only to processes and segments of the server's user.
func (s *Server) found(folder *sys.Dir) {
	text, err := folder.ReadSmall("pg-data/postmaster.pid", 4096)
	if err != nil {
		return
	}
	line := strings.Split(string(text), "\n")
	s.AddSegment(line)
	pid, err := strconv.Atoi(strings.TrimSpace(line[0]))
	if err != nil || s.PID != 0 || s.UID == 0 {
		return
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil || sys.Owner(info) != s.UID {
		return
	}
	exe, err := sys.ExeOf(pid)
	start, started := sys.StartOf(pid)
	if err == nil && started && filepath.Base(exe) == "postgres" {
		s.PID, s.Start, s.Exe = pid, start, exe
	}
}

// lives says whether the recorded process is that server: by its start, its program and its
// directory.
func (s Server) lives() bool {
	if s.PID <= 0 || !sys.Lives(s.PID, s.Start) {
		return false
	}
	exe, err := sys.ExeOf(s.PID)
	if err != nil || strings.TrimSuffix(exe, " (deleted)") != s.Exe {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.PID))
	if err != nil {
		return false
	}
	args := strings.Split(string(line), "\x00")
	at := slices.Index(args, "-D")
	return at >= 0 && at+1 < len(args) && args[at+1] == s.Data
}

var sharedName = regexp.MustCompile(`^PostgreSQL\.[0-9]+$`)

// sweepWithin is how long sessions of a server that was killed may take to notice it: while they
// live its segment is in use and its control group is not empty.
const sweepWithin = 10 * time.Second

// Sweep removes what a server that has ended left outside of plimsoll's folders.
func (s Server) Sweep() {
	deadline := time.Now().Add(sweepWithin)
	until := func(done func() bool) {
		for !done() && time.Now().Before(deadline) {
			<-time.After(20 * time.Millisecond)
		}
	}
	for _, id := range s.SysV {
		until(func() bool { return removeSegment(id, s.UID) })
	}
	for _, name := range s.SharedMemory {
		if info, err := os.Lstat("/dev/shm/" + name); err == nil && sharedName.MatchString(name) &&
			sys.Owner(info) == s.UID {
			_ = os.Remove("/dev/shm/" + name)
		}
	}
	if filepath.IsAbs(s.Run) && sys.LeftTemp(s.Run, runUse) {
		if info, err := os.Lstat(s.Run); err == nil && info.IsDir() && sys.Owner(info) == s.UID {
			_ = os.RemoveAll(s.Run)
		}
	}
	if strings.HasPrefix(filepath.Base(s.Cgroup), CgroupPrefix) && strings.HasPrefix(s.Cgroup, "/sys/fs/cgroup/") {
		until(func() bool {
			err := os.Remove(s.Cgroup)
			return err == nil || errors.Is(err, fs.ErrNotExist)
		})
	}
}

// Site is where, and for what, a database is set up.
type Site struct {
	Topology  *topology.Topology
	Server    suite.Server     // zero where the suite says nothing
	Scenarios []suite.Scenario // all that need it
	Data, WAL *Place
	Note      func(text string)
}

// RemoveDatabase removes what a database left in the place, also where other files are kept.
func (p *Place) RemoveDatabase() error {
	if p.folder == nil {
		return nil
	}
	return p.remove(databaseNames())
}
