package tune

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/sys"
)

// The files that bring settings back after a boot.
const (
	// udevFile comes after the rules of others: of two that set an attribute the last counts.
	udevFile = "/etc/udev/rules.d/zz-plimsoll.rules"
	udevOf2  = "/etc/udev/rules.d/99-plimsoll.rules" // what 0.2 wrote; a record may name it
	// sysctlFile is read after 99-sysctl.conf, which is Debian's link to /etc/sysctl.conf.
	sysctlFile = "/etc/sysctl.d/zz-plimsoll.conf"
	sysctlOf2  = "/etc/sysctl.d/99-plimsoll.conf" // what 0.2 wrote; a record may name it
	unitFile   = "/etc/systemd/system/plimsoll-tune.service"
	unitLink   = "/etc/systemd/system/multi-user.target.wants/plimsoll-tune.service"
	head       = "# Written by plimsoll tune --persist; plimsoll tune --revert removes it.\n"
)

// plain is what stands in a rule as it is: serial numbers come from devices and may be anything.
var plain = regexp.MustCompile(`^[\w.:-]+$`)

// match is the condition of a udev rule for a device. NVMe and virtio show their serial in /sys, of
// others udev knows it.
func (i identity) match(kernel string) (string, error) {
	key, value := `KERNEL`, i.Kernel
	switch {
	case i.MD != "":
		key, value = `ENV{MD_UUID}`, colons(i.MD)
	case i.DM != "":
		key, value = `ENV{DM_NAME}`, i.DM
	case i.Serial != "" && strings.HasPrefix(kernel, "sd"):
		key, value = `ENV{ID_SERIAL_SHORT}`, i.Serial
	case i.Serial != "":
		key, value = `ATTRS{serial}`, i.Serial
	}
	if !plain.MatchString(value) {
		return "", fmt.Errorf("%s: its name %.60q cannot be used in a udev rule; nothing was written", kernel, value)
	}
	return key + `=="` + value + `"`, nil
}

// colons writes an md UUID as mdadm and udev do: 3aaa0122:29827cfa:5331ad66:ca767371.
func colons(uuid string) string {
	s := strings.NewReplacer("-", "", ":", "").Replace(uuid)
	if len(s) != 32 {
		return uuid
	}
	return s[:8] + ":" + s[8:16] + ":" + s[16:24] + ":" + s[24:]
}

// files are what is to stand in /etc for the changes; the last of several on one file counts.
func files(changes []Change) (map[string][]byte, error) {
	var udev, sysctl, unit []string
	last := map[string]int{}
	for i, c := range changes {
		last[c.At] = i
	}
	add := func(all []string, line string) []string {
		if slices.Contains(all, line) {
			return all
		}
		return append(all, line)
	}
	for i, c := range changes {
		if last[c.At] != i {
			continue
		}
		switch g, _ := groupOf(c.At); g {
		case Queues:
			part := strings.SplitN(c.At, "/", 5)
			match, err := c.Device.match(part[3])
			if err != nil {
				return nil, err
			}
			udev = add(
				udev,
				fmt.Sprintf(
					`ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", %s, ATTR{%s}="%s"`,
					match,
					part[4],
					c.Value,
				),
			)
		case Memory:
			sysctl = add(sysctl, "vm."+filepath.Base(c.At)+" = "+c.Value)
		case CPU:
			// systemd reads $$ as $.
			unit = add(
				unit,
				fmt.Sprintf(`ExecStart=/bin/sh -c 'for f in %s; do echo %s > "$$f"; done'`, c.File, c.Value),
			)
		}
	}
	out := map[string][]byte{}
	put := func(file string, lines []string, before, after string) {
		if len(lines) > 0 {
			out[file] = []byte(head + before + strings.Join(lines, "\n") + "\n" + after)
		}
	}
	put(udevFile, udev, "", "")
	put(sysctlFile, sysctl, "", "")
	put(unitFile, unit, "[Unit]\nDescription=Settings made by plimsoll tune\n\n[Service]\nType=oneshot\n",
		"\n[Install]\nWantedBy=multi-user.target\n")
	return out, nil
}

// persist writes the files. Each is recorded first, with what was there; one that plimsoll wrote
// before is recorded already.
func (t *Tuner) persist(r *Record) error {
	want, err := files(r.Changes)
	if err != nil {
		return err
	}
	for _, file := range []string{udevFile, sysctlFile, unitFile} {
		data, ok := want[file]
		if !ok {
			continue
		}
		if err := t.keep(r, kept{Path: file, Wrote: []string{sum(data)}}); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(t.at(file)), 0o755); err != nil {
			return err
		}
		if err := sys.WriteFile(t.at(file), data, 0o644); err != nil {
			return err
		}
	}
	if want[unitFile] == nil {
		return nil
	}
	if _, err := os.Lstat(t.at(unitLink)); !errors.Is(err, fs.ErrNotExist) {
		return err // enabled before
	}
	if err := t.keep(r, kept{Path: unitLink}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.at(unitLink)), 0o755); err != nil {
		return err
	}
	return os.Symlink(unitFile, t.at(unitLink))
}

func (t *Tuner) at(file string) string { return filepath.Join(t.Root, file) }

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// keep records a file, and what becomes of it, before it is written.
func (t *Tuner) keep(r *Record, k kept) error {
	if i := slices.IndexFunc(r.Files, func(o kept) bool { return o.Path == k.Path }); i >= 0 {
		o := &r.Files[i]
		if !t.ours(*o) {
			return o.foreign()
		}
		o.Wrote = append(o.Wrote, k.Wrote...)
		return t.save(r)
	}
	data, err := sys.ReadFile(t.at(k.Path), sys.ConfigLimit)
	switch {
	case err == nil && !bytes.HasPrefix(data, []byte(head)):
		info, err := os.Stat(t.at(k.Path))
		if err != nil {
			return err
		}
		k.Old, k.Mode = &data, info.Mode().Perm()
		if !k.harmless() {
			return fmt.Errorf("%s holds something other than settings of tune: move it away first", k.Path)
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	r.Files = append(r.Files, k)
	return t.save(r)
}

// harmless is whether what was there before may be put back: a record names no program, and a rule of udev
// or a unit could.
func (k kept) harmless() bool {
	if k.Path != sysctlFile && k.Path != sysctlOf2 {
		return false
	}
	for line := range strings.Lines(string(*k.Old)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "-"), "=")
		key = strings.ReplaceAll(strings.TrimSpace(key), ".", "/")
		if _, err := check(finding.Setting{File: "/proc/sys/" + key, Value: strings.TrimSpace(value)}); err != nil {
			return false
		}
	}
	return true
}

// ours says that a file is what tune wrote, is put back already, or is gone: another that has its name by now is not
// taken for it.
func (t *Tuner) ours(k kept) bool {
	name := t.at(k.Path)
	if k.Path == unitLink {
		to, err := os.Readlink(name)
		return err == nil && to == unitFile || errors.Is(err, fs.ErrNotExist)
	}
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	data, err := sys.ReadFile(name, sys.ConfigLimit)
	asWritten := slices.Contains(k.Wrote, sum(data)) || len(k.Wrote) == 0 && bytes.HasPrefix(data, []byte(head))
	return err == nil && (asWritten || k.Old != nil && bytes.Equal(data, *k.Old))
}

func (k kept) foreign() error {
	return fmt.Errorf("%s is not what tune wrote: it stays; move it away first", k.Path)
}

// restore puts a file back as it was.
func (t *Tuner) restore(k kept) error {
	name := t.at(k.Path)
	switch {
	case k.Old != nil && !k.harmless():
		return fmt.Errorf("%s held something other than settings of tune before: that is not put back; it is in %s, "+
			"in base64", k.Path, t.State)
	case !t.ours(k):
		return k.foreign()
	case k.Old != nil:
		return sys.WriteFile(name, *k.Old, k.Mode&0o644)
	}
	err := os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, sys.SyncDir(filepath.Dir(name)))
}
