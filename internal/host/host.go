// Package host reads how a machine is set up around its block devices: processors, clock, memory,
// what is mounted and assembled at boot, and what the kernel has complained of. It judges and
// changes nothing, and needs no root; what cannot be read is a note.
package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Facts are a machine's settings as far as they can be read; empty is not known or not there.
type Facts struct {
	// Kernel is /proc/version, which names the upstream version that a distribution's release
	// hides.
	Kernel string        `json:"kernel,omitempty"`
	Fio    string        `json:"fio,omitempty"` // "fio-3.33"; the caller's to fill in
	Uptime time.Duration `json:"uptime,omitempty"`
	CPU    CPU           `json:"cpu"`
	Memory Memory        `json:"memory"`
	Boot   Boot          `json:"boot"`
	// NVMeTimeout is nvme_core.io_timeout, after which the driver gives a request up; 0 where it is
	// not known.
	NVMeTimeout time.Duration `json:"nvme_timeout,omitempty"`
	Log         []Event       `json:"log,omitempty"`
	// Notes says what could not be seen and why.
	Notes []string `json:"notes,omitempty"`
}

// CPU is how processors idle, run and tell the time.
type CPU struct {
	Driver string `json:"driver,omitempty"` // of frequency scaling; empty where a hypervisor decides
	// Governors and Preferences (energy_performance_preference) are those in use, each once.
	Governors   []string `json:"governors,omitempty"`
	Preferences []string `json:"preferences,omitempty"`
	// Available are the governors that could be chosen.
	Available []string `json:"available,omitempty"`
	Idle      []Idle   `json:"idle,omitempty"`
	Clock     string   `json:"clock,omitempty"`
	Clocks    []string `json:"clocks,omitempty"` // that could be chosen
	Nodes     []int    `json:"numa_nodes,omitempty"`
}

// Idle is one idle state (C-state), over all processors.
type Idle struct {
	State   int           `json:"state"` // its number below cpuidle
	Name    string        `json:"name"`
	Latency time.Duration `json:"latency"` // to wake up, the longest of all processors
	Enabled int           `json:"enabled"` // processors that may enter it
}

// Memory is when written pages go to disk, and when pages go to swap. Of a pair of ratio and bytes
// the kernel uses the one that is not 0 (Documentation/admin-guide/sysctl/vm.rst).
type Memory struct {
	DirtyRatio      int         `json:"dirty_ratio" unit:"percent"`            // per cent of available memory
	BackgroundRatio int         `json:"dirty_background_ratio" unit:"percent"` // per cent of available memory
	DirtyBytes      units.Bytes `json:"dirty_bytes,omitempty"`
	BackgroundBytes units.Bytes `json:"dirty_background_bytes,omitempty"`
	Swappiness      int         `json:"swappiness"`
	ZoneReclaim     int         `json:"zone_reclaim_mode,omitempty"`
	// Known is false where the settings could not be read, so zeros above mean nothing.
	Known     bool     `json:"known"`
	Swaps     []string `json:"swaps,omitempty"`      // devices and files in use
	HugePages string   `json:"huge_pages,omitempty"` // always, madvise or never
	// SwapUsed is what has been swapped out to Swaps that are no compressed memory (zram).
	SwapUsed units.Bytes `json:"swap_used,omitempty"`
}

// Boot is what brings the storage back after a restart.
type Boot struct {
	Fstab      []Fstab  `json:"fstab,omitempty"`
	FstabKnown bool     `json:"fstab_known"`
	Units      []string `json:"mount_units,omitempty"` // mount points of systemd's own mount units below /etc
	// Mdadm is mdadm.conf with its time, nil where there is none; Arrays are its ARRAY lines.
	Mdadm     *File   `json:"mdadm_conf,omitempty"`
	Arrays    []Array `json:"arrays,omitempty"`
	Initramfs *File   `json:"initramfs,omitempty"` // of the running kernel; nil where it is not known
	// Renewal is the command that rebuilds it; empty where no program for that was found.
	Renewal string `json:"initramfs_renewal,omitempty"`
	// Trim says whether fstrim.timer is enabled in /etc, and not masked.
	Trim bool `json:"fstrim_timer,omitempty"`
}

// File is a file and when it was last written.
type File struct {
	Path     string    `json:"path"`
	Modified time.Time `json:"modified"`
}

// Fstab is a line of /etc/fstab.
type Fstab struct {
	Line    int      `json:"line"`
	Spec    string   `json:"spec"`
	Point   string   `json:"point"`
	FS      string   `json:"fs"`
	Options []string `json:"options"`
}

// Array is an ARRAY line of mdadm.conf.
type Array struct {
	Device string `json:"device,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	Name   string `json:"name,omitempty"`
}

// logNote begins the note of a machine whose kernel's log could not be read. Bundles hold it, so it
// stays as it is.
const logNote = "the kernel's log: "

// LogUnread says that the kernel's log could not be read, so that an empty Log says nothing.
func (f *Facts) LogUnread() bool {
	return slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, logNote) })
}

// Read reads the facts. ctx ends only the look into the kernel's log.
func Read(ctx context.Context, m *sys.Machine) *Facts {
	r := &reader{root: m.Root, f: &Facts{}}
	r.f.Kernel = r.text("proc/version")
	up, _, _ := strings.Cut(r.text("proc/uptime"), " ")
	if s, err := strconv.ParseFloat(up, 64); err == nil && s > 0 && s < 1e9 {
		r.f.Uptime = time.Duration(s * float64(time.Second))
	}
	r.f.NVMeTimeout = time.Duration(
		min(max(r.num("sys/module/nvme_core/parameters/io_timeout"), 0), 1<<32-1),
	) * time.Second
	r.cpu()
	r.memory()
	r.boot()
	log, err := Log(ctx, m)
	if err != nil {
		r.note(logNote+"%v", err)
	}
	r.f.Log = log
	return r.f
}

type reader struct {
	root fs.FS
	f    *Facts
}

func (r *reader) note(format string, args ...any) {
	r.f.Notes = append(r.f.Notes, fmt.Sprintf(format, args...))
}

// text is a file without the white space around it, at most 1 MiB; "" when it is not there.
func (r *reader) text(name string) string {
	data, err := block.ReadAll(r.root, name)
	if errors.Is(err, fs.ErrPermission) {
		r.note("/%s: permission denied", name)
	}
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func (r *reader) num(name string) int {
	n, err := strconv.Atoi(r.text(name))
	if err != nil {
		return 0
	}
	return n
}

// glob is the names that match, in order; none for a directory that is not there.
func (r *reader) glob(pattern string) []string {
	names, _ := fs.Glob(r.root, pattern) // the patterns are ours and well formed
	slices.Sort(names)
	return names
}

const cpus = "sys/devices/system/cpu"

func (r *reader) cpu() {
	c := &r.f.CPU
	for _, dir := range r.glob(cpus + "/cpufreq/policy*") {
		c.Governors = text.Once(c.Governors, r.text(dir+"/scaling_governor"))
		c.Preferences = text.Once(c.Preferences, r.text(dir+"/energy_performance_preference"))
		if c.Driver == "" {
			c.Driver, c.Available = r.text(dir+"/scaling_driver"), strings.Fields(r.text(dir+"/scaling_available_governors"))
		}
	}
	states := map[int]*Idle{}
	for _, dir := range r.glob(cpus + "/cpu[0-9]*/cpuidle/state[0-9]*") {
		n, err := strconv.Atoi(dir[strings.LastIndex(dir, "state")+len("state"):])
		if err != nil {
			continue
		}
		s := states[n]
		if s == nil {
			s = &Idle{State: n, Name: r.text(dir + "/name")}
			states[n] = s
		}
		if us := r.num(dir + "/latency"); us > 0 && us < 1e9 {
			s.Latency = max(s.Latency, time.Duration(us)*time.Microsecond)
		}
		if r.text(dir+"/disable") == "0" {
			s.Enabled++
		}
	}
	for _, s := range states {
		c.Idle = append(c.Idle, *s)
	}
	slices.SortFunc(c.Idle, func(a, b Idle) int { return a.State - b.State })
	const clock = "sys/devices/system/clocksource/clocksource0/"
	c.Clock, c.Clocks = r.text(clock+"current_clocksource"), strings.Fields(r.text(clock+"available_clocksource"))
	for _, dir := range r.glob("sys/devices/system/node/node[0-9]*") {
		if n, err := strconv.Atoi(dir[strings.LastIndex(dir, "node")+len("node"):]); err == nil {
			c.Nodes = append(c.Nodes, n)
		}
	}
	slices.Sort(c.Nodes)
}

func (r *reader) memory() {
	const vm = "proc/sys/vm/"
	m := &r.f.Memory
	m.Known = r.text(vm+"dirty_ratio") != ""
	m.DirtyRatio, m.BackgroundRatio = r.num(vm+"dirty_ratio"), r.num(vm+"dirty_background_ratio")
	m.DirtyBytes = units.Bytes(max(r.num(vm+"dirty_bytes"), 0))
	m.BackgroundBytes = units.Bytes(max(r.num(vm+"dirty_background_bytes"), 0))
	m.Swappiness, m.ZoneReclaim = r.num(vm+"swappiness"), r.num(vm+"zone_reclaim_mode")
	for i, line := range strings.Split(r.text("proc/swaps"), "\n") {
		if f := strings.Fields(line); i > 0 && len(f) > 1 {
			m.Swaps = append(m.Swaps, block.Unescape(f[0]))
			if kib, err := strconv.ParseUint(f[min(3, len(f)-1)], 10, 40); err == nil && !InMemory(f[0]) {
				m.SwapUsed += units.Bytes(kib) * units.KiB
			}
		}
	}
	if _, rest, ok := strings.Cut(r.text("sys/kernel/mm/transparent_hugepage/enabled"), "["); ok {
		m.HugePages, _, _ = strings.Cut(rest, "]")
	}
}

// InMemory says that a swap device is compressed memory.
func InMemory(swap string) bool { return strings.HasPrefix(swap, "/dev/zram") }

// MdadmConfs are the places of mdadm.conf: Debian's, and everyone else's (mdadm.conf(5)).
var MdadmConfs = []string{"/etc/mdadm/mdadm.conf", "/etc/mdadm.conf"}

func (r *reader) boot() {
	b := &r.f.Boot
	if _, err := fs.Stat(r.root, "etc/fstab"); err == nil {
		b.FstabKnown = true
		b.Fstab = parseFstab(r.text("etc/fstab"))
	}
	for _, unit := range r.glob("etc/systemd/system/*.mount") {
		for line := range strings.Lines(r.text(unit)) {
			if where, ok := strings.CutPrefix(strings.TrimSpace(line), "Where="); ok {
				b.Units = append(b.Units, where)
			}
		}
	}
	for _, file := range MdadmConfs {
		name := file[1:]
		if b.Mdadm = r.file(name); b.Mdadm != nil {
			b.Arrays = parseMdadm(r.text(name))
			break
		}
	}
	for _, name := range slices.Concat(r.glob("etc/mdadm/mdadm.conf.d/*.conf"), r.glob("etc/mdadm.conf.d/*.conf")) {
		b.Arrays = append(b.Arrays, parseMdadm(r.text(name))...)
	}
	if release := r.text("proc/sys/kernel/osrelease"); release != "" && !strings.Contains(release, "/") {
		for _, name := range []string{
			"boot/initrd.img-" + release, "boot/initramfs-" + release + ".img",
			"boot/initrd-" + release,
		} {
			if b.Initramfs == nil {
				b.Initramfs = r.file(name)
			}
		}
	}
	b.Renewal = strings.Join(Renewal(r.installed), " ")
	// Lstat: the link leads to /lib, which a captured machine lacks.
	_, err := fs.Lstat(r.root, "etc/systemd/system/timers.target.wants/fstrim.timer")
	masked, _ := fs.ReadLink(r.root, "etc/systemd/system/fstrim.timer") // empty where it is no link
	b.Trim = err == nil && masked != "/dev/null"
}

// Renewal is the command that rebuilds the initramfs, with a copy of mdadm.conf in it, by the
// programs that are installed; nil where there is none. Debian has update-initramfs, and dracut
// only where it has replaced that; --mdadmconf is what RHEL's own configuration asks dracut for.
func Renewal(installed func(program string) bool) []string {
	switch {
	case installed("update-initramfs"):
		return []string{"update-initramfs", "-u"}
	case installed("dracut"):
		return []string{"dracut", "--force", "--mdadmconf"}
	}
	return nil
}

func (r *reader) installed(program string) bool {
	return slices.ContainsFunc([]string{"usr/sbin/", "usr/bin/", "sbin/", "bin/"}, func(dir string) bool {
		_, err := fs.Stat(r.root, dir+program)
		return err == nil
	})
}

func (r *reader) file(name string) *File {
	info, err := fs.Stat(r.root, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return &File{"/" + name, info.ModTime()}
}

// parseFstab reads the lines of /etc/fstab (fstab(5)); what is no line of it is passed over, as
// mount does.
func parseFstab(text string) []Fstab {
	var all []Fstab
	n := 0
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		options := "defaults"
		if len(f) > 3 {
			options = f[3]
		}
		all = append(
			all,
			Fstab{
				Line:    n,
				Spec:    strings.ReplaceAll(block.Unescape(f[0]), `"`, ""),
				Point:   block.Unescape(f[1]),
				FS:      f[2],
				Options: strings.Split(options, ","),
			},
		)
	}
	return all
}

// parseMdadm reads the ARRAY lines of mdadm.conf(5): keywords in any case of which three letters
// are enough, and a line that begins with a blank continues the one before.
func parseMdadm(text string) []Array {
	var all []Array
	in := false
	for line := range strings.Lines(text) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		words := strings.Fields(line)
		if line[0] != ' ' && line[0] != '\t' {
			if in = slices.Contains([]string{"arr", "arra", "array"}, strings.ToLower(words[0])); in {
				all = append(all, Array{})
				words = words[1:]
			}
		}
		if !in {
			continue
		}
		a := &all[len(all)-1]
		for _, w := range words {
			key, value, has := strings.Cut(w, "=")
			switch value = strings.Trim(value, `"'`); {
			case !has && a.Device == "":
				a.Device = w
			case strings.EqualFold(key, "uuid"):
				a.UUID = value
			case strings.EqualFold(key, "name"):
				a.Name = value
			}
		}
	}
	return all
}

// Release is a kernel version.
type Release [3]int

// CountsFlushes is the first kernel with flushes in /proc/diskstats (Documentation/admin-guide/iostats.rst).
var CountsFlushes = Release{5, 5, 0}

// kernelVersion finds the upstream version in /proc/version: Debian puts it behind its own name of
// the package.
var kernelVersion = regexp.MustCompile(`(?:\bDebian |^Linux version )(\d+)\.(\d+)(?:\.(\d+))?`)

// Release is the kernel's; false where it is not known.
func (f *Facts) Release() (Release, bool) {
	all := kernelVersion.FindAllStringSubmatch(f.Kernel, -1)
	if len(all) == 0 {
		return Release{}, false
	}
	var r Release
	for i, s := range all[len(all)-1][1:] {
		r[i], _ = strconv.Atoi(s) // empty is 0
	}
	return r, true
}

func (r Release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

// Before says that it is older.
func (r Release) Before(o Release) bool { return slices.Compare(r[:], o[:]) < 0 }
