package finding

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/units"
)

// layout is what the commands of a document make, read from top to bottom.
type layout struct {
	file    *script.File
	arrays  map[string]*scriptArray // by device, as they stand at the end
	made    []*scriptArray          // all of them, in order
	mounts  []*scriptMount
	formats []scriptFormat
	doubles []scriptDouble
	written map[string]bool // paths that jobs or dd write
	// bursting and credits are the instance and volume types that the document names whose limits burst.
	bursting []cloud.InstanceFacts
	credits  []string
}

// scriptDouble is a mount of a device that is mounted elsewhere, and the arrays that are formatted and idle then.
type scriptDouble struct {
	first, second *scriptMount
	idle          []string
}

// layout is a document's, worked out once.
func (c *Case) layout(f *script.File) *layout {
	l := c.layouts[f]
	if l == nil {
		l = layoutOf(f)
		l.bursting, l.credits = bursting(f), f.Match(creditVolume, "gp2", "st1", "sc1")
		for _, j := range c.lintJobs() {
			if j.file == f && j.load.Writes() {
				for _, path := range j.load.Files() {
					l.written[path] = true
				}
			}
		}
		if c.layouts == nil {
			c.layouts = map[*script.File]*layout{}
		}
		c.layouts[f] = l
	}
	return l
}

// scriptArray is an md array or a striped logical volume that a command makes.
type scriptArray struct {
	device    string
	kind      string // raid0, raid10, ...
	members   int
	data      int // members whose bytes add up
	chunk     units.Bytes
	assumed   bool // the chunk is mdadm's default
	line      int
	formatted int // line of its mkfs, 0 for none
	used      bool
}

type scriptMount struct {
	device, point string
	line, col     int
	block         int
	options       string
}

// scriptFormat is a mkfs with a stripe geometry, and the array it is made on.
type scriptFormat struct {
	cmd   script.Command
	array *scriptArray
	word  fio.Word
	unit  units.Bytes // stripe unit
	width int         // data members, 0 when not given
}

// layoutOf reads a document's commands. A command that makes a device anew forgets what stood on it.
func layoutOf(f *script.File) *layout {
	l := &layout{file: f, arrays: map[string]*scriptArray{}, written: map[string]bool{}}
	for _, cmd := range f.Commands {
		switch name := cmd.Name(); {
		case name == "mdadm":
			l.mdadm(cmd)
		case name == "lvcreate":
			l.lvcreate(cmd)
		case strings.HasPrefix(name, "mkfs") || name == "mke2fs":
			l.mkfs(cmd)
		case name == "mount":
			l.mount(cmd)
		case name == "dd":
			for _, w := range cmd.Words {
				if path, ok := strings.CutPrefix(w.Text, "of="); ok {
					l.written[path] = true
				}
			}
		case name == "umount":
			for _, w := range cmd.Words[1:] {
				l.mounts = slices.DeleteFunc(l.mounts, func(m *scriptMount) bool { return m.point == w.Text || m.device == w.Text })
			}
		}
	}
	return l
}

func (l *layout) deviceUnder(point string) string {
	best := &scriptMount{}
	for _, m := range l.mounts {
		under := point == m.point || strings.HasPrefix(point, strings.TrimRight(m.point, "/")+"/")
		if under && len(m.point) >= len(best.point) {
			best = m
		}
	}
	return best.device
}

// flags reads a command's options: long and short names given with what they stand for, values behind = or in the next word;
// the rest are operands.
func flags(cmd script.Command, names map[string]string, takesValue string) (map[string]fio.Word, []fio.Word) {
	got := map[string]fio.Word{}
	var operands []fio.Word
	for i := 1; i < len(cmd.Words); i++ {
		w := cmd.Words[i]
		if len(w.Text) < 2 || w.Text[0] != '-' {
			operands = append(operands, w)
			continue
		}
		key, value, has := strings.Cut(w.Text, "=")
		if !strings.HasPrefix(key, "--") && len(key) > 2 { // -l5
			key, value, has = key[:2], key[2:], true
		}
		name, known := names[key]
		if !known {
			name = key
		}
		if !has && strings.Contains(" "+takesValue+" ", " "+name+" ") && i+1 < len(cmd.Words) {
			i++
			w, value = cmd.Words[i], cmd.Words[i].Text
		}
		w.Text = value
		got[name] = w
	}
	return got, operands
}

// defaultChunk is mdadm's since 3.1 when --chunk is not given (mdadm(8)).
const defaultChunk = 512 * units.KiB

func (l *layout) mdadm(cmd script.Command) {
	opts, operands := flags(cmd, map[string]string{
		"-C": "create", "--create": "create", "-l": "level", "--level": "level", "-c": "chunk", "--chunk": "chunk", "-n": "members",
		"--raid-devices": "members", "-S": "stop", "--stop": "stop", "-x": "spares", "--spare-devices": "spares", "-p": "layout", "--layout": "layout",
		"-e": "metadata", "--metadata": "metadata", "-N": "name", "--name": "name", "-b": "bitmap", "--bitmap": "bitmap",
	}, "level chunk members spares layout metadata name bitmap")
	if len(operands) == 0 {
		return
	}
	device := operands[0].Text
	if _, stop := opts["stop"]; stop {
		for _, o := range operands {
			delete(l.arrays, o.Text)
			l.forget(o.Text)
		}
		return
	}
	if _, create := opts["create"]; !create {
		return
	}
	a := &scriptArray{device: device, kind: "raid" + strings.TrimPrefix(opts["level"].Text, "raid"), line: cmd.Line}
	a.members, _ = strconv.Atoi(opts["members"].Text)
	switch a.kind {
	case "raid0":
		a.data = a.members
	case "raid10":
		a.data = a.members / 2
	case "raid4", "raid5":
		a.data = a.members - 1
	case "raid6":
		a.data = a.members - 2
	default: // mirrors have no chunk
		return
	}
	a.chunk, a.assumed = defaultChunk, true
	if w, ok := opts["chunk"]; ok {
		text := w.Text
		if strings.Trim(text, "0123456789") == "" {
			text += "k" // mdadm counts in kibibytes
		}
		b, err := units.ParseBytes(strings.TrimSuffix(strings.ToLower(text), "b"))
		if err != nil {
			return
		}
		a.chunk, a.assumed = b, false
	}
	l.add(a)
}

func (l *layout) add(a *scriptArray) {
	l.forget(a.device)
	l.arrays[a.device] = a
	l.made = append(l.made, a)
}

// forget drops the mounts of a device that is made anew.
func (l *layout) forget(device string) {
	l.mounts = slices.DeleteFunc(l.mounts, func(m *scriptMount) bool { return m.device == device })
}

func (l *layout) lvcreate(cmd script.Command) {
	opts, operands := flags(cmd, map[string]string{
		"-i": "stripes", "--stripes": "stripes", "-I": "stripesize", "--stripesize": "stripesize", "-n": "name", "--name": "name",
		"-L": "size", "--size": "size", "-l": "extents", "--extents": "extents", "--type": "type",
	}, "stripes stripesize name size extents type")
	if len(operands) == 0 || opts["name"].Text == "" {
		return
	}
	a := &scriptArray{device: "/dev/" + operands[0].Text + "/" + opts["name"].Text, kind: "striped", line: cmd.Line, chunk: 64 * units.KiB, assumed: true}
	a.members, _ = strconv.Atoi(opts["stripes"].Text)
	a.data = a.members
	if w, ok := opts["stripesize"]; ok {
		text := w.Text
		if strings.Trim(text, "0123456789") == "" {
			text += "k" // lvcreate(8): the default unit of --stripesize
		}
		b, err := units.ParseBytes(strings.ToLower(text))
		if err != nil {
			return
		}
		a.chunk, a.assumed = b, false
	}
	if a.members > 1 {
		l.add(a)
	}
}

// deviceName brings /dev/mapper/vg-lv to /dev/vg/lv; hyphens within the names are doubled there.
func deviceName(dev string) string {
	name, ok := strings.CutPrefix(dev, "/dev/mapper/")
	if !ok {
		return dev
	}
	const hyphen = "\x00"
	vg, lv, ok := strings.Cut(strings.ReplaceAll(name, "--", hyphen), "-")
	if !ok {
		return dev
	}
	return "/dev/" + strings.ReplaceAll(vg, hyphen, "-") + "/" + strings.ReplaceAll(lv, hyphen, "-")
}

func (l *layout) mkfs(cmd script.Command) {
	var device string
	for _, w := range cmd.Words[1:] {
		if strings.HasPrefix(w.Text, "/dev/") {
			device = deviceName(w.Text)
		}
	}
	if device == "" || strings.Contains(device, "$") {
		return
	}
	l.forget(device)
	a := l.arrays[device]
	if a == nil {
		return
	}
	a.formatted = cmd.Line
	f := scriptFormat{cmd: cmd, array: a}
	block := 4 * units.KiB
	var stride, stripes int
	for i, w := range cmd.Words {
		if i > 0 && cmd.Words[i-1].Text == "-b" {
			if b, err := units.ParseBytes(strings.TrimPrefix(w.Text, "size=")); err == nil && b > 0 {
				block = b
			}
		}
		for part := range strings.SplitSeq(w.Text, ",") {
			key, value, _ := strings.Cut(part, "=")
			n, _ := strconv.Atoi(value)
			switch key {
			case "su":
				f.unit, _ = units.ParseBytes(value)
			case "sunit": // in sectors of 512 bytes
				f.unit = units64(n) * 512
			case "sw":
				f.width = n
			case "stride":
				stride = n
			case "stripe-width", "stripe_width":
				stripes = n
			default:
				continue
			}
			f.word = w
		}
	}
	if stride > 0 {
		f.unit, f.width = units64(stride)*block, stripes/stride
	}
	if f.unit > 0 {
		l.formats = append(l.formats, f)
	}
}

func (l *layout) mount(cmd script.Command) {
	opts, operands := flags(cmd, map[string]string{"-o": "options", "--options": "options", "-t": "type", "--types": "type"}, "options type -L -U --label --source --target")
	if len(operands) != 2 || cmd.Loop || strings.Contains(operands[0].Text+operands[1].Text, "$") || strings.Contains(opts["options"].Text, "bind") {
		return
	}
	m := &scriptMount{
		device: deviceName(operands[0].Text), point: path.Clean(operands[1].Text), line: operands[0].Line, col: operands[0].Col,
		block: cmd.Block, options: opts["options"].Text,
	}
	l.double(m)
	if a := l.arrays[m.device]; a != nil {
		a.used = true
	}
	l.mounts = append(slices.DeleteFunc(l.mounts, func(old *scriptMount) bool { return old.device == m.device && old.point == m.point }), m)
}

var wrongStripe = &Rule{
	Code: "PL130", Since: "0.1", Severity: Fail,
	Title: "mkfs is given another geometry than the array has",
	When: "A mkfs states su and sw (XFS) or stride and stripe-width (ext4) for a device that mdadm or lvcreate makes in the same document, and they differ from its " +
		"chunk and the number of its data members.",
	Why:    "The filesystem lays allocation groups, its log and large files out for an array that is not there. mkfs warns at most, and the mount says nothing.",
	Fix:    "Leave su and sw away: mkfs.xfs and mkfs.ext4 read the geometry of md and LVM from the kernel.",
	Bad:    "mdadm --create /dev/md0 --chunk=64K --level=raid0 --raid-devices=4 ...\nmkfs.xfs -d su=64k,sw=8 /dev/md0",
	Good:   "mdadm --create /dev/md0 --chunk=64K --level=raid0 --raid-devices=4 ...\nmkfs.xfs -d su=64k,sw=4 /dev/md0",
	Ignore: "When the device is a stripe over arrays that are made elsewhere.",
	Check: func(c *Case, report func(Finding)) {
		for _, file := range c.Scripts {
			for _, m := range c.layout(file).formats {
				a := m.array
				var wrong []string
				if m.unit != a.chunk {
					wrong = append(wrong, fmt.Sprintf("su=%s where the chunk is %s", fioSize(m.unit), fioSize(a.chunk)))
				}
				if m.width > 0 && a.data > 0 && m.width != a.data {
					wrong = append(wrong, fmt.Sprintf("sw=%d where %d members hold data", m.width, a.data))
				}
				if len(wrong) == 0 {
					continue
				}
				f := foundAt(file, m.word.Line, m.word.Col, fmt.Sprintf("%s for %s, which line %d makes: %s over %d.",
					strings.Join(wrong, " and "), a.device, a.line, a.kind, a.members))
				if m.unit != a.chunk {
					chunk := a.chunk.String()
					if a.assumed {
						chunk += " (the default)"
					}
					f.Evidence = append(f.Evidence, Evidence{"stripe unit", m.unit.String(), chunk, fmt.Sprintf("line %d", a.line)})
				}
				if m.width != a.data && m.width > 0 {
					f.Evidence = append(f.Evidence, Evidence{"stripe width in members", strconv.Itoa(m.width), strconv.Itoa(a.data), fmt.Sprintf("line %d", a.line)})
				}
				f.Fix = fmt.Sprintf("Write su=%s,sw=%d, or leave both away: mkfs reads them from the device.", fioSize(a.chunk), a.data)
				report(*f)
			}
		}
	},
}

var mountedTwice = &Rule{
	Code: "PL131", Since: "0.1", Severity: Fail,
	Title: "one device is mounted in two places",
	When:  "Within one script, or one code block, mount names the same device for two mount points, and neither umount nor a new mkfs or array stands between.",
	Why: "Both paths show one filesystem on one array. A test of \"two arrays\" then measures one with twice the load, and the array that was meant stays " +
		"idle.",
	Fix:    "Mount the device that was meant.",
	Bad:    "mount -o noatime /dev/md0 /opt/fio/t0\nmount -o noatime /dev/md0 /opt/fio/t1",
	Good:   "mount -o noatime /dev/md0 /opt/fio/t0\nmount -o noatime /dev/md1 /opt/fio/t1",
	Ignore: "When the second path to the same files is wanted.",
	Check: func(c *Case, report func(Finding)) {
		for _, file := range c.Scripts {
			for _, d := range c.layout(file).doubles {
				first, second, idle := d.first, d.second, d.idle
				f := foundAt(file, second.line, second.col, fmt.Sprintf("%s is mounted on %s already (line %d): %s is the same filesystem.",
					shown(second.device), shown(first.point), first.line, shown(second.point)))
				if len(idle) > 0 {
					f.Says = fmt.Sprintf("%s is mounted on %s already (line %d): %s is the same filesystem, and %s is never mounted.",
						shown(second.device), shown(first.point), first.line, shown(second.point), strings.Join(idle, ", "))
					f.Fix = fmt.Sprintf("Mount %s on %s.", idle[0], shown(second.point))
				}
				report(*f)
			}
		}
	},
}

// double notes a mount whose device is mounted elsewhere in the same block.
func (l *layout) double(m *scriptMount) {
	at := slices.IndexFunc(l.mounts, func(old *scriptMount) bool {
		return old.device == m.device && old.point != m.point && old.block == m.block
	})
	if at < 0 || !strings.HasPrefix(m.device, "/dev/") {
		return
	}
	d := scriptDouble{first: l.mounts[at], second: m}
	for _, a := range l.arrays {
		if !a.used && a.formatted > 0 {
			d.idle = append(d.idle, a.device)
		}
	}
	slices.Sort(d.idle)
	l.doubles = append(l.doubles, d)
}

var scriptDiscard = &Rule{
	Code: "PL132", Since: "0.1", Severity: Info,
	Title: "the filesystem is mounted with discard",
	When:  "The options of a mount hold discard. Said once a document.",
	Why: "Each removed file sends discards to the drives at once, beside the I/O that is measured; and the blocks they free answer later reads without " +
		"touching the medium, so a test on the raw device after removing files reads nothing.",
	Fix:    "Mount without discard and let fstrim.timer do it at a quiet hour.",
	Bad:    "mount -o noatime,discard /dev/md0 /data",
	Good:   "mount -o noatime /dev/md0 /data\nsystemctl enable --now fstrim.timer",
	Ignore: "When the application runs with discard too.",
	Check: func(c *Case, report func(Finding)) {
		for _, file := range c.Scripts {
			var first *Finding
			var more []string
			for _, cmd := range file.Commands {
				opts, _ := flags(cmd, map[string]string{"-o": "options", "--options": "options"}, "options -t")
				w, ok := opts["options"]
				if cmd.Name() != "mount" || !ok || !slices.Contains(strings.Split(w.Text, ","), "discard") {
					continue
				}
				if first == nil {
					first = foundAt(file, w.Line, w.Col, "With discard, removed files are trimmed while something else is measured, and reads of their blocks touch no medium.")
				} else {
					more = append(more, strconv.Itoa(w.Line))
				}
			}
			if first == nil {
				continue
			}
			if len(more) > 0 {
				first.Evidence = []Evidence{{What: "the same in lines", Found: strings.Join(more, ", ")}}
			}
			report(*first)
		}
	},
}

const made = "mdadm --create /dev/md0 --level=0 --raid-devices=2 ...\nmdadm --create /dev/md1 --level=0 --raid-devices=2 ...\n"

var neverMounted = &Rule{
	Code: "PL133", Since: "0.1", Severity: Warn,
	Title:  "an array is made and formatted, and never mounted",
	When:   "A document makes and formats several arrays and mounts some of them, but not this one. Silent where a second mount of another one (PL131) tells why.",
	Why:    "Half of the drives stay idle, and what is measured is not what the document says.",
	Fix:    "Mount it, or leave it away.",
	Bad:    made + "mkfs.xfs /dev/md0\nmkfs.xfs /dev/md1\nmount /dev/md0 /data",
	Good:   made + "mkfs.xfs /dev/md0\nmkfs.xfs /dev/md1\nmount /dev/md0 /data\nmount /dev/md1 /wal",
	Ignore: "When it is mounted elsewhere, such as by /etc/fstab.",
	Check: func(c *Case, report func(Finding)) {
		for _, file := range c.Scripts {
			explained := map[string]bool{}
			l := c.layout(file)
			for _, d := range l.doubles {
				for _, device := range d.idle {
					explained[device] = true
				}
			}
			used, all := 0, mountsAll(file)
			for _, a := range l.made {
				if a.used {
					used++
				}
			}
			for _, a := range l.made {
				if used == 0 || a.used || a.formatted == 0 || explained[a.device] || all {
					continue
				}
				report(*foundAt(file, a.formatted, 1, fmt.Sprintf("%s, made in line %d, is formatted here and never mounted.", a.device, a.line)))
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

var sameVolume = &Rule{
	Code: "PL134", Since: "0.1", Severity: Fail,
	Title:  "two logical volumes of one group have one name",
	When:   "Within one script, or one code block, lvcreate makes the same name twice in the same volume group.",
	Why:    "The second lvcreate fails, and what follows formats and mounts the first volume a second time.",
	Fix:    "Name the second volume otherwise, or name the volume group that was meant.",
	Bad:    "lvcreate -n data -L 100G pool\nlvcreate -n data -L 100G pool",
	Good:   "lvcreate -n data -L 100G pool\nlvcreate -n wal -L 100G pool",
	Ignore: "When lvremove stands between them in a way that lint does not see.",
	Check: func(c *Case, report func(Finding)) {
		type key struct {
			name  string
			block int
		}
		for _, file := range c.Scripts {
			seen := map[key]int{}
			for _, cmd := range file.Commands {
				if cmd.Name() != "lvcreate" || cmd.Loop {
					continue
				}
				opts, operands := flags(cmd, map[string]string{"-n": "name", "--name": "name", "-L": "size", "-l": "extents", "-i": "stripes", "-I": "stripesize"},
					"name size extents stripes stripesize --type --stripes --stripesize --size --extents")
				if len(operands) == 0 || opts["name"].Text == "" || strings.Contains(opts["name"].Text+operands[0].Text, "$") {
					continue
				}
				k := key{operands[0].Text + "/" + opts["name"].Text, cmd.Block}
				if at := seen[k]; at > 0 {
					report(*foundAt(file, cmd.Line, cmd.Col, fmt.Sprintf("line %d makes %s already.", at, shown(k.name))))
				} else {
					seen[k] = cmd.Line
				}
			}
		}
	},
}
