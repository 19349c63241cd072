package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/fio"
)

// The name that is said of each line is the one that fio prints of its job; lines that are silent have the name
// between their brackets.
func TestSectionsAgainstTheInstalledFio(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NOT TESTED: fio is not installed")
	}
	name := filepath.Join(t.TempDir(), "x.fio")
	for _, c := range []struct {
		line, job string // job is empty for a global section
		odd       bool
	}{
		{"[global", "globa", true},
		{"[globals", "", true},
		{"[global ; all", "globa", true},
		{"[Global]", "Global", true},
		{"[ global ]", " global ", true},
		{"[a] rw=read", "a] rw=rea", true},
		{"[global] x", "", true},
		{"[jobs", "job", true},
		{"[global]", "", false},
		{"[global ] # all", "", false},
		{"[a b]", "a b", false},
		{"  [a]", "a", false},
	} {
		text := c.line + "\nbs=8k\n[after]\nrw=write\nsize=1m\n[end]\nsize=1m\nzonemode=strided\n"
		if c.job != "" {
			text = strings.Replace(text, "bs=8k", "bs=8k\nsize=1m", 1)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.CommandContext(t.Context(), "fio", name).Output() // [end] is refused, so that nothing runs
		first, _, _ := strings.Cut(string(out), ": (g=0): ")
		if want := map[bool]string{true: c.job, false: "after"}[c.job != ""]; first != want {
			t.Errorf("%s: fio reads %q, want %q", c.line, first, want)
		}
		m, odd := MisreadSection(c.line, fio.SectionName(fio.StripComment(c.line)))
		if odd != c.odd || odd && !strings.Contains(m.Says, map[bool]string{true: `job named "` + c.job, false: "a global section"}[c.job != ""]) {
			t.Errorf("%s: %v %s", c.line, odd, m.Says)
		}
	}
}
