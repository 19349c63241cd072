// Package lab tries storage layouts out on a simulated machine: a QEMU guest with a stock kernel
// and real md, LVM and XFS, whose NVMe volumes are limited, slow and faulty as asked (package ebs).
// A small guest is not booted but restored from a template, in well under a second; its drives are
// plugged in afterwards. A whole Debian boots from its own disk.
package lab

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/lab/ebs"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Config says what guest to start.
type Config struct {
	Spec *Spec
	// Binary is the static plimsoll that the guest gets; empty for this program.
	Binary string
	// Dir is where the volumes' files and the console's log go and stay. Volumes that are there
	// already are used, and nothing is set up. Empty keeps them in a directory that Stop removes.
	Dir string
	// Persist keeps the guest's /etc, /boot, /root and /var on a volume of their own, so that they
	// survive PowerCut as far as they were synced. Without it they are in the guest's memory. Of a
	// Debian all persists anyway, and Start refuses it.
	Persist bool
	// SetupLimit is how long each of the spec's commands may take before the guest is given up and
	// another one started; a minute when it is 0. Nothing limits those of a Debian.
	SetupLimit time.Duration
	// Log gets lines about what happens. May be nil.
	Log io.Writer
}

// Volume is a simulated drive of the guest.
type Volume struct {
	*ebs.Volume
	Group  string // its name in the spec
	Serial string // as the guest sees it, such as vol0123456789abcdef0
	Device string // in the guest since the last start, such as /dev/nvme3n1: no two starts give the same order
	spec   *VolumeSpec
	scale  float64

	overhead time.Duration
}

// Limit puts the volume's limits and latencies in force.
func (v *Volume) Limit() error { return v.Set(v.spec.behaviour(v.scale, v.overhead)) }

// Unlimit lets everything through at the host's speed.
func (v *Volume) Unlimit() error { return v.Set(unlimited(v.Behaviour())) }

// Guest is a running machine.
type Guest struct {
	Volumes []*Volume
	// Started is how long Start took for the template, the restore and the drives.
	Started Timing
	// State is what systemctl is-system-running said when the last start of a Debian had ended:
	// running, degraded (some unit failed) or maintenance (the emergency shell). Empty for a small
	// guest.
	State string
	// Overhead is what a 4 KiB read takes that no volume delays. It is subtracted from the
	// latencies asked for. Above MaxOverhead the host is too busy for latencies to be judged;
	// limits hold all the same.
	Overhead time.Duration

	m        *sys.Machine
	cfg      Config
	dir      string // of volumes and console.log
	sockets  string
	base     base
	server   *ebs.Server
	instance *ebs.Instance
	system   *ebs.Volume // nil for a small guest without Config.Persist
	machine  *machine
	unlock   func()        // of Config.Dir
	used     bool          // the volumes were there before
	limit    time.Duration // of each command of the setup; 0 for none
}

// base is what guests start from: a template, or a disk.
type base interface {
	// start starts g.machine with the guest's volumes and g.cfg.Binary in it, and sets
	// g.Started.Restore.
	start(ctx context.Context, g *Guest) error
}

// Timing is where the time of a start went.
type Timing struct {
	Template time.Duration // finding or making the image and the template
	Restore  time.Duration // until the agent answered; of a Debian, until the system was up
	Drives   time.Duration // until the guest had all volumes, and plimsoll
	Setup    time.Duration // the spec's commands
}

// MaxOverhead is the most that leaves latencies fit to be judged.
const MaxOverhead = 500 * time.Microsecond

// tempUse is what guests' directories below os.TempDir are for: sys.EndTemps knows those of a plimsoll that was
// killed.
const tempUse = "lab"

// Available says in one line why no lab can run here; it is empty when one can.
func Available(m *sys.Machine) (reason string) {
	if !m.Installed(qemuProgram) {
		return qemuProgram + " is not installed (Debian: apt-get install qemu-system-x86)"
	}
	if _, err := kernelVersion(m.Root); err != nil {
		return err.Error()
	}
	for _, p := range neededPrograms {
		if !m.Installed(p) {
			return p + " is not installed (docs/lab.md names the packages)"
		}
	}
	return ""
}

// ErrUnavailable is in the chain of Start's error when something that the lab needs is missing on
// this host.
var ErrUnavailable = errors.New("the lab cannot run here")

// Each step of a start takes seconds. Some starts of QEMU 7.2 without KVM (docs/lab.md) stand still
// instead, since an NVMe command was lost. Such a guest is given up and another one started, with
// twice and three times the limit, so that a slow host is not taken for it.
const (
	setupLimit = time.Minute
	mostStarts = 3
	plugLimit  = 40 * time.Second // restoring a guest, plugging in its drives and measuring the way to one: 3 s
)

var errStalled = errors.New("it stands still")

// Start starts a guest with the spec's volumes, makes its arrays and puts the limits in force. Stop
// it.
func Start(ctx context.Context, m *sys.Machine, cfg Config) (*Guest, error) {
	try := 1
	if cfg.Dir != "" || cfg.Spec.System == SystemDebian {
		try = mostStarts // what is kept is made once
	}
	for ; ; try++ {
		g, err := start(ctx, m, cfg, try)
		if !errors.Is(err, errStalled) || try >= mostStarts || ctx.Err() != nil {
			return g, err
		}
		if cfg.Log != nil {
			fmt.Fprintf(cfg.Log, "lab: %s: %v; starting another guest\n", cfg.Spec.Name, err)
		}
	}
}

// ownDir makes a directory that is the caller's alone, or confirms that it is: QEMU and its tools take
// names in it, so that nobody else may change the way to it.
func ownDir(name string) error {
	dir, err := sys.MakePath(name, 0o700)
	if err == nil {
		err = errors.Join(dir.CheckOwn(), dir.CheckTrusted(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return nil
}

// checkKept refuses a directory whose files lead elsewhere, as links in one that came out of an archive do: QEMU and
// its tools open them by their names.
func checkKept(name string) error {
	entries, err := os.ReadDir(name)
	for _, e := range entries {
		info, failed := e.Info()
		if err = errors.Join(err, failed); err != nil {
			break
		}
		if !info.IsDir() && (!info.Mode().IsRegular() || sys.Names(info) > 1) {
			return fmt.Errorf("lab: %s is not a regular file with a single name: remove it", filepath.Join(name, e.Name()))
		}
	}
	return err
}

// start is one try of Start: the second one may take twice as long, and so on.
func start(ctx context.Context, m *sys.Machine, cfg Config, try int) (g *Guest, err error) {
	// Nobody else may put anything into either: QEMU runs what is in the cache and writes to the volumes.
	_, err = cacheDir()
	if err == nil && cfg.Dir != "" {
		err = ownDir(cfg.Dir)
	}
	if err != nil {
		return nil, err
	}
	reason := Available(m)
	if reason == "" && cfg.Spec.System == SystemDebian {
		reason = debianAvailable(ctx, m)
	}
	if reason != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, reason)
	}
	if cfg.Persist && cfg.Spec.System == SystemDebian {
		return nil, errors.New("lab: Config.Persist is for a small guest: a Debian's own disk persists")
	}
	if cfg.Binary == "" {
		if cfg.Binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	g = &Guest{m: m, cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Stop())
			g = nil
		}
	}()
	if err := g.prepare(ctx); err != nil {
		return g, err
	}
	if err := g.addVolumes(); err != nil {
		return g, err
	}
	if cfg.Spec.System == SystemDebian { // whose boot has a limit of its own, and whose setup may be long
		err = g.up(ctx)
	} else {
		g.limit = time.Duration(try) * cmp.Or(cfg.SetupLimit, setupLimit)
		err = within(ctx, time.Duration(try)*plugLimit, g.up)
	}
	if err == nil {
		err = g.setup(ctx)
	}
	return g, err
}

// up boots the guest with its volumes and measures the way to them.
func (g *Guest) up(ctx context.Context) error {
	if err := g.boot(ctx); err != nil {
		return err
	}
	return g.calibrate(ctx)
}

// within does one step of a start, and gives it up after the limit; 0 is none.
func within(ctx context.Context, limit time.Duration, step func(context.Context) error) error {
	if limit == 0 {
		return step(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := step(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w for %v: %w", errStalled, text.Duration(limit), err)
	}
	return err
}

// prepare finds or makes what the guest starts from, and its directory.
func (g *Guest) prepare(ctx context.Context) error {
	begin := time.Now()
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, cache)
	if err != nil {
		return err
	}
	defer unlock()
	_, _ = sys.EndTemps(false) // of guests whose plimsoll was killed; it does what it can
	if g.base, err = makeBase(ctx, g.m, cache, g.cfg); err != nil {
		return err
	}
	if err := prune(cache); err != nil {
		return err
	}
	if g.sockets, err = sys.TempDir(tempUse); err != nil {
		return err
	}
	g.dir = g.sockets
	if g.cfg.Dir != "" { // two labs are kept off the same volumes
		g.dir = g.cfg.Dir
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if g.unlock, err = lock(short, g.dir); err != nil {
			return err
		}
		if err := checkKept(g.dir); err != nil {
			return err
		}
	}
	g.Started.Template = time.Since(begin)
	return nil
}

func makeBase(ctx context.Context, m *sys.Machine, cache string, cfg Config) (base, error) {
	if cfg.Spec.System == SystemDebian {
		return makeDisk(ctx, m, cache, cfg.Log)
	}
	img, err := buildImage(ctx, m, cache, cfg.Binary)
	if err != nil {
		return nil, err
	}
	return makeTemplate(ctx, m, cache, img, cfg)
}

// addVolumes starts the volume server.
func (g *Guest) addVolumes() error {
	var err error
	if g.server, err = ebs.Listen(filepath.Join(g.sockets, "volumes")); err != nil {
		return err
	}
	spec := g.cfg.Spec
	if spec.Instance != nil {
		g.instance = g.server.NewInstance(ebs.Limits{})
	}
	for group := range spec.Volumes {
		v := &spec.Volumes[group]
		for i := range v.Count {
			serial := v.serial(group, i)
			name := fmt.Sprint(v.Name, i)
			file := filepath.Join(g.dir, name+".raw")
			if _, err := os.Stat(file); err == nil {
				g.used = true
			}
			vol, err := g.server.Add(name, file, v.Size, g.instance, unlimited(v.behaviour(1, 0)))
			if err != nil {
				return err
			}
			g.Volumes = append(g.Volumes, &Volume{Volume: vol, Group: v.Name, Serial: serial, spec: v, scale: spec.Scale})
		}
	}
	return nil
}

// boot starts the guest and learns the names of its volumes.
func (g *Guest) boot(ctx context.Context) error {
	begin := time.Now()
	err := g.base.start(ctx, g)
	if err == nil {
		err = g.awaitDrives(ctx)
	}
	g.Started.Drives = time.Since(begin) - g.Started.Restore
	return err
}

// calibrate measures the way to a volume and back, which is the same for all.
func (g *Guest) calibrate(ctx context.Context) error {
	r, err := g.machine.agent.Call(ctx, agent.Request{Op: agent.OpProbe, Path: g.Volumes[0].Device}, agent.Streams{})
	g.Overhead = r.Wall
	for _, v := range g.Volumes {
		v.overhead = r.Wall
	}
	return err
}

// setup runs the spec's commands and puts the limits in force.
func (g *Guest) setup(ctx context.Context) error {
	begin, spec := time.Now(), g.cfg.Spec
	if len(spec.Arrays) > 0 {
		declared, err := spec.Declaration()
		if err == nil {
			err = within(ctx, g.limit, func(ctx context.Context) error {
				return g.Put(ctx, declaredPath, 0o644, []byte(declared))
			})
		}
		if err != nil {
			return err
		}
	}
	if err := g.putPrograms(ctx); err != nil {
		return err
	}
	if !g.used {
		if err := g.script(ctx, "setup", spec.Setup); err != nil {
			return err
		}
	}
	if err := g.Limit(); err != nil {
		return err
	}
	var err error
	if !g.used {
		err = g.script(ctx, "then", spec.Then)
	}
	g.Started.Setup = time.Since(begin)
	from, start := "template", "restore"
	if spec.System == SystemDebian {
		from, start = "image", "boot"
	}
	overhead := text.Duration(g.Overhead.Round(time.Microsecond))
	fmt.Fprintf(g.cfg.Log, "lab: %s at scale %g: %s %.1f s, %s %.2f s, %d volumes %.1f s, setup %.1f s, overhead %v\n",
		spec.Name, spec.Scale, from, g.Started.Template.Seconds(), start, g.Started.Restore.Seconds(),
		len(g.Volumes), g.Started.Drives.Seconds(), g.Started.Setup.Seconds(),
		overhead)
	if g.Overhead > MaxOverhead {
		fmt.Fprintf(g.cfg.Log, "lab: this host is too busy for latencies below %v to be shown: judge limits only\n",
			overhead)
	}
	return err
}

// Limit puts all limits in force, with full buckets, as after setup.
func (g *Guest) Limit() error {
	for _, v := range g.Volumes {
		if err := v.Limit(); err != nil {
			return err
		}
		v.Refill()
	}
	if in := g.cfg.Spec.Instance; in != nil {
		g.instance.SetLimits(limits(in.IOPS, in.Throughput, in.Burst, instanceSlack, g.cfg.Spec.Scale))
	}
	return nil
}

// Unlimit lifts all limits and latencies, for prefilling files or resyncing.
func (g *Guest) Unlimit() error {
	if g.instance != nil {
		g.instance.SetLimits(ebs.Limits{})
	}
	for _, v := range g.Volumes {
		if err := v.Unlimit(); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guest) script(ctx context.Context, what string, commands []string) error {
	for i, command := range commands {
		fmt.Fprintf(g.cfg.Log, "lab: %s %d/%d: %s\n", what, i+1, len(commands), text.Clean(command, 90))
		err := within(ctx, g.limit, func(ctx context.Context) error {
			r, err := g.Bash(ctx, command)
			if err == nil && r.Code != 0 {
				err = fmt.Errorf("exit status %d: %s%s", r.Code, r.Stdout, r.Stderr)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %s[%d]: %q: %w", g.cfg.Spec.Name, what, i, command, err)
		}
	}
	return nil
}

// PowerCut kills the guest as a power cut would, loses what volatile caches hold, and starts it
// again with the same volumes. Nothing is set up, and without Config.Persist a small guest's own
// files are as in the template; with it, arrays are assembled and /etc/fstab is mounted, as when a
// system boots. A Debian boots by itself.
func (g *Guest) PowerCut(ctx context.Context) error {
	g.machine.kill()
	for i, v := range g.Volumes {
		if _, _, err := v.PowerCut(0, uint64(i)); err != nil {
			return err
		}
	}
	if err := g.boot(ctx); err != nil || !g.cfg.Persist {
		return err
	}
	return g.startUp(ctx)
}

// shutdownTimeout is more than systemd gives a unit to stop, 90 s.
const shutdownTimeout = 2 * time.Minute

// Reboot shuts a Debian down, with its units stopped and its file systems synced and unmounted, and
// starts it again with the same volumes under other names.
func (g *Guest) Reboot(ctx context.Context) error {
	if g.cfg.Spec.System != SystemDebian {
		return fmt.Errorf("reboot: only a guest with system: %s has what to shut down: see PowerCut", SystemDebian)
	}
	if r, err := g.Exec(ctx, "systemctl", "reboot"); err == nil && r.Code != 0 {
		return fmt.Errorf("reboot: systemctl: %s", strings.TrimSpace(r.Stderr))
	} else if err != nil && !errors.Is(err, agent.ErrGone) { // it may be quicker than its answer
		return fmt.Errorf("reboot: %w", err)
	}
	down, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	select {
	case <-g.machine.ended: // QEMU ends where a machine would restart
	case <-down.Done():
		return fmt.Errorf("reboot: the guest does not shut down: %w%s", down.Err(),
			consoleTail(filepath.Join(g.dir, "console.log")))
	}
	g.machine.kill() // its connections
	return g.boot(ctx)
}

// Stop ends the guest and its volumes and removes its directory, unless the directory was given.
func (g *Guest) Stop() error {
	var err error
	if g.machine != nil {
		g.machine.kill()
	}
	if g.server != nil {
		err = g.server.Close()
	}
	if g.sockets != "" {
		err = errors.Join(err, os.RemoveAll(g.sockets))
	}
	if g.unlock != nil {
		g.unlock()
	}
	return err
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// consoleTail returns the end of a console log, for an error message.
func consoleTail(name string) string {
	text, err := os.ReadFile(name)
	if err != nil || len(text) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "; the console ends with: " + strings.Join(lines[max(0, len(lines)-3):], " | ")
}
