// Package text reads fio's normal output of 2.x and 3.x, line by line, in whatever it was pasted into.
package text

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"plimsoll/internal/fio"
)

const (
	maxTextCommand = 64 << 10 // of one that goes over lines
	maxTextUnread  = 10000    // what is beyond is counted in one entry
)

// Line reads the line of a number. It takes the parts between carriage returns one by one: progress
// lines are overwritten by what follows them.
func (t *Reader) Line(number int, line string) {
	t.n = number
	t.bytes += len(line) + 1
	line, whole := t.printable(strings.TrimRight(line, "\r"))
	if !whole {
		return
	}
	for piece := range strings.SplitSeq(line, "\r") {
		if piece != "" || line == "" {
			t.line(piece)
		}
	}
}

// Take hands over the outputs that were read, and forgets them. What is still open is not among them
// (Finish ends it).
func (t *Reader) Take() []*fio.Output {
	outs := t.outs
	t.outs = nil
	return outs
}

// TakeMessages hands over what fio said for the run whose figures follow, and forgets it.
func (t *Reader) TakeMessages() []string {
	said := t.next.Messages
	t.next.Messages = nil
	return said
}

// Reader reads fio's normal output line by line, whatever stands around it. It is the state
// between lines. What follows belongs to run, job and dir as they stand.
type Reader struct {
	n    int // line number
	outs []*fio.Output

	run       *textRun
	job       *textJob
	next      fio.Output // what stood above the run that follows: heading, command, progress, messages
	commandAt int        // the line of the command's end
	above     string     // the last line that was none of fio's
	aboveAt   int
	partial   []byte // the start of a command line that a backslash continues
	mail      mailLine
	continues bool
	fence     bool // inside a fenced block
	closed    bool // something ended since the run's last line: a fence, a heading
	missed    int
	rows      int // read so far, in so many bytes of text
	bytes     int
	gap       bool // an empty line since the last line of fio's: what is not known then is prose
	apart     bool // a line that is not fio's stands since the last one that is

	held     string // the line before, until it is known whether it was wrapped
	heldAt   int
	joined   bool // it was put together of several
	heldBold bool
	// Tangles are lines that cannot be of the row that they stand in: another run prints at the same time.
	Tangles []int
	// Within says that the input ends within a line, of which the last number may be cut off.
	Within bool

	host string   // whose rows follow, where fio --client wrote it on a line of its own
	file string   // of which grep found the line before
	left *textJob // the row that a comment line interrupted
	torn int      // the line of another run's header or sums within a row
}

// ANSI finds what colours a terminal.
var ANSI = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[()][0-9A-B])")

var (
	textStamp  = regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[: ] ?`)
	textHost   = regexp.MustCompile(`^<([^<> ]+)> ?`)
	textFile   = regexp.MustCompile(`^([^\s=|(]+?):(?:\d+:)? +(\S.*)$`) // as grep names the file of a line
	textPrompt = regexp.MustCompile(
		`^(?:(?:\[[^\]]*\]\s*[$#]|\S+@\S+(?: \S+ ?)?[$#%]|\S+@\S+:\S*\s?[$#]|[$#>❯➜λ]|[~/][\w./-]* [$#])\s+|\[[^\]]*@[^\]]*\][$#]? *|(?:PS )?[A-Za-z]:\\[^>]*>\s*|[a-z]+>\s+|\S+@\S+:?\S*[$#]$)`,
	)
	textCut = regexp.MustCompile(
		`^(?:[.…]+|[\[(<|]\W*(?:snip|cut|skipped|omitted|\.|…)[^=]*[\])>]?,?|[-*=_~+]{3,}.{0,80})$`,
	)
	textTags = regexp.MustCompile(
		`(?i)</?(?:pre|code|br|p|div|span|td|tr|li|samp|tt|b|i|strong|em|font|blockquote)(?: [^<>]*)?/?>|\{(?:code|noformat|quote)[^}]*\}|\[/?(?:code|quote|spoiler)(?:=[^\]]*)?\]`,
	)
	textProg = regexp.MustCompile(`^Jobs: \d+ \(f=-?\d+\)`)
	textEta  = regexp.MustCompile(`\[eta [0-9dhms:?-]+\]?|^Jobs: \d+ \(f=-?\d+\)`)
)

var textEntities = strings.NewReplacer("&gt;", ">", "&lt;", "<", "&amp;", "&", "&nbsp;", " ", "&quot;", `"`)

// textStarred is a field that a mail sets off: "*iops=463*,".
var textStarred = regexp.MustCompile(`\*([a-zA-Z]+=[^*\s]+)\*`)

// textBold takes off Markdown's bold, and italics within it; an underscore by itself may be part of
// a name.
var textBold = strings.NewReplacer("**_", "", "_**", "", "***", "", "**", "")

// clean takes off what terminals, Markdown and wikis put on; the indentation stays.
func cleanText(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = ANSI.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '&') >= 0 {
		s = textEntities.Replace(s)
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\u00a0", " ")
	s = strings.TrimPrefix(s, "\ufeff")
	s = strings.ReplaceAll(s, "≥", ">=")
	if strings.Contains(s, "**") {
		s = textBold.Replace(s)
	}
	if strings.Contains(s, "*, ") {
		s = textStarred.ReplaceAllString(s, "$1")
	}
	if strings.IndexByte(s, '`') >= 0 { // of each line by itself, or of its parts
		bare := strings.ReplaceAll(s, "`", "")
		if at := textStarts.FindStringIndex(strings.TrimSpace(bare)); at != nil && at[0] == 0 {
			s = bare
		}
	}
	if strings.IndexByte(s, '<') >= 0 || strings.Contains(s, "{") || strings.Contains(s, "[/") ||
		strings.HasPrefix(s, "[") {
		s = textTags.ReplaceAllString(s, "")
	}
	return strings.TrimRight(unquoteText(s), " \t")
}

// line takes one line of input, or a part of it between carriage returns. It is held back until the
// next shows whether it was wrapped.
func (t *Reader) line(raw string) {
	if at := strings.Index(raw, "<pre"); at > 0 {
		t.line(raw[:at])
		raw = raw[at:]
	}
	if (strings.ContainsAny(raw, "<{") || strings.Contains(raw, "[/")) && textCloses.MatchString(raw) {
		defer func() {
			t.release()
			t.job, t.closed = nil, true
		}()
	}
	s := cleanText(raw)
	if t.held != "" && goesOn(t.held, s) {
		t.held += " " + strings.TrimSpace(s)
		t.joined = true
		return
	}
	t.release()
	if pieces := runTogether(s); pieces != nil {
		for _, p := range pieces {
			t.whole(strings.TrimRight(p, " \t"), false)
		}
		return
	}
	bold := strings.TrimSpace(raw)
	t.held, t.heldAt, t.heldBold = s, t.n, len(bold) > 4 && strings.HasPrefix(bold, "**") &&
		strings.HasSuffix(bold, "**")
	if s == "" {
		t.whole("", false)
	}
}

// release handles the line held back.
func (t *Reader) release() {
	if t.held == "" {
		return
	}
	s, now, joined := t.held, t.n, t.joined
	t.held, t.joined, t.n = "", false, t.heldAt
	var pieces []string
	if joined {
		pieces = runTogether(s) // a paragraph of a mail, filled to its margin
	}
	for _, p := range pieces {
		t.whole(strings.TrimSpace(p), false)
	}
	if pieces == nil {
		t.whole(s, t.heldBold)
	}
	t.n = now
}

// whole handles a line as fio printed it; bold says that it stood out as a heading does.
func (t *Reader) whole(s string, bold bool) {
	host := ""
	if m := textHost.FindStringSubmatch(s); m != nil {
		host, s = m[1], s[len(m[0]):]
	}
	s = t.found(s)
	body := strings.TrimSpace(s)
	if t.continues {
		t.addCommand(body)
		return
	}
	if textProg.MatchString(body) { // what fio printed behind it without a new line counts
		at := textEta.FindAllStringIndex(body, -1)
		end := at[len(at)-1][1]
		rest := strings.TrimSpace(body[end:])
		switch {
		case len(at) > 1:
			t.progress(body[:end])
		case strings.Contains(body, "CR="): // its end was wrapped away; it tells of a limit on the rate
			t.progress(body)
		}
		if strings.HasPrefix(rest, "<") || strings.Contains(rest, "(groupid=") {
			t.whole(rest, false)
		}
		return
	}
	if body == "" && host != "" { // a client's rows follow
		t.host = host
		return
	}
	indent := len(s) - len(strings.TrimLeft(s, " \t"))
	if t.fio(strings.ReplaceAll(body, "\t", " "), indent, host) {
		if t.run != nil && strings.Contains(body, "nan") && textNaN.MatchString(body) {
			t.run.nans++
		}
		t.gap, t.apart = false, false
		if t.run.results() {
			t.run.out.Line, t.run.out.End = cmp.Or(t.run.out.Line, t.n), t.n
		}
		return
	}
	if bold {
		body += ":"
	}
	t.other(body, bold)
}

// progress counts a line that fio wrote while it ran, for the run at hand or, where that has ended, for the next.
func (t *Reader) progress(body string) {
	out := &t.next
	if t.run != nil && !t.run.results() {
		out = t.run.out
	}
	out.Progress++
	out.Paced = out.Paced || strings.Contains(body, "CR=")
}

// found takes the name of a file off a line that grep found in it, and begins another run with another file.
func (t *Reader) found(s string) string {
	if s == "" || s[0] == ' ' || !strings.Contains(s, ": ") || !strings.Contains(s, "=") {
		return s
	}
	m := textFile.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	if at := textStarts.FindStringIndex(m[2]); at == nil || at[0] > 0 {
		return s
	}
	if m[1] != t.file {
		t.job, t.closed, t.file, t.next.Title = nil, true, m[1], m[1]
	}
	return m[2]
}

// other handles lines that are not fio's figures.
func (t *Reader) other(body string, bold bool) {
	t.apart = t.apart || body != "" && !isElision(body)
	t.above, t.aboveAt = body, t.n
	switch {
	case t.labels(body):
		t.job, t.closed = nil, true
		t.next.Title = strings.TrimSpace(strings.Trim(body, "-=*_~+:> "))
	case body == "":
		t.gap = true // the row may go on: some wikis double the line ends
	case strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~"):
		t.job = nil
		if t.fence {
			t.closed, t.next.Command = true, ""
		}
		t.fence = !t.fence
	case isCommand(body):
		t.job, t.closed = nil, true
		t.addCommand(textPrompt.ReplaceAllString(body, ""))
		t.commandAt = t.n
	case t.next.Command != "" && t.n == t.commandAt+1 && textOption.MatchString(body): // wrapped at a mail's margin
		t.partial = []byte(t.next.Command)
		t.addCommand(body)
		t.commandAt = t.n
	case strings.HasPrefix(body, "#"):
		if t.job != nil {
			t.left = t.job
		}
		if t.job = nil; !t.fence || strings.HasPrefix(body, "##") {
			t.next.Title = strings.TrimSpace(strings.Trim(body, "# "))
		}
		t.closed = true
	case bold || isTextHeading(body):
		t.job, t.closed = nil, true
		t.next.Title = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(body, "// "), ":"))
	case textMessage.MatchString(body):
		if t.run == nil && failedJob.MatchString(body) { // what it was to do was cut off
			t.startRun()
		}
		if t.run != nil && !t.closed {
			t.run.out.Messages = append(t.run.out.Messages, body)
		} else if strings.HasPrefix(body, signalled) && len(t.next.Messages) < maxTextMessages {
			t.next.Messages = append(t.next.Messages, body)
		}
	case textPrompt.MatchString(body) || strings.HasPrefix(body, "</"):
		t.job = nil
	case textCut.MatchString(body):
	case t.job != nil && !t.gap:
		t.unread(body, "")
	}
}

var textNaN = regexp.MustCompile(`= ?-?nan\b`)

var textElided = regexp.MustCompile(`^(?:[.…]+$|[\[(<|]|[-*=_~+]{3,}\W*(?i:snip|cut|skip|omit))`)

// isElision says that a line stands for lines of fio's that were left out.
func isElision(body string) bool { return textCut.MatchString(body) && textElided.MatchString(body) }

const longLabel = 48

// labels says that a line names the rate that follows it, between rates that were quoted without
// anything else of their rows: "--- SEQ-WRITE ---", "test 2".
func (t *Reader) labels(body string) bool {
	if t.job == nil || !t.job.bareRates() || len(body) > longLabel || strings.ContainsAny(body, "=#`|$") ||
		strings.HasSuffix(body, ".") || textMessage.MatchString(body) || isElision(body) {
		return false
	}
	return strings.ContainsFunc(body, unicode.IsLetter) && len(strings.Fields(body)) <= 6
}

// bareRates says that of a row no more was quoted than its rates.
func (j *textJob) bareRates() bool {
	if !j.headless || j.issued || len(j.Depths)+len(j.Buckets) > 0 || j.CPU != (fio.CPU{}) {
		return false
	}
	for i := range j.dirs {
		if d := &j.dirs[i]; d.Clat.Measured() || d.Lat.Measured() || d.Slat.Measured() || d.BWSamples.N > 0 {
			return false
		}
	}
	return true
}

// signalled begins the line that fio prints when it is stopped before its time.
const signalled = "fio: terminating on signal"

const maxTextMessages = 100

// isTextHeading says that a line names what follows: a word with a colon, or a comment that ends with one.
func isTextHeading(s string) bool {
	comment, is := strings.CutPrefix(s, "// ")
	name, ok := strings.CutSuffix(comment, ":")
	return ok && name != "" && len(name) <= 64 && !strings.ContainsAny(name, "\t=,;|") &&
		(is || !strings.Contains(name, " "))
}

// textMessage begins what fio says beside its figures.
var textMessage = regexp.MustCompile(`^(?:fio: |note: |WARNING|warning: |verify: |file:|fs:)`)

// unread notes a line that looks like fio's and was not understood.
func (t *Reader) unread(body, why string) {
	if t.run == nil {
		t.startRun()
	}
	out := t.run.out
	if len(out.Unread) >= maxTextUnread {
		t.missed++
		last := &out.Unread[len(out.Unread)-1]
		last.Text, last.Why = "", fmt.Sprintf("%d further lines", t.missed+1)
		return
	}
	if len(body) > 300 {
		body = strings.ToValidUTF8(body[:300], "") + "…"
	}
	out.Unread = append(out.Unread, fio.Unread{Line: t.n, Text: body, Why: why})
}

// textCommand is fio's command, behind sudo, taskset with its options or an assignment, with an option or something
// that may be a job file.
var textCommand = regexp.MustCompile(`^(?:(?:sudo|time|env|exec|(?:nice|ionice|taskset|numactl|chrt|timeout)` +
	`(?:\s+(?:-\S+|\d\S*))*|\S*=\S*)\s+)*(?:\S*/)?fio\s+` +
	`(?:(?:.*\s)?[-—–]|\\(?:\s|$)|\S*[/$]|\S*\.(?:fio|ini|job)(?:\s|$))`)

// textOption begins a line of options.
var textOption = regexp.MustCompile(`^--?[a-z]`)

func isCommand(body string) bool {
	return strings.Contains(body, "fio") && textCommand.MatchString(textPrompt.ReplaceAllString(body, ""))
}

// addCommand takes a line of a command; a backslash at its end says that another follows.
func (t *Reader) addCommand(body string) {
	rest, more := strings.CutSuffix(body, `\`)
	if rest = strings.TrimSpace(rest); len(t.partial) > 0 && rest != "" {
		t.partial = append(t.partial, ' ')
	}
	t.partial = append(t.partial, rest...)
	if t.continues = more && len(t.partial) < maxTextCommand; !t.continues {
		t.next.Command, t.partial = string(t.partial), nil
	}
}

// failedJob is how fio says that a job ended in an error.
var failedJob = regexp.MustCompile(`^fio: (?:pid=\d+, err=\d+|io_u error on file )`)
