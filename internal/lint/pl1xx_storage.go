package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

// document is what a file builds and names, worked out once.
type document struct {
	*script.Storage
	// bursting and credits are the instance and volume types that the document names whose limits
	// burst.
	bursting []cloud.InstanceFacts
	credits  []string
	destroys bool // it says itself that data is lost
}

// documentOf is a file's. What its jobs write counts as written.
func documentOf(f *script.File, jobs []*lintJob) *document {
	d := &document{script.StorageOf(f), bursting(f), f.Match(creditVolume, creditTypes...), destroys(f)}
	for _, j := range jobs {
		if j.load.Writes() {
			for _, path := range j.load.Files() {
				d.Written[path] = true
			}
		}
	}
	return d
}

var wrongStripe = &rule{
	Code:     "PL130",
	Since:    "0.1",
	Severity: finding.Fail,
	Title:    "mkfs is given another geometry than the array has",
	When: "A mkfs states su and sw (XFS) or stride and stripe-width (ext4) that differ from the array of " +
		"the same document.",
	Why:    "The filesystem is made for another array, and mkfs warns at most.",
	Fix:    "Omit su and sw: mkfs reads the geometry of md and LVM.",
	Bad:    "mdadm --create /dev/md0 --chunk=64K --level=raid0 --raid-devices=4 ...\nmkfs.xfs -d su=64k,sw=8 /dev/md0",
	Good:   "mdadm --create /dev/md0 --chunk=64K --level=raid0 --raid-devices=4 ...\nmkfs.xfs -d su=64k,sw=4 /dev/md0",
	Ignore: "When the device is a stripe over arrays that are made elsewhere.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			for _, m := range c.documents[file].Formats {
				a := m.Array
				width := a.StripeMembers()
				var wrong []string
				if m.Unit != a.Chunk {
					wrong = append(wrong, fmt.Sprintf("su=%s where the chunk is %s", m.Unit.Suffixed(), a.Chunk.Suffixed()))
				}
				if m.Width > 0 && width > 0 && m.Width != width {
					wrong = append(wrong, fmt.Sprintf("sw=%d where the stripe is %d members wide", m.Width, width))
				}
				if len(wrong) == 0 {
					continue
				}
				f := foundAt(file, m.Word.Line, m.Word.Col, fmt.Sprintf("%s for %s, which line %d makes: %s over %d.",
					strings.Join(wrong, " and "), a.Device, a.Line, a.Kind, a.Members))
				if m.Unit != a.Chunk {
					chunk := a.Chunk.String()
					if a.Assumed {
						chunk += " (the default)"
					}
					f.Evidence = append(f.Evidence, finding.Evidence{
						What:     "stripe unit",
						Found:    m.Unit.String(),
						Expected: chunk,
						Where:    fmt.Sprintf("line %d", a.Line),
					})
				}
				if m.Width != width && m.Width > 0 {
					f.Evidence = append(f.Evidence, finding.Evidence{
						What:     "stripe width in members",
						Found:    strconv.Itoa(m.Width),
						Expected: strconv.Itoa(width),
						Where:    fmt.Sprintf("line %d", a.Line),
					})
				}
				f.Fix = fmt.Sprintf("Write su=%s,sw=%d, or give neither: mkfs reads them from the device.", a.Chunk.Suffixed(),
					width)
				report(*f)
			}
		}
	},
}

var mountedTwice = &rule{
	Code:     "PL131",
	Since:    "0.1",
	Severity: finding.Fail,
	Title:    "one device is mounted in two places",
	When: "In one branch of a script or one code block, mount names the same device twice, without umount, " +
		"mkfs or a new array in between.",
	Why: "Both paths show one filesystem, and the intended array stays idle.",
	Seen: "What was written below one mount point was read below the other, and was gone from the first " +
		"behind umount.",
	Fix:    "Mount the device that was meant.",
	Bad:    "mount -o noatime /dev/md0 /opt/fio/t0\nmount -o noatime /dev/md0 /opt/fio/t1",
	Good:   "mount -o noatime /dev/md0 /opt/fio/t0\nmount -o noatime /dev/md1 /opt/fio/t1",
	Ignore: "When the second path to the same files is wanted.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			for _, d := range c.documents[file].Twice {
				first, second, idle := d.First, d.Second, d.Idle
				f := foundAt(
					file,
					second.Line,
					second.Col,
					fmt.Sprintf("%s is mounted on %s already (line %d): %s is the same filesystem.", text.Clean(second.Device, 120),
						text.Clean(first.Point, 120), first.Line, text.Clean(second.Point, 120)),
				)
				if len(idle) > 0 {
					f.Message = fmt.Sprintf("%s is mounted on %s already (line %d): %s is the same filesystem, and %s is never "+
						"mounted.", text.Clean(second.Device, 120), text.Clean(first.Point, 120), first.Line,
						text.Clean(second.Point, 120), strings.Join(idle, ", "))
					f.Fix = fmt.Sprintf("Mount %s on %s.", idle[0], text.Clean(second.Point, 120))
				}
				report(*f)
			}
		}
	},
}

var scriptDiscard = &rule{
	Code:     "PL132",
	Since:    "0.1",
	Severity: finding.Info,
	Title:    "the filesystem is mounted with discard",
	When:     "The options of a mount hold discard.",
	Why: "Each removed file sends discards to the drives during the measurement, and later reads of the " +
		"freed blocks never touch the medium.",
	Fix:    "Mount without discard and use fstrim.timer.",
	Bad:    "mount -o noatime,discard /dev/md0 /data",
	Good:   "mount -o noatime /dev/md0 /data\nsystemctl enable --now fstrim.timer",
	Ignore: "When the application runs with discard too.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			var first *finding.Finding
			var more []string
			for _, cmd := range file.Commands {
				opts, _ := cmd.Flags(map[string]string{"-o": "options", "--options": "options"}, "options -t")
				w, ok := opts["options"]
				if cmd.Name() != "mount" || !ok || !slices.Contains(strings.Split(w.Text, ","), "discard") {
					continue
				}
				if first == nil {
					first = foundAt(file, w.Line, w.Col,
						"With discard, removed files are trimmed while something else is measured, and reads of their blocks touch no "+
							"medium.")
				} else {
					more = append(more, strconv.Itoa(w.Line))
				}
			}
			if first == nil {
				continue
			}
			if len(more) > 0 {
				first.Evidence = []finding.Evidence{{What: "the same in lines", Found: strings.Join(more, ", ")}}
			}
			report(*first)
		}
	},
}

const made = "mdadm --create /dev/md0 --level=0 --raid-devices=2 ...\nmdadm --create /dev/md1 --level=0 " +
	"--raid-devices=2 ...\n"

var neverMounted = &rule{
	Code:     "PL133",
	Since:    "0.1",
	Severity: finding.Info,
	Title:    "an array is made and formatted, and never mounted",
	When:     "A document makes and formats several arrays and mounts some of them, but not this one.",
	Why:      "Half of the drives stay idle.",
	Fix:      "Mount it, or do not make it.",
	Bad:      made + "mkfs.xfs /dev/md0\nmkfs.xfs /dev/md1\nmount /dev/md0 /data",
	Good:     made + "mkfs.xfs /dev/md0\nmkfs.xfs /dev/md1\nmount /dev/md0 /data\nmount /dev/md1 /wal",
	Ignore:   "When it is mounted elsewhere, such as by /etc/fstab.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			explained := map[string]bool{}
			l := c.documents[file]
			for _, d := range l.Twice {
				for _, device := range d.Idle {
					explained[device] = true
				}
			}
			used, all := 0, mountsAll(file)
			for _, a := range l.Built {
				if a.Mounted {
					used++
				}
			}
			for _, a := range l.Built {
				if used == 0 || a.Mounted || a.Formatted == 0 || explained[a.Device] || all {
					continue
				}
				report(*foundAt(file, a.Formatted, 1, fmt.Sprintf("%s, made in line %d, is formatted here and never "+
					"mounted.", a.Device, a.Line)))
			}
		}
	},
}

// mountsAll says whether mount -a appears: what it mounts stands in fstab.
func mountsAll(file *script.File) bool {
	return slices.ContainsFunc(file.Commands, func(c script.Command) bool {
		return c.Name() == "mount" && slices.ContainsFunc(c.Words, hasText("-a"))
	})
}

var sameVolume = &rule{
	Code: "PL134", Since: "0.1", Severity: finding.Fail,
	Title: "two logical volumes of one group have one name",
	When: "In one branch of a script or one code block, lvcreate makes the same name twice in one volume " +
		"group.",
	Why:    "The second lvcreate fails, and the next commands format and mount the first volume a second time.",
	Fix:    "Give the second volume another name, or name the intended volume group.",
	Bad:    "lvcreate -n data -L 100G pool\nlvcreate -n data -L 100G pool",
	Good:   "lvcreate -n data -L 100G pool\nlvcreate -n wal -L 100G pool",
	Ignore: "When a removal stands between them that lint does not see.",
	Check: func(c *Case, report func(finding.Finding)) {
		type key struct {
			name, scope string
			block       int
		}
		for _, file := range c.Scripts {
			seen := map[key]int{}
			for _, cmd := range file.Commands {
				if slices.Contains([]string{"lvremove", "lvrename", "vgremove"}, cmd.Name()) {
					clear(seen)
				}
				if cmd.Name() != "lvcreate" || cmd.Loop {
					continue
				}
				opts, operands := cmd.Flags(
					map[string]string{
						"-n":     "name",
						"--name": "name",
						"-L":     "size",
						"-l":     "extents",
						"-i":     "stripes",
						"-I":     "stripesize",
					},
					"name size extents stripes stripesize --type --stripes --stripesize --size --extents",
				)
				if len(operands) == 0 || opts["name"].Text == "" ||
					strings.Contains(opts["name"].Text+operands[0].Text, "$") {
					continue
				}
				k := key{operands[0].Text + "/" + opts["name"].Text, cmd.Scope, cmd.Block}
				if at := seen[k]; at > 0 {
					report(*foundAt(file, cmd.Line, cmd.Col, fmt.Sprintf("line %d makes %s already.", at, text.Clean(k.name, 120))))
				} else {
					seen[k] = cmd.Line
				}
			}
		}
	},
}
