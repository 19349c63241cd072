package cli

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/compare"
	"plimsoll/internal/lab"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/workload"
	"plimsoll/internal/yamlfile"
)

// TestYAMLMistakes: whatever YAML a user writes, an error has the file and the line, the line's
// text and a caret, both for what the YAML library refuses and for a value that makes no sense.
func TestYAMLMistakes(t *testing.T) {
	ignore := func(_ any, err error) error { return err }
	readers := map[string]func(string) error{
		"plimsoll.yaml": func(s string) error { return ignore(topology.LoadDeclaration("f.yaml", []byte(s))) },
		"suite":         func(s string) error { return ignore(suite.Parse("f.yaml", []byte(s))) },
		"lab":           func(s string) error { return ignore(lab.ParseSpec("f.yaml", []byte(s))) },
		"workload":      func(s string) error { return ignore(workload.Parse("f.yaml", []byte(s))) },
		"expectations":  func(s string) error { return ignore(compare.ParseExpectations("f.yaml", []byte(s))) },
	}
	for _, c := range []struct{ reader, text, want, caret string }{
		{"plimsoll.yaml", "# ours\ntypo: 1\n", `f.yaml:2: unknown field "typo"`, "   2 | typo: 1\n     | ^"},
		{"plimsoll.yaml", "arrays:\n  - name: md0\n    level: raid7\n", "f.yaml:3: level", "   3 |     level: raid7\n     |     ^"},
		{"suite", "name: s\ntypo: 1\n", `f.yaml:2: unknown field "typo"`, "   2 | typo: 1\n     | ^"},
		{
			"suite", "scenarios:\n  - id: 0\n    name: a\n    fio: {rw: read}\n", "f.yaml:2: scenarios[0].id: a scenario needs an id from 1 to 999",
			"   2 |   - id: 0\n     |         ^",
		},
		{"lab", "typo: 1\n", `f.yaml:1: unknown field "typo"`, "   1 | typo: 1\n     | ^"},
		{
			"lab", "volumes:\n  - name: data\n    cache: maybe\n", `f.yaml:3: volume data: cache "maybe": want none or volatile`,
			"   3 |     cache: maybe\n     |            ^",
		},
		{"workload", "workload: a\ntypo: 1\n", `f.yaml:2: unknown field "typo"`, "   2 | typo: 1\n     | ^"},
		{
			"workload", "workload: a\nstreams: 3\n", "f.yaml:2: ", "   2 | streams: 3\n     |          ^",
		},
		{"expectations", "name: a\ntypo: 1\n", `f.yaml:2: unknown field "typo"`, "   2 | typo: 1\n     | ^"},
		{
			"expectations", "name: a\nfigures:\n  - {scenario: a, figure: nosuch, value: 1}\n", "f.yaml:3: figure 1 (a): ",
			"   3 |   - {scenario: a, figure: nosuch, value: 1}\n     |     ^",
		},
	} {
		err := readers[c.reader](c.text)
		m, ok := errors.AsType[*yamlfile.Mistake](err)
		if !ok || !strings.HasPrefix(m.Error(), c.want) || m.Excerpt() != c.caret {
			t.Errorf("%s: %v", c.reader, err)
			if ok {
				t.Errorf("got\n%s\nwant %s\n%s", m.Excerpt(), c.want, c.caret)
			}
		}
	}
}
