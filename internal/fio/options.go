package fio

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// OptionInfo is what fio says of one of its job options.
type OptionInfo struct {
	Name  string
	Alias string // another name for the same, empty when there is none
	// Optional is true when the value may be left out (time_based, group_reporting). On a command
	// line such an option takes a value only behind =; every other one also takes the next word.
	Optional bool
	Engines  []string // the ioengines whose option it is; empty for an option of every job
	Words    []string // what it takes as value; empty when that is no list of words
	Lacked   Version  // the last of the versions asked before it came; zero when the first had it
}

// OptionTable is what one build of fio knows.
type OptionTable struct {
	byName map[string]*OptionInfo // by name and alias
	names  []string               // main names in fio's order
}

//go:embed options.tsv
var builtinOptions string

// BuiltinOptions is the table of fio 3.16 to 3.41: an option is in it when one of these versions
// has it. The head of options.tsv has its sources.
func BuiltinOptions() *OptionTable { return builtinTable() }

var builtinTable = sync.OnceValue(func() *OptionTable {
	t := &OptionTable{byName: map[string]*OptionInfo{}}
	for line := range strings.Lines(builtinOptions) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		o := &OptionInfo{Name: col[0], Optional: col[1] == "bare", Engines: cells(col[3]), Words: cells(col[4])}
		if col[2] != "-" {
			o.Alias = col[2]
		}
		if col[5] != "-" {
			v, err := ParseVersion("fio-" + col[5])
			if err != nil {
				panic(fmt.Sprintf("options.tsv: %s: %v", o.Name, err))
			}
			o.Lacked = v
		}
		t.add(o)
	}
	return t
})

func cells(s string) []string {
	if s == "-" {
		return nil
	}
	return strings.Split(s, ",")
}

func (t *OptionTable) add(o *OptionInfo) {
	if old := t.byName[o.Name]; old != nil && old.Name == o.Name {
		for _, e := range o.Engines {
			if len(old.Engines) > 0 && !slices.Contains(old.Engines, e) {
				old.Engines = append(old.Engines, e)
			}
		}
		return
	}
	t.byName[o.Name] = o
	t.names = append(t.names, o.Name)
	if o.Alias != "" && t.byName[o.Alias] == nil {
		t.byName[o.Alias] = o
	}
}

// ParseCmdHelp reads what fio prints for --cmdhelp=all (or --enghelp=ENGINE): lines of "name : what
// it does", children indented. fio prints neither aliases nor whether a value may be left out
// there; they are taken from the built-in table for options that it has.
func ParseCmdHelp(text string) (*OptionTable, error) {
	t := &OptionTable{byName: map[string]*OptionInfo{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		name, _, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf(
				"fio --cmdhelp line %d: %q: want an option's name and a colon",
				n,
				clip(strings.TrimSpace(line)),
			)
		}
		o := &OptionInfo{Name: name}
		if known := BuiltinOptions().byName[name]; known != nil && known.Name == name {
			o.Alias, o.Optional, o.Words, o.Lacked = known.Alias, known.Optional, known.Words, known.Lacked
		}
		t.add(o)
	}
	if len(t.names) == 0 {
		return nil, fmt.Errorf("fio --cmdhelp printed no options")
	}
	return t, nil
}

// InstalledOptions asks the fio in PATH what it knows, and what the engines named have of their
// own, a start of fio each. The options of other engines count as known from the built-in table,
// unless they came later.
func InstalledOptions(ctx context.Context, m *sys.Machine, engines ...string) (*OptionTable, error) {
	text, err := m.Output(sys.WithFamily(ctx), "fio", "--cmdhelp=all")
	if err != nil {
		return nil, err
	}
	t, err := ParseCmdHelp(text)
	if err != nil {
		return nil, err
	}
	for _, engine := range engines {
		// An engine whose library is missing fails here; its options then count as known from the
		// built-in table.
		help, err := m.Output(sys.WithFamily(ctx), "fio", "--enghelp="+engine)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if own, parseErr := ParseCmdHelp(help); err == nil && parseErr == nil {
			for _, name := range own.names {
				o := *own.byName[name]
				o.Engines = []string{engine}
				t.add(&o)
			}
		}
	}
	printed, err := m.Output(sys.WithFamily(ctx), "fio", "--version")
	if err != nil {
		return nil, err
	}
	version, err := ParseVersion(printed)
	if err != nil { // a build of its own: all may be there
		version = Version{Major: math.MaxInt}
	}
	for _, name := range BuiltinOptions().names {
		if o := BuiltinOptions().byName[name]; len(o.Engines) > 0 && o.Lacked.Before(version) {
			t.add(o.clone())
		}
	}
	return t, nil
}

func (o *OptionInfo) clone() *OptionInfo {
	c := *o
	c.Engines = slices.Clone(o.Engines)
	return &c
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
// none is near.
func (t *OptionTable) Check(name string) (known bool, nearest string) {
	if t.byName[name] != nil {
		return true, ""
	}
	clean := strings.ToLower(strings.ReplaceAll(strings.Trim(name, "-"), "-", "_"))
	if t.byName[clean] != nil {
		return false, clean
	}
	candidates := t.candidates()
	if begins := slices.DeleteFunc(
		slices.Clone(candidates),
		func(c string) bool { return len(clean) < 3 || !strings.HasPrefix(c, clean) },
	); len(begins) == 1 {
		return false, begins[0]
	}
	return false, text.Nearest(clean, candidates)
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

// Abbreviates says whether a name is the beginning of exactly one option: on a command line fio
// takes it (getopt_long).
func (t *OptionTable) Abbreviates(name string) bool {
	n := 0
	for option := range t.byName {
		if strings.HasPrefix(option, name) {
			n++
		}
	}
	return n == 1 && len(name) > 1
}

// NearestWord is the nearest of an option's words to a value that is none of them; ok is true when
// the value is one, or the option takes other values.
func (o OptionInfo) NearestWord(value string) (ok bool, nearest string) {
	value, _, _ = strings.Cut(value, ":")
	if len(o.Words) == 0 || slices.Contains(o.Words, value) {
		return true, ""
	}
	return false, text.Nearest(strings.ToLower(value), o.Words)
}
