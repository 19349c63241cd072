package bench

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/host"
	"plimsoll/internal/permit"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Request is a run as it was asked for. Zero values keep the suite's own.
type Request struct {
	Scenarios               []string // suites, scenarios, job files; the default suite when empty
	Selection               suite.Selection
	Data, WAL               string
	Runtime, Ramp, Cooldown time.Duration
	Size                    units.Bytes
	FreshExtents, KeepFiles bool
	AllowExec               bool
	Destroy, Serials        []string // files and devices that may be overwritten, and the serials of the devices
	Labels                  map[string]string
	Rounds                  *bundle.RoundPlan // nil for once
	Stop                    float64           // end a scenario when it is known to this share; 0 for never
	Sustained               bool              // but not before its burst is over
	FirstTouch              string            // SkipFirstTouch: do not test whether volumes are loaded
	Probe                   time.Duration     // read the members of arrays first, for this long; 0 for not
	Out, Tool               string
	Server                  *suite.Server // what the flags say of a database server; nil for nothing
	Clients                 []int         // of its scenarios, in place of the suite's
	Database                *Database
	// Given tells which flags, named as on the command line, were given at all.
	Given func(flag string) bool
}

// InputError is a mistake in what was asked for. Nothing was started.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

func input(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Plan turns a request into a plan: scenarios with their sizes and times, the paths of the roles,
// the installed fio, the storage below the paths. Errors that concern the request are InputErrors.
func (r Request) Plan(ctx context.Context, m *sys.Machine, decl *topology.Declaration) (p Plan, err error) {
	if err := r.check(); err != nil {
		return p, err
	}
	s, err := suite.Select(r.Scenarios, r.Selection)
	if err != nil {
		return p, &InputError{err}
	}
	if err := r.unread(s); err != nil {
		return p, err
	}
	r.adjust(s)
	if err := r.Follow(s); err != nil {
		return p, err
	}
	if err := r.fits(s); err != nil {
		return p, err
	}
	p, err = r.plan(ctx, m, decl, s, bundle.Settings{
		Data:         r.Data,
		WAL:          r.WAL,
		Runtime:      r.Runtime,
		Ramp:         r.Ramp,
		Size:         r.sizeText(),
		Cooldown:     s.Cooldown,
		FreshExtents: r.FreshExtents,
		KeepFiles:    r.KeepFiles,
		Stop:         r.Stop,
		Sustained:    r.Sustained,
		Probe:        r.Probe,
		SkipTouch:    r.FirstTouch == SkipFirstTouch,
	})
	p.Lint = lintJobs(m, r.Scenarios)
	return p, err
}

// PlanResume is the plan to resume the run in dir: suite, paths and settings come from the run, so
// that the same thing is measured.
func (r Request) PlanResume(
	ctx context.Context,
	m *sys.Machine,
	decl *topology.Declaration,
	dir string,
) (p Plan, err error) {
	if len(r.Scenarios) > 0 {
		return p, input("--resume takes the scenarios from the run; drop %s", strings.Join(r.Scenarios, " "))
	}
	b, err := bundle.Open(dir)
	if err != nil {
		return p, err
	}
	run := &b.Run
	if len(run.Imported) > 0 {
		return p, input("%s was imported; there is nothing to resume", dir)
	}
	if err := run.Resumable(); err != nil {
		return p, input("%s: %w; it cannot be resumed: start a new run", filepath.Join(dir, "run.json"), err)
	}
	set := run.Settings
	if flags := r.conflicts(run); len(flags) > 0 {
		return p, input("%s: %s is resumed with its original settings; drop these flags or start a new run",
			strings.Join(flags, ", "), dir)
	}
	claimed := r.pathsOf(&run.Topology)
	if r.Server != nil { // which programs, and as whom, is typed
		server := *cmp.Or(run.Suite.Server, &suite.Server{})
		server.Bin, server.User = r.Server.Bin, r.Server.User
		run.Suite.Server = &server
	}
	if r.Given("keep-files") {
		set.KeepFiles = r.KeepFiles
	}
	r.Rounds = run.Rounds
	p, err = r.plan(ctx, m, decl, &run.Suite, set)
	if err != nil {
		return p, err
	}
	record, err := sys.Stat(dir)
	if err != nil {
		return p, err
	}
	p.Claimed, p.Mark = claimed, permit.Mark(run.ID, record)
	return p, nil
}

// pathsOf takes the paths of a recorded run, as absolute ones, since this may be another working
// directory. It returns the roles whose path was not typed.
func (r *Request) pathsOf(recorded *topology.Topology) (claimed []topology.Role) {
	var typed []string
	for _, path := range []string{r.Data, r.WAL} {
		if abs, err := filepath.Abs(path); path != "" && err == nil {
			typed = append(typed, abs)
		}
	}
	for role, path := range map[topology.Role]*string{topology.Data: &r.Data, topology.WAL: &r.WAL} {
		t := recorded.For(role)
		if t == nil {
			continue
		}
		*path = t.Path
		if !slices.Contains(typed, filepath.Clean(t.Path)) {
			claimed = append(claimed, role)
		}
	}
	return claimed
}

func (r Request) plan(
	ctx context.Context,
	m *sys.Machine,
	decl *topology.Declaration,
	s *suite.Suite,
	set bundle.Settings,
) (Plan, error) {
	p := Plan{
		Database: r.Database,
		Suite:    *s,
		Settings: set,
		Out:      r.Out,
		Tool:     r.Tool,
		Labels:   r.Labels,
		Rounds:   r.Rounds,
		Consent:  permit.Consent{Exec: r.AllowExec},
	}
	var err error
	if p.Consent.Destroy, err = r.destroy(); err != nil {
		return p, err
	}
	paths, err := r.Paths()
	if err != nil {
		return p, err
	}
	if err := permit.CheckPaths(paths); err != nil {
		return p, &InputError{err}
	}
	if p.Fio, err = running.Installed(ctx, m); err != nil {
		return p, err
	}
	if err := s.Check(fio.OptionsOf(p.Fio)); err != nil {
		return p, &InputError{err}
	}
	topo, err := topology.Detect(ctx, m, paths, decl)
	if err != nil {
		return p, err
	}
	p.Topology, p.Host = *topo, host.Read(ctx, m)
	p.Host.Fio = p.Fio.String()
	return p, nil
}

// Facts reads the machine's settings, and which fio it has.
func Facts(ctx context.Context, m *sys.Machine) *host.Facts {
	f := host.Read(ctx, m)
	if v, err := running.Installed(ctx, m); err == nil {
		f.Fio = v.String()
	} else {
		f.Notes = append(f.Notes, "fio: "+err.Error())
	}
	return f
}

// check refuses values that no run can have. An empty path is refused since it is most often a
// variable that is not set, and would otherwise mean the current directory.
func (r Request) check() error {
	for flag, path := range map[string]string{"data": r.Data, "wal": r.WAL} {
		if r.Given(flag) && path == "" {
			return input("--%s is empty; name a directory, such as --%s /%s", flag, flag, flag)
		}
	}
	switch {
	case r.Given("runtime") && r.Runtime <= 0:
		return input("--runtime %s: use more than 0, such as 30s", r.Runtime)
	case r.Ramp < 0:
		return input("--ramp %s: use 0 or more, such as 5s", r.Ramp)
	case r.Cooldown < 0:
		return input("--cooldown %s: use 0 or more, such as 5s", r.Cooldown)
	case r.Given("size") && r.Size == 0:
		return input("--size 0: use more than 0, such as 1GiB")
	case r.Size > suite.MostSize:
		return input("--size %s: no file is that large; use a size such as 1GiB", r.Size.Arg())
	}
	return nil
}

// adjust applies the request to the suite's scenarios. In job files from elsewhere, and in scenarios
// of several jobs, options take the place of those that the jobs have.
func (r Request) adjust(s *suite.Suite) {
	if r.Given("cooldown") {
		s.Cooldown = r.Cooldown
	}
	if r.Server != nil && s.NeedsServer() {
		s.Server = merged(s.Server, r.Server)
	}
	for i := range s.Scenarios {
		c := &s.Scenarios[i]
		if r.Given("size") && !c.AsIs && c.Kind() == suite.OfFio {
			c.Size = r.Size
		}
		if c.Demand != nil && r.Given("runtime") {
			c.Runtime = r.Runtime // whole periods of its bursts
		}
		if c.Kind() == suite.OfServer {
			r.adjustDatabase(c)
		}
		if f := formOf(c); f == ofJobFile || f == ofJobs {
			r.change(c)
		}
		if c.AsIs || len(c.Job.Sections) > 1 {
			continue
		}
		switch {
		case r.Given("runtime"):
			c.Runtime = r.Runtime
		case r.Stop > 0: // then it is the most
			c.Runtime = max(c.Runtime, MostRuntime)
		}
		if r.Given("ramp") {
			c.Ramp = r.Ramp
		}
	}
}

// fits refuses a size that does not hold one block of each scenario: fio would fail in the middle
// of the run.
func (r Request) fits(s *suite.Suite) error {
	if r.Size == 0 {
		return nil
	}
	for _, c := range s.Scenarios {
		loads, err := c.Workloads()
		if err != nil {
			return &InputError{err}
		}
		for _, w := range loads {
			if block := max(w.ReadBS, w.WriteBS); r.Size < block {
				return input("--size %s: %s does I/Os of %v and needs a file of at least that size", r.Size.Arg(), c.Name, block)
			}
		}
	}
	return nil
}

// Follow takes the path of a job file that names one itself, and puts jobs that name none on the
// device that the data path names.
func (r *Request) Follow(s *suite.Suite) error {
	var err error
	if r.Data == "" && r.WAL == "" {
		if r.Data, err = permit.PathOf(s); err != nil {
			return &InputError{err}
		}
		if r.Data == "" {
			return nil
		}
	}
	for _, path := range []*string{&r.Data, &r.WAL} {
		if *path, err = permit.Device(*path); err != nil {
			return &InputError{err}
		}
	}
	paths, err := r.Paths()
	if err != nil {
		return err
	}
	for i, c := range s.Scenarios {
		if at := paths[c.Role]; sys.Exists(at) && !sys.IsDir(at) {
			s.Scenarios[i] = c.On(paths[c.Role])
		}
	}
	return nil
}

func (r Request) sizeText() string {
	if r.Size == 0 {
		return ""
	}
	return r.Size.Arg()
}

// Paths gives each role its absolute path: one path serves both roles, and none is the current
// directory.
func (r Request) Paths() (map[topology.Role]string, error) {
	paths := map[topology.Role]string{topology.Data: cmp.Or(r.Data, r.WAL, "."), topology.WAL: cmp.Or(r.WAL, r.Data, ".")}
	for role, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		paths[role] = abs
	}
	return paths, nil
}

// destroy pairs the devices that may be overwritten with the serials; files have none.
func (r Request) destroy() (map[string]string, error) {
	lose, serials := map[string]string{}, r.Serials
	for _, name := range r.Destroy {
		if sys.IsFile(name) {
			lose[name] = ""
			continue
		}
		if len(serials) == 0 {
			return nil, input("--destroy %s needs its --serial S (see: plimsoll inspect %s)", name, text.ShellQuote(name))
		}
		lose[name], serials = serials[0], serials[1:]
	}
	if len(serials) > 0 {
		return nil, input("--serial %s has no device; name it with --destroy", serials[0])
	}
	return lose, nil
}

// conflicts are the flags given that differ from what the run was started with.
func (r Request) conflicts(run *bundle.Run) []string {
	set := run.Settings
	path := func(role topology.Role, given string) bool {
		abs, err := filepath.Abs(given)
		t := run.Topology.For(role)
		return err == nil && t != nil && t.Path == abs
	}
	same := map[string]bool{
		"data": path(topology.Data, r.Data), "wal": path(topology.WAL, r.WAL),
		"runtime": r.Runtime == set.Runtime, "ramp": r.Ramp == set.Ramp, "cooldown": r.Cooldown == run.Suite.Cooldown,
		"size": r.sizeText() == set.Size, "fresh-extents": r.FreshExtents == set.FreshExtents,
	}
	var flags []string
	const shaping = "data wal only phase runtime ramp cooldown size fresh-extents label out topology volumes level " +
		"chunk instance pg-scale pg-memory pg-clients pg-set quick rounds until budget seed order stop sustained " +
		"probe probe-time"
	for flag := range strings.FieldsSeq(shaping) {
		if r.Given(flag) && !same[flag] {
			flags = append(flags, "--"+flag)
		}
	}
	return flags
}
