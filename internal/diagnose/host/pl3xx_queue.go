package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	// usualReadAhead is the kernel's default (VM_READAHEAD_PAGES, linux/mm.h).
	usualReadAhead = 128 * units.KiB
	// stripesAhead is how many stripes the kernel reads ahead by itself (disk_update_readahead, block/blk-settings.c).
	stripesAhead = 2
)

func readAhead(c *facts, report reporter) {
	if allDirect(c) {
		return
	}
	for _, t := range tops(c) {
		have, want, role := t.Queue.ReadAhead, units.Bytes(0), t.roles[0]
		switch {
		case have == 0 && t.Queue.Logical == 0:
			continue // its queue was not read
		case have == 0:
			want = max(usualReadAhead, stripesAhead*t.stripe)
		case len(t.roles) != 1:
			continue
		case role == topology.WAL && have < t.stripe:
			want = stripesAhead * t.stripe
		}
		if want == 0 {
			report(finding.Fine(t.Name, "read-ahead of %s is %s (%s)", t.Name, have, role))
			continue
		}
		file := diagnose.Sysfs(t.Name, "queue/read_ahead_kb")
		f := finding.New(t.Name, "%s reads %s ahead, less than a stripe of %s: replaying a log keeps few members busy.",
			t.Name, have, t.stripe)
		if have == 0 {
			f.Say("%s has no read-ahead: each sequential read waits for the drive.", t.Name)
		}
		f = f.Saw("read-ahead", have, want, file)
		f.Set(finding.Setting{File: file, Value: strconv.FormatUint(uint64(want/units.KiB), 10)})
		report(f)
	}
}

// allDirect says that something was measured and none of it went through the page cache.
func allDirect(c *facts) bool {
	runs := c.Measured()
	cached := func(m diagnose.Measurement) bool { return m.Any(diagnose.Buffered) }
	return len(runs) > 0 && !slices.ContainsFunc(runs, cached)
}

// verb is the word for one name or for several.
func verb(names []string, one, several string) string {
	if len(names) == 1 {
		return one
	}
	return several
}

const noScheduler = "none"

func wrongScheduler(c *facts, report reporter) {
	nvme, heads := false, false
	f, names, right := perDrive(c, "scheduler", func(d drive) (string, string) {
		s := d.Queue.Scheduler
		guest := diagnose.GuestDisk(d.Name)
		switch {
		case s == "cfq" && d.Queue.Rotational && !guest && database(c):
			heads = true
			return s, "deadline"
		case s == "cfq" && d.Queue.Rotational && !guest:
			return "", ""
		case s == "cfq":
			return s, "noop"
		case s == noScheduler && d.RPM > 0:
			return "", "" // unsorted
		case s == "" || !d.nvme() && s != "bfq" || !d.nvme() && d.Queue.Rotational && !guest:
			return "", ""
		case s == noScheduler:
			return s, ""
		}
		nvme = nvme || d.nvme()
		return s, noScheduler
	})
	if !nvme {
		f.Severity = finding.Info
	}
	allFine(report, right, "no scheduler on %s")
	if len(names) > 0 {
		f.Say("%s %s requests with %s.", names, verb(names, "sorts", "sort"), f.Evidence[0].Found)
		if heads {
			f.Title = "cfq makes a database's processes wait for each other's disk time"
			f.Fix = "Set deadline, which bounds how long a request waits."
		}
		report(f)
	}
	unsorted(c, report)
}

// unsorted finds hard disks whose requests nothing sorts.
func unsorted(c *facts, report reporter) {
	f, names, _ := perDrive(c, "scheduler", func(d drive) (found, wanted string) {
		if d.Queue.Scheduler == noScheduler && d.RPM > 0 {
			return noScheduler, "mq-deadline"
		}
		return "", ""
	})
	if len(names) > 0 {
		f.Title, f.Severity = "no scheduler merges and sorts the requests of hard disks", finding.Info
		f.Fix = "Set mq-deadline, the kernel's own choice for a hard disk."
		f.Say("%s %s no scheduler.", names, verb(names, "has", "have"))
		report(f)
	}
}

// leastRequests is what the built-in suites keep in flight on each of eight volumes: iodepth 64 ×
// numjobs 4 / 8.
const leastRequests = 32

func fewRequests(c *facts, report reporter) {
	f, names, right := perDrive(c, "nr_requests", func(d drive) (found, wanted string) {
		n := d.Queue.Requests * max(d.Queue.HardwareQueues, 1)
		if n > 0 {
			found = strconv.Itoa(d.Queue.Requests)
		}
		if n > 0 && n < leastRequests {
			wanted = "128"
		}
		return found, wanted
	})
	allFine(report, right, strconv.Itoa(leastRequests)+" or more requests fit in the queue of %s")
	if len(names) > 0 {
		f.Say("Fewer than %d requests fit in the queue of %s.", leastRequests, names)
		report(f)
	}
}

// largestBlock is that of the runs, and at least the 1 MiB of the built-in suites.
func largestBlock(c *facts) units.Bytes {
	largest := units.MiB
	for _, m := range c.Runs {
		if m.Result != nil {
			for _, w := range m.Workloads {
				largest = max(largest, w.LargestBlock())
			}
		}
	}
	return largest
}

func smallRequests(c *facts, report reporter) {
	var most []string // drives that take no larger ones, and split what is asked for
	f, names, right := perDrive(c, "max_sectors_kb", func(d drive) (found, wanted string) {
		asked, have := largestBlock(c), d.Queue.MaxSectors
		if d.array != nil && d.array.Chunk > 0 && len(d.array.Volumes) > 1 {
			asked = min(asked, d.array.Chunk)
		}
		need := min(asked, d.Queue.MaxHWSectors)
		switch {
		case have == 0 || need == 0:
			return "", ""
		case have >= need && need < asked:
			most = append(most, d.Name)
			return "", ""
		case have < need:
			wanted = fmt.Sprint(uint64(need / units.KiB))
		}
		return fmt.Sprint(uint64(have / units.KiB)), wanted
	})
	allFine(report, right, "large requests reach %s unsplit")
	allFine(report, most, "requests to %s are as large as they can be")
	if len(names) > 0 {
		f.Say("%s %s I/Os into requests of %s KiB, though %s would take more.", names,
			verb(names, "cuts", "cut"), f.Evidence[0].Found, verb(names, "it", "they"))
		report(f)
	}
}

func rotationalSSD(c *facts, report reporter) {
	f, names, _ := perDrive(c, "rotational", func(d drive) (string, string) {
		t, _ := cloud.TypeNamed(d.volume.Type)
		solid := d.nvme() || d.ebs() || t.EBS() || d.volume.Type == topology.NVMe || strings.Contains(d.Model, "SSD")
		if !solid || t.HDD != nil || !d.Queue.Rotational {
			return "", ""
		}
		return "1", "0"
	})
	if len(names) > 0 {
		f.Say("%s is marked as rotational, although it is solid-state.", names)
		report(f)
	}
}

// usualTimeout is nvme_core.io_timeout's default.
const usualTimeout = 30 * time.Second

// longTimeouts is the first kernel whose nvme_core.io_timeout is no byte.
var longTimeouts = host.Release{4, 15, 0}

// kernelArgument is how a machine boots with another timeout of NVMe: Debian and what comes of it have no grubby.
func kernelArgument(f fault, c *facts, timeout string) fault {
	image := c.Host.Boot.Initramfs
	if strings.HasPrefix(c.Topology.Host.OS, "Debian") || strings.HasPrefix(c.Topology.Host.OS, "Ubuntu") ||
		image != nil && strings.HasPrefix(image.Path, "/boot/initrd.img-") {
		return f.Run("echo %s > /etc/default/grub.d/90-nvme.cfg",
			`GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX nvme_core.io_timeout=`+timeout+`"`).Run("update-grub")
	}
	return f.Run("grubby --update-kernel=ALL --args=nvme_core.io_timeout=%s", timeout)
}

func shortTimeout(c *facts, report reporter) {
	var names []string
	for _, d := range drives(c) {
		if d.ebs() && d.nvme() {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 || c.Host.NVMeTimeout == 0 || c.Host.NVMeTimeout > usualTimeout {
		return
	}
	most := "4294967295"
	if k, known := c.Host.Release(); known && k.Before(longTimeouts) {
		most = "255"
	}
	f := finding.New(strings.Join(names, ", "), "Requests to %s fail after %s, but EBS can stall for longer.",
		names, c.Host.NVMeTimeout).
		Saw("nvme_core.io_timeout", c.Host.NVMeTimeout, most+" s",
			"/sys/module/nvme_core/parameters/io_timeout")
	if c.Host.NVMeTimeout < usualTimeout {
		f.Severity = finding.Warn
	}
	report(kernelArgument(f, c, most))
}
