package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kindFiles are those that tell a database's scenarios and results from those of fio by their field: the
// methods Kind, the readers of a suite's file, and the rooms of PostgreSQL.
var kindFiles = []string{
	"suite/suite.go", "suite/load.go", "result/kind.go", "postgres/server.go", "diagnose/postgres/pl7xx_postgres.go",
}

// Whether a result is a database's or fio's is asked by Kind, in one way.
func TestKindsAreAskedOnce(t *testing.T) {
	asked := regexp.MustCompile(`\.Postgres (==|!=) nil`)
	var found []string
	for _, level := range []string{"../../internal/*/*.go", "../../internal/*/*/*.go"} {
		files, err := filepath.Glob(level)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || !asked.MatchString(read(t, file)) {
				continue
			}
			name := strings.TrimPrefix(filepath.ToSlash(file), "../../internal/")
			found = append(found, name)
			if !slices.Contains(kindFiles, name) {
				t.Errorf("internal/%s compares .Postgres with nil: ask Kind()", name)
			}
		}
	}
	for _, name := range kindFiles {
		if !slices.Contains(found, name) {
			t.Errorf("internal/%s does not any more: take it off the list", name)
		}
	}
}
