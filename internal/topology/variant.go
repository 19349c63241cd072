package topology

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/yamlfile"
)

// Layout is a plimsoll.yaml by a name: one of several ways to build arrays of the same volumes.
type Layout struct {
	Name string
	YAML []byte
}

// KeyChange is a key of plimsoll.yaml with another value. A key is one of a single array, as
// wal.chunk, or of all, as array.chunk or chunk; an empty value leaves it out.
type KeyChange struct{ Key, Value string }

// layoutKeys are what may differ between layouts that are measured in the same place.
func layoutKeys() []string {
	return strings.Fields(`
	level copies layout chunk using volume_group segment partition assume_clean filesystem.type
	filesystem.options filesystem.su filesystem.sw volumes.count`)
}

// IsLayoutKey says whether a key changes a layout.
func IsLayoutKey(key string) bool {
	_, rest, _ := strings.Cut(key, ".")
	return slices.Contains(layoutKeys(), key) || slices.Contains(layoutKeys(), rest)
}

// Declaration is what a layout declares.
func (l Layout) Declaration() (*Declaration, error) { return LoadDeclaration(l.Name+".yaml", l.YAML) }

// With is the layout with keys changed, under another name.
func (l Layout) With(name string, changes []KeyChange) (Layout, error) {
	return l.edit(name, func(arrays []yamlfile.MapSlice) error {
		for _, c := range changes {
			of, key, ok := strings.Cut(c.Key, ".")
			if slices.Contains(layoutKeys(), c.Key) {
				of, key, ok = "array", c.Key, true
			}
			found := false
			for i := range arrays {
				if of == "array" || fmt.Sprint(get(arrays[i], "name")) == of {
					found = true
					if err := change(&arrays[i], key, c.Value); err != nil {
						return fmt.Errorf("%s: %w", c.Key, err)
					}
				}
			}
			if !ok || !found || !slices.Contains(layoutKeys(), key) {
				return fmt.Errorf("%s: want array.KEY, or NAME.KEY of an array of %s, with a KEY of %s", c.Key, l.Name,
					strings.Join(layoutKeys(), ", "))
			}
		}
		return nil
	})
}

// Pinned is the layout on these volumes and no others: of each array, its members' serial numbers
// in the order in which it declares them.
func (l Layout) Pinned(serials [][]string) (Layout, error) {
	return l.edit(l.Name, func(arrays []yamlfile.MapSlice) error {
		for i := range arrays {
			volumes, err := each(get(arrays[i], "volumes"))
			if err != nil || i >= len(serials) || len(volumes) != len(serials[i]) {
				return fmt.Errorf("array %d: its volumes cannot be named by their serial numbers: %w", i+1, err)
			}
			for k := range volumes {
				for _, selector := range []string{"serial", "id", "path"} {
					set(&volumes[k], selector, nil)
				}
				volumes[k] = slices.Insert(volumes[k], 0, yamlfile.MapItem{Key: "serial", Value: serials[i][k]})
			}
			set(&arrays[i], "volumes", volumes)
		}
		return nil
	})
}

// edit changes the arrays of a layout.
func (l Layout) edit(name string, do func([]yamlfile.MapSlice) error) (Layout, error) {
	var file yamlfile.MapSlice
	var in struct {
		Arrays []yamlfile.MapSlice `yaml:"arrays"`
	}
	if err := cmp.Or(yamlfile.Ordered(l.YAML, &file), yamlfile.Ordered(l.YAML, &in)); err != nil {
		return l, fmt.Errorf("%s: %w", l.Name, err)
	}
	if err := do(in.Arrays); err != nil {
		return l, err
	}
	set(&file, "arrays", in.Arrays)
	data, err := yamlfile.Encode(file)
	return Layout{name, data}, err
}

func change(array *yamlfile.MapSlice, key, value string) error {
	var v any
	if value != "" {
		v = value
	}
	if sub, ok := strings.CutPrefix(key, "filesystem."); ok {
		filesystem, _ := get(*array, "filesystem").(yamlfile.MapSlice)
		set(&filesystem, sub, v)
		set(array, "filesystem", filesystem)
		return nil
	}
	if key != "volumes.count" {
		set(array, key, v)
		return nil
	}
	volumes, err := each(get(*array, "volumes"))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > len(volumes) {
		return fmt.Errorf("%.20q: want a number from 1 to %d: %d are declared", value, len(volumes), len(volumes))
	}
	set(array, "volumes", volumes[:n])
	return nil
}

// each lists declared volumes one by one, as mappings.
func each(value any) ([]yamlfile.MapSlice, error) {
	switch v := value.(type) {
	case []any:
		var all []yamlfile.MapSlice
		for _, one := range v {
			some, err := each(one)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	case []yamlfile.MapSlice:
		return v, nil
	case yamlfile.MapSlice:
		n := 1
		if count := get(v, "count"); count != nil {
			if _, err := fmt.Sscan(fmt.Sprint(count), &n); err != nil {
				return nil, err
			}
		}
		v = slices.Clone(v)
		set(&v, "count", nil)
		return copies(v, n), nil
	case string:
		n, d, err := parseVolumes(v)
		if err != nil {
			return nil, err
		}
		var m yamlfile.MapSlice
		for _, f := range []struct {
			key, value string
			given      bool
		}{
			{"type", d.Type, d.Type != ""},
			{"size", d.Size.Arg(), d.Size > 0},
			{"iops", d.Limits.IOPS.Arg(), d.Limits.IOPS > 0},
			{"throughput", d.Limits.Rate.Arg(), d.Limits.Rate > 0},
			{"caching", string(d.Caching), d.Caching != ""},
		} {
			if f.given {
				set(&m, f.key, f.value)
			}
		}
		return copies(m, max(n, 1)), nil
	}
	return nil, fmt.Errorf("%.40q is not a list of volumes", fmt.Sprint(value))
}

func copies(m yamlfile.MapSlice, n int) []yamlfile.MapSlice {
	var all []yamlfile.MapSlice
	for range min(n, maxVolumes) {
		all = append(all, slices.Clone(m))
	}
	return all
}

func get(m yamlfile.MapSlice, key string) any {
	if i := slices.IndexFunc(m, func(i yamlfile.MapItem) bool { return i.Key == key }); i >= 0 {
		return m[i].Value
	}
	return nil
}

// set changes a key, adds it, or takes it out where the value is nil.
func set(m *yamlfile.MapSlice, key string, value any) {
	i := slices.IndexFunc(*m, func(i yamlfile.MapItem) bool { return i.Key == key })
	switch {
	case value == nil && i >= 0:
		*m = slices.Delete(*m, i, i+1)
	case value == nil:
	case i < 0:
		*m = append(*m, yamlfile.MapItem{Key: key, Value: value})
	default:
		(*m)[i].Value = value
	}
}

// Foresee is the topology of a declaration whose arrays are not built yet: what the file leaves open of its
// volumes and of the machine is what this machine shows of them.
func Foresee(ctx context.Context, m *sys.Machine, decl *Declaration) (*Topology, error) {
	t, err := FromDeclaration(decl)
	open := func(v *Volume) bool { return !v.Sustained.Known() }
	if err != nil || !slices.ContainsFunc(slices.Collect(t.Volumes()), open) {
		return t, err
	}
	inv, err := TakeInventory(ctx, m)
	if err != nil {
		t.note("%v", err)
		return t, nil
	}
	if !t.Instance.Known() {
		t.Instance = inv.Instance
	}
	for v := range t.Volumes() {
		n := slices.IndexFunc(inv.Disks, func(d Disk) bool { return v.Serial != "" && d.Serial == v.Serial })
		if n >= 0 && !v.Sustained.Known() {
			*v = inv.Disks[n].Volume
		}
	}
	return t, nil
}
