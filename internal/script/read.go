package script

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/text"
)

// reader fills a File.
type reader struct {
	*File
	opts    Options
	texts   []span // job files found, parsed last, when all variables are known
	regions []*region
	block   int
	loop    bool                        // in the body of one
	varies  map[string][]string         // see Job.Varies
	scope   string                      // see Command.Scope
	values  map[string]string           // what the document sets variables to
	pieces  map[string]*strings.Builder // of those that grow, so that each addition copies itself only
	grown   map[string]bool             // variables that are added to
	wrapped map[string]wrapper
	made    []madeFile
	// writtenTo are the files that here-documents write, by the line, from 0, where their text begins.
	writtenTo map[int]string
	several   map[string]bool   // variables with more than one value, or a computed one
	setAt     map[string][]unit // where a variable's value stands
	endless   map[string]span   // words that end no here-document before a line
	code      []span            // what was read as commands
	spoken    []unit            // lines whose words are printed, or are a variable's value that was read
	spent     spent
	// unclosed is true while a line is read whose quote is never closed: what it holds may be more.
	unclosed bool
	// appended is true while a command is read that may get further words where it is run.
	appended bool
}

func newReader(f *File, opts Options) *reader {
	return &reader{
		File: f, opts: opts, writtenTo: map[int]string{}, values: map[string]string{}, several: map[string]bool{},
		pieces: map[string]*strings.Builder{}, grown: map[string]bool{}, wrapped: map[string]wrapper{},
		setAt: map[string][]unit{}, endless: map[string]span{},
	}
}

// span is a range of lines, from included, to not, counted from 0.
type span struct{ from, to, block int }

var fence = regexp.MustCompile("^\\s*(?:>\\s*)?(```+|~~~+)\\s*([^`]*)$")

// markdown walks through fenced and indented blocks; outside them only lines that are plainly fio
// commands count.
func (r *reader) markdown() {
	for i := 0; i < len(r.lines); {
		m := fence.FindStringSubmatch(r.lines[i])
		if m == nil {
			end := i + 1
			for end < len(r.lines) && !fence.MatchString(r.lines[end]) {
				end++
			}
			r.prose(i, end)
			i = end
			continue
		}
		end := i + 1
		for end < len(r.lines) && !closes(r.lines[end], m[1]) {
			end++
		}
		r.block++
		language, _, _ := strings.Cut(strings.ToLower(strings.Trim(m[2], " \t{.")), " ")
		switch {
		case looksLikeJob(r.lines[i+1 : end]):
			r.job(i+1, end, r.block)
		case language == "yaml" || language == "yml":
			r.yaml(i+1, end, r.block)
		case !slices.Contains(otherLanguages, language):
			r.shell(i+1, end, r.block, true)
		}
		i = end + 1
	}
}

// otherLanguages are those of code blocks that hold no commands.
var otherLanguages = strings.Fields(
	`python py go golang c cpp c++ rust java javascript js json xml html diff ini toml csv sql`,
)

func closes(line, open string) bool {
	t := strings.TrimSpace(line)
	// A fence may close behind the last word of an unfinished line; pasted documents do that.
	return len(t) >= 3 && strings.HasPrefix(t, open[:3]) && strings.Trim(t, open[:1]) == ""
}

// prose reads what stands outside fences: blocks indented by four or a tab are code.
func (r *reader) prose(from, to int) {
	for i := from; i < to; {
		end := i
		for end < to && indented(r.lines[end]) {
			end++
		}
		if end > i {
			r.block++
			if looksLikeJob(r.lines[i:end]) {
				r.job(i, end, r.block)
			} else {
				r.shell(i, end, r.block, true)
			}
			i = end
			continue
		}
		end = i + 1
		for end < to && continued(r.lines[end-1]) {
			end++
		}
		r.shell(i, end, 0, false)
		r.inline(i, end)
		i = end
	}
}

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

func continued(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "\r"), `\`) }

// job notes a job file's text.
func (r *reader) job(from, to, block int) {
	r.texts = append(r.texts, span{from, to, block})
}

// prompt is what a terminal shows before a command.
var prompt = regexp.MustCompile(
	`^\s*(?:\[[^\]\s]+(?:@| )[^\]]*\]\s*[$#]|[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:\S*[$#]|\$|>)\s+`,
)

// rootPrompt is # before a command of root; in a script it is a comment.
var rootPrompt = regexp.MustCompile(
	`^\s*#\s+(?:sudo\s+)?(?:fio\s+-|mkfs\S*\s+.*/dev/|mdadm\s+-|mount\s+.*/dev/|lvcreate\s+-)`,
)

// quoteLines is how far an unclosed quote is followed.
const quoteLines = 40

// shell reads lines as commands, by the shell's grammar where they keep to it. Outside code (prose)
// only fio with options counts.
func (r *reader) shell(from, to, block int, code bool) {
	if code {
		r.code = append(r.code, span{from, to, block})
		if r.parsed(r.typed(from, to, block), place{from + 1, 1}, block, 0) {
			return
		}
	}
	r.loop = false
	for i := from; i < to && !r.spent.over; {
		end := i + 1
		for end < to && continued(r.lines[end-1]) {
			end++
		}
		text := strings.Join(r.lines[i:end], "\n")
		if !strings.ContainsAny(text, " \t=") && !strings.Contains(text, "do") || // nothing to see in a word alone
			r.tooLong(text, i+1) {
			i = end
			continue
		}
		text = r.unprompted(text, block)
		words, err := shell.Words(text)
		for err != nil && end < to && end-i < quoteLines && block == 0 && (mentions(text) || speaks(text)) {
			text += "\n" + r.lines[end]
			end++
			words, err = shell.Words(text)
		}
		r.locate(words, i)
		if err != nil && mentions(text) && code {
			for k, w := range words {
				if path.Base(w.Text) == "fio" && k+1 < len(words) && strings.HasPrefix(Repaired(words[k+1].Text), "-") {
					r.unread(w.Line, "", "a quote in this command is never closed")
					break
				}
			}
		}
		i = r.hereDocument(words, end, to, block)
		r.unclosed = err != nil
		r.line(words, block, code)
		r.unclosed = false
	}
}

// typed is the text of lines as it was typed: without prompts.
func (r *reader) typed(from, to, block int) string {
	lines := r.lines[from:to]
	if block > 0 {
		lines = slices.Clone(lines)
		for i, line := range lines {
			if i > 0 && continued(lines[i-1]) {
				continue
			}
			if i+1 < len(lines) && prompt.MatchString(line) {
				line += wrapped(line, lines[i+1])
			}
			lines[i] = r.unprompted(line, block)
		}
	}
	return strings.Join(lines, "\n")
}

// narrowest is the narrowest terminal whose broken lines are joined, in columns.
const narrowest = 60

// wrapped continues a command of a pasted session where the terminal broke its line; empty where it did
// not.
func wrapped(line, next string) string {
	words, following := strings.Fields(line), strings.Fields(next)
	if !mentions(line) || len(following) == 0 || continued(line) || prompt.MatchString(next) || indented(next) ||
		next[0] == ' ' {
		return ""
	}
	last := words[len(words)-1]
	switch {
	case strings.HasPrefix(last, "-") && !setsOption(last) && setsOption(last+following[0]):
		return `\`
	case setsOption(following[0]) && strings.HasPrefix(following[0], "--"):
		return ` \`
	case len(line) < narrowest || following[0][0] == '#' || mentions(next):
	case slices.ContainsFunc(following[1:], setsOption):
		return `\`
	}
	return ""
}

// setsOption says whether a word is one of fio's options, with its dashes and whole.
func setsOption(word string) bool {
	name := strings.TrimLeft(word, "-")
	if name == word {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	_, known := fio.BuiltinOptions().Lookup(name)
	return known || command.Setting(name)
}

// locate gives words, which a lexer counted from line 1 in bytes, their place in the document, in
// characters.
func (r *reader) locate(words []shell.Word, before int) {
	for k := range words {
		words[k].Line += before
	}
	r.place(words)
}

func mentions(text string) bool { return strings.Contains(text, "fio") }

// unprompted blanks a prompt, so that columns stay.
func (r *reader) unprompted(text string, block int) string {
	if at := prompt.FindStringIndex(text); at != nil {
		return strings.Repeat(" ", len([]rune(text[:at[1]]))) + text[at[1]:]
	}
	if r.Kind == Markdown && block > 0 && rootPrompt.MatchString(text) {
		return strings.Replace(text, "#", " ", 1)
	}
	return text
}

// hereDocument takes the body of cat <<EOF as a job file when it looks like one, and returns the
// line behind it.
func (r *reader) hereDocument(words []shell.Word, from, to, block int) int {
	for k := 1; k < len(words); k++ {
		w, word := words[k-1], words[k]
		if !w.Op || w.Text != "<<" && w.Text != "<<-" || word.Op {
			continue
		}
		key := span{to: to}
		if r.endless[word.Text] == key { // not closed behind an earlier line either
			continue
		}
		for end := from; end < to; end++ {
			if strings.TrimSpace(r.lines[end]) == word.Text {
				if looksLikeJob(r.lines[from:end]) {
					r.job(from, end, block)
				}
				return end + 1
			}
		}
		r.endless[word.Text] = key
	}
	return from
}

// line splits words into simple commands.
func (r *reader) line(words []shell.Word, block int, code bool) {
	from := 0
	for k := 0; k <= len(words); k++ {
		if k < len(words) && (!words[k].Op || strings.ContainsAny(words[k].Text, "<>")) {
			continue
		}
		var simple []shell.Word
		for i := from; i < k; i++ {
			if !words[i].Op && !shell.Redirected(words, i) {
				simple = append(simple, words[i])
			}
		}
		if len(simple) > 0 {
			r.command(simple, block, code, 0)
		}
		from = k + 1
	}
}

// finish parses the job texts and fills variables in, now that the whole document is known.
func (r *reader) finish() {
	for i := 0; i < len(r.regions); i++ { // which may hold more
		r.commands(r.regions[i])
		r.regions[i] = nil
	}
	r.disables()
	for name := range r.values {
		if v, ok := r.value(name, 0); ok && len(v) <= longLine && plainValue.MatchString(v) {
			r.Env[name] = v
		}
	}
	for i := range r.Jobs {
		r.fill(r.Jobs[i].File)
	}
	include := r.opts.Include
	if r.Kind == Markdown { // a page shows files that are elsewhere
		include = func(name string) ([]byte, error) {
			if r.opts.Include != nil {
				if text, err := r.opts.Include(name); err == nil {
					return text, nil
				}
			}
			return nil, nil
		}
	}
	r.madeJobs()
	for _, t := range r.texts {
		if r.spent.over {
			break
		}
		text, low := r.jobText(t)
		f, err := fio.ParseJobFile(r.Name, []byte(text), fio.ParseOptions{Env: r.variable, Include: include})
		outside := false
		if err != nil {
			at, why, missing := 1+low, err, ""
			if e, ok := errors.AsType[*fio.JobError](err); ok {
				at, why, missing = e.Line, e.Err, e.Missing
			}
			if missing != "" {
				f, outside = r.without(text)
			}
			if !outside || !strings.Contains(missing, "${") { // a variable, which fio does not fill in there
				r.Unread = append(r.Unread, Unread{Line: max(at-low, 1), Why: why.Error(), Outside: outside})
			}
			if !outside {
				continue
			}
		}
		lift(f, low)
		if len(r.texts) > 1 && !r.keepFile(f, t.from+1) { // one alone has the limits of a job file
			break
		}
		for s := range f.Sections {
			sec := &f.Sections[s]
			to := t.to
			if s+1 < len(f.Sections) {
				to = f.Sections[s+1].Line - 1
			}
			r.units = append(r.units, unit{sec.Line, to})
			for o := range sec.Options {
				if opt := &sec.Options[o]; opt.File == "" {
					opt.Col = r.column(opt.Line, opt.Col)
				}
			}
		}
		j := Job{
			File:    f,
			Line:    t.from + 1,
			Col:     1,
			Block:   t.block,
			Made:    r.writtenTo[t.from],
			Partial: outside || r.steers(t.from, t.to),
		}
		if len(f.Sections) > 0 {
			j.Line = f.Sections[0].Line
		}
		r.Jobs = append(r.Jobs, j)
	}
	slices.SortStableFunc(r.Jobs, func(a, b Job) int { return a.Line - b.Line })
	slices.SortStableFunc(r.Commands, func(a, b Command) int { return a.Line - b.Line })
	r.passedOn()
	r.jobless()
	r.missed()
	r.cover()
}

// jobless notes the job files that the document writes and starts, and that hold no job.
func (r *reader) jobless() {
	for _, made := range r.Jobs {
		if made.Made == "" || made.Partial || len(made.File.Jobs()) > 0 {
			continue
		}
		others, started := 0, false
		for _, j := range r.Jobs {
			if j.Made == made.Made {
				others++
			}
			started = started ||
				j.Command && !j.Partial && len(j.File.Jobs()) == 0 && slices.Equal(j.File.Files, []string{made.Made})
		}
		appended := slices.ContainsFunc(r.lines, func(line string) bool {
			return strings.Contains(strings.ReplaceAll(line, ">> ", ">>"), ">>"+made.Made)
		})
		if started && others == 1 && !appended {
			r.unread(made.Line, NoJob, NoJobIn(made.Made))
		}
	}
}

// NoJobIn says of a file that it holds no job.
func NoJobIn(name string) string {
	return text.Clean(path.Base(name), 60) + " holds no job: fio needs a [section] besides [global]"
}

// without reads a job file that includes what is not here, and may be where it runs; false where
// something else is wrong with it.
func (r *reader) without(text string) (*fio.JobFile, bool) {
	if r.opts.Include == nil {
		return nil, false
	}
	include := func(name string) ([]byte, error) {
		body, err := r.opts.Include(name)
		if err != nil && !path.IsAbs(name) {
			body, err = r.opts.Include(path.Join(path.Dir(r.Name), name))
		}
		if err != nil {
			return nil, nil
		}
		return body, nil
	}
	f, err := fio.ParseJobFile(r.Name, []byte(text), fio.ParseOptions{Env: r.variable, Include: include})
	return f, err == nil
}

// jobText is a job file's text, and by how many lines what is counted in it is too low for the
// document, or too high (negative). A file without any section is a fragment that others include: its
// options are read as defaults.
func (r *reader) jobText(t span) (string, int) {
	lines := r.lines[t.from:t.to]
	text := strings.Join(lines, "\n")
	if t.block == 0 && t.from == 0 &&
		!slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "[") }) {
		return "[global]\n" + text, 1
	}
	return text, -t.from
}

// variable leaves what is not known as written.
func (r *reader) variable(name string) (string, bool) {
	if v, ok := r.Env[name]; ok && r.fillIn(v) {
		return v, true
	}
	if r.opts.Env != nil {
		if v, ok := r.opts.Env(name); ok && r.fillIn(v) {
			return v, true
		}
	}
	return "${" + name + "}", true
}

var reference = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// fill puts known variables into the values of a command line's options.
func (r *reader) fill(f *fio.JobFile) {
	for s := range f.Sections {
		for o := range f.Sections[s].Options {
			opt := &f.Sections[s].Options[o]
			if !strings.Contains(opt.Value, "$") {
				continue
			}
			opt.Value = reference.ReplaceAllStringFunc(opt.Value, func(ref string) string {
				if v, ok := r.Env[strings.Trim(ref, "${}")]; ok && r.fillIn(v) {
					return v
				}
				return ref
			})
		}
	}
}

// lift takes lines that were put ahead off the places of options.
func lift(f *fio.JobFile, lines int) {
	for s := range f.Sections {
		sec := &f.Sections[s]
		sec.Line = max(sec.Line-lines, 1)
		for o := range sec.Options {
			if sec.Options[o].File == "" {
				sec.Options[o].Line -= lines
			}
		}
	}
}
