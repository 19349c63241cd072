package script

import (
	"fmt"
	"strings"

	"plimsoll/internal/fio"
)

// JobFile is the job file that a text is, or the jobs of a document as one: those of each command wait for the
// command before it. A word that the document does not give is an error.
func JobFile(name string, text []byte, opts fio.ParseOptions) (*fio.JobFile, error) {
	f := Parse(name, text, Options{Env: opts.Env, Include: opts.Include})
	if f.Kind == JobText || NamesJob(name) || len(f.Jobs) == 0 {
		return fio.ParseJobFile(name, text, opts)
	}
	all := &fio.JobFile{Name: name}
	for _, j := range f.Jobs {
		first := true
		for _, s := range j.File.EachJob() {
			if j.Partial {
				return nil, fmt.Errorf("%s:%d: not all words of this command are known: write them out", name, j.Line)
			}
			job := fio.Section{Name: s.Name, Line: s.Line}
			if first && len(all.Sections) > 0 {
				job.Options = []fio.Option{{Name: "stonewall", Bare: true}}
			}
			first = false
			for _, o := range s.Options {
				if j.Command && unknownWords(o.Value) {
					return nil, fmt.Errorf("%s:%d: %s is not known: write it out", name, o.Line, fio.Clip(o.Value))
				}
				if o.Name != "name" {
					job.Options = append(job.Options, o)
				}
			}
			all.Sections = append(all.Sections, job)
		}
	}
	return all, all.Bounded()
}

// MisreadSection says what fio makes of the line that begins a section, where that is not what it looks like;
// false for any other line, and for one that begins another section than that of the name.
func MisreadSection(raw, name string) (m fio.Misreading, odd bool) {
	line := fio.StripComment(raw)
	if !strings.HasPrefix(line, "[") || fio.SectionName(line) != name {
		return m, false
	}
	shown, global := fio.Clip(line), (fio.Section{Name: name}).Global()
	job := fmt.Sprintf("a job named %q", fio.Clip(name))
	if global {
		job = "a global section"
	}
	switch {
	case !strings.Contains(line, "]"):
		m.Says = fmt.Sprintf("%s has no ] at its end: fio drops the last character and reads %s", shown, job)
		m.Old, m.New = line, line+"]"
	case !strings.HasSuffix(line, "]"):
		m.Says = fmt.Sprintf("%s does not end with ]: fio takes all of the line but its last character, and reads %s",
			shown, job)
	case strings.EqualFold(strings.TrimSpace(name), "global") && !global:
		m.Says, m.Hint = fmt.Sprintf("%s is not [global] to fio: it reads %s", shown, job), "[global]"
	default:
		return m, false
	}
	if meant := strings.ToLower(strings.TrimLeft(line, "[ \t")); strings.HasPrefix(meant, "global") &&
		!global {
		m.Says += ", whose options reach no other"
	}
	return m, true
}
