package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Whoever checks the pages of evidence finds the tests that they name.
func TestPagesNameTestsThatExist(t *testing.T) {
	there := map[string]bool{}
	for _, name := range testNames(t) {
		there[name] = true
	}
	pages, err := filepath.Glob("../../docs/evidence/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages of evidence: %v", err)
	}
	for _, page := range pages {
		least := 0
		if filepath.Base(page) == "safety.md" {
			least = 50
		}
		namesTests(t, page, least, there)
	}
}

// namesTests looks up the tests and scripts that a page names, at least so many.
func namesTests(t *testing.T, page string, least int, there map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*\\*?|[a-z0-9-]+\\.txtar|scripts/[a-z-]+\\.sh)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < least {
		t.Fatalf("%s names %d tests: is it read as it should be?", page, len(named))
	}
	for _, m := range named {
		name := m[1]
		switch {
		case filepath.Ext(name) == ".txtar":
			name = "../../internal/cli/testdata/script/" + name
		case filepath.Ext(name) == ".sh":
			name = "../../" + name
		default:
			if prefix := name[:len(name)-1]; name[len(name)-1] == '*' {
				for known := range there {
					there[name] = there[name] || len(known) > len(prefix) && known[:len(prefix)] == prefix
				}
			}
			if !there[name] {
				t.Errorf("%s names %s: there is no such test", page, name)
			}
			continue
		}
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s names %s: %v", page, m[1], err)
		}
	}
}

// The tests that run without the race detector exist, each in the room that is said and in no other: -skip knows
// names only.
func TestSingleTestsExist(t *testing.T) {
	list, err := os.ReadFile("../../scripts/single.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		room, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if room == "#" {
			continue
		}
		out, err := exec.Command("grep", "-rlE", "--include=*_test.go", "^func "+name+`\(`, "../../internal", "../../cmd").Output()
		if files := strings.Fields(string(out)); !ok || err != nil || len(files) != 1 || filepath.Dir(files[0]) != "../../"+room {
			t.Errorf("%s: found in %q (%v)", strings.TrimSpace(line), files, err)
		}
		n++
	}
	if n < 20 {
		t.Errorf("the list has %d tests", n)
	}
}

// The tests that the Makefile and the scripts name exist; a pattern is the beginning of a name.
func TestScriptsNameTestsThatExist(t *testing.T) {
	files, err := filepath.Glob("../../scripts/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	known, n := testNames(t), 0
	for _, file := range append(files, "../../Makefile") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*`).FindAllString(string(text), -1) {
			n++
			if !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, name) }) {
				t.Errorf("%s names %s: there is no such test", file, name)
			}
		}
	}
	if n < 10 {
		t.Errorf("the scripts name %d tests", n)
	}
}

// testNames are the test functions of the tree.
func testNames(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("grep", "-rhoE", "--include=*_test.go", `^func (Test|Fuzz)[A-Za-z0-9]+`, "../../internal", "../../cmd").Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^func (.+)$`).FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	return names
}
