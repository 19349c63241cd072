package running

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrTruncated is in the chain of errors about output that stops in the middle.
var ErrTruncated = errors.New("fio's output stops in the middle")

const (
	maxSplitDoc  = 1 << 28 // a document of 4,096 jobs with all their bins has some 200 MB
	maxSplitLine = 1 << 16
)

// Splitter takes fio's standard output as it comes and hands over each JSON document when its last
// brace has arrived, and each line of other text. A document starts at a brace that is followed by
// a quote. The zero value with its two functions set is ready; Text may be nil.
type Splitter struct {
	Doc  func(doc []byte) error // doc is valid until Doc returns
	Text func(line string)
	// Blanks hands over empty lines, too.
	Blanks bool
	// Most is how much text may come without a document; 0 for any.
	Most int

	state    splitState
	doc      []byte
	line     []byte
	depth    int
	inString bool
	escaped  bool
	since    int // bytes that came after the last document
	newlines int // before the line or document at hand
}

type splitState int

const (
	splitText splitState = iota
	splitMaybe
	splitDoc
)

// Write implements io.Writer. It returns the first error of Doc.
func (s *Splitter) Write(p []byte) (int, error) {
	if s.since += len(p); s.Most > 0 && s.since > s.Most && s.state != splitDoc {
		return 0, fmt.Errorf(
			"fio printed more than %d MiB that are not a result: is it another program of that name?",
			s.Most>>20,
		)
	}
	for i := 0; i < len(p); {
		switch s.state {
		case splitText:
			n := bytes.IndexAny(p[i:], "{\n")
			if n < 0 {
				s.text(p[i:])
				return len(p), nil
			}
			s.text(p[i : i+n])
			i += n
			if p[i] == '\n' {
				s.endLine()
				s.newlines++
			} else {
				s.state, s.doc = splitMaybe, append(s.doc[:0], '{')
			}
			i++
		case splitMaybe:
			switch c := p[i]; c {
			case ' ', '\t', '\r', '\n':
				s.doc = append(s.doc, c)
				i++
				if len(s.doc) > maxSplitLine {
					s.giveBack()
				}
			case '"':
				if len(bytes.TrimSpace(s.line)) > 0 {
					s.endLine()
				}
				s.line = s.line[:0]
				s.state, s.depth, s.inString, s.escaped = splitDoc, 1, false, false
			default:
				s.giveBack()
			}
		case splitDoc:
			n, done := s.scan(p[i:])
			if len(s.doc)+n > maxSplitDoc {
				return i, fmt.Errorf("fio json: a document is larger than %d bytes", maxSplitDoc)
			}
			s.doc = append(s.doc, p[i:i+n]...)
			i += n
			if done {
				s.state = splitText
				if err := s.Doc(s.doc); err != nil {
					return i, err
				}
				s.since = 0
				s.newlines += bytes.Count(s.doc, []byte{'\n'})
				s.doc = s.doc[:0]
			}
		}
	}
	return len(p), nil
}

// scan returns how many bytes of p belong to the document and whether its last brace is among them.
func (s *Splitter) scan(p []byte) (int, bool) {
	for i, c := range p {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			switch c {
			case '\\':
				s.escaped = true
			case '"':
				s.inString = false
			}
		case c == '"':
			s.inString = true
		case c == '{':
			s.depth++
		case c == '}':
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(p), false
}

// giveBack finds that a brace did not start a document.
func (s *Splitter) giveBack() {
	s.state = splitText
	for i, part := range bytes.Split(s.doc, []byte{'\n'}) {
		if i > 0 {
			s.endLine()
			s.newlines++
		}
		s.text(part)
	}
	s.doc = s.doc[:0]
}

func (s *Splitter) text(p []byte) {
	for len(p) > 0 {
		n := min(len(p), maxSplitLine-len(s.line))
		s.line = append(s.line, p[:n]...)
		p = p[n:]
		if len(s.line) == maxSplitLine {
			s.endLine()
		}
	}
}

func (s *Splitter) endLine() {
	line := bytes.TrimRight(s.line, "\r")
	if (len(line) > 0 || s.Blanks) && s.Text != nil {
		s.Text(string(line))
	}
	s.line = s.line[:0]
}

// Close hands over a last line without an end. An unfinished document gives an error that wraps
// ErrTruncated.
func (s *Splitter) Close() error {
	if s.state == splitMaybe {
		s.giveBack()
	}
	if len(s.line) > 0 {
		s.endLine()
	}
	if s.state == splitDoc {
		n := len(s.doc)
		s.state, s.doc = splitText, nil
		return fmt.Errorf("%w: the last json document, %d bytes of it, has no end", ErrTruncated, n)
	}
	return nil
}

// Lines is how many lines ended so far.
func (s *Splitter) Lines() int { return s.newlines }

// Within says that what came so far ends within a line of text.
func (s *Splitter) Within() bool { return len(s.line) > 0 }

// Unfinished is what came so far of a document whose last brace is missing, valid until the next
// call.
func (s *Splitter) Unfinished() []byte { return s.doc }
