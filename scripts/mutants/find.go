package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is one change of one place: the bytes from..end of a file become to.
type mutant struct {
	dir, file string // relative to the working directory
	line      int
	// runs is the line whose tests may notice it: that of the switch for a condition of a case, which
	// is tried by many that never get into the case.
	runs      int
	text      string // of the line, trimmed: it finds the place again when lines move
	from, end int
	was, to   string
}

// key names a mutant independently of the number of its line.
func (m mutant) key() string {
	return m.file + "\t" + m.text + "\t" + m.change()
}

func (m mutant) name() string {
	return fmt.Sprintf("%s:%d: %s   [%s]", m.file, m.line, m.change(), m.text)
}

// change is the mutant's effect on one line.
func (m mutant) change() string {
	return strings.Join(strings.Fields(m.was), " ") + " -> " + strings.Join(strings.Fields(m.to), " ")
}

// find lists every mutant of the packages, in order of file and place.
func find(dirs []string) ([]mutant, error) {
	patterns := make([]string, len(dirs))
	for i, dir := range dirs {
		patterns[i] = "./" + strings.TrimPrefix(filepath.Clean(dir), "./")
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedDeps,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return nil, fmt.Errorf("the packages do not compile")
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, pkg := range pkgs {
		for _, file := range pkg.Syntax {
			name, err := filepath.Rel(here, pkg.Fset.File(file.Pos()).Name())
			if err != nil {
				return nil, err
			}
			src, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			s := &search{info: pkg.TypesInfo, files: pkg.Fset, src: src, file: filepath.ToSlash(name)}
			ast.Inspect(file, s.look)
			all = append(all, s.found...)
		}
	}
	slices.SortStableFunc(all, func(a, b mutant) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		return a.from - b.from
	})
	return all, nil
}

// search walks one file.
type search struct {
	info  *types.Info
	files *token.FileSet
	src   []byte
	file  string
	found []mutant
	cases []condition
}

// condition is where the conditions of a case stand, and the line of their switch.
type condition struct {
	from, end token.Pos
	line      int
}

// add notes that the bytes between two positions may become to.
func (s *search) add(from, end token.Pos, to string) {
	f := s.files.Position(from)
	e := s.files.Position(end)
	lineAt := strings.LastIndexByte(string(s.src[:f.Offset]), '\n') + 1
	rest, _, _ := strings.Cut(string(s.src[lineAt:]), "\n")
	runs := f.Line
	for _, c := range s.cases { // an inner switch comes after the outer one
		if from >= c.from && from < c.end {
			runs = c.line
		}
	}
	s.found = append(s.found, mutant{
		dir: filepath.ToSlash(filepath.Dir(s.file)), file: s.file, line: f.Line, runs: runs, text: strings.TrimSpace(rest),
		from: f.Offset, end: e.Offset, was: string(s.src[f.Offset:e.Offset]), to: to,
	})
}

func (s *search) textOf(n ast.Node) string {
	return string(s.src[s.files.Position(n.Pos()).Offset:s.files.Position(n.End()).Offset])
}

// look adds the mutants of one node; it does not enter what holds no values: import and tags.
func (s *search) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.StructType, *ast.ArrayType:
		return false
	case *ast.SwitchStmt:
		line := s.files.Position(n.Pos()).Line
		for _, clause := range n.Body.List {
			if c, ok := clause.(*ast.CaseClause); ok && len(c.List) > 0 {
				s.cases = append(s.cases, condition{c.Case, c.Colon, line})
			}
		}
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			s.add(n.Pos(), n.End(), s.textOf(n.X))
		}
	case *ast.AssignStmt:
		s.assign(n)
	case *ast.CallExpr:
		if s.textOf(n.Fun) == "math.Inf" {
			return false // the number is a sign
		}
		if strings.HasPrefix(s.textOf(n.Fun), "strconv.") && len(n.Args) > 0 {
			ast.Inspect(n.Args[0], s.look) // the other numbers choose a format: base, bits, "as many as needed"
			return false
		}
		s.call(n)
	case *ast.ReturnStmt:
		if last := len(n.Results) - 1; last > 0 && (s.failure(n.Results[last]) || s.textOf(n.Results[last]) == "false") {
			ast.Inspect(n.Results[last], s.look) // what stands beside an error, or a plain false, is read by nobody
			return false
		}
	case *ast.BasicLit:
		s.literal(n)
	}
	return true
}

// compared are the neighbours and the opposite of a comparison.
var compared = map[token.Token][]string{
	token.LSS: {"<=", ">"}, token.LEQ: {"<", ">="}, token.GTR: {">=", "<"}, token.GEQ: {">", "<="},
	token.EQL: {"!="}, token.NEQ: {"=="},
}

func (s *search) binary(n *ast.BinaryExpr) {
	end := n.OpPos + token.Pos(len(n.Op.String()))
	for _, to := range compared[n.Op] {
		s.add(n.OpPos, end, to)
	}
	dropped := func() { // one operand stays
		s.add(n.Pos(), n.End(), s.textOf(n.X))
		s.add(n.Pos(), n.End(), s.textOf(n.Y))
	}
	switch n.Op {
	case token.LAND, token.LOR:
		dropped()
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if !s.number(n) {
			return
		}
		s.add(n.OpPos, end, map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}[n.Op])
		s.add(n.Pos(), n.End(), s.textOf(n.X))
		if n.Op == token.ADD || n.Op == token.MUL {
			s.add(n.Pos(), n.End(), s.textOf(n.Y))
		}
	default: // bits are not values
	}
}

func (s *search) assign(n *ast.AssignStmt) {
	swapped := map[token.Token]string{
		token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
	}[n.Tok]
	if swapped != "" && s.number(n.Lhs[0]) {
		s.add(n.TokPos, n.TokPos+2, swapped)
	}
}

// turned are the roundings and extremes that stand for each other.
var turned = map[string]string{
	"min": "max", "max": "min",
	"math.Ceil": "math.Floor", "math.Floor": "math.Ceil", "math.Round": "math.Floor", "math.Trunc": "math.Ceil",
}

func (s *search) call(n *ast.CallExpr) {
	if to := turned[s.textOf(n.Fun)]; to != "" && (len(n.Args) > 1 || strings.HasPrefix(to, "math")) {
		s.add(n.Fun.Pos(), n.Fun.End(), to)
	}
}

func (s *search) literal(n *ast.BasicLit) {
	v, ok := s.info.Types[n]
	if !ok || v.Value == nil || n.Kind != token.INT && n.Kind != token.FLOAT {
		return
	}
	if n.Kind == token.INT {
		s.add(n.Pos(), n.End(), constant.BinaryOp(v.Value, token.ADD, constant.MakeInt64(1)).ExactString())
		return
	}
	s.add(n.Pos(), n.End(), "("+n.Value+" + 1)")
}

// failure says whether an expression is an error that is not nil by its look.
func (s *search) failure(e ast.Expr) bool {
	v, ok := s.info.Types[e]
	return ok && v.Type != nil && v.Type.String() == "error" && !v.IsNil()
}

// number says whether an expression is a number whose value is not known when it is compiled.
func (s *search) number(e ast.Expr) bool {
	v, ok := s.info.Types[e]
	if !ok || v.Type == nil {
		return false
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}
