package run

import (
	"slices"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/internal/cli/form"
)

// TestPassedOnReadsBack: what fleet run passes on, a host's flags read back as the same value,
// also a 0.
func TestPassedOnReadsBack(t *testing.T) {
	for _, text := range []string{"0", "0s", "1", "1.5", "90s", "1h30m", "1ns"} {
		var first, second time.Duration
		flags := func(to *time.Duration) *pflag.FlagSet {
			f := pflag.NewFlagSet("", pflag.ContinueOnError)
			form.Bind(f, "measure", "ramp", to)
			return f
		}
		f := flags(&first)
		if err := f.Parse([]string{"--ramp", text}); err != nil {
			t.Fatal(err)
		}
		args := passedOn(f, nil)
		if err := flags(&second).Parse(args); err != nil || first != second {
			t.Errorf("%s: %q reads as %v, not %v: %v", text, args, second, first, err)
		}
		if !slices.Contains(args, "--") {
			t.Errorf("%q", args)
		}
	}
}
