package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Check refuses a scenario whose job does what it may not do unasked: run shell commands, write to
// devices, change files
// that are not plimsoll's. It notes what the job will make.
func (p *Place) Check(s suite.Scenario) error {
	held, err := p.look(s, p.FileFor(s), true)
	held.close()
	return err
}

// look decides over everything that a scenario's job opens, and holds open what is there. With
// note, files that are not there are noted as made by this run; without, they must be noted
// already.
func (p *Place) look(s suite.Scenario, file string, note bool) (pins, error) {
	held := pins{}
	if err := p.checkOwnDirs(); err != nil {
		return held, err
	}
	job := s.Place(file)
	if err := job.Writable(); err != nil {
		return held, fmt.Errorf("%s: %w", s.Name, err)
	}
	noted, together, jobs, files := units.Bytes(0), units.Bytes(0), 0, 0
	for _, i := range job.Jobs() {
		section := job.Effective(i)
		if err := p.consent.checkOptions(job.Name, section); err != nil {
			return held, err
		}
		w, err := fio.WorkloadOf(section.Name, section)
		if err == nil && (s.AsIs || fio.Diskless(w.Engine)) { // the sizes of others are plimsoll's
			noted += notes(section, w)
		}
		named, err := p.lookAt(section, held, note)
		if err != nil {
			return held, fmt.Errorf("%s: [%s]: %w", job.Name, section.Name, err)
		}
		if files += named; files > mostFiles {
			return held, fmt.Errorf("%s: [%s]: the sections name more than %s files: lower nrfiles= or numjobs=", job.Name,
				section.Name, text.Count(mostFiles))
		}
		if w.Stonewall { // those before have ended, and let go of theirs
			together, jobs = 0, 0
		}
		if jobs += max(w.Jobs, 1); jobs > mostJobs {
			return held, fmt.Errorf("%s: [%s]: fio would run more than %s jobs together: lower numjobs=, or separate the "+
				"sections by stonewall", job.Name, section.Name, text.Count(mostJobs))
		}
		if together += buffers(section, w); together > mostBuffers {
			return held, fmt.Errorf("%s: [%s]: fio would take more than %s for the buffers of the I/Os that run together: "+
				"lower bs=, iodepth= or numjobs=, or separate the sections by stonewall", job.Name, section.Name, mostBuffers)
		}
	}
	if noted > mostBuffers {
		return held, fmt.Errorf("%s: fio would need %s of memory to track its blocks: add norandommap=1, and "+
			"dedupe_mode=repeat where that is set", job.Name, noted)
	}
	return held, nil
}

// checkOwnDirs refuses links in plimsoll's folder where its own directories belong: fio would make
// files where they lead to.
func (p *Place) checkOwnDirs() error {
	if p.Device != nil {
		return nil
	}
	for _, name := range []string{p.jobFilesName(), p.freshJobFilesName(), p.jobDirName()} {
		path := p.in(name)
		if to, err := os.Readlink(path); err == nil {
			return fmt.Errorf("%s is a symbolic link to %s, which plimsoll did not make: remove the link", path, text.Quote(to))
		}
	}
	return nil
}

// lookAt does so for a section, and says how many files it names.
func (p *Place) lookAt(section fio.Section, held pins, note bool) (int, error) {
	accesses, err := accessesOf(section)
	if err != nil {
		return 0, err
	}
	var there []string // that are only read
	for _, a := range accesses {
		pinned, err := p.checkAccess(a, note)
		if err != nil {
			return 0, err
		}
		if pinned == nil {
			continue
		}
		held.add(a.path, pinned)
		if !a.writes && pinned.info.Mode().IsRegular() {
			there = append(there, a.path)
		}
	}
	if len(there) > 0 && len(there) < len(accesses) {
		return 0, fmt.Errorf("%s exists, but other files of the job do not: make them first, or give them a "+
			"section of their own", there[0])
	}
	return len(accesses), nil
}

// checkAccess decides whether a job may have a file or device. It returns what is there, held open,
// and nil for what will
// be made, and for plimsoll's own.
func (p *Place) checkAccess(a access, note bool) (*pin, error) {
	rel, _ := p.fromJobDir(a.path)
	if first, _, _ := strings.Cut(filepath.Clean(rel), "/"); strings.EqualFold(first, absolute) { // of any filesystem
		return nil, fmt.Errorf("%s: plimsoll keeps files there that jobs name by absolute paths: use a name outside %s/…",
			a.path, absolute)
	}
	if p.own(a.path) {
		if !a.idle {
			p.uses(a.path, a.need)
		}
		return nil, nil
	}
	if slices.Contains(strings.Split(a.path, "/"), "..") {
		return nil, fmt.Errorf("%s: name it without the dots", a.path)
	}
	for _, part := range reserved {
		if strings.Contains(a.path, part) {
			return nil, fmt.Errorf("%s: fio would read %q as something other than a name: use another name, or "+
				"a link to it", a.path, part)
		}
	}
	if a.idle {
		return nil, nil
	}
	if fio.KindOf(a.engine) != fio.EngineData {
		return nil, fmt.Errorf("%s: plimsoll cannot tell what ioengine=%s does to it: use an engine such as libaio or psync",
			a.path, a.engine)
	}
	there, err := openPin(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p.checkNew(a, note)
	}
	if err != nil {
		return nil, err
	}
	if err := p.checkThere(a, there); err != nil {
		return nil, errors.Join(err, there.close())
	}
	return there, nil
}

// checkThere decides over a file or device that is there and that plimsoll did not make.
func (p *Place) checkThere(a access, there *pin) error {
	switch {
	case isBlock(there.info):
		return p.checkRaw(a, there)
	case !there.info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a regular file nor a block device", a.path)
	case !p.sameFilesystem(there.info):
		return p.elsewhere(a)
	case !a.writes:
		if size := units.Bytes(there.info.Size()); a.need > size {
			return fmt.Errorf("%s holds %s and the job reads up to %s, so fio would rewrite it: choose a smaller size=",
				a.path, size, a.need)
		}
		return nil
	}
	for _, swap := range p.tree.SwapFiles {
		if info, err := os.Stat(swap); err == nil && os.SameFile(info, there.info) {
			return fmt.Errorf("%s is in use as swap: plimsoll never writes to a file in use", a.path)
		}
	}
	if loop := p.tree.Behind(there.info); loop != "" {
		return fmt.Errorf("%s is behind %s, or may be: plimsoll never writes to a file in use", a.path, loop)
	}
	if _, ok := p.consent.destroys(there.info); !ok {
		return fmt.Errorf("%s exists, plimsoll did not make it, and the job would overwrite it: name "+
			"another file, or add %s if what it holds may be lost",
			a.path, text.Destroying(a.path, ""))
	}
	if err := there.checkOverwrite(a.path); err != nil {
		return err
	}
	// Whoever can rename a part of the way, but for the file's owner, may have put another there since it was named.
	path, err := filepath.EvalSymlinks(a.path)
	if err != nil {
		return err
	}
	return Way(path, "be written over", sys.Owner(there.info))
}

// elsewhere reports that a job points to other storage than what is looked at, whose ceiling and
// devices would be shown beside its figures.
func (p *Place) elsewhere(a access) error {
	return fmt.Errorf("%s is not on the storage of %s, which plimsoll is watching: run the job file by itself "+
		"and without --data, one filesystem or device at a time",
		a.path, p.Path)
}

// checkNew decides over a file that is not there: fio will make it, below plimsoll's folder.
func (p *Place) checkNew(a access, note bool) error {
	if target, err := os.Readlink(a.path); err == nil {
		return fmt.Errorf("%s is a link to %s, which does not exist: name the file itself", a.path, target)
	}
	dir, err := os.Stat(filepath.Dir(a.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: make the directory first", filepath.Dir(a.path))
	case err != nil:
		return err
	case !p.sameFilesystem(dir):
		return p.elsewhere(a)
	}
	rel, ok := p.below(a.path)
	if !ok {
		return fmt.Errorf("%s would be made outside of %s: with --data, name a directory that contains both",
			a.path, p.Path)
	}
	if strings.HasPrefix(filepath.Join(p.Path, rel), "/dev/") {
		return fmt.Errorf("%s does not exist: a file of that name in memory is not what you want to measure", a.path)
	}
	if _, noted := p.made[a.path]; !noted && !note {
		return fmt.Errorf("%s was there when the run began and is now gone", a.path)
	}
	p.uses(a.path, a.need)
	return nil
}

// uses notes how large a file of a job becomes.
func (p *Place) uses(path string, need units.Bytes) {
	if path != p.File() && path != p.Fresh() && !p.inJobFiles(path) {
		p.made[path] = max(p.made[path], need)
	}
}

// own tells whether a path is one of the files that plimsoll makes in its folder.
func (p *Place) own(path string) bool {
	return p.Device == nil && (path == p.File() || path == p.Fresh()) || p.inJobFiles(path) || p.inJobDir(path)
}

// inJobDir tells whether a path is below the directory that jobs get which name none.
func (p *Place) inJobDir(path string) bool {
	_, ok := p.fromJobDir(path)
	return ok
}

// fromJobDir is a path's part behind the directory that jobs get which name none.
func (p *Place) fromJobDir(path string) (string, bool) { return p.from(p.jobDirName(), path) }

// from is a path's part behind a directory in plimsoll's folder, also by the name without links.
func (p *Place) from(name, path string) (string, bool) {
	if p.Device != nil || slices.Contains(strings.Split(path, "/"), "..") {
		return "", false
	}
	if rel, ok := strings.CutPrefix(path, p.in(name)+"/"); ok {
		return rel, true
	}
	resolved, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(path, filepath.Join(resolved, folderName, name)+"/")
}

// below is the path of a file from the place's directory, when it lies below it, with links on the
// way resolved.
func (p *Place) below(path string) (string, bool) {
	dir, err1 := filepath.EvalSymlinks(filepath.Dir(path))
	root, err2 := filepath.EvalSymlinks(p.Path)
	if err1 != nil || err2 != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(path)))
	return rel, err == nil && filepath.IsLocal(rel)
}

// Shown is the job file of a scenario as it runs here, by the names that the user knows. Files that
// are there and are only read are kept from being rewritten, where a size is larger than they are.
func (p *Place) Shown(s suite.Scenario, file string) fio.JobFile {
	job := s.Place(file)
	for _, i := range job.Jobs() {
		accesses, err := accessesOf(job.Effective(i))
		if err == nil && slices.ContainsFunc(accesses, p.onlyRead) {
			keep := fio.Option{Name: "create_on_open", Value: "1"}
			job.Sections[i].Options = append(slices.Clip(job.Sections[i].Options), keep)
		}
	}
	return job
}

// onlyRead tells whether a regular file is there, is only read, and is not plimsoll's.
func (p *Place) onlyRead(a access) bool {
	info, err := os.Stat(a.path)
	_, made := p.made[a.path]
	return !a.writes && err == nil && info.Mode().IsRegular() && !made && !p.own(a.path)
}
