// Package layout has the rules PL2xx: the layout of arrays, filesystems and mounts.
package layout

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What rules are about, look at and report.
type (
	facts       = diagnose.Case
	reporter    = diagnose.Report
	fault       = finding.Finding
	measurement = diagnose.Measurement
)

// Rules are all of PL2xx.
func Rules() []*diagnose.Rule {
	return finding.Rules(diagnose.Checks{
		"PL201": degraded,
		"PL202": syncing,
		"PL203": wrongGeometry,
		"PL204": checkStraggler,
		"PL205": misaligned,
		"PL206": chunkSplit,
		"PL207": doubleMount,
		"PL208": discardMount,
		"PL209": volatileCache,
		"PL210": mixedMembers,
		"PL211": linearArray,
		"PL212": wideLog,
		"PL213": diagnose.Each(idleMember),
		"PL214": diagnose.Each(wrongChunk),
		"PL215": noBarriers,
		"PL216": parityLog,
		"PL217": encryption,
		"PL218": onePath,
		"PL219": copiesOnWrite,
		"PL220": accessTimes,
		"PL221": fineBitmap,
		"PL222": poorDataset,
	})
}

func degraded(c *facts, report reporter) {
	for _, a := range c.Arrays() {
		n := len(a.Volumes)
		if a.Degraded <= 0 {
			if redundant(c, a) != nil {
				report(finding.Fine(a.Name, "%s has all of its %s", a.Name, text.Plural(n, "member")))
			}
			continue
		}
		f := finding.New(a.Name, "%s lacks %d of its members; no rebuild is running.", a.Name, a.Degraded).
			In(c.ScenariosOn(a.Name)).
			Saw("members missing", a.Degraded, "0", diagnose.Sysfs(a.Name, "md/degraded")).
			Saw("members known", n, "", "topology").
			Run("mdadm --detail %s", "/dev/"+a.Name)
		if diagnose.IsSyncing(&a) {
			f.Say("%s lacks %d of its members; %s is at %v.", a.Name, a.Degraded, a.Syncing, a.Progress)
			f.Fix = "A rebuild is running: wait for it, then measure again."
		} else {
			f = replacement(f, c.Device(a.Name))
		}
		report(f)
	}
}

// replacement adds how a member comes back: md takes one again as it was only where it has not failed and a bitmap
// tells what it missed (mdadm(8), --re-add).
func replacement(f fault, d *block.Device) fault {
	if d == nil || d.MD == nil {
		return f
	}
	path := "/dev/" + d.Name
	failed := false
	for _, m := range d.MD.Members {
		if !strings.Contains(m.State, "faulty") {
			continue
		}
		failed = true
		f = f.Saw("state of "+m.Name, m.State+", "+text.Plural(m.Errors, "error"), "in_sync",
			diagnose.Sysfs(d.Name, "md/dev-"+m.Name+"/state")).
			Run("mdadm %s --remove %s", path, "/dev/"+m.Name)
	}
	if failed || d.MD.Bitmap != "internal" {
		return f.Run("mdadm %s --add NEW_MEMBER", path)
	}
	return f.Run("mdadm %s --re-add MEMBER", path)
}

func syncing(c *facts, report reporter) {
	for _, a := range c.Arrays() {
		if !diagnose.IsSyncing(&a) {
			if r := redundant(c, a); r != nil && r.Action != "" {
				report(finding.Fine(a.Name, "%s is not resyncing", a.Name))
			}
			continue
		}
		done := ""
		if a.Progress > 0 {
			done = ", " + text.Percent(a.Progress) + " done"
		}
		report(finding.New(a.Name, "%s is running a %s%s, which competes with any load.", a.Name, a.Syncing,
			done).In(c.ScenariosOn(a.Name)).
			Saw("sync action", a.Syncing, diagnose.IdleSync, diagnose.Sysfs(a.Name, "md/sync_action")).
			Run("mdadm --wait %s", "/dev/"+a.Name))
	}
}

func mixedMembers(c *facts, report reporter) {
	for _, a := range c.Arrays() {
		if len(a.Volumes) < 2 || a.Level == topology.Linear {
			continue
		}
		f, sizes := finding.New(a.Name, ""), true
		for _, v := range a.Volumes[1:] {
			if v.Missing || a.Volumes[0].Missing {
				continue // PL201 tells it; what is not there has no size
			}
			if a.Level == topology.RAID1 || a.Level == topology.RAID10 {
				v.Model = a.Volumes[0].Model // of two models seldom both fail at once: often on purpose
			}
			if d, size := unlike(a.Volumes[0], v); d != "" {
				sizes = sizes && d == size
				f = f.Saw(name(v)+" against "+name(a.Volumes[0]), d, "alike", diagnose.Origin(v.Origin))
			}
		}
		if n := len(f.Evidence); n > 0 {
			comes := "the weakest sets the pace"
			switch {
			case sizes && a.Level == topology.RAID0:
				comes = "the larger ones' surplus is striped over fewer members"
			case sizes:
				comes = "the larger ones' surplus is unused"
			}
			f.Say("%s: %d of %d members differ from %s (%s), and %s.", a.Name, n, len(a.Volumes), name(a.Volumes[0]),
				f.Evidence[0].Found, comes)
			report(f)
		}
	}
}

// sizeSlack is how far members may differ in size: md rounds to its chunk and drives of one model
// differ by little.
const sizeSlack = 0.01

// unlike says how b differs from a, and size is what it says of their sizes.
func unlike(a, b topology.Volume) (all, size string) {
	var d []string
	if a.Type != b.Type && a.Type != "" && b.Type != "" {
		d = append(d, b.Type+" is not "+a.Type)
	}
	if a.Model != b.Model && a.Model != "" && b.Model != "" {
		d = append(d, fmt.Sprintf("model %q is not %q", b.Model, a.Model))
	}
	if x, y := a.Sustained, b.Sustained; x.Known() && y.Known() && x != y {
		d = append(d, fmt.Sprintf("%s is not %s", limits(y), limits(x)))
	}
	if lo, hi := float64(min(a.Size, b.Size)), float64(max(a.Size, b.Size)); lo > 0 && (hi-lo)/hi > sizeSlack {
		size = fmt.Sprintf("%s is not %s", b.Size, a.Size)
		d = append(d, size)
	}
	return strings.Join(d, ", "), size
}

func limits(l topology.Limits) string {
	var parts []string
	for _, n := range []units.IOPS{l.IOPS, l.ReadIOPS, l.WriteIOPS} {
		if n > 0 {
			parts = append(parts, n.String()+" IOPS")
		}
	}
	for _, r := range []units.Rate{l.Rate, l.ReadRate, l.WriteRate} {
		if r > 0 {
			parts = append(parts, r.String())
		}
	}
	return strings.Join(parts, " and ")
}

func name(v topology.Volume) string {
	return cmp.Or(v.Device, v.ID, v.Serial, v.Type, "a volume")
}

func linearArray(c *facts, report reporter) {
	for _, a := range c.Arrays() {
		if a.Level != topology.Linear || len(a.Volumes) < 2 {
			continue
		}
		report(finding.New(a.Name, "%s joins %d volumes end to end, so a file gets the speed of only one of them.", a.Name,
			len(a.Volumes)).
			Saw("level", "linear over "+text.Count(len(a.Volumes))+" volumes", "striped", diagnose.Origin(a.Origin)).
			Run("lvs -o name,segtype,stripes,stripesize,devices"))
	}
}

// redundant is what was read of an array that md keeps whole and in step, nil of any other.
func redundant(c *facts, a topology.Array) *block.Raid {
	if d := c.Device(a.Name); d != nil && a.Level.Redundant() {
		return d.MD
	}
	return nil
}

func parityLog(c *facts, report reporter) {
	for _, t := range c.Targets() {
		a := c.Topology.Array(t.Array)
		if t.Role != topology.WAL || a == nil || a.Level.Parity() == 0 {
			continue
		}
		f := finding.New(a.Name, "%s is %s, and holds the log: each small write becomes %d I/Os.", a.Name, a.Level,
			2*(1+a.Level.Parity())).In(c.ScenariosOn(a.Name)).
			Saw("level of "+a.Name, string(a.Level), "raid1 or raid10", "topology")
		if d := c.Device(a.Name); d != nil && d.MD != nil {
			if n := d.MD.StripeCache; n > 0 && n <= usualStripes {
				f = f.Saw("stripe cache of "+a.Name, text.Plural(n, "page")+" of each member", "more, where memory is free",
					diagnose.Sysfs(a.Name, "md/stripe_cache_size"))
			}
			if p := d.MD.Consistency; p == "resync" || p == "bitmap" {
				f = f.Saw("after a power cut", p, "journal or ppl", diagnose.Sysfs(a.Name, "md/consistency_policy"))
			}
		}
		report(f)
	}
}

// bitmapped is the size from which mdadm makes a bitmap unasked (mdadm(8), --bitmap): a whole copy of less is short.
const bitmapped = 100 * units.GiB

// withoutBitmap finds a large array with copies or parity of which md does not know, after a power cut, which parts
// were being written, so that it compares all of it.
func withoutBitmap(c *facts, a topology.Array, d *block.Device, report reporter) {
	if !a.Level.Redundant() || d.MD.Bitmap != "none" || d.Size <= bitmapped || d.MD.Consistency == "journal" ||
		d.MD.Consistency == "ppl" {
		return
	}
	f := finding.New(a.Name, "%s has no bitmap: after a power cut md compares all %s of it.", a.Name, d.Size).
		Titled("an array has no write-intent bitmap").In(c.ScenariosOn(a.Name)).
		Saw("bitmap of "+a.Name, d.MD.Bitmap, "internal", diagnose.Sysfs(a.Name, "md/bitmap/location")).
		Advise("Add an internal bitmap once the array has all of its members.")
	if a.Degraded == 0 && !diagnose.IsSyncing(&a) {
		f = f.Run("mdadm --grow --bitmap=internal %s", d.Path)
	}
	report(f)
}

// usualStripes is md's default of stripe_cache_size, and usualBitmap the least that one bit of an internal
// bitmap stands for where nothing else is asked for (mdadm(8)).
const (
	usualStripes = 256
	usualBitmap  = 64 * units.MiB
)

func fineBitmap(c *facts, report reporter) {
	for _, a := range c.Arrays() {
		d := c.Device(a.Name)
		if d == nil || d.MD == nil {
			continue
		}
		if d.MD.BitmapChunk == 0 {
			withoutBitmap(c, a, d, report)
			continue
		}
		if d.MD.BitmapChunk >= usualBitmap {
			report(finding.Fine(a.Name, "one bit of %s's bitmap covers %s", a.Name, d.MD.BitmapChunk))
			continue
		}
		report(finding.New(a.Name, "One bit of %s's bitmap covers %s: a random write often has to wait for a "+
			"bitmap update first.",
			a.Name, d.MD.BitmapChunk).In(c.ScenariosOn(a.Name)).
			Saw("bitmap chunk of "+a.Name, d.MD.BitmapChunk, "at least "+usualBitmap.String(),
				diagnose.Sysfs(a.Name, "md/bitmap/chunksize")).
			Run("mdadm --grow --bitmap=none %s", d.Path).
			Run("mdadm --grow --bitmap=internal --bitmap-chunk=64M %s", d.Path))
	}
}
