package script

import (
	"encoding/json"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
)

// What scripts build before they run it: variables that grow, functions that pass their words to
// fio, and job files that echo writes.

// grow notes NAME+=value: what is added is read, and whether it may be added or not.
func (r *reader) grow(name, value string, known, perhaps bool) {
	r.grown[name] = r.grown[name] || perhaps || !known
	old := r.values[name]
	if !known || len(old)+len(value) > 1<<16 {
		return // the rest of it is read all the same
	}
	b := r.pieces[name]
	if b == nil || b.String() != old { // it was set again
		b = &strings.Builder{}
		b.WriteString(old)
		r.pieces[name] = b
	}
	if old != "" && !strings.HasPrefix(value, " ") && !strings.HasSuffix(old, " ") && strings.HasPrefix(value, "-") {
		b.WriteByte(' ')
	}
	b.WriteString(value)
	r.values[name] = b.String()
}

// wrapper is a function that runs fio with its own words.
type wrapper struct{ words []string }

// at are the words of fio's command where the function is called.
func (w wrapper) at(call shell.Word) []shell.Word {
	words := make([]shell.Word, len(w.words))
	for i, text := range w.words {
		words[i] = shell.Word{Text: text, Line: call.Line, Col: call.Col}
	}
	return words
}

// wraps notes a function that hands its words on: _fio() { fio --direct=1 "$@"; }.
func (r *reader) wraps(g *region, f *syntax.FuncDecl) {
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		var words []string
		passes := false
		for _, arg := range call.Args {
			text, _ := g.text(arg)
			switch {
			case text == "$@" || text == "$*":
				passes = len(words) > 0
			case len(words) > 0 || isFio(text):
				words = append(words, text)
			}
		}
		if !passes || f.Name.Value == "main" {
			return true
		}
		words[0] = "fio"
		r.wrapped[f.Name.Value] = wrapper{words}
		return false
	})
}

// madeFile is a file that echo and printf write, with the line of the document that each of its
// lines comes from.
type madeFile struct {
	name  string
	lines []string
	at    []int
	block int
}

// echoed notes echo "[global]" > x.fio and what follows it.
func (r *reader) echoed(g *region, s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || len(s.Redirs) == 0 {
		return
	}
	program := call.Args[0].Lit()
	if program != "echo" && program != "printf" {
		return
	}
	for _, redirect := range s.Redirs {
		if redirect.Hdoc != nil || redirect.Op != syntax.RdrOut && redirect.Op != syntax.AppOut {
			continue
		}
		name, _ := g.text(redirect.Word)
		var words []string
		for _, arg := range call.Args[1:] {
			text, _ := g.text(arg)
			if len(words) == 0 && (text == "-e" || text == "-n" || text == "-ne" || text == "-en") {
				continue
			}
			words = append(words, text)
		}
		if program == "printf" {
			words = printfLines(words)
		}
		line, _ := g.at(call.Pos().Offset())
		r.write(name, redirect.Op == syntax.RdrOut, strings.Join(words, " "), line, g.block)
	}
}

// write adds text to a file that is made; fresh where it begins the file.
func (r *reader) write(name string, fresh bool, text string, line, block int) {
	at, had := r.madeAt[name]
	if !had || fresh {
		at = len(r.made)
		r.made = append(r.made, madeFile{name: name, block: block})
		r.madeAt[name] = at
	}
	m := &r.made[at]
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "").Replace(text)
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if word := strings.TrimSpace(part); len(m.at) > 0 && word != "" && line < len(r.lines) &&
			!strings.Contains(r.Source(line), word) && strings.Contains(r.Source(line+1), word) {
			line++ // of a string that goes over lines
		}
		m.lines = append(m.lines, part)
		m.at = append(m.at, line)
	}
}

// printfLines are the lines that printf writes: what stands behind its format where that is nothing but
// %s, else the format, whose %s are not known.
func printfLines(words []string) []string {
	if len(words) < 2 || strings.Trim(words[0], `%s\n `) != "" {
		return words[:min(len(words), 1)]
	}
	return []string{strings.Join(words[1:], "\n")}
}

// madeJobs reads the made files that are job files.
func (r *reader) madeJobs() {
	for _, m := range r.made {
		if !looksLikeJob(m.lines) || r.spent.over {
			continue
		}
		f, err := fio.ParseJobFile(r.Name, []byte(strings.Join(m.lines, "\n")+"\n"), fio.ParseOptions{
			Env: r.variable, Include: func(string) ([]byte, error) { return nil, nil },
		})
		if err != nil {
			r.Unread = append(r.Unread, Unread{Line: m.at[0], Why: err.Error()})
			continue
		}
		place := func(line int) int { return m.at[min(max(line, 1), len(m.at))-1] }
		for s := range f.Sections {
			sec := &f.Sections[s]
			sec.Line = place(sec.Line)
			for o := range sec.Options {
				opt := &sec.Options[o]
				opt.Line = place(opt.Line)
				opt.Col = r.column(opt.Line, 1+max(strings.Index(r.Source(opt.Line), opt.Name), 0))
			}
		}
		if r.keepFile(f, m.at[0]) {
			r.Jobs = append(r.Jobs, Job{File: f, Line: m.at[0], Col: 1, Block: m.block, Made: m.name})
		}
	}
}

// codeSpan is code within a line of Markdown.
var codeSpan = regexp.MustCompile("`([^`]+)`")

// inline reads fio commands in the code spans of a paragraph: those that name a job.
func (r *reader) inline(from, to int) {
	for i := from; i < to; i++ {
		line := r.lines[i]
		if !strings.Contains(line, "`") || !strings.Contains(line, "fio") || r.tooLong(line, i+1) {
			continue
		}
		for _, at := range codeSpan.FindAllStringSubmatchIndex(line, -1) {
			span := line[at[2]:at[3]]
			if innerFio.MatchString(span) && strings.Contains(span, "-name") && strings.Contains(span, "=") {
				r.piece(span, place{i + 1, at[2] + 1}, 0, 1)
			}
		}
	}
}

// dockerfile reads what RUN, CMD and ENTRYPOINT start, as shell or as a list of words.
func (r *reader) dockerfile() {
	for i := 0; i < len(r.lines); {
		end := i + 1
		for end < len(r.lines) && continued(r.lines[end-1]) {
			end++
		}
		line := r.lines[i]
		keyword, rest, ok := strings.Cut(strings.TrimLeft(line, " \t"), " ")
		upper := strings.ToUpper(keyword)
		if ok && (upper == "RUN" || upper == "CMD" || upper == "ENTRYPOINT") {
			at := place{i + 1, len(line) - len(rest) + 1}
			var words []string
			if json.Unmarshal([]byte(rest), &words) == nil && len(words) > 0 {
				var command []shell.Word
				for _, w := range words {
					command = append(command, shell.Word{Text: w, Line: i + 1, Col: at.col + max(strings.Index(rest, w), 0)})
				}
				r.place(command)
				r.appended = upper == "ENTRYPOINT" // CMD and who runs the image add words
				r.command(command, 0, true, 0)
				r.appended = false
			} else {
				r.piece(strings.Join(append([]string{rest}, r.lines[i+1:end]...), "\n"), at, 0, 0)
			}
		}
		i = end
	}
}
