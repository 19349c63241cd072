package block

import (
	"fmt"
	"strconv"
	"strings"
)

// parseDev reads "259:0".
func parseDev(s string) (major, minor uint32, err error) {
	a, b, ok := strings.Cut(s, ":")
	x, err1 := strconv.ParseUint(a, 10, 32)
	y, err2 := strconv.ParseUint(b, 10, 32)
	if !ok || err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("%.40q: want major:minor", s)
	}
	return uint32(x), uint32(y), nil
}

// activeOf picks the scheduler in brackets from "none [mq-deadline] kyber"; a lone word stands for
// itself.
func activeOf(s string) string {
	if _, rest, ok := strings.Cut(s, "["); ok {
		active, _, _ := strings.Cut(rest, "]")
		return active
	}
	if strings.Contains(s, " ") {
		return ""
	}
	return s
}

// hiddenParts are how LVM ends the names of sub-volumes that nobody mounts (lvmraid(7), lvmthin(7),
// lvmcache(7)).
var hiddenParts = strings.Fields(`
	_rimage_ _rmeta_ _mimage_ _mlog _tdata _tmeta _cdata _cmeta _corig _cvol _vdata _pmspare
	_wcorig`)

// parseLVName splits a device-mapper name such as "vg--db-data" (a hyphen inside a name is doubled)
// and the uuid "LVM-" + 32 characters of the group + 32 of the volume + an optional layer such as
// "-real".
func parseLVName(name, uuid string) *Vol {
	v := &Vol{}
	for i := 0; i < len(name); i++ {
		if name[i] != '-' {
			continue
		}
		if i+1 < len(name) && name[i+1] == '-' {
			i++
			continue
		}
		v.VG, v.Name = unhyphen(name[:i]), unhyphen(name[i+1:])
		break
	}
	if v.Name == "" {
		v.Name = unhyphen(name)
	}
	if id := strings.TrimPrefix(uuid, "LVM-"); len(id) >= 64 {
		v.UUID = id[32:64]
		v.Internal = len(id) > 64
	}
	for _, part := range hiddenParts {
		if i := strings.LastIndex(v.Name, part); i > 0 {
			rest := v.Name[i+len(part):]
			v.Internal = v.Internal || digits(rest) == len(rest)
		}
	}
	return v
}

func unhyphen(s string) string { return strings.ReplaceAll(s, "--", "-") }

// udevEntry is what /run/udev/data holds of a device.
type udevEntry struct {
	Links []string          // below /dev
	Props map[string]string // E: lines
}

// parseUdev reads udev's database of one device; lines of other sorts are skipped.
func parseUdev(data string) udevEntry {
	u := udevEntry{Props: map[string]string{}}
	for line := range strings.Lines(data) {
		line = strings.TrimRight(line, "\n")
		if link, ok := strings.CutPrefix(line, "S:"); ok && link != "" {
			u.Links = append(u.Links, "/dev/"+link)
		} else if prop, ok := strings.CutPrefix(line, "E:"); ok {
			if k, v, ok := strings.Cut(prop, "="); ok {
				u.Props[k] = v
			}
		}
	}
	return u
}

// mountinfoLine is one line of /proc/self/mountinfo (proc_pid_mountinfo(5)):
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
func mountinfoLine(line string) (m Mount, err error) {
	left, right, ok := strings.Cut(strings.TrimRight(line, "\n"), " - ")
	l, r := strings.Fields(left), strings.Split(right, " ")
	if !ok || len(l) < 6 || len(r) < 2 {
		return m, fmt.Errorf("%.60q: want ten fields with a hyphen between", line)
	}
	m = Mount{Root: Unescape(l[3]), Point: Unescape(l[4]), FS: Unescape(r[0]), Source: Unescape(r[1])}
	if m.Major, m.Minor, err = parseDev(l[2]); err != nil {
		return m, err
	}
	if m.ID, err = strconv.Atoi(l[0]); err != nil {
		return m, fmt.Errorf("%.40q: want a mount number", l[0])
	}
	if m.Under, err = strconv.Atoi(l[1]); err != nil {
		return m, fmt.Errorf("%.40q: want a mount number", l[1])
	}
	seen := map[string]bool{}
	super := ""
	if len(r) > 2 {
		super = r[2]
	}
	for o := range strings.SplitSeq(l[5]+","+super, ",") {
		if o = Unescape(o); o != "" && !seen[o] {
			seen[o] = true
			m.Options = append(m.Options, o)
		}
	}
	return m, nil
}

// Unescape undoes the \040 by which the kernel (fs/seq_file.c mangle_path) and fstab write white
// space and backslashes.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parseSwaps reads the first column of /proc/swaps.
func parseSwaps(data string) []string {
	var paths []string
	for line := range strings.Lines(data) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "/") {
			paths = append(paths, Unescape(f[0]))
		}
	}
	return paths
}
