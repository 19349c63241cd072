package finding

import (
	"strings"

	"plimsoll/internal/fio/part"
)

// Rules are the rules of a file, in its order: a paragraph each, its first line with the code, since when there
// is such a rule, and the severity, the others with the texts of its page by their names. Further lines of one
// begin with two spaces. checks are their functions by code; those that it lacks are nil.
func Rules[C any](file string, checks map[Code]func(C, func(Finding))) (all []*Rule[C]) {
	var into *string
	var r *Rule[C]
	by := " "
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\n")
		name, body, ok := strings.Cut(line, ": ")
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case line[0] == ' ':
			*into += by + line[2:]
		case !ok:
			r = &Rule[C]{Code: Code(words[0]), Since: words[1], Severity: Severity(words[2]), Check: checks[Code(words[0])]}
			all = append(all, r)
		case name == "After":
			for _, w := range words[1:] {
				r.After = append(r.After, Code(w))
			}
		case name == "Needs":
			for w := range strings.SplitSeq(body, ", ") {
				r.Needs = append(r.Needs, part.Part(w))
			}
		default:
			into = map[string]*string{
				"Title": &r.Title, "When": &r.When, "Why": &r.Why, "Seen": &r.Seen, "Fix": &r.Fix, "Read": &r.Read,
				"Bad": &r.Bad, "Good": &r.Good, "Ignore": &r.Ignore,
			}[name]
			*into, by = body, " "
			if name == "Bad" || name == "Good" {
				by = "\n"
			}
		}
	}
	return all
}
