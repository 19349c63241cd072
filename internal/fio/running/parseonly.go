package running

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
)

// maxAsks bounds how often one job file is asked about: fio names the first refused section only.
const maxAsks = 20

var (
	badOption  = regexp.MustCompile(`(?m)^Bad option <(.*)>$`)
	badParsing = regexp.MustCompile(`(?m)^fio: failed parsing (.*)$`)
)

// ParseOnly asks the fio in PATH what it refuses of a job file, with --parse-only: nothing is run.
// Each refused option is taken out and the rest is asked again. Only what is written out is asked
// (Literal): fio would run a program for $ncpus, and load a library for a plugin.
func ParseOnly(ctx context.Context, m *sys.Machine, f *fio.JobFile) (fio.Asked, error) {
	a := fio.Asked{Refused: map[string]string{}}
	for range maxAsks {
		name, free, err := sys.MemFile("job.fio", without(f, a.Refused).Text())
		if err != nil {
			return a, fmt.Errorf("a file to ask fio with: %w", err)
		}
		_, err = m.Output(sys.WithFamily(ctx), "fio", "--parse-only", name)
		free()
		failed, is := errors.AsType[*sys.Failed](err)
		switch {
		case err == nil:
			a.Whole = true
			return a, nil
		case !is:
			return a, err
		}
		if !add(a, failed.Stderr) {
			return a, nil
		}
	}
	return a, nil
}

// add notes what fio refused; false when that is nothing new.
func add(a fio.Asked, said string) bool {
	added := false
	for _, form := range []*regexp.Regexp{badOption, badParsing} {
		for _, m := range form.FindAllStringSubmatch(said, -1) {
			if _, had := a.Refused[m[1]]; !had {
				a.Refused[m[1]], added = m[0], true
			}
		}
	}
	return added
}

// without is the job file less some options.
func without(f *fio.JobFile, refused map[string]string) *fio.JobFile {
	left := &fio.JobFile{Name: f.Name}
	for _, s := range f.Sections {
		kept := fio.Section{Name: s.Name}
		for _, o := range s.Options {
			if _, bad := refused[o.String()]; !bad {
				kept.Options = append(kept.Options, o)
			}
		}
		left.Sections = append(left.Sections, kept)
	}
	return left
}

// Literal says whether a job file is written out, so that fio can be asked of it without running or
// loading anything: no variable, no plugin, and nothing that a job file cannot hold.
func Literal(f *fio.JobFile) bool {
	if f.Writable() != nil || len(f.Jobs()) == 0 {
		return false
	}
	for _, s := range f.Sections {
		for _, o := range s.Options {
			if strings.ContainsAny(o.Name+o.Value, "$`") ||
				o.Name == "ioengine" && (strings.Contains(o.Value, "external") || strings.ContainsAny(o.Value, "/.")) ||
				strings.HasPrefix(o.Name, "merge_blktrace") || strings.HasPrefix(o.Name, "include") {
				return false
			}
		}
	}
	return true
}
