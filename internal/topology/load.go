package topology

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
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
	err = yamlfile.Wrong(name, data, err)
	if m, ok := errors.AsType[*yamlfile.Mistake](err); ok {
		switch key, _, _ := strings.Cut(m.Text, ":"); key {
		case "volumes", "level", "chunk":
			m.Err = fmt.Errorf("%s belongs in an array: arrays: [{name: data, volumes: 4 x gp3, level: raid10}]", key)
		}
	}
	return nil, err
}

type loader struct{ name string }

func (l *loader) origin(line int) Origin {
	return Origin{Declared, l.name + ":" + strconv.Itoa(line)}
}

// read sets what stands for the keys of a mapping: into has for each a pointer, or a function of its text. It
// returns the lines of those that are there, and the first mistake, with the whole name of its key.
func read(mapping any, prefix string, into map[string]any) (lines map[string]int, err error) {
	lines = map[string]int{}
	for f, v := range reflect.ValueOf(mapping).Fields() {
		if !f.IsExported() {
			continue
		}
		s, _ := reflect.TypeAssert[scalar](v)
		if s.line == 0 {
			continue
		}
		key := cmp.Or(f.Tag.Get("yaml"), strings.ToLower(f.Name))
		lines[key] = s.line
		if failed := understand(into[key], s.text); failed != nil && err == nil {
			err = wrong(s.line, prefix+key, "%w", failed)
		}
	}
	return lines, err
}

// understand parses a value by what it is for. Nothing has a limit or a size of nothing.
func understand(to any, s string) (err error) {
	switch to := to.(type) {
	case *string:
		*to = s
	case *int:
		*to, err = strconv.Atoi(s)
	case *bool:
		*to, err = strconv.ParseBool(s)
	case *Level:
		*to, err = ParseLevel(s)
	case *cloud.Caching:
		*to, err = caching(s)
	case *units.Bytes:
		*to, err = positive(s, units.ParseBytes)
	case *units.IOPS:
		*to, err = positive(s, units.ParseIOPS)
	case *units.Rate:
		*to, err = positive(s, units.ParseRate)
	case *time.Duration:
		if *to, err = time.ParseDuration(s); err != nil || *to <= 0 {
			err = fmt.Errorf("duration %.40q: want a number with a unit, such as 0.5ms or 30m", s)
		}
	case func([]byte) error: // a size that may be zero
		err = to([]byte(s))
	case func(string) error:
		err = to(s)
	}
	return err
}

func positive[T ~float64 | ~uint64](s string, parse func(string) (T, error)) (T, error) {
	v, err := parse(s)
	if err == nil && v <= 0 {
		err = fmt.Errorf("%.40q: want more than 0", s)
	}
	return v, err
}

// above0 reads a plain number.
func above0(into *float64, most float64, want string) func(string) error {
	return func(s string) (err error) {
		if *into, err = strconv.ParseFloat(s, 64); err != nil || !(*into > 0 && *into <= most) {
			err = fmt.Errorf("%.40q: want %s", s, want)
		}
		return err
	}
}

func (l *loader) declaration(y *fileYAML) (*Declaration, error) {
	d := &Declaration{Name: l.name, Policy: y.Policy}
	_, err := read(*y, "", map[string]any{
		"scale": above0(&d.Scale, 1, "a number above 0 and at most 1, such as 0.1"),
	})
	if err != nil {
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
	baseline, err := read(y.Baseline, "instance.baseline.", map[string]any{
		"iops": &i.Baseline.IOPS, "throughput": &i.Baseline.Rate,
	})
	burst, wrongBurst := read(y.Burst, "instance.burst.", map[string]any{
		"iops": &i.Burst.IOPS, "throughput": &i.Burst.Rate, "for": &i.BurstFor, "per": &i.BurstPer,
	})
	err = cmp.Or(err, wrongBurst)
	if end := max(baseline["for"], baseline["per"]); err == nil && end > 0 {
		err = wrong(end, "instance.baseline", "the baseline has no end: for and per belong to burst")
	}
	if err != nil {
		return nil, err
	}
	line := y.Type.line
	for _, lines := range []map[string]int{baseline, burst} {
		if line == 0 && len(lines) > 0 {
			line = slices.Min(slices.Collect(maps.Values(lines)))
		}
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

// NameOK says that an array may have the name: it becomes a part of paths and of commands.
func NameOK(s string) bool { return arrayName.MatchString(s) }

func (l *loader) array(y *arrayYAML) (DeclaredArray, error) {
	a := DeclaredArray{Origins: map[string]Origin{}}
	lines, err := read(*y, "", map[string]any{
		"name": &a.Name, "level": &a.Level, "copies": &a.Copies, "layout": &a.Layout, "chunk": a.Chunk.UnmarshalText,
		"using": &a.Using, "volume_group": &a.VolumeGroup, "partition": &a.Partition, "segment": &a.Segment,
		"assume_clean": &a.AssumeClean,
	})
	line := 0
	for key, at := range lines {
		a.Origins[key] = l.origin(at)
		line = first(line, at)
	}
	if len(y.Volumes) > 0 {
		a.Origins["volumes"] = l.origin(y.Volumes[0].at)
		line = first(line, y.Volumes[0].at)
	}
	if !NameOK(a.Name) {
		return a, wrong(max(line, 1), "arrays.name",
			"name %.40q: want up to 32 letters, digits, dots, hyphens and underscores", a.Name)
	}
	if a.Using != "" && a.Using != "md" && a.Using != "lvm" {
		return a, wrong(lines["using"], "using", "%.40q: want md or lvm", a.Using)
	}
	if a.VolumeGroup != "" && a.Using != "lvm" {
		return a, wrong(lines["volume_group"], "volume_group", "it needs using: lvm")
	}
	if a.Segment != "" && (a.Using != "lvm" || a.Segment != "striped" && a.Segment != "raid0") {
		return a, wrong(lines["segment"], "segment", "%.40q: want striped or raid0, with using: lvm and level: raid0",
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
		if n == 0 && len(list) == 1 && v.Names() == "" {
			a.Each = true
		}
		if n > 1 && v.Names() != "" {
			return wrong(y.at, "volumes", "%.60s is one volume, not %d", v.Names(), n)
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
	n, v := 0, DeclaredVolume{}
	lines, err := read(*y, "volumes.", map[string]any{
		"count": func(s string) (err error) {
			if n, err = strconv.Atoi(s); err == nil && (n < 1 || n > maxVolumes) {
				err = fmt.Errorf("%d: want from 1 to %d", n, maxVolumes)
			}
			return err
		},
		"type": &v.Type, "serial": &v.Serial, "id": &v.ID, "path": &v.Path, "model": &v.Model, "size": &v.Size,
		"iops": &v.Limits.IOPS, "read_iops": &v.Limits.ReadIOPS, "write_iops": &v.Limits.WriteIOPS,
		"throughput": &v.Limits.Rate, "read_throughput": &v.Limits.ReadRate, "write_throughput": &v.Limits.WriteRate,
		"burst_iops": &v.Burst.IOPS, "burst_throughput": &v.Burst.Rate, "burst_bytes": &v.BurstBytes,
		"burst_credits": above0(&v.BurstIOs, 1e15-1, "a number of I/Os, such as 5.4e6"),
		"read_latency":  &v.ReadLatency, "write_latency": &v.WriteLatency, "merge": &v.Merge, "caching": &v.Caching,
		"bursting": func(s string) error { // above its tier's own bursts
			if v.OnDemand = s == "on-demand"; !v.OnDemand {
				return fmt.Errorf("%.40q: want on-demand", s)
			}
			return nil
		},
	})
	v.Type = strings.ToLower(v.Type)
	if err == nil && ((v.Burst.IOPS > 0) != (v.BurstIOs > 0) || (v.Burst.Rate > 0) != (v.BurstBytes > 0)) {
		err = wrong(y.at, "volumes", "burst_iops goes with burst_credits, and burst_throughput with burst_bytes")
	}
	if err == nil && v == (DeclaredVolume{}) {
		err = wrong(y.at, "volumes", "a volume needs a type, a size, limits, or a serial, id or path")
	}
	if err == nil && v.Path != "" && !strings.HasPrefix(v.Path, "/dev/") {
		err = wrong(lines["path"], "volumes.path", "%.60q: want a path below /dev, such as /dev/disk/by-id/…", v.Path)
	}
	return n, v, err
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
	f := &DeclaredFilesystem{}
	lines, err := read(*y, "filesystem.", map[string]any{
		"type": &f.Type, "label": &f.Label, "mount": &f.Mount, "owner": &f.Owner, "mode": &f.Mode, "fstab": &f.Fstab,
		"su": f.StripeUnit.UnmarshalText, "sw": &f.StripeData,
	})
	for _, key := range []string{"sw", "su", "mount", "label", "type"} { // the last of them that is there counts
		line = cmp.Or(lines[key], line)
	}
	f.Origin = l.origin(line)
	for _, o := range y.Options {
		if strings.ContainsAny(o.text, " \t\n") {
			return nil, wrong(o.line, "filesystem.options", "%.40q: want one mount option per entry", o.text)
		}
		f.Options = append(f.Options, strings.Split(o.text, ",")...)
	}
	if f.Type != "" && f.Type != "xfs" && f.Type != "ext4" {
		return nil, wrong(lines["type"], "filesystem.type", "%.40q: want xfs or ext4", f.Type)
	}
	if f.Mount != "" && (!strings.HasPrefix(f.Mount, "/") || f.Mount == "/" || strings.ContainsAny(f.Mount, "\n\x00")) {
		return nil, wrong(lines["mount"], "filesystem.mount", "%.60q: want an absolute path", f.Mount)
	}
	if most := map[string]int{"ext4": 16}[f.Type]; len(f.Label) > max(most, 12) { // mkfs.xfs(8), e2label(8)
		return nil, wrong(lines["label"], "filesystem.label", "%.40q: %s takes at most %d bytes", f.Label, f.Type,
			max(most, 12))
	}
	if f.Fstab != "" && f.Fstab != "uuid" && (f.Fstab != "label" || f.Label == "") {
		return nil, wrong(lines["fstab"], "filesystem.fstab", "%.40q: want uuid, or label where a label is given", f.Fstab)
	}
	if f.Mode != "" {
		if _, err := strconv.ParseUint(f.Mode, 8, 12); err != nil {
			return nil, wrong(lines["mode"], "filesystem.mode", "%.40q: want octal, such as \"0700\"", f.Mode)
		}
	}
	if err != nil {
		return nil, err
	}
	if f.StripeData < 0 || f.StripeData > maxVolumes {
		return nil, wrong(lines["sw"], "filesystem.sw", "%d: want the number of data members", f.StripeData)
	}
	return f, nil
}
