package page

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/text"
)

type object map[string]any

// rulePages begins the name of each rule's page, which plimsoll explain prints: there is no address
// that all installations share.
const rulePages = "urn:plimsoll:finding:"

func phrase(s string) object { return object{"text": s} }

// levelOf is a severity to a code host, which has a word of its own for what is no warning.
func levelOf(severity, info string) string {
	return cmp.Or(map[string]string{"warning": "warning", "info": info}[severity], "error")
}

// found is what a gate says and what the document found.
func (d *Document) found() []Finding { return slices.Concat(d.Gated, d.Findings()) }

// writeSARIF writes the findings as the part of SARIF 2.1.0 that code hosts read. A finding that is
// on no document has a logical location: the scenario, the array, the host.
func writeSARIF(out *bufio.Writer, d *Document, _ Options) error {
	rules, results := []object{}, []object{}
	var codes []string
	found := d.found()
	seen := map[string]int{}
	for i, f := range slices.Concat(found, d.Silenced) {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
			why, fix := cmp.Or(f.Why, f.Title), cmp.Or(f.Fix, f.Title)
			rules = append(rules, object{
				"id": f.Code, "name": f.Code, "shortDescription": phrase(f.Title), "fullDescription": phrase(why),
				"helpUri": rulePages + f.Code, "help": object{"text": fix, "markdown": why + "\n\n**Fix:** " + fix},
				"defaultConfiguration": object{"level": levelOf(f.Severity, "note")},
			})
		}
		result := d.sarifResult(f, slices.Index(codes, f.Code), seen)
		if i >= len(found) {
			result["suppressions"] = []object{{"kind": "inSource", "justification": "plimsoll: disable"}}
		}
		results = append(results, result)
	}
	run := object{
		"tool": object{"driver": object{
			"name": "plimsoll", "version": d.Tool, "informationUri": "urn:plimsoll", "rules": rules,
		}},
		"columnKind": "unicodeCodePoints", "results": results,
	}
	if d.Run != nil {
		run["properties"] = d.Run
	}
	return encode(out, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run},
	})
}

func (d *Document) sarifResult(f Finding, rule int, seen map[string]int) object {
	result := object{
		"ruleId": f.Code, "ruleIndex": rule, "level": levelOf(f.Severity, "note"),
		"message":   phrase(f.says()),
		"locations": []object{{"logicalLocations": []object{{"name": cmp.Or(f.Subject, f.Where.Names(), d.Kind)}}}},
	}
	if f.File == "" {
		return result
	}
	uri := (&url.URL{Path: filepath.ToSlash(f.File)}).String()
	region := object{"startLine": max(f.Line, 1), "startColumn": max(f.Col, 1)}
	if f.EndCol > f.Col {
		region["endColumn"] = f.EndCol
	}
	result["locations"] = []object{{"physicalLocation": object{"artifactLocation": object{"uri": uri}, "region": region}}}
	if f.Fingerprint != "" {
		seen[f.Fingerprint]++
		sum := sha256.Sum256([]byte(f.Fingerprint))
		result["partialFingerprints"] = object{
			"plimsoll/v1": fmt.Sprintf("%s:%d", hex.EncodeToString(sum[:12]), seen[f.Fingerprint]),
		}
	}
	var changes []object
	for _, e := range f.Edits {
		changes = append(changes, object{
			"deletedRegion":   object{"startLine": e.Line, "startColumn": e.Col, "endColumn": e.EndCol},
			"insertedContent": phrase(e.New),
		})
	}
	if len(changes) > 0 {
		result["fixes"] = []object{{
			"description":     phrase(f.Fix),
			"artifactChanges": []object{{"artifactLocation": object{"uri": uri}, "replacements": changes}},
		}}
	}
	return result
}

// says is what was found and what to do about it, as sentences.
func (f *Finding) says() string {
	said := strings.TrimSpace(f.Message)
	if said != "" && f.Fix != "" && !strings.ContainsAny(said[len(said)-1:], ".!?:") {
		said += "."
	}
	return strings.TrimSpace(said + " " + f.Fix)
}

// mostAnnotations is how many of a level GitHub shows of one step.
const mostAnnotations = 10

// writeGitHub prints the findings as workflow commands, which GitHub shows next to the line, or on
// the page of the workflow where they are on no line: errors first, and of each level as many as it
// shows, the rest in one more.
func writeGitHub(out *bufio.Writer, d *Document, _ Options) error {
	ends := []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	value, property := strings.NewReplacer(ends...), strings.NewReplacer(append(ends, ":", "%3A", ",", "%2C")...)
	if level := d.headLevel(); level != "" {
		fmt.Fprintf(out, "::%s title=plimsoll::%s\n", level, value.Replace(d.inALine()))
	}
	for _, level := range []string{"error", "warning", "notice"} {
		var of []Finding
		for _, f := range d.found() {
			if levelOf(f.Severity, "notice") == level {
				of = append(of, f)
			}
		}
		most := len(of)
		if most > mostAnnotations {
			most = mostAnnotations - 1
		}
		for _, f := range of[:most] {
			at := fmt.Sprintf("file=%s,line=%d,col=%d,", property.Replace(f.File), f.Line, f.Col)
			fmt.Fprintf(out, "::%s %stitle=%s::%s\n", level, text.Either(f.File != "", at, ""),
				property.Replace(f.Code+" "+f.Title),
				value.Replace(f.says()))
		}
		if rest := of[most:]; len(rest) > 0 {
			fmt.Fprintf(out, "::%s title=plimsoll %s::%s: %s\n", level, d.Kind, text.Several(rest, "more finding"),
				value.Replace(codesOf(rest)))
		}
	}
	return nil // errors stay with out
}

// headLevel is that of the annotation for the headline: where no finding says anything, and where the
// headline is a failure that none explains; "" else.
func (d *Document) headLevel() string {
	all := d.found()
	failed := slices.Contains([]string{"fail", "error", "invalid"}, d.Head.Tone)
	serious := func(f Finding) bool { return levelOf(f.Severity, "notice") == "error" }
	switch {
	case failed && !slices.ContainsFunc(all, serious):
		return "error"
	case len(all) > 0:
		return ""
	case d.Head.Tone == "warn":
		return "warning"
	}
	return "notice"
}

// inALine is the answer of the document.
func (d *Document) inALine() string {
	return cmp.Or(d.Head.first(), d.Kind)
}

// codesOf is "PL102 (3), PL106 (1)", by code.
func codesOf(all []Finding) string {
	times := map[string]int{}
	for _, f := range all {
		times[f.Code]++
	}
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", code, times[code]))
	}
	return strings.Join(parts, ", ")
}
