package fleet

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/permit"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Import is what to make a fleet run of.
type Import struct {
	Dirs []string // bundles, or directories or archives that hold them
	Out  string   // where the fleet run goes
	Tool string
	// ClockError is how far the wall clocks of the hosts may be off, of runs that do not say it, and of all
	// where it is Stated.
	ClockError time.Duration
	Stated     bool
	Shared     Shared
	Disabled   finding.Disabled
	Now        time.Time
}

// Run makes a fleet run of bundles that other means collected and returns its directory, which is
// held: close it. The bundles are copied into it, less their pages.
func (o Import) Run() (*sys.Dir, *bundle.Fleet, error) {
	temp, err := sys.TempDir("import")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // what is left is in the directory for temporary files
	dirs, err := bundlesBelow(o.Dirs, temp)
	if err != nil {
		return nil, nil, err
	}
	all, err := open(dirs)
	if err != nil {
		return nil, nil, err
	}
	f := &bundle.Fleet{
		Schema:   bundle.FleetSchema,
		Tool:     o.Tool,
		Created:  o.Now,
		Finished: o.Now,
		State:    bundle.Finished,
		Via:      "import",
		Order:    together,
	}
	names := make([]string, len(all))
	for i, src := range all {
		names[i] = src.host
	}
	if err := distinct(names); err != nil {
		return nil, nil, err
	}
	base := started(all)
	sources := o.Dirs // archives, and runs
	for _, dir := range dirs {
		if !strings.HasPrefix(dir, temp) {
			sources = append(slices.Clip(sources), filepath.Join(dir, "run.json"))
		}
	}
	dir, err := bundle.CreateFleet(o.Out, "import", o.Now, sources)
	if err != nil {
		return nil, nil, err
	}
	f.ID = filepath.Base(dir.Name())
	for i, src := range all {
		h := hostOf(src)
		h.Dir = hostDir(src.host)
		h.Clock = bundle.FleetClock{Error: o.ClockError, Source: "wall clock of the host, error as stated"}
		if kept := src.bundle.Run.Clock; kept != nil && !o.Stated {
			h.Clock = *kept
		}
		if err := copyBundle(dir.Path(h.Dir), dirs[i]); err != nil {
			return dir, nil, err
		}
		f.Hosts = append(f.Hosts, h)
	}
	fill(f, all, base, o.Shared, o.Disabled)
	return dir, f, bundle.SaveFleet(dir, f)
}

// together, alone and both are the orders in which hosts measure.
const (
	together = "together"
	alone    = "alone"
	both     = "both"
)

// bundlesBelow are the directories themselves where they are bundles, else those directly below
// them that are. Archives are unpacked below temp first.
func bundlesBelow(dirs []string, temp string) ([]string, error) {
	var found []string
	for i, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
			if dir, err = unarchive(dir, filepath.Join(temp, strconv.Itoa(i))); err != nil {
				return nil, err
			}
		}
		if sys.Exists(filepath.Join(dir, "run.json")) {
			found = append(found, dir)
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		n := len(found)
		for _, e := range entries {
			if below := filepath.Join(dir, e.Name()); sys.Exists(filepath.Join(below, "run.json")) {
				found = append(found, below)
			}
		}
		if len(found) == n {
			return nil, fmt.Errorf("%s: %w; nor does a directory in it", dir, bundle.ErrNotBundle)
		}
	}
	return found, nil
}

// open reads the bundles of hosts. A host that is named twice is distinguished by the directory of its
// bundle.
func open(dirs []string) ([]source, error) {
	var all []source
	for _, dir := range dirs {
		b, err := bundle.Open(dir)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(s source) bool { return s.bundle.Same(b) }); i >= 0 {
			return nil, fmt.Errorf("%s and %s are one run (%s): name it once", all[i].bundle.Dir, dir, text.Quote(b.Run.ID))
		}
		name := text.Clean(b.Run.Topology.Host.Name, 64)
		taken := func() bool { return slices.ContainsFunc(all, func(s source) bool { return s.host == name }) }
		if name == "" || taken() {
			name = strings.Trim(name+" "+filepath.Base(dir), " ")
		}
		for n := 2; taken(); n++ {
			name = fmt.Sprintf("%s %d", name, n)
		}
		all = append(all, source{host: name, bundle: b})
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("a fleet has two or more hosts, and %s is one: name the bundle of another host too",
			text.List(dirs))
	}
	return all, nil
}

// started is the beginning of the first scenario of all.
func started(all []source) (first time.Time) {
	for _, src := range all {
		for _, s := range src.bundle.Scenarios {
			if s.Result != nil && (first.IsZero() || s.Result.Start.Before(first)) {
				first = s.Result.Start
			}
		}
	}
	return first
}

// mostReasons is how many reasons of its verdict a host keeps.
const mostReasons = 3

// hostOf is what a bundle tells of its host.
func hostOf(src source) bundle.FleetHost {
	run := &src.bundle.Run
	h := bundle.FleetHost{
		Name:     src.host,
		State:    bundle.HostDone,
		Plimsoll: run.Tool,
		Fio:      run.Fio,
		Verdict:  run.Verdict,
		Facts:    factsOf(&run.Topology, run.Tool, run.Fio),
	}
	for _, r := range run.Reasons[:min(len(run.Reasons), mostReasons)] {
		h.Reasons = append(h.Reasons, text.Clean(r, 600))
	}
	if run.State != bundle.Finished {
		h.State, h.Why = bundle.HostLost, "its run was "+string(run.State)
	}
	return h
}

// distinct refuses hosts whose runs would be kept in one directory, where the second would take the
// place of the first: names that differ only in signs that a file's name cannot have, behind the
// 100th character, or in case, which some filesystems do not tell apart.
func distinct(hosts []string) error {
	taken := map[string]string{}
	for _, h := range hosts {
		dir := strings.ToLower(fileName(h))
		if other, is := taken[dir]; is {
			return fmt.Errorf(
				"hosts %s and %s would share the directory %s: name one of them differently, such as by its address",
				text.Quote(other), text.Quote(h), hostDir(h),
			)
		}
		taken[dir] = h
	}
	return nil
}

// fileName makes a name of one that comes from outside.
func fileName(host string) string {
	name := permit.PlainName(host)
	if name = strings.TrimLeft(name, ".-"); name == "" {
		return "host"
	}
	return name[:min(len(name), 100)]
}

// copyBundle copies the regular files of a bundle to a directory that is not there yet.
func copyBundle(to, from string) error {
	root, err := sys.MakeRoot(to, 0o755)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return files(from, func(name string, f *os.File, info fs.FileInfo) error {
		return place(root, name, info.Size(), f)
	})
}
