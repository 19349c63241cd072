package script

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/fio/shell"
)

// Variables that a command fills in, and not an assignment.

// readers are commands that set the variables that they name.
var readers = []string{"read", "mapfile", "readarray", "getopts"}

// variableName is one.
var variableName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// filledIn notes that the variables which read and its like name have values that nobody knows.
func (r *reader) filledIn(g *region, call *syntax.CallExpr) {
	var words []shell.Word
	for _, w := range call.Args {
		text, _ := g.text(w)
		words = append(words, shell.Word{Text: text})
	}
	r.filledByCommand(words)
}

// filledByCommand is filledIn for the words of a command.
func (r *reader) filledByCommand(words []shell.Word) {
	if len(words) < 2 {
		return
	}
	named := words[1:]
	switch {
	case slices.Contains(readers, words[0].Text):
	case words[0].Text == "printf" && len(words) > 2 && words[1].Text == "-v":
		named = words[2:3]
	default:
		return
	}
	for _, w := range named {
		if variableName.MatchString(w.Text) {
			r.set(w.Text, "", false)
		}
	}
}

// counted notes that the variables in ((n *= 2)) or let n++ change.
func (r *reader) counted(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		var changed syntax.ArithmExpr
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if strings.HasSuffix(n.Op.String(), "=") && !slices.Contains([]string{"==", "!=", "<=", ">="}, n.Op.String()) {
				changed = n.X
			}
		case *syntax.UnaryArithm:
			if op := n.Op.String(); op == "++" || op == "--" {
				changed = n.X
			}
		}
		if w, ok := changed.(*syntax.Word); ok && variableName.MatchString(w.Lit()) {
			r.set(w.Lit(), "", false)
		}
		return true
	})
}
