package script

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
)

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
				r.pass(i+1, "the command is a string of a program")
			case strings.Contains(line, "$"):
				r.pass(i+1, "its words are in variables that the text does not give")
			default:
				r.pass(i+1, "its words could not be made out")
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
