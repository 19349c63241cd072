package topology

import (
	"cmp"
	"io/fs"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// ReadHost describes the machine from /proc, /etc and DMI, none of which needs root.
func ReadHost(root fs.FS) Host {
	h := Host{
		Name:   readText(root, "proc/sys/kernel/hostname"),
		Kernel: readText(root, "proc/sys/kernel/osrelease"),
		Virt:   virt(root),
	}
	for line := range strings.Lines(readText(root, "etc/os-release")) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			h.OS = strings.Trim(v, `"'`)
		}
	}
	for line := range strings.Lines(readText(root, "proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "processor":
			h.CPUs++
		case "model name":
			h.CPU = strings.TrimSpace(value)
		}
	}
	h.Memory = units.Bytes(sys.Meminfo(root, "MemTotal"))
	return h
}

// virt names what the machine runs on, "" for hardware or when it does not say.
func virt(root fs.FS) string {
	switch vendor := readText(root, "sys/class/dmi/id/sys_vendor"); vendor {
	case "Amazon EC2", "QEMU", "Google", "Microsoft Corporation", "VMware, Inc.", "Xen", "innotek GmbH":
		return vendor
	}
	return readText(root, "sys/hypervisor/type")
}

// readInstance is what the firmware tells of the machine: on EC2 its type and id, on other clouds
// less.
func readInstance(root fs.FS) Instance {
	p := cloud.At(root)
	if p == nil {
		return Instance{}
	}
	id := p.Firmware(root)
	i := Instance{Type: id.InstanceType, ID: id.InstanceID, Cloud: cloudOf(p)}
	if i.Type != "" {
		i.Origin = Origin{Detected, "/sys/class/dmi/id/product_name"}
	}
	return i
}

// cloudOf is what texts call a cloud other than EC2, which they take for granted.
func cloudOf(p *cloud.Provider) string {
	if p == nil || p == cloud.AWS() {
		return ""
	}
	return p.Terms().Cloud
}

// Example is how --volumes names volumes: with a type of the cloud that the machine is on.
func (i Instance) Example() string {
	return "8x" + i.example()
}

func (i Instance) example() string { return cmp.Or(cloud.Named(i.Cloud), cloud.AWS()).Terms().Example }

// readText is a small file without the white space around it, "" when it cannot be read.
func readText(root fs.FS, name string) string {
	data, err := block.ReadAll(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
