package script

import (
	"fmt"
	"strings"

	"plimsoll/internal/fio"
)

// MisreadSection says what fio makes of the line that begins a section, where that is not what it looks like;
// false for any other line, and for one that begins another section than that of the name.
func MisreadSection(raw, of string) (m fio.Misreading, odd bool) {
	line := fio.StripComment(raw)
	if !strings.HasPrefix(line, "[") || fio.SectionName(line) != of {
		return m, false
	}
	name := of
	job := fmt.Sprintf("a job named %q", fio.Clip(name))
	if (fio.Section{Name: name}).Global() {
		job = "a global section"
	}
	switch {
	case !strings.Contains(line, "]"):
		m.Says = fmt.Sprintf("%s has no ] at its end: fio drops the last character and reads %s", fio.Clip(line), job)
		m.Old, m.New = line, line+"]"
	case !strings.HasSuffix(line, "]"):
		m.Says = fmt.Sprintf("%s does not end with ]: fio takes all of the line but its last character, and reads %s",
			fio.Clip(line), job)
	case strings.EqualFold(strings.TrimSpace(name), "global") && !(fio.Section{Name: name}).Global():
		m.Says, m.Hint = fmt.Sprintf("%s is not [global] to fio: it reads %s", fio.Clip(line), job), "[global]"
	default:
		return m, false
	}
	if meant := strings.ToLower(strings.TrimLeft(line, "[ \t")); strings.HasPrefix(meant, "global") &&
		!(fio.Section{Name: name}).Global() {
		m.Says += ", whose options reach no other"
	}
	return m, true
}
