package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

// Linted is what lint found, in which documents.
type Linted struct {
	Files    []*script.File
	Findings []finding.Finding
	Tool     string // version of plimsoll, for SARIF
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
	for _, f := range l.Findings {
		count[f.Severity]++
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

func lintJSON(found []finding.Finding) any {
	type entry struct {
		File string `json:"file"`
		finding.Finding
	}
	out := []entry{}
	for _, f := range found {
		out = append(out, entry{f.File(), f})
	}
	return out
}

// lintGitHub prints workflow commands, which GitHub shows next to the line.
func lintGitHub(w io.Writer, l Linted) error {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	level := map[finding.Severity]string{finding.Fail: "error", finding.Warn: "warning", finding.Info: "notice"}
	var b strings.Builder
	for _, f := range l.Findings {
		fmt.Fprintf(
			&b,
			"::%s file=%s,line=%d,col=%d,title=%s::%s\n",
			cmp.Or(level[f.Severity], "error"),
			property.Replace(f.File()),
			f.Line,
			f.Col,
			property.Replace(string(f.Code)+" "+f.Title),
			value.Replace(f.Message+" "+f.Fix),
		)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sarif is the part of SARIF 2.1.0 that code hosts read.
func sarif(l Linted) any {
	found := l.Findings
	type object map[string]any
	level := map[finding.Severity]string{finding.Fail: "error", finding.Warn: "warning", finding.Info: "note"}
	phrase := func(s string) object { return object{"text": s} }
	rules := []object{}
	var codes []finding.Code
	for _, r := range lint.Rules() {
		if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Code == r.Code }) {
			continue
		}
		codes = append(codes, r.Code)
		rules = append(rules, object{
			"id": r.Code, "shortDescription": phrase(r.Title), "fullDescription": phrase(r.Why), "help": phrase(r.Fix),
			"defaultConfiguration": object{"level": cmp.Or(level[r.Severity], "error")},
		})
	}
	results := []object{}
	for _, f := range found {
		uri := (&url.URL{Path: filepath.ToSlash(f.File())}).String()
		results = append(results, object{
			"ruleId":    f.Code,
			"ruleIndex": slices.Index(codes, f.Code),
			"level":     cmp.Or(level[f.Severity], "error"),
			"message":   phrase(f.Message + " " + f.Fix),
			"locations": []object{{"physicalLocation": object{
				"artifactLocation": object{"uri": uri}, "region": object{"startLine": f.Line, "startColumn": f.Col},
			}}},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":       object{"driver": object{"name": "plimsoll", "version": l.Tool, "rules": rules}},
			"columnKind": "unicodeCodePoints", "results": results,
		}},
	}
}
