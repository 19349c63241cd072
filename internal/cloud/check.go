package cloud

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/yamlfile"
)

// column is one that a cloud's tables may have: what its cells match, what that is in words, what they are names of
// (names), and whether it tells rows apart: as one that a table needs, or that it begins with.
type column struct {
	table, named, cell  *regexp.Regexp // named has table and name
	name, want, of, key string
}

var columns = sync.OnceValue(func() (all []column) {
	for r := range newSheet(catalogue.ReadFile("catalogue/columns.csv")).rows() {
		named := r.text("column")
		table, name, _ := strings.Cut(named, " ")
		pattern := func(of string) *regexp.Regexp { return regexp.MustCompile("^(" + of + ")$") }
		all = append(all, column{
			pattern(table), pattern(named), pattern(r.text("cell")), name, r.text("want"), r.text("of"), r.text("key"),
		})
	}
	return all
})

// column is that of a table, nil for none. Caps of the terms have columns as base has.
func (d *Provider) column(file, name string) *column {
	names := []string{file + " " + name}
	for _, c := range d.terms.Caps {
		if figure, ok := strings.CutPrefix(name, c.Columns+"_"); ok {
			names = append(names, file+" base_"+figure)
		}
	}
	i := slices.IndexFunc(columns(), func(c column) bool { return slices.ContainsFunc(names, c.named.MatchString) })
	if i < 0 {
		return nil
	}
	return &columns()[i]
}

// check reads all files of a cloud of the user's own, and says the first thing that is wrong, with its place.
func (d *Provider) check(name string, read reader) error {
	if slices.ContainsFunc(slices.Collect(maps.Values(builtin())), func(o *Provider) bool { return o.terms.named(name) }) {
		return fmt.Errorf(
			"%s: %s is the name of a cloud that is built into plimsoll: give it another",
			filepath.Join(Dir, name),
			name,
		)
	}
	for _, file := range []string{
		fileTerms, fileVolumes, fileMachines, fileLimits, fileAttach, fileLocal, fileMeasured, filePrices,
	} {
		data, err := read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
		case file == fileTerms:
			err = yamlfile.Amounts(data)
		case file == fileVolumes:
			err = d.checkTypes(data)
		default:
			err = d.checkTable(file, data, d.names())
			if err == nil && file == filePrices {
				err = noPrices().readCSV(bytes.NewReader(data))
			}
		}
		if place, ok := errors.AsType[*yamlfile.Place](err); ok {
			err = place // what is around it says the line, too
		}
		if err != nil {
			return yamlfile.Wrong(file, data, err)
		}
	}
	return nil
}

// checkTypes checks the types of volumes that a file has.
func (d *Provider) checkTypes(data []byte) error {
	var types []VolumeType
	err := yamlfile.Amounts(data)
	if err == nil {
		err = yamlfile.Decode(data, &types)
	}
	if err != nil {
		return err
	}
	for i, t := range types {
		what := d.wrong(t)
		if _, twice := typeOf(types[:i], t.Type); twice {
			what = "another type of this file has this name"
		}
		if what != "" {
			file, _ := yamlfile.Parse(data)
			return yamlfile.At(yamlfile.Find(file, fmt.Sprintf("$[%d]", i)), fmt.Errorf("%s: %s", t.Type, what))
		}
	}
	return nil
}

// wrong says what a type of volume lacks, or where its figures contradict each other; empty where nothing does.
func (d *Provider) wrong(t VolumeType) string {
	_, known := typeOf(builtinTypes(), t.Type)
	asOf, trust := d.column(fileVolumes, "as_of"), d.column(fileVolumes, "trust")
	sized, hdd, tiers, rules := t.Sized, t.HDD, t.Tiers, 0
	for _, has := range []bool{t.IOPS.Max > 0 || t.Rate.Max > 0, sized != nil, hdd != nil, t.Pool != nil, len(tiers) > 0} {
		if has {
			rules++
		}
	}
	switch {
	case t.Type == "" || len(t.Type) > 60:
		return "a type of volume needs a name: type: block-fast"
	case known:
		return "plimsoll already has a type of that name: give it another"
	case t.MaxSize < t.MinSize || t.MaxSize == 0:
		return "state min_size and max_size"
	case t.Source == "" || t.AsOf == "" || !asOf.cell.MatchString(t.AsOf):
		return "state source and as_of: want " + asOf.want
	case !trust.cell.MatchString(string(t.Trust)):
		return "trust: want " + trust.want
	case rules != 1:
		return "state one of iops and rate, sized, pool, hdd or tiers"
	case max(t.IOPS.Included, t.IOPS.Min) > t.IOPS.Max:
		return "iops: included and min must be at most max"
	case t.Rate.Max > 0 && max(t.Rate.Included, t.Rate.Min) > t.Rate.Max:
		return "rate: included and min must be at most max"
	case t.AFR > 1:
		return "afr is a share of volumes, as 0.002"
	case sized != nil && sized.MostIOPS < max(sized.LeastIOPS, 1):
		return "sized: state most_iops, which least_iops does not exceed"
	case sized != nil && (sized.BurstIOPS > 0) != (sized.BurstIOs > 0):
		return "sized: burst_iops and burst_ios go together"
	case hdd != nil && (t.Counted == 0 || hdd.Base == 0 || hdd.BaseMax < hdd.Base || hdd.BurstMax < hdd.Burst):
		return "hdd: state counted, and maxima above base and burst of a TiB"
	case len(tiers) > 0 && (tiers[0].Size == 0 || tiers[len(tiers)-1].Size < t.MaxSize ||
		!slices.IsSortedFunc(tiers, func(a, b TierFacts) int {
			return cmp.Or(cmp.Compare(a.Size, b.Size), 1) // the same twice is no rise
		})):
		return "tiers: state name and size of each, which rise to max_size"
	}
	return ""
}

// names say whether a cell names what its column is of.
func (d *Provider) names() map[string]func(r row, cell string) bool {
	machines, types := d.sheet(fileMachines), d.types()
	machine := func(_ row, name string) bool { return machines.of(name) != nil }
	return map[string]func(row, string) bool{
		"new": func(_ row, name string) bool {
			_, taken := machineOf(name, rented())
			return !taken
		},
		"machine": machine,
		"series": func(r row, name string) bool {
			return machine(r, name) || name == "all others" && r.text("by") == "" ||
				slices.ContainsFunc(machines.lines, func(l string) bool { return strings.HasPrefix(l, name+"-") })
		},
		"limited": func(r row, _ string) bool {
			return d.terms.Custom.Regexp != nil && r.text("by") == "vcpus" || // they may be of no row
				slices.ContainsFunc(d.all(), func(f InstanceFacts) bool { return f.selected(r) })
		},
		"type": func(_ row, name string) bool {
			_, ok := typeOf(types, d.terms.Prefix+name)
			return ok
		},
		"product": func(r row, name string) bool {
			_, volume := typeOf(types, name)
			return volume || machine(r, name) || slices.ContainsFunc(types, func(t VolumeType) bool {
				return t.tierOf(VolumeSpec{Tier: name}) != nil
			})
		},
		"steps": func(r row, above string) bool {
			return above == "" || !slices.Contains([]string{perHour, perGiB, perEach}, r.text("unit"))
		},
	}
}

// checkTable checks the columns and cells of a table, and the names in it where some are given.
func (d *Provider) checkTable(file string, data []byte, names map[string]func(r row, cell string) bool) error {
	c := csv.NewReader(bytes.NewReader(data))
	head, err := c.Read()
	place := func(i int, format string, a ...any) error {
		line, column := c.FieldPos(i)
		return &yamlfile.Place{Line: line, Column: column, Err: fmt.Errorf(format, a...)}
	}
	if err != nil {
		return &yamlfile.Place{Line: 1, Err: errors.New("want a header with the columns in docs/clouds.md")}
	}
	var form []*column
	for i, h := range head {
		form = append(form, d.column(file, h))
		switch {
		case form[i] == nil:
			return place(i, "the column %.40q is not in docs/clouds.md: correct its name or remove it", h)
		case slices.Contains(head[:i], h):
			return place(i, "the column %s is there twice: keep one", h)
		}
	}
	for _, c := range columns() {
		switch at := slices.Index(head, c.name); {
		case !c.table.MatchString(file):
		case c.key == "first" && at != 0:
			return place(0, "want the column %s ahead of the others", c.name)
		case c.key == "needed" && at < 0:
			return place(0, "want the column %s as well", c.name)
		}
	}
	seen := map[string]bool{}
	for line := 2; ; line++ {
		cells, err := c.Read()
		if cells == nil && err != nil {
			if bad, ok := errors.AsType[*csv.ParseError](err); ok {
				return &yamlfile.Place{Line: bad.Line, Column: bad.Column, Err: bad.Err}
			}
			return nil // the end
		}
		if err != nil {
			return place(0, "%d cells, but the header has %d", len(cells), len(head))
		}
		if at, _ := c.FieldPos(0); at != line {
			return place(0, "a cell or an empty line above spans two lines: keep each row on one line")
		}
		r, key := row{head, cells}, ""
		for i, cell := range cells {
			of, h := form[i], head[i]
			named, other, base := names[of.of], strings.Replace(h, "_mbs", "_mibs", 1), strings.Replace(h, "max_", "base_", 1)
			switch {
			case !of.cell.MatchString(cell), named != nil && !named(r, cell):
				return place(i, "%s is %.60q: want %s", h, cell, of.want)
			case other != h && cell != "" && r.text(other) != "":
				return place(i, "%s and %s: want one of MB/s and MiB/s", h, other)
			case r.num(h) > 0 && r.num(h) < r.num(base):
				return place(i, "%s is %s: want at least %s", h, cell, base)
			case of.key != "":
				key += strings.ToLower(cell) + ":"
			}
		}
		if seen[key] {
			return place(0, "a row above contradicts it: keep one")
		}
		seen[key] = true
	}
}
