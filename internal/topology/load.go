package topology

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

// LoadDeclaration understands a plimsoll.yaml; name is the file's, for messages and origins. An
// error names the file, the line and the key.
func LoadDeclaration(name string, data []byte) (*Declaration, error) {
	l := &loader{name: name}
	var y fileYAML
	err := yamlfile.Decode(data, &y)
	var d *Declaration
	if err == nil {
		d, err = l.declaration(&y)
	}
	if err == nil {
		return d, nil
	}
	return nil, yamlfile.Wrong(name, data, err)
}

type loader struct{ name string }

func (l *loader) origin(line int) Origin {
	return Origin{Declared, l.name + ":" + strconv.Itoa(line)}
}

// parse hands a value to a parser and puts its key and line before an error. An absent value is
// zero.
func parse[T any](s scalar, key string, f func(string) (T, error)) (T, error) {
	var zero T
	if s.line == 0 {
		return zero, nil
	}
	v, err := f(s.text)
	if err != nil {
		return zero, wrong(s.line, key, "%w", err)
	}
	return v, nil
}

// put parses a value into its place, unless there was a mistake before.
func put[T any](err *error, s scalar, key string, into *T, f func(string) (T, error)) {
	if *err == nil {
		*into, *err = parse(s, key, f)
	}
}

func (l *loader) declaration(y *fileYAML) (*Declaration, error) {
	d := &Declaration{Name: l.name, Policy: y.Policy}
	var err error
	if d.Scale, err = parse(y.Scale, "scale", scale); err != nil {
		return nil, err
	}
	if d.Instance, err = l.instance(&y.Instance); err != nil {
		return nil, err
	}
	for i := range y.Arrays {
		a, err := l.array(&y.Arrays[i])
		if err != nil {
			return nil, err
		}
		d.Arrays = append(d.Arrays, a)
	}
	if len(d.Arrays) == 1 && len(d.Arrays[0].Roles) == 0 {
		d.Arrays[0].Roles = Roles
	}
	return d, d.checkAcross()
}

func (l *loader) instance(y *instanceYAML) (*DeclaredInstance, error) {
	i := &DeclaredInstance{Type: y.Type.text}
	line := y.Type.line
	var err error
	limits := func(into *Limits, from limitsYAML, key string) {
		put(&err, from.IOPS, key+".iops", &into.IOPS, positive(units.ParseIOPS))
		put(&err, from.Throughput, key+".throughput", &into.Rate, positive(units.ParseRate))
	}
	limits(&i.Baseline, y.Baseline, "instance.baseline")
	limits(&i.Burst, y.Burst, "instance.burst")
	put(&err, y.Burst.For, "instance.burst.for", &i.BurstFor, duration)
	put(&err, y.Burst.Per, "instance.burst.per", &i.BurstPer, duration)
	for _, s := range []scalar{y.Baseline.For, y.Baseline.Per} {
		if err == nil && s.line > 0 {
			err = wrong(s.line, "instance.baseline", "the baseline has no end: for and per belong to burst")
		}
	}
	for _, s := range []scalar{
		y.Baseline.IOPS, y.Baseline.Throughput, y.Burst.IOPS, y.Burst.Throughput, y.Burst.For,
		y.Burst.Per,
	} {
		line = cmp.Or(line, s.line)
	}
	if err != nil {
		return nil, err
	}
	if line == 0 {
		return nil, nil //nolint:nilnil // absent is no mistake
	}
	i.Origin = l.origin(line)
	if err := i.check(); err != nil {
		return nil, wrong(line, "instance", "%w", err)
	}
	return i, nil
}

var arrayName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)

func (l *loader) array(y *arrayYAML) (DeclaredArray, error) {
	a := DeclaredArray{
		Name:        y.Name.text,
		Using:       y.Using.text,
		VolumeGroup: y.VolumeGroup.text,
		Segment:     y.Segment.text,
		Layout:      y.Layout.text,
		Origins:     map[string]Origin{},
	}
	line := y.Name.line
	for _, k := range []struct {
		key string
		s   scalar
	}{
		{"name", y.Name},
		{"level", y.Level},
		{"copies", y.Copies},
		{"layout", y.Layout},
		{"chunk", y.Chunk},
		{"using", y.Using},
		{"volume_group", y.VolumeGroup},
		{"partition", y.Partition},
		{"segment", y.Segment},
		{"assume_clean", y.AssumeClean},
	} {
		if k.s.line > 0 {
			a.Origins[k.key] = l.origin(k.s.line)
			line = first(line, k.s.line)
		}
	}
	if len(y.Volumes) > 0 {
		a.Origins["volumes"] = l.origin(y.Volumes[0].at)
		line = first(line, y.Volumes[0].at)
	}
	if !arrayName.MatchString(a.Name) {
		return a, wrong(max(line, 1), "arrays.name",
			"name %.40q: want up to 32 letters, digits, dots, hyphens and underscores", a.Name)
	}
	if a.Using != "" && a.Using != "md" && a.Using != "lvm" {
		return a, wrong(y.Using.line, "using", "%.40q: want md or lvm", a.Using)
	}
	if a.VolumeGroup != "" && a.Using != "lvm" {
		return a, wrong(y.VolumeGroup.line, "volume_group", "it needs using: lvm")
	}
	if a.Segment != "" && (a.Using != "lvm" || a.Segment != "striped" && a.Segment != "raid0") {
		return a, wrong(y.Segment.line, "segment", "%.40q: want striped or raid0, with using: lvm and level: raid0",
			a.Segment)
	}
	a.Origin = l.origin(line)
	for _, r := range y.Role {
		role := Role(r.text)
		if !slices.Contains(Roles, role) || slices.Contains(a.Roles, role) {
			return a, wrong(r.line, "role", "%.40q: want data, wal, or both once", r.text)
		}
		a.Roles = append(a.Roles, role)
		a.Origins["role"] = l.origin(r.line)
	}
	var err error
	put(&err, y.Level, "level", &a.Level, ParseLevel)
	put(&err, y.Copies, "copies", &a.Copies, strconv.Atoi)
	put(&err, y.Chunk, "chunk", &a.Chunk, units.ParseBytes)
	put(&err, y.Partition, "partition", &a.Partition, strconv.ParseBool)
	put(&err, y.AssumeClean, "assume_clean", &a.AssumeClean, strconv.ParseBool)
	if err != nil {
		return a, err
	}
	if err := l.volumes(&a, y.Volumes); err != nil {
		return a, err
	}
	if y.Filesystem != nil {
		if a.Filesystem, err = l.filesystem(y.Filesystem, line); err != nil {
			return a, err
		}
	}
	if key, err := a.check(); err != nil {
		at := line
		if o, ok := a.Origins[key]; ok {
			at, _ = strconv.Atoi(o.Where[strings.LastIndexByte(o.Where, ':')+1:])
		}
		return a, wrong(at, key, "%w", err)
	}
	return a, nil
}

// first is the smaller of two lines, of which 0 is none.
func first(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (l *loader) volumes(a *DeclaredArray, list volumesYAML) error {
	for _, y := range list {
		n, v, err := y.volume()
		if err != nil {
			return err
		}
		v.Origin = l.origin(y.at)
		if n == 0 && len(list) == 1 && v.names() == "" {
			a.Each = true
		}
		if n > 1 && v.names() != "" {
			return wrong(y.at, "volumes", "%.60s is one volume, not %d", v.names(), n)
		}
		for range max(n, 1) {
			a.Volumes = append(a.Volumes, v)
		}
	}
	if len(a.Volumes) > maxVolumes {
		return wrong(list[0].at, "volumes", "%d of them: want at most %d", len(a.Volumes), maxVolumes)
	}
	return nil
}

// volume is a list's entry; the count is 0 when it is not said.
func (y *volumeYAML) volume() (int, DeclaredVolume, error) {
	if y.line != "" {
		n, v, err := parseVolumes(y.line)
		if err != nil {
			return 0, v, wrong(y.at, "", "%w", err)
		}
		return n, v, nil
	}
	v := DeclaredVolume{
		Type:   strings.ToLower(y.Type.text),
		Serial: y.Serial.text,
		ID:     y.ID.text,
		Path:   y.Path.text,
		Model:  y.Model.text,
	}
	n, err := parse(y.Count, "volumes.count", strconv.Atoi)
	if err == nil && (n < 0 || n > maxVolumes || n == 0 && y.Count.line > 0) {
		err = wrong(y.Count.line, "volumes.count", "%d: want from 1 to %d", n, maxVolumes)
	}
	put(&err, y.Size, "volumes.size", &v.Size, positive(units.ParseBytes))
	put(&err, y.IOPS, "volumes.iops", &v.Limits.IOPS, positive(units.ParseIOPS))
	put(&err, y.ReadIOPS, "volumes.read_iops", &v.Limits.ReadIOPS, positive(units.ParseIOPS))
	put(&err, y.WriteIOPS, "volumes.write_iops", &v.Limits.WriteIOPS, positive(units.ParseIOPS))
	put(&err, y.BurstIOPS, "volumes.burst_iops", &v.Burst.IOPS, positive(units.ParseIOPS))
	put(&err, y.Throughput, "volumes.throughput", &v.Limits.Rate, positive(units.ParseRate))
	put(&err, y.ReadThroughput, "volumes.read_throughput", &v.Limits.ReadRate, positive(units.ParseRate))
	put(&err, y.WriteThroughput, "volumes.write_throughput", &v.Limits.WriteRate, positive(units.ParseRate))
	put(&err, y.BurstThroughput, "volumes.burst_throughput", &v.Burst.Rate, positive(units.ParseRate))
	put(&err, y.BurstCredits, "volumes.burst_credits", &v.BurstIOs, credits)
	put(&err, y.BurstBytes, "volumes.burst_bytes", &v.BurstBytes, positive(units.ParseBytes))
	if err == nil && ((v.Burst.IOPS > 0) != (v.BurstIOs > 0) || (v.Burst.Rate > 0) != (v.BurstBytes > 0)) {
		err = wrong(y.at, "volumes", "burst_iops goes with burst_credits, and burst_throughput with burst_bytes")
	}
	put(&err, y.ReadLatency, "volumes.read_latency", &v.ReadLatency, duration)
	put(&err, y.WriteLatency, "volumes.write_latency", &v.WriteLatency, duration)
	put(&err, y.Merge, "volumes.merge", &v.Merge, positive(units.ParseBytes))
	put(&err, y.Caching, "volumes.caching", &v.Caching, caching)
	put(&err, y.Bursting, "volumes.bursting", &v.OnDemand, onDemand)
	if err == nil && v == (DeclaredVolume{}) {
		err = wrong(y.at, "volumes", "a volume needs a type, a size, limits, or a serial, id or path")
	}
	if err == nil && v.Path != "" && !strings.HasPrefix(v.Path, "/dev/") {
		err = wrong(y.Path.line, "volumes.path", "%.60q: want a path below /dev, such as /dev/disk/by-id/…", v.Path)
	}
	return n, v, err
}

// onDemand is how a disk bursts above its tier's own bursts.
func onDemand(s string) (bool, error) {
	if s != "on-demand" {
		return false, fmt.Errorf("%.40q: want on-demand", s)
	}
	return true, nil
}

// caching is none, readonly or readwrite.
func caching(s string) (cloud.Caching, error) {
	c := cloud.Caching(strings.ToLower(s))
	if c != cloud.Uncached && !c.Cached() {
		return "", fmt.Errorf("%.40q: want %s, %s or %s", s, cloud.Uncached, cloud.ReadOnly, cloud.ReadWrite)
	}
	return c, nil
}

func (l *loader) filesystem(y *filesystemYAML, line int) (*DeclaredFilesystem, error) {
	f := &DeclaredFilesystem{
		Type: y.Type.text, Label: y.Label.text, Mount: y.Mount.text, Owner: y.Owner.text, Mode: y.Mode.text,
		Fstab: y.Fstab.text,
	}
	for _, s := range []scalar{y.Type, y.Label, y.Mount, y.SU, y.SW} {
		if s.line > 0 {
			line = s.line
			break
		}
	}
	f.Origin = l.origin(line)
	for _, o := range y.Options {
		if strings.ContainsAny(o.text, " \t\n") {
			return nil, wrong(o.line, "filesystem.options", "%.40q: want one mount option an entry", o.text)
		}
		f.Options = append(f.Options, strings.Split(o.text, ",")...)
	}
	if f.Type != "" && f.Type != "xfs" && f.Type != "ext4" {
		return nil, wrong(y.Type.line, "filesystem.type", "%.40q: want xfs or ext4", f.Type)
	}
	if f.Mount != "" && (!strings.HasPrefix(f.Mount, "/") || f.Mount == "/" || strings.ContainsAny(f.Mount, "\n\x00")) {
		return nil, wrong(y.Mount.line, "filesystem.mount", "%.60q: want an absolute path", f.Mount)
	}
	if most := map[string]int{"ext4": 16}[f.Type]; len(f.Label) > max(most, 12) { // mkfs.xfs(8), e2label(8)
		return nil, wrong(y.Label.line, "filesystem.label", "%.40q: %s takes at most %d bytes", f.Label, f.Type,
			max(most, 12))
	}
	if f.Fstab != "" && f.Fstab != "uuid" && (f.Fstab != "label" || f.Label == "") {
		return nil, wrong(y.Fstab.line, "filesystem.fstab", "%.40q: want uuid, or label where a label is given", f.Fstab)
	}
	if f.Mode != "" {
		if _, err := strconv.ParseUint(f.Mode, 8, 12); err != nil {
			return nil, wrong(y.Mode.line, "filesystem.mode", "%.40q: want octal, such as \"0700\"", f.Mode)
		}
	}
	var err error
	put(&err, y.SU, "filesystem.su", &f.StripeUnit, units.ParseBytes)
	put(&err, y.SW, "filesystem.sw", &f.StripeData, strconv.Atoi)
	if err != nil {
		return nil, err
	}
	if f.StripeData < 0 || f.StripeData > maxVolumes {
		return nil, wrong(y.SW.line, "filesystem.sw", "%d: want the number of data members", f.StripeData)
	}
	return f, nil
}

// positive refuses zero: nothing has a limit or a size of nothing.
func positive[T ~float64 | ~uint64](f func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := f(s)
		if err == nil && v <= 0 {
			err = fmt.Errorf("%.40q: want more than none", s)
		}
		return v, err
	}
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("duration %.40q: want a number with a unit, such as 0.5ms or 30m", s)
	}
	return d, nil
}

func credits(s string) (float64, error) { return above0(s, 1e15-1, "a number of I/Os, such as 5.4e6") }

func scale(s string) (float64, error) {
	return above0(s, 1, "a number above 0 and at most 1, such as 0.1")
}

func above0(s string, most float64, want string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f <= most) {
		return 0, fmt.Errorf("%.40q: want %s", s, want)
	}
	return f, nil
}
