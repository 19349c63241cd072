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

func otherLoad(c *facts, report reporter) {
	for _, t := range tops(c) {
		for _, u := range c.OtherLoad {
			iops, rate := u.ReadIOPS+u.WriteIOPS, u.ReadRate+u.WriteRate
			if u.Name != t.Name {
				continue
			}
			w := atWork(c, t.Name)
			if iops < otherIOPS && rate < otherRate && u.Util < otherUtil {
				if w == nil || !w.Limited() {
					report(finding.Fine(t.Name, "%s is quiet: %s IOPS, %v busy", t.Name, iops, u.Util))
				}
				continue
			}
			f := finding.New(t.Name, "%s does %s IOPS and %s, none of it plimsoll's.", t.Name, iops, rate).
				Saw("I/Os per second", fmt.Sprintf("%s reads, %s writes", u.ReadIOPS, u.WriteIOPS), fmt.Sprintf("below %d",
					otherIOPS), "/proc/diskstats").
				Saw("throughput", rate, "below "+otherRate.String(), "/proc/diskstats").
				Saw("busy", u.Util, "below "+text.Percent(otherUtil), "/proc/diskstats").
				Run("pidstat -d 1 5")
			if w != nil && w.Using() != "" {
				f.Severity, f.Title = finding.Info, "the storage is in use"
				f.Say("%s is busy (%s IOPS, %s: %s). plimsoll why %s shows whether it is slow.", t.Name, iops, rate, w.Using(),
					text.ShellQuote(w.Path))
				f.Fix = "Leave it alone, and measure on a machine that is not in production."
				f.Commands = []string{finding.Shell("plimsoll why %s", w.Path)}
			}
			report(f)
		}
	}
}

// atWork is what was seen of the programs on a device, nil where nobody looked.
func atWork(c *facts, device string) *live.Facts {
	for _, f := range c.AtWork {
		if slices.ContainsFunc(f.Layers, func(l live.Layer) bool { return l.Name == device }) {
			return f
		}
	}
	return nil
}

// recent is how long a complaint of the kernel counts as a warning.
const recent = 24 * time.Hour

func kernelTrouble(c *facts, report reporter) {
	below := map[string]bool{}
	for _, t := range c.Targets() {
		for _, name := range t.Devices {
			below[name], below[controller(name)] = true, true
		}
	}
	ours := func(e host.Event) bool { return e.Kind == host.Throttled || below[e.Device] }
	if len(below) > 0 && !c.Host.LogUnread() && !slices.ContainsFunc(c.Host.Log, ours) {
		report(finding.Fine("log", "no errors from these devices in the kernel log"))
	}
	for _, e := range c.Host.Log {
		if !ours(e) {
			continue
		}
		f := fault{Subject: cmp.Or(e.Device, "processors")}
		when := "at an unknown time"
		if e.Last > 0 && c.Host.Uptime >= e.Last {
			ago := c.Host.Uptime - e.Last
			when = text.Duration(ago) + " ago"
			if ago > recent {
				f.Severity = finding.Info
			}
		}
		f.Say("The kernel log has %s (%s), last %s.", e.Kind, f.Subject, when)
		report(f.Saw("lines", e.Count, "0", "dmesg").
			Saw("last", fmt.Sprintf("%.160s", e.Text), "", "dmesg").
			Run("dmesg --ctime | grep -F %s", cmp.Or(e.Device, "temperature")))
	}
}

// controller is an NVMe drive's name without its namespace and partition: nvme1 of nvme1n1p2. Another name stays.
func controller(name string) string {
	number, nvme := strings.CutPrefix(name, "nvme")
	if !nvme {
		return name
	}
	number, _, _ = strings.Cut(number, "n")
	return "nvme" + number
}

// nearlyFull is the free share below which XFS and ext4 search long for free blocks; ext4 keeps as
// much for root.
const nearlyFull = 0.05

func fullFilesystem(c *facts, report reporter) {
	seen := map[string]bool{}
	for _, t := range c.Targets() {
		d := c.Device(t.Device)
		if d == nil || t.Mount == nil || t.Free == nil || seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		if 1-t.Inodes < nearlyFull {
			report(finding.New(t.Mount.Point, "%v of the inodes at %s are in use: without a free one, no file can be created.",
				t.Inodes, t.Mount.Point).
				Saw("inodes taken", t.Inodes, "at most "+text.Percent(1-nearlyFull), "statfs").
				Run("df -i %s", t.Mount.Point))
			continue
		}
		if float64(*t.Free) >= nearlyFull*float64(d.Size) {
			report(finding.Fine(t.Mount.Point, "%s free at %s", *t.Free, t.Mount.Point))
			continue
		}
		report(finding.New(t.Mount.Point, "Only %s of %s at %s is free.", *t.Free, d.Size, t.Mount.Point).
			Saw("free", finding.Says("%s (%v)", *t.Free, float64(*t.Free)/float64(d.Size)),
				"at least "+text.Percent(nearlyFull), "statfs").
			Run("df -h %s", t.Mount.Point))
	}
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

func oldSoftware(c *facts, report reporter) {
	v, err := fio.ParseVersion(c.Host.Fio)
	switch {
	case err != nil:
	case !v.Before(fioSyncs):
		report(finding.Fine("fio", "no known fault in %s", v))
	default:
		f := finding.New("fio", "%s does not measure how long syncs take with libaio.", v).
			Saw("fio", v, fioSyncs.String()+" or later", "fio --version")
		if v.Before(fioWhole) {
			f.Say("%s does not measure how long syncs take with libaio, and omits jobs that have ended "+
				"from its per-second output.", v)
		}
		report(f)
	}
	k, known := c.Host.Release()
	f := finding.New("kernel", "").
		Saw("kernel", k, "", "/proc/version")
	ext4 := slices.ContainsFunc(c.Mounts(), func(m diagnose.Mounted) bool { return m.FS == "ext4" })
	switch {
	case !known:
	case ext4 && !k.Before(ext4Broken) && k.Before(ext4Mended):
		f.Severity, f.Evidence[0].Expected = finding.Fail, ext4Mended.String()+" or later"
		f.Say("Direct writes on ext4 corrupt files under Linux %s.", k)
		report(f)
	case k.Before(host.CountsFlushes) && len(c.Runs) > 0:
		f.Severity, f.Evidence[0].Expected = finding.Info, host.CountsFlushes.String()+" or later"
		f.Say("Linux %s does not count flushes, so their number is unknown.", k)
		report(f)
	default:
		report(finding.Fine("kernel", "no known fault in Linux %s", k))
	}
}
