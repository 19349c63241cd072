package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/fio/shell"
)

// Bounds of what is given to the shell parser, which descends as deep as a text nests. What is
// beyond is read a line at a time.
const (
	maxNesting = 200 // open brackets and reserved words
	maxInner   = 3   // commands in a string within a command in a string
)

// place is where a text begins in the document: a line and a column in bytes, from 1.
type place struct{ line, col int }

// region is shell code that was parsed. Its commands are read when all variables of the document
// are known.
type region struct {
	src    string
	starts []int // offsets of its lines
	file   *syntax.File
	base   place
	block  int
	depth  int // how many strings it stands in
}

// piece reads a text that is shell if it is anything.
func (r *reader) piece(src string, base place, block, depth int) {
	if !r.parsed(src, base, block, depth) && r.spent.full && !r.spent.said && mentions(src) {
		r.spent.said = true
		r.unread(base.line, Limit, "more than 2,048 pieces of shell, or 256 KiB of them: "+
			"this one is not read, nor what follows it; split the document")
	}
}

// parsed notes a text that is shell and says whether it is. Variables are collected at once.
func (r *reader) parsed(src string, base place, block, depth int) bool {
	if depth > maxInner || r.spent.over || nests(src) || !r.parse(src) {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		return false
	}
	g := &region{src: src, file: file, base: base, block: block, depth: depth, starts: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			g.starts = append(g.starts, i+1)
		}
	}
	r.regions = append(r.regions, g)
	r.assigned(g)
	return true
}

// scope names the branch, the function or the string that holds the last of open nodes.
func (g *region) scope(open []syntax.Node) string {
	var b strings.Builder
	if g.depth > 0 { // another shell, perhaps on another host
		fmt.Fprintf(&b, "%d:%d ", g.base.line, g.base.col)
	}
	for i, n := range open {
		switch n := n.(type) {
		case *syntax.IfClause, *syntax.CaseItem, *syntax.FuncDecl:
			fmt.Fprintf(&b, "%d ", n.Pos().Offset())
		case *syntax.BinaryCmd:
			if i+1 < len(open) && open[i+1] == syntax.Node(n.Y) && n.Op != syntax.Pipe {
				fmt.Fprintf(&b, "%d ", n.Y.Pos().Offset())
			}
		}
	}
	return b.String()
}

// nests says whether a text may nest deeper than the parser should descend: brackets are counted,
// quotes are not understood.
func nests(src string) bool {
	depth, most := 0, 0
	for i := range len(src) {
		switch src[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth = max(depth-1, 0)
		case '`', '!':
			depth++ // rarely more than a few in a row
		}
		most = max(most, depth)
	}
	return most > maxNesting+strings.Count(src, "`")+strings.Count(src, "!") ||
		strings.Count(src, "`") > mostParsed/64 || strings.Count(src, "if ")+strings.Count(src, "if\n") > mostParsed/64
}

// at is the place in the document of an offset in the region.
func (g *region) at(offset uint) (line, col int) {
	k, found := slices.BinarySearch(g.starts, int(offset))
	if !found {
		k--
	}
	col = int(offset) - g.starts[k] + 1
	if k == 0 {
		col += g.base.col - 1
	}
	return g.base.line + k, col
}

// walk visits the nodes of a region, each as the last of those that are open around it.
func (g *region) walk(visit func(open []syntax.Node)) {
	var open []syntax.Node
	syntax.Walk(g.file, func(n syntax.Node) bool {
		if n == nil {
			open = open[:len(open)-1]
			return true
		}
		open = append(open, n)
		visit(open)
		return true
	})
}

// assigned collects the variables that a region sets.
func (r *reader) assigned(g *region) {
	g.walk(func(open []syntax.Node) {
		switch n := open[len(open)-1].(type) {
		case *syntax.Assign:
			if n.Name == nil || n.Naked || n.Index != nil {
				return
			}
			name, value, plain := n.Name.Value, "", true
			appends := n.Append
			switch {
			case n.Array != nil:
				var words []string
				for _, e := range n.Array.Elems {
					text, ok := g.text(e.Value)
					plain = plain && ok && e.Index == nil
					words = append(words, shell.Line([]string{text}))
				}
				value = strings.Join(words, " ")
				if n.Append {
					value = " " + value // its elements are words of their own
				}
			case n.Value != nil:
				text, ok := g.text(n.Value)
				value, plain = text, plain && ok
				for _, self := range []string{"$" + name + " ", "${" + name + "} "} { // c="$c --bs=4k"
					if rest, is := strings.CutPrefix(value, self); is {
						value, appends = " "+rest, true
					}
				}
			}
			if appends {
				r.grow(name, value, plain, slices.ContainsFunc(open, conditional))
			} else {
				r.set(name, value, plain)
			}
			from, _ := g.at(n.Pos().Offset())
			to, _ := g.at(n.End().Offset())
			r.setAt[name] = append(r.setAt[name], unit{from, to})
		case *syntax.WordIter:
			r.set(n.Name.Value, "", false)
		case *syntax.CallExpr:
			r.filledIn(g, n)
		case *syntax.ArithmCmd, *syntax.LetClause:
			r.counted(n)
		case *syntax.FuncDecl:
			r.wraps(g, n)
		}
	})
}

// conditional says whether what stands in a node may run never, or more than once.
func conditional(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.IfClause, *syntax.CaseClause, *syntax.FuncDecl:
		return true
	case *syntax.BinaryCmd:
		return n.Op != syntax.Pipe
	}
	return repeats(n)
}

// repeats says whether a node is a loop.
func repeats(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.ForClause, *syntax.WhileClause:
		return true
	}
	return false
}

// text is a word as the program would see it, expansions as written; false when a command or an
// unknown form is in it.
func (g *region) text(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	ok := g.parts(&b, w.Parts, false)
	return b.String(), ok
}

func (g *region) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	plain := true
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			plain = g.parts(b, p.Parts, true) && plain
		default:
			b.WriteString(g.src[p.Pos().Offset():p.End().Offset()])
			if v, is := p.(*syntax.ParamExp); !is || v.Exp != nil || v.Repl != nil || v.Slice != nil || v.Length ||
				v.Excl {
				plain = false
			}
		}
	}
	return plain
}

// unescape takes the backslashes out of a literal.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && !strings.ContainsRune("$`\"\\", rune(s[i])):
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// commands reads the commands of a region.
func (r *reader) commands(g *region) {
	values := map[syntax.Node][]string{} // of the for loops
	g.walk(func(open []syntax.Node) {
		switch n := open[len(open)-1].(type) {
		case *syntax.ForClause:
			values[n] = r.rounds(g, n)
		case *syntax.Stmt:
			r.hereDocuments(g, n)
		case *syntax.CallExpr:
			r.loop, r.scope, r.varies = slices.ContainsFunc(open, repeats), g.scope(open), loopVariables(open, values)
			r.call(g, n)
		}
	})
	r.loop, r.scope, r.varies = false, "", nil
}

// loopVariables are those of the for loops among open nodes, with their values.
func loopVariables(open []syntax.Node, values map[syntax.Node][]string) map[string][]string {
	vary := map[string][]string{}
	for _, n := range open {
		if loop, ok := n.(*syntax.ForClause); ok {
			if words, ok := loop.Loop.(*syntax.WordIter); ok {
				vary[words.Name.Value] = values[n]
			}
		}
	}
	return vary
}

// mostRounds is how many rounds of a loop are looked at.
const mostRounds = 16

// rounds are the values of a loop's variable, the first of them where there are many; nil where the
// document does not say them.
func (r *reader) rounds(g *region, loop *syntax.ForClause) (values []string) {
	iter, ok := loop.Loop.(*syntax.WordIter)
	if !ok || len(r.setAt[iter.Name.Value]) > 0 { // or it is set again
		return nil
	}
	for _, item := range iter.Items[:min(len(iter.Items), mostRounds)] {
		text, _ := g.text(item)
		for _, w := range r.expand(shell.Word{Text: text}, item) {
			if strings.ContainsAny(w.Text, "$`*{") {
				return nil
			}
			values = append(values, w.Text)
		}
	}
	return values[:min(len(values), mostRounds)]
}

// hereDocuments reads what a statement is given: a job file, or code for the shell that it starts.
func (r *reader) hereDocuments(g *region, s *syntax.Stmt) {
	for _, redirect := range s.Redirs {
		if redirect.Hdoc == nil || g.depth > 0 {
			continue
		}
		from, _ := g.at(redirect.Hdoc.Pos().Offset())
		to, col := g.at(redirect.Hdoc.End().Offset())
		if col > 1 {
			to++
		}
		from, to = from-1, min(to-1, len(r.lines))
		if end, _ := g.text(redirect.Word); from < to && strings.TrimSpace(r.lines[to-1]) == end {
			to--
		}
		if from >= to {
			continue
		}
		body := r.lines[from:to]
		switch {
		case looksLikeJob(body):
			r.job(from, to, g.block)
			r.writtenTo[from] = g.writesTo(s)
		case strings.HasPrefix(body[0], "#!") || startsShell(s):
			r.piece(strings.Join(body, "\n"), place{from + 1, 1}, g.block, g.depth+1)
		case strings.HasPrefix(strings.TrimSpace(body[0]), "apiVersion:") ||
			strings.HasPrefix(strings.TrimSpace(body[0]), "---"):
			r.yaml(from, to, g.block)
		}
	}
}

// writesTo is the file that a statement writes: that of its redirection, or of tee.
func (g *region) writesTo(s *syntax.Stmt) string {
	for _, redirect := range s.Redirs {
		if slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrClob}, redirect.Op) {
			name, _ := g.text(redirect.Word)
			return name
		}
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 1 && call.Args[len(call.Args)-2].Lit() == "tee" {
		name, _ := g.text(call.Args[len(call.Args)-1])
		return name
	}
	return ""
}

// startsShell says whether a statement is a command that reads its input as shell.
func startsShell(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	for _, w := range call.Args {
		if slices.Contains(strings.Fields(`bash sh ssh dash zsh ksh`), base(w.Lit())) {
			return true
		}
	}
	return false
}

// call reads a simple command with its known variables filled in.
func (r *reader) call(g *region, c *syntax.CallExpr) {
	if len(c.Args) == 0 || r.spent.over {
		return
	}
	var words []shell.Word
	for _, w := range c.Args {
		line, col := g.at(w.Pos().Offset())
		text, _ := g.text(w)
		words = append(words, r.expand(shell.Word{Text: text, Line: line, Col: col}, w)...)
	}
	if len(words) == 0 {
		return
	}
	if w, is := r.wrapped[words[0].Text]; is {
		if !r.keep(0, len(w.words), words[0].Line) {
			return
		}
		words = append(w.at(words[0]), words[1:]...)
	}
	r.place(words)
	if slices.Contains(speakers, base(words[0].Text)) {
		r.spoken = append(r.spoken, unit{words[0].Line, words[len(words)-1].Line})
	}
	r.command(words, g.block, true, g.depth)
}

// place turns columns in bytes into columns in characters.
func (r *reader) place(words []shell.Word) {
	line, same := 0, true // the line that was looked at last, and whether both columns are the same in it
	for k := range words {
		if n := words[k].Line; n != line {
			src := r.Source(n)
			line, same = n, len(src) > longLine || len(src) == utf8.RuneCountInString(src)
		}
		if !same {
			words[k].Col = r.column(line, words[k].Col)
		}
	}
}

// expand splits a word that is nothing but a variable, whose value the document gives, into the
// words of its value. Others stay.
func (r *reader) expand(word shell.Word, w *syntax.Word) []shell.Word {
	parts, quoted := w.Parts, false
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts, quoted = q.Parts, true
		}
	}
	asWritten := []shell.Word{word}
	if len(parts) != 1 {
		return asWritten
	}
	v, ok := parts[0].(*syntax.ParamExp)
	if !ok || v.Param == nil || v.Exp != nil || v.Repl != nil || v.Slice != nil || v.Length || v.Excl {
		return asWritten
	}
	name := v.Param.Value
	value, known := r.value(name, 0)
	if !known || !r.fillIn(value) {
		return asWritten
	}
	if len(value) > 0 {
		r.spoken = append(r.spoken, r.setAt[name]...)
	}
	if quoted && v.Index == nil {
		word.Text = value
		return []shell.Word{word}
	}
	split, err := shell.Words(value)
	if err != nil {
		return asWritten
	}
	words := split[:0]
	for _, s := range split {
		if !s.Op {
			words = append(words, shell.Word{Text: s.Text, Line: word.Line, Col: word.Col})
		}
	}
	if r.grown[name] { // what is added under a condition may be there or not
		words = append(words, shell.Word{Text: "$" + name, Line: word.Line, Col: word.Col})
	}
	return words
}

// value is what the document gives a variable, with variables in it filled in as far as they are
// known; false when it has several values, a computed one or none.
func (r *reader) value(name string, depth int) (string, bool) {
	v, ok := r.values[name]
	if !ok || v == "" || r.several[name] || depth > maxInner { // what is empty is filled in by somebody
		return "", false
	}
	length := len(v)
	return reference.ReplaceAllStringFunc(v, func(ref string) string {
		if length > longLine {
			return ref
		}
		if inner, ok := r.value(strings.Trim(ref, "${}"), depth+1); ok && len(inner) < 4096 {
			length += len(inner)
			return inner
		}
		return ref
	}), true
}
