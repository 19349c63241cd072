package cli

import (
	"errors"
	"strings"
	"testing"
)

// A former name is no command any more, and the one that it names exists.
func TestFormerNamesLeadToCommands(t *testing.T) {
	root := Commands()
	for was, now := range former() {
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
		if err := noCommand(root, []string{was}); err == nil || !errors.Is(err, errUsage) ||
			!strings.HasSuffix(readable(err), "type "+now) {
			t.Errorf("%s: %v", was, err)
		}
	}
}
