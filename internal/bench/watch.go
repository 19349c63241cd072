package bench

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/host"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Watching says what of a machine at work is looked at.
type Watching struct {
	Path   string
	For    time.Duration
	Expect units.Latency         // above it an I/O is slow; 0 for what the volumes state
	Layout *topology.Declaration // what the storage is said to be; nil for nothing
	// Quick leaves out what takes time after the window, and asks nobody on the network.
	Quick bool
}

// WatchFor is how long plimsoll why looks by default.
const WatchFor = 5 * time.Second

// logTime is how far back the kernel's log matters for what is slow now.
const logTime = 10 * time.Minute

// Watch gathers the facts by which live.Judge answers. It does no I/O of its own, starts no program
// and opens no file on the path's own filesystem, so that a drive or a server that does not answer
// cannot keep it waiting.
func Watch(ctx context.Context, m *sys.Machine, o Watching) (*live.Facts, error) {
	return watch(ctx, m, o, func(*watching) {})
}

// watch is Watch; begun is called with the look where there is a device.
func watch(ctx context.Context, m *sys.Machine, o Watching, begun func(*watching)) (*live.Facts, error) {
	began, cpu := time.Now(), ownCPU()
	f := &live.Facts{Format: live.Format, Path: o.Path, Expect: o.Expect, Free: -1, Root: unix.Geteuid() == 0}
	t, stack, err := topology.Live(m, o.Path)
	if err != nil {
		return nil, err
	}
	defer func() { f.CPU, f.Wall = ownCPU()-cpu, time.Since(began) }()
	if stack.Mount != nil {
		f.Mount, f.FS, f.Source = stack.Mount.Point, stack.Mount.FS, stack.Mount.Source
	}
	if !f.Root {
		f.NotSeen = append(f.NotSeen, "other users' processes, what tasks wait for, the volumes' own counters and the "+
			"kernel's log (run it as root)")
	}
	f.NotSeen = append(f.NotSeen, stack.Tree.Notes...)
	if stack.Failed != nil {
		f.Failed = stack.Failed.Error()
	}
	target := &t.Targets[0]
	if target.Device == "" {
		f.Blind = blind(stack)
		if stack.Mount != nil && strings.HasPrefix(stack.Mount.FS, "nfs") {
			f.Remote = watchNFS(ctx, m, stack.Mount.Point, o.For)
		}
		return f, ctx.Err()
	}
	if f.FS == "btrfs" {
		f.NotSeen = append(f.NotSeen, "other devices of this btrfs than "+target.Device)
	}
	w := &watching{Watching: o, f: f, t: t, target: target, stack: stack, read: m.Reader()}
	begun(w)
	return f, w.run(ctx, m)
}

// watching is one look at a path with a device.
type watching struct {
	Watching
	f      *live.Facts
	t      *topology.Topology
	target *topology.Target
	stack  *block.Stack
	read   *sys.Reader
}

func (w *watching) run(ctx context.Context, m *sys.Machine) error {
	limits := make(chan error, 1)
	asking, cancel := context.WithTimeout(ctx, w.For+limitsLate)
	defer cancel()
	ask := *m
	ask.Here = m.Here && !w.Quick
	go func() { limits <- w.t.Limit(asking, &ask, w.Layout) }()
	groups := topology.ReadGroups(w.read, w.t.Numbers(w.target))
	ebs := w.counters()
	inUse := block.NewInUse(m.Reader(), w.stack)
	window, err := telemetry.Watch(ctx, m, telemetry.WatchFor{
		Devices: w.target.Devices, Span: w.For, Uses: inUse.By, Quick: w.Quick, Beside: w.beside(m),
	})
	if err != nil {
		return err
	}
	w.f.Window, w.f.Groups, w.f.Quotas = window, groups.Used(window.Span), groups.Quotas()
	w.f.NotSeen = append(w.f.NotSeen, window.Notes...)
	after := w.counters()
	w.space(m)
	w.kernelLog()
	err = w.limits(asking, limits)
	w.exceeded(ebs, after)
	if err != nil {
		return err
	}
	return ctx.Err()
}

// beside is who uses what else lies on the same disks, nil where that is nothing.
func (w *watching) beside(m *sys.Machine) func(string) bool {
	if u := block.Beside(m.Reader(), w.stack); u != nil {
		return u.By
	}
	return nil
}

// space reads how full the filesystem is, and whether it has become read-only: the kernel then sets a
// flag of the filesystem, while the mount stays as it was asked for.
func (w *watching) space(m *sys.Machine) {
	if w.f.Mount == "" || !m.Here {
		return
	}
	w.f.ReadOnly = w.stack.Fallen(w.read)
	if space, ok := sys.SpaceOf(w.f.Mount); ok {
		w.f.Free, w.f.Inodes, w.f.FreeBytes = space.Free, space.Inodes, units.Bytes(space.Bytes)
	} else {
		w.f.NotSeen = append(w.f.NotSeen, "how full the filesystem is")
	}
}

// exceeded keeps what grew between two readings of the volumes' own counters.
func (w *watching) exceeded(before, after map[string]cloud.EBSStats) {
	for i := range w.f.Layers {
		l := &w.f.Layers[i]
		if a, ok := before[l.Name]; ok {
			l.Exceeded = live.Exceed(a, after[l.Name])
		}
	}
}

// limits waits for what the volumes and the instance are known to give.
func (w *watching) limits(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer: // also where the time is over by now
		return w.limited(err)
	default:
	}
	select {
	case err := <-answer:
		return w.limited(err)
	case <-ctx.Done():
		w.f.NotSeen = append(w.f.NotSeen, "the limits of volumes and instance: the cloud did not answer in time")
		w.layers(false)
		return nil
	}
}

func (w *watching) limited(err error) error {
	w.f.NotSeen = append(w.f.NotSeen, w.t.Notes...)
	w.f.Instance = w.t.Instance
	w.layers(true)
	return err
}

// limitsLate is how much longer than the window EC2 may take to say what the volumes give.
const limitsLate = 500 * time.Millisecond

// layers describes the stack; volumes says that what is known of them may be looked at.
func (w *watching) layers(volumes bool) {
	tree := w.stack.Tree
	for _, name := range w.target.Devices {
		d := tree.Devices[name]
		l := live.Layer{
			Name: name, Number: fmt.Sprintf("%d:%d", d.Major, d.Minor), Kind: string(d.Kind), Under: tree.Under(name),
			Rotational: d.Queue.Rotational && !virtual(name, d.Model), Scheduler: d.Queue.Scheduler, Requests: d.Queue.Requests,
			Crypt: strings.HasPrefix(d.DM, "CRYPT-"), State: w.read.Text("sys/class/block/" + name + "/device/state"),
		}
		if d.MD != nil {
			l.Level = d.MD.Level
		}
		if volumes && l.Leaf() {
			l.Volume = w.volume(name)
		}
		w.f.Layers = append(w.f.Layers, l)
	}
}

// virtual is whether a hypervisor or a file made the disk up: they say of all of theirs that they rotate.
func virtual(name, model string) bool {
	has := func(in, parts string) bool {
		return slices.ContainsFunc(strings.Fields(parts), func(p string) bool { return strings.HasPrefix(in, p) })
	}
	return has(name, "vd xvd loop nbd zd") ||
		has(strings.ToUpper(model), "QEMU VIRTUAL VBOX PERSISTENTDISK EPHEMERALDISK VMWARE VIRTIO BLOCKVOLUME")
}

func (w *watching) volume(device string) *topology.Volume {
	for v := range w.t.Volumes() {
		if v.Device == device {
			return v
		}
	}
	return nil
}

// counters reads log page 0xD0 of the leaves that have it, Amazon's own.
func (w *watching) counters() map[string]cloud.EBSStats {
	if !w.f.Root || w.Quick {
		return nil
	}
	return ebsStats(w.stack.Tree, w.target.Devices, cloud.IsEBS)
}

// kernelLog keeps what the kernel's log of the last minutes says of the devices.
func (w *watching) kernelLog() {
	if w.Quick {
		return
	}
	log, err := w.read.KernelLog(logTime)
	if err != nil {
		return // not root, or a container: NotSeen has it
	}
	w.f.Now = sys.Monotonic()
	for _, e := range host.ParseLog(log) {
		below := slices.ContainsFunc(w.target.Devices, func(d string) bool {
			return d == e.Device || e.Device != "" && strings.HasPrefix(d, e.Device+"n") // nvme1 of nvme1n1
		})
		if below {
			w.f.Log = append(w.f.Log, e)
		}
	}
}

// blind is why there is no device below a path, as a clause.
func blind(s *block.Stack) string {
	m := s.Mount
	switch {
	case m == nil:
		return "no mount is known for it"
	case m.FS == "tmpfs", m.FS == "ramfs", m.FS == "hugetlbfs":
		return fmt.Sprintf("%s is memory (%s) and has no storage below it", m.Point, m.FS)
	case m.FS == "zfs":
		return "it is on ZFS (" + m.Source + "), whose devices are not in /sys: zpool iostat -l " + m.Source + " 5"
	case m.FS == "overlay":
		return "it is on an overlay whose upper directory cannot be seen from here (a container): run it on the host"
	case m.Remote():
		return fmt.Sprintf("its storage belongs to another machine or a program (%s, %s)", m.FS, m.Source)
	case !strings.HasPrefix(m.Source, "/"):
		return fmt.Sprintf("the filesystem on %s (%s) has no storage below it", m.Point, m.FS)
	}
	return fmt.Sprintf("no block device is visible below %s (%s)", m.Point, m.FS)
}

func ownCPU() time.Duration {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// watchNFS reads a mount's own counters at both ends of a while.
func watchNFS(ctx context.Context, m *sys.Machine, mount string, long time.Duration) *live.Remote {
	read := func() (nfsCounters, bool) {
		text, err := fs.ReadFile(m.Root, "proc/self/mountstats")
		if err != nil {
			return nfsCounters{}, false
		}
		return parseMountstats(string(text), mount)
	}
	before, ok := read()
	if !ok {
		return nil
	}
	if m.Here {
		_ = pause(ctx, long)
	}
	after, ok := read()
	if !ok || after.ops <= before.ops {
		return &live.Remote{}
	}
	ops := float64(after.ops - before.ops)
	return &live.Remote{
		IOPS: ops / long.Seconds(),
		RTT:  units.Latency(float64(after.rtt-before.rtt) / ops * 1e6),
		Exec: units.Latency(float64(after.exec-before.exec) / ops * 1e6),
	}
}

// nfsCounters are sums over all operations of a mount, times in ms.
type nfsCounters struct{ ops, rtt, exec uint64 }

// parseMountstats adds up the reads and writes of a mount: "READ: ops transmissions timeouts
// bytes_sent bytes_received queue_ms rtt_ms execute_ms errors" (net/sunrpc/stats.c).
func parseMountstats(text, mount string) (c nfsCounters, found bool) {
	ours := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > 4 && f[0] == "device" {
			ours = block.Unescape(f[4]) == mount
			found = found || ours
			continue
		}
		if !ours || len(f) < 9 || f[0] != "READ:" && f[0] != "WRITE:" && f[0] != "COMMIT:" {
			continue
		}
		var n [9]uint64
		for i, field := range f[1:9] {
			if _, err := fmt.Sscan(field, &n[i]); err != nil {
				return c, false
			}
		}
		c.ops, c.rtt, c.exec = c.ops+n[0], c.rtt+n[6], c.exec+n[7]
	}
	return c, found
}
