package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Selection narrows a suite.
type Selection struct {
	Only  string // "sync-latency,3-5": names of scenarios, numbers and ranges
	Phase string
}

// Select makes one suite of what a user names: built-in suites, YAML files, job files, and numbers
// or names of scenarios of the suite (the default one when no suite is named). Without arguments it
// is the default suite.
func Select(args []string, sel Selection) (*Suite, error) {
	var parts []*Suite
	var wanted []string
	for _, arg := range args {
		part, err := named(arg)
		if err != nil {
			return nil, err
		}
		if part == nil {
			wanted = append(wanted, arg)
		} else {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		var err error
		if parts, err = withDatabase(wanted); err != nil {
			return nil, err
		}
	}
	s, err := join(parts).pick(wanted)
	if err != nil {
		return nil, err
	}
	return s.narrow(sel)
}

// withDatabase is the default suite, and the one for databases where a scenario of it is named: its
// numbers follow.
func withDatabase(wanted []string) ([]*Suite, error) {
	base, err := Builtin(Default)
	if err != nil {
		return nil, err
	}
	pg, err := Builtin("pg")
	if err != nil {
		return nil, err
	}
	ofPG := func(w string) bool {
		return slices.ContainsFunc(pg.Scenarios, func(c Scenario) bool { return c.Name == w || strconv.Itoa(c.ID) == w })
	}
	theirs := slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return !ofPG(w) })
	switch {
	case len(theirs) == 0:
		return []*Suite{base}, nil
	case len(theirs) == len(wanted):
		return []*Suite{pg}, nil
	}
	return []*Suite{base, pg}, nil
}

// named resolves an argument that is a suite or a file; nil when it must be a scenario.
func named(arg string) (*Suite, error) {
	if slices.Contains(Names(), arg) {
		return Builtin(arg)
	}
	file, err := IsFile(arg)
	if !file || err != nil {
		return nil, err // no suite and no error: the argument names a scenario
	}
	if _, err := sys.Stat(arg); err != nil {
		return nil, err
	}
	if sys.IsDir(arg) {
		return nil, fmt.Errorf("%s is a directory; name a suite or a job file, and the directory with --data", arg)
	}
	if ext := filepath.Ext(arg); ext == ".yaml" || ext == ".yml" {
		return Load(arg)
	}
	return FromJobFile(arg)
}

// IsFile says whether an argument means a file rather than something that is built in. What is
// built in comes first, and a word without a slash or an ending means a file of the current
// directory only if the caller or root put it there: nobody named it as a file.
func IsFile(arg string) (bool, error) {
	if slices.Contains(Names(), arg) || builtinScenario(arg) {
		return false, nil
	}
	ext := filepath.Ext(arg)
	if strings.ContainsRune(arg, '/') || ext == ".yaml" || ext == ".yml" || ext == ".fio" {
		return true, nil
	}
	if sys.IsDir(arg) {
		return true, nil
	}
	err := sys.Found(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, sys.ErrOthers):
		return false, fmt.Errorf("the file %s in this directory is not used, because %w; write ./%s if you mean this file",
			arg, err, arg)
	}
	return true, nil // another error is met again where the file is read
}

// builtinScenario says whether a word is the number or the name of a scenario that is built in.
func builtinScenario(word string) bool {
	if strings.Trim(word, "0123456789") == "" {
		return true
	}
	return slices.ContainsFunc(Names(), func(name string) bool {
		s, err := Builtin(name)
		return err == nil && slices.ContainsFunc(s.Scenarios, func(c Scenario) bool { return c.Name == word })
	})
}

// FromJobFile makes a suite that runs a fio job file unchanged: one scenario, or one for each of
// the phases that stonewall makes, since rates of different times do not add up and fio's disk
// statistics cover a whole invocation.
func FromJobFile(name string) (*Suite, error) {
	job, err := JobFile(name)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	s := &Suite{Name: base, Source: name, Cooldown: DefaultCooldown}
	phases := job.Phases()
	if len(phases) > 1 {
		s.Cooldown = 0 // fio begins a phase as soon as the one before has ended
	}
	for n, sections := range phases {
		c := Scenario{ID: n + 1, Name: base, Title: filepath.Base(name), Role: topology.Data, Job: *job, AsIs: true}
		if len(phases) > 1 {
			c.Job = job.Only(sections)
			var names []string
			for _, i := range sections {
				names = append(names, job.Effective(i).Name) // as fio reports them
			}
			c.Name, c.Title = s.free(names[0]), filepath.Base(name)+": "+strings.Join(names, ", ")
		}
		s.Scenarios = append(s.Scenarios, c)
	}
	return s, nil
}

// JobFile reads a fio job file whole, or the jobs of a document (script.JobFile). An environment
// variable in it that is not set is an error.
func JobFile(name string) (*fio.JobFile, error) { return jobFile(name, true) }

// MeasuredJobFile reads the job file of results that are there already: a variable that was set
// when they were measured, such as the name of a log, reads as nothing.
func MeasuredJobFile(name string) (*fio.JobFile, error) { return jobFile(name, false) }

func jobFile(name string, toRun bool) (*fio.JobFile, error) {
	data, err := sys.Text(name)
	if err != nil {
		return nil, err
	}
	var unset string
	var included []string
	job, err := script.JobFile(name, data, fio.ParseOptions{
		Env: func(variable string) (string, bool) {
			value, ok := os.LookupEnv(variable)
			if !ok {
				unset = cmp.Or(unset, variable)
			}
			return value, ok
		},
		Include: func(include string) ([]byte, error) {
			include = beside(name, include)
			included = append(included, include)
			return sys.Included(name, include)
		},
	})
	if unset != "" && toRun { // fio would read it as nothing
		before, _, _ := strings.Cut(string(data), "${"+unset+"}")
		return nil, fmt.Errorf("%s:%d: %s is not set in the environment: set it, as in %s",
			name, strings.Count(before, "\n")+1, unset, text.ShellLine([]string{unset + "=VALUE", "plimsoll", "run", name}))
	}
	if err != nil {
		return nil, err
	}
	if len(job.Jobs()) == 0 {
		return nil, fmt.Errorf("%s has no job section", name)
	}
	job.Files = append(job.Files, included...)
	return job, nil
}

// Sources are the files that the suite was read from, those that its jobs include among them.
func (s *Suite) Sources() []string {
	names := []string{s.Source}
	for _, c := range s.Scenarios {
		names = append(append(names, c.Job.Name), c.Job.Files...)
	}
	return names
}

// free is a name that no scenario has: the given one, or with a number behind it.
func (s *Suite) free(name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(s.Scenarios, func(c Scenario) bool { return c.Name == name })
	}
	for n, base := 2, name; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// beside resolves an include as fio does: relative to the working directory, else beside the job
// file. In a working directory that is not the job file's, nobody named it: it must be the caller's
// or root's.
func beside(job, include string) string {
	if err := sys.Found(include); err == nil || filepath.IsAbs(include) {
		return include
	}
	return filepath.Join(filepath.Dir(job), include)
}

// join puts suites behind each other. A scenario whose number is taken gets the next free one.
func join(parts []*Suite) *Suite {
	if len(parts) == 1 {
		return parts[0]
	}
	all := &Suite{Cooldown: parts[0].Cooldown}
	var names, sources []string
	for _, p := range parts {
		all.Server = cmp.Or(all.Server, p.Server)
		names, sources = append(names, p.Name), append(sources, p.Source)
		for _, s := range p.Scenarios {
			if slices.ContainsFunc(all.Scenarios, func(o Scenario) bool { return o.ID == s.ID }) {
				s.ID = 1 + slices.MaxFunc(all.Scenarios, func(a, b Scenario) int { return a.ID - b.ID }).ID
			}
			all.Scenarios = append(all.Scenarios, s)
		}
	}
	all.Name, all.Source = strings.Join(names, "+"), strings.Join(sources, ", ")
	return all
}

// pick keeps the scenarios that are named, in the suite's order; all when none is.
func (s *Suite) pick(wanted []string) (*Suite, error) {
	if len(wanted) == 0 {
		return s, nil
	}
	keep := map[int]bool{}
	for _, w := range wanted {
		if err := s.take(w, keep); errors.Is(err, errNoName) {
			return nil, fmt.Errorf("no suite, file or %s scenario is named %q%s (suites: %s)",
				s.Name, w, didYouMean(text.Nearest(w, append(Names(), s.names()...))), strings.Join(Names(), ", "))
		} else if err != nil {
			return nil, err
		}
	}
	return s.keep(func(c Scenario) bool { return keep[c.ID] }), nil
}

// errNoName is in the chain of take's error for a word that is neither a number nor a name.
var errNoName = errors.New("no scenario")

// take adds "sync-latency,3-5" to keep. A range takes what exists in it; a single number, and a
// name, must exist.
func (s *Suite) take(list string, keep map[int]bool) error {
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if i := slices.IndexFunc(s.Scenarios, func(c Scenario) bool { return c.Name == part }); i >= 0 {
			keep[s.Scenarios[i].ID] = true
			continue
		}
		if part != "" && strings.Trim(part, "0123456789-") != "" {
			return fmt.Errorf("%s has %w %q%s; it has %s", s.Name, errNoName, part, didYouMean(text.Nearest(part, s.names())),
				strings.Join(s.names(), ", "))
		}
		from, to, ranged := strings.Cut(part, "-")
		a, err1 := strconv.Atoi(from)
		b := a
		var err2 error
		if ranged {
			b, err2 = strconv.Atoi(to)
		}
		if err1 != nil || err2 != nil || b < a {
			return fmt.Errorf("scenarios %q: want names, numbers and ranges, such as sync-latency,4-6", list)
		}
		found := false
		for _, c := range s.Scenarios {
			if c.ID >= a && c.ID <= b {
				keep[c.ID], found = true, true
			}
		}
		if !found {
			return fmt.Errorf("%s has no scenario %s; it has %s", s.Name, part, s.ids())
		}
	}
	return nil
}

// didYouMean suggests the word that was probably meant, "" when none is near.
func didYouMean(near string) string {
	if near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// names are those of the scenarios, in the order of their numbers.
func (s *Suite) names() (names []string) {
	for _, c := range s.sorted() {
		names = append(names, c.Name)
	}
	return names
}

// sorted are the scenarios in the order of their numbers.
func (s *Suite) sorted() []Scenario {
	return slices.SortedFunc(slices.Values(s.Scenarios), func(a, b Scenario) int { return cmp.Compare(a.ID, b.ID) })
}

func (s *Suite) ids() string {
	var ids []string
	for _, c := range s.sorted() {
		ids = append(ids, strconv.Itoa(c.ID))
	}
	return strings.Join(ids, ", ")
}

func (s *Suite) keep(want func(Scenario) bool) *Suite {
	kept := *s
	kept.Scenarios = slices.DeleteFunc(slices.Clone(s.Scenarios), func(c Scenario) bool { return !want(c) })
	return &kept
}

func (s *Suite) narrow(sel Selection) (*Suite, error) {
	if sel.Only != "" {
		keep := map[int]bool{}
		if err := s.take(sel.Only, keep); err != nil {
			return nil, err
		}
		s = s.keep(func(c Scenario) bool { return keep[c.ID] })
	}
	if sel.Phase != "" {
		phases := s.phases()
		if !slices.Contains(phases, sel.Phase) {
			return nil, fmt.Errorf("%s has no phase %q; it has %s", s.Name, sel.Phase, strings.Join(phases, ", "))
		}
		s = s.keep(func(c Scenario) bool { return c.Phase == sel.Phase })
	}
	return s, nil
}

func (s *Suite) phases() (phases []string) {
	for _, c := range s.Scenarios {
		phases = text.Once(phases, c.Phase)
	}
	return phases
}

// Check holds every option against those that the installed fio knows, the values that shape a
// workload against what they may be, and each job, now that all its parts are joined, against what
// a job file can hold.
func (s *Suite) Check(table *fio.OptionTable) error {
	for _, c := range s.Scenarios {
		if c.Kind() != OfServer {
			if err := writable(&c.Job); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		for _, section := range c.Job.Sections {
			for _, o := range section.Options {
				known, nearest := table.Check(o.Name)
				if known {
					continue
				}
				return fmt.Errorf("%s:%d: %s: the installed fio has no option %q%s", c.Job.Name, o.Line, c.Name, o.Name,
					didYouMean(nearest))
			}
		}
		if _, err := c.Workloads(); err != nil {
			return err
		}
	}
	return nil
}
