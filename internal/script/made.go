package script

import (
	"encoding/json"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
)

// What scripts build before they run it: variables that grow, and functions that pass their words to
// fio.

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

// madeFile is a job file whose text the document has in another form, with the line of the document
// that each of its lines comes from.
type madeFile struct {
	lines []string
	at    []int
	block int
}

// madeJobs reads them.
func (r *reader) madeJobs() {
	for _, m := range r.made {
		if !looksLikeJob(m.lines) || r.spent.over {
			continue
		}
		f, err := fio.ParseJobFile(r.Name, []byte(strings.Join(m.lines, "\n")+"\n"), fio.ParseOptions{
			Env: r.variable, Include: func(string) ([]byte, error) { return nil, nil },
		})
		if err != nil {
			r.unread(m.at[0], "", err.Error())
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
			r.Jobs = append(r.Jobs, Job{File: f, Line: m.at[0], Col: 1, Block: m.block})
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
