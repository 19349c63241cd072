package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/evidence/safety.md says of every command what it writes, and which test attacks it there.
func TestSafetyTableHasEveryCommand(t *testing.T) {
	var listed []string
	for _, row := range commandRows(t, "../../docs/evidence/safety.md", "### Every command, and what it writes") {
		listed = append(listed, row.commands...)
		if row.test == "-" && !strings.HasPrefix(row.writes, "nothing") {
			t.Errorf("%q write to %s, and no test is named", row.commands, row.writes)
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
			t.Errorf("docs/evidence/safety.md does not say what plimsoll %s writes", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(there, name) && name != "help" && name != "completion" {
			t.Errorf("docs/evidence/safety.md lists plimsoll %s, which there is not", name)
		}
	}
}

// commandRow is a row of a table of commands: those that it names, and its other cells.
type commandRow struct {
	commands     []string
	writes, test string
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
		if len(cells) < 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		row := commandRow{writes: strings.TrimSpace(cells[2]), test: strings.TrimSpace(cells[3])}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			row.commands = append(row.commands, m[1])
		}
		rows = append(rows, row)
	}
	return rows
}
