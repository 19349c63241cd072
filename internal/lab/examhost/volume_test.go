// Package examhost holds tests alone: an exam of plimsoll why on the kernel of this machine, with storage that
// the test delays, limits, fails and stops.
package examhost

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// kind is what an operation of a volume does.
type kind int

const (
	reads kind = iota
	writes
	flushes
	discards
	kinds
)

// behaviour is how a volume treats operations: what each takes, which of them fail, what all of them may do.
type behaviour struct {
	delay    [kinds]time.Duration // ± 20 %
	fail     [kinds]bool
	from, to int64 // the part of the volume whose reads and writes fail, all of it where to is 0
	iops     float64
	bytes    float64       // per second
	tail     time.Duration // what one of many takes more,
	often    float64       // and its share
}

// volume is one file of a FUSE filesystem, kept in memory.
type volume struct {
	fs.Inode
	size   int64
	mu     sync.Mutex
	now    behaviour
	next   time.Time // when the limits let the next operation go
	halt   chan struct{}
	pieces map[int64][]byte
	done   [kinds]int // operations so far
	waited time.Duration
	spent  time.Duration // in all operations together
}

const (
	piece = 1 << 20
	slack = 100 * time.Millisecond
)

var (
	_ fs.NodeOpener    = (*volume)(nil)
	_ fs.NodeGetattrer = (*volume)(nil)
	_ fs.FileReader    = (*volume)(nil)
	_ fs.FileWriter    = (*volume)(nil)
	_ fs.FileFsyncer   = (*volume)(nil)
	_ fs.FileAllocater = (*volume)(nil)
)

func (v *volume) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return v, fuse.FOPEN_DIRECT_IO, 0
}

func (v *volume) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Blksize = fuse.S_IFREG|0o600, uint64(v.size), 4096
	return 0
}

// set changes how the volume behaves from now on.
func (v *volume) set(b behaviour) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now, v.next = b, time.Time{}
}

// stop lets no operation end until resume.
func (v *volume) stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.halt == nil {
		v.halt = make(chan struct{})
	}
}

func (v *volume) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.halt != nil {
		close(v.halt)
		v.halt = nil
	}
}

// pass is what an operation goes through before it is done.
func (v *volume) pass(k kind, off int64, n int) syscall.Errno {
	defer func(began time.Time) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.spent += time.Since(began)
	}(time.Now())
	v.mu.Lock()
	b, now := v.now, time.Now()
	at := now
	if (k == reads || k == writes) && b.iops+b.bytes > 0 {
		if least := now.Add(-slack); v.next.Before(least) { // a host that is late for a moment costs nothing of a limit
			v.next = least
		}
		cost := 0.0
		if b.iops > 0 {
			cost = 1 / b.iops
		}
		if b.bytes > 0 {
			cost = max(cost, float64(n)/b.bytes)
		}
		at = later(now, v.next) // what was done before is to be paid for; one at rest goes at once
		v.next = v.next.Add(time.Duration(cost * 1e9))
	}
	v.done[k]++
	v.waited += at.Sub(now)
	v.mu.Unlock()
	d := at.Sub(now) + time.Duration(float64(b.delay[k])*(0.8+0.4*rand.Float64()))
	if rand.Float64() < b.often {
		d += b.tail
	}
	if d > 0 {
		time.Sleep(d)
	}
	for {
		v.mu.Lock()
		halt := v.halt
		v.mu.Unlock()
		if halt == nil {
			break
		}
		<-halt
	}
	if b.fail[k] && (k > writes || b.to == 0 || off < b.to && off+int64(n) > b.from) {
		return syscall.EIO
	}
	return 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// each calls do for the parts of a range that lie in one piece; the piece is nil where it was never written.
func (v *volume) each(off int64, buf []byte, grow bool, do func(piece, buf []byte)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(buf) > 0 {
		i, at := off/piece, off%piece
		n := min(int64(len(buf)), piece-at)
		p := v.pieces[i]
		if p == nil && grow {
			p = make([]byte, piece)
			v.pieces[i] = p
		}
		if p != nil {
			p = p[at : at+n]
		}
		do(p, buf[:n])
		off, buf = off+n, buf[n:]
	}
}

func (v *volume) Read(_ context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	dest = dest[:max(0, min(int64(len(dest)), v.size-off))]
	if e := v.pass(reads, off, len(dest)); e != 0 {
		return nil, e
	}
	v.each(off, dest, false, func(p, b []byte) {
		if copy(b, p) == 0 {
			clear(b)
		}
	})
	return fuse.ReadResultData(dest), 0
}

func (v *volume) Write(_ context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if e := v.pass(writes, off, len(data)); e != 0 {
		return 0, e
	}
	v.each(off, data, true, func(p, b []byte) { copy(p, b) })
	return uint32(len(data)), 0
}

func (v *volume) Fsync(context.Context, uint32) syscall.Errno { return v.pass(flushes, 0, 0) }

func (v *volume) Allocate(_ context.Context, off, _ uint64, _ uint32) syscall.Errno {
	if e := v.pass(discards, int64(off), 0); e != 0 {
		return e
	}
	return 0
}

// drive is a volume below a loop device.
type drive struct {
	*volume
	name   string // loop7
	parts  []int
	at     string // where its file is mounted
	server *fuse.Server
}

// newDrive mounts a volume of so many MiB and puts a loop device on it. parts are the sizes of its partitions
// in MiB, none for the whole.
func newDrive(t *testing.T, dir string, mib int64, parts ...int64) *drive {
	return newDriveWith(t, dir, 0, mib, parts...)
}

// newDriveWith also asks the kernel for capabilities of FUSE that go-fuse does not: without CAP_ASYNC_DIO a loop
// device has one I/O in flight, whatever is asked of it.
func newDriveWith(t *testing.T, dir string, capabilities uint64, mib int64, parts ...int64) *drive {
	t.Helper()
	v := &volume{size: mib << 20, pieces: map[int64][]byte{}}
	at := filepath.Join(dir, "fuse")
	must(t, os.MkdirAll(at, 0o755))
	server, err := fs.Mount(at, root{file: v}.node(), &fs.Options{MountOptions: fuse.MountOptions{
		DirectMount: true, FsName: "examhost", MaxBackground: 512, MaxWrite: 1 << 20, DisableXAttrs: true,
		ExtraCapabilities: capabilities,
	}})
	if err != nil {
		t.Fatal(err)
	}
	closeOnExec(t) // a program that is started may not keep the filesystem alive without its server
	d := &drive{volume: v, server: server, at: at}
	out, err := exec.Command("losetup", "--direct-io=on", "--find", "--show", filepath.Join(at, "volume")).CombinedOutput()
	if err != nil {
		_ = server.Unmount()
		t.Fatalf("losetup: %v: %s", err, out)
	}
	d.name = strings.TrimPrefix(strings.TrimSpace(string(out)), "/dev/")
	must(t, os.WriteFile(filepath.Join(dir, "loop"), []byte(d.name), 0o644))
	// What another test left on a loop device of this name is no part of this one.
	_ = sh("cd /sys/block/" + d.name + "/queue && echo 128 > nr_requests; echo 0 > rotational")
	begin := int64(1)
	for i, mib := range parts { // not by a table, which this kernel may not read
		d.parts = append(d.parts, i+1)
		_ = sh(fmt.Sprintf("addpart /dev/%s %d %d %d", d.name, i+1, begin<<11, mib<<11))
		_ = sh(fmt.Sprintf("p=%sp%d; test -e /dev/$p || mknod /dev/$p b $(tr : ' ' < /sys/class/block/$p/dev)", d.name, i+1))
		begin += mib
	}
	return d
}

func closeOnExec(t *testing.T) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == "/dev/fuse" {
			n, _ := strconv.Atoi(fd.Name())
			syscall.CloseOnExec(n)
		}
	}
}

// guard starts a shell that outlives this process, however that ends, and takes down what it has left: a volume
// without its server, or a filesystem that stays frozen, would keep every sync of the machine waiting.
func guard(t *testing.T, dir string) (release func()) {
	t.Helper()
	const line = `cat >/dev/null
test -d "$1" || exit 0
for p in $(cat "$1/pids"); do kill -CONT -$p; kill -KILL -$p; done
awk -v at="$1/fuse" '$5 == at { sub("0:", "", $3); print $3 }' /proc/self/mountinfo | while read n; do
	mountpoint -q /sys/fs/fuse/connections || mount -t fusectl none /sys/fs/fuse/connections
	echo 1 > /sys/fs/fuse/connections/$n/abort
done
fsfreeze --unfreeze "$1/m"; swapoff "$1/swap"
umount --lazy "$1/m2"; umount --lazy "$1/m"
l=$(cat "$1/loop"); for i in 1 2; do delpart /dev/$l $i; rm -f /dev/${l}p$i; done; losetup --detach /dev/$l
umount --lazy "$1/fuse"
for i in 1 2 3 4 5; do rmdir $(cat "$1/groups") && break; sleep 0.2; done
rm -rf --one-file-system "$1"`
	cmd := exec.Command("sh", "-c", line, "sh", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	return func() { _ = in.Close(); _ = cmd.Wait() }
}

// close takes it apart; everything that is on it was unmounted.
func (d *drive) close(t *testing.T) {
	t.Helper()
	d.resume()
	d.set(behaviour{})
	for _, n := range d.parts {
		_ = sh(fmt.Sprintf("delpart /dev/%s %d; rm -f /dev/%[1]sp%[2]d", d.name, n))
	}
	until(t, "detach "+d.name, func() error { return sh("losetup --detach /dev/" + d.name) })
	until(t, "unmount "+d.name, func() error { return sh("umount --lazy " + d.at) })
}

type root struct{ file *volume }

type rootNode struct {
	fs.Inode
	file *volume
}

func (r root) node() fs.InodeEmbedder { return &rootNode{file: r.file} }

func (r *rootNode) OnAdd(ctx context.Context) {
	r.AddChild("volume", r.NewPersistentInode(ctx, r.file, fs.StableAttr{Mode: fuse.S_IFREG}), false)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sh runs a line of the shell.
func sh(line string) error {
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return nil
}

// until tries again for a while what the kernel refuses as busy.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	var err error
	for range 100 {
		if err = try(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s: %v", what, err)
}
