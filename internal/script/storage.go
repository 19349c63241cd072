package script

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/fio/shell"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Storage is what the mdadm, LVM, mkfs and mount commands of a document build, read from top to
// bottom.
type Storage struct {
	Built   []*Array // all arrays, in the order in which they are created
	Mounts  []*Mount // those in place at the end
	Formats []Format
	Twice   []DoubleMount
	Written map[string]bool // paths that dd writes

	arrays map[string]*Array // by device, as they are at the end
}

// Array is an md array or a striped logical volume that a command creates.
type Array struct {
	Device string
	Kind   string // as the command names it: raid0, raid10, striped, …
	topology.Geometry
	Chunk     units.Bytes
	Assumed   bool // the chunk is the tool's default
	Line      int
	scope     string
	Formatted int  // line of its mkfs, 0 for none
	Mounted   bool // at any time
}

// Mount is a mount command.
type Mount struct {
	Device, Point string
	Line, Col     int
	Block         int
	Options       string
	scope         string
}

// Format is a mkfs with a stripe geometry, and the array on which it is made.
type Format struct {
	Command Command
	Array   *Array
	Word    shell.Word  // the last that states the geometry
	Unit    units.Bytes // stripe unit
	Width   int         // data members, 0 when not given
}

// DoubleMount is a mount of a device that is mounted elsewhere, and the devices of arrays that are
// formatted and idle then.
type DoubleMount struct {
	First, Second *Mount
	Idle          []string
}

// StorageOf follows a document's commands. A command that creates a device again forgets what was
// on it.
func StorageOf(f *File) *Storage {
	s := &Storage{arrays: map[string]*Array{}, Written: map[string]bool{}}
	for _, cmd := range f.Commands {
		switch name := cmd.Name(); {
		case name == "mdadm":
			s.mdadm(cmd)
		case name == "lvcreate":
			s.lvcreate(cmd)
		case strings.HasPrefix(name, "mkfs") || name == "mke2fs":
			s.mkfs(cmd)
		case name == "mount":
			s.mount(cmd)
		case name == "dd":
			for _, w := range cmd.Words {
				if path, ok := strings.CutPrefix(w.Text, "of="); ok {
					s.Written[path] = true
				}
			}
		case slices.Contains(unmounters, name):
			s.unmount(cmd)
		}
	}
	return s
}

// ArrayOn is the array behind a device, nil where none is known.
func (s *Storage) ArrayOn(device string) *Array { return s.arrays[device] }

// DeviceUnder is the device mounted at a path or above it, "" where none is.
func (s *Storage) DeviceUnder(point string) string {
	best := &Mount{}
	for _, m := range s.Mounts {
		if under(point, m.Point) && len(m.Point) >= len(best.Point) {
			best = m
		}
	}
	return best.Device
}

// Flags reads a command's options: long and short names given with the name that they stand for,
// values behind = or in the next word; the rest are operands. Names in takesValue, apart by blanks,
// have a value.
func (c Command) Flags(names map[string]string, takesValue string) (map[string]shell.Word, []shell.Word) {
	got := map[string]shell.Word{}
	var operands []shell.Word
	for i := 1; i < len(c.Words); i++ {
		w := c.Words[i]
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
		if !has && strings.Contains(" "+takesValue+" ", " "+name+" ") && i+1 < len(c.Words) {
			i++
			w, value = c.Words[i], c.Words[i].Text
		}
		w.Text = value
		got[name] = w
	}
	return got, operands
}

func (s *Storage) mdadm(cmd Command) {
	opts, operands := cmd.Flags(map[string]string{
		"-C":              "create",
		"--create":        "create",
		"-l":              "level",
		"--level":         "level",
		"-c":              "chunk",
		"--chunk":         "chunk",
		"-n":              "members",
		"--raid-devices":  "members",
		"-S":              "stop",
		"--stop":          "stop",
		"-x":              "spares",
		"--spare-devices": "spares",
		"-p":              "layout",
		"--layout":        "layout",
		"--parity":        "layout",
		"-e":              "metadata",
		"--metadata":      "metadata",
		"-N":              "name",
		"--name":          "name",
		"-b":              "bitmap",
		"--bitmap":        "bitmap",
	}, "level chunk members spares layout metadata name bitmap")
	if len(operands) == 0 {
		return
	}
	if _, stop := opts["stop"]; stop {
		for _, o := range operands {
			delete(s.arrays, o.Text)
			s.forget(o.Text)
		}
		return
	}
	if _, create := opts["create"]; !create {
		return
	}
	a := &Array{Device: operands[0].Text, Line: cmd.Line, scope: cmd.Scope}
	a.Kind = "raid" + strings.TrimPrefix(opts["level"].Text, "raid")
	a.Members, _ = strconv.Atoi(opts["members"].Text)
	a.Level = topology.Level(a.Kind)
	if a.Kind == "raid4" { // one member of parity, as RAID5 has
		a.Level = topology.RAID5
	}
	if !a.Level.Striped() { // mirrors have no chunk
		return
	}
	if a.Level == topology.RAID10 {
		a.Mdadm(opts["layout"].Text)
	}
	a.chunk(opts["chunk"].Text, "md")
	if a.Chunk > 0 {
		s.add(a)
	}
}

// chunk reads a chunk as mdadm and lvcreate do, in KiB unless it has a suffix. Without one the
// tool's default is assumed.
func (a *Array) chunk(text string, using string) {
	if text == "" {
		a.Chunk, a.Assumed = topology.DefaultChunk(using), true
		return
	}
	if strings.Trim(text, "0123456789") == "" {
		text += "k"
	}
	a.Chunk, _ = units.ParseBytes(strings.TrimSuffix(strings.ToLower(text), "b"))
}

func (s *Storage) add(a *Array) {
	s.forget(a.Device)
	s.arrays[a.Device] = a
	s.Built = append(s.Built, a)
}

// forget drops the mounts of a device that is created again.
func (s *Storage) forget(device string) {
	s.Mounts = slices.DeleteFunc(s.Mounts, func(m *Mount) bool { return m.Device == device })
}

func (s *Storage) lvcreate(cmd Command) {
	opts, operands := cmd.Flags(map[string]string{
		"-i":           "stripes",
		"--stripes":    "stripes",
		"-I":           "stripesize",
		"--stripesize": "stripesize",
		"-n":           "name",
		"--name":       "name",
		"-L":           "size",
		"--size":       "size",
		"-l":           "extents",
		"--extents":    "extents",
		"--type":       "type",
	}, "stripes stripesize name size extents type")
	if len(operands) == 0 || opts["name"].Text == "" {
		return
	}
	device := "/dev/" + operands[0].Text + "/" + opts["name"].Text
	a := &Array{Device: device, Kind: "striped", Geometry: topology.Geometry{Level: topology.RAID0}, Line: cmd.Line}
	a.scope = cmd.Scope
	s.forget(device) // a new volume is mounted nowhere
	a.Members, _ = strconv.Atoi(opts["stripes"].Text)
	a.chunk(opts["stripesize"].Text, topology.LVM)
	if a.Members > 1 && a.Chunk > 0 {
		s.add(a)
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

func (s *Storage) mkfs(cmd Command) {
	var device string
	for _, w := range cmd.Words[1:] {
		if strings.HasPrefix(w.Text, "/dev/") {
			device = deviceName(w.Text)
		}
	}
	if device == "" || strings.Contains(device, "$") {
		return
	}
	s.forget(device)
	a := s.arrays[device]
	if a == nil {
		return
	}
	a.Formatted = cmd.Line
	if f := (Format{Command: cmd, Array: a}); a.scope == cmd.Scope && f.geometry() {
		s.Formats = append(s.Formats, f)
	}
}

// geometry reads su and sw, sunit, or stride and stripe-width; false when the command states none.
func (f *Format) geometry() bool {
	block := 4 * units.KiB
	var stride, stripes int
	words := f.Command.Words
	for i, w := range words {
		if i > 0 && words[i-1].Text == "-b" {
			if b, err := units.ParseBytes(strings.TrimPrefix(w.Text, "size=")); err == nil && b > 0 {
				block = b
			}
		}
		for part := range strings.SplitSeq(w.Text, ",") {
			key, value, _ := strings.Cut(part, "=")
			n, _ := strconv.Atoi(value)
			switch key {
			case "su":
				f.Unit, _ = units.ParseBytes(value)
			case "sunit": // in sectors of 512 bytes
				f.Unit = units.Bytes(max(n, 0)) * 512
			case "sw":
				f.Width = n
			case "stride":
				stride = n
			case "stripe-width", "stripe_width":
				stripes = n
			default:
				continue
			}
			f.Word = w
		}
	}
	if stride > 0 {
		f.Unit, f.Width = units.Bytes(stride)*block, stripes/stride
	}
	return f.Unit > 0
}

func (s *Storage) mount(cmd Command) {
	opts, operands := cmd.Flags(
		map[string]string{"-o": "options", "--options": "options", "-t": "type", "--types": "type"},
		"options type -L -U --label --source --target",
	)
	if len(operands) != 2 || cmd.Loop || strings.Contains(operands[0].Text+operands[1].Text, "$") ||
		anotherView(cmd, opts["options"].Text) {
		return
	}
	m := &Mount{
		Device:  deviceName(operands[0].Text),
		Point:   path.Clean(operands[1].Text),
		Line:    operands[0].Line,
		Col:     operands[0].Col,
		Block:   cmd.Block,
		Options: opts["options"].Text,
		scope:   cmd.Scope,
	}
	s.double(m)
	if a := s.arrays[m.Device]; a != nil {
		a.Mounted = true
	}
	s.Mounts = append(
		slices.DeleteFunc(s.Mounts, func(old *Mount) bool { return old.Device == m.Device && old.Point == m.Point }), m,
	)
}

// unmounters take a mount away.
var unmounters = []string{"umount", "fusermount", "fusermount3", "udisksctl"}

// unmount forgets what a command takes away: everything where it does not say what.
func (s *Storage) unmount(cmd Command) {
	flag := func(names ...string) bool {
		return slices.ContainsFunc(cmd.Words[1:], func(w shell.Word) bool { return slices.Contains(names, w.Text) })
	}
	switch cmd.Name() {
	case "udisksctl":
		if !flag("unmount") {
			return
		}
	case "umount":
	default: // mounts, too
		if !flag("-u", "-uz", "-zu", "-uq", "-qu") {
			return
		}
	}
	var named []string
	for _, w := range cmd.Words[1:] {
		if !strings.HasPrefix(w.Text, "-") && w.Text != "unmount" {
			named = append(named, path.Clean(deviceName(w.Text)))
		}
	}
	all := len(named) == 0 || flag("-a", "--all") || strings.ContainsAny(strings.Join(named, ""), "$`")
	s.Mounts = slices.DeleteFunc(s.Mounts, func(m *Mount) bool {
		return all || slices.ContainsFunc(named, func(name string) bool {
			matches, _ := path.Match(name, m.Point)
			return matches || name == m.Device || flag("-R", "--recursive") && under(m.Point, name)
		})
	})
}

// under says whether a path is another or lies below it.
func under(point, above string) bool {
	return point == above || strings.HasPrefix(point, strings.TrimRight(above, "/")+"/")
}

// anotherView says whether a mount shows what is mounted already, or another part of a filesystem that
// has several: a bind, a move, a subvolume.
func anotherView(cmd Command, options string) bool {
	for _, view := range []string{"bind", "remount", "move", "subvol"} {
		if strings.Contains(options, view) {
			return true
		}
	}
	return slices.ContainsFunc(cmd.Words[1:], func(w shell.Word) bool {
		return slices.Contains([]string{"-B", "-R", "-M", "--bind", "--rbind", "--move"}, w.Text)
	})
}

// double notes a mount whose device is mounted elsewhere in the same block.
func (s *Storage) double(m *Mount) {
	at := slices.IndexFunc(s.Mounts, func(old *Mount) bool {
		return old.Device == m.Device && old.Point != m.Point && old.Block == m.Block && old.scope == m.scope
	})
	if at < 0 || !strings.HasPrefix(m.Device, "/dev/") {
		return
	}
	d := DoubleMount{First: s.Mounts[at], Second: m}
	for _, a := range s.arrays {
		if !a.Mounted && a.Formatted > 0 {
			d.Idle = append(d.Idle, a.Device)
		}
	}
	slices.Sort(d.Idle)
	s.Twice = append(s.Twice, d)
}
