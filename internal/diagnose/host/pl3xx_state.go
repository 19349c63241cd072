package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// A quiet system writes a log line or a journal now and then; from here on another load takes
	// part of what is measured.
	otherIOPS = 100
	otherRate = 10 * units.MiBPerSec
	otherUtil = 0.10
)

var otherLoad = &diagnose.Rule{
	Code:     "PL315",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "other load on the storage before the run",
	When: "During a second of plimsoll check a tested device is busy for 10 % of it, does 100 I/Os, or " +
		"moves 10 MiB. An info where programs with files on the path do it.",
	Why:    "You measure only what the other load leaves.",
	Fix:    "Find it (iotop, pidstat -d 1) and stop it.",
	Bad:    "$ iostat -x 1\nDevice  r/s   w/s     %util\nmd0     0.00  2210.00 64.0",
	Good:   "$ iostat -x 1\nDevice  r/s   w/s     %util\nmd0     0.00  3.00    0.2",
	Ignore: "When that load belongs to what you measure.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, t := range tops(c) {
			for _, u := range c.OtherLoad {
				iops, rate := u.ReadIOPS+u.WriteIOPS, u.ReadRate+u.WriteRate
				if u.Name != t.Name {
					continue
				}
				w := atWork(c, t.Name)
				if iops < otherIOPS && rate < otherRate && u.Util < otherUtil {
					if w == nil || !w.Limited() {
						report(finding.Fine(t.Name, "%s is quiet: %s IOPS, %s busy", t.Name, iops, text.Percent(u.Util)))
					}
					continue
				}
				f := finding.Finding{
					Subject: t.Name,
					Message: fmt.Sprintf("%s does %s IOPS and %s, none of it plimsoll's.", t.Name, iops, rate),
					Evidence: []finding.Evidence{
						{
							What:     "I/Os per second",
							Found:    fmt.Sprintf("%s reads, %s writes", u.ReadIOPS, u.WriteIOPS),
							Expected: fmt.Sprintf("below %d", otherIOPS),
							Where:    "/proc/diskstats",
						},
						{
							What:     "throughput",
							Found:    rate.String(),
							Expected: "below " + otherRate.String(),
							Where:    "/proc/diskstats",
						},
						{
							What:     "busy",
							Found:    text.Percent(u.Util),
							Expected: "below " + text.Percent(otherUtil),
							Where:    "/proc/diskstats",
						},
					},
					Commands: []string{"pidstat -d 1 5"},
				}
				if w != nil && w.Using() != "" {
					f.Severity, f.Title = finding.Info, "the storage is in use"
					f.Message = fmt.Sprintf("%s does %s IOPS and %s: it is %s.", t.Name, iops, rate, w.InUse())
					f.Fix = "Leave it alone, and measure on a machine that is not at work."
					f.Commands = []string{"plimsoll why " + text.ShellQuote(w.Path)}
				}
				report(f)
			}
		}
	},
}

// atWork is what was seen of the programs on a device, nil where nobody looked.
func atWork(c *diagnose.Case, device string) *live.Facts {
	for _, f := range c.AtWork {
		if slices.ContainsFunc(f.Layers, func(l live.Layer) bool { return l.Name == device }) {
			return f
		}
	}
	return nil
}

// recent is how long a complaint of the kernel counts as a warning.
const recent = 24 * time.Hour

var kernelTrouble = &diagnose.Rule{
	Code:     "PL316",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "the kernel logged storage errors",
	When: "The kernel's log has NVMe timeouts, I/O errors, filesystem errors or failed members of a tested " +
		"device, or thermal throttling. An info when the last is more than a day old.",
	Why: "A drive that times out stalls for seconds; one with errors reads again and again.",
	Fix: "Read the log around it, check the drive (nvme smart-log, smartctl), replace it or its cable; " +
		"cool the machine.",
	Bad:    "nvme nvme1: I/O 5 QID 2 timeout, reset controller",
	Good:   "$ dmesg --level=err,warn | grep -E 'nvme|I/O error'\n$",
	Ignore: "When its cause is known and over.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		if c.Host == nil {
			return
		}
		below := map[string]bool{}
		for _, t := range c.Targets() {
			for _, name := range t.Devices {
				below[name] = true
				if controller, _, ok := cutNamespace(name); ok {
					below[controller] = true
				}
			}
		}
		ours := func(e host.Event) bool { return e.Kind == host.Throttled || below[e.Device] }
		if len(below) > 0 && !c.Host.LogUnread() && !slices.ContainsFunc(c.Host.Log, ours) {
			report(finding.Fine("log", "no errors of these devices in the kernel log"))
		}
		for _, e := range c.Host.Log {
			if !ours(e) {
				continue
			}
			f := finding.Finding{Subject: cmp.Or(e.Device, "processors")}
			when := "at an unknown time"
			if e.Last > 0 && c.Host.Uptime >= e.Last {
				ago := c.Host.Uptime - e.Last
				when = text.Duration(ago) + " ago"
				if ago > recent {
					f.Severity = finding.Info
				}
			}
			f.Message = fmt.Sprintf("The kernel's log has %s (%s), last %s.", e.Kind, f.Subject, when)
			f.Evidence = []finding.Evidence{
				{What: "lines", Found: text.Count(e.Count), Expected: "0", Where: "dmesg"},
				{What: "last", Found: fmt.Sprintf("%.160s", e.Text), Where: "dmesg"},
			}
			f.Commands = []string{"dmesg --ctime | grep -F " + text.ShellQuote(cmp.Or(e.Device, "temperature"))}
			report(f)
		}
	},
}

// cutNamespace takes the namespace and partition from an NVMe drive's name: nvme1 of nvme1n1p2.
func cutNamespace(name string) (controller, namespace string, ok bool) {
	if !strings.HasPrefix(name, "nvme") {
		return name, "", false
	}
	controller, namespace, ok = strings.Cut(strings.TrimPrefix(name, "nvme"), "n")
	return "nvme" + controller, namespace, ok
}

// nearlyFull is the free share below which XFS and ext4 search long for free blocks; ext4 keeps as
// much for root.
const nearlyFull = 0.05

var fullFilesystem = &diagnose.Rule{
	Code:     "PL317",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "filesystem is nearly full",
	When:     "Less than 5 % of the device of a tested path is free.",
	Why:      "Allocation slows down and files fragment; plimsoll fills at most 90 % of the free space.",
	Fix:      "Free some space, or grow the volumes and the filesystem.",
	Bad:      "$ df -h /data\nSize  Used Avail Use%\n100G   98G  2.0G  98%",
	Good:     "$ df -h /data\nSize  Used Avail Use%\n100G   40G   60G  40%",
	Ignore:   "When the test is small.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		seen := map[string]bool{}
		for _, t := range c.Targets() {
			d := c.Device(t.Device)
			if c.Host == nil || d == nil || t.Mount == nil || t.Free == nil || seen[d.Name] {
				continue
			}
			seen[d.Name] = true
			if float64(*t.Free) >= nearlyFull*float64(d.Size) {
				report(finding.Fine(t.Mount.Point, "%s free at %s", *t.Free, t.Mount.Point))
				continue
			}
			report(finding.Finding{
				Subject: t.Mount.Point,
				Message: fmt.Sprintf("Of %s at %s only %s are free.", d.Size, t.Mount.Point, *t.Free),
				Evidence: []finding.Evidence{
					{
						What:     "free",
						Found:    fmt.Sprintf("%s (%s)", *t.Free, text.Percent(float64(*t.Free)/float64(d.Size))),
						Expected: "at least " + text.Percent(nearlyFull),
						Where:    "statfs",
					},
				},
				Commands: []string{"df -h " + text.ShellQuote(t.Mount.Point)},
			})
		}
	},
}

// The versions that fixed what would spoil a measurement.
var (
	// ext4 of 6.1.64 and 6.1.65 put direct writes in the wrong place (Debian bug 1057843, fixed in
	// 6.1.66).
	ext4Broken, ext4Mended = host.Release{6, 1, 64}, host.Release{6, 1, 66}
	// fio 3.30 gives jobs that have ended in the documents of --status-interval. With libaio 3.28
	// does not measure syncs, 3.33 does.
	fioWhole = fio.Version{Major: 3, Minor: 30}
	fioSyncs = fio.Version{Major: 3, Minor: 33}
)

var oldSoftware = &diagnose.Rule{
	Code:     "PL318",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "fio or the kernel has a known fault",
	When: "fio is before 3.33 (no sync latency with libaio) or 3.30 (status documents lack finished jobs). " +
		"The kernel is 6.1.64 or 6.1.65 with ext4 (an error: direct writes corrupt files, Debian bug " +
		"1057843), or before 5.5 (an info: flushes are not counted).",
	Why:    "Nothing downstream can correct wrong figures.",
	Fix:    "Upgrade it.",
	Bad:    "fio-3.19 on Linux 5.4",
	Good:   "fio-3.33 or later on Linux 5.15 or later",
	Ignore: "When all compared runs have the same versions.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		if c.Host == nil {
			return
		}
		v, err := fio.ParseVersion(c.Host.Fio)
		switch {
		case err != nil:
		case !v.Before(fioSyncs):
			report(finding.Fine("fio", "no fault of %s is known", v))
		default:
			f := finding.Finding{
				Subject: "fio",
				Message: fmt.Sprintf("%s does not measure how long syncs take with libaio.", v),
				Evidence: []finding.Evidence{
					{What: "fio", Found: v.String(), Expected: fioSyncs.String() + " or later", Where: "fio --version"},
				},
			}
			if v.Before(fioWhole) {
				f.Message = fmt.Sprintf("%s does not measure how long syncs take with libaio, and leaves jobs that have ended "+
					"out of its documents of each second.", v)
			}
			report(f)
		}
		k, known := c.Host.Release()
		f := finding.Finding{
			Subject:  "kernel",
			Evidence: []finding.Evidence{{What: "kernel", Found: k.String(), Where: "/proc/version"}},
		}
		ext4 := slices.ContainsFunc(c.Mounts(), func(m diagnose.Mounted) bool { return m.FS == "ext4" })
		switch {
		case !known:
		case ext4 && !k.Before(ext4Broken) && k.Before(ext4Mended):
			f.Severity, f.Evidence[0].Expected = finding.Fail, ext4Mended.String()+" or later"
			f.Message = fmt.Sprintf("Direct writes on ext4 corrupt files under Linux %s.", k)
			report(f)
		case k.Before(host.CountsFlushes):
			f.Severity, f.Evidence[0].Expected = finding.Info, host.CountsFlushes.String()+" or later"
			f.Message = fmt.Sprintf("Linux %s does not count flushes, so their number is not known.", k)
			report(f)
		default:
			report(finding.Fine("kernel", "no fault of Linux %s is known", k))
		}
	},
}
