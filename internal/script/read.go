package script

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/fio"
)

// reader fills a File.
type reader struct {
	*File
	opts    Options
	texts   []span // job files found, parsed last, when all variables are known
	block   int
	loop    int
	several map[string]bool // variables with more than one value
	endless map[string]span // words that end no here-document before a line
}

// span is a range of lines, from included, to not, counted from 0.
type span struct{ from, to, block int }

var fence = regexp.MustCompile("^\\s*(?:>\\s*)?(```+|~~~+)\\s*([^`]*)$")

// markdown walks through fenced and indented blocks; outside them only lines that are plainly fio commands count.
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
		if looksLikeJob(r.lines[i+1 : end]) {
			r.job(i+1, end, r.block)
		} else {
			r.shell(i+1, end, r.block, true)
		}
		i = end + 1
	}
}

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
var prompt = regexp.MustCompile(`^\s*(?:\[[^\]\s]+(?:@| )[^\]]*\]\s*[$#]|[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:\S*[$#]|\$|>)\s+`)

// rootPrompt is # before a command of root; in a script it is a comment.
var rootPrompt = regexp.MustCompile(`^\s*#\s+(?:sudo\s+)?(?:fio\s+-|mkfs\S*\s+.*/dev/|mdadm\s+-|mount\s+.*/dev/|lvcreate\s+-)`)

// quoteLines is how far an unclosed quote is followed.
const quoteLines = 40

// shell reads lines as commands. Outside code (prose) only fio with options counts.
func (r *reader) shell(from, to, block int, code bool) {
	r.loop = 0
	for i := from; i < to; {
		end := i + 1
		for end < to && continued(r.lines[end-1]) {
			end++
		}
		text := strings.Join(r.lines[i:end], "\n")
		if !strings.ContainsAny(text, " \t=") && !strings.Contains(text, "do") { // nothing to see in a word alone
			i = end
			continue
		}
		text = r.unprompted(text, block)
		words, err := fio.ShellWords(text)
		for err != nil && end < to && end-i < quoteLines && block == 0 && mentions(text) {
			text += "\n" + r.lines[end]
			end++
			words, err = fio.ShellWords(text)
		}
		r.locate(words, i)
		if err != nil && mentions(text) && code {
			for k, w := range words {
				if path.Base(w.Text) == "fio" && k+1 < len(words) && strings.HasPrefix(mend(words[k+1].Text), "-") {
					r.Unread = append(r.Unread, Unread{w.Line, "a quote of this command is never closed"})
					break
				}
			}
		}
		i = r.hereDocument(words, end, to, block)
		r.line(words, block, code)
	}
}

// locate gives words, which a lexer counted from line 1 in bytes, their place in the document, in characters.
func (r *reader) locate(words []fio.Word, before int) {
	line, bytes, runes := 0, 0, 0
	for k := range words {
		w := &words[k]
		if w.Line += before; w.Line != line {
			line, bytes, runes = w.Line, 0, 0
		}
		src := r.Source(line)
		at := min(max(w.Col-1, bytes), len(src))
		runes += utf8.RuneCountInString(src[bytes:at])
		bytes, w.Col = at, runes+1
	}
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

// hereDocument takes the body of cat <<EOF as a job file when it looks like one, and returns the line behind it.
func (r *reader) hereDocument(words []fio.Word, from, to, block int) int {
	for k, w := range words {
		if !w.Op || w.Text != "<<" && w.Text != "<<-" || k+1 == len(words) || words[k+1].Op {
			continue
		}
		key := span{to: to}
		if r.endless[words[k+1].Text] == key { // not closed behind an earlier line either
			continue
		}
		for end := from; end < to; end++ {
			if strings.TrimSpace(r.lines[end]) == words[k+1].Text {
				if looksLikeJob(r.lines[from:end]) {
					r.job(from, end, block)
				}
				return end + 1
			}
		}
		if r.endless == nil {
			r.endless = map[string]span{}
		}
		r.endless[words[k+1].Text] = key
	}
	return from
}

// line splits words into simple commands.
func (r *reader) line(words []fio.Word, block int, code bool) {
	from := 0
	for k := 0; k <= len(words); k++ {
		if k < len(words) && (!words[k].Op || strings.ContainsAny(words[k].Text, "<>")) {
			continue
		}
		var simple []fio.Word
		for i := from; i < k; i++ {
			if !words[i].Op && !fio.Redirected(words, i) {
				simple = append(simple, words[i])
			}
		}
		if len(simple) > 0 {
			r.command(simple, block, code)
		}
		from = k + 1
	}
}

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=([A-Za-z0-9_./%:+-]*)$`)

// wrappers run the command behind them; keywords of the shell stand before one.
var wrappers = []string{
	"sudo", "env", "time", "nice", "ionice", "taskset", "numactl", "timeout", "nohup", "exec", "chrt", "stdbuf", "watch", "doas",
	"do", "then", "else", "if", "while", "until", "!", "{", "export", "local", "readonly", "systemd-run",
}

// programs are those whose commands rules look at.
var programs = []string{"mdadm", "lvcreate", "vgcreate", "pvcreate", "mount", "umount", "parted", "mke2fs", "rm", "dd", "truncate", "fallocate"}

func (r *reader) command(words []fio.Word, block int, code bool) {
	switch words[0].Text {
	case "for", "while", "until":
		r.loop++
		if words[0].Text == "for" {
			if len(words) > 1 {
				r.set(words[1].Text, "", false)
			}
			return
		}
	case "done":
		r.loop = max(r.loop-1, 0)
		return
	}
	wrapped := false
	for i, w := range words {
		if m := assignment.FindStringSubmatch(w.Text); m != nil {
			if code {
				r.set(m[1], m[2], true)
			}
			continue
		}
		if name, _, ok := strings.Cut(w.Text, "="); ok && assignment.MatchString(name+"=") {
			if code {
				r.set(name, "", false)
			}
			continue
		}
		base := path.Base(w.Text)
		switch {
		case base == "fio":
			r.fio(words[i:], block, code)
			return
		case code && (slices.Contains(programs, base) || base == "mkfs" || strings.HasPrefix(base, "mkfs.")):
			c := Command{Words: slices.Clone(words[i:]), Line: w.Line, Col: w.Col, Block: block, Loop: r.loop > 0}
			c.Words[0].Text = base
			r.Commands = append(r.Commands, c)
			r.units = append(r.units, unit{w.Line, words[len(words)-1].Line})
			return
		case slices.Contains(wrappers, base):
			wrapped = true
		case wrapped && (strings.HasPrefix(w.Text, "-") || strings.Trim(w.Text, "0123456789,.smh") == "" || afterOption(words, i)):
			// an option of sudo or taskset, or its value
		default:
			return
		}
	}
}

// afterOption says whether a word may be the value of a short option: sudo -u postgres.
func afterOption(words []fio.Word, i int) bool {
	o := words[i-1].Text
	return len(o) == 2 && o[0] == '-'
}

// set notes a variable. One with several values, or a computed one, is not known.
func (r *reader) set(name, value string, known bool) {
	if r.several == nil {
		r.several = map[string]bool{}
	}
	old, had := r.Env[name]
	if !known || had && old != value {
		r.several[name] = true
	}
	r.Env[name] = value
}

// dashes are what word processors make of --.
const dashes = "‐‑‒–—―−"

var quotes = strings.NewReplacer("“", "", "”", "", "„", "", "«", "", "»", "", "‘", "", "’", "")

// fio reads one fio command. Typos of a word processor are mended first.
func (r *reader) fio(words []fio.Word, block int, code bool) {
	j := Job{Line: words[0].Line, Col: words[0].Col, Command: true, Loop: r.loop > 0, Words: slices.Clone(words), Block: block}
	j.Words[0].Text = "fio"
	options := 0
	for i, w := range j.Words {
		meant := mend(w.Text)
		if meant != w.Text {
			j.Typos = append(j.Typos, Typo{w.Line, w.Col, w.Text, meant})
			j.Words[i].Text = meant
		}
		if i > 0 && strings.HasPrefix(meant, "-") {
			options++
		}
	}
	if options == 0 && len(words) == 1 || !code && (len(words) == 1 || !strings.HasPrefix(j.Words[1].Text, "-")) {
		return
	}
	r.units = append(r.units, unit{j.Line, words[len(words)-1].Line})
	f, err := fio.ParseWords(j.Words)
	if err != nil {
		r.Unread = append(r.Unread, Unread{j.Line, err.Error()})
		return
	}
	f.Name = r.Name
	j.File = f
	r.Jobs = append(r.Jobs, j)
}

func mend(word string) string {
	word = quotes.Replace(word)
	rest := strings.TrimLeft(word, "-"+dashes)
	if lead := word[:len(word)-len(rest)]; strings.ContainsAny(lead, dashes) && rest != "" {
		return "--" + rest
	}
	return word
}

// finish parses the job texts and fills variables in, now that the whole document is known.
func (r *reader) finish() {
	r.disables()
	for name := range r.several {
		delete(r.Env, name)
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
	for _, t := range r.texts {
		text := strings.Repeat("\n", t.from) + strings.Join(r.lines[t.from:t.to], "\n")
		f, err := fio.ParseJobFile(r.Name, []byte(text), fio.ParseOptions{Env: r.variable, Include: include})
		if err != nil {
			at, why := r.where(err.Error(), t.from+1)
			r.Unread = append(r.Unread, Unread{at, why})
			continue
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
		j := Job{File: f, Line: t.from + 1, Col: 1, Block: t.block}
		if len(f.Sections) > 0 {
			j.Line = f.Sections[0].Line
		}
		r.Jobs = append(r.Jobs, j)
	}
	r.cover()
	slices.SortStableFunc(r.Jobs, func(a, b Job) int { return a.Line - b.Line })
}

// variable leaves what is not known as written.
func (r *reader) variable(name string) (string, bool) {
	if v, ok := r.Env[name]; ok {
		return v, true
	}
	if r.opts.Env != nil {
		if v, ok := r.opts.Env(name); ok {
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
				if v, ok := r.Env[strings.Trim(ref, "${}")]; ok {
					return v
				}
				return ref
			})
		}
	}
}

var place = regexp.MustCompile(`:(\d+): `)

// where takes the line out of a parser's error, whose document's name is known.
func (r *reader) where(text string, otherwise int) (int, string) {
	rest, ok := strings.CutPrefix(text, r.Name)
	if m := place.FindStringSubmatch(rest); ok && m != nil && strings.HasPrefix(rest, m[0]) {
		n := 0
		for _, c := range m[1] {
			n = n*10 + int(c-'0')
		}
		return n, rest[len(m[0]):]
	}
	return otherwise, text
}
