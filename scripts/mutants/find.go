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
	line, col int
	// runs is the line whose tests may notice it: that of the switch for a condition of a case, which
	// is tried by many that never get into the case.
	runs      int
	text      string // of the line, trimmed: it finds the place again when lines move
	from, end int
	to        string
	change    string // the mutant's effect on the expression or assignment, on one line
}

// key names a mutant independently of the number of its line.
func (m mutant) key() string {
	return m.file + "\t" + m.text + "\t" + m.change
}

func (m mutant) name() string {
	return fmt.Sprintf("%s:%d:%d: %s   [%s]", m.file, m.line, m.col, m.change, m.text)
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
			s := &search{pkg: pkg, src: src, file: filepath.ToSlash(name)}
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
	pkg   *packages.Package
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

// at is the place of a position in the file's bytes.
func (s *search) at(p token.Pos) token.Position { return s.pkg.Fset.Position(p) }

// add notes that the bytes between two positions of n may become to.
func (s *search) add(n ast.Node, from, end token.Pos, to string) {
	f := s.at(from)
	e := s.at(end)
	lineAt := strings.LastIndexByte(string(s.src[:f.Offset]), '\n') + 1
	rest, _, _ := strings.Cut(string(s.src[lineAt:]), "\n")
	runs := f.Line
	for _, c := range s.cases { // an inner switch comes after the outer one
		if from >= c.from && from < c.end {
			runs = c.line
		}
	}
	before, behind := string(s.src[s.at(n.Pos()).Offset:f.Offset]), string(s.src[e.Offset:s.at(n.End()).Offset])
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	s.found = append(s.found, mutant{
		dir: filepath.ToSlash(filepath.Dir(s.file)), file: s.file, line: f.Line, col: f.Column, runs: runs,
		text: strings.TrimSpace(rest), from: f.Offset, end: e.Offset, to: to,
		change: oneLine(s.textOf(n)) + " -> " + oneLine(before+to+behind),
	})
}

func (s *search) textOf(n ast.Node) string {
	return string(s.src[s.at(n.Pos()).Offset:s.at(n.End()).Offset])
}

// look adds the mutants of one node; it does not enter what holds no values: import and tags.
func (s *search) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.StructType, *ast.ArrayType:
		return false
	case *ast.SwitchStmt:
		line := s.at(n.Pos()).Line
		for _, clause := range n.Body.List {
			if c, ok := clause.(*ast.CaseClause); ok && len(c.List) > 0 {
				s.cases = append(s.cases, condition{c.Case, c.Colon, line})
			}
		}
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			s.add(n, n.Pos(), n.End(), s.textOf(n.X))
		}
	case *ast.AssignStmt:
		s.assign(n)
	case *ast.CallExpr:
		if s.textOf(n.Fun) == "math.Inf" {
			return false // the number is a sign
		}
		if strings.HasPrefix(s.textOf(n.Fun), "strconv.") && len(n.Args) > 0 {
			ast.Inspect(n.Args[0], s.look) // most other numbers choose a format: base, bits, "as many as needed"
			if s.textOf(n.Fun) == "strconv.FormatFloat" && s.textOf(n.Args[2]) != "-1" {
				ast.Inspect(n.Args[2], s.look)
			}
			return false
		}
		s.call(n)
	case *ast.ReturnStmt:
		return s.returned(n)
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
		s.add(n, n.OpPos, end, to)
	}
	dropped := func() { // one operand stays
		s.add(n, n.Pos(), n.End(), s.textOf(n.X))
		s.add(n, n.Pos(), n.End(), s.textOf(n.Y))
	}
	switch n.Op {
	case token.LAND, token.LOR:
		dropped()
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if !s.number(n) {
			return
		}
		s.add(n, n.OpPos, end, map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}[n.Op])
		s.add(n, n.Pos(), n.End(), s.textOf(n.X))
		if n.Op == token.ADD || n.Op == token.MUL {
			s.add(n, n.Pos(), n.End(), s.textOf(n.Y))
		}
	default: // bits are not values
	}
}

func (s *search) assign(n *ast.AssignStmt) {
	swapped := map[token.Token]string{
		token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
	}[n.Tok]
	if swapped != "" && s.number(n.Lhs[0]) {
		s.add(n, n.TokPos, n.TokPos+2, swapped)
	}
}

// turned are the roundings and extremes that stand for each other.
var turned = map[string]string{
	"min": "max", "max": "min",
	"math.Ceil": "math.Floor", "math.Floor": "math.Ceil", "math.Round": "math.Floor", "math.Trunc": "math.Ceil",
}

func (s *search) call(n *ast.CallExpr) {
	if to := turned[s.textOf(n.Fun)]; to != "" && (len(n.Args) > 1 || strings.HasPrefix(to, "math")) {
		s.add(n, n.Fun.Pos(), n.Fun.End(), to)
	}
}

func (s *search) literal(n *ast.BasicLit) {
	v, ok := s.pkg.TypesInfo.Types[n]
	if !ok || v.Value == nil || n.Kind != token.INT && n.Kind != token.FLOAT {
		return
	}
	if n.Kind == token.INT {
		s.add(n, n.Pos(), n.End(), constant.BinaryOp(v.Value, token.ADD, constant.MakeInt64(1)).ExactString())
		return
	}
	s.add(n, n.Pos(), n.End(), "("+n.Value+" + 1)")
}

// returned skips a literal 0 or -1 beside an error or a plain false: there it means "nothing". Whatever
// is worked out beside them is tried.
func (s *search) returned(n *ast.ReturnStmt) bool {
	last := len(n.Results) - 1
	if last < 1 || !s.failure(n.Results[last]) && s.textOf(n.Results[last]) != "false" {
		return true
	}
	for _, e := range n.Results {
		if text := s.textOf(e); text != "0" && text != "-1" {
			ast.Inspect(e, s.look)
		}
	}
	return false
}

// failure says whether an expression is an error that is not nil by its look.
func (s *search) failure(e ast.Expr) bool {
	v, ok := s.pkg.TypesInfo.Types[e]
	return ok && v.Type != nil && v.Type.String() == "error" && !v.IsNil()
}

// number says whether an expression is a number whose value is not known when it is compiled.
func (s *search) number(e ast.Expr) bool {
	v, ok := s.pkg.TypesInfo.Types[e]
	if !ok || v.Type == nil {
		return false
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}
