package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/provision"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Plan is the document of what apply would do: how many steps first, then each with its commands,
// what it affects and how it is undone.
func Plan(p *provision.Plan) *page.Document {
	d := page.New("plan", "Every step is done; apply only checks that everything is in place", "plan", p)
	d.Records = stepRecords(p)
	if n := p.Steps(); n > 0 {
		d.Head.Word = text.Plural(n, "step")
	}
	for i, a := range p.Arrays {
		d.Add(array(fmt.Sprintf("a%d", i), a))
	}
	for i, a := range p.Grown {
		s := page.Section{
			Anchor: fmt.Sprintf("g%d", i),
			Title:  a.Array + ": to use the space that its volumes have gained, in this order",
		}
		for n, st := range a.Steps {
			lines := stepLines(a, st)
			if len(st.Undo) == 0 {
				lines = append(lines, "undo     cannot be undone")
			}
			s.Add(page.Code{Title: fmt.Sprintf("%2d  %s", n+1, st.Title), Lines: lines})
		}
		d.Add(s)
	}
	if len(p.Initramfs) > 0 {
		d.Add(page.Sentences("finally, once for all arrays: " + strings.Join(p.Initramfs, " ")))
	}
	d.Add(page.Lead("note", p.Notes...).Detailed())
	return d
}

func array(anchor string, a *records.Work) page.Block {
	if a.Found {
		return page.Sentences(fmt.Sprintf(
			"%s: %s exists as declared. plimsoll did not create it, and teardown will not touch it.", a.Array, a.Top()))
	}
	mount := words.When(a.Want.Mount != "", fmt.Sprintf("%s on %s", a.Want.FS, a.Want.Mount))
	s := page.Section{Anchor: anchor}
	s.Title = text.Join(", ", fmt.Sprintf("%s: %s of %d volumes", a.Array, a.Want.Level, len(a.Members)),
		words.Known("about", a.Size()), mount) // a plan for another machine may not know its size
	s.Add(page.Sentences(a.Arithmetic()).Detailed(), members(a))
	for i, st := range a.Steps {
		state := map[records.StepState]string{
			records.StepDone: " (done)", records.StepBegun: " (begun; will be repaired)",
		}[st.State]
		s.Add(page.Code{Title: fmt.Sprintf("%2d  %s%s", i+1, st.Title, state), Lines: stepLines(a, st), Headed: true})
	}
	return s
}

// members are an array's volumes, by what does not change and by what they are called today.
func members(a *records.Work) page.Table {
	t := page.NewTable("<serial, <device, size, <model, <")
	t.Most = 2
	for _, m := range a.Members {
		lost := page.Cell{}
		if m.Destroy {
			lost = page.Cell{Text: "WHAT IS ON IT WILL BE LOST", Tone: "fail"}
		}
		t.Add(m.Serial, m.Path, cmp.Or(words.Known("", cmp.Or(m.Today, m.Size)), "–"), m.Model, lost)
	}
	return t
}

// stepLines are what a step affects, its commands, and how they are undone.
func stepLines(a *records.Work, st records.Step) []string {
	touches := text.Present(strings.Join(st.Touches, " "))
	return slices.Concat(headed("affects", touches), headed("run", a.Commands(st.Do)), headed("undo", a.Commands(st.Undo)))
}

// headed puts a word before the first of some lines.
func headed(head string, commands []string) []string {
	var lines text.Lines
	for _, c := range commands {
		lines.Say("%-7s  %s", head, c)
		head = ""
	}
	return lines
}

func stepRecords(p *provision.Plan) page.Table {
	t := page.NewTable("array, step, title, state, affects, run, undo")
	for _, a := range p.Arrays {
		for i, st := range a.Steps {
			t.Add(a.Array, i+1, st.Title, st.State, strings.Join(st.Touches, " "),
				strings.Join(a.Commands(st.Do), "; "),
				strings.Join(a.Commands(st.Undo), "; "))
		}
	}
	return t
}

// Undo is the document of what teardown would do.
func Undo(journals []*records.Work) *page.Document {
	d := page.New("teardown", text.Several(journals, "array")+" to take down", "arrays", journals)
	for i, a := range slices.Backward(journals) {
		c := page.Code{Lines: []string{}}
		for n, st := range slices.Backward(a.Steps) {
			if st.State != records.StepToDo {
				c.Lines = append(c.Lines, headed(fmt.Sprintf("%7d", n+1), a.Commands(st.Undo))...)
			}
		}
		d.Add(page.Section{
			Anchor: fmt.Sprintf("a%d", i), Blocks: []page.Block{members(a), c},
			Title: fmt.Sprintf("%s: %s of %d volumes, created %s", a.Array, a.Want.Level, len(a.Members),
				a.Started.Format("2006-01-02 15:04 MST")),
		})
	}
	return d
}

// Differences is the document of how the machine differs from its declaration.
func Differences(decl *topology.Declaration, diffs []provision.Difference) *page.Document {
	d := page.New("verify", "as declared", "differences", diffs)
	d.Head.Tone = "pass"
	if len(diffs) > 0 {
		d.Head.Word, d.Head.Tone = text.Several(diffs, "difference"), "fail"
	}
	rows := page.NewTable("array, what, found, expected")
	lines := page.Note{}
	suite := page.Suite{Name: "verify"}
	for _, a := range decl.Arrays {
		one := page.Test{Name: a.Name, Message: "as declared"}
		for _, f := range diffs {
			if f.Array == a.Name {
				phrase := fmt.Sprintf("%s: %s: %s; expected: %s", a.Name, f.What, f.Have, f.Want)
				lines.Say("%s", phrase)
				rows.Add(a.Name, f.What, f.Have, f.Want)
				one.Outcome, one.Message = page.Failed, phrase
			}
		}
		if one.Outcome == page.Passed {
			lines.Say("%s: as declared", a.Name)
		}
		suite.Tests = append(suite.Tests, one)
	}
	d.Records, d.Tests = rows, []page.Suite{suite}
	d.Add(lines)
	return d
}
