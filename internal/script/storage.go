package script

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/fio/shell"
	"plimsoll/internal/text"
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
	Unmade  []Unmade
	Written map[string]bool // paths that dd writes

	arrays  map[string]*Array // by device, as they are at the end
	members map[string]member // of arrays, by device
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

// Unmade is an mdadm --create that mdadm refuses, at a word of it.
type Unmade struct {
	Word shell.Word
	Why  string
}

// member is where a device became one of an array.
type member struct {
	of, scope   string
	line, block int
}

// StorageOf follows a document's commands. A command that creates a device again forgets what was
// on it.
func StorageOf(f *File) *Storage {
	s := &Storage{arrays: map[string]*Array{}, Written: map[string]bool{}, members: map[string]member{}}
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
		if m.Above(point) && len(m.Point) >= len(best.Point) {
			best = m
		}
	}
	return best.Device
}

// Above says that a path lies on what is mounted, if nothing else is mounted below.
func (m *Mount) Above(path string) bool { return under(path, m.Point) }

// Has says whether one of the words stands behind the program's name.
func (c Command) Has(words ...string) bool {
	return slices.ContainsFunc(c.Words[1:], func(w shell.Word) bool { return slices.Contains(words, w.Text) })
}

// Flags reads a command's options. spec has a word for each: the name that it gets, with = where it takes a
// value, and behind commas how it is written; others keep their names. What is no option is an operand.
func (c Command) Flags(spec string) (map[string]shell.Word, []shell.Word) {
	names, takes := map[string]string{}, map[string]bool{}
	for entry := range strings.FieldsSeq(spec) {
		written := strings.Split(entry, ",")
		name, value := strings.CutSuffix(written[0], "=")
		takes[name] = value
		for _, alias := range written[1:] {
			names[alias] = name
		}
	}
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
		name := cmp.Or(names[key], key)
		if !has && takes[name] && i+1 < len(c.Words) {
			i++
			w, value = c.Words[i], c.Words[i].Text
		}
		w.Text = value
		got[name] = w
	}
	return got, operands
}

// The options of the storage commands that rules look at, as Flags reads them.
const (
	mdadmOptions = `create,-C,--create level=,-l,--level chunk=,-c,--chunk members=,-n,--raid-devices stop,-S,--stop
		spares=,-x,--spare-devices layout=,-p,--layout,--parity metadata=,-e,--metadata name=,-N,--name bitmap=,-b,--bitmap`
	LVCreateOptions = `stripes=,-i,--stripes stripesize=,-I,--stripesize name=,-n,--name size=,-L,--size
		extents=,-l,--extents type=,--type`
	MountOptions = `options=,-o,--options type=,-t,--types -L= -U= --label= --source= --target=`
)

func (s *Storage) mdadm(cmd Command) {
	opts, operands := cmd.Flags(mdadmOptions)
	if len(operands) == 0 {
		return
	}
	if _, stop := opts["stop"]; stop {
		for _, o := range operands {
			delete(s.arrays, o.Text)
			s.forget(o.Text)
			maps.DeleteFunc(s.members, func(_ string, m member) bool { return m.of == o.Text })
		}
		return
	}
	if _, create := opts["create"]; !create {
		for _, o := range operands { // --zero-superblock, --remove
			delete(s.members, o.Text)
		}
		return
	}
	s.compose(cmd, opts, operands)
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

// compose notes the devices of a new array, and what mdadm refuses of them: another number than it is given, and
// one that another array has. Names that a shell or a reader completes are not counted.
func (s *Storage) compose(cmd Command, opts map[string]shell.Word, operands []shell.Word) {
	array, devices := operands[0].Text, operands[1:]
	members, err := strconv.Atoi(opts["members"].Text)
	spares, _ := strconv.Atoi(opts["spares"].Text)
	if cmd.Loop || slices.ContainsFunc(devices, func(w shell.Word) bool {
		return w.Text != "missing" && (!strings.HasPrefix(w.Text, "/dev/") || strings.ContainsAny(w.Text, "$`*?[{<"))
	}) {
		return
	}
	if n := len(devices); err == nil && n > 0 && n != members+spares {
		s.Unmade = append(s.Unmade, Unmade{opts["members"], fmt.Sprintf("%s is to have %s, and %d are named",
			array, text.Plural(members+spares, "device"), n)})
	}
	for _, w := range devices {
		m, is := s.members[w.Text]
		if is && m.of != array && m.scope == cmd.Scope && m.block == cmd.Block {
			s.Unmade = append(s.Unmade, Unmade{w, fmt.Sprintf("%s is in %s, which line %d makes", w.Text, m.of, m.line)})
		}
		if w.Text != "missing" {
			s.members[w.Text] = member{array, cmd.Scope, cmd.Line, cmd.Block}
		}
	}
}

// chunk reads a chunk as mdadm and lvcreate do, in KiB unless it has a suffix. Without one the
// tool's default is assumed.
func (a *Array) chunk(size string, using string) {
	if size == "" {
		a.Chunk, a.Assumed = topology.DefaultChunk(using), true
		return
	}
	if strings.Trim(size, "0123456789") == "" {
		size += "k"
	}
	a.Chunk, _ = units.ParseBytes(strings.TrimSuffix(strings.ToLower(size), "b"))
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
	opts, operands := cmd.Flags(LVCreateOptions)
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
	opts, operands := cmd.Flags(MountOptions)
	if len(operands) != 2 || cmd.Loop || strings.Contains(operands[0].Text+operands[1].Text, "$") ||
		anotherView(cmd, opts["options"].Text) {
		return
	}
	m := &Mount{
		Device: deviceName(operands[0].Text),
		Point:  path.Clean(operands[1].Text),
		Line:   operands[0].Line,
		Col:    operands[0].Col,
		Block:  cmd.Block,
		scope:  cmd.Scope,
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
	switch cmd.Name() {
	case "udisksctl":
		if !cmd.Has("unmount") {
			return
		}
	case "umount":
	default: // mounts, too
		if !cmd.Has("-u", "-uz", "-zu", "-uq", "-qu") {
			return
		}
	}
	var named []string
	for _, w := range cmd.Words[1:] {
		if !strings.HasPrefix(w.Text, "-") && w.Text != "unmount" {
			named = append(named, path.Clean(deviceName(w.Text)))
		}
	}
	all := len(named) == 0 || cmd.Has("-a", "--all") || strings.ContainsAny(strings.Join(named, ""), "$`")
	s.Mounts = slices.DeleteFunc(s.Mounts, func(m *Mount) bool {
		return all || slices.ContainsFunc(named, func(name string) bool {
			matches, _ := path.Match(name, m.Point)
			return matches || name == m.Device || cmd.Has("-R", "--recursive") && under(m.Point, name)
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
	return cmd.Has("-B", "-R", "-M", "--bind", "--rbind", "--move")
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
