package block

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing/fstest"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"plimsoll/internal/sys"
)

// captured are the attributes that Read looks at, below a device's directory; capturedHost is what
// describes the host.
var (
	capturedAttrs = strings.Fields(`
	dev size start ro partition hidden serial wwid device/model device/serial
	device/firmware_rev device/rev device/wwid device/state device/numa_node device/device/numa_node
	device/device/current_link_speed device/device/current_link_width
	device/device/max_link_speed device/device/max_link_width
	dm/name dm/uuid loop/backing_file`)
	capturedHost = strings.Fields(`
	proc/self/mountinfo proc/swaps proc/mdstat proc/sys/kernel/osrelease proc/cpuinfo
	proc/meminfo etc/os-release sys/class/dmi/id/sys_vendor sys/class/dmi/id/product_name`)
	// capturedSettings are patterns of what package host looks at. Two processors stand for all.
	capturedSettings = strings.Fields(`
	proc/version proc/uptime proc/sys/vm/dirty_* proc/sys/vm/swappiness proc/sys/vm/zone_reclaim_mode
	sys/kernel/mm/transparent_hugepage/enabled sys/module/nvme_core/parameters/io_timeout
	sys/devices/system/cpu/cpufreq/policy[01]/scaling_[adg]*
	sys/devices/system/cpu/cpufreq/policy[01]/energy_performance_preference
	sys/devices/system/cpu/cpu[01]/cpuidle/state*/[dln]a* sys/devices/system/cpu/cpu[01]/cpuidle/state*/disable
	sys/devices/system/clocksource/clocksource0/*_clocksource sys/devices/system/node/node*/cpulist
	etc/mdadm/mdadm.conf etc/mdadm.conf etc/systemd/system/*.mount
	etc/tuned/active_profile etc/tuned/*/tuned.conf etc/tuned/profiles/*/tuned.conf`)
	// secrets name a machine or a drive.
	secrets = []string{"serial", "wwid", "uuid"}
)

// Capture writes what Read sees of a machine as a txtar archive, for a bug report or a test. Serial
// numbers, UUIDs and the host's name are masked, the same one by the same mask, so that what
// belongs together can still be seen.
func Capture(w io.Writer, m *sys.Machine) error {
	c := &capture{root: m.Root, archive: &txtar.Archive{}, mask: map[string]string{}}
	entries, err := fs.ReadDir(m.Root, classBlock)
	if err != nil {
		return fmt.Errorf("/%s: %w", classBlock, cause(err))
	}
	for _, name := range capturedHost {
		c.file(name)
	}
	for _, pattern := range capturedSettings {
		names, _ := fs.Glob(m.Root, pattern) // the patterns are well formed
		for _, name := range names {
			c.file(name)
		}
	}
	c.lines("etc/fstab", local)
	settings, _ := fs.Glob(m.Root, "etc/sysctl.d/*.conf") // the pattern is well formed
	for _, name := range append(settings, "etc/sysctl.conf") {
		c.lines(name, ofMemory)
	}
	// What is enabled, or masked.
	for _, link := range []string{
		"timers.target.wants/fstrim.timer", "fstrim.timer", "multi-user.target.wants/tuned.service",
	} {
		if to, err := fs.ReadLink(m.Root, "etc/systemd/system/"+link); err == nil {
			c.add("etc/systemd/system/"+link, []byte("-> "+to+"\n"))
		}
	}
	if host, err := ReadAll(m.Root, "proc/sys/kernel/hostname"); err == nil && len(host) > 1 {
		// Only where it is surely a name: md calls its arrays host:name.
		c.mask[strings.TrimSpace(string(host))+":"] = "host:"
		c.add("proc/sys/kernel/hostname", []byte("host\n"))
	}
	for _, e := range entries {
		c.device(e.Name())
	}
	slices.SortFunc(c.archive.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
	c.archive.Files = slices.CompactFunc(c.archive.Files, func(a, b txtar.File) bool { return a.Name == b.Name })
	c.archive.Comment = fmt.Appendf(nil,
		"Captured by plimsoll inspect --capture on %s; serial numbers, UUIDs and the host's name are masked.\n",
		m.Now().UTC().Format("2006-01-02"))
	// Last, when all secrets are known: they appear in mount sources, links and names too.
	for i, f := range c.archive.Files {
		c.archive.Files[i].Data = c.masked(f.Data)
	}
	_, err = w.Write(txtar.Format(c.archive))
	return err
}

type capture struct {
	root    fs.FS
	archive *txtar.Archive
	mask    map[string]string
}

func (c *capture) add(name string, data []byte) {
	c.archive.Files = append(c.archive.Files, txtar.File{Name: name, Data: data})
}

// file copies a readable text file.
func (c *capture) file(name string) {
	data, err := ReadAll(c.root, name)
	if err != nil || len(data) == 0 || !utf8.Valid(data) || bytes.Contains(data, []byte("\n-- ")) {
		return
	}
	if path.Base(name) == "cpuinfo" { // one processor says what the model is, the rest how many
		data = cpuSummary(data)
	}
	for _, s := range secrets {
		if path.Base(name) == s {
			c.secret(string(data))
		}
	}
	c.add(name, append(bytes.TrimRight(data, "\n"), '\n'))
}

// lines copies of a file the lines that are wanted, so that they keep their numbers.
func (c *capture) lines(name string, wanted func(line string) bool) {
	data, err := ReadAll(c.root, name)
	if err != nil {
		return
	}
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		if wanted(strings.TrimSpace(line)) {
			kept.WriteString(line)
		} else {
			kept.WriteString("#\n")
		}
	}
	c.add(name, []byte(kept.String()))
}

// local says that a line of fstab is of a local filesystem: those of others may hold passwords.
func local(line string) bool {
	i := strings.IndexAny(line, "=/")
	return i >= 0 && (strings.HasPrefix(line, "/dev/") ||
		slices.Contains([]string{"UUID", "LABEL", "PARTUUID", "PARTLABEL"}, line[:i]))
}

// ofMemory says that a line of sysctl.conf sets vm.*: others may name hosts.
func ofMemory(line string) bool {
	line = strings.TrimPrefix(line, "-")
	return strings.HasPrefix(line, "vm.") || strings.HasPrefix(line, "vm/")
}

// device copies one device, with its directory in place of the symbolic link: the parents below
// /sys/devices say nothing.
func (c *capture) device(name string) {
	dir := path.Join(classBlock, name)
	for _, attr := range capturedAttrs {
		c.file(path.Join(dir, attr))
	}
	for _, sub := range []string{"queue", "md", "md/bitmap", "slaves", "holders", "mq"} {
		entries, _ := fs.ReadDir(c.root, path.Join(dir, sub)) // a device without it has nothing to copy
		for _, e := range entries {
			at := path.Join(dir, sub, e.Name())
			switch {
			case sub == "slaves" || sub == "holders":
				c.add(at, []byte("-> ../../"+e.Name()+"\n"))
			case sub == "mq":
				c.add(path.Join(at, "nr_tags"), []byte("0\n"))
			case strings.HasPrefix(e.Name(), "dev-") && sub == "md":
				for _, attr := range []string{"slot", "state", "offset", "errors"} {
					c.file(path.Join(at, attr))
				}
			case e.Type().IsRegular():
				c.file(at)
			}
		}
	}
	entries, _ := fs.ReadDir(c.root, dir) // as above
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if _, err := fs.Stat(c.root, path.Join(at, "partition")); err == nil {
			c.add(at, []byte("-> ../"+e.Name()+"\n"))
		}
	}
	dev, _ := ReadAll(c.root, dir+"/dev") // without a number there is no entry either
	udev := "run/udev/data/b" + strings.TrimSpace(string(dev))
	if data, err := ReadAll(c.root, udev); err == nil {
		for k, v := range parseUdev(string(data)).Props {
			if strings.Contains(k, "SERIAL") || strings.Contains(k, "UUID") || strings.Contains(k, "WWN") {
				c.secret(v)
			}
		}
	}
	c.file(udev)
}

// secret remembers something to mask. An EBS volume keeps its shape, vol and 17 digits, for that is
// how it is known.
func (c *capture) secret(s string) {
	s = strings.TrimSpace(s)
	if len(s) < 4 || c.mask[s] != "" {
		return
	}
	sum := sha256.Sum256([]byte("plimsoll" + s))
	hash := fmt.Sprintf("%x", sum)
	body, vol := strings.CutPrefix(s, "vol")
	switch {
	case vol && len(strings.TrimPrefix(body, "-")) == 17:
		c.mask[s] = "vol" + hash[:17]
		c.mask["vol-"+strings.TrimPrefix(body, "-")] = "vol-" + hash[:17]
	default:
		text := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])) + hash
		c.mask[s] = "masked" + text[:max(min(len(s)-6, 40), 4)]
		for _, maker := range []string{"LVM-", "CRYPT-", "mpath-"} { // of device-mapper, by which its kind is known
			if strings.HasPrefix(s, maker) {
				c.mask[s] = maker + (text + text)[:min(max(len(s)-len(maker), 1), 2*len(text))]
			}
		}
	}
}

func (c *capture) masked(data []byte) []byte {
	text := string(data)
	all := make([]string, 0, len(c.mask))
	for s := range c.mask {
		all = append(all, s)
	}
	// The longest first: one secret may be part of another.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, s := range all {
		text = strings.ReplaceAll(text, s, c.mask[s])
	}
	return []byte(text)
}

// cpuSummary keeps of /proc/cpuinfo what is read of it.
func cpuSummary(data []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(data)) {
		if k, _, _ := strings.Cut(line, "\t"); k == "processor" || k == "model name" || k == "Model" ||
			k == "CPU part" {
			out.WriteString(line)
		}
	}
	return out.Bytes()
}

// Captured turns an archive by Capture into a root. A body "-> target" is a symbolic link.
func Captured(archive []byte) fs.FS {
	m := fstest.MapFS{}
	for _, f := range txtar.Parse(archive).Files {
		if to, ok := strings.CutPrefix(string(f.Data), "-> "); ok {
			m[f.Name] = &fstest.MapFile{Data: []byte(strings.TrimSpace(to)), Mode: fs.ModeSymlink}
			continue
		}
		m[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return m
}
