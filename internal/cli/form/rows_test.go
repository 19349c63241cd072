package form_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/cli"
	"plimsoll/internal/cli/form"
)

// Each row of flags.tsv is bound by a command that people see: with its number for its help it is in the manual.
func TestEachRowOfFlagsIsBound(t *testing.T) {
	rows := form.NumberFlags(t)
	dir := t.TempDir()
	if code := cli.Main([]string{"man", "--quiet", dir}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	var manual strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		manual.Write(text)
	}
	for number, row := range rows {
		if !strings.Contains(manual.String(), number) {
			t.Errorf("no command has a flag of the row %q", row)
		}
	}
}
