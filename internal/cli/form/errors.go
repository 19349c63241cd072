package form

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// The sentinels that decide the exit code. ErrVerdict and ErrInvalid print nothing: the report has
// shown why.
var (
	ErrUsage   = errors.New("usage")
	ErrVerdict = &silent{"a verdict is fail"}
	ErrInvalid = &silent{"a measurement is invalid"}
	// ErrUnjudged ends a gate that lacks what it should judge. The line on standard error has said what.
	ErrUnjudged = &silent{"a gate could not judge everything"}
)

type silent struct{ what string }

func (*silent) Error() string { return "" }

// Reported marks an error that the user has read already: it decides the exit code and prints nothing.
func Reported(err error) error { return &reportedError{err} }

type reportedError struct{ err error }

func (*reportedError) Error() string   { return "" }
func (t *reportedError) Unwrap() error { return t.err }

// usageError is a mistake on the command line.
type usageError struct{ err error }

// Usage marks an error as a mistake on the command line: exit code 2.
func Usage(err error) error { return &usageError{err} }

// Usagef says what is wrong on the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

func (u *usageError) Error() string        { return u.err.Error() }
func (u *usageError) Unwrap() error        { return u.err }
func (u *usageError) Is(target error) bool { return target == ErrUsage }

// hinted carries advice next to an error.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// Hint adds a command line to type next to an error.
func Hint(err error, command string) error { return &hinted{err, command} }

// ExitCode is the ladder of docs/exit-codes.md.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 130
	case errors.Is(err, ErrInvalid): // worse than a failed verdict: nothing was measured
		return 4
	case errors.Is(err, ErrVerdict):
		return 3
	case errors.Is(err, ErrUsage):
		return 2
	}
	if _, ok := errors.AsType[*bench.InputError](err); ok {
		return 2
	}
	return 1
}

// Complain prints what is wrong, the line that it is about, and what to type instead.
func (env *Env) Complain(err error) {
	if err.Error() == "" { // it has been printed
		return
	}
	env.Sayf("plimsoll: %s", Readable(err))
	if at, ok := errors.AsType[excerpted](err); ok && at.Excerpt() != "" {
		fmt.Fprintln(env.Err, at.Excerpt())
	}
	if h, ok := errors.AsType[*hinted](err); ok {
		env.Sayf("try: %s", text.Clean(h.hint, text.LongError))
	}
}

// Readable is an error on one line, with the system's terms put into words: "nosuch.fio does not
// exist".
func Readable(err error) string {
	msg := err.Error()
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		msg = strings.Replace(msg, p.Error(), pathProblem(p), 1)
		msg = strings.Replace(msg, p.Path+": "+p.Path, p.Path, 1)
	}
	// errors.Join puts each error on a line of its own, also one that the user has read already.
	return text.Clean(strings.ReplaceAll(strings.Trim(msg, "\n"), "\n", "; "), text.LongError)
}

func pathProblem(p *fs.PathError) string {
	switch {
	case p.Path == "":
		return "the path is empty"
	case errors.Is(p, fs.ErrNotExist):
		return p.Path + " does not exist"
	case errors.Is(p, fs.ErrPermission):
		return "no permission for " + p.Path
	}
	return p.Path + ": " + p.Err.Error()
}

// NamesMissing is true when err is about a path of args that does not exist: a mistake on the
// command line.
func NamesMissing(err error, args []string) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	missing, err := filepath.Abs(p.Path)
	if err != nil {
		return false
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		named, err := filepath.Abs(arg)
		if arg == "" || err != nil || missing != named && !strings.HasPrefix(missing, named+"/") {
			continue
		}
		if _, err := os.Lstat(named); errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// MustExist refuses a path that is not there. One that cannot be looked at, as where its device fails, is no
// mistake of the caller's.
func MustExist(path string) error {
	_, err := sys.Stat(path)
	p, ok := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return Usage(err)
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EUCLEAN), errors.Is(err, syscall.ESTALE),
		errors.Is(err, syscall.ENOTCONN):
		return errors.New(pathProblem(p))
	}
	return Usagef("%s; name a directory or a device", pathProblem(p))
}

// FlagError words what is wrong with a flag.
func FlagError(cmd *cobra.Command, err error) error {
	help := cmd.CommandPath() + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name := unknown.GetSpecifiedName()
		msg := fmt.Sprintf("unknown flag --%s", text.Clean(name, 60))
		if like := text.Nearest(name, names); like != "" {
			msg += "; did you mean --" + like + "?"
		}
		return Hint(Usagef("%s", msg), help)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usagef("--%s %s: %w", bad.GetFlag().Name, text.Clean(bad.GetValue(), 60), errors.Unwrap(bad))
	}
	if empty, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return Hint(Usagef("--%s needs a value", empty.GetSpecifiedName()), help)
	}
	return Usage(err)
}

// excerpted is an error that can show the line it is about, fit for a terminal, with a caret below
// the place.
type excerpted interface {
	error
	Excerpt() string
}

// AsRoot shows how to repeat the command where root is needed.
func AsRoot(env *Env, err error) error {
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return Hint(err, "sudo "+text.ShellLine(append([]string{"plimsoll"}, env.Args...)))
	}
	return err
}
