package provision

import "plimsoll/internal/provision/records"

// packageOf is the package of a program, where it has another name.
var packageOf = map[string]string{
	"sgdisk":    "gdisk (gptfdisk on SUSE and Arch)",
	"mkfs.xfs":  "xfsprogs",
	"mkfs.ext4": "e2fsprogs",
	"blkid":     "util-linux",
	"wipefs":    "util-linux",
	"pvcreate":  "lvm2",
	"vgcreate":  "lvm2",
	"lvcreate":  "lvm2",
}

// relabel gives files the SELinux label of their place, where SELinux is on: the root of a new
// filesystem has none, and confined services may not use it (restorecon(8)).
func (p *planner) relabel(paths ...string) []records.Action {
	if !p.has("/sys/fs/selinux/enforce") || !p.Installed("restorecon") {
		return nil
	}
	return []records.Action{records.Run(append([]string{"restorecon"}, paths...)...)}
}

// order says how a service waits for a mount that must not keep the machine from booting.
func (p *planner) order(mount string) {
	if p.has("/run/systemd/system") {
		p.note("the boot does not wait for %s (nofail): a service that needs it says so itself: "+
			"RequiresMountsFor=%s in its unit", mount, mount)
	}
}
