package live

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// bare says that what was planted stands in a line outside of single quotes. One between letters is of a sentence.
func bare(line string) bool {
	quoted, runes := false, []rune(line)
	for i, r := range runes {
		prose := r == '\'' && i > 0 && i+1 < len(runes) && unicode.IsLetter(runes[i-1]) && unicode.IsLetter(runes[i+1])
		if r == '\'' && !prose {
			quoted = !quoted
		}
		if !quoted && strings.HasPrefix(string(runes[i:]), "evil") {
			return true
		}
	}
	return false
}

// texts visits the texts of a document of JSON that are no keys.
func texts(v any, visit func(string) string) any {
	switch v := v.(type) {
	case string:
		return visit(v)
	case []any:
		for i := range v {
			v[i] = texts(v[i], visit)
		}
	case map[string]any:
		for k := range v {
			v[k] = texts(v[k], visit)
		}
	}
	return v
}

// What to do next is commands: whatever a machine's devices, mounts, groups and programs are called, or saved facts
// say that they are, it stands in quotes there.
func TestNextHoldsWhatIsForeign(t *testing.T) {
	plants := []string{";evil #", "$(evil)", "`evil`", " & evil"}
	if testing.Short() {
		plants = plants[:1]
	}
	judged, with, seen := 0, 0, map[string]bool{}
	for _, c := range firing {
		f := quietFacts()
		c.fire(f)
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		var doc any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		texts(doc, func(s string) string { names[s] = s != ""; return s })
		for name := range names {
			for _, evil := range plants {
				if err := json.Unmarshal(data, &doc); err != nil {
					t.Fatal(err)
				}
				doc = texts(doc, func(s string) string {
					if s == name {
						return s + evil // wherever it stands: a device is called the same in all of them
					}
					return s
				})
				planted, err := json.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				g := &Facts{}
				if json.Unmarshal(planted, g) != nil {
					continue // no text of its own: a word that Facts knows
				}
				judged++
				for _, cause := range Judge(g).Causes {
					for _, next := range cause.Next {
						if strings.Contains(next, "evil") {
							with++
						}
						if bare(next) && !seen[next] {
							seen[next] = true
							t.Errorf("%s, %q: %s", c.row, name, next)
						}
					}
				}
			}
		}
	}
	t.Logf("%d facts judged, %d lines with what was planted", judged, with)
	if with == 0 {
		t.Error("no line holds what was planted: the test tests nothing")
	}
}
