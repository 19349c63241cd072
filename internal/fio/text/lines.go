package text

import (
	"regexp"
	"slices"
	"strings"
)

// matchIf looks for what every match holds first, which is many times faster.
func matchIf(r *regexp.Regexp, part, body string) []string {
	if !strings.Contains(body, part) {
		return nil
	}
	return r.FindStringSubmatch(body)
}

// matchStart looks first whether a line begins as every match does.
func matchStart(r *regexp.Regexp, body string, starts ...string) []string {
	if !slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(body, start) }) {
		return nil
	}
	return r.FindStringSubmatch(body)
}

// heading reads the lines without figures that part an output.
func (t *Reader) heading(body string) bool {
	if t.open() && (textVersion.MatchString(body) || textStart.MatchString(body)) {
		t.tangle()
	}
	if textVersion.MatchString(body) && (t.run == nil || t.job == nil) {
		r := t.need(t.run.results() || t.run != nil && t.run.out.Version != "")
		r.out.Version, r.started = strings.Replace(body, " ", "-", 1), true
		return true
	}
	if r := t.run; r != nil && r.out.Version == "" && len(r.echoes) > 0 && !r.results() && textBare.MatchString(body) {
		r.out.Version, r.started = "fio-"+body, true
		return true
	}
	if m := textStart.FindStringSubmatch(body); m != nil {
		r := t.need(t.run.results())
		r.started, r.starting = true, r.starting+atoi(m[1])+atoi(m[2])
		return true
	}
	if m := textGroup.FindStringSubmatch(body); m != nil {
		t.group(m[1])
		return true
	}
	if strings.HasPrefix(body, "Disk stats") {
		r := t.need(t.run != nil && len(t.run.out.Disks) > 0)
		r.after, t.job = true, nil
		return true
	}
	return false
}

// repeats says that a row of the same process was read at another time: a status dump without its
// status groups.
func (r *textRun) repeats(m []string) bool {
	if r == nil || m[6] == "" || m[6] == "0" || m[7] == "" {
		return false
	}
	key := m[1] + " " + m[2] + " " + m[6]
	if old := r.dates[key]; old != "" && old != m[7] {
		return true
	}
	r.dates[key] = m[7]
	return false
}
