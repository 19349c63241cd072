package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// plugAll attaches every volume over NBD and plugs it in as an NVMe controller of its own, in any
// order.
func (g *Guest) plugAll(ctx context.Context) error {
	ports := rand.Perm(len(g.Volumes))
	for i, v := range g.Volumes {
		if err := g.plug(ctx, v, i, ports[i]); err != nil {
			return err
		}
	}
	return nil
}

// Until QEMU 8.1.1 ("softmmu: Use async_run_on_cpu in tcg_commit"), what one CPU writes to a device
// can be lost when another CPU changes the memory map at that moment. While the next controllers got
// their addresses, one controller lost the doorbell of its second command, and others an entry of
// their interrupt table, so that each I/O of a queue waited for its timeout: in three of 185 starts
// with 16 volumes. So a guest has one CPU until its drives are there; see docs/lab.md.
const (
	oneCPU  = `echo 0 > /sys/devices/system/cpu/cpu1/online && touch /run/lab-one-cpu`
	allCPUs = `
if [ -e /run/lab-one-cpu ]; then rm /run/lab-one-cpu; echo 1 > /sys/devices/system/cpu/cpu1/online; fi
`
)

func (g *Guest) plug(ctx context.Context, v *Volume, index, port int) error {
	node := fmt.Sprint("v", index)
	return g.attach(ctx, node, v.Name(), object{
		"driver": "nvme", "id": "nvme-" + node, "serial": v.Serial, "bus": fmt.Sprint("rp", port),
		"mdts": 6, // 2^6 pages: requests of up to 256 KiB, as on EC2
	})
}

// attach makes a volume known to QEMU, and plugs a device with it in.
func (g *Guest) attach(ctx context.Context, node, volume string, device object) error {
	server := object{"type": "unix", "path": filepath.Join(g.sockets, "volumes")}
	err := g.machine.qmp.do(ctx, "blockdev-add", object{
		"driver": "nbd", "node-name": node, "server": server, "export": volume, "discard": "unmap",
	}, nil)
	if err == nil {
		device["drive"] = node
		err = g.machine.qmp.do(ctx, "device_add", device, nil)
	}
	if err != nil {
		return fmt.Errorf("volume %s: %w", volume, err)
	}
	return nil
}

// awaitDrives waits until the guest has all volumes, tells it how they differ from QEMU's, and
// learns their names: the controllers are probed at the same time, so that nvme0 is another volume
// at each start, as on EC2.
func (g *Guest) awaitDrives(ctx context.Context) error {
	script := fmt.Sprintf(`
i=0
until n=(/sys/block/nvme*n1) && [ -e ${n[0]} ] && [ ${#n[@]} -ge %d ]; do
	i=$((i+1)); [ $i -lt 1500 ] || { echo "only ${#n[@]} of %[1]d volumes came up" >&2; exit 1; }
	sleep 0.02
done
udevadm settle
%s
for d in /sys/block/nvme*n1; do
	read -r serial < $d/device/serial
	case " $nocache " in *" $serial "*) echo write through > $d/queue/write_cache;; esac
	case " $nodiscard " in *" $serial "*) echo 0 > $d/queue/discard_max_bytes;; esac
	echo $serial ${d##*/}
done
`, len(g.Volumes), allCPUs)
	// EBS volumes have no volatile cache and do not discard; QEMU's drives claim both.
	var noCache, noDiscard []string
	for _, v := range g.Volumes {
		if v.spec.Cache == "none" {
			noCache = append(noCache, v.Serial)
		}
		if v.spec.Like == "ebs" {
			noDiscard = append(noDiscard, v.Serial)
		}
	}
	head := fmt.Sprintf("nocache=%q nodiscard=%q\n", strings.Join(noCache, " "), strings.Join(noDiscard, " "))
	said, err := g.must(ctx, nil, "bash", "-c", head+script)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) == 2 {
			names[f[0]] = "/dev/" + f[1]
		}
	}
	for _, v := range g.Volumes {
		if v.Device = names[v.Serial]; v.Device == "" {
			return fmt.Errorf("lab guest: no drive has the serial %s", v.Serial)
		}
	}
	return nil
}

// Unplug takes a volume from the running guest, as detaching it would; the next start has it again.
func (g *Guest) Unplug(ctx context.Context, v *Volume) error {
	for index, other := range g.Volumes {
		if other != v {
			continue
		}
		if err := g.machine.qmp.do(ctx, "device_del", object{"id": fmt.Sprint("nvme-v", index)}, nil); err != nil {
			return fmt.Errorf("volume %s: %w", v.Name(), err)
		}
		for {
			select {
			case event := <-g.machine.qmp.events:
				if event == "DEVICE_DELETED" {
					return nil
				}
			case <-g.machine.ended:
				return errMonitorGone
			case <-ctx.Done():
				return fmt.Errorf("volume %s: the guest does not let go of it: %w", v.Name(), ctx.Err())
			}
		}
	}
	return fmt.Errorf("volume %s: not of this guest", v.Name())
}
