package main

import (
	"fmt"
	"maps"
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
	for name := range testNames(t) {
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
	known, n := testNames(t), 0
	for line := range strings.Lines(string(list)) {
		room, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if room == "#" {
			continue
		}
		if rooms := known[name]; !slices.Equal(rooms, []string{room}) {
			t.Errorf("%s is said to be in %s, and is in %q", name, room, rooms)
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
	known, n := slices.Collect(maps.Keys(testNames(t))), 0
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

// testNames are the test functions of the tree, each with the rooms that have one of that name.
func testNames(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("grep", "-roE", "--include=*_test.go", `^func (Test|Fuzz)[A-Za-z0-9]+`, "internal", "cmd")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^(.+):func (.+)$`).FindAllStringSubmatch(string(out), -1) {
		names[m[2]] = append(names[m[2]], filepath.Dir(m[1]))
	}
	return names
}

// A test that fails makes scripts/test.sh fail and is named by it, and one that passes does not.
func TestFailedTestsFailMakeTest(t *testing.T) {
	script, err := filepath.Abs("../../scripts/test.sh")
	if err != nil {
		t.Fatal(err)
	}
	for want, body := range map[string]string{"--- FAIL: TestIt": `t.Error("said")`, "ok": ``} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module it\n", "it_test.go": "package it\nimport \"testing\"\nfunc TestIt(t *testing.T) {" + body + "}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", "-uo", "pipefail", "-c",
			`source <(sed -n '/^run()/,/^}/p; /^failures()/,/^}/p' "$0"); own=() logs=$PWD; run rooms .`, script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if failed := err != nil; failed != (body != "") || !strings.Contains(string(out), want) {
			t.Errorf("%v, want %q:\n%s", err, want, out)
		}
	}
}

// What tests leave behind makes scripts/test.sh fail: a process, and a loop device on a file of theirs.
func TestLeftoversFailMakeTest(t *testing.T) {
	script, err := filepath.Abs("../../scripts/test.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	left := func() string {
		t.Helper()
		out, err := exec.Command("bash", "-uo", "pipefail", "-c",
			`source <(sed -n '/^left()/,/^}/p' "$0"); TMPDIR=$1; left; true`, script, dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if got := left(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	stray := exec.Command("sleep", "600")
	stray.Env = append(os.Environ(), "TMPDIR="+dir)
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stray.Process.Kill(), stray.Wait() })
	if got, want := left(), fmt.Sprintf("process %d: sleep 600 \n", stray.Process.Pid); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	file := filepath.Join(dir, "image")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	device, err := exec.Command("losetup", "--find", "--show", file).Output()
	if err != nil {
		t.Skip("SKIPPED: no loop device can be made here, so only processes were tried")
	}
	name := strings.TrimSpace(string(device))
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", name).Run() })
	if got, want := left(), "loop device "+name+" "+file+"\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q first", got, want)
	}
}

// make bench goes on after a part that fails, is skipped or prints nothing, and names it.
func TestBenchGoesOn(t *testing.T) {
	script, err := filepath.Abs("../../scripts/bench.sh")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("bash", "-uo", "pipefail", "-c", `source <(sed -n '/^part()/,/^}/p' "$0"); missed=()
		part good echo 5 %; part fails false; part silent true; part skips echo '--- SKIP: TestIt (0.00s)'; part last echo 7; printf '%s.' "${missed[@]}"`,
		script).CombinedOutput()
	if want := "== good\n5 %\n== fails\n\n== silent\n\n== skips\n--- SKIP: TestIt (0.00s)\n== last\n7\nfails.silent.skips."; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}
