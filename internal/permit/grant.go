package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
)

// pin is a file or device held open, so that every later look at it, and fio's own open, go to the
// same one.
type pin struct {
	file *sys.Handle
	info fs.FileInfo
}

// openPin holds what a path leads to. It opens without reading or writing: a pipe does not block, a
// tape does not rewind.
func openPin(path string) (*pin, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	file, err := sys.OpenHandle(unix.AT_FDCWD, resolved, unix.O_PATH|unix.O_NOFOLLOW, path)
	if err != nil {
		return nil, err
	}
	held := &pin{file: file}
	held.info, err = held.file.Stat()
	if err != nil {
		return nil, errors.Join(err, held.close())
	}
	now, err := os.Readlink(held.name())
	if err == nil && now != resolved {
		err = fmt.Errorf("%s was replaced while plimsoll looked at it", path)
	}
	if err != nil {
		return nil, errors.Join(err, held.close())
	}
	return held, nil
}

// name leads to what is held, here and in fio.
func (p *pin) name() string { return p.file.Path() }

func (p *pin) close() error { return p.file.Close() }

// checkOverwrite refuses to write over a file that another user may have chosen: by a link of
// theirs on the way to it, or by a second name of somebody else's file. It does not rely on
// fs.protected_symlinks and fs.protected_hardlinks.
func (p *pin) checkOverwrite(path string) error {
	if n := sys.Names(p.info); n > 1 {
		return fmt.Errorf("%s has %d names (hard links), and all of them would be overwritten: use a copy of it", path, n)
	}
	at := filepath.Clean(path)
	for range kernelLinks + 1 { // the last look finds the file
		parent, name := filepath.Split(at) // which leaves dots behind links as they are
		dir, err := sys.OpenPath(parent)
		if err != nil {
			return err
		}
		info, err := dir.Lstat(name)
		target, notLink := dir.Readlink(name)
		switch err = errors.Join(err, dir.Close()); {
		case err != nil:
			return err
		case notLink != nil && os.SameFile(info, p.info):
			return nil
		case notLink != nil:
			return fmt.Errorf("%s was replaced while plimsoll looked at it", path)
		case !sys.Ours(info):
			return fmt.Errorf("%s is a link owned by %s: name the file itself", at, sys.UserName(sys.Owner(info)))
		}
		if at = target; !filepath.IsAbs(target) {
			at = parent + target
		}
	}
	return fmt.Errorf("%s: too many links", path)
}

// kernelLinks is how many links the kernel follows on the way to one file.
const kernelLinks = 40

// pins are what is held open, by the path that a job has for it.
type pins map[string]*pin

func (p pins) add(path string, held *pin) {
	if before := p[path]; before != nil {
		_ = before.close()
	}
	p[path] = held
}

func (p pins) close() {
	for _, held := range p {
		_ = held.close()
	}
}

// Grant is what one start of fio gets.
type Grant struct {
	Shown fio.JobFile // by the names that the user knows
	Job   fio.JobFile // the same by names that lead to nothing but what was looked at, while the grant is held
	held  pins
	view  view
	plain *strings.Replacer
}

// Close lets go of the files. The links to the handles go first: a number may stand for another
// file soon.
func (g *Grant) Close() error {
	var errs []error
	v := g.view
	for _, name := range v.links {
		errs = append(errs, v.parent.Remove(name))
	}
	for _, name := range append(v.links, filepath.Join(v.name, absolute)) {
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			_ = v.parent.Remove(dir) // one in which fio made files stays, as it should
		}
	}
	if v.temporary {
		errs = append(errs, v.parent.RemoveAll(v.name))
	}
	g.held.close()
	return errors.Join(errs...)
}

// Plain puts the names that the user knows back into what fio printed.
func (g *Grant) Plain(text string) string { return g.plain.Replace(text) }

// Grant looks at a scenario's job once more, since what is there may have changed since the run
// began, and gives it its files. It finds them in a view: a directory of the caller's own, below
// plimsoll's folder or, where there is none, below the directory of the run's files. Files that are
// there are links in it to open handles; others are made in it.
func (p *Place) Grant(s suite.Scenario, file string, run *sys.Dir) (*Grant, error) {
	g := &Grant{view: view{place: p, parent: run, name: "files", temporary: true}}
	shown := filepath.Join(run.Name(), "files")
	names := []string{}
	if p.folder != nil {
		g.view = view{place: p, parent: p.folder, name: p.jobDirName()}
		shown = p.jobDir()
		names = []string{p.folder.Path(), p.folder.Name()}
	}
	names = append([]string{g.view.path() + "/" + absolute + "/", "/", g.view.path(), shown}, names...)
	g.plain = strings.NewReplacer(append(names, run.Path(), run.Name())...)
	var err error
	// Those of a run that was killed lead to what has their number today.
	if err = g.view.parent.RemoveLinks(g.view.name); err == nil {
		g.held, err = p.look(s, file, false)
	}
	if err == nil {
		g.Shown = p.Shown(s, file)
		g.Job, err = g.view.job(g.Shown, g.held)
	}
	here, errHere := os.Getwd()
	if err = errors.Join(err, errHere); err == nil {
		keepLogs(&g.Job, run.Path(), here)
		err = g.Job.Writable() // by the names of the view
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// absolute is the directory of a view for files that a job names by absolute paths.
const absolute = "root"

// view is a directory in which fio finds the files of a job.
type view struct {
	place     *Place
	parent    *sys.Dir
	name      string
	temporary bool     // it goes with the grant
	links     []string // from parent
}

func (v *view) path() string { return v.parent.Path(v.name) }

// job puts the names of the view into a job file.
func (v *view) job(shown fio.JobFile, held pins) (fio.JobFile, error) {
	job := shown
	job.Sections = nil
	for _, section := range shown.Sections {
		own := section
		own.Options = nil
		for _, o := range section.Options {
			var err error
			switch o.Name {
			case "filename":
				o.Value, err = v.each(o.Value, v.file)
			case "directory":
				o.Value, err = v.each(o.Value, v.directory)
			}
			if err != nil {
				return job, err
			}
			own.Options = append(own.Options, o)
		}
		job.Sections = append(job.Sections, own)
	}
	// Files with generated names: whatever is there is linked into the directory that fio looks in.
	for path, pinned := range held {
		if err := v.link(path, pinned); err != nil {
			return job, err
		}
	}
	return job, nil
}

// each translates the paths of a list.
func (v *view) each(value string, translate func(string) (string, error)) (string, error) {
	var list []string
	for _, name := range pathList(value) {
		name, err := translate(name)
		if err != nil {
			return "", err
		}
		list = append(list, strings.ReplaceAll(name, ":", `\:`))
	}
	return strings.Join(list, ":"), nil
}

// file is the name of a file for fio. Names without a directory are below directory=, which is
// translated by itself.
func (v *view) file(name string) (string, error) {
	p := v.place
	switch {
	case !filepath.IsAbs(name):
		return name, nil
	case p.folder != nil && name == p.File():
		return p.folder.Path(p.fileName()), nil
	case p.folder != nil && name == p.Fresh():
		return p.folder.Path(p.freshName()), nil
	}
	rel := v.rel(name)
	return filepath.Join(v.path(), rel), v.mkdir(filepath.Dir(rel))
}

// rel is where a path lies in the view.
func (v *view) rel(path string) string {
	if rel, ok := v.place.fromJobDir(path); ok {
		return rel
	}
	return filepath.Join(absolute, path)
}

// directory is the name of a directory for fio.
func (v *view) directory(name string) (string, error) {
	inside, err := joined(name, "x")
	if err != nil {
		return "", err
	}
	if files, ok := v.place.jobFilesOf(inside); ok && v.place.folder != nil {
		return v.place.folder.Path(files), nil
	}
	rel := filepath.Dir(v.rel(inside))
	return filepath.Join(v.path(), rel), v.mkdir(rel)
}

// mkdir makes a directory of the view, and the view itself.
func (v *view) mkdir(rel string) error {
	return v.parent.MkdirAll(filepath.Join(v.name, rel), 0o700)
}

// link puts what is held under its name into the view.
func (v *view) link(path string, held *pin) error {
	rel := v.rel(path)
	if err := v.mkdir(filepath.Dir(rel)); err != nil {
		return err
	}
	name := filepath.Join(v.name, rel)
	if err := v.parent.RemoveAll(name); err != nil { // of the scenario before
		return err
	}
	if err := v.parent.Symlink(held.name(), name); err != nil {
		return err
	}
	v.links = append(v.links, name)
	return nil
}
