package script

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/sys"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Options that a fio in the tree defines come from its source and from patches of it, and from no other program.
func TestOptionsOfAFioInTheTree(t *testing.T) {
	const option = "\t{\n\t\t.name\t= \"%s\",\n\t\t.type\t= FIO_OPT_INT,\n\t},\n"
	of := func(name string) string {
		return "static struct fio_option o[] = {\n" + strings.Replace(option, "%s", name, 1) + "};\n"
	}
	dir := tree(t, map[string]string{
		"fio-3.40/engines/mmap.c": of("share_mmap"),
		"fio-3.40/options.c":      of("repl"),
		"fio-3.40/parse.c":        of("elsewhere"),
		"fio-zones.patch":         "+\t\t.name\t= \"zone_hint\",\n+\t\t.type\t= FIO_OPT_INT,\n",
		"other/options.c":         "{ .name = \"color\", }\n",
		"x.fio":                   "[a]\nrw=read\n",
	})
	own, seen := map[string]string{}, 0
	if err := (Finder{Read: sys.Text, Own: own}).Walk(dir, func(Found) { seen++ }); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(own)); !slices.Equal(got, []string{"repl", "share_mmap", "zone_hint"}) || seen != 1 {
		t.Errorf("%v in %d documents", own, seen)
	}
	if own["share_mmap"] != filepath.Join(dir, "fio-3.40/engines/mmap.c") {
		t.Errorf("share_mmap is said to come from %q", own["share_mmap"])
	}
}

// A .gitignore that is a FIFO is waited for by nobody: nothing ever writes it.
func TestIgnoreFileIsAFIFO(t *testing.T) {
	dir := tree(t, map[string]string{"x.fio": "[a]\nrw=read\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, done := 0, make(chan error, 1)
	go func() { done <- (Finder{Read: sys.Text}).Walk(dir, func(Found) { seen++ }) }()
	select {
	case err := <-done:
		if err != nil || seen != 1 {
			t.Errorf("%d documents, %v", seen, err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the walk waits for somebody to write the FIFO")
	}
}

// The hooks for pre-commit hand lint what it reads below a folder, and nothing else.
func TestHooksSelectWhatIsRead(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	excludes := regexp.MustCompile(`(?m)^  exclude: (.+)$`).FindAllStringSubmatch(string(text), -1)
	if len(excludes) != 2 || excludes[0][1] != excludes[1][1] {
		t.Fatalf("%q: want one pattern for both hooks", excludes)
	}
	exclude := regexp.MustCompile(excludes[0][1])
	for ending := range sourceEndings {
		if !exclude.MatchString("a/x" + ending) {
			t.Errorf("%s is handed over and not read", ending)
		}
	}
	for name := range strings.FieldsSeq("x.fio x.job x.sh x.py x.tf x.tmpl Dockerfile Makefile Jenkinsfile run x.ipynb x.j2 x.md") {
		if exclude.MatchString(name) {
			t.Errorf("%s is read and not handed over", name)
		}
	}
}
