package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/lab/ebs"
	"plimsoll/internal/units"
)

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
