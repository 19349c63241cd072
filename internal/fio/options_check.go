package fio

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/text"
)

// RefusalKind is what fio minds.
type RefusalKind string

// The kinds of refusals.
const (
	RefusedName    RefusalKind = "name"    // it knows no such option, or not with this engine
	RefusedSetting RefusalKind = "setting" // an option of the command line in a job file
	RefusedValue   RefusalKind = "value"
	RefusedEngine  RefusalKind = "engine"  // it has no such ioengine
	RefusedBetween RefusalKind = "between" // options that do not go together
)

// Refusal is why fio drops a job: one of its options.
type Refusal struct {
	Option Option
	Kind   RefusalKind
	Says   string // what is wrong, behind the option: "is out of range (1 to 100)"
	Near   string // the name or word that was probably meant; may be empty
	// Sure is true where Near is the only thing that can be meant: direct=true is direct=1.
	Sure bool
	// InRun is true for what a run refuses and --parse-only passes over.
	InRun bool
}

// JobText is a section as fio reads it: its own options and, in effect, those of the global
// sections before it.
type JobText struct {
	Own, All []Option
	// Global is true for a global section: its options are read and no job is run.
	Global bool
	// Command is true for a job of a command line, where names may be abbreviated.
	Command bool
	// Before are the names of the jobs ahead of it; nil where they are not known.
	Before []string
	// Open says whether an option's value is not known, such as that of a variable. May be nil.
	Open func(Option) bool
	// Free is true where the ioengine is not known: an option of any of fio's engines is taken.
	Free bool

	set map[string]Option // by main name, the one that counts
}

func (j JobText) open(o Option) bool { return j.Open != nil && j.Open(o) }

// last is the option of a name that counts.
func (j JobText) last(name string) (Option, bool) {
	o, ok := j.set[name]
	return o, ok
}

// indexed is the section with its options by name. An option of rows that are no option of every
// version (ratemin of 2.1) goes by its own.
func (t *OptionTable) indexed(j JobText) JobText {
	j.set = make(map[string]Option, len(j.All))
	for _, o := range j.All {
		j.set[t.Main(o.Name)] = o
	}
	return j
}

// raw is an option's value with the blanks that fio keeps.
func (o Option) raw() string { return o.Pad + o.Value }

// Refusals are the options for which every version of the table refuses the section, in the order
// of the text.
func (t *OptionTable) Refusals(j JobText) []Refusal {
	j = t.indexed(j)
	of := jobEngine{name: DefaultEngine, any: j.Free}
	named := map[string]bool{}
	for _, o := range j.All {
		if o.Name != "ioengine" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(o.Value), ":")
		of.name = engineAlias(name)
		named[of.name] = true
		of.plugin = of.plugin || j.open(o) || !t.Engine(of.name) || of.name == "external"
	}
	of.any = of.any || of.plugin || len(named) > 1
	var refused []Refusal
	for _, o := range j.Own {
		if r := t.refusal(j, o, of); r != nil {
			refused = append(refused, *r)
		}
	}
	return append(refused, t.between(j)...)
}

// jobEngine is the ioengine of a section: its name, whether it may be any of fio's, and whether it
// may be none of them.
type jobEngine struct {
	name        string
	any, plugin bool
}

// engineAlias is the name of an engine that has others (ioengines.c).
func engineAlias(name string) string {
	if name == "aio" || name == "linuxaio" {
		return "libaio"
	}
	return name
}

// refusal judges one option; nil where fio takes it.
func (t *OptionTable) refusal(j JobText, o Option, of jobEngine) *Refusal {
	if t.byName[o.Name] == nil && j.Command &&
		(t.settings[o.Name] || len(o.Name) > 1 && t.Begins(o.Name, of.name) == 1) {
		return nil
	}
	b := t.newest(j)
	var r *Refusal
	for at := t.to; at >= t.from; at-- {
		b.version = optionVersions[at]
		row := t.row(o.Name, at, of.name, of.any)
		if row == nil {
			continue
		}
		if j.open(o) {
			return nil
		}
		f := row.fault(o.raw(), o.Bare, b)
		inRun := false
		if check := ownChecks[row.name]; f == faultNone && check != nil && !o.Bare && !check(o.raw(), b.version) {
			f, inRun = faultShape, true
		}
		if f == faultNone {
			return t.engineRefusal(row, o)
		}
		if r == nil {
			r = &Refusal{Option: o, Kind: RefusedValue, InRun: inRun || o.Bare && ownChecks[row.name] != nil}
			r.Says, r.Near = row.says(f, o)
			r.Sure = r.Near != "" && (row.kind == typeBool || row.kind == typeFlag)
		}
	}
	if r != nil {
		return r
	}
	return t.nameRefusal(j, o, of)
}

// newest is the table's newest fio, for the values of a section.
func (t *OptionTable) newest(j JobText) build {
	return build{version: optionVersions[t.to], noSums: t.noSums, k: kbBase(j)}
}

// engineRefusal says whether an ioengine is none of fio's. A name with a path or a plugin's prefix
// may be one that fio loads.
func (t *OptionTable) engineRefusal(row *optionRow, o Option) *Refusal {
	name, _, _ := strings.Cut(o.raw(), ":")
	if row.name != "ioengine" || t.Engine(name) || strings.ContainsAny(name, "/.") {
		return nil
	}
	first, _, _ := strings.Cut(name, ",") // of a list, as if fio took one
	near := strings.ToLower(strings.TrimSpace(first))
	if !t.Engine(near) {
		near = text.Nearest(near, t.engines)
	}
	return &Refusal{Option: o, Kind: RefusedEngine, Says: "is not one of fio's engines", Near: near, InRun: true}
}

// nameRefusal says why an option is not known.
func (t *OptionTable) nameRefusal(j JobText, o Option, of jobEngine) *Refusal {
	r, info := &Refusal{Option: o, Kind: RefusedName}, t.byName[o.Name]
	switch _, setting := t.settings[o.Name]; {
	case info == nil && setting && !j.Command:
		r.Kind, r.Says = RefusedSetting, "is an option of the command line, which a job file cannot hold"
	case info == nil && of.plugin && slices.Contains(directions, strings.TrimSpace(o.Value)):
		r.Near = "rw"
	case info == nil && of.plugin && !t.Near(o.Name):
		return nil
	case info == nil:
		_, r.Near = t.Check(o.Name)
		r.Says = t.absence(o.Name)
	case len(info.Engines) > 0:
		r.Says = fmt.Sprintf("belongs to %s, and the job runs on %s", list(info.Engines), of.name)
	default:
		return nil
	}
	return r
}

// directions are the words that no option but rw takes, of fio or of any engine.
var directions = strings.Fields("randread randwrite randrw randtrim readwrite trimwrite randtrimwrite")

// absence says whether other versions have an option.
func (t *OptionTable) absence(name string) string {
	other := EveryOption().byName[name]
	switch {
	case other == nil:
		return ""
	case t.to < other.from:
		return fmt.Sprintf("was added in %s", optionVersions[other.from])
	}
	return fmt.Sprintf("was last seen in %s", optionVersions[other.to])
}

func list(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// row is the option as version at has it for an engine; nil when it does not. That of a profile
// counts where fio has none of its own.
func (t *OptionTable) row(name string, at int, engine string, free bool) *optionRow {
	var profile *optionRow
	for _, r := range t.rows[name] {
		switch {
		case at < r.from || at > r.to:
		case r.profile != "":
			profile = r
		case len(r.engines) == 0 || free || slices.Contains(r.engines, engine):
			return r
		}
	}
	return profile
}

func kbBase(j JobText) uint64 {
	if o, ok := j.last("kb_base"); ok && strings.TrimSpace(o.Value) == "1000" {
		return 1000
	}
	return 1024
}

// says puts a fault into words, and names the word that is near.
func (r *optionRow) says(f fault, o Option) (says, near string) {
	switch f { //nolint:exhaustive // the others say all
	case faultRange:
		return string(f) + r.limits(), ""
	case faultWord:
		words := r.wordList()
		word, _, _ := strings.Cut(strings.TrimSpace(o.Value), ":")
		if len(words) > 12 {
			return string(f), text.Nearest(strings.ToLower(word), words)
		}
		return fmt.Sprintf("%s (%s)", f, strings.Join(words, ", ")), text.Nearest(strings.ToLower(word), words)
	case faultNumber, faultEmpty:
		if r.kind == typeBool || r.kind == typeFlag {
			return "is neither 0 nor 1", booleanMeant(o.Value)
		}
	case faultShape:
		if form := ownForms[r.name]; form != "" {
			return fmt.Sprintf("%s, such as %s", f, form), ""
		}
	}
	return string(f), ""
}

// ownForms are examples of what fio's own code takes.
var ownForms = map[string]string{
	"rw":                  "randread:8",
	"random_distribution": "zipf:1.2, pareto:0.9, normal:20 or zoned:60/10:40/90",
	"file_service_type":   "zipf:1.2",
	"steadystate":         "iops_slope:0.3%",
	"ignore_error":        "EIO,ENOSPC:122",
	"replay_skip":         "read,trim",
	"buffer_pattern":      `0xdeadbeef or "abcd"`,
	"verify_pattern":      `0xdeadbeef, "abcd" or %o`,
	"bssplit":             "4k/60:64k/40",
	"bsrange":             "4k-64k",
	"numa_mem_policy":     "bind:0",
	"io_size":             "50%",
}

func booleanMeant(value string) string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "yes", "on", "y", "enable", "enabled":
		return "1"
	case "false", "no", "off", "n", "disable", "disabled":
		return "0"
	}
	return ""
}

func (r *optionRow) limits() string {
	switch {
	case r.kind == typeFractions:
		return fmt.Sprintf(" (%g to %g)", r.leastPart, r.mostPart)
	case r.most == 0 || r.most >= 4294967295:
		return fmt.Sprintf(" (%d at least)", r.least)
	}
	return fmt.Sprintf(" (%d to %d)", r.least, r.most)
}
