package tune

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/text"
)

// Rivals are who will set again what the changes set: tuned, files of sysctl and rules of udev that come after
// plimsoll's, and scripts that run at boot.
func (t *Tuner) Rivals(changes []Change) []string {
	if len(changes) == 0 {
		return nil
	}
	return slices.Concat(t.tuned(changes), t.sysctls(changes), t.scripts(changes))
}

// read is a file's text; what is not there sets nothing.
func (t *Tuner) read(name string) string {
	data, _ := fs.ReadFile(t.Machine.Root, name)
	return string(data)
}

// layered are the files of a directory that systemd and udev look for in four places, by the order in which
// they are read: of one name the first place counts (sysctl.d(5), udev(7)).
func (t *Tuner) layered(dir, pattern string) []string {
	byName := map[string]string{}
	for _, place := range []string{"usr/lib", "usr/local/lib", "run", "etc"} {
		names, _ := fs.Glob(t.Machine.Root, path.Join(place, dir, pattern)) // the pattern is right
		for _, name := range names {
			byName[path.Base(name)] = name
		}
	}
	var all []string
	for _, base := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[base])
	}
	return all
}

// assigned is a value of a profile of tuned, and the file that has it.
type assigned struct{ key, value, file string }

// noReapply is in tuned-main.conf where tuned does not read sysctl.d after its own settings.
var noReapply = regexp.MustCompile(`(?m)^\s*reapply_sysctl\s*=\s*(0|[Ff]alse)\b`)

// tuned says what its active profile sets to something else.
func (t *Tuner) tuned(changes []Change) []string {
	active := strings.Fields(t.read("etc/tuned/active_profile"))
	_, err := fs.Lstat(t.Machine.Root, "etc/systemd/system/multi-user.target.wants/tuned.service")
	if len(active) == 0 || err != nil && t.read("run/tuned/tuned.pid") == "" {
		return nil
	}
	sets, seen := map[string]assigned{}, map[string]bool{}
	for _, name := range active {
		t.profile(name, sets, seen)
	}
	who := fmt.Sprintf("tuned (profile %.60q)", strings.Join(active, " "))
	if len(sets) == 0 {
		return []string{who + " may set it again when it starts and when a drive is added: its profile was not found"}
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		a := sets[key]
		if slices.ContainsFunc(changes, func(c Change) bool {
			return slices.Contains(c.tunedKeys(), key) && !a.agrees(c.Value)
		}) {
			way := "set it in a profile of yours that includes this one"
			if strings.HasPrefix(key, "sysctl/") && !noReapply.MatchString(t.read("etc/tuned/tuned-main.conf")) {
				way = "it reads sysctl.d again after that, so that --persist has the last word"
			}
			all = append(all, fmt.Sprintf("%s sets %s to %.60q (/%s) when it starts and when a drive is added: %s", who, a.key,
				a.value, a.file, way))
		}
	}
	return all
}

// profile reads what a profile sets, after those that it includes (tuned-profiles(7)).
func (t *Tuner) profile(name string, sets map[string]assigned, seen map[string]bool) {
	if seen[name] || path.Base(name) != name {
		return
	}
	seen[name] = true
	for _, dir := range []string{"etc/tuned/profiles", "etc/tuned", "usr/lib/tuned/profiles", "usr/lib/tuned"} {
		file := path.Join(dir, name, "tuned.conf")
		conf := t.read(file)
		if conf == "" {
			continue
		}
		section, own := "", map[string]assigned{}
		for line := range strings.Lines(conf) {
			line = strings.TrimSpace(line)
			if s, ok := strings.CutPrefix(line, "["); ok {
				section = strings.TrimSuffix(s, "]")
			}
			key, value, ok := strings.Cut(line, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			switch {
			case !ok || strings.HasPrefix(key, "#"):
			case section == "main" && key == "include":
				for _, other := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
					t.profile(other, sets, seen)
				}
			default:
				own[section+"/"+strings.ReplaceAll(key, "/", ".")] = assigned{key, value, file}
			}
		}
		maps.Copy(sets, own)
		return
	}
}

// tunedKeys are the section and key by which a profile of tuned sets what a change sets. The kernel clears
// the ratio when the bytes are set, and the other way round.
func (c Change) tunedKeys() []string {
	switch name := path.Base(c.At); {
	case name == "read_ahead_kb":
		return []string{"disk/readahead"}
	case name == "scheduler":
		return []string{"disk/elevator"}
	case name == "scaling_governor":
		return []string{"cpu/governor"}
	case strings.HasPrefix(c.At, sysctls):
		var all []string
		for _, n := range either(name) {
			all = append(all, "sysctl/vm."+n, "vm/"+n)
		}
		return all
	default:
		return nil
	}
}

const sysctls = "/proc/sys/"

// either is a name of vm.*, and that of its ratio or its bytes.
func either(name string) []string {
	if base, ok := strings.CutSuffix(name, "_bytes"); ok {
		return []string{name, base + "_ratio"}
	}
	if base, ok := strings.CutSuffix(name, "_ratio"); ok {
		return []string{name, base + "_bytes"}
	}
	return []string{name}
}

// agrees says that a value of tuned leaves another: ">4096" raises what is less, "a|b" takes the first that
// there is.
func (a assigned) agrees(value string) bool {
	if least, ok := strings.CutPrefix(a.value, ">"); ok {
		want, err := strconv.Atoi(least)
		have, bad := strconv.Atoi(value)
		return err == nil && bad == nil && have >= want
	}
	return slices.Contains(strings.Split(a.value, "|"), value)
}

// sysctls says what files that are read after plimsoll's set to something else.
func (t *Tuner) sysctls(changes []Change) []string {
	names := []string{"etc/sysctl.conf"} // procps reads it last, systemd only where sysctl.d links to it
	for _, name := range t.layered("sysctl.d", "*.conf") {
		if path.Base(name) > path.Base(sysctlFile) {
			names = append(names, name)
		}
	}
	var all []string
	for _, name := range names {
		for line := range strings.Lines(t.read(name)) {
			key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "-"), "=")
			key, value = strings.ReplaceAll(strings.TrimSpace(key), "/", "."), strings.TrimSpace(value)
			if ok && slices.ContainsFunc(changes, func(c Change) bool {
				return slices.Contains(c.tunedKeys(), "sysctl/"+key) && value != c.Value
			}) {
				all = append(all, fmt.Sprintf("/%s sets %.60q to %.60q, and may be read after %s: remove the line there", name,
					key, value, sysctlFile))
			}
		}
	}
	return all
}

// atBoot are scripts, and what cloud-init and systemd run from, that may set anything at each boot.
var atBoot = strings.Fields(`
	etc/rc.local etc/rc.d/rc.local var/lib/cloud/scripts/per-boot/* etc/cloud/cloud.cfg etc/cloud/cloud.cfg.d/*.cfg
	var/lib/cloud/instance/user-data.txt`)

// scripts says where a rule of udev that comes after plimsoll's, one that runs a program, or a script of the
// boot names a setting, and not the value.
func (t *Tuner) scripts(changes []Change) []string {
	var all []string
	look := func(file string, when func(line string) bool) {
		for line := range strings.Lines(t.read(file)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") || !when(line) {
				continue
			}
			i := slices.IndexFunc(changes, func(c Change) bool {
				own := regexp.MustCompile(`\b` + regexp.QuoteMeta(c.Value) + `\b`)
				return c.named().MatchString(line) && !own.MatchString(line)
			})
			if i >= 0 {
				all = append(all, fmt.Sprintf("/%s may set %s again at a boot: %s", file, changes[i].At, text.Clean(line, 100)))
			}
		}
	}
	always := func(string) bool { return true }
	for _, file := range t.layered("udev/rules.d", "*.rules") {
		switch base := path.Base(file); {
		case base == path.Base(udevFile) || base == path.Base(udevOf2):
		case base > path.Base(udevFile):
			look(file, always)
		default:
			look(file, func(line string) bool { return strings.Contains(line, "RUN") }) // after all rules
		}
	}
	for _, file := range t.layered("tmpfiles.d", "*.conf") {
		look(file, always)
	}
	for _, pattern := range atBoot {
		names, _ := fs.Glob(t.Machine.Root, pattern) // as above
		for _, name := range names {
			look(name, always)
		}
	}
	return all
}

// named finds the words by which a script or a rule names what a change sets.
func (c Change) named() *regexp.Regexp {
	name := path.Base(c.At)
	switch {
	case strings.HasPrefix(c.At, sysctls):
		return regexp.MustCompile(`\bvm[./](` + strings.Join(either(name), "|") + `)\b`)
	case name == "read_ahead_kb":
		return regexp.MustCompile(`\bread_ahead_kb\b|--setra\b|--setfra\b`)
	case name == "disable":
		return regexp.MustCompile(`\bcpuidle/|\bidle-set\b`)
	case name == "scaling_governor":
		return regexp.MustCompile(`\bscaling_governor\b|\bfrequency-set\b`)
	default:
		return regexp.MustCompile(`\bqueue/` + regexp.QuoteMeta(name) + `\b`)
	}
}
