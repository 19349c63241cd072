// Package layout has the rules PL2xx: the layout of arrays, filesystems and mounts.
package layout

import (
	"fmt"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Rules are all of PL2xx.
func Rules() []*diagnose.Rule {
	return []*diagnose.Rule{
		degraded, syncing, wrongGeometry, straggler, misaligned, chunkSplit,
		doubleMount, discardMount, volatileCache, mixedMembers, linearArray, wideLog,
		idleMember, wrongChunk, noBarriers, parityLog,
	}
}

var degraded = &diagnose.Rule{
	Code: "PL201", Since: "0.1", Severity: finding.Fail,
	Title: "array is degraded",
	When:  "At least one member of a redundant array is missing (`md/degraded` is above 0).",
	Why: "The data has no second copy, and the missing member's load moves to its mirror or is computed: " +
		"a RAID10 of eight read at half its rate, while writes looked healthy.",
	Fix: "Replace the member, wait for the rebuild, then measure again.",
	Bad: `$ cat /proc/mdstat
md0 : active raid10 nvme8n1[7] nvme7n1[6] nvme4n1[5](F) ...
      [8/7] [UUUUU_UU]`,
	Good:   "      [8/8] [UUUUUUUU]",
	Ignore: "When you measure the degraded state: say so in a label.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, a := range c.Arrays() {
			n := len(a.Volumes)
			if a.Degraded <= 0 {
				if redundant(c, a) != nil {
					report(finding.Fine(a.Name, "%s has all of its %s", a.Name, text.Plural(n, "member")))
				}
				continue
			}
			busy := "and nothing rebuilds it"
			if diagnose.IsSyncing(&a) {
				busy = fmt.Sprintf("%s is at %s", a.Syncing, text.Percent(a.Progress))
			}
			report(finding.Finding{
				Subject: a.Name, Scenarios: c.ScenariosOn(a.Name),
				Message: fmt.Sprintf("%s lacks %d of its members; %s.", a.Name, a.Degraded, busy),
				Evidence: []finding.Evidence{
					{
						What:     "members missing",
						Found:    text.Count(a.Degraded),
						Expected: "0",
						Where:    diagnose.Sysfs(a.Name, "md/degraded"),
					},
					{What: "members known", Found: text.Count(n), Where: "topology"},
				},
				Commands: []string{
					"mdadm --detail " + text.ShellQuote("/dev/"+a.Name),
					"mdadm " + text.ShellQuote("/dev/"+a.Name) + " --re-add MEMBER",
				},
			})
		}
	},
}

var syncing = &diagnose.Rule{
	Code:     "PL202",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "array is resyncing or being checked",
	When:     "`md/sync_action` is not idle, and the array is not degraded (PL201).",
	Why: "It reads and writes every member beside your load: large reads lost half their rate in the lab, " +
		"small random writes little.",
	Fix: "Wait until it is done, or create arrays on blank volumes with --assume-clean.",
	Bad: `$ cat /sys/block/md0/md/sync_action
resync`,
	Good: `$ cat /sys/block/md0/md/sync_action
idle`,
	Ignore: "When you want the price of such checks.",
	After:  []finding.Code{"PL201"},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, a := range c.Arrays() {
			if a.Syncing == "" || a.Syncing == diagnose.IdleSync {
				if r := redundant(c, a); r != nil && r.Action != "" {
					report(finding.Fine(a.Name, "%s is not resyncing", a.Name))
				}
				continue
			}
			done := ""
			if a.Progress > 0 {
				done = ", " + text.Percent(a.Progress) + " done"
			}
			report(finding.Finding{
				Subject:   a.Name,
				Scenarios: c.ScenariosOn(a.Name),
				Message:   fmt.Sprintf("%s is in a %s%s, which competes with any load.", a.Name, a.Syncing, done),
				Evidence: []finding.Evidence{
					{
						What:     "sync action",
						Found:    a.Syncing,
						Expected: diagnose.IdleSync,
						Where:    diagnose.Sysfs(a.Name, "md/sync_action"),
					},
				},
				Commands: []string{"mdadm --wait " + text.ShellQuote("/dev/"+a.Name)},
			})
		}
	},
}

var mixedMembers = &diagnose.Rule{
	Code:     "PL210",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "array is made of unlike volumes",
	When:     "Members differ in type, model, sustained limits, or by more than 1 % in size.",
	Why: "A stripe waits for its slowest member. With unlike sizes, md RAID0 stripes the remainder over " +
		"fewer members.",
	Fix: "Use volumes of one type, size and provisioning; raise the weaker ones.",
	Bad: `volumes: [{type: gp3, iops: 3000}, {type: gp3, iops: 3000},
          {type: gp3, iops: 3000}, {type: gp2, size: 200GiB}]`,
	Good:   `volumes: {count: 4, type: gp3, iops: 3000}`,
	Ignore: "On linear arrays, or when the mixture is deliberate (write-mostly mirrors).",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, a := range c.Arrays() {
			if len(a.Volumes) < 2 || a.Level == topology.Linear {
				continue
			}
			var ev []finding.Evidence
			for _, v := range a.Volumes[1:] {
				if v.Missing || a.Volumes[0].Missing {
					continue // PL201 tells it; what is not there has no size
				}
				if d := unlike(a.Volumes[0], v); d != "" {
					ev = append(ev, finding.Evidence{
						What:     name(v) + " against " + name(a.Volumes[0]),
						Found:    d,
						Expected: "alike",
						Where:    diagnose.Origin(v.Origin),
					})
				}
			}
			if len(ev) == 0 {
				continue
			}
			report(finding.Finding{
				Subject: a.Name, Evidence: ev,
				Message: fmt.Sprintf("%s: %d of %d members differ from %s (%s), and the weakest sets the pace.",
					a.Name, len(ev), len(a.Volumes), name(a.Volumes[0]), ev[0].Found),
			})
		}
	},
}

// sizeSlack is how far members may differ in size: md rounds to its chunk and drives of one model
// differ by little.
const sizeSlack = 0.01

func unlike(a, b topology.Volume) string {
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
		d = append(d, fmt.Sprintf("%s is not %s", b.Size, a.Size))
	}
	return strings.Join(d, ", ")
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
	for _, s := range []string{v.Device, v.ID, v.Serial, v.Type} {
		if s != "" {
			return s
		}
	}
	return "a volume"
}

var linearArray = &diagnose.Rule{
	Code:     "PL211",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "several volumes are concatenated, not striped",
	When:     "An array of two volumes or more is linear (an LVM volume without --stripes, or md linear).",
	Why:      "It fills one volume after the other, so a file gets one volume's IOPS and throughput.",
	Fix:      "Recreate it with one stripe per member; this needs a copy.",
	Bad:      "lvcreate -l 100%FREE --name data vg0",
	Good:     "lvcreate --type striped --stripes 4 --stripesize 64k -l 100%FREE --name data vg0",
	Ignore:   "When the volume was grown for space and speed does not matter.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, a := range c.Arrays() {
			if a.Level != topology.Linear || len(a.Volumes) < 2 {
				continue
			}
			report(finding.Finding{
				Subject: a.Name,
				Message: fmt.Sprintf("%s joins %d volumes end to end, so a file gets the speed of one of them.", a.Name,
					len(a.Volumes)),
				Evidence: []finding.Evidence{
					{
						What:     "level",
						Found:    "linear over " + text.Count(len(a.Volumes)) + " volumes",
						Expected: "striped",
						Where:    diagnose.Origin(a.Origin),
					},
				},
				Commands: []string{"lvs -o name,segtype,stripes,stripesize,devices"},
			})
		}
	},
}

// redundant is what was read of an array that md keeps whole and in step, nil of any other.
func redundant(c *diagnose.Case, a topology.Array) *block.Raid {
	if d := c.Device(a.Name); d != nil && a.Level.Redundant() {
		return d.MD
	}
	return nil
}

var parityLog = &diagnose.Rule{
	Code:     "PL216",
	Since:    "0.3",
	Severity: finding.Warn,
	Title:    "a database's log is on RAID5 or RAID6",
	When:     "The log's path is on an md array of level 5 or 6.",
	Why: "A commit writes less than a stripe, so that md reads the old data and parity first: 4 I/Os for each write " +
		"on RAID5, 6 on RAID6. Without a journal or PPL a power cut in between can spoil other blocks of the stripe. " +
		"Source: md(4), Documentation/driver-api/md/raid5-ppl.rst (2026-11-26).",
	Fix:    "Put the log on RAID1 or RAID10.",
	Bad:    "mdadm --create /dev/md0 --level=5 --raid-devices=4 ... && mount /dev/md0 /wal",
	Good:   "mdadm --create /dev/md0 --level=10 --raid-devices=4 ... && mount /dev/md0 /wal",
	Ignore: "When commits are rare.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, t := range c.Targets() {
			a := c.Topology.Array(t.Array)
			if t.Role != topology.WAL || a == nil || a.Level.Parity() == 0 {
				continue
			}
			report(finding.Finding{
				Subject: a.Name, Scenarios: c.ScenariosOn(a.Name),
				Message: fmt.Sprintf("%s is %s, and holds the log: each small write becomes %d I/Os.", a.Name, a.Level,
					2*(1+a.Level.Parity())),
				Evidence: []finding.Evidence{{
					What: "level of " + a.Name, Found: string(a.Level), Expected: "raid1 or raid10", Where: "topology",
				}},
			})
		}
	},
}
