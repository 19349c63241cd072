// Package settings has what a tree says of the findings of lint: which count, and how much.
package settings

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/lint"
	"plimsoll/internal/script"
	"plimsoll/internal/yamlfile"
)

// ConfigName is the file that a tree keeps its settings of lint in.
const ConfigName = ".plimsoll-lint.yaml"

// Config are settings of lint that a tree keeps for itself.
type Config struct {
	// Fio is the version whose options count, such as 3.33; empty for all since 3.16.
	Fio string `yaml:"fio"`
	// Exclude are patterns of gitignore's form, from the file's folder down.
	Exclude []string `yaml:"exclude"`
	// Disable are codes of rules, Severity what rules weigh instead: error, warning, info or off.
	Disable  []finding.Code                    `yaml:"disable"`
	Severity map[finding.Code]finding.Severity `yaml:"severity"`
	Paths    []PathConfig                      `yaml:"paths"`
}

// PathConfig is what holds for some paths; a later one wins.
type PathConfig struct {
	Match    string                            `yaml:"match"`
	Severity map[finding.Code]finding.Severity `yaml:"severity"`
}

// off is the severity of a rule that is not applied.
const off finding.Severity = "off"

// Severities are those that rules of lint can have, the gravest first.
func Severities() []finding.Severity {
	return []finding.Severity{finding.Fail, finding.Warn, finding.Info}
}

// ReadConfig reads a file of that form.
func ReadConfig(name string, text []byte) (Config, error) {
	var c Config
	if err := yamlfile.Decode(text, &c); err != nil {
		return c, yamlfile.Wrong(name, text, err)
	}
	if c.Fio != "" {
		if _, err := fio.ParseVersion("fio-" + c.Fio); err != nil {
			return c, fmt.Errorf("%s: fio: %q: want a version such as 3.33", name, c.Fio)
		}
	}
	for _, code := range c.Disable {
		if err := knownCode(name, code); err != nil {
			return c, err
		}
	}
	all := []map[finding.Code]finding.Severity{c.Severity}
	for _, p := range c.Paths {
		if p.Match == "" {
			return c, fmt.Errorf("%s: paths: match is missing; write the pattern that it holds for", name)
		}
		all = append(all, p.Severity)
	}
	for _, severities := range all {
		for code, to := range severities {
			if err := knownCode(name, code); err != nil {
				return c, err
			}
			if to != off && !slices.Contains(Severities(), to) {
				return c, fmt.Errorf("%s: severity of %s: %q: use one of error, warning, info, off", name, code, to)
			}
		}
	}
	return c, nil
}

func knownCode(file string, code finding.Code) error {
	if lint.Knows(code) {
		return nil
	}
	return fmt.Errorf("%s: no lint rule has the code %q", file, code)
}

// Weigh gives findings the severities that the settings say, and drops those that they turn off. dir
// is the folder that paths are counted from.
func (c Config) Weigh(found []finding.Finding, dir string) []finding.Finding {
	var kept []finding.Finding
	for _, f := range found {
		f.Severity = cmp.Or(c.Severity[f.Code], f.Severity)
		for _, p := range c.Paths {
			if rel, err := filepath.Rel(dir, f.File); err == nil && script.MatchPath(p.Match, rel) {
				f.Severity = cmp.Or(p.Severity[f.Code], f.Severity)
			}
		}
		if f.Severity != off {
			kept = append(kept, f)
		}
	}
	return kept
}

// AtLeast keeps the findings of a severity or a graver one.
func AtLeast(found []finding.Finding, least finding.Severity) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		return f.Severity.Rank() < least.Rank()
	})
}

// Fingerprint names a finding in a way that outlives changes of other lines: its code, its file and
// the text of its line.
func Fingerprint(f finding.Finding, source string) string {
	file := filepath.ToSlash(filepath.Clean(f.File))
	return string(f.Code) + " " + file + " " + strings.Join(strings.Fields(source), " ")
}

// Baseline are the findings that were there before, each by its fingerprint with how often it was
// found.
type Baseline map[string]int

// NewBaseline is the baseline of findings.
func NewBaseline(found []finding.Finding, source func(finding.Finding) string) Baseline {
	b := Baseline{}
	for _, f := range found {
		b[Fingerprint(f, source(f))]++
	}
	return b
}

// New are the findings that the baseline does not have.
func (b Baseline) New(found []finding.Finding, source func(finding.Finding) string) []finding.Finding {
	left := Baseline{}
	maps.Copy(left, b)
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		k := Fingerprint(f, source(f))
		left[k]--
		return left[k] >= 0
	})
}
