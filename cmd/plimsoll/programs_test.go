package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The room sys is the one door to other programs, and docs/evidence/safety.md has a row for each that goes
// through it.
func TestEveryProgramIsInTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/evidence/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### Every program, and as whom it runs")
	table, _, ok := strings.Cut(table, "\n### ")
	if !ok {
		t.Fatal("docs/evidence/safety.md has no table of programs")
	}
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[m[1]] = strings.Contains(cells[2], "on the hosts") || strings.Contains(cells[2], "in the guest")
			}
		}
	}
	var found []string
	for _, h := range heldRows(t) {
		found = append(found, h.programs...)
	}
	for _, name := range found {
		if _, ok := listed[name]; !ok {
			t.Errorf("docs/evidence/safety.md has no row for %s", name)
		}
		listed[name] = true
	}
	for name, there := range listed {
		if !there && name != "COMMAND" {
			t.Errorf("docs/evidence/safety.md lists %s, which nothing starts", name)
		}
	}
}

const heldHeading = "### Every start of a program and every mount"

// held is a row of the table of starts and mounts: a place in the source, and why nobody else can choose
// what is worked on there.
type held struct {
	place    string   // file and expression
	programs []string // that the expression stands for
	by       string
}

// heldRows are the rows of docs/evidence/safety.md.
func heldRows(t *testing.T) []held {
	t.Helper()
	page, err := os.ReadFile("../../docs/evidence/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), heldHeading)
	table, _, ok := strings.Cut(table, "\n#")
	if !ok {
		t.Fatal("docs/evidence/safety.md has no table of starts and mounts")
	}
	var rows []held
	word := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.Contains(cells[0], ".go`") {
			continue
		}
		first := word.FindStringSubmatch(cells[1])
		if first == nil {
			t.Fatalf("no place in %s", line)
		}
		h := held{place: strings.Trim(cells[0], "|` ") + " " + first[1], by: strings.Trim(cells[2], "| \n")}
		rest := strings.TrimPrefix(cells[1], first[0])
		for _, m := range word.FindAllStringSubmatch(rest, -1) {
			if strings.HasPrefix(rest, " (") {
				h.programs = append(h.programs, m[1])
			}
		}
		if rest == "" && !strings.HasPrefix(first[1], "unix.") { // a program's own name
			h.programs = []string{first[1]}
		}
		rows = append(rows, h)
	}
	return rows
}

// Every start of a program and every mount has its row, which says which of three keeps others from choosing
// what is worked on: the way to it is checked ("way"), it is reached by an open handle ("handle"), or no name that
// others can change is handed on ("fixed"). A check or a handle is named, and called in that room.
func TestEveryStartAndMountIsHeld(t *testing.T) {
	rows := map[string]held{}
	for _, h := range heldRows(t) {
		rows[h.place] = h
	}
	places := programs(t)
	if len(places) < 40 {
		t.Fatalf("%d places were found", len(places))
	}
	for _, place := range places {
		if _, ok := rows[place]; !ok {
			file, what, _ := strings.Cut(place, " ")
			t.Errorf("docs/evidence/safety.md has no row for it: | `%s` | `%s` | way, handle or fixed: … |", file, what)
		}
	}
	for place, h := range rows {
		if !slices.Contains(places, place) {
			t.Errorf("docs/evidence/safety.md has a row for %s, where nothing is started or mounted", place)
		}
		kind, how, _ := strings.Cut(h.by, ": ")
		if !slices.Contains([]string{"way", "handle", "fixed"}, kind) || how == "" {
			t.Errorf("%s: %q does not begin with way, handle or fixed, and says how", place, h.by)
		}
		if kind == "fixed" {
			continue
		}
		file, _, _ := strings.Cut(place, " ")
		room, err := filepath.Glob("../../" + filepath.Dir(file) + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`([a-z]+)\\.([A-Za-z]+)`").FindAllStringSubmatch(how, -1) {
			if !slices.ContainsFunc(room, func(name string) bool {
				return !strings.HasSuffix(name, "_test.go") && strings.Contains(read(t, name), m[2]+"(")
			}) {
				t.Errorf("%s is held by %s.%s, which is not called in %s", place, m[1], m[2], filepath.Dir(file))
			}
		}
		if !strings.Contains(how, "`") {
			t.Errorf("%s: which function holds it? %q names none", place, how)
		}
	}
}

// programs are the places in the source where a program is started, by its name or by another expression, or
// something is mounted.
func programs(t *testing.T) (places []string) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.Contains(name, "/lab/labtest/") || strings.Contains(name, "/sys/killat/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(filepath.ToSlash(name), "../../")
		s := &starts{file: short}
		ast.Inspect(file, s.look)
		if s.exec && !strings.HasPrefix(short, "internal/sys/") {
			t.Errorf("%s starts a program by itself: the door is sys", short)
		}
		for _, what := range slices.Concat(s.found, s.unknown) {
			places = append(places, short+" "+what)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

var mounting = regexp.MustCompile(`^(Mount|Unmount|MoveMount|OpenTree|Fsopen|Fsmount|Fsconfig|Fspick|MountSetattr|PivotRoot|Chroot)$`)

// starts collects what one file starts.
type starts struct {
	file           string
	exec           bool
	found, unknown []string
}

func (s *starts) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && (x.Name == "exec" && strings.HasPrefix(n.Sel.Name, "Command") ||
			x.Name == "os" && n.Sel.Name == "StartProcess" || n.Sel.Name == "ForkExec" || x.Name == "syscall" && n.Sel.Name == "Exec") {
			s.exec = true
		} else if ok && (x.Name == "unix" || x.Name == "syscall") && mounting.MatchString(n.Sel.Name) {
			s.unknown = append(s.unknown, expr(n))
		}
	case *ast.CallExpr:
		s.call(n)
	case *ast.CompositeLit:
		if expr(n.Type) == "agent.Request" { // runs in the lab's guest
			return false
		}
	case *ast.KeyValueExpr:
		steps := strings.HasPrefix(s.file, "internal/provision/")
		if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Run" && steps || key.Name == "Argv") {
			s.value(n.Value)
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if name := lastName(to); i < len(n.Rhs) && (name == "argv" || name == "command" || name == "Command" || name == "reload") {
				s.literals(n.Rhs[i])
			}
		}
	}
	return true
}

// call looks at Run(ctx, out, argv...), Output(ctx, argv...) and child(argv...).
func (s *starts) call(n *ast.CallExpr) {
	if strings.HasPrefix(s.file, "internal/provision/") && s.step(n) {
		return
	}
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	at := map[string]int{"Run": 2, "Output": 1, "output": 1, "child": 0}
	first, ok := at[sel.Sel.Name]
	if !ok || len(n.Args) <= first || strings.HasPrefix(s.file, "internal/sys/") && sel.Sel.Name == "run" {
		return
	}
	if of := lastName(sel.X); of == "g" || of == "bench" || of == "fio" || of == "running" || of == "result" {
		return // in the lab's guest, or another function of the name
	}
	text := n.Args[0]
	for b, ok := text.(*ast.BinaryExpr); ok; b, ok = text.(*ast.BinaryExpr) {
		text = b.X
	}
	if _, ok := text.(*ast.BasicLit); ok && sel.Sel.Name == "Run" {
		return // finding.Finding.Run, which prints a command: what starts one has a context first
	}
	s.value(n.Args[first])
}

// step looks at what a step of a journal runs: Run(argv...), and LVM("command and options", ...).
func (s *starts) step(n *ast.CallExpr) bool {
	switch name := strings.TrimPrefix(expr(n.Fun), "records."); {
	case len(n.Args) == 0:
		return false
	case name == "Run":
		s.value(n.Args[0])
		return true
	case name == "LVM":
		if lit, ok := n.Args[0].(*ast.BasicLit); ok {
			line, _ := strconv.Unquote(lit.Value)
			command, _, _ := strings.Cut(line, " ")
			s.found = append(s.found, command)
			return true
		}
		s.value(n.Args[0])
		return true
	}
	return false
}

// value is the first word of a command, or all of it.
func (s *starts) value(v ast.Expr) {
	if lit, ok := v.(*ast.BasicLit); ok {
		if name, err := strconv.Unquote(lit.Value); err == nil {
			s.found = append(s.found, name)
		}
		return
	}
	if strings.HasPrefix(expr(v), "sys.") { // the limit of a Child
		return
	}
	if before := len(s.found); s.literals(v) && len(s.found) > before {
		return
	}
	switch v := v.(type) {
	case *ast.CallExpr:
		s.unknown = append(s.unknown, expr(v.Fun)+"()")
	case *ast.Ident, *ast.SelectorExpr:
		s.unknown = append(s.unknown, expr(v))
	case *ast.BinaryExpr: // the limit of a Child
	default:
		s.unknown = append(s.unknown, fmt.Sprintf("%T", v))
	}
}

// literals takes the first words of lists of words.
func (s *starts) literals(v ast.Expr) bool {
	some := false
	ast.Inspect(v, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok || len(list.Elts) == 0 {
			return true
		}
		if array, ok := list.Type.(*ast.ArrayType); !ok || lastName(array.Elt) != "string" {
			return true
		}
		switch first := list.Elts[0].(type) {
		case *ast.BasicLit:
			if name, err := strconv.Unquote(first.Value); err == nil && !strings.HasPrefix(name, "-") {
				s.found, some = append(s.found, name), true
			}
		case *ast.CallExpr: // s.install.program("pgbench")
			if len(first.Args) == 1 && strings.HasSuffix(expr(first.Fun), "install.program") {
				if lit, ok := first.Args[0].(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(lit.Value)
					s.found, some = append(s.found, name), true
				}
			}
		}
		return false
	})
	return some
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return expr(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return expr(e.Fun) + "()"
	}
	return "?"
}
