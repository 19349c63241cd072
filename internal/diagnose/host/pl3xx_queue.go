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
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	// The read-ahead for random data, and for a log that is read in sequence at recovery: section 6.2 of
	// testdata/seeds/disk-benchmark-guide.md.
	dataReadAhead = 64 * units.KiB
	walReadAhead  = 4096 * units.KiB
	// usualReadAhead is the kernel's default (VM_READAHEAD_PAGES, linux/mm.h): not worth a word.
	usualReadAhead = 128 * units.KiB
)

func readAhead(c *diagnose.Case, report diagnose.Report) {
	if allDirect(c) {
		return
	}
	for _, t := range tops(c) {
		have, want := t.Queue.ReadAhead, units.Bytes(0)
		switch {
		case len(t.roles) != 1:
			continue
		case t.roles[0] == topology.Data && have > usualReadAhead:
			want = dataReadAhead
		case t.roles[0] == topology.WAL && have < walReadAhead && t.striped:
			want = walReadAhead
		}
		if want == 0 {
			if have > 0 {
				report(finding.Fine(t.Name, "read-ahead of %s is %s (%s)", t.Name, have, t.roles[0]))
			}
			continue
		}
		file := diagnose.Sysfs(t.Name, "queue/read_ahead_kb")
		f := finding.New(t.Name, "%s reads %s ahead; %s wants %s.", t.Name, have, t.roles[0], want).
			Saw("read-ahead", have.String(), want.String(), file)
		f.Set(finding.Setting{File: file, Value: strconv.FormatUint(uint64(want/units.KiB), 10)})
		report(f)
	}
}

// allDirect says that something was measured and none of it went through the page cache.
func allDirect(c *diagnose.Case) bool {
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

func wrongScheduler(c *diagnose.Case, report diagnose.Report) {
	nvme := false
	f, names, right := perDrive(c, "scheduler", func(d drive) (string, string) {
		s := d.Queue.Scheduler
		guest := strings.HasPrefix(d.Name, "vd") || strings.HasPrefix(d.Name, "xvd")
		switch {
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
		f.Say("%s %s requests by %s.", text.Some(names, 3), verb(names, "sorts", "sort"), f.Evidence[0].Found)
		report(f)
	}
}

// leastRequests is what the built-in suites keep in flight on each of eight volumes: iodepth 64 ×
// numjobs 4 / 8.
const leastRequests = 32

func fewRequests(c *diagnose.Case, report diagnose.Report) {
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
	allFine(report, right, strconv.Itoa(leastRequests)+" or more requests fit the queue of %s")
	if len(names) > 0 {
		f.Say("Fewer than %d requests fit into the queue of %s.", leastRequests, text.Some(names, 3))
		report(f)
	}
}

// largestBlock is that of the runs, and at least the 1 MiB of the built-in suites.
func largestBlock(c *diagnose.Case) units.Bytes {
	largest := units.MiB
	for _, m := range c.Runs {
		if m.Result != nil {
			for _, w := range m.Result.Workloads {
				largest = max(largest, w.LargestBlock())
			}
		}
	}
	return largest
}

func smallRequests(c *diagnose.Case, report diagnose.Report) {
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
	allFine(report, right, "large requests go unsplit to %s")
	allFine(report, most, "requests to %s are as large as they can be")
	if len(names) > 0 {
		f.Say("%s %s I/Os into requests of %s KiB, though %s would take more.", text.Some(names, 3),
			verb(names, "cuts", "cut"), f.Evidence[0].Found, verb(names, "it", "they"))
		report(f)
	}
}

func rotationalSSD(c *diagnose.Case, report diagnose.Report) {
	f, names, _ := perDrive(c, "rotational", func(d drive) (string, string) {
		t, _ := cloud.TypeNamed(d.volume.Type)
		if solid := d.nvme() || d.ebs() || t.EBS() || d.volume.Type == topology.NVMe; !solid || t.HDD != nil ||
			!d.Queue.Rotational {
			return "", ""
		}
		return "1", "0"
	})
	if len(names) > 0 {
		f.Say("%s: marked as spinning, though solid state.", text.Some(names, 3))
		report(f)
	}
}

// usualTimeout is nvme_core.io_timeout's default.
const usualTimeout = 30 * time.Second

// longTimeouts is the first kernel whose nvme_core.io_timeout is no byte.
var longTimeouts = host.Release{4, 15, 0}

func shortTimeout(c *diagnose.Case, report diagnose.Report) {
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
	f := finding.New(strings.Join(names, ", "), "Requests to %s fail after %s, and EBS can stall for longer.",
		text.Some(names, 3), text.Duration(c.Host.NVMeTimeout)).
		Saw("nvme_core.io_timeout", text.Duration(c.Host.NVMeTimeout), most+" s",
			"/sys/module/nvme_core/parameters/io_timeout").
		Run("grubby --update-kernel=ALL --args=nvme_core.io_timeout=" + most)
	if c.Host.NVMeTimeout < usualTimeout {
		f.Severity = finding.Warn
	}
	report(f)
}
