package script

import (
	"fmt"
	"strings"

	"plimsoll/internal/fio"
)

// MisreadSection says what fio makes of the line that begins a section, where that is not what it looks like;
// false for any other line, and for one that begins another section than that of the name.
func MisreadSection(raw, name string) (m fio.Misreading, odd bool) {
	line := fio.StripComment(raw)
	if !strings.HasPrefix(line, "[") || fio.SectionName(line) != name {
		return m, false
	}
	shown, global := fio.Clip(line), (fio.Section{Name: name}).Global()
	job := fmt.Sprintf("a job named %q", fio.Clip(name))
	if global {
		job = "a global section"
	}
	switch {
	case !strings.Contains(line, "]"):
		m.Says = fmt.Sprintf("%s has no ] at its end: fio drops the last character and reads %s", shown, job)
		m.Old, m.New = line, line+"]"
	case !strings.HasSuffix(line, "]"):
		m.Says = fmt.Sprintf("%s does not end with ]: fio takes all of the line but its last character, and reads %s",
			shown, job)
	case strings.EqualFold(strings.TrimSpace(name), "global") && !global:
		m.Says, m.Hint = fmt.Sprintf("%s is not [global] to fio: it reads %s", shown, job), "[global]"
	default:
		return m, false
	}
	if meant := strings.ToLower(strings.TrimLeft(line, "[ \t")); strings.HasPrefix(meant, "global") &&
		!global {
		m.Says += ", whose options reach no other"
	}
	return m, true
}
