package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/script"
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
	for _, job := range jobs {
		for _, j := range job.all() {
			if j.Writes() {
				for _, path := range j.Files() {
					d.Written[path] = true
				}
			}
		}
	}
	return d
}

func unmade(c *Case, report reporter) {
	for _, file := range c.Scripts {
		for _, u := range c.documents[file].Unmade {
			report(*foundAt(file, u.Word.Line, u.Word.Col, "mdadm refuses it: %s.", u.Why))
		}
	}
}

var (
	// mdadmConf is a line that changes mdadm.conf: what stands before its name.
	mdadmConf = regexp.MustCompile(`^[^#]*?(?:>>?|\btee\b|\brm\s|\bsed\s).*mdadm\.conf`)
	// keepsConf appends to it, dropsArrays deletes its arrays.
	keepsConf   = regexp.MustCompile(`>>|\btee\s.*(?:-a|--append)\b`)
	dropsArrays = regexp.MustCompile(`\bsed\s.*ARRAY.*d\b`)
	// fstabLine is a line that a script writes to fstab.
	fstabLine = regexp.MustCompile(`^[^#]*\becho\s+(?:-e\s+)?["'][^"']+["'].*\bfstab`)
	kernelMD  = regexp.MustCompile(`^/dev/md\d+$`)
)

func bootFiles(c *Case, report reporter) {
	for _, file := range c.Scripts {
		say := func(line int, format string, args ...any) {
			f := foundAt(file, line, 1, format, args...)
			f.Alike = format
			report(*f)
		}
		appended, dropped := 0, 0
		for line, change := range file.Each(mdadmConf, "mdadm.conf") {
			switch before := appended; {
			case keepsConf.MatchString(change):
				if appended, dropped = line, 0; before > 0 {
					say(line, "Line %d already appends the arrays to mdadm.conf: with this line, the file lists them twice.", before)
				}
			case dropsArrays.MatchString(change):
				appended, dropped = 0, line
			default:
				appended, dropped = 0, 0
			}
		}
		if dropped > 0 {
			say(dropped, "This command deletes every array's line from mdadm.conf and does not write new ones.")
		}
		for line, command := range file.Each(fstabLine, "fstab") {
			fields := strings.Fields(strings.FieldsFunc(command, func(r rune) bool { return r == '"' || r == '\'' })[1])
			switch {
			case len(fields) < 4:
			case strings.HasSuffix(fields[3], ",") && len(fields) > 4:
				f := foundAt(file, line, 1, "A space ends the options of this fstab line after %q: %q is not among "+
					"them.", fields[3], fields[4])
				f.Severity, f.Fix = finding.Fail, "Write the options without spaces."
				report(*f)
			case kernelMD.MatchString(fields[0]):
				say(line, "%s may have a different name after a reboot: fstab needs its UUID or label.", fields[0])
			}
		}
	}
}

func wrongStripe(c *Case, report reporter) {
	for _, file := range c.Scripts {
		for _, m := range c.documents[file].Formats {
			a := m.Array
			width := a.StripeMembers()
			var wrong, is []string
			if m.Unit != a.Chunk {
				wrong, is = append(wrong, says("su=%s", m.Unit.Suffixed())), append(is, says("a chunk of %s", a.Chunk.Suffixed()))
			}
			if m.Width > 0 && width > 0 && m.Width != width {
				wrong, is = append(wrong, says("sw=%d", m.Width)), append(is, says("a stripe %d members wide", width))
			}
			if len(wrong) == 0 {
				continue
			}
			f := foundAt(file, m.Word.Line, m.Word.Col, "%s, but %s (created on line %d as %s of %d members) has %s.",
				strings.Join(wrong, " and "), a.Device, a.Line, a.Kind, a.Members, strings.Join(is, " and "))
			if m.Unit != a.Chunk {
				chunk := a.Chunk.String()
				if a.Assumed {
					chunk += " (the default)"
				}
				*f = f.Saw("stripe unit", m.Unit, chunk, says("line %d", a.Line))
			}
			if m.Width != width && m.Width > 0 {
				*f = f.Saw("stripe width in members", strconv.Itoa(m.Width), strconv.Itoa(width), says("line %d", a.Line))
			}
			f.Fix = says("Write su=%s,sw=%d, or give neither: mkfs reads them from the device.", a.Chunk.Suffixed(),
				width)
			report(*f)
		}
	}
}

func mountedTwice(c *Case, report reporter) {
	for _, file := range c.Scripts {
		for _, d := range c.documents[file].Twice {
			first, second, idle := d.First, d.Second, d.Idle
			f := foundAt(
				file,
				second.Line,
				second.Col,
				"%s is already mounted on %s (line %d): %s is the same filesystem.", second.Device,
				first.Point, first.Line, second.Point,
			)
			if len(idle) > 0 {
				f.Message = says("%s is already mounted on %s (line %d): %s is the same filesystem, and %s is never "+
					"mounted.", second.Device, first.Point, first.Line,
					second.Point, strings.Join(idle, ", "))
				f.Fix = says("Mount %s on %s.", idle[0], second.Point)
			}
			report(*f)
		}
	}
}

// mountedWith makes a check of a case: that no mount of a document has one of the options.
func mountedWith(message string, options ...string) func(*Case, reporter) {
	return func(c *Case, report reporter) {
		for _, file := range c.Scripts {
			for _, cmd := range file.Commands {
				opts, _ := cmd.Flags(script.MountOptions)
				w := opts["options"]
				if cmd.Name() == "mount" && slices.ContainsFunc(strings.Split(w.Text, ","),
					func(o string) bool { return slices.Contains(options, o) }) {
					report(*foundAt(file, w.Line, w.Col, "%s", message))
				}
			}
		}
	}
}

func neverMounted(c *Case, report reporter) {
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
			report(*foundAt(file, a.Formatted, 1, "%s, made on line %d, is formatted here and never "+
				"mounted.", a.Device, a.Line))
		}
	}
}

// mountsAll says whether mount -a appears: what it mounts stands in fstab.
func mountsAll(file *script.File) bool {
	return slices.ContainsFunc(file.Commands, func(c script.Command) bool {
		return c.Name() == "mount" && c.Has("-a")
	})
}

func sameVolume(c *Case, report reporter) {
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
			opts, operands := cmd.Flags(script.LVCreateOptions)
			if len(operands) == 0 || opts["name"].Text == "" ||
				strings.Contains(opts["name"].Text+operands[0].Text, "$") {
				continue
			}
			k := key{operands[0].Text + "/" + opts["name"].Text, cmd.Scope, cmd.Block}
			if at := seen[k]; at > 0 {
				report(*foundAt(file, cmd.Line, cmd.Col, "Line %d already makes %s.", at, k.name))
			} else {
				seen[k] = cmd.Line
			}
		}
	}
}
