package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largest is what a file of the repository may take, in bytes: sources, data with their source, and
// pictures. What is larger was downloaded or built.
const largest = 1 << 20

// atTheTop are the files outside of all directories.
const atTheTop = `.gitignore .golangci.yml .pre-commit-hooks.yaml CHANGELOG.md CONTRIBUTING.md LICENSE Makefile NOTICE README.md
	SECURITY.md action.yml go.mod go.sum`

func TestTrackedFilesAreSmall(t *testing.T) {
	names, err := exec.Command("git", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("NO REPOSITORY: git does not list the tracked files here: ", err)
	}
	files := strings.Split(strings.TrimRight(string(names), "\x00"), "\x00")
	if len(files) < 1000 {
		t.Fatalf("git lists %d files", len(files))
	}
	for _, name := range files {
		info, err := os.Lstat(filepath.Join("../..", name))
		if err != nil {
			continue // removed, and not yet committed
		}
		if info.Size() > largest {
			t.Errorf("%s has %d bytes, more than %d: was it downloaded or built?", name, info.Size(), largest)
		}
		if !strings.Contains(name, "/") && !slices.Contains(strings.Fields(atTheTop), name) {
			t.Errorf("%s lies at the top of the repository, where it is not expected", name)
		}
	}
}
