package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/safety.md says of every command what it writes, and which test attacks it there.
func TestSafetyTableHasEveryCommand(t *testing.T) {
	data, err := os.ReadFile("../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "### Every command, and what it writes")
	table, _, ok := strings.Cut(table, "\n#")
	if !ok {
		t.Fatal("docs/safety.md has no table of commands")
	}
	var listed []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			listed = append(listed, m[1])
		}
		if written := strings.TrimSpace(cells[2]); strings.Contains(cells[1], "`") && strings.TrimSpace(cells[3]) == "" &&
			!strings.HasPrefix(written, "nothing") {
			t.Errorf("%s writes to %s, and no test is named", cells[1], written)
		}
	}
	var there []string
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			name := strings.TrimSpace(path + " " + sub.Name())
			if name != "completion" && len(sub.Commands()) > 0 {
				walk(sub, name)
				if sub.RunE == nil && sub.Run == nil || slices.Contains([]string{"array", "fleet", "lab"}, name) {
					continue
				}
			}
			there = append(there, name)
		}
	}
	walk(Commands(), "")
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("docs/safety.md does not say what plimsoll %s writes", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(there, name) && name != "help" && name != "completion" {
			t.Errorf("docs/safety.md lists plimsoll %s, which there is not", name)
		}
	}
}
