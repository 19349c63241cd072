package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
)

// What surrounds a job decides what its text claims: a script that starts the file gives options of
// its own, a functional suite looks for faults, and an example shows how an option is written.

// started is what the commands of other documents say about how a job file is started.
type started struct {
	// passed are the options, by fio's main name, that stand before the file; open is true where a
	// command holds words that are not known, alone where one starts single sections (--section).
	passed      map[string]bool
	open, alone bool
	// tests counts the commands of functional suites, all those of any document.
	tests, all int
}

// functional says whether only functional suites start the file.
func (s *started) functional() bool { return s != nil && s.all > 0 && s.tests == s.all }

// starters finds the job files that commands of other documents start, by the name that stands
// there. A name with a variable stands for every file below the command's folder that it may mean.
func (c *Case) starters() map[*script.File]*started {
	byBase := map[string][]*script.File{}
	var all []*script.File
	for _, f := range c.Scripts {
		if f.Kind == script.JobText {
			base := path.Base(f.Name)
			byBase[base] = append(byBase[base], f)
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *script.File) int { return strings.Compare(a.Name, b.Name) })
	if len(all) == 0 {
		return nil
	}
	starts := map[*script.File]*started{}
	for f, j := range c.commands() {
		if !j.Command || len(j.File.Files) == 0 {
			continue
		}
		for _, name := range j.File.Files {
			meant := byBase[path.Base(name)]
			if strings.ContainsAny(name, "$`*") {
				meant = matching(all, f.Name, name)
			}
			for _, job := range meant {
				starts[job] = starts[job].by(f, j)
			}
		}
	}
	return starts
}

// by adds a command.
func (s *started) by(f *script.File, j *script.Job) *started {
	if s == nil {
		s = &started{passed: map[string]bool{}}
	}
	for _, section := range j.File.Sections {
		for _, o := range section.Options {
			s.passed[mainName(o)] = true
		}
	}
	s.open = s.open || j.Partial
	s.alone = s.alone || slices.ContainsFunc(j.File.Settings, func(o fio.Option) bool { return o.Name == "section" })
	s.all++
	if f.Functional() {
		s.tests++
	}
	return s
}

var filledName = regexp.MustCompile("\\$\\{[^}]*\\}|\\$[A-Za-z_0-9@*]+|\\$?\\(.*\\)|`[^`]*`")

// matching are the job files below a script's folder whose name may be the one that a variable
// completes. all is sorted by name.
func matching(all []*script.File, from, name string) []*script.File {
	glob := path.Base(filledName.ReplaceAllString(name, "*"))
	dir := strings.TrimPrefix(path.Dir(from)+"/", "./")
	byName := func(f *script.File, dir string) int { return strings.Compare(f.Name, dir) }
	at, _ := slices.BinarySearchFunc(all, dir, byName)
	var meant []*script.File
	for ; at < len(all) && strings.HasPrefix(all[at].Name, dir); at++ {
		if ok, err := path.Match(glob, path.Base(all[at].Name)); err == nil && ok {
			meant = append(meant, all[at])
		}
	}
	return meant
}

// exampleFolders hold jobs that show how options are written, or that something fills in before they
// run.
var exampleFolders = strings.Fields(`example examples sample samples template templates testdata fixtures`)

// shows says whether a document shows how jobs are written rather than measures: a job file in a
// folder of examples, templates or test data, or the manual of fio.
func shows(f *script.File) bool {
	words := strings.Split(strings.ToLower(path.Clean(f.Name)), "/")
	last := words[len(words)-1]
	in := func(w string) bool { return slices.Contains(exampleFolders, w) }
	return f.Kind == script.JobText && slices.ContainsFunc(words[:len(words)-1], in) ||
		last == "howto" || last == "howto.rst"
}

// temper makes infos of the warnings in documents that measure nothing.
func (c *Case) temper(all []fault, files map[string]*script.File) {
	for i := range all {
		f := &all[i]
		file := files[f.File]
		if f.Severity == finding.Warn && file != nil &&
			(shows(file) || file.Functional() || c.starts[file].functional()) {
			f.Severity = finding.Info
		}
	}
}
