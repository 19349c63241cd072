// Package form is what the commands of all groups share: what they may touch, the flags of several
// of them and how these are read, completions, errors and exit codes, and the printing of
// documents.
package form

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"plimsoll/internal/screen"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Env is what a command may touch: the machine and its streams.
type Env struct {
	*sys.Machine
	In       io.Reader
	Out, Err io.Writer
	// Version is that of this build.
	Version string
	// Args are those behind the name of the program.
	Args []string

	talk talk
}

// Screen is where progress is shown.
func (env *Env) Screen() screen.Out {
	out := screen.Out{Writer: env.Notes(), Now: env.Now, Plain: !env.Colored(), Environ: env.Environ}
	out.File, _ = FileOf(out.Writer)
	return out
}

// Stream is standard output or standard error, and the one door to it: see text.Door. It keeps the
// first error of writing, since most printing does not check it.
type Stream struct {
	mu     sync.Mutex // a command that was given up may still print
	file   *os.File
	door   *text.Door
	failed error
}

// NewStream is the door to a file: see Stream.
func NewStream(file *os.File) *Stream {
	return &Stream{file: file, door: text.NewDoor(file, term.IsTerminal(int(file.Fd())))}
}

func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.door.Write(p)
	if s.failed == nil {
		s.failed = err
	}
	return n, err
}

// Flush writes what the door still holds, and returns the first error of all writing.
func (s *Stream) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.door.Flush(); s.failed == nil {
		s.failed = err
	}
	return s.failed
}

// FileOf is the file behind a stream, which may be a terminal.
func FileOf(w io.Writer) (*os.File, bool) {
	if s, ok := w.(*Stream); ok {
		return s.file, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Tool is what a record says measured it.
func (env *Env) Tool() string { return "plimsoll " + env.Version }
