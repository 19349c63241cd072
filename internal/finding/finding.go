// Package finding is the engine of all diagnoses; the rules themselves live in lint and diagnose.
//
//   - A Rule is texts and one function, Check. Check gets a case (a document, a machine, a run) and
//     reports what it finds there, and as Fine what it looked at and found in order.
//   - Judge runs all rules over one case and fills what a finding leaves out with the texts of its rule.
//   - A cause hides its symptoms: a finding goes where a rule named in its After has one on the same
//     subject, be that one hidden itself or not. A disabled rule hides nothing and counts for nothing.
//   - What is left comes worst first, then by code, scenario, line and subject, so that the same case
//     gives the same list.
//   - A finding is data: its document, line and column, evidence, and edits that replace exactly what
//     stands at their place. Nothing above this room reads one of its sentences again.
//
// An Account divides the gap between a ceiling and a figure among causes, in the order in which they are certain.
// A cause takes the factor of its own arithmetic, but no more than those before it have left; the factors
// multiply to the gap, and what no cause explains is called unexplained.
package finding

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/text"
)

// Code names a rule permanently: PL1xx the job, PL2xx the layout, PL3xx the host, PL4xx the
// measurement, PL5xx the verdict against ceilings, PL6xx the cloud, PL7xx PostgreSQL, PL8xx a fleet,
// PL9xx a live machine.
type Code string

// Severity orders findings.
type Severity string

// The severities. Invalid: the measurement itself is not to be trusted.
const (
	Info    Severity = "info"
	Warn    Severity = "warning"
	Fail    Severity = "error"
	Invalid Severity = "invalid"
)

// Finding is one numbered, evidenced diagnosis.
type Finding struct {
	// File is the document that it is about, of a finding of lint.
	File     string   `json:"file,omitempty"`
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Subject  string   `json:"subject"` // what it is about: a scenario, an array, a device, file:line:col
	// Scenarios are the IDs it concerns; empty for the machine as a whole.
	Scenarios []int `json:"scenarios,omitempty"`
	// Message is the diagnosis in one sentence with its numbers; the title stands for the rule,
	// this for the case.
	Message  string     `json:"message"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Account says where the rest of a ceiling went, in findings on a figure far below it.
	Account *Account `json:"account,omitempty"`
	Why     string   `json:"why,omitempty"`
	// Fix is what to do; Commands are shell commands that do it.
	Fix      string   `json:"fix,omitempty"`
	Commands []string `json:"commands,omitempty"`
	// Settings are those of the commands that plimsoll tune makes by itself.
	Settings []Setting `json:"settings,omitempty"`
	// Disabled is the reason for which the user disabled the rule: the finding is listed and counts
	// for nothing.
	Disabled string `json:"disabled,omitempty"`
	// Line and Col place a finding of lint in File, in characters from 1.
	Line int `json:"line,omitempty"`
	Col  int `json:"col,omitempty"`
	// Alike is what findings of one rule at one option have in common that are printed as one.
	Alike string `json:"-"`
	// fine marks what is no finding: see Fine.
	fine bool
	// regardless marks what no other finding explains away: see Regardless.
	regardless bool
	// Edits correct the text where that is certain; lint --fix applies them.
	Edits []Edit `json:"edits,omitempty"`
}

// Regardless keeps a finding beside those that would suppress it: it is true by itself.
func (f Finding) Regardless() Finding {
	f.regardless = true
	return f
}

// Fine is what a Check reports of a subject that it has looked at and found in order: what it saw,
// in one line. Judge leaves it out, Passes shows it.
func Fine(subject, format string, args ...any) Finding {
	return Finding{Subject: subject, Message: Says(format, args...), fine: true}
}

// Edit replaces Old, which stands at exactly that line and column (in characters, from 1), by New.
type Edit struct {
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Evidence is a number, what it should be, and where it was read.
type Evidence struct {
	What     string `json:"what"`
	Found    string `json:"found"`
	Expected string `json:"expected,omitempty"`
	Where    string `json:"where,omitempty"`
}

// Setting is a value to write to a file below /sys or /proc, as plimsoll tune does. File may be a
// pattern of path.Match, for the same setting of all processors.
type Setting struct {
	File  string `json:"file"`
	Value string `json:"value"`
}

// Command is what a person types for a setting.
func (s Setting) Command() string {
	if name, ok := strings.CutPrefix(s.File, "/proc/sys/"); ok {
		return "sysctl -w " + text.ShellQuote(strings.ReplaceAll(name, "/", ".")+"="+s.Value)
	}
	parts := strings.Split(s.File, "*") // which is for the shell
	for i := range parts {
		if parts[i] != "" {
			parts[i] = text.ShellQuote(parts[i])
		}
	}
	by := " > "
	if len(parts) > 1 {
		by = " | tee "
	}
	return "echo " + text.ShellQuote(s.Value) + by + strings.Join(parts, "*")
}

// Set adds settings to a finding, and what one types to make them.
func (f *Finding) Set(all ...Setting) {
	f.Settings = append(f.Settings, all...)
	for _, s := range all {
		f.Commands = append(f.Commands, s.Command())
	}
}

// Rule is one diagnosis. What it says of itself, and which rules explain it away, stands on its page
// (docs/findings).
type Rule[C any] struct {
	Code Code
	// Check reports what it finds, and as Fine what it looked at and found in order: nothing else
	// knows what it could see.
	Check func(c C, report func(Finding))
}

// Rules are those of checks by their codes, in the order of the codes.
func Rules[C any](checks map[Code]func(C, func(Finding))) []*Rule[C] {
	all := make([]*Rule[C], 0, len(checks))
	for _, code := range slices.Sorted(maps.Keys(checks)) {
		all = append(all, &Rule[C]{Code: code, Check: checks[code]})
	}
	return all
}

// New is a finding on a subject, with its message in the words of Says.
func New(subject, format string, args ...any) Finding {
	return Finding{Subject: subject, Message: Says(format, args...)}
}

// Saw adds a piece of evidence, in the order of its fields; expected and where may be empty.
func (f Finding) Saw(what string, found, expected any, where string) Finding {
	f.Evidence = append(slices.Clip(f.Evidence), Seen(what, found, expected, where))
	return f
}

// Run adds a command, in the words of Shell.
func (f Finding) Run(format string, words ...any) Finding {
	f.Commands = append(slices.Clip(f.Commands), Shell(format, words...))
	return f
}

// Shell is a command line in the words of fmt, with everything but numbers quoted as one word of a shell.
func Shell(format string, words ...any) string {
	quoted := make([]any, len(words))
	for i, w := range words {
		if v := reflect.ValueOf(w); v.CanInt() || v.CanUint() || v.CanFloat() {
			quoted[i] = w
		} else {
			quoted[i] = text.ShellQuote(fmt.Sprint(w))
		}
	}
	return fmt.Sprintf(format, quoted...)
}

// Shown adds evidence that is at hand.
func (f Finding) Shown(all []Evidence) Finding {
	f.Evidence = append(slices.Clip(f.Evidence), all...)
	return f
}

// In says which scenarios it concerns.
func (f Finding) In(scenarios []int) Finding {
	f.Scenarios = scenarios
	return f
}

// As gives it another severity than its rule's.
func (f Finding) As(s Severity) Finding {
	f.Severity = s
	return f
}

// Titled gives it another title than its rule's.
func (f Finding) Titled(title string) Finding {
	f.Title = title
	return f
}

// Advise gives it another advice than its rule's.
func (f Finding) Advise(fix string) Finding {
	f.Fix = fix
	return f
}

// Say gives it another message, in the words of Says.
func (f *Finding) Say(format string, args ...any) { f.Message = Says(format, args...) }

// Says is a sentence in the words of fmt, in which %v is a value as package text prints it: how long
// something lasts, a count with its thousands separated, a share (a float64) in per cent, and the first
// three of some names. Figures with a unit have a type that prints them.
func Says(format string, args ...any) string {
	for i, a := range args {
		args[i] = printed(a)
	}
	return fmt.Sprintf(format, args...)
}

// Seen is a piece of evidence, with what was found and what was expected as Says prints them.
func Seen(what string, found, expected any, where string) Evidence {
	return Evidence{what, Says("%v", found), Says("%v", expected), where}
}

// A count and a share are numbers still, to other verbs than %v.
type (
	count int64
	share float64
)

func (n count) String() string { return text.Count(n) }
func (s share) String() string { return text.Percent(float64(s)) }

// printed is a value whose %v is the text for people.
func printed(value any) any {
	switch v := value.(type) {
	case time.Duration:
		return text.Duration(v)
	case int:
		return count(v)
	case uint64:
		return count(v)
	case float64:
		return share(v)
	case []string:
		return text.Some(v, 3)
	}
	return value
}
