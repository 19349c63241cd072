package run

import (
	"slices"
	"testing"

	"plimsoll/internal/cli/form"
)

// What is typed reaches the hosts as it was meant: zero, too, which once went on as nothing.
func TestZeroIsPassedOn(t *testing.T) {
	for typed, want := range map[string][]string{
		"--ramp=0": {"--ramp=0s", "--"}, "--cooldown=0": {"--cooldown=0s", "--"}, "--runtime=90": {"--runtime=1m30s", "--"},
	} {
		cmd := newFleetRunCmd(&form.Env{})
		if err := cmd.Flags().Parse([]string{typed}); err != nil {
			t.Fatal(err)
		}
		got := passedOn(cmd.Flags(), nil)
		if !slices.Equal(got, want) {
			t.Errorf("%s goes on as %q, want %q", typed, got, want)
		}
		if err := NewRun(&form.Env{}).Flags().Parse(got); err != nil {
			t.Errorf("%q: the host refuses it: %v", got, err)
		}
	}
}
