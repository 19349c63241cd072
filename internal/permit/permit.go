// Package permit decides what fio may write to, and gives it a way to nothing else. Before anything
// is written it looks at every file and device that a job names, and refuses what the user did not
// allow. What is left is reached through handles only: plimsoll's folder is opened once and belongs
// to the caller alone, files that are there are held open, and fio gets names below /proc/self/fd
// that lead to these handles. Whoever can write to the directory that is measured can rename and
// link in it as they like: fio's names do not pass through it (docs/safety.md).
package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// folderName is the name of the folder that holds everything plimsoll makes in a directory.
const folderName = ".plimsoll"

// Consent is what the user allowed beyond reading and plimsoll's own files.
type Consent struct {
	// Destroy maps the path of a raw device to the serial that the user named, or that of a file to
	// nothing.
	Destroy map[string]string
	// Exec lets a job file's exec_prerun and exec_postrun run.
	Exec bool
	// Hosts is how many hosts make as large files on the same storage; 0 for one.
	Hosts int
}

// Place is a path to measure on: a directory with plimsoll's folder in it, or a raw device.
type Place struct {
	Role     topology.Role
	Path     string        // as the user gave it, absolute
	Device   *block.Device // nil for a directory
	FSType   string        // of a directory, such as ext4
	Files                  // what is prefilled
	ReadOnly bool          // no scenario writes
	// Patience is how long a device's lock is waited for; 0 for 10 s. Waits is given the reason
	// after each try that failed; it may be nil.
	Patience time.Duration
	Waits    func(error)

	tree     *block.Tree
	consent  Consent
	dir      *sys.Dir               // of a directory
	folder   *sys.Dir               // plimsoll's own in it, while it is locked
	database bool                   // a database is put there
	made     map[string]units.Bytes // what jobs make, by the name that they use, and how large
}

// Open looks at a role's path and holds it open until Close. Nothing is written.
func Open(topo *topology.Topology, t topology.Target, scenarios []suite.Scenario, consent Consent) (*Place, error) {
	info, err := checkPath(t.Path)
	if err != nil {
		return nil, err
	}
	p := &Place{Role: t.Role, Path: t.Path, tree: topo.Tree, consent: consent, made: map[string]units.Bytes{}}
	if t.Mount != nil {
		p.FSType = t.Mount.FS
	}
	p.needs(scenarios)
	if info.IsDir() {
		if p.dir, err = openOwn(t.Path); err != nil {
			return nil, WriteError(t.Path, err)
		}
		return p, nil
	}
	if p.Device = topo.RawDevice(&t); p.Device == nil {
		return nil, fmt.Errorf("%s: /sys/block does not list this device; name a disk, an array or a directory",
			t.Path)
	}
	return p, p.checkDevice()
}

// openOwn opens a directory that no link of another user's leads to, and in which no folder of plimsoll's name is
// another's.
func openOwn(path string) (*sys.Dir, error) {
	dir, err := sys.OpenPath(path)
	if err != nil {
		return nil, err
	}
	if err := checkFolder(dir); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// Sketch is a place as far as a plan knows it, for showing jobs: it cannot be measured on.
func Sketch(topo *topology.Topology, role topology.Role) *Place {
	t := topo.For(role)
	if t == nil {
		return &Place{Role: role}
	}
	return &Place{Role: role, Path: t.Path, Device: topo.RawDevice(t), tree: topo.Tree}
}

// Close lets go of the place.
func (p *Place) Close() {
	if p.dir != nil {
		_ = p.dir.Close()
	}
}

// needs works out how large the place's files must be: as the largest of the scenarios that use
// them.
func (p *Place) needs(scenarios []suite.Scenario) {
	p.ReadOnly = true
	for _, s := range scenarios {
		if s.Role != p.Role || s.AsIs {
			continue
		}
		p.add(s)
		loads, err := s.WorkloadsOn(p.FileFor(s))
		if err != nil || suite.Writes(loads) {
			p.ReadOnly = false
		}
	}
}

// File is the file that the suite's scenarios of this place share, or the device.
func (p *Place) File() string {
	if p.Device != nil {
		return p.Path
	}
	return p.in(p.fileName())
}

// Fresh is the shared file of never-written extents that MakeFresh makes.
func (p *Place) Fresh() string { return p.in(p.freshName()) }

// FileFor is what a scenario's job is placed on: the role's file, or the directory of its jobs'
// own files, or that for job files from elsewhere.
func (p *Place) FileFor(s suite.Scenario) string {
	switch {
	case s.AsIs:
		return p.jobDir()
	case s.Files == suite.FilePerJob:
		return p.JobFiles()
	}
	return p.File()
}

// Sketched is a scenario and what its job is placed on in a directory, or on a device, to be typed by hand. Nobody
// looks again before that is done: writing to a device is refused, as are what Check refuses, and a directory in which
// the commands would meet what another user put there. None need be there. The path is absolute.
func Sketched(tree *block.Tree, path string, s suite.Scenario) (suite.Scenario, string, error) {
	p := &Place{Role: s.Role, Path: path, tree: tree, made: map[string]units.Bytes{}}
	info, err := os.Stat(path)
	switch {
	case err == nil && isBlock(info):
		loads, err := s.Workloads()
		if err == nil && slices.ContainsFunc(loads, fio.Workload.Writes) {
			err = fmt.Errorf("%s is a device, and scenario %d writes: its commands would destroy what is on it; name a "+
				"directory, or let plimsoll run look at the device (--destroy)", text.Quote(path), s.ID)
		}
		if err != nil {
			return s, "", err
		}
		s, p.Device = s.On(path), tree.OfNode(info)
	case err == nil && info.IsDir():
		if p.dir, err = openOwn(path); err != nil {
			return s, "", err
		}
		defer p.Close()
	}
	if err := p.Check(s); err != nil {
		return s, "", fmt.Errorf("plimsoll run refuses this job, so its commands are not shown: %w", err)
	}
	return s, p.FileFor(s), nil
}

func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && isBlock(info)
}

func (p *Place) jobDir() string     { return p.in(p.jobDirName()) }
func (p *Place) fileName() string   { return string(p.Role) + ".dat" }
func (p *Place) markerName() string { return p.fileName() + ".prefilled" }
func (p *Place) freshName() string  { return string(p.Role) + "-fresh.dat" }
func (p *Place) jobDirName() string { return string(p.Role) + "-job" }

// names are what runs of this role make in the folder.
func (p *Place) names() []string {
	return append(databaseNames(), p.fileName(), p.jobFilesName(), p.markerName(), p.freshName(), p.freshJobFilesName(),
		p.jobDirName())
}

// Made are the files that jobs want to make under names of their own. They are made below
// plimsoll's folder instead.
func (p *Place) Made() []string {
	var names []string
	for name := range p.made {
		if !p.inJobDir(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// writes tells whether anything is made in the place's directory. Jobs that only read what is there
// need not be allowed to.
func (p *Place) writes() bool {
	return p.Device == nil && (p.Total() > 0 || len(p.made) > 0 || p.database)
}

// CheckWritable refuses a directory in which files are to be made and cannot be.
func (p *Place) CheckWritable() error {
	if !p.writes() {
		return nil
	}
	if err := unix.Access(p.dir.Path(), unix.W_OK); err != nil {
		return WriteError(p.Path, err)
	}
	return nil
}

// Same tells whether two places are one directory or device, also by two names, as where a device
// is mounted twice.
func (p *Place) Same(o *Place) bool {
	a, err1 := os.Stat(p.Path)
	b, err2 := os.Stat(o.Path)
	if p.dir != nil && o.dir != nil {
		a, err1 = p.dir.Info()
		b, err2 = o.dir.Info()
	}
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// WriteError says in plain words why a path cannot be written to.
func WriteError(path string, err error) error {
	switch {
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%s is on a read-only filesystem: remount it read-write or name another path", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not writable: run as its owner or name another path", path)
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%s is full: free some space or name another path", path)
	case errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("%s: the quota there is used up: free some space or name another path", path)
	}
	return err
}
