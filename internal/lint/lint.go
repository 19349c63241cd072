package lint

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
)

// Judge judges the documents of a case: what Judge finds in them, less what comments in place
// silence, by document and line.
func Judge(c *Case, disabled ...finding.Code) []finding.Finding {
	order := map[string]int{}
	files := map[string]*script.File{}
	for i, f := range c.Scripts {
		order[f.Name], files[f.Name] = i, f
	}
	off := finding.Disabled{}
	for _, code := range disabled {
		off[code] = "disabled"
	}
	all := finding.Judge(Rules(), c, off)
	c.temper(all, files)
	if !slices.Contains(disabled, idleComment.Code) {
		all = append(all, idleComments(c, all, disabled)...)
	}
	found := slices.DeleteFunc(all, func(f finding.Finding) bool {
		file := files[f.File()]
		return f.Disabled != "" || file == nil || file.Disabled(string(f.Code), f.Line)
	})
	slices.SortStableFunc(found, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(order[a.File()], order[b.File()]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Code, b.Code))
	})
	return found
}

// Silenced are the findings that comments in place silence.
func Silenced(c *Case, disabled ...finding.Code) []finding.Finding {
	files := map[string]*script.File{}
	for _, f := range c.Scripts {
		files[f.Name] = f
	}
	off := finding.Disabled{}
	for _, code := range disabled {
		off[code] = "disabled"
	}
	return slices.DeleteFunc(finding.Judge(Rules(), c, off), func(f finding.Finding) bool {
		file := files[f.File()]
		return f.Disabled != "" || file == nil || !file.Disabled(string(f.Code), f.Line)
	})
}

// Fix applies the certain repairs of findings in one document's text and says how many were made.
// Two that touch are not both applied: lint again.
func Fix(text string, found []finding.Finding) (string, int) {
	var edits []finding.Edit
	for _, f := range found {
		edits = append(edits, f.Edits...)
	}
	slices.SortStableFunc(edits,
		func(a, b finding.Edit) int { return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Col, a.Col)) })
	lines := strings.SplitAfter(text, "\n")
	made := 0
	var last finding.Edit
	for _, e := range edits {
		if e.Line < 1 || e.Line > len(lines) || e.Line == last.Line && e.Col == last.Col {
			continue
		}
		line := []rune(lines[e.Line-1])
		if e.Col < 1 || e.Col > len(line) {
			continue
		}
		// Col is where the word begins; what is replaced may stand further on in it (--bs=4KiB).
		rest := string(line[e.Col-1:])
		at := strings.Index(rest, e.Old)
		if at < 0 || strings.ContainsAny(rest[:at], " \t;#") && !strings.HasPrefix(e.Old, "=") {
			continue
		}
		lines[e.Line-1] = string(line[:e.Col-1]) + rest[:at] + e.New + rest[at+len(e.Old):]
		last = e
		made++
	}
	return strings.Join(lines, ""), made
}
