package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
)

var lintFormats = []string{"text", "json", "sarif", "github"}

func printLint(w io.Writer, format string, files []*script.File, found []finding.Finding) error {
	switch format {
	case "json":
		return printJSON(w, lintJSON(found))
	case "sarif":
		return printJSON(w, sarif(found))
	case "github":
		return lintGitHub(w, found)
	}
	return lintText(w, files, found)
}

// lintText prints like a compiler: a line a finding, its evidence and what to do indented below. What to do is said at a
// rule's first finding, unless the case has its own.
func lintText(w io.Writer, files []*script.File, found []finding.Finding) error {
	var b strings.Builder
	told := map[string]bool{}
	count := map[finding.Severity]int{}
	for _, f := range found {
		count[f.Severity]++
		fmt.Fprintf(&b, "%s: %s %s: %s\n", f.Subject, f.Code, f.Severity, f.Says)
		for _, e := range f.Evidence {
			wanted := ""
			if e.Wanted != "" {
				wanted = ", should be " + e.Wanted
			}
			where := ""
			if e.Where != "" {
				where = " (" + e.Where + ")"
			}
			fmt.Fprintf(&b, "    %s: %s%s%s\n", e.What, e.Found, wanted, where)
		}
		if !told[f.Fix] {
			told[f.Fix] = true
			fmt.Fprintf(&b, "    do: %s\n", f.Fix)
		}
		for _, c := range f.Commands {
			fmt.Fprintf(&b, "    %s\n", c)
		}
	}
	jobs := 0
	for _, f := range files {
		jobs += len(f.Jobs)
	}
	fmt.Fprintf(&b, "%s in %s: %s, %s, %d info\n", countOf(jobs, "fio command or job file", "fio commands and job files"), countOf(len(files), "document", "documents"),
		countOf(count[finding.Fail], "error", "errors"), countOf(count[finding.Warn], "warning", "warnings"), count[finding.Info])
	_, err := io.WriteString(w, b.String())
	return err
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
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

// lintGitHub prints workflow commands, which GitHub shows beside the line.
func lintGitHub(w io.Writer, found []finding.Finding) error {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	level := map[finding.Severity]string{finding.Fail: "error", finding.Warn: "warning", finding.Info: "notice"}
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", cmp.Or(level[f.Severity], "error"), property.Replace(f.File()), f.Line, f.Col,
			property.Replace(string(f.Code)+" "+f.Title), value.Replace(f.Says+" "+f.Fix))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sarif is the part of SARIF 2.1.0 that code hosts read.
func sarif(found []finding.Finding) any {
	type object map[string]any
	level := map[finding.Severity]string{finding.Fail: "error", finding.Warn: "warning", finding.Info: "note"}
	text := func(s string) object { return object{"text": s} }
	rules := []object{}
	var codes []finding.Code
	for _, r := range finding.Rules() {
		if !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Code == r.Code }) {
			continue
		}
		codes = append(codes, r.Code)
		rules = append(rules, object{
			"id": r.Code, "shortDescription": text(r.Title), "fullDescription": text(r.Why), "help": text(r.Fix),
			"defaultConfiguration": object{"level": cmp.Or(level[r.Severity], "error")},
		})
	}
	results := []object{}
	for _, f := range found {
		uri := (&url.URL{Path: filepath.ToSlash(f.File())}).String()
		results = append(results, object{
			"ruleId": f.Code, "ruleIndex": slices.Index(codes, f.Code), "level": cmp.Or(level[f.Severity], "error"), "message": text(f.Says + " " + f.Fix),
			"locations": []object{{"physicalLocation": object{
				"artifactLocation": object{"uri": uri}, "region": object{"startLine": f.Line, "startColumn": f.Col},
			}}},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":       object{"driver": object{"name": "plimsoll", "version": Version, "rules": rules}},
			"columnKind": "unicodeCodePoints", "results": results,
		}},
	}
}
