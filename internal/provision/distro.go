package provision

import (
	"slices"
	"strings"

	"plimsoll/internal/provision/records"
)

// family is a distribution's: how its packages are called and installed (os-release(5), ID and
// ID_LIKE).
type family struct {
	ids     []string
	install string
	// packages are named where they differ from packageOf.
	packages map[string]string
}

var families = []family{
	{[]string{"debian", "ubuntu"}, "apt-get install", nil},
	{[]string{"rhel", "fedora", "centos", "amzn", "rocky", "almalinux", "ol"}, "dnf install", nil},
	{[]string{"suse", "opensuse", "sles"}, "zypper install", map[string]string{"sgdisk": "gptfdisk"}},
	{[]string{"arch"}, "pacman -S", map[string]string{"sgdisk": "gptfdisk"}},
	{[]string{"alpine"}, "apk add", map[string]string{"sgdisk": "sgdisk"}},
}

// packageOf is the package of each program that provisioning starts, as Debian and the RPM
// distributions call it.
var packageOf = map[string]string{
	"sgdisk":    "gdisk",
	"mkfs.xfs":  "xfsprogs",
	"mkfs.ext4": "e2fsprogs",
	"mdadm":     "mdadm",
	"blkid":     "util-linux",
	"wipefs":    "util-linux",
	"pvcreate":  "lvm2",
	"vgcreate":  "lvm2",
	"lvcreate":  "lvm2",
}

// install is the command that installs a program on this distribution; the package's name alone
// where the distribution is not known.
func (s *Site) install(program string) string {
	name := packageOf[program]
	if name == "" {
		name = program
	}
	ids := s.distribution()
	for _, f := range families {
		if slices.ContainsFunc(f.ids, func(id string) bool { return slices.Contains(ids, id) }) {
			if other := f.packages[program]; other != "" {
				name = other
			}
			return f.install + " " + name
		}
	}
	return "install " + name
}

// distribution is ID and ID_LIKE of /etc/os-release.
func (s *Site) distribution() []string {
	var ids []string
	for line := range strings.Lines(s.text("etc/os-release")) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key == "ID" || key == "ID_LIKE" {
			for id := range strings.FieldsSeq(strings.Trim(value, `"'`)) {
				name, _, _ := strings.Cut(id, "-") // opensuse-leap
				ids = append(ids, name)
			}
		}
	}
	return ids
}

// relabel gives files the SELinux label of their place, where SELinux is on: the root of a new
// filesystem has none, and confined services may not use it (restorecon(8)).
func (p *planner) relabel(paths ...string) []records.Action {
	if !p.has("/sys/fs/selinux/enforce") || !p.installed("restorecon") {
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
