package suite

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
	"plimsoll/internal/yamlfile"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// Default is the suite that runs when none is named.
const Default = "db"

// Names are the built-in suites, the default first.
func Names() []string {
	entries, _ := builtin.ReadDir("builtin") // an embedded directory is always there
	names := []string{Default}
	for _, e := range entries {
		if n := strings.TrimSuffix(e.Name(), ".yaml"); n != Default {
			names = append(names, n)
		}
	}
	return names
}

// ErrUnknown is in the chain of Builtin's error when there is no such suite.
var ErrUnknown = errors.New("no such suite")

// Builtin returns a suite that plimsoll brings.
func Builtin(name string) (*Suite, error) {
	data, err := builtin.ReadFile(path.Join("builtin", name+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("%w: %q; built in are %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	s, err := Parse(name+".yaml", data)
	if err != nil {
		return nil, err
	}
	s.Source = "built in"
	return s, nil
}

// Load reads a suite of the user's own, or a demand as a suite of one scenario.
func Load(file string) (*Suite, error) {
	data, err := sys.ReadFile(file, sys.ConfigLimit)
	if err != nil {
		return nil, err
	}
	if workload.Is(data) {
		d, err := workload.Parse(file, data)
		if err != nil {
			return nil, err
		}
		return FromDemand(d)
	}
	return Parse(file, data)
}

// The YAML of a suite (docs/suites.md), whose keys are the names of fields in lower case. Options
// keep their order, since people compare command lines.
type suiteYAML struct {
	Name, Description, Files, Main              string
	Cooldown, Runtime, Ramp                     *duration
	Rounds, Until, Stop, Order, Budget, Against word

	Fio       yamlfile.MapSlice
	Postgres  *serverYAML
	Scenarios []scenarioYAML
}

type scenarioYAML struct {
	ID                                        int
	Name, Title, Why, Phase, Files, Job, Main string

	Role          topology.Role
	Size          size
	Runtime, Ramp *duration
	Fio           yamlfile.MapSlice
	Postgres      *postgresYAML
	Thresholds    []string
}

type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("duration %q: want a number with a unit, such as 60s or 2m", text)
	}
	*d = duration(v)
	return nil
}

// word is a value as it is written, a number too: rounds: 5.
type word string

func (s *word) UnmarshalText(text []byte) error {
	*s = word(strings.Trim(strings.TrimSpace(string(text)), "\"'"))
	return nil
}

type size units.Bytes

func (b *size) UnmarshalText(text []byte) error { return (*units.Bytes)(b).UnmarshalText(text) }

// What holds where a suite says nothing.
const (
	DefaultCooldown = 5 * time.Second
	DefaultRuntime  = 60 * time.Second
	DefaultSize     = units.GiB
	// MostSize is 8 EiB less 1 MiB: file offsets are signed, and fio works in blocks.
	MostSize = units.Bytes(1<<63 - 1<<20)
)

// Parse reads a suite's YAML; name is used in errors, which give the line of what is wrong.
func Parse(name string, data []byte) (*Suite, error) {
	var y suiteYAML
	if err := yamlfile.Decode(data, &y); err != nil {
		return nil, yamlfile.Wrong(name, data, err)
	}
	file, err := yamlfile.Parse(data)
	if err != nil {
		return nil, yamlfile.Wrong(name, data, err)
	}
	at := locator{name, data, file}
	if len(y.Scenarios) == 0 {
		return nil, at.err("$", "a suite needs scenarios")
	}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	s := &Suite{Name: cmp.Or(y.Name, base), Description: y.Description, Source: name, Cooldown: DefaultCooldown}
	if y.Cooldown != nil {
		s.Cooldown = time.Duration(*y.Cooldown)
	}
	repeat := Repeat{
		string(y.Rounds), string(y.Until), string(y.Stop), string(y.Order), string(y.Budget), string(y.Against),
	}
	if repeat != (Repeat{}) {
		s.Repeat = &repeat
	}
	if y.Postgres != nil {
		s.Server = &Server{
			Scale:    y.Postgres.Scale,
			Memory:   units.Bytes(y.Postgres.Memory),
			Settings: y.Postgres.Settings,
		}
	}
	seen := map[int]bool{}
	for i, sc := range y.Scenarios {
		where := fmt.Sprintf("$.scenarios[%d]", i)
		c, err := sc.scenario(&y, at, where)
		if err != nil {
			return nil, err
		}
		if seen[c.ID] {
			return nil, at.err(where+".id", "id %d is used twice", c.ID)
		}
		seen[c.ID] = true
		s.Scenarios = append(s.Scenarios, c)
	}
	return s, nil
}

func (sc scenarioYAML) scenario(y *suiteYAML, at locator, where string) (Scenario, error) {
	c := Scenario{
		ID: sc.ID, Name: sc.Name, Title: sc.Title, Why: sc.Why, Role: cmp.Or(sc.Role, topology.Data), Phase: sc.Phase,
		Size: cmp.Or(units.Bytes(sc.Size), DefaultSize), Runtime: DefaultRuntime,
	}
	if d := cmp.Or(sc.Runtime, y.Runtime); d != nil {
		c.Runtime = time.Duration(*d)
	}
	if d := cmp.Or(sc.Ramp, y.Ramp); d != nil {
		c.Ramp = time.Duration(*d)
	}
	if err := sc.work(&c, y, at, where); err != nil {
		return c, err
	}
	if bad, ok := errors.AsType[*wrongField](c.valid()); ok {
		return c, at.err(where+bad.field, "%v", bad.err)
	}
	for i, text := range sc.Thresholds {
		t, err := ParseThreshold(text)
		if err != nil {
			return c, at.err(fmt.Sprintf("%s.thresholds[%d]", where, i), "%v", err)
		}
		c.Thresholds = append(c.Thresholds, t)
	}
	if c.Main = cmp.Or(sc.Main, y.Main); c.Main != "" {
		if _, err := ParseMain(c.Main); err != nil {
			return c, at.err(where+".main", "%v", err)
		}
	}
	return c, nil
}

// work fills c.Postgres or c.Job.
func (sc scenarioYAML) work(c *Scenario, y *suiteYAML, at locator, where string) error {
	if sc.Postgres == nil {
		return sc.job(c, y, at, where)
	}
	if len(sc.Fio) > 0 || sc.Job != "" || sc.Size > 0 || sc.Files != "" {
		return at.err(where+".postgres", "a scenario is PostgreSQL's or fio's: without fio:, job:, files: and size:")
	}
	p, err := sc.Postgres.postgres()
	if err != nil {
		return at.err(where+".postgres", "%v", err)
	}
	c.Postgres, c.Size, c.Job.Name = p, 0, at.name
	return nil
}

// job fills c.Job from fio: or job:.
func (sc scenarioYAML) job(c *Scenario, y *suiteYAML, at locator, where string) error {
	if sc.Job != "" {
		if sc.Files != "" {
			return at.err(where+".files", "is for fio:; the jobs of job: share one file of the role")
		}
		if len(sc.Fio) > 0 || len(y.Fio) > 0 {
			return at.err(where+".job", "a scenario has either fio: or job:, and the suite's fio: cannot reach into job:")
		}
		job, err := fio.ParseJobFile(at.name, []byte(sc.Job), fio.ParseOptions{})
		if err != nil {
			return at.err(where+".job", "%v", err)
		}
		c.Job = *job
		return nil
	}
	switch files := cmp.Or(sc.Files, y.Files); files {
	case "", "shared":
	case string(FilePerJob):
		c.Files = FilePerJob
	default:
		return at.err(where+".files", "files %q: want job (one for each job) or shared (one for all)", files)
	}
	options := slices.Clone(y.Fio)
	for _, item := range sc.Fio {
		options = slices.DeleteFunc(options, func(o yamlfile.MapItem) bool { return o.Key == item.Key })
		options = append(options, item)
	}
	if len(options) == 0 {
		return at.err(where, "a scenario needs fio: or job:")
	}
	section := fio.Section{Name: c.Name}
	for _, item := range options {
		key, ok := item.Key.(string)
		if !ok {
			return at.err(where+".fio", "option %v: want fio's own option names", item.Key)
		}
		if slices.Contains(placed, key) {
			return at.err(where+".fio."+key, "%s is plimsoll's to set; use size:, runtime:, ramp: and role: of the scenario",
				key)
		}
		value, err := scalar(item.Value)
		if err != nil {
			return at.err(where+".fio."+key, "%v", err)
		}
		section.Options = append(section.Options,
			fio.Option{Name: key, Value: value, Bare: item.Value == nil, Line: at.line(where + ".fio." + key)})
	}
	_, short := section.Get("rw")
	if _, long := section.Get("readwrite"); !short && !long {
		return at.err(where+".fio", "rw is missing: say read, write, randread, randwrite, rw or randrw")
	}
	c.Job = fio.JobFile{Name: at.name, Sections: []fio.Section{section}}
	return nil
}

// placed are the options that plimsoll sets itself for scenarios of a suite.
var placed = strings.Fields(
	"filename filename_format directory size runtime ramp_time time_based name group_reporting " +
		"output-format status-interval",
)

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case string, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("value %v: want a single value, as on fio's command line", v)
}

func validName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// locator finds the line of a YAML path for error messages.
type locator struct {
	name string
	data []byte
	file *ast.File
}

func (l locator) err(where, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if key := strings.TrimPrefix(strings.TrimPrefix(where, "$"), "."); key != "" {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return yamlfile.Wrong(l.name, l.data, yamlfile.At(yamlfile.Find(l.file, where), err))
}

// line of a path, 0 where nothing of it exists.
func (l locator) line(where string) int {
	if t := yamlfile.Find(l.file, where); t != nil {
		return t.Position.Line
	}
	return 0
}
