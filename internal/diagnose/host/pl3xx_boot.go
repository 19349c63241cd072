package host

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// systemPoints are mounted by the initramfs or must be there for the boot to go on, so that nofail
// has no place on them.
var systemPoints = []string{"/", "/boot", "/boot/efi", "/usr", "/var"}

// inMemory are filesystems of which nothing is left after a boot.
var inMemory = []string{"rootfs", "tmpfs", "ramfs", "overlay"}

// boots says whether the machine that was looked at boots from what it has now. One whose root is
// in memory, a live image, a container or the lab, is set up by something else, and its /etc says
// nothing.
func boots(c *facts) bool {
	if c.Topology == nil || c.Topology.Tree == nil {
		return false
	}
	return !slices.ContainsFunc(c.Topology.Tree.Mounts,
		func(m block.Mount) bool { return m.Point == "/" && slices.Contains(inMemory, m.FS) })
}

// driverNames change from boot to boot, as drives answer in another order; md127 is what an unknown
// array is called.
var driverNames = regexp.MustCompile(`^/dev/(nvme\d|sd[a-z]|xvd[a-z]|vd[a-z]|zd\d|dm-\d|md12\d$)`)

func wrongFstab(c *facts, report reporter) {
	if !boots(c) || !c.Host.Boot.FstabKnown {
		return
	}
	for _, m := range c.Mounts() {
		d := c.Device(m.Device)
		if d == nil || slices.Contains(systemPoints, m.Point) {
			continue
		}
		if slices.Contains(c.Host.Boot.Units, m.Point) {
			report(finding.Fine(m.Point, "a systemd unit mounts %s", m.Point))
			continue
		}
		f := fault{Subject: m.Point}
		i := slices.IndexFunc(c.Host.Boot.Fstab, func(l host.Fstab) bool { return l.Point == m.Point })
		if part := m.Root != "" && m.Root != "/"; part && (i < 0 || slices.Contains(c.Host.Boot.Fstab[i].Options, "bind")) {
			continue // of another mount
		}
		if i < 0 {
			f.Say("%s is mounted, but no line in /etc/fstab will mount it again.", m.Point)
			f = f.Saw("line for "+m.Point, "none", "one", "/etc/fstab")
			if d.UUID != "" {
				line := fmt.Sprintf(
					"UUID=%s %s %s defaults,noatime,nofail 0 2",
					d.UUID,
					strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(m.Point),
					m.FS,
				)
				f = f.Run("echo %s >> /etc/fstab", line)
			}
			report(f)
			continue
		}
		if !fstabLine(c, m, d, c.Host.Boot.Fstab[i], &f) {
			f = finding.Fine(m.Point, "fstab mounts %s", m.Point)
		}
		report(f)
	}
}

// fstabLine holds a line against what is mounted.
func fstabLine(c *facts, m diagnose.Mounted, d *block.Device, l host.Fstab, f *fault) bool {
	where := fmt.Sprintf("/etc/fstab:%d", l.Line)
	kind, value, tagged := strings.Cut(l.Spec, "=")
	other := c.Topology.Tree.Device(l.Spec)
	is := map[string]string{"UUID": d.UUID, "LABEL": d.Label}[kind]
	same := other == nil || other.Name == d.Name || other.UUID != "" && other.UUID == d.UUID || // btrfs, on several
		strings.HasPrefix(d.DM, "mpath-") && slices.Contains(d.Slaves, other.Name)
	if tagged && is != "" && is != value || !tagged && !same {
		f.Severity, f.Title = finding.Fail, "fstab mounts another filesystem here"
		f.Say("/etc/fstab mounts a different filesystem at %s than the one mounted there now.", m.Point)
		*f = f.Saw("source of "+m.Point, l.Spec, cmp.Or(kind+"="+is, d.Path), where)
		if !tagged {
			f.Evidence[0].Expected = "UUID=" + d.UUID
		}
		return true
	}
	if driverNames.MatchString(l.Spec) {
		f.Title = "fstab mounts by a name that may change"
		f.Say("/etc/fstab mounts %s by %s, a name that may refer to another drive after a reboot.", m.Point,
			l.Spec)
		*f = f.Saw("source of "+m.Point, l.Spec, "UUID="+d.UUID, where)
	}
	// Drives of the machine itself are there at boot or are lost, and whoever runs a database may want the boot to stop.
	network := m.Array != nil && slices.ContainsFunc(m.Array.Volumes, func(v topology.Volume) bool { return v.Network })
	if network && !slices.Contains(l.Options, "nofail") && !slices.Contains(l.Options, "noauto") {
		if f.Message == "" {
			f.Severity, f.Title = finding.Info, "booting waits for this mount"
			f.Say("Without nofail in /etc/fstab, booting stops if the volumes of %s are not attached.", m.Point)
		}
		*f = f.Saw("options of "+m.Point, strings.Join(l.Options, ","), "with nofail", where)
	}
	return f.Message != ""
}

// raids lists the md arrays below the tested paths that a boot has to bring back; none where /etc was not seen.
func raids(c *facts) []*block.Device {
	var all []*block.Device
	for _, t := range c.Targets() {
		if !boots(c) || !c.Host.Boot.FstabKnown {
			break
		}
		for _, name := range c.Topology.Tree.Below(t.Device) {
			if d := c.Device(name); d.MD != nil && !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// ownName is what an array may be called by below /dev/md; a number would be a kernel name.
var ownName = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)

// arrayLine is the command that prints an ARRAY line for the array as it is called now. One that
// came up as another host's, md127 and /dev/md/HOST:NAME, is called by its own name again, unless
// another array is.
func arrayLine(c *facts, d *block.Device) string {
	_, name, _ := strings.Cut(d.MD.Name, ":")
	own, uuid := "/dev/md/"+name, block.BareUUID(d.MD.UUID)
	if len(uuid) != 32 || !ownName.MatchString(name) || !slices.Contains(d.Links, "/dev/md/"+d.MD.Name) ||
		c.Topology.Tree.Device(own) != nil {
		return finding.Shell("mdadm --detail --brief %s", d.Path)
	}
	return finding.Shell("echo %s",
		fmt.Sprintf("ARRAY %s UUID=%s:%s:%s:%s", own, uuid[:8], uuid[8:16], uuid[16:24], uuid[24:]))
}

// identifies says that an ARRAY line is an array's: each identity that it gives must be the array's
// (mdadm.conf(5), ARRAY), a name also without the host before it. A line without identities has the device alone.
func identifies(a host.Array, d *block.Device) bool {
	_, bare, _ := strings.Cut(d.MD.Name, ":")
	uuid := a.UUID == "" || block.BareUUID(a.UUID) == block.BareUUID(d.MD.UUID)
	named := a.Name == "" || d.MD.Name == "" && a.UUID != "" || a.Name == d.MD.Name || a.Name == bare
	return uuid && named && (a.UUID != "" || a.Name != "" || callsIt(a, d))
}

// callsIt says that an ARRAY line has the name of an array's device.
func callsIt(a host.Array, d *block.Device) bool {
	return a.Device != "" && (a.Device == d.Path || slices.Contains(d.Links, a.Device))
}

func unknownArray(c *facts, report reporter) {
	for _, d := range raids(c) {
		known := slices.ContainsFunc(c.Host.Boot.Arrays, func(a host.Array) bool { return identifies(a, d) })
		if conf := c.Host.Boot.Mdadm; known && conf != nil {
			report(finding.Fine(d.Name, "%s names %s", conf.Path, d.Name))
		}
		if known || d.MD.UUID == "" && len(c.Host.Boot.Arrays) > 0 {
			continue // without its UUID nothing can be said
		}
		file, found := "/etc/mdadm.conf", "no such file"
		if conf := c.Host.Boot.Mdadm; conf != nil {
			found = text.Plural(len(c.Host.Boot.Arrays), "other array")
		}
		if conf := c.Host.Boot.Mdadm; conf != nil && slices.Contains(host.MdadmConfs, conf.Path) {
			file = conf.Path // a record names no file to write to
		}
		f, command := finding.New(d.Name, "%s is assembled, but no ARRAY line names it.", d.Path), arrayLine(c, d)
		stale := false
		for _, a := range c.Host.Boot.Arrays {
			if a.UUID != "" && (callsIt(a, d) || a.Name != "" && a.Name == d.MD.Name) {
				f.Say("%s is assembled, but the ARRAY line with its name has the UUID of another array.", d.Path)
				f.Fix = "Replace the line with the one that mdadm prints, and rebuild the initramfs."
				found, stale = "UUID="+clip(a.UUID), true
			}
		}
		if !stale {
			command += " >> " + text.ShellQuote(file)
		}
		f = f.Saw("ARRAY line for "+d.Name, found, "UUID="+d.MD.UUID, file)
		f.Commands = []string{command}
		if c.Host.Boot.Initramfs != nil {
			f.Commands = append(f.Commands, renewal(c.Host.Boot))
		}
		report(f)
	}
}

// renewal is the command that rebuilds the initramfs, one of those that plimsoll knows: a record
// names no program. A captured machine lacks its programs: there it is Debian's where the image has
// Debian's name.
func renewal(b host.Boot) string {
	for _, program := range []string{"update-initramfs", "dracut"} {
		only := func(name string) bool { return name == program }
		if known := strings.Join(host.Renewal(only), " "); known == b.Renewal {
			return known
		}
	}
	return strings.Join(host.Renewal(func(program string) bool {
		return program == "dracut" || strings.HasPrefix(b.Initramfs.Path, "/boot/initrd.img-")
	}), " ")
}

func staleInitramfs(c *facts, report reporter) {
	all := raids(c)
	if len(all) == 0 || c.Host.Boot.Mdadm == nil || c.Host.Boot.Initramfs == nil {
		return
	}
	conf, image := c.Host.Boot.Mdadm, c.Host.Boot.Initramfs
	if !conf.Modified.After(image.Modified) {
		report(finding.Fine(all[0].Name, "%s is no older than %s", image.Path, conf.Path))
		return
	}
	const layout = "2006-01-02 15:04:05"
	f := finding.New(all[0].Name, "%s was made before %s was last written.", image.Path, conf.Path).
		Saw("written", image.Modified.UTC().Format(layout), "after "+conf.Modified.UTC().Format(layout), image.Path)
	f.Commands = []string{renewal(c.Host.Boot)}
	report(f)
}
