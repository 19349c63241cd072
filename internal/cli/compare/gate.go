package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// gated prints a document with what a gate says of it, and is the error of its exit code.
func gated(env *form.Env, format string, d *page.Document, o compare.Outcome, g compare.Gate) error {
	if g.Asks() {
		d.Gate(o.Failed, slices.Concat(o.Invalid, o.Unjudged))
	}
	if err := form.Render(env, format, d); err != nil {
		return err
	}
	return gateError(env, o)
}

// gateError prints why a gate is not passed, and is the error of its exit code: what must not be
// trusted is worse than what is slower, and that is worse than what is missing.
func gateError(env *form.Env, o compare.Outcome) error {
	for _, r := range o.Failed {
		env.Sayf("%s", r)
	}
	unjudged(env, "INVALID and cannot be judged", o.Invalid)
	unjudged(env, "cannot be judged", o.Unjudged)
	switch {
	case len(o.Invalid) > 0:
		return form.ErrInvalid
	case len(o.Failed) > 0:
		return form.ErrVerdict
	case len(o.Unjudged) > 0:
		return form.ErrUnjudged
	}
	return nil
}

// mostUnjudged is how many are named on the line that says what could not be judged.
const mostUnjudged = 3

// unjudged is one line, however many there are.
func unjudged(env *form.Env, what string, all []string) {
	if len(all) == 0 {
		return
	}
	line := what + ": " + strings.Join(all[:min(len(all), mostUnjudged)], "; ")
	if more := len(all) - mostUnjudged; more > 0 {
		line += fmt.Sprintf("; and %d more", more)
	}
	fmt.Fprintln(env.Err, text.Clean(line, 0))
}

// Worst is the error with the worse of two exit codes of the ladder, where own is of a measurement's
// verdict.
func Worst(own, gate error) error {
	verdicts := errors.Is(gate, form.ErrVerdict) || errors.Is(gate, form.ErrUnjudged)
	if gate == nil || own != nil && verdicts {
		return own
	}
	return gate
}
