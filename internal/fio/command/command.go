// Package command reads fio's command lines and writes them.
package command

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/text"
)

// ownOptions are fio's own options (init.c, l_opts), with = where each takes a value, =? where only behind
// its =, and the letter behind a comma, as fio 3.33 takes them.
const ownOptions = `output=,o output-format=,F latency-log=,l bandwidth-log,b minimal=?,m append-terse=?,f version,v
	help,h cpuclock-test,T crctest=?,G memcpytest=?,M idle-prof=,I showcmd=?,s readonly,r eta=,e
	eta-newline=,E eta-interval= status-interval=,L debug=,d parse-only,P section=,x alloc-size=,a
	profile=,p warnings-fatal,w max-jobs=,j terse-version=,V server=?,S daemonize=,D client=,C
	remote-config=,R cmdhelp=?,c enghelp=?,i trigger-file=,W trigger-timeout=,B trigger=,H
	trigger-remote=,J aux-path=,K merge-blktrace-only,A inflate-log=,X`

// settings say whether an option of fio itself takes a value: no (-), only behind = (?), or always (!);
// shorts are their letters.
var settings, shorts = func() (kinds map[string]byte, letters map[string]string) {
	kinds, letters = map[string]byte{}, map[string]string{}
	for word := range strings.FieldsSeq(ownOptions) {
		word, letter, _ := strings.Cut(word, ",")
		name, kind, takes := strings.Cut(word, "=")
		letters[letter] = name
		kinds[name] = '-'
		if takes {
			kinds[name] = (kind + "!")[0]
		}
	}
	delete(letters, "")
	return kinds, letters
}()

// Short is the option of fio itself that a word such as -f stands for.
func Short(word string) (string, bool) {
	letter, dashed := strings.CutPrefix(word, "-")
	name, known := shorts[letter]
	return name, dashed && known
}

// Setting says whether a name is an option of fio itself, such as output, and no job option.
func Setting(name string) bool { return settings[name] != 0 }

// At is where fio's command begins among words, behind sudo, taskset with its options or an
// assignment; -1 without the word fio.
func At(words []string) int {
	return slices.IndexFunc(words, func(w string) bool { return path.Base(w) == "fio" })
}

// Parse reads fio's arguments, with or without "fio" in front, as parse_cmd_line does:
// --name begins a job, what stands before the first one is global. Options that fio does not know
// are kept (fio.OptionTable.Check finds them); they take a value only behind =.
func Parse(argv []string) (*fio.JobFile, error) {
	words := make([]shell.Word, len(argv))
	for i, a := range argv {
		words[i] = shell.Word{Text: a}
	}
	return ParseWords(words)
}

// ParseWords is Parse with places: each option gets the line and column of its word.
func ParseWords(words []shell.Word) (*fio.JobFile, error) {
	f := &fio.JobFile{Name: "command line"}
	if len(words) > 0 && path.Base(words[0].Text) == "fio" {
		words = words[1:]
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Text == "--" {
			for _, rest := range words[i+1:] {
				f.Files = append(f.Files, rest.Text)
			}
			break
		}
		// fio takes one dash for two (getopt_long_only).
		name := strings.TrimPrefix(strings.TrimPrefix(w.Text, "-"), "-")
		if name == w.Text || name == "" {
			f.Files = append(f.Files, w.Text)
			continue
		}
		name, value, has := strings.Cut(name, "=")
		if long, short := Short(w.Text); short {
			name = long
		}
		o := fio.Option{Name: name, Value: value, Bare: !has, Line: w.Line, Col: w.Col}
		if !has && TakesNext(name) {
			if i++; i == len(words) {
				return nil, fmt.Errorf("--%s: a value is missing after it", fio.Clip(name))
			}
			o.Value, o.Bare = words[i].Text, false
		}
		place(f, o)
	}
	if err := f.Bounded(); err != nil {
		return nil, err
	}
	return f, nil
}

// TakesNext says whether an option without = takes the next word as its value.
func TakesNext(name string) bool {
	if kind := settings[name]; kind != 0 {
		return kind == '!'
	}
	o, known := fio.BuiltinOptions().Lookup(name)
	return known && !o.Optional
}

// place puts an option of a command line where it belongs.
func place(f *fio.JobFile, o fio.Option) {
	switch {
	case Setting(o.Name):
		f.Settings = append(f.Settings, o)
		return
	case o.Name == "name":
		f.Sections = append(f.Sections, fio.Section{Name: o.Value, Line: o.Line})
		return
	case len(f.Sections) == 0:
		f.Sections = append(f.Sections, fio.Section{Name: "global", Line: o.Line})
	}
	s := &f.Sections[len(f.Sections)-1]
	s.Options = append(s.Options, o)
}

// namedAfterJob are options that a job file may hold without a value: fio then names the log after the
// job. On a command line they take the next word.
var namedAfterJob = strings.Fields("write_bw_log write_lat_log write_iops_log write_hist_log")

// Line is the command that does what the job file does, "fio" first.
func Line(f *fio.JobFile) []string {
	argv := []string{"fio"}
	add := func(o fio.Option) { argv = append(argv, "--"+o.String()) }
	for _, o := range f.Settings {
		add(o)
	}
	begun := false
	for i, s := range f.Sections {
		job := f.Effective(i)
		switch {
		case !s.Global():
			argv, begun = append(argv, "--name="+job.Name), true
		case begun:
			argv = append(argv, "--name=global")
		}
		for _, o := range s.Options {
			if o.Name != "name" && !afterJob(o) { // a second --name would begin a second job
				add(o)
			}
		}
		if s.Global() {
			continue
		}
		for _, name := range namedAfterJob {
			if byJob(job, name) {
				add(fio.Option{Name: name, Value: job.Name})
			}
		}
	}
	return append(argv, f.Files...)
}

// afterJob says whether an option names a log after the job.
func afterJob(o fio.Option) bool { return o.Bare && slices.Contains(namedAfterJob, o.Name) }

// byJob says whether a job's log is named after it: no other option gives it a name, before or behind.
func byJob(job fio.Section, name string) bool {
	bare := false
	for _, o := range job.Options {
		if o.Name == name && !o.Bare {
			return false
		}
		bare = bare || o.Name == name
	}
	return bare
}

// Differences are the options of the jobs of two texts that are not the same, job by job, as "[a] rw=read";
// none where both do the same.
func Differences(a, b *fio.JobFile) (all []string) {
	one, other := jobsOf(a), jobsOf(b)
	for i := range max(len(one), len(other)) {
		var x, y []string
		if i < len(one) {
			x = one[i]
		}
		if i < len(other) {
			y = other[i]
		}
		for _, o := range append(x, y...) {
			if slices.Contains(x, o) != slices.Contains(y, o) {
				all = text.Once(all, o)
			}
		}
	}
	return all
}

// jobsOf are the options in effect of each job, one of a name, with filename's added up as fio does.
func jobsOf(f *fio.JobFile) (jobs [][]string) {
	for _, s := range f.EachJob() {
		options := []string{"[" + s.Name + "]"}
		for i, o := range s.Options {
			later := slices.ContainsFunc(s.Options[i+1:], func(p fio.Option) bool {
				return p.Name == o.Name && !afterJob(p)
			})
			switch {
			case o.Name == "name" || later && !afterJob(o) || afterJob(o) && !byJob(s, o.Name):
				continue
			case o.Name == "filename":
				o.Value, o.Pad = s.Filename(), ""
			case afterJob(o):
				o = fio.Option{Name: o.Name, Value: s.Name}
			}
			options = append(options, "["+s.Name+"] "+o.String())
		}
		jobs = append(jobs, options)
	}
	return jobs
}
