package main

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rounding is a format that rounds a figure: how many digits it has is for units and text to
// decide.
var rounding = regexp.MustCompile(`%[-+# 0]*[0-9]*\.[0-9]+[eEfFgG]`)

// rounders are the files that may round by themselves, since no person reads what they write.
var rounders = map[string]string{
	"lab/declared.go":                   "bytes in YAML, scaled",
	"lab/guest.go":                      "the lab's log, for developers",
	"suite/demand.go":                   "a rate in YAML",
	"workload/write.go":                 "a rate in YAML",
	"diagnose/run/pl501_concurrency.go": "an option of fio, a whole per cent",
}

// TestNoPrinterButTextAndUnits: a figure in a sentence goes through units or text, so that it has
// the same digits and the same space before its unit everywhere.
func TestNoPrinterButTextAndUnits(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, _ := filepath.Rel("../../internal", path)
		if strings.HasPrefix(name, "units/") || strings.HasPrefix(name, "text/") {
			return nil
		}
		checkStrings(t, path, func(file string, line int, s string) {
			switch found := rounding.FindString(s); {
			case found == "":
			case rounders[name] != "":
				used[name] = true
			default:
				t.Errorf("%s:%d: %q rounds a figure with %s: use units or text", file, line, s, found)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range rounders {
		if !used[name] {
			t.Errorf("%s does not round any more: take it off the list", name)
		}
	}
}
