package script

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// What is read of a document. A text of 1 MB holds 40,000 short commands, whose judgement took 5 s of
// CPU time and 500 MB; a person's holds some hundred. What is beyond is named, and not read.
const (
	mostCommands = 2048      // jobs of fio and commands of storage: judging each retains some 10 KB
	mostComments = 4096      // that silence rules
	mostWords    = 50_000    // of their words and options, those that jobs inherit too
	mostFilledIn = 1 << 20   // bytes that variables and functions stand for
	mostPieces   = 2048      // pieces that the shell parser reads
	mostParsed   = 256 << 10 // bytes of them
	longLine     = 64 << 10  // bytes of a line with those that continue it
)

// spent is what was read of a document so far.
type spent struct {
	commands, words, filledIn, pieces, parsed int
	over                                      bool // too many commands or words: what follows is not read
	full, said                                bool // the shell parser has had enough, which was said
}

// keep counts commands or jobs at a line, with their words; false when they are too many.
func (r *reader) keep(commands, words, line int) bool {
	r.spent.commands += commands
	r.spent.words += words
	if r.spent.over || r.spent.commands <= mostCommands && r.spent.words <= mostWords {
		return !r.spent.over
	}
	r.spent.over = true
	why := fmt.Sprintf("more than %s jobs and commands, or %s words and options in them: what follows is not read; "+
		"split the document", text.Count(mostCommands), text.Count(mostWords))
	r.unread(line, Limit, why)
	return false
}

// keepFile counts the jobs of a job file.
func (r *reader) keepFile(f *fio.JobFile, line int) bool {
	jobs, global, options := 0, 0, 0
	for _, s := range f.Sections {
		options += len(s.Options)
		if s.Global() {
			global += len(s.Options)
			continue
		}
		jobs++
		options += global
	}
	return r.keep(jobs, options, line)
}

// fillIn counts text that stands for a variable's name; false when it is too much, and the name
// stays.
func (r *reader) fillIn(text string) bool {
	r.spent.filledIn += len(text)
	return r.spent.filledIn <= mostFilledIn
}

// parse counts a text for the shell parser; false when it is too much.
func (r *reader) parse(src string) bool {
	if r.spent.pieces >= mostPieces || r.spent.parsed+len(src) > mostParsed {
		r.spent.full = true
		return false
	}
	r.spent.pieces++
	r.spent.parsed += len(src)
	return true
}

// tooLong notes a line that is too long to be read and seems to hold a command of fio's.
func (r *reader) tooLong(text string, line int) bool {
	if len(text) <= longLine {
		return false
	}
	if mentions(text) && seems.MatchString(text[:longLine]) {
		why := fmt.Sprintf("a command of more than %s is not read: use a job file", units.Bytes(longLine))
		r.unread(line, Limit, why)
	}
	return true
}

// silence works out which lines each code is silenced in, so that asking costs little.
func (f *File) silence() {
	f.silenced = map[string][]unit{}
	for _, d := range f.Disables {
		for _, code := range d.Codes {
			f.silenced[code] = append(f.silenced[code], unit{d.from, d.to})
		}
	}
	for code, lines := range f.silenced {
		slices.SortFunc(lines, func(a, b unit) int { return cmp.Compare(a.from, b.from) })
		joined := lines[:1]
		for _, u := range lines[1:] {
			if last := &joined[len(joined)-1]; u.from <= last.to+1 {
				last.to = max(last.to, u.to)
			} else {
				joined = append(joined, u)
			}
		}
		f.silenced[code] = joined
	}
}

// Disabled says whether a comment silences code at a line.
func (f *File) Disabled(code string, line int) bool {
	lines := f.silenced[code]
	at, found := slices.BinarySearchFunc(lines, line, func(u unit, line int) int { return cmp.Compare(u.from, line) })
	return found || at > 0 && line <= lines[at-1].to
}

// seems is what a fio command looks like in a line of code.
var seems = regexp.MustCompile(
	"(?:^|[\\s\"'`(/!;|&])(?:fio|\\$\\{?(?i:fio_?(?:bin|binary|cmd|command|path|exe|prog)?)\\}?)[\"']?\\s+(?:--[a-z]|-[a-z_]{2,}=|[\\w./-]+\\.fio\\b|\\$[\\w{(@])|" +
		"[\"']fio[\"'],\\s*[\"']-",
)

// unread notes a piece that looks like a job and could not be parsed.
func (f *File) unread(line int, by Obstacle, why string) {
	f.Unread = append(f.Unread, Unread{Line: line, Why: why, By: by})
}

// pass notes what is not read.
func (f *File) pass(line int, why string) { f.Passed = append(f.Passed, Passed{f.Name, line, why}) }

// passedOn gives the jobs of here-documents the options that commands of the document pass together
// with a job file.
func (r *reader) passedOn() {
	var passed []fio.Option
	partial := false
	for _, j := range r.Jobs {
		if !j.Command || len(j.File.Files) == 0 && !j.Partial {
			continue
		}
		if len(j.File.Jobs()) == 0 {
			partial = partial || j.Partial
			for _, s := range j.File.Sections {
				passed = append(passed, s.Options...)
			}
		}
	}
	if r.Kind == JobText || len(passed) == 0 && !partial {
		return
	}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; !j.Command {
			j.Passed = passed
			j.Partial = j.Partial || partial
		}
	}
}

// missed finds lines of code that seem to hold a fio command that was not read.
func (r *reader) missed() {
	if r.spent.over { // which is said
		return
	}
	read := slices.Clone(r.spoken)
	for _, j := range r.Jobs {
		if j.Command {
			read = append(read, unit{j.Line, j.Words[len(j.Words)-1].Line})
		}
	}
	for _, u := range r.Unread {
		read = append(read, unit{u.Line, u.Line})
	}
	for _, t := range r.texts {
		read = append(read, unit{t.from + 1, t.to})
	}
	known := map[int]bool{0: true}
	for _, u := range read {
		for line := u.from; line <= u.to && line < u.from+1000; line++ {
			known[line] = true
		}
	}
	for _, c := range r.code {
		for i := c.from; i < c.to; i++ {
			line := r.lines[i]
			if !strings.Contains(line, "fio") && !strings.Contains(line, "FIO") || known[i+1] {
				continue
			}
			t := strings.TrimSpace(line)
			if t[0] == '#' || t[0] == ';' || !seems.MatchString(line) || speaks(t) {
				continue
			}
			known[i+1] = true
			switch {
			case r.program() || strings.Contains(line, `fio",`) || strings.Contains(line, ` = "`):
				r.pass(i+1, "the command is a string inside a program")
			case strings.Contains(line, "$"):
				r.pass(i+1, "its words are in variables that the text does not give")
			default:
				r.pass(i+1, "its arguments could not be determined")
			}
		}
	}
	slices.SortFunc(r.Passed, func(a, b Passed) int { return a.Line - b.Line })
}

// speaks says whether a line prints or searches, so that fio in it is a word and not a command.
func speaks(line string) bool {
	words := strings.Fields(strings.TrimLeft(line, "-@ "))
	if len(words) > 2 && words[1] == "=" { // what stands before it is a name
		words = words[2:]
	}
	for i, word := range words {
		if strings.Contains(word, "fio") {
			return false
		}
		key, _, isKey := strings.Cut(word, ":")
		if slices.Contains(speakers, word) || slices.Contains(deaf, word) ||
			i == 0 && isKey && slices.Contains(silentKeys, key) {
			return true
		}
	}
	return false
}
