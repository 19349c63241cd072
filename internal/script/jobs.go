package script

import (
	"fmt"

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
