package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

// What stands for a value, or for the name of an option, until a shell, a template, another program or a
// person fills it in. Nothing is known of it, and no rule guesses.

// placeholder is a value that a person or a program fills in: SIZE, #DEPTH#, <path>, XX, __BS__,
// [n], depthxxx, ..., CHANGE-ME.
var placeholder = regexp.MustCompile(
	`^(?:[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*|#.*#|<.*>|\[.*|__?\w+__?|[A-Za-z_]*[xX]{3,}|\?+|[xX]{2,}|\.{2,}|…|` +
		`([:~*&])\S*[A-Za-z]\S*)$`,
)

// lettered is a number of which a letter is to be filled in, with its unit: N, Xk, nG, XXs.
var lettered = regexp.MustCompile(`^(?:[NnXxYyZzMm]|[XxNn?]{1,3}(?i:[kmgt]i?b?|s))$`)

// format is a place in a format of C, Python, a batch file or a make file: %s, %(bs)s, %1, %~1, %%b,
// %size%, !size!, [lindex $x].
var format = regexp.MustCompile(`%[-+ 0]*\d*(?:\.\d+)?[A-Za-z(~%{]|%\d|![A-Za-z_]\w*!|\[[%$]`)

// standIns are words within the names that people give to what is filled in.
var standIns = strings.Fields(
	`size sz bs blk block depth qd job time sec dur type mode pattern workload ratio pct percent num
	count val var param arg opt your my replace change fill here todo tbd placeholder flag level limit
	some yyy zzz`,
)

// namePart is a word of such a name.
var namePart = regexp.MustCompile(`[a-z]+`)

// numberKinds and switchKinds are the kinds of options whose value is a number, a size or a time, and 0 or 1.
var (
	numberKinds = strings.Fields(`INT ULL STR_VAL STR_VAL_TIME STR_VAL_ZONE FLOAT_LIST RANGE`)
	switchKinds = []string{"BOOL", "STR_SET"}
)

// filledIn says whether an option's value is filled in, so that nothing is known of it. A word that fio
// would know in small letters is none: rw=RANDREAD.
func (c *Case) filledIn(o fio.Option) bool {
	value := strings.TrimSpace(o.Value)
	if unknown(value) || strings.Contains(value, "#") || format.MatchString(value) {
		return true
	}
	if strings.ContainsAny(value, "{}") {
		return true // a format of Python's, or words that a shell makes of one
	}
	if value == "" {
		return false
	}
	first, _, _ := text.CutAny(value, ":,/")
	lower := strings.ToLower(first)
	info, known := fio.BuiltinOptions().Lookup(o.Name)
	if lower == strings.ToLower(o.Name) && first != lower {
		return true // rw=RW
	}
	if known && slices.Contains(info.Words, lower) ||
		slices.Contains(strings.Fields(`true false yes no on off`), lower) {
		return false
	}
	judged := len(info.Words) > 0 || slices.Contains(numberKinds, info.Kind) || slices.Contains(switchKinds, info.Kind)
	if known && judged && (c.replaced[value] || standsForValue(info, value)) {
		return true
	}
	return len(value) > 1 && (placeholder.MatchString(first) || placeholder.MatchString(value))
}

// standsForValue says whether a word that is none of an option's is a name for its value: depth, blocksize,
// rw_type, N.
func standsForValue(info fio.OptionInfo, value string) bool {
	number := slices.Contains(numberKinds, info.Kind)
	if number && lettered.MatchString(value) {
		return true
	}
	numeric := number || slices.Contains(switchKinds, info.Kind)
	if numeric && strings.ContainsAny(value, "0123456789") {
		return false
	}
	for _, part := range namePart.FindAllString(strings.ToLower(value), -1) {
		for _, word := range standIns {
			if part == word || part == word+"s" || len(word) > 2 && strings.HasPrefix(part, word) ||
				len(word) > 3 && strings.HasSuffix(part, word) || len(word) == 2 && numeric && strings.HasPrefix(part, word) {
				return true
			}
		}
	}
	return false
}

// replacement is a word that a script puts another one in the place of: sed s/WORD/.../, .replace("WORD", ...).
var replacement = regexp.MustCompile(`\bs([/|,#@!])(\^?[^/|,#@!\s]+)[/|,#@!]|\.replace\(\s*["']([^"']+)["']`)

// replacedBy are the values that scripts put others in the place of: what stands behind the = of what
// they look for, or all of it.
func replacedBy(scripts []*script.File) map[string]bool {
	words := map[string]bool{}
	for _, f := range scripts {
		if f.Kind == script.JobText {
			continue
		}
		for _, found := range f.Match(replacement, "sed", ".replace(") {
			m := replacement.FindStringSubmatch(found)
			word := strings.Trim(m[2]+m[3], "^$\\<>")
			if _, value, set := strings.Cut(word, "="); set {
				word = value
			}
			if word != "" && strings.Trim(word, "0123456789kKmMgG") != "" {
				words[word] = true
			}
		}
	}
	return words
}

// optionForm is what the name of an option looks like.
var optionForm = regexp.MustCompile(`^-{0,2}[A-Za-z][\w-]*$`)

// standsForName says whether the name of an option is filled in, or is no option at all but a remark
// beside a job in a page or a format of a program: --%s=%s, --OPTION=VALUE, [...].
func standsForName(f *script.File, j *script.Job, name string) bool {
	switch {
	case mergeMark.MatchString(name) || name == "" && !j.Command:
		return false
	case strings.ContainsAny(name, "$#<{") || strings.Trim(name, ".…") == "":
		return true
	case optionForm.MatchString(name):
		plain := strings.TrimLeft(name, "-")
		_, known := fio.BuiltinOptions().Lookup(strings.ToLower(plain))
		return j.Command && (len(plain) > 1 && strings.ToUpper(plain) == plain && !known || plain == "option" ||
			plain == "options")
	}
	return j.Command || f.Kind == script.Markdown && !strings.Contains(name, "--")
}

// mergeMark is what git leaves in a file where two sides changed the same lines; of the one between the
// sides fio reads an empty name.
var mergeMark = regexp.MustCompile(`^(?:<{7}|>{7})(?:\s|$)`)

// unmerged says whether an option is such a mark.
func unmerged(o fio.Option) bool { return mergeMark.MatchString(o.Name) || o.String() == "=======" }

// cutOff says whether an option's value is empty since the reader took what stands behind the = for something
// of the shell's: --rw=(read|write).
func cutOff(f *script.File, o fio.Option) bool {
	_, behind, set := strings.Cut(f.From(o.Line, o.Col), o.Name+"=")
	return o.Value == "" && !o.Bare && set && behind != "" && strings.ContainsAny(behind[:1], "(|&<>;")
}

// fromVariable says whether an option's value, in a command, comes out of a variable that stands in its place.
func fromVariable(f *script.File, o fio.Option) bool {
	word, _, _ := strings.Cut(f.From(o.Line, o.Col), " ")
	return strings.Contains(word, o.Name+"=") && strings.Contains(word, "$") && !strings.Contains(o.Value, "$")
}
