package runs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/report/page"
)

// Every kind of document answers in its first line, and fits its screen.
func TestEveryKindIsShort(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_SCREENS")
	for name, d := range kinds(t) {
		for _, width := range []int{80, 120} {
			var out bytes.Buffer
			if err := page.Write(&out, page.Text, d, page.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			t.Logf("%-24s %3d: %3d lines: %s", name, width, len(lines), lines[0])
			if dir != "" {
				if err := os.WriteFile(dir+"/"+strings.ReplaceAll(name, " ", "-")+map[int]string{80: "-080", 120: "-120"}[width], out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
