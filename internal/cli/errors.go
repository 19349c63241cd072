package cli

import (
	"context"
	"errors"
)

// The sentinels that decide the exit code. errVerdict and errInvalid print nothing: the report has said it all.
var (
	errUsage   = errors.New("usage")
	errVerdict = &silent{"a verdict is fail"}
	errInvalid = &silent{"a measurement is invalid"}
)

type silent struct{ what string }

func (*silent) Error() string { return "" }

// told is an error of which the user has read already: it decides the exit code and prints nothing.
type told struct{ err error }

func (*told) Error() string   { return "" }
func (t *told) Unwrap() error { return t.err }

// usageError is a mistake on the command line.
type usageError struct{ err error }

func usage(err error) error                { return &usageError{err} }
func (u *usageError) Error() string        { return u.err.Error() }
func (u *usageError) Unwrap() error        { return u.err }
func (u *usageError) Is(target error) bool { return target == errUsage }

// hinted carries advice beside an error.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// hint adds what to type next to an error.
func hint(err error, what string) error { return &hinted{err, what} }

// exitCode is the ladder of DESIGN 4.7.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 130
	case errors.Is(err, errInvalid): // worse than a failed verdict: nothing was measured
		return 4
	case errors.Is(err, errVerdict):
		return 3
	case errors.Is(err, errUsage):
		return 2
	}
	return 1
}
