package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/sys"
)

// unlike is what differs from run to run in what a command prints: the time and the version.
var unlike = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC|plimsoll (devel|v1)\b`)

// Every "$ plimsoll" block of these pages shows what the command prints, but for those of the lab,
// which measure for minutes, and of a live machine. A line "..." stands for any lines. Commands run
// where the documents are, those of docs/lint.md in the repository.
func TestPagesAreTrue(t *testing.T) {
	pages := map[string]int{
		"README.md": 2, "docs/advise.md": 1, "docs/ceiling.md": 1, "docs/clouds.md": 2, "docs/import.md": 1, "docs/lint.md": 1,
		"docs/suites.md": 1, "docs/workload.md": 2,
	}
	bodies := map[string]string{}
	for page := range pages {
		body, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		bodies[page] = string(body)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	documents := t.TempDir()
	seeds := os.DirFS("../../testdata/seeds")
	if err := os.Symlink(documents, filepath.Join(documents, "testdata")); err != nil { // as from a clone
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(documents, "seeds"), seeds); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"workload-to-jobfile.md": "workload-to-jobfile.md", "MS-28k-r-r-16.log": "round16.log"} {
		if err := os.Link(filepath.Join(documents, "seeds", from), filepath.Join(documents, to)); err != nil {
			t.Fatal(err)
		}
	}
	for file, page := range map[string]string{"guide.yaml": "docs/advise.md", "app.yaml": "docs/workload.md"} {
		_, after, _ := strings.Cut(bodies[page], "```yaml\n")
		demand, _, _ := strings.Cut(after, "```")
		if err := os.WriteFile(filepath.Join(documents, file), []byte(demand), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for page, blocks := range pages {
		shown := 0
		for block := range strings.SplitSeq(bodies[page], "```") {
			command, want, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(block, "console"), "\n"), "\n")
			command, typed := strings.CutPrefix(command, "$ plimsoll ")
			if !ok || !typed || strings.HasPrefix(command, "lab ") || strings.HasPrefix(command, "workload record ") ||
				strings.HasPrefix(command, "why ") {
				continue
			}
			shown++
			if page != "docs/lint.md" {
				t.Chdir(documents)
			}
			got := printed(t, command)
			t.Chdir(here)
			if !shows(want, got) && !rewrite(t, filepath.Join("../..", page), want, got) {
				t.Errorf("plimsoll %s prints\n%s\n%s shows\n%s", command, got, page, want)
			}
		}
		if shown != blocks {
			t.Errorf("%d commands on %s, want %d", shown, page, blocks)
		}
	}
}

// printed is what a command prints; a verdict that is not good is no failure of it.
func printed(t *testing.T, command string) string {
	t.Helper()
	argv, err := shell.Split(command)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := newRootCmd(&form.Env{Machine: sys.Host(), Version: Version, Out: &out, Err: &out})
	root.SetArgs(argv)
	if err := root.ExecuteContext(t.Context()); err != nil && !errors.Is(err, form.ErrVerdict) && !errors.Is(err, form.ErrInvalid) {
		t.Errorf("%s: %v", command, err)
	}
	return out.String()
}

// shows says whether a page's block is what was printed: its parts between lines of "..." in their
// order, the first one at the start and the last one at the end.
func shows(page, got string) bool {
	page, got = unlike.ReplaceAllString(page, "-"), unlike.ReplaceAllString(got, "-")
	parts := strings.Split(page, "...\n")
	if len(parts) == 1 {
		return page == got
	}
	for i, part := range parts {
		at := strings.Index(got, strings.Trim(part, "\n"))
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		got = got[at+len(strings.Trim(part, "\n")):]
	}
	return true
}

// rewrite puts what was printed into a page where UPDATE is set, as much of it before and after each
// "..." as there was. Read the difference before committing it.
func rewrite(t *testing.T, file, was, got string) bool {
	t.Helper()
	if os.Getenv("UPDATE") == "" {
		return false
	}
	if parts := strings.Split(was, "...\n"); len(parts) > 1 {
		lines := strings.SplitAfter(got, "\n")
		head, tail := strings.Count(parts[0], "\n"), strings.Count(parts[len(parts)-1], "\n")
		if head+tail < len(lines) {
			got = strings.Join(lines[:head], "") + "...\n" + strings.Join(lines[len(lines)-1-tail:], "")
		}
	}
	body, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(body), was, got, 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

func TestShows(t *testing.T) {
	for page, want := range map[string]bool{
		"a\nb\n": true, "a\n": false, "a\n...\n": true, "...\nb\n": true, "b\n...\n": false, "a\n...\nc\n": false,
	} {
		if shows(page, "a\nb\n") != want {
			t.Errorf("%q: want %t", page, want)
		}
	}
}
