package fio

import (
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/text"
)

// OptionInfo is what fio says of one of its job options.
type OptionInfo struct {
	Name, Kind string // the kind of its value is spelled as fio does: INT, STR_VAL, BOOL
	Alias      string // another name for the same, empty when there is none
	// Optional is true when the value may be left out (time_based, group_reporting). On a command
	// line such an option takes a value only behind =; every other one also takes the next word.
	Optional bool
	Engines  []string // the ioengines whose option it is; empty for an option of every job
	Words    []string // what it takes as value; empty when that is no list of words
	// from and to are the first and the last of the known versions that have it, indexes into optionVersions.
	from, to int
}

// OptionTable is what one version of fio knows, or what any of several do.
type OptionTable struct {
	from, to int // indexes into optionVersions
	noSums   bool
	byName   map[string]*OptionInfo  // by name and alias
	rows     map[string][]*optionRow // by name and alias, newest first
	names    []string                // main names in fio's order
	engines  []string
	settings map[string]bool
	asked    *sync.Map // the nearest name by the wrong one
}

// BuiltinOptions is the table of fio 3.16 and all later versions, whose options count when no
// version is named: an option is in it when one of these versions has it. The head of options.tsv
// has its sources.
var BuiltinOptions = sync.OnceValue(func() *OptionTable {
	return newOptionTable(versionIndex(Version{3, 16}), len(optionVersions)-1)
})

// EveryOption is the table of all known versions.
var EveryOption = sync.OnceValue(func() *OptionTable { return newOptionTable(0, len(optionVersions)-1) })

// OptionsOf is the table of one version. Of a version between two known ones, it has what either
// of them has.
func OptionsOf(v Version) *OptionTable {
	from := versionIndex(v)
	to := from
	if optionVersions[from] != v && from+1 < len(optionVersions) && !v.Before(optionVersions[0]) {
		to++
	}
	return newOptionTable(from, to)
}

func newOptionTable(from, to int) *OptionTable {
	t := &OptionTable{
		from:     from,
		to:       to,
		byName:   map[string]*OptionInfo{},
		settings: map[string]bool{},
		rows:     map[string][]*optionRow{},
		asked:    &sync.Map{},
	}
	within := func(first, last int) bool { return first <= to && last >= from }
	for _, r := range allRows().options {
		if within(r.from, r.to) {
			t.add(r)
		}
	}
	for _, name := range t.names {
		if o := t.byName[name]; o.Alias != "" && t.byName[o.Alias] == nil {
			t.byName[o.Alias] = o
		}
	}
	for _, e := range allRows().engines {
		if within(e.from, e.to) {
			t.engines = text.Once(t.engines, e.name)
		}
	}
	for _, s := range allRows().settings {
		t.settings[s.name] = t.settings[s.name] || within(s.from, s.to)
	}
	if o := t.byName["ioengine"]; o != nil {
		o.Words = append(slices.Clone(t.engines), otherEngineNames...)
	}
	return t
}

// otherEngineNames are taken for an engine's name beside those of the engines: aliases, and the
// word ahead of the path of a plugin.
var otherEngineNames = strings.Fields("aio linuxaio external rados cpu")

func (t *OptionTable) add(r *optionRow) {
	t.rows[r.name] = append(t.rows[r.name], r)
	if r.alias != "" {
		t.rows[r.alias] = append(t.rows[r.alias], r)
	}
	if r.profile != "" {
		return
	}
	o := t.byName[r.name]
	if o == nil {
		o = &OptionInfo{
			Name: r.name, Alias: r.alias, Optional: r.kind == typeFlag, Engines: slices.Clone(r.engines),
			from: r.from, to: r.to, Kind: string(r.kind), Words: r.wordList(),
		}
		t.byName[r.name] = o
		t.names = append(t.names, r.name)
	}
	o.from, o.to = min(o.from, r.from), max(o.to, r.to)
	if len(r.engines) == 0 {
		o.Engines = nil
	}
	if len(o.Engines) > 0 {
		for _, e := range r.engines {
			o.Engines = text.Once(o.Engines, e)
		}
	}
}

// Lookup finds an option by its name or alias.
func (t *OptionTable) Lookup(name string) (OptionInfo, bool) {
	if o := t.byName[name]; o != nil {
		return *o, true
	}
	return OptionInfo{}, false
}

// Main is the name under which fio files an option that may be given by its alias: rw for
// readwrite. A name that is not known is returned as it is.
func (t *OptionTable) Main(name string) string {
	if o := t.byName[name]; o != nil {
		return o.Name
	}
	return name
}

// Check says whether fio knows an option, and if not the nearest name that it knows, empty when
// none is near. Of a wrong name, which may come again and again, it is kept.
func (t *OptionTable) Check(name string) (known bool, nearest string) {
	if t.byName[name] != nil {
		return true, ""
	}
	near, asked := t.asked.Load(name)
	if !asked {
		near = t.nearest(name)
		t.asked.Store(name, near)
	}
	return false, near.(string)
}

func (t *OptionTable) nearest(name string) string {
	clean := strings.ToLower(strings.ReplaceAll(strings.Trim(name, "-"), "-", "_"))
	if t.byName[clean] != nil {
		return clean
	}
	candidates := t.candidates()
	if begins := slices.DeleteFunc(
		slices.Clone(candidates),
		func(c string) bool { return len(clean) < 3 || !strings.HasPrefix(c, clean) },
	); len(begins) == 1 {
		return begins[0]
	}
	return text.Nearest(clean, candidates)
}

// Near says whether a name is known or differs from a known one in its dashes only, so that it is a
// slip and not another program's option.
func (t *OptionTable) Near(name string) bool {
	known, near := t.Check(name)
	return known ||
		near != "" &&
			strings.EqualFold(strings.ReplaceAll(near, "_", ""), strings.NewReplacer("-", "", "_", "").Replace(name))
}

// candidates are the names in fio's order, then the aliases, so that ties fall the same way each
// time.
func (t *OptionTable) candidates() []string {
	all := slices.Clone(t.names)
	for _, name := range t.names {
		if a := t.byName[name].Alias; a != "" {
			all = append(all, a)
		}
	}
	return all
}

// Begins counts the options that begin with a name: on a command line fio takes it where that is one
// (getopt_long). An engine's options count once the engine is known; engine is empty where it is not.
func (t *OptionTable) Begins(name, engine string) int {
	n := 0
	for option, o := range t.byName {
		if strings.HasPrefix(option, name) &&
			(len(o.Engines) == 0 || engine != "" && slices.Contains(o.Engines, engine)) {
			n++
		}
	}
	for setting, has := range t.settings {
		if has && strings.HasPrefix(setting, name) {
			n++
		}
	}
	return n
}

// Engine says whether fio has an engine of that name in one of the table's versions.
func (t *OptionTable) Engine(name string) bool {
	return slices.Contains(t.engines, name) || slices.Contains(otherEngineNames, name)
}
