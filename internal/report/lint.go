package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

// Linted is what lint found, in which documents.
type Linted struct {
	Files    []*script.File
	Findings []finding.Finding
	Tool     string // version of plimsoll, for SARIF
	// Silenced are findings that comments in place silence, for SARIF's suppressions.
	Silenced []finding.Finding
}

// lintForms are the formats of lint, one entry each.
var lintForms = []struct {
	name  string
	write func(io.Writer, Linted) error
}{
	{"text", lintText},
	{"json", func(w io.Writer, l Linted) error { return WriteJSON(w, "findings", lintJSON(l.Findings)) }},
	{"sarif", func(w io.Writer, l Linted) error { return encode(w, sarif(l)) }},
	{"github", lintGitHub},
	{"junit", lintJUnit},
}

// LintFormats names the formats that Lint writes; the first is for people.
func LintFormats() []string {
	var names []string
	for _, f := range lintForms {
		names = append(names, f.name)
	}
	return names
}

// Lint writes what lint found in one of LintFormats.
func Lint(w io.Writer, format string, l Linted) error {
	for _, f := range lintForms {
		if f.name == format {
			return f.write(w, l)
		}
	}
	return unknownFormat(format, LintFormats())
}

// lintText prints like a compiler: a line a finding, its evidence and what to do indented below.
// The fix is printed once per rule, unless a case has its own.
func lintText(w io.Writer, l Linted) error {
	var b strings.Builder
	fixes := map[string]bool{}
	count := map[finding.Severity]int{}
	var unread []string // where fio commands stand that could not be read
	for _, f := range l.Findings {
		count[f.Severity]++
		if f.Code == "PL147" && len(l.Files) > 1 {
			unread = append(unread, strings.TrimSuffix(f.Subject, ":1"))
			continue
		}
		fmt.Fprintf(&b, "%s: %s %s: %s\n", f.Subject, f.Code, f.Severity, f.Message)
		for _, e := range f.Evidence {
			wanted := ""
			if e.Expected != "" {
				wanted = ", should be " + e.Expected
			}
			where := ""
			if e.Where != "" {
				where = " (" + e.Where + ")"
			}
			fmt.Fprintf(&b, "    %s: %s%s%s\n", e.What, e.Found, wanted, where)
		}
		if !fixes[f.Fix] {
			fixes[f.Fix] = true
			fmt.Fprintf(&b, "    fix: %s\n", f.Fix)
		}
		for _, c := range f.Commands {
			fmt.Fprintf(&b, "    %s\n", c)
		}
	}
	if len(unread) > 0 {
		shown := unread[:min(len(unread), 5)]
		fmt.Fprintf(&b, "PL147 info: what looks like fio could not be read in %s: %s", text.Plural(len(unread), "document", "documents"),
			strings.Join(shown, ", "))
		if len(shown) < len(unread) {
			fmt.Fprintf(&b, " and %d more", len(unread)-len(shown))
		}
		b.WriteString("\n")
	}
	jobs := 0
	for _, f := range l.Files {
		jobs += len(f.Jobs)
	}
	fmt.Fprintf(
		&b,
		"%s in %s: %s, %s, %d info\n",
		text.Plural(jobs, "fio command or job file", "fio commands and job files"),
		text.Plural(len(l.Files), "document", "documents"),
		text.Plural(count[finding.Fail], "error", "errors"),
		text.Plural(count[finding.Warn], "warning", "warnings"),
		count[finding.Info],
	)
	_, err := io.WriteString(w, b.String())
	return err
}
