package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Whoever checks docs/safety.md finds the tests that it names.
func TestSafetyNamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, name := range testNames(t) {
		there[name] = true
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*\\*?|[a-z0-9-]+\\.txtar|scripts/[a-z-]+\\.sh)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 50 {
		t.Fatalf("docs/safety.md names %d tests: is it read as it should be?", len(named))
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
				t.Errorf("docs/safety.md names %s: there is no such test", name)
			}
			continue
		}
		if _, err := os.Stat(name); err != nil {
			t.Errorf("docs/safety.md names %s: %v", m[1], err)
		}
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
