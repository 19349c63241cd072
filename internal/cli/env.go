package cli

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

// screen is where progress is shown.
func (env *Env) screen() screen.Out {
	out := screen.Out{Writer: env.notes(), Now: env.Now, Plain: !env.colored()}
	out.File, _ = fileOf(out.Writer)
	return out
}

// stream is standard output or standard error, and the one door to it: see text.Door. It keeps the
// first error of writing, since most printing does not check it.
type stream struct {
	mu     sync.Mutex // a command that was given up may still print
	file   *os.File
	door   *text.Door
	failed error
}

func newStream(file *os.File) *stream {
	return &stream{file: file, door: text.NewDoor(file, term.IsTerminal(int(file.Fd())))}
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.door.Write(p)
	if s.failed == nil {
		s.failed = err
	}
	return n, err
}

// flush writes what the door still holds, and returns the first error of all writing.
func (s *stream) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.door.Flush(); s.failed == nil {
		s.failed = err
	}
	return s.failed
}

// fileOf is the file behind a stream, which may be a terminal.
func fileOf(w io.Writer) (*os.File, bool) {
	if s, ok := w.(*stream); ok {
		return s.file, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Tool is what a record says measured it.
func (env *Env) Tool() string { return "plimsoll " + env.Version }
