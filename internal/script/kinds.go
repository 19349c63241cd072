package script

import (
	"regexp"
	"strings"

	"plimsoll/internal/fio"
)

// Files that are called as job files are, and are none: batch systems name their scripts *.job, beamlines
// their data *.fio, and people keep a command line in x.fio.

// shellShebang begins a script.
var shellShebang = regexp.MustCompile(`^#!.*\b(?:ba|da|k|z)?sh\b|^#!.*\b(?:python|perl|ruby)`)

// commandLine is a command of fio in a line of its own.
var commandLine = regexp.MustCompile(`^\s*(?:[$#]\s+)?(?:sudo\s+|time\s+)*(?:\S*/)?fio\s+(?:-|\S+\.fio\b)`)

// kindOfJob is what a file with the ending of a job file holds.
func kindOfJob(ending string, lines []string) Kind {
	switch {
	case printed(lines):
		return JobText
	case shellShebang.MatchString(lines[0]):
		return Shell
	}
	sections, own, foreign, commands := 0, 0, 0, 0
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == ';' || trimmed[0] == '#':
		case trimmed[0] == '[':
			sections++
		case commandLine.MatchString(line):
			commands++
		case ownOption(trimmed):
			own++
		default:
			foreign++
		}
	}
	switch {
	case commands > 0 && own == 0 && sections == 0:
		return Shell
	case sections == 0 && foreign > own, ending == ".job" && own == 0 && foreign > 0:
		return Other
	}
	return JobText
}

// ownOption says whether a line sets an option of fio's.
func ownOption(line string) bool {
	if rest, ok := strings.CutPrefix(line, "include"); ok && strings.HasPrefix(rest, " ") {
		return true
	}
	name, _, _ := strings.Cut(line, "=")
	_, known := fio.BuiltinOptions().Lookup(strings.TrimSpace(name))
	return known
}
