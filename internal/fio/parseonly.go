package fio

import "strings"

// Asked is what the installed fio said of a job file when it read it and ran nothing.
type Asked struct {
	// Refused are the options that it named, as in the file (iodepth=foo), with what it said.
	Refused map[string]string
	// Whole is true when it took all others.
	Whole bool
}

// Literal says whether a job file is written out, so that fio can be asked of it without running or
// loading anything: no variable, no plugin, and nothing that a job file cannot hold.
func (f *JobFile) Literal() bool {
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
