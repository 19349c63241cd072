package compare

import (
	"bytes"
	"errors"
	"testing"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
)

// Of several answers the worst is the exit code: what must not be trusted, then what failed, then what could
// not be judged.
func TestGatesSayTheWorst(t *testing.T) {
	bad, slow, none := []string{"one is INVALID"}, []string{"two is slower"}, []string{"three is missing"}
	for name, c := range map[string]struct {
		o    compare.Outcome
		want error
		says string
	}{
		"nothing":          {compare.Outcome{}, nil, ""},
		"slower":           {compare.Outcome{Failed: slow}, form.ErrVerdict, "two is slower\n"},
		"missing":          {compare.Outcome{Unjudged: none}, form.ErrUnjudged, "cannot be judged: three is missing\n"},
		"invalid":          {compare.Outcome{Invalid: bad}, form.ErrInvalid, "INVALID and cannot be judged: one is INVALID\n"},
		"slower, missing":  {compare.Outcome{Failed: slow, Unjudged: none}, form.ErrVerdict, "two is slower\ncannot be judged: three is missing\n"},
		"invalid, slower":  {compare.Outcome{Invalid: bad, Failed: slow}, form.ErrInvalid, "two is slower\nINVALID and cannot be judged: one is INVALID\n"},
		"invalid, missing": {compare.Outcome{Invalid: bad, Unjudged: none}, form.ErrInvalid, "INVALID and cannot be judged: one is INVALID\ncannot be judged: three is missing\n"},
		"more than three":  {compare.Outcome{Unjudged: []string{"a", "b", "c", "d", "e"}}, form.ErrUnjudged, "cannot be judged: a; b; c; and 2 more\n"},
		"three":            {compare.Outcome{Unjudged: []string{"a", "b", "c"}}, form.ErrUnjudged, "cannot be judged: a; b; c\n"},
	} {
		var errs bytes.Buffer
		if err := gateError(&form.Env{Err: &errs}, c.o); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || errs.String() != c.says {
			t.Errorf("%s: %v, %q; want %v, %q", name, err, errs.String(), c.want, c.says)
		}
	}
	for _, c := range []struct{ own, gate, want error }{
		{nil, nil, nil},
		{form.ErrVerdict, nil, form.ErrVerdict},
		{nil, form.ErrVerdict, form.ErrVerdict},
		{nil, form.ErrUnjudged, form.ErrUnjudged},
		{form.ErrInvalid, form.ErrVerdict, form.ErrInvalid},
		{form.ErrInvalid, form.ErrUnjudged, form.ErrInvalid},
		{form.ErrVerdict, form.ErrInvalid, form.ErrInvalid},
	} {
		if got := Worst(c.own, c.gate); got != c.want { //nolint:errorlint // the very value
			t.Errorf("of %v and %v: %v, want %v", c.own, c.gate, got, c.want)
		}
	}
}
