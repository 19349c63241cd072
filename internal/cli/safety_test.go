package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/safety.md says of every command what it writes, and docs/evidence/safety.md which test attacks
// it there.
func TestSafetyTableHasEveryCommand(t *testing.T) {
	tested := map[string]bool{}
	for _, row := range commandRows(t, "../../docs/evidence/safety.md", "### Commands") {
		for _, name := range row.commands {
			tested[name] = row.rest != ""
		}
	}
	var listed []string
	for _, row := range commandRows(t, "../../docs/safety.md", "### Every command, and what it writes") {
		listed = append(listed, row.commands...)
		for _, name := range row.commands {
			if !tested[name] && !strings.HasPrefix(row.rest, "nothing") {
				t.Errorf("%s writes to %s, and docs/evidence/safety.md names no test", name, row.rest)
			}
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

// commandRow is a row of a table of commands: those that it names, and its second cell.
type commandRow struct {
	commands []string
	rest     string
}

// commandRows are the rows of the table below a page's heading.
func commandRows(t *testing.T, page, heading string) []commandRow {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), heading+"\n")
	table, _, ok := strings.Cut(table, "\n#")
	if !ok {
		t.Fatalf("%s has no table of commands", page)
	}
	var rows []commandRow
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		row := commandRow{rest: strings.TrimSpace(cells[2])}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			row.commands = append(row.commands, m[1])
		}
		rows = append(rows, row)
	}
	return rows
}
