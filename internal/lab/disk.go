package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/lab/ebs"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// disk is what a Debian starts from: a disk of its own, made from the golden one at its first
// start. It boots the kernel and the initramfs that its own /boot holds, as a machine does.
type disk struct {
	golden string // the image in the cache
	file   string // the guest's, a raw ext4 file system; empty before the first start
}

// systemTimeout is many times what a boot takes on a busy host, and more than systemd waits for a
// device, 90 s.
const systemTimeout = 5 * time.Minute

// start boots the guest, with its volumes plugged in before the first instruction runs.
func (d *disk) start(ctx context.Context, g *Guest) error {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, systemTimeout)
	defer cancel()
	if d.file == "" {
		if err := d.install(ctx, g); err != nil {
			return err
		}
	}
	b, err := d.load(ctx, g.m, g.sockets)
	if err != nil {
		return err
	}
	args := append([]string{"-S", "-object", "memory-backend-ram,id=ram0,size=" + guestMemory}, qemuArgs(b)...)
	console := filepath.Join(g.dir, "console.log")
	if g.machine, err = launch(ctx, g.m, g.sockets, console, args...); err != nil {
		return err
	}
	if err := g.plugOwn(ctx); err != nil {
		return err
	}
	if err := g.plugAll(ctx); err != nil {
		return err
	}
	if err := g.machine.qmp.do(ctx, "cont", nil, nil); err != nil {
		return err
	}
	// Its exit status says the same.
	r, err := g.Exec(ctx, "systemctl", "is-system-running", "--wait")
	if err != nil {
		return fmt.Errorf("boot: %w%s", err, consoleTail(console))
	}
	g.State = strings.TrimSpace(r.Stdout)
	g.Started.Restore = time.Since(begin)
	return nil
}

// install gives the guest its disk, with this plimsoll on it. A disk that Config.Dir holds already
// stays as it is.
func (d *disk) install(ctx context.Context, g *Guest) error {
	file := filepath.Join(g.dir, "root.raw")
	if _, err := os.Stat(file); err != nil {
		if err := g.m.Run(ctx, io.Discard, "cp", "--sparse=always", "--reflink=auto", d.golden, file); err != nil {
			return err
		}
	}
	if err := repair(ctx, g.m, file); err != nil {
		return err
	}
	if err := writeInto(ctx, g.m, file, g.cfg.Binary, "/usr/bin/plimsoll", "0100755"); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	g.system, err = g.server.Add("system", file, units.Bytes(info.Size()), nil, ebs.Behaviour{})
	d.file = file
	return err
}

// load does what a boot loader does: it takes the kernel and the initramfs that Debian links from /
// from the disk. The journal of the file system is replayed first; a boot loader reads past it, and
// may find what was there before a power cut.
func (d *disk) load(ctx context.Context, m *sys.Machine, to string) (boot, error) {
	b := boot{
		kernel: filepath.Join(to, "vmlinuz"), initrd: filepath.Join(to, "initrd.img"),
		append: " root=LABEL=" + rootLabel + " ro systemd.show_status=0",
	}
	if err := repair(ctx, m, d.file); err != nil {
		return b, err
	}
	for link, file := range map[string]string{"/vmlinuz": b.kernel, "/initrd.img": b.initrd} {
		var stat bytes.Buffer
		if err := debugfs(ctx, m, &stat, d.file, "stat "+link); err != nil {
			return b, err
		}
		_, target, _ := strings.Cut(stat.String(), `Fast link dest: "`)
		target, _, _ = strings.Cut(target, `"`)
		if err := dump(ctx, m, d.file, path.Join("/", target), file); err != nil {
			return b, fmt.Errorf("%s: %w", link, err)
		}
	}
	return b, nil
}

// repair replays the file system's journal. Exit statuses 1 and 2 say that something was to repair
// and is repaired.
func repair(ctx context.Context, m *sys.Machine, image string) error {
	err := m.Run(ctx, io.Discard, "e2fsck", "-p", image)
	if failed, ok := errors.AsType[*sys.Failed](err); ok && failed.Code > 0 && failed.Code <= 2 {
		return nil
	}
	return err
}

// debugfs runs a command on a file system that is not in use. Its exit status is 0 whatever
// happens.
func debugfs(ctx context.Context, m *sys.Machine, out io.Writer, image, command string, flags ...string) error {
	return m.Run(ctx, out, append(append([]string{"debugfs"}, flags...), "-R", command, image)...)
}

// dump copies a file out of a file system.
func dump(ctx context.Context, m *sys.Machine, image, name, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := debugfs(ctx, m, io.Discard, image, fmt.Sprintf("dump %q %q", name, to)); err != nil {
		return err
	}
	if info, err := os.Stat(to); err != nil || info.Size() == 0 {
		return fmt.Errorf("lab guest: its %s cannot be read", name)
	}
	return nil
}

// writeInto copies a file into a file system, and looks whether it is there.
func writeInto(ctx context.Context, m *sys.Machine, image, from, name, mode string) error {
	want, err := hashFile(from)
	if err != nil {
		return err
	}
	if from, err = filepath.Abs(from); err != nil {
		return err
	}
	for _, command := range []string{
		fmt.Sprintf("rm %q", name), fmt.Sprintf("write %q %q", from, name), fmt.Sprintf("set_inode_field %q mode %s",
			name, mode),
	} {
		if err := debugfs(ctx, m, io.Discard, image, command, "-w"); err != nil {
			return err
		}
	}
	back := image + ".check"
	defer func() { _ = os.Remove(back) }() // the directory goes with the guest
	if err := dump(ctx, m, image, name, back); err != nil {
		return err
	}
	if got, err := hashFile(back); err != nil || got != want {
		return errors.Join(err, fmt.Errorf("lab guest: %s cannot be written", name))
	}
	return nil
}

// systemSize is the least that mkfs.xfs takes, and then some.
const systemSize = 320 * units.MiB

// mountSystem puts /etc, /boot, /root and /var on XFS: of all file systems it is the one that loses
// most of what was not synced, so that a power cut shows a missing fsync.
const mountSystem = `
modprobe virtio_blk
for i in $(seq 500); do [ -b /dev/vda ] && break; sleep 0.02; done
mkdir -p /run/system /boot
if [ $fresh = yes ]; then mkfs.xfs -q -K -L system /dev/vda || exit; fi
mount /dev/vda /run/system || exit
for d in etc boot root var; do
	[ -e /run/system/$d ] || cp -a /$d /run/system/ || exit
	mount --bind /run/system/$d /$d || exit
done
if [ $fresh = yes ]; then sync; fi
`

// plugSystem plugs in and mounts the system volume of a small guest. It is there before the others
// are, so that udev assembles their arrays by the mdadm.conf that survived.
func (g *Guest) plugSystem(ctx context.Context) error {
	fresh := "no"
	if g.system == nil {
		file := filepath.Join(g.dir, "system.raw")
		if _, err := os.Stat(file); err != nil {
			fresh = "yes"
		}
		var err error
		if g.system, err = g.server.Add("system", file, systemSize, nil, ebs.Behaviour{}); err != nil {
			return err
		}
	}
	if err := g.plugOwn(ctx); err != nil {
		return err
	}
	_, err := g.must(ctx, nil, "bash", "-c", "fresh="+fresh+"\n"+mountSystem)
	return err
}

// plugOwn attaches g.system as a virtio disk, which no one takes for one of the NVMe volumes.
func (g *Guest) plugOwn(ctx context.Context) error {
	if len(g.Volumes) >= rootPorts {
		return fmt.Errorf("%d volumes and a disk of the system's own: at most %d", len(g.Volumes), rootPorts-1)
	}
	return g.attach(ctx, "system", g.system.Name(), object{
		"driver": "virtio-blk-pci", "id": "system", "bus": fmt.Sprint("rp", rootPorts-1), "serial": "system",
	})
}

// startUp does what a system's services do with storage when it boots; what fails is for the caller
// to find out.
func (g *Guest) startUp(ctx context.Context) error {
	_, err := g.Exec(ctx, "bash", "-c", "mdadm --assemble --scan; vgchange -aay; udevadm settle; swapon -a; mount -a")
	return err
}
