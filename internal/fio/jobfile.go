package fio

import (
	"slices"
	"strings"
)

// JobFile is a parsed fio job file. Order, comments' absence and every option survive a round trip.
type JobFile struct {
	Name     string    `json:"name"` // file it came from
	Sections []Section `json:"sections"`
	// Settings are options of fio itself that stood on a command line (--output=…), which no job
	// file can hold, and Files the job files it named.
	Settings []Option `json:"settings,omitempty"`
	Files    []string `json:"files,omitempty"`
}

// Section is [global] (Name "global") or a job. Options keep their order; a later one wins, as in
// fio.
type Section struct {
	Name string `json:"name"`
	// Heading is what stands in its brackets, by which fio names its files (init.c, make_filename),
	// where a name= of its own gives it another Name.
	Heading string   `json:"-"`
	Line    int      `json:"line,omitempty"`
	Options []Option `json:"options"`
}

// Option is one option as written. Bare is true for an option without a value, such as time_based.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Bare  bool   `json:"bare,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	// File is the included file that Line counts in; empty for the job file itself.
	File string `json:"file,omitempty"`
	// Pad is the blank between = and the value, which fio refuses where it expects one of its own
	// words (rw= read).
	Pad string `json:"pad,omitempty"`
}

// Get returns the value of the last option of that name.
func (s Section) Get(name string) (string, bool) {
	for _, o := range slices.Backward(s.Options) {
		if o.Name == name {
			return o.Value, true
		}
	}
	return "", false
}

// Set adds an option, which stands bare without a value.
func (s *Section) Set(name, value string) {
	s.Options = append(s.Options, Option{Name: name, Value: value, Bare: value == ""})
}

// Filename is the value of filename= as it takes effect. fio adds the files of several such options
// up, [global]'s too, where other options replace an earlier value (seen with 3.33).
func (s Section) Filename() string {
	var values []string
	for _, o := range s.Options {
		if o.Name == "filename" {
			values = append(values, strings.TrimSpace(o.Value))
		}
	}
	return strings.Join(values, ":")
}
