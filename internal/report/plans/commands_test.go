package plans_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/provision"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// planted are shell meta-characters, and what an option looks like.
var planted = []string{";evil #", "$(evil)", "`evil`", "'\nevil\n'", "\" | evil", "\\\nevil", " & evil", " --evil"}

// words visits each text of a value once, by TYPE.Field.
func words(v reflect.Value, name string, visit func(string, reflect.Value)) {
	switch v.Kind() { //nolint:exhaustive // of the others none holds a text
	case reflect.Pointer:
		if !v.IsNil() {
			words(v.Elem(), name, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				words(v.Field(i), v.Type().Name()+"."+f.Name, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			own := name
			if i == 0 && (name == "Action.Run" || name == "Plan.Initramfs" || name == "Order.Create" || name == "Order.Attach") {
				continue // the program, which a journal is refused for
			}
			words(v.Index(i), own, visit)
		}
	case reflect.String:
		if v.CanSet() && (v.Type() == reflect.TypeFor[string]() || v.Type() == reflect.TypeFor[topology.Level]()) {
			visit(name, v)
		}
	}
}

// foreign says what of a shell's text is not ours: a program, an option or a file to write to that holds what was
// planted, or no shell text at all.
func foreign(text string) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return err.Error()
	}
	bad := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for i, word := range n.Args {
				lit := word.Lit() // "" where it is quoted or expanded
				if i == 0 && (strings.Contains(lit, "evil") || lit == "" && !strings.HasPrefix(text[word.Pos().Offset():], "\"$")) ||
					strings.HasPrefix(lit, "--evil") {
					bad = text[n.Pos().Offset():n.End().Offset()]
				}
			}
		case *syntax.Redirect:
			if strings.Contains(n.Word.Lit(), "evil") {
				bad = text[n.Pos().Offset():n.End().Offset()]
			}
		}
		return true
	})
	return bad
}

// A journal's fields are whoever's wrote it, and a machine's names are whoever's named its devices: with shell
// meta-characters in any one of them, each command of plan, of its runbook and of teardown, and each way to give
// something up, is one of plimsoll's own programs with plimsoll's own options.
func TestCommandsOfPlansHoldWhatIsForeign(t *testing.T) {
	fresh := func() *provision.Plan {
		decl, err := topology.LoadDeclaration("plimsoll.yaml", []byte(layouts))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := provision.Here(sys.Host(), nil).Imagine(decl)
		if err != nil {
			t.Fatal(err)
		}
		plan.Initramfs = []string{"update-initramfs", "-u"}
		for i, w := range plan.Arrays {
			for s := range w.Steps {
				w.Steps[s].State = records.StepDone
			}
			if i == 0 {
				w.Replacing = &records.Replacement{Old: "old", OldPath: "/dev/old"}
			}
			grown := *w
			grown.Steps = w.Enlarge([]string{w.Members[0].Serial}, records.Volume)
			plan.Grown = append(plan.Grown, &grown)
		}
		return plan
	}
	fields := map[string]bool{}
	words(reflect.ValueOf(fresh()), "", func(name string, _ reflect.Value) { fields[name] = true })
	if len(fields) < 34 {
		t.Fatalf("%d fields", len(fields))
	}
	plants := planted
	if testing.Short() {
		plants = plants[:1]
	}
	commands, with := 0, 0
	check := func(field, evil, where, text string) {
		commands++
		if strings.Contains(text, "evil") {
			with++
		}
		if bad := foreign(text); bad != "" {
			t.Errorf("%s with %q: %s prints %s\nof %s", field, evil, where, bad, text)
		}
	}
	for field := range fields {
		for _, evil := range plants {
			for _, state := range []records.StepState{records.StepToDo, records.StepDone} {
				plan := fresh()
				words(reflect.ValueOf(plan), "", func(name string, v reflect.Value) {
					if name == field {
						v.SetString(v.String() + evil)
					}
				})
				for _, w := range plan.Arrays {
					for i := range w.Steps {
						w.Steps[i].State = state
					}
				}
				for where, doc := range map[string]*page.Document{"plan": plans.Plan(plan), "teardown": plans.Undo(plan.Arrays)} {
					for _, line := range shellLines(doc) {
						check(field, evil, where, line)
					}
				}
				var b strings.Builder
				if err := plans.Runbook(&b, plan, "sh"); err != nil {
					t.Fatal(err)
				}
				check(field, evil, "the runbook", b.String())
				b.Reset()
				if err := plans.Runbook(&b, plan, "md"); err != nil {
					t.Fatal(err)
				}
				for i, block := range strings.Split(b.String(), "```") {
					if code, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
						check(field, evil, "the runbook as Markdown", code)
					}
				}
			}
			for _, o := range []records.Obstacle{{Array: "a", What: "x", Name: "/dev/t/mine" + evil}, {Array: "a", What: "x", Name: "/dev/x" + evil, Serial: "S" + evil}} {
				_, options, ok := strings.Cut((&records.Obstructed{Obstacles: []records.Obstacle{o}}).Lines()[0], "may be lost: ")
				if !ok {
					t.Fatal("no way to give it up")
				}
				check("Obstacle", evil, "the refusal", "plimsoll array teardown "+options)
			}
		}
	}
	t.Logf("%d fields, %d texts of commands, %d of them with what was planted", len(fields), commands, with)
	if with < 100 {
		t.Error("too few hold what was planted: the test tests nothing")
	}
}

// sentences begin what a plan says in words in the place of a command.
var sentences = []string{"look for signatures", "open exclusively", "zero the first", "add to ", "remove from ", "wait until ", "cannot be undone"}

// codes are the blocks of commands of a document.
func codes(d *page.Document) (all []page.Code) {
	for _, b := range d.Blocks {
		s, ok := b.(page.Section)
		if !ok {
			s.Blocks = []page.Block{b}
		}
		for _, b := range s.Blocks {
			if code, ok := b.(page.Code); ok {
				all = append(all, code)
			}
		}
	}
	return all
}

// shellLines are the commands of a document: what stands behind run, undo or a step's number, and what is to be bought.
func shellLines(d *page.Document) (lines []string) {
	for _, code := range codes(d) {
		for _, l := range code.Lines {
			if strings.HasPrefix(l, "affects") {
				continue
			}
			for _, head := range []string{"run      ", "undo     ", "         "} {
				l = strings.TrimPrefix(l, head)
			}
			l = strings.TrimLeft(l, " 0123456789")
			if !slices.ContainsFunc(sentences, func(s string) bool { return strings.HasPrefix(l, s) }) {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// A device or a control group of any name stays one word of the commands that limit others.
func TestCommandsOfLimitsHoldWhatIsForeign(t *testing.T) {
	fresh := func() *plans.Limited {
		return &plans.Limited{
			Path: "/data", Device: &block.Device{Name: "sda", Path: "/dev/sda", Serial: "S"}, Keep: "postgresql.service", Share: 0.7, Cost: 5e6,
			Allowed: []ceiling.Allowed{{Key: "riops", Value: 5}, {Key: "wbps", Value: 6}},
			Groups:  []plans.LimitedGroup{{Name: "backup.service", Dir: "/sys/fs/cgroup/backup.service"}},
		}
	}
	fields, with := map[string]bool{}, 0
	words(reflect.ValueOf(fresh()), "", func(name string, _ reflect.Value) { fields[name] = true })
	for field := range fields {
		for _, evil := range planted {
			for _, v1 := range []bool{false, true} {
				l := fresh()
				l.V1 = v1
				words(reflect.ValueOf(l), "", func(name string, v reflect.Value) {
					if name == field {
						v.SetString(v.String() + evil)
					}
				})
				for _, code := range codes(plans.Limits(l, false)) {
					for _, line := range code.Lines {
						if code.Title == "docker run" {
							line = "docker run " + line
						}
						if strings.Contains(line, "evil") {
							with++
						}
						if foreign(line) != "" {
							t.Errorf("%s with %q: %s", field, evil, line)
						}
					}
				}
			}
		}
	}
	if with < 30 {
		t.Errorf("%d lines hold what was planted: the test tests nothing", with)
	}
}

// Nothing to change does not say that every setting was judged: read-ahead of one path in both roles is not (M2).
func TestNothingToChange(t *testing.T) {
	d := plans.Changes(nil)
	if note, is := d.Blocks[0].(page.Note); !is || strings.Contains(note.Lines[0], "all settings") {
		t.Errorf("%+v", d.Blocks)
	}
}
