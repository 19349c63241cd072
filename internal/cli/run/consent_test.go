package run

import (
	"slices"
	"testing"

	"plimsoll/internal/cli/form"
)

// What a record says was typed is printed without what permits anything, in whatever way it is written.
func TestWithoutConsent(t *testing.T) {
	flags := newABFlags(&form.Env{}, &abOptions{}).Flags()
	for _, c := range []struct{ words, rest, consents []string }{
		{
			[]string{"db", "--data", "/x", "--destroy", "/dev/sda", "--serial=S1", "--yes", "--variant", "a", "--out=/etc/cron.d"},
			[]string{"db", "--data", "/x", "--variant", "a"},
			[]string{"--destroy", "--serial", "--yes", "--out"},
		},
		{[]string{"--yes=true", "--allow-exec", "db"}, []string{"db"}, []string{"--yes", "--allow-exec"}},
		{[]string{"--state", "/root/x", "--", "--yes"}, []string{"--", "--yes"}, []string{"--state"}},
		{[]string{"db", "--on", "/dev/sda", "--serial", "S1"}, []string{"db"}, []string{"--on", "--serial"}},
		{
			[]string{"db", "--label", "--", "--destroy", "/dev/sda", "--yes", "--variant", "a"},
			[]string{"db", "--label=--", "--variant", "a"},
			[]string{"--destroy", "--yes"},
		},
		{[]string{"db", "--rounds", "2"}, []string{"db", "--rounds", "2"}, nil},
	} {
		rest, consents, err := withoutConsent(flags, c.words)
		if err != nil || !slices.Equal(rest, c.rest) || !slices.Equal(consents, c.consents) {
			t.Errorf("%q: %q, %q, %v", c.words, rest, consents, err)
		}
	}
	if _, _, err := withoutConsent(flags, []string{"db", "--destroy"}); err == nil {
		t.Error("a flag without its value")
	}
}
