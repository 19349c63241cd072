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

	"plimsoll/internal/yamlfile"
)

// columns are those that a cloud's tables may have. Before the first bar are those of which no two rows have the
// same, the first of them ahead of all others; behind the last one are numbers.
var columns = map[string]string{
	fileMachines: `name controller | arch premium xen weightings local_kind listed trust source as_of note | vcpus memory_gib
	disks cache_gib local_count local_gib local_gb usd_hour local_read_iops local_write_iops local_read_mbs local_write_mbs`,
	fileLimits: "series by machine type | shared trust source as_of note | " +
		"read_iops write_iops read_mibs write_mibs read_mbs write_mbs",
	fileAttach:   "series up_to | source as_of | disks",
	fileLocal:    "name | source as_of trust | read_iops write_iops read_mbs write_mbs",
	fileMeasured: "name | source as_of trust | read_iops write_iops read_bps write_bps",
	filePrices:   "product unit above instance_type | region source as_of trust | usd usd_per_hour",
}

// limitColumn is a column of a machine's limits: base, max, or those of a cap of the terms.
var limitColumn = regexp.MustCompile(`^([a-z][a-z0-9]*)(_max)?(_read|_write)?_(iops|mbs|mibs)$`)

// form is what the cells of a column may be.
type form struct {
	*regexp.Regexp
	want string
}

var (
	day    = form{regexp.MustCompile(`^(\d{4}(-\d\d){0,2}|unstated)?$`), "the day of the source, as 2026-11"}
	trusts = form{regexp.MustCompile(`^(verified|partial|inferred|unverified-recall|[vpers])?$`), "verified, partial or inferred"}
	number = form{regexp.MustCompile(`^(\d{1,15}(\.\d+)?)?$`), "a number, as 12000 or 312.5, or nothing where it is not known"}
	whole  = form{regexp.MustCompile(`^\d{0,9}$`), "a whole number, or nothing where it is not known"}
	forms  = map[string]form{
		"as_of": day, "trust": trusts, "vcpus": whole, "disks": whole, "local_count": whole, "above": number,
		"arch":       {regexp.MustCompile(`^((x86_64|arm64)(_mac)?|x64)?$`), "x86_64 or arm64"},
		"controller": {regexp.MustCompile(`^(nvme|scsi)?$`), "nvme or scsi"},
		"premium":    {regexp.MustCompile(`^[yn]?$`), "y or n"},
		"by":         {regexp.MustCompile(`^(machine|pattern|vcpus)$`), "machine, pattern or vcpus"},
		"shared":     {regexp.MustCompile(`^(sum|iops|all)?$`), "sum, iops or all, or nothing where reads and writes are apart"},
		"up_to":      {regexp.MustCompile(`^(\d+ (vCPUs|GPUs))?$`), "a number of vCPUs, as 8 vCPUs, or nothing"},
	}
	cores = regexp.MustCompile(`^\d+(-\d+| or more)?$`) // of a row of limits by vCPUs
)

// check reads all files of a cloud of the user's own, and says the first thing that is wrong, with its place.
func (d *Provider) check(name string, read reader) error {
	if slices.ContainsFunc(slices.Collect(maps.Values(builtin())), func(o *Provider) bool { return o.terms.named(name) }) {
		return fmt.Errorf(
			"%s: %s is the name of a cloud that plimsoll brings: give it another",
			filepath.Join(Dir, name),
			name,
		)
	}
	if data, err := read(fileTerms); err == nil {
		if err := yamlfile.Amounts(data); err != nil {
			return yamlfile.Wrong(fileTerms, data, err)
		}
	}
	if data, err := read(fileVolumes); err == nil {
		if err := checkTypes(data); err != nil {
			return yamlfile.Wrong(fileVolumes, data, err)
		}
	}
	for _, file := range []string{fileMachines, fileLimits, fileAttach, fileLocal, fileMeasured, filePrices} {
		data, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = d.checkTable(file, data, func(machine string) bool { _, known := builtinMachine(machine); return known })
		}
		if err == nil && file == filePrices {
			err = noPrices().readCSV(bytes.NewReader(data))
		}
		if err != nil {
			return yamlfile.Wrong(file, data, err)
		}
	}
	return nil
}

// checkTypes checks the types of volumes that a file has.
func checkTypes(data []byte) error {
	var types []VolumeType
	err := yamlfile.Amounts(data)
	if err == nil {
		err = yamlfile.Decode(data, &types)
	}
	if err != nil {
		return err
	}
	entry := regexp.MustCompile(`(?m)^- `)
	lines := entry.FindAllIndex(data, -1)
	for i, t := range types {
		what := t.wrong()
		if _, twice := typeOf(types[:i], t.Type); twice {
			what = "another type of this file has this name"
		}
		if what != "" {
			place := &yamlfile.Place{Line: 1, Err: fmt.Errorf("%s: %s", t.Type, what)}
			if i < len(lines) {
				place.Line += bytes.Count(data[:lines[i][0]], []byte("\n"))
			}
			return place
		}
	}
	return nil
}

// wrong says what a type of volume lacks, or where its figures contradict each other; empty where nothing does.
func (t VolumeType) wrong() string {
	_, known := typeOf(builtinTypes(), t.Type)
	sized, hdd, pool := t.Sized, t.HDD, t.Pool
	rules := 0
	for _, has := range []bool{t.IOPS.Max > 0 || t.Rate.Max > 0, sized != nil, hdd != nil, pool != nil, len(t.Tiers) > 0} {
		if has {
			rules++
		}
	}
	for _, c := range []struct {
		what  string
		wrong bool
	}{
		{"a type of volume needs a name: type: block-fast", t.Type == "" || len(t.Type) > 60},
		{"plimsoll brings a type of this name: give it another", known},
		{"state min_size and max_size", t.MaxSize < t.MinSize || t.MaxSize == 0},
		{"state source and as_of: want " + day.want, t.Source == "" || t.AsOf == "" || !day.MatchString(t.AsOf)},
		{"trust: want " + trusts.want, !trusts.MatchString(string(t.Trust))},
		{"state one of iops and rate, sized, pool, hdd or tiers", rules != 1},
		{"iops: included and min are at most max", max(t.IOPS.Included, t.IOPS.Min) > t.IOPS.Max},
		{"rate: included and min are at most max", t.Rate.Max > 0 && max(t.Rate.Included, t.Rate.Min) > t.Rate.Max},
		{"afr is a share of volumes, as 0.002", t.AFR > 1},
		{"sized: state most_iops, which least_iops does not pass", sized != nil && sized.MostIOPS < max(sized.LeastIOPS, 1)},
		{"sized: burst_iops and burst_ios go together", sized != nil && (sized.BurstIOPS > 0) != (sized.BurstIOs > 0)},
		{"hdd: state counted, and maxima above base and burst of a TiB", hdd != nil &&
			(t.Counted == 0 || hdd.Base == 0 || hdd.BaseMax < hdd.Base || hdd.BurstMax < hdd.Burst)},
		{"tiers: state name and size of each, which rise to max_size", len(t.Tiers) > 0 && (t.Tiers[0].Size == 0 ||
			t.Tiers[len(t.Tiers)-1].Size < t.MaxSize || !slices.IsSortedFunc(t.Tiers, func(a, b TierFacts) int {
			return cmp.Or(cmp.Compare(a.Size, b.Size), 1) // the same twice is no rise
		}))},
	} {
		if c.wrong {
			return c.what
		}
	}
	return ""
}

// checkTable checks the columns and cells of a table. Machine types that are taken cannot be named again.
func (d *Provider) checkTable(file string, data []byte, taken func(machine string) bool) error {
	c := csv.NewReader(bytes.NewReader(data))
	head, err := c.Read()
	place := func(i int, format string, a ...any) error {
		line, column := c.FieldPos(i)
		return &yamlfile.Place{Line: line, Column: column, Err: fmt.Errorf(format, a...)}
	}
	if err != nil {
		return &yamlfile.Place{Line: 1, Err: errors.New("want a head with the columns that docs/clouds.md has")}
	}
	keys, _, _ := strings.Cut(columns[file], " |")
	for i, h := range head {
		switch {
		case !d.column(file, h):
			return place(i, "the column %.40q is none of those that docs/clouds.md has: correct its name or remove it", h)
		case slices.Contains(head[:i], h):
			return place(i, "the column %s is there twice: keep one", h)
		}
	}
	if first := strings.Fields(keys)[0]; head[0] != first && file != filePrices {
		return place(0, "want the column %s ahead of the others", first)
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
			return place(0, "%d cells, and the head has %d", len(cells), len(head))
		}
		if at, _ := c.FieldPos(0); at != line {
			return place(0, "a cell or an empty line above goes over two lines: keep each row on one")
		}
		for i, cell := range cells {
			if f := cellForm(file, head[i]); f.Regexp != nil && !f.MatchString(cell) {
				return place(i, "%s is %.40q: want %s", head[i], cell, f.want)
			}
		}
		r, key := row{head, cells}, ""
		for name := range strings.FieldsSeq(keys) {
			key += strings.ToLower(r.text(name)) + ":"
		}
		if column, why := d.wrongRow(file, r, taken); why != "" {
			return place(max(slices.Index(head, column), 0), "%.60q: want %s", r.text(column), why)
		}
		if seen[key] {
			return place(0, "the row above says something else of the same: keep one")
		}
		seen[key] = true
	}
}

// column says whether a table may have a column.
func (d *Provider) column(file, name string) bool {
	m := limitColumn.FindStringSubmatch(name)
	return name != "|" && slices.Contains(strings.Fields(columns[file]), name) || file == fileMachines && m != nil &&
		(slices.Contains([]string{"base", "max", "api"}, m[1]) ||
			slices.ContainsFunc(d.terms.Caps, func(c CapTerms) bool { return c.Columns == m[1] }))
}

func cellForm(file, column string) form {
	f := forms[column]
	numbers := strings.Fields(columns[file][strings.LastIndex(columns[file], "|"):])
	if f.Regexp == nil && (slices.Contains(numbers, column) || file == fileMachines && limitColumn.MatchString(column)) {
		return number
	}
	return f
}

// wrongRow says which cell of a row names nothing that the cloud has, or contradicts another.
func (d *Provider) wrongRow(file string, r row, taken func(machine string) bool) (column, want string) {
	machines, types := d.sheet(fileMachines), d.types()
	series := func(of string) bool {
		_, whole := machines.at[strings.ToLower(of)]
		return whole || slices.ContainsFunc(machines.lines, func(l string) bool { return strings.HasPrefix(l, of+"-") })
	}
	name, typ := r.text("name"), r.text("type")
	switch file {
	case fileMachines:
		if name == "" || taken(name) {
			return "name", "a name that no other machine type has"
		}
		for _, h := range r.head {
			base := strings.Replace(h, "max_", "base_", 1)
			switch mib := strings.Replace(h, "_mbs", "_mibs", 1); {
			case mib != h && r.text(h) != "" && r.text(mib) != "":
				return h, "one of MB/s and MiB/s"
			case strings.HasPrefix(h, "max_") && r.num(h) > 0 && r.num(h) < r.num(base):
				return h, "at least " + base
			}
		}
	case fileLimits:
		switch _, ok := typeOf(types, d.terms.Prefix+typ); {
		case !series(r.text("series")):
			return "series", "a machine's name up to its first -"
		case !ok:
			return "type", "a type of volumes.yaml"
		case r.text("by") == "vcpus" && !cores.MatchString(r.text("machine")):
			return "machine", "vCPUs, as 8, 2-7 or 16 or more"
		case r.text("by") != "vcpus" && !slices.ContainsFunc(d.all(), func(f InstanceFacts) bool { return f.selected(r) }):
			return "machine", "a name of machines.csv, or a pattern of some"
		}
	case fileAttach:
		if s := r.text("series"); s != "all others" && !series(s) {
			return "series", "a machine's name, or that up to its first -"
		}
	case fileLocal, fileMeasured:
		if machines.of(name) == nil {
			return "name", "a name of machines.csv"
		}
	case filePrices:
		unit, product := r.text("unit"), cmp.Or(r.text("product"), r.text("instance_type"))
		_, volume := typeOf(types, product)
		tier := slices.ContainsFunc(types, func(t VolumeType) bool { return t.tierOf(VolumeSpec{Tier: product}) != nil })
		switch {
		case !volume && !tier && machines.of(product) == nil:
			return "product", "a machine of machines.csv, or a type or tier of volumes.yaml"
		case r.text("above") != "" && (unit == perHour || unit == perGiB || unit == perEach):
			return "above", "nothing: only " + perIOPS + ", " + perMiB + " and " + perMB + " have steps"
		}
	}
	return "", ""
}
