package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/text"
)

// Each page of commands.txt is that of a command. (That each command has one holds whenever the commands are made.)
func TestEachPageHasItsCommand(t *testing.T) {
	pages, err := os.ReadFile("form/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(pages)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if !ok {
			continue
		}
		n++
		if name = strings.TrimSuffix(name, " --"); commandNamed(name) == nil && name != "help" {
			t.Errorf("there is no command %q", name)
		}
	}
	if n < 40 {
		t.Errorf("%d pages were read", n)
	}
}

// On a screen of 80 columns only a command to be copied is wider than it, and no word of the help is lost.
func TestHelpFitsAScreen(t *testing.T) {
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		help := cmd.Long + "\n\n" + cmd.UsageString()
		got := fitted(help, 80)
		if !slices.Equal(strings.Fields(got), strings.Fields(help)) {
			t.Errorf("%s: words are lost in\n%s", cmd.CommandPath(), got)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if text.Width(line) > 80 && !strings.Contains(line, "plimsoll ") {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), text.Width(line), line)
			}
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(Commands())
	got := fitted("Flags:\n  -q, --quiet   print no progress\n", 24)
	if got != "Flags:\n  -q, --quiet   print no\n                progress\n" {
		t.Errorf("%q", got)
	}
}

// Each row of pairs.tsv is of commands that there are, and names flags of theirs, their arguments, or their forms.
func TestPairsNameFlagsAndForms(t *testing.T) {
	rows, err := os.ReadFile("form/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(rows)), "\n") {
		row := strings.Split(line, "\t")
		if i == 0 || row[0] == "*" {
			continue
		}
		if len(row) != 5 || slices.Contains(row, "") {
			t.Errorf("row %d: %q: want five columns", i+1, row)
			continue
		}
		for name := range strings.SplitSeq(row[0], ",") {
			cmd := commandNamed(name)
			if cmd == nil {
				t.Errorf("row %d: there is no command %q", i+1, name)
				continue
			}
			for other := range strings.SplitSeq(row[3], ",") {
				isForm := slices.Contains(strings.Split(cmd.Annotations[form.FormsAnnotation], "\n"), other)
				isFlag := cmd.Flags().Lookup(other) != nil || other == form.AnArgument
				if row[1] == "is read by" && !isForm || row[1] != "is read by" && !isFlag {
					t.Errorf("row %d: %s %s %s: there is no such", i+1, name, row[1], other)
				}
			}
		}
	}
}

// commandNamed is a command by its path behind plimsoll, nil for none.
func commandNamed(path string) *cobra.Command {
	cmd, rest, err := Commands().Find(strings.Fields(path))
	if err != nil || len(rest) > 0 || !cmd.HasParent() {
		return nil
	}
	return cmd
}
