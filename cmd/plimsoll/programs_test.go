package main

import (
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

// started are where a program is started whose name is no word of that place: each has its row in
// the table of docs/safety.md.
var started = map[string]string{
	"internal/bench/scenario.go inv.Argv()":        "fio",
	"internal/fio/running/run.go inv.Argv()":       "fio",
	"internal/fleet/copy.go c.Engine.argv()":       "ssh srun",
	"internal/fleet/host.go h.argv":                "ssh",
	"internal/lab/agent/serve.go req.Argv":         "", // in the lab's guest
	"internal/lab/debian.go append()":              "mmdebstrap",
	"internal/lab/qemu.go argv":                    "qemu-system-x86_64",
	"internal/postgres/bench.go l.argv()":          "pgbench",
	"internal/postgres/find.go argv":               "pg_config",
	"internal/postgres/find.go program":            "postgres",
	"internal/postgres/server.go argv":             "postgres",
	"internal/postgres/server.go initdb()":         "initdb",
	"internal/postgres/session.go argv":            "pg_test_fsync pg_test_timing",
	"internal/provision/apply.go argv":             "mdadm", // of a step: stepPrograms
	"internal/provision/apply.go command":          "update-initramfs dracut",
	"internal/provision/lvm.go argv":               "lvs",
	"internal/provision/filesystem.go mount":       "mount",
	"internal/provision/records/build.go append()": "mdadm mkfs.xfs",
	"internal/provision/records/build.go run":      "", // shown to people, and run by no step
	"internal/provision/records/build.go undo":     "",
	"internal/provision/teardown.go o.Command":     "lvremove",
	"internal/sys/child.go argv":                   "", // the door itself
	"internal/sys/child.go c.Argv":                 "",
	"internal/sys/program.go p.argv":               "",
	"internal/sys/sys.go argv":                     "",
}

// The room sys is the one door to other programs, and docs/safety.md has a row for each that goes
// through it.
func TestEveryProgramIsInTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### Every program, and as whom it runs")
	table, _, ok := strings.Cut(table, "\n### ")
	if !ok {
		t.Fatal("docs/safety.md has no table of programs")
	}
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[m[1]] = strings.Contains(cells[2], "on the hosts") || strings.Contains(cells[2], "in the guest")
			}
		}
	}
	found, unknown := programs(t)
	for _, place := range unknown {
		name, known := started[place]
		if !known {
			t.Errorf("%s starts a program: which one? Put it into started, and into the table", place)
		} else if name != "" {
			found = append(found, strings.Fields(name)...)
		}
	}
	for place := range started {
		if !slices.Contains(unknown, place) {
			t.Errorf("%s starts nothing: take it out of started", place)
		}
	}
	for _, name := range found {
		if _, ok := listed[name]; !ok {
			t.Errorf("docs/safety.md has no row for %s", name)
		}
		listed[name] = true
	}
	for name, there := range listed {
		if !there && name != "COMMAND" {
			t.Errorf("docs/safety.md lists %s, which nothing starts", name)
		}
	}
}

// programs are the names of programs in the source, and the places where a program is started by
// another expression.
func programs(t *testing.T) (found, unknown []string) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(filepath.ToSlash(name), "../../")
		s := &starts{file: short}
		ast.Inspect(file, s.look)
		if s.exec && !strings.HasPrefix(short, "internal/sys/") && !strings.HasPrefix(short, "internal/lab/labtest/") {
			t.Errorf("%s starts a program by itself: the door is sys", short)
		}
		found, unknown = append(found, s.found...), append(unknown, s.unknown...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	slices.Sort(unknown)
	return slices.Compact(found), slices.Compact(unknown)
}

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
	s.value(n.Args[first])
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
		s.unknown = append(s.unknown, s.file+" "+expr(v.Fun)+"()")
	case *ast.Ident, *ast.SelectorExpr:
		s.unknown = append(s.unknown, s.file+" "+expr(v))
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
