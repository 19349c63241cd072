package records

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Lines are lines that plimsoll keeps in a file of /etc between two marks, so that they can be
// taken out again and the file be as it was, byte for byte.
type Lines struct {
	File string `json:"file"` // /etc/fstab
	Name string `json:"name"` // of the array
	Text string `json:"text"` // without a newline at the end
	// Bare says that the line stands by itself, as others have written it, without marks around it.
	Bare bool `json:"bare,omitempty"`
}

// How the block was put in is said in its first line: taking it out must undo just that.
const (
	plain   = "begin; plimsoll array teardown takes these lines out"
	unended = "begin, after a line without its end; plimsoll array teardown takes these lines out"
	ownFile = "begin, in a file of its own; plimsoll array teardown takes these lines out"
	theEnd  = "end"
)

func (l *Lines) mark() string            { return "# plimsoll " + l.Name + ":" }
func (l *Lines) line(what string) string { return l.mark() + " " + what + "\n" }
func (l *Lines) block(begin string) []byte {
	return []byte(l.line(begin) + l.Text + "\n" + l.line(theEnd))
}

// lineIndex is where a line begins that is the one given, with its end; -1 when none is.
func lineIndex(file, line []byte) int {
	for at := 0; ; {
		i := bytes.Index(file[at:], line)
		if i < 0 {
			return -1
		}
		if at += i; at == 0 || file[at-1] == '\n' {
			return at
		}
		at++
	}
}

// InPlace says that the block is in the file, as it shall be.
func (l *Lines) InPlace(file []byte) bool {
	_, _, text, _ := l.find(file)
	return string(text) == l.Text+"\n"
}

func own(file []byte, exists bool) bool {
	first, _, _ := bytes.Cut(file, []byte("\n"))
	return !exists || bytes.Contains(first, []byte(ownFile))
}

// find is where the block begins and ends, the text in it, and how it was put in; begin is -1 when
// it is not there.
func (l *Lines) find(file []byte) (begin, end int, text []byte, how string) {
	for _, how := range []string{plain, unended, ownFile} {
		head := []byte(l.line(how))
		at := lineIndex(file, head)
		if at < 0 {
			continue
		}
		tail := []byte(l.line(theEnd))
		rest := file[at+len(head):]
		to := lineIndex(rest, tail)
		if to < 0 {
			return at, -1, nil, how
		}
		return at, at + len(head) + to + len(tail), rest[:to], how
	}
	return -1, -1, nil, ""
}

// Foreign are the lines between the marks that apply did not write. A line of apply's own to which
// options were added is still its own. Where the end mark is gone, all that follows may be others'.
func (l *Lines) Foreign(file []byte) []string {
	if l.Bare {
		return nil
	}
	begin, end, text, _ := l.find(file)
	if begin < 0 {
		return nil
	}
	if end < 0 {
		return []string{"the line " + strings.TrimSpace(l.line(theEnd)) + " is gone"}
	}
	own := strings.Fields(l.Text)
	var all []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && len(own) > 1 && f[0] == own[0] && f[1] == own[1] || len(f) == 0 {
			continue
		}
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// Added is the file with the block at its end. One that is there is replaced.
func (l *Lines) Added(file []byte, exists bool) ([]byte, error) {
	if l.InPlace(file) {
		return file, nil
	}
	file, _, err := l.Cut(file)
	if err != nil {
		return nil, err
	}
	switch {
	case own(file, exists) && (len(file) == 0 || file[len(file)-1] == '\n'):
		return append(bytes.Clone(file), l.block(ownFile)...), nil
	case len(file) > 0 && file[len(file)-1] != '\n':
		return append(append(bytes.Clone(file), '\n'), l.block(unended)...), nil
	}
	return append(bytes.Clone(file), l.block(plain)...), nil
}

// Cut is the file without the block; remove says that the file was made for it and nothing else is
// in it.
func (l *Lines) Cut(file []byte) (rest []byte, remove bool, err error) {
	if l.Bare {
		return l.cutBare(file), false, nil
	}
	begin, end, _, how := l.find(file)
	if begin < 0 {
		return file, false, nil
	}
	if end < 0 {
		return nil, false, fmt.Errorf("%s: the line %q is gone; take out plimsoll's lines by hand", l.File,
			l.mark()+" "+theEnd)
	}
	if how == unended && end == len(file) && begin > 0 {
		begin-- // the newline that ended the line before
	}
	rest = append(bytes.Clone(file[:begin]), file[end:]...)
	return rest, how == ownFile && len(rest) == 0, nil
}

// Marks are the lines around what Text is put in between, without newlines.
func (l *Lines) Marks() (begin, end string) {
	return strings.TrimSuffix(l.line(plain), "\n"), strings.TrimSuffix(l.line(theEnd), "\n")
}

// cutBare is a file without the first line that is just this one.
func (l *Lines) cutBare(file []byte) []byte {
	at := 0
	for line := range strings.Lines(string(file)) {
		if strings.TrimRight(line, "\n") == l.Text {
			return append(slices.Clone(file[:at]), file[at+len(line):]...)
		}
		at += len(line)
	}
	return file
}
