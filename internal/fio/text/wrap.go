package text

import (
	"regexp"
	"strconv"
	"strings"
)

// What carries fio's text often leaves marks on it: mail wraps and quotes its lines, loggers put a
// prefix before each, web forms run them together. This file takes the marks off, so that the
// readers see lines as fio printed them.

var (
	// textPrefix is what loggers put before each line: avocado, syslog and journals, ts, CRI,
	// docker compose, dmesg, kubectl.
	textPrefix = regexp.MustCompile(`^(?:` +
		`\d\d:\d\d:\d\d(?:[.,]\d+)? *(?:[A-Z]+ *[|:] ?|\[\w+\] ?|\| ?|- )+` +
		`|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d (?:\S+ [^\s:\[]+(?:\[\d+\])?: )?` +
		`|\[[ \d]*\d\.\d{3,}\] ` +
		`|\[(?i:stdout|stderr|info|debug|notice|\w[^\]\s@]*/[^\]\s@]*)\]:? ?` +
		`|(?:stdout|stderr) [FP] ` +
		`|(?i:stdout|stderr|info|debug)(?:: ?| \| ?| - )` +
		`|[\w.-]+ +\| ` +
		`)`)
	// textStarts are the beginnings of fio's lines. One line of fio's holds one.
	textStarts = regexp.MustCompile(`\b(?:read|write|trim|mixed) *: *(?:IOPS|io|BW)=` +
		`|\b[cs]?lat (?:prio \S+ )?\([num]sec\) *:|\bsync \([num]sec\) *:|\b(?:[cs]?lat|sync) percentiles \(|\| +[\d.]+th=\[` +
		`|\bbw \( *[KMGT]?i?B|\biops +: min=|\bcpu +: usr=|\bIO depths +:|\b(?:submit|complete) +: 0=` +
		`|\bissued +(?:rwts?|r/w/d)?: *total=|\blatency +: target=|\berrors +: total=|\bfsync/fdatasync/sync_file_range:` +
		`|Run status group \d+ |\b(?:READ|WRITE|TRIM|MIXED) ?: (?:bw|io)=|Disk stats \(read/write\):` +
		`|[\w./@%+-]*: \(g(?:roupid)?=\d|\bfio-\d+\.\d[\d.]*(?:-\d+-g[0-9a-f]+)?|Starting \d+ (?:process|thread)|[\w!.-]+: ios=\d`)
	textDate     = regexp.MustCompile(`^[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}`)
	textDateRest = regexp.MustCompile(
		`^(?:pid=\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b|[A-Z][a-z]{2} +\d+ \d\d:|\d+ \d\d:\d\d:\d\d|\d\d:\d\d:\d\d \d{4}|\d{4}$|jobs=|err=)`,
	)
	// textMark begins comments and items of lists, textLabel is what somebody wrote before a figure of fio's, or a
	// program before its output.
	textMark  = regexp.MustCompile(`^(?:#|//|[*+-] )`)
	textLabel = regexp.MustCompile(
		`^(?:[ \t]*(?:\d+\. |[*+-] )?[\w ()/-]{1,40}: +|[^"]*""")((?:read|write|trim) *: *IOPS=|[\w./@%+-]+: \(g=\d)`,
	)
	textKeyed = regexp.MustCompile(`^(?:([a-z_]+)|>?=?\d+)=`)
	textZones = regexp.MustCompile(`; \d+(?: zone)?$`)
)

// startWords are what textStarts cannot do without: one of them stands in each of its matches, so a line with
// two beginnings has two. Few lines of fio's have, and to look for them costs a tenth of the expression.
var startWords = []string{
	"IOPS=", "io=", "BW=", "sec)", "percentiles (", "th=[", "bw (", "iops", "usr=", "depths", ": 0=", "total=", "target=",
	"sync_file_range:", "group ", ": bw=", "Disk stats", "(g", "fio-", "Starting ", ": ios=",
}

// maxWrapped bounds a line put together: the longest of fio's, of a disk with its means, has some
// 300 bytes.
const maxWrapped = 4096

// textCloses ends what was quoted, in HTML, Jira and forums.
var textCloses = regexp.MustCompile(`(?i)</pre>|\{(?:code|noformat)[^}]*\}|\[/(?:code|quote)\]`)

// unquoteText takes off what mail and loggers put in front of a line.
func unquoteText(s string) string {
	for {
		inner, ok := strings.CutPrefix(strings.TrimPrefix(s, " "), ">")
		if !ok || strings.HasPrefix(inner, "=") { // ">=64=0.0%" wrapped
			break
		}
		s = strings.TrimPrefix(inner, " ")
	}
	for range 4 {
		if len(s) < 8 || s[0] == ' ' || s[0] == '\t' || s[0] == '|' {
			break
		}
		at := textStamp.FindStringIndex(s)
		if at == nil {
			at = textPrefix.FindStringIndex(s)
		}
		if at == nil {
			break
		}
		s = s[at[1]:]
	}
	if s == "+" || s == "|" || s == "#" {
		return ""
	}
	// A job may be named after its device; comments, diffs and lists continue with something else.
	path := len(s) > 1 && s[0] == '/' && strings.IndexByte("/* \t", s[1]) < 0
	if rest := strings.TrimLeft(s, " \t"); rest != s && textMark.MatchString(rest) {
		s = rest // a comment is indented as the code around it, an item as its list
	}
	if s != "" && strings.IndexByte("#|*/+-;", s[0]) >= 0 && !path && strings.ContainsAny(s, "=(") {
		rest := strings.TrimLeft(s[1:], "/ \t")
		if at := textStarts.FindStringIndex(rest[:min(len(rest), 512)]); at != nil && at[0] == 0 {
			s = rest
		}
	}
	if strings.Contains(s, "IOPS=") || strings.Contains(s, `"""`) {
		if at := textLabel.FindStringSubmatchIndex(s); at != nil {
			s = s[at[2]:]
		}
	}
	// A list of strings, as Ansible and Python print the lines of an output.
	if t := strings.TrimPrefix(strings.TrimSpace(s), "u"); len(t) > 1 && (t[0] == '"' || t[0] == '\'') {
		if inner, ok := strings.CutSuffix(strings.TrimSuffix(t[1:], ","), t[:1]); ok {
			s = strings.ReplaceAll(inner, `\"`, `"`)
		}
	}
	return s
}

// mailLine is a line of a mail in quoted-printable that is not yet whole: a "=" at the end of a line
// is no end of the text's line, and =3D is a "=" (RFC 2045, 6.7).
type mailLine struct {
	on   bool // "=3D" was seen: every figure of fio's holds one
	held strings.Builder
}

// printable undoes quoted-printable; false while the line goes on.
func (t *Reader) printable(line string) (string, bool) {
	m := &t.mail
	m.on = m.on || strings.Contains(line, "=3D")
	if !m.on {
		return line, true
	}
	if m.held.Len() > 0 {
		m.held.WriteString(line)
		line = m.held.String()
		m.held.Reset()
	}
	if soft, cut := strings.CutSuffix(line, "="); cut && len(soft) < maxWrapped {
		m.held.WriteString(soft)
		return "", false
	}
	if !strings.Contains(line, "=3D") { // of a part that is not encoded: avg=19.00 is no byte
		return line, true
	}
	return textEscaped.ReplaceAllStringFunc(line, func(code string) string {
		b, _ := strconv.ParseUint(code[1:], 16, 8)
		return string([]byte{byte(b)})
	}), true
}

var textEscaped = regexp.MustCompile(`=[0-9A-F]{2}`)

// runTogether takes apart a line that holds many lines of fio's; nil when it holds one.
func runTogether(s string) []string {
	if strings.Contains(s, `\n`) &&
		(strings.Contains(s, "groupid=") || strings.Contains(s, "IOPS=") || strings.Contains(s, "iops=")) {
		return strings.Split(s, `\n`)
	}
	if strings.Count(s, ":") < 2 || strings.Count(s, "=") < 2 {
		return nil
	}
	words := 0
	for _, word := range startWords {
		if words += strings.Count(s, word); words > 1 {
			break
		}
	}
	if words < 2 {
		return nil
	}
	starts := textStarts.FindAllStringIndex(s, -1)
	if len(starts) < 2 {
		return nil
	}
	var pieces []string
	from := 0
	for _, at := range starts {
		if at[0] > from {
			pieces = append(pieces, strings.TrimSuffix(s[from:at[0]], "..."))
		}
		from = at[0]
	}
	return append(pieces, s[from:])
}

// goesOn says whether line is the rest of held, which was wrapped where a mail's margin was.
func goesOn(held, line string) bool {
	line = strings.TrimSpace(line)
	if line == "" || len(held)+len(line) > maxWrapped || strings.HasSuffix(held, `\`) {
		return false
	}
	comma := strings.HasSuffix(held, ",") || strings.HasSuffix(held, "=") && strings.Contains(held, ", ")
	switch c := line[0]; {
	case strings.LastIndexByte(held, '[') > strings.LastIndexByte(held, ']') && strings.Contains(held, "th=["):
		return true
	case strings.Contains(held, "(groupid=") && textDateRest.MatchString(line):
		_, date, said := strings.Cut(held, ": pid=")
		_, date, _ = strings.Cut(date, ":")
		return !said || !textDate.MatchString(strings.TrimSpace(date))
	case line == "resets" || line == "zone resets":
		return textZones.MatchString(held)
	case c == '[':
		return strings.HasPrefix(strings.TrimSpace(held), "Jobs: ") && !strings.Contains(held, "[eta") &&
			len(line) > 1 &&
			(line[1]-'0' <= 9 || strings.HasPrefix(line, "[eta") || strings.HasPrefix(line[2:], "="))
	case !strings.Contains(held, "="):
		return strings.HasSuffix(held, ":") && strings.Contains(held, "sec)") && strings.HasPrefix(line, "min=")
	case c == '(':
		return len(line) > 1 &&
			(line[1]-'0' <= 9 && strings.Contains(strings.ToLower(held), "bw=") || comma &&
				(strings.HasPrefix(line, "(W) ") || strings.HasPrefix(line, "(T)")))
	case c-'0' <= 9 && !strings.Contains(line, "th=["):
		return strings.HasSuffix(held, "(R)") || strings.HasSuffix(held, "(W)") || strings.HasSuffix(held, "(T)") ||
			comma && (strings.Contains(held, "bw=") || textKeyed.MatchString(line))
	}
	m := textKeyed.FindStringSubmatch(line)
	if m == nil || !strings.Contains(held, ": ") {
		return false
	}
	switch m[1] {
	case "short", "drop", "dropped":
		return strings.Contains(held, "total=")
	}
	return comma || strings.HasSuffix(held, ":")
}
