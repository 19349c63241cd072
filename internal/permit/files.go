package permit

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// Files are what the scenarios of a place work on and what is written whole before anything is
// measured: a file that jobs share, and one for each job of scenarios that ask for it.
type Files struct {
	Size    units.Bytes `json:"size"`               // of the shared file: the largest of the scenarios'; 0 for none
	Jobs    int         `json:"jobs,omitempty"`     // files for a job each: as many as the scenario with most jobs has
	JobSize units.Bytes `json:"job_size,omitempty"` // of each of those
}

// Total is what all files take together.
func (f Files) Total() units.Bytes { return f.Size + units.Bytes(f.Jobs)*f.JobSize }

// holds tells whether files are as many and as large as wanted, or more.
func (f Files) holds(want Files) bool {
	return f.Size >= want.Size && f.Jobs >= want.Jobs && (want.Jobs == 0 || f.JobSize >= want.JobSize)
}

// add makes room for a scenario.
func (f *Files) add(s suite.Scenario) {
	jobs := s.Places()
	switch s.Files {
	case suite.FilePerJob:
		f.Jobs, f.JobSize = max(f.Jobs, jobs), max(f.JobSize, s.Size)
	case suite.RegionPerJob:
		f.Size = max(f.Size, units.Bytes(jobs)*s.Size)
	default:
		f.Size = max(f.Size, s.Size)
	}
}

// FilesOf are the files that scenarios of one role need.
func FilesOf(scenarios ...suite.Scenario) Files {
	var f Files
	for _, s := range scenarios {
		if !s.AsIs {
			f.add(s)
		}
	}
	return f
}

// jobFile is the name of a job's own file in its directory, which is suite.JobFileFormat in fio.
func jobFile(n int) string { return "job." + strconv.Itoa(n) }

// JobFiles is the directory of the jobs' own files.
func (p *Place) JobFiles() string { return p.in(p.jobFilesName()) }

func (p *Place) jobFilesName() string      { return string(p.Role) + "-files" }
func (p *Place) freshJobFilesName() string { return string(p.Role) + "-fresh-files" }

// inJobFiles tells whether a path is one of the jobs' own files, written or fresh.
func (p *Place) inJobFiles(path string) bool {
	_, ok := p.jobFilesOf(path)
	return ok
}

// jobFilesOf is the name, in plimsoll's folder, of the directory of jobs' own files that a path is
// in.
func (p *Place) jobFilesOf(path string) (string, bool) {
	for _, name := range []string{p.jobFilesName(), p.freshJobFilesName()} {
		if _, ok := p.from(name, path); ok {
			return name, true
		}
	}
	return "", false
}

// Prefill is one fio job that writes files whole, and what it writes.
type Prefill struct {
	Shown string // the file, or the directory of several, by the name that the user knows
	Files int    // how many there are in the directory; 0 for one file
	Size  units.Bytes
	Job   fio.JobFile

	given string // what fio gets in the place of Shown
}

// Plain puts the name that the user knows back into what fio said.
func (p *Prefill) Plain(said string) string { return strings.ReplaceAll(said, p.given, p.Shown) }

// Prefills are the jobs that write a locked place's files whole, by names that lead to nothing
// else.
func (p *Place) Prefills() ([]Prefill, error) {
	if p.Device != nil {
		return prefills(p.Files, p.Path, p.Path, "", ""), nil
	}
	if p.Jobs > 0 {
		if err := p.folder.MkdirAll(p.jobFilesName(), 0o700); err != nil {
			return nil, err
		}
	}
	return prefills(p.Files, p.File(), p.folder.Path(p.fileName()), p.JobFiles(), p.folder.Path(p.jobFilesName())), nil
}

// PrefillsByHand are the jobs that write the files of a role's scenarios in a directory that the
// user names, and the directories to make before. None are for a device, on which they would write
// over whatever is there.
func PrefillsByHand(dir string, scenarios ...suite.Scenario) (list []Prefill, mkdir []string) {
	f := FilesOf(scenarios...)
	if f.Total() == 0 || isDevice(dir) {
		return nil, nil
	}
	p := &Place{Role: scenarios[0].Role, Path: dir, Files: f}
	if f.Size > 0 {
		mkdir = append(mkdir, filepath.Dir(p.File()))
	}
	if f.Jobs > 0 {
		mkdir = append(mkdir, p.JobFiles())
	}
	return prefills(f, p.File(), p.File(), p.JobFiles(), p.JobFiles()), mkdir
}

// prefills are the jobs: a shared file by its names, and jobs' files by those of their directory.
func prefills(f Files, shown, name, shownDir, dir string) []Prefill {
	var list []Prefill
	if f.Size > 0 {
		list = append(list, Prefill{Shown: shown, given: name, Size: f.Size, Job: prefillJob(f.Size, []fio.Option{
			{Name: "filename", Value: strings.ReplaceAll(name, ":", `\:`)},
		})})
	}
	if f.Jobs > 0 {
		size := units.Bytes(f.Jobs) * f.JobSize
		list = append(list, Prefill{
			Shown: shownDir, given: dir, Files: f.Jobs, Size: size, Job: prefillJob(size, []fio.Option{
				{Name: "directory", Value: strings.ReplaceAll(dir, ":", `\:`)},
				{Name: "filename_format", Value: "job.$filenum"},
				{Name: "nrfiles", Value: strconv.Itoa(f.Jobs)},
				{Name: "openfiles", Value: "1"}, // one after the other, so that each lies in one piece
				{Name: "file_service_type", Value: "sequential"},
			}),
		})
	}
	return list
}

// prefillJob writes random data: reads of unwritten extents never reach the disk, and a synced
// write into them pays for the extent conversion.
func prefillJob(size units.Bytes, where []fio.Option) fio.JobFile {
	return fio.JobFile{Sections: []fio.Section{{Name: "prefill", Options: slices.Concat(where, []fio.Option{
		{Name: "size", Value: size.Suffixed()},
		{Name: "rw", Value: "write"},
		{Name: "bs", Value: "1m"},
		{Name: "ioengine", Value: "libaio"},
		{Name: "iodepth", Value: "16"},
		{Name: "direct", Value: "1"},
		{Name: "refill_buffers", Bare: true},
		{Name: "end_fsync", Value: "1"},
	})}}}
}

// there tells whether all files are in the folder and the caller's own, and none is smaller than
// wanted.
func (f Files) there(p *Place, folder *sys.Dir) bool {
	large := func(name string, size units.Bytes) bool {
		info, err := folder.Lstat(name)
		return err == nil && ownFile(folder, name) && units.Bytes(info.Size()) >= size
	}
	if f.Size > 0 && !large(p.fileName(), f.Size) {
		return false
	}
	for i := range f.Jobs {
		if !large(filepath.Join(p.jobFilesName(), jobFile(i)), f.JobSize) {
			return false
		}
	}
	return true
}

// CheckPrefilled confirms that prefilling has made the role's files as they should be.
func (p *Place) CheckPrefilled() error {
	if p.Device == nil && !p.there(p, p.folder) {
		return fmt.Errorf("%s does not hold the files of %s that prefilling should have written", filepath.Dir(p.File()),
			p.Total())
	}
	return nil
}

// MakeFresh makes files of allocated, never-written extents for a scenario, in place of those that
// are there, and returns what its job is placed on.
func (p *Place) MakeFresh(s suite.Scenario) (string, error) {
	if s.Files != suite.FilePerJob {
		return p.Fresh(), p.makeFresh(p.freshName(), s.Size)
	}
	dir := p.freshJobFilesName()
	if err := p.folder.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := p.folder.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for i := range s.Places() {
		if err := p.makeFresh(filepath.Join(dir, jobFile(i)), s.Size); err != nil {
			return "", err
		}
	}
	return p.in(dir), nil
}

func (p *Place) makeFresh(name string, size units.Bytes) error {
	if err := p.folder.RemoveAll(name); err != nil {
		return err
	}
	f, err := p.folder.Create(name, 0o600)
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, int64(size))
	return errors.Join(err, f.Sync(), f.Close())
}
