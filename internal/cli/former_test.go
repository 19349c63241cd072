package cli

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/cli/form"
)

// A former name is no command any more, and the one that it names exists.
func TestFormerNamesLeadToCommands(t *testing.T) {
	root := Commands()
	for was, now := range form.Former() {
		if of, _, err := root.Find([]string{was}); err == nil && of != root {
			t.Errorf("%s is a command", was)
		}
		words := strings.Fields(now)[1:]
		of, rest, err := root.Find(words)
		if err != nil || of == root {
			t.Errorf("%s: %s: %v", was, now, err)
			continue
		}
		for _, word := range rest {
			if flag, ok := strings.CutPrefix(word, "--"); ok && of.Flags().Lookup(flag) == nil {
				t.Errorf("%s: %s: there is no %s", was, now, word)
			}
		}
		if err := form.NoCommand(root, []string{was}); err == nil || !errors.Is(err, form.ErrUsage) ||
			!strings.HasSuffix(form.Readable(err), "type "+now) {
			t.Errorf("%s: %v", was, err)
		}
	}
}
