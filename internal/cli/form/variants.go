package form

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// VariantOptions are the flags that name variants of one thing: --variant and --layout.
type VariantOptions struct {
	Variants []string `flag:"variant"`
	Layouts  []string `flag:"layout"`
}

// Variant is a name, what it changes, and the layout that it has; its YAML is nil where none is meant.
type Variant struct {
	Name    string
	Changes []topology.KeyChange // of the layout they are taken out, and in it
	Layout  topology.Layout
}

// Tunes says that the variant changes settings of this machine.
func (v Variant) Tunes() bool {
	return slices.ContainsFunc(v.Changes, func(c topology.KeyChange) bool { return strings.HasPrefix(c.Key, "tune.") })
}

// mostVariants bounds a table, and a night.
const mostVariants = 32

// Parse reads the variants. Where one changes keys of a layout, or is one, all have a layout: base is the file
// that others change. Keys of other kinds are those that known allows.
func (o *VariantOptions) Parse(base string, known func(key string) bool, kinds string) ([]Variant, error) {
	var all []Variant
	laid := len(o.Layouts) > 0
	for _, s := range o.Variants {
		v, err := parseVariant(s, known, kinds)
		if err != nil {
			return nil, err
		}
		laid = laid || slices.ContainsFunc(v.Changes, onLayout)
		all = append(all, v)
	}
	for _, file := range o.Layouts {
		data, err := sys.ReadFile(file, sys.ConfigLimit)
		if err != nil {
			return nil, err
		}
		name := strings.Map(workload.PlainRune, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		all = append(all, Variant{Name: name, Layout: topology.Layout{Name: name, YAML: data}})
	}
	for i, v := range all {
		if slices.ContainsFunc(all[:i], func(o Variant) bool { return o.Name == v.Name }) {
			return nil, fmt.Errorf("two variants are called %s", v.Name)
		}
	}
	if len(all) > mostVariants {
		return nil, fmt.Errorf("%d variants: want at most %d", len(all), mostVariants)
	}
	if !laid || len(o.Variants) == 0 {
		return all, nil
	}
	if base == "" {
		return nil, errors.New("--variant changes a layout: name its plimsoll.yaml with --topology")
	}
	data, err := sys.ReadFile(base, sys.ConfigLimit)
	if err != nil {
		return nil, err
	}
	for i := range all[:len(o.Variants)] {
		all[i].Layout = topology.Layout{Name: base, YAML: data}
	}
	return all, nil
}

// Lay makes the layout of a variant of what it is made of.
func (v *Variant) Lay() error {
	var keys []topology.KeyChange
	for _, c := range v.Changes {
		if onLayout(c) {
			keys = append(keys, c)
		}
	}
	v.Changes = slices.DeleteFunc(slices.Clone(v.Changes), onLayout)
	var err error
	if v.Layout, err = v.Layout.With(v.Name, keys); err != nil {
		err = fmt.Errorf("variant %s: %w", v.Name, err)
	}
	return err
}

func onLayout(c topology.KeyChange) bool { return topology.IsLayoutKey(c.Key) }

// parseVariant reads NAME or NAME:KEY=VALUE,KEY=VALUE. What has no = continues the value before it.
func parseVariant(s string, known func(string) bool, kinds string) (Variant, error) {
	name, rest, has := strings.Cut(s, ":")
	v := Variant{Name: name}
	if name == "" || strings.Map(workload.PlainRune, name) != name {
		return v, fmt.Errorf("--variant %q: begin with a name of letters and digits, such as a:tune.scheduler=none", s)
	}
	if !has {
		return v, nil
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		last := len(v.Changes) - 1
		switch {
		case !ok && last >= 0 && onLayout(v.Changes[last]):
			v.Changes[last].Value += "," + part
		case ok && (topology.IsLayoutKey(key) || known(key)):
			v.Changes = append(v.Changes, topology.KeyChange{Key: key, Value: value})
		default:
			return v, fmt.Errorf("--variant %q: %q is not one of %sarray.KEY=VALUE, volumes.count=N", s, part, kinds)
		}
	}
	return v, nil
}

// SweptLayouts makes --variant of each place of axes such as array.chunk=64KiB..1MiB,level=raid0,raid10; none
// where the axes are not of a layout.
func SweptLayouts(axes string) (variants []string, err error) {
	var values [][2]string // a name and a KEY=VALUE; of the axis that is read
	places := [][2]string{{}}
	cross := func() {
		var next [][2]string
		for _, p := range places {
			for _, v := range values {
				next = append(next, [2]string{strings.TrimPrefix(p[0]+"-"+v[0], "-"), strings.TrimPrefix(p[1]+","+v[1], ",")})
			}
		}
		if len(values) > 0 {
			places, values = next, nil
		}
	}
	key := ""
	for part := range strings.SplitSeq(axes, ",") {
		k, v, ok := strings.Cut(part, "=")
		if ok && !topology.IsLayoutKey(k) || !ok && key == "" {
			return nil, nil
		}
		if ok {
			cross()
			key, part = k, v
		}
		for _, v := range doubled(part) {
			values = append(values, [2]string{strings.Map(workload.PlainRune, v), key + "=" + v})
		}
	}
	if cross(); len(places) > mostVariants {
		return nil, fmt.Errorf("--sweep: %d layouts: want at most %d", len(places), mostVariants)
	}
	for _, p := range places {
		variants = append(variants, p[0]+":"+p[1])
	}
	return variants, nil
}

// doubled are the powers of two of a range such as 64KiB..1MiB, or the value itself.
func doubled(value string) []string {
	lo, hi, isRange := strings.Cut(value, "..")
	from, err1 := units.ParseBytes(lo)
	to, err2 := units.ParseBytes(hi)
	if !isRange || err1 != nil || err2 != nil || from < 1 || to < from {
		return []string{value}
	}
	var all []string
	for v := from; v <= to && len(all) <= mostVariants; v *= 2 {
		all = append(all, v.Arg())
	}
	return all
}
