package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/provision"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Plan prints what apply would do.
func Plan(w io.Writer, p *provision.Plan) {
	for _, o := range p.Orders {
		fmt.Fprintf(w, "%s\n", ordered(o))
		fmt.Fprintf(w, "      each     %s\n               %s\n\n", text.ShellLine(o.Create), text.ShellLine(o.Attach))
	}
	for _, a := range p.Arrays {
		if a.Found {
			fmt.Fprintf(
				w,
				"%s: %s exists as declared. plimsoll did not create it, and teardown will not touch it.\n\n",
				a.Array,
				a.Top(),
			)
			continue
		}
		fmt.Fprintf(w, "%s: %s of %d volumes, about %v", a.Array, a.Want.Level, len(a.Members), a.Size())
		if a.Want.Mount != "" {
			fmt.Fprintf(w, ", %s on %s", a.Want.FS, a.Want.Mount)
		}
		fmt.Fprintln(w)
		if s := a.Arithmetic(); s != "" {
			fmt.Fprintf(w, "  %s\n", s)
		}
		for _, m := range a.Members {
			note := ""
			if m.Destroy {
				note = "  WHAT IS ON IT WILL BE LOST"
			}
			fmt.Fprintf(
				w,
				"  %-20s  %-14s %8v  %s%s\n",
				text.Clean(m.Serial, 40),
				m.Path,
				m.Size,
				text.Clean(m.Model, 32),
				note,
			)
		}
		for i, st := range a.Steps {
			fmt.Fprintf(
				w,
				"\n  %2d  %s%s\n",
				i+1,
				st.Title,
				map[provision.StepState]string{
					provision.StepDone:  " (done)",
					provision.StepBegun: " (begun; will be repaired)",
				}[st.State],
			)
			if len(st.Touches) > 0 {
				fmt.Fprintf(w, "      touches  %s\n", strings.Join(st.Touches, " "))
			}
			actions(w, a, "does", st.Do)
			actions(w, a, "undone", st.Undo)
		}
		fmt.Fprintln(w)
	}
	if len(p.Initramfs) > 0 {
		fmt.Fprintf(w, "at last, once for all arrays\n      does     %s\n\n", strings.Join(p.Initramfs, " "))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	if n := p.Steps(); n > 0 {
		fmt.Fprintf(w, "%s to do.\n", text.Plural(n, "step"))
	} else {
		fmt.Fprintln(w, "Every step is done; apply only checks that all is in place.")
	}
}

// ordered says what an order is for.
func ordered(o provision.Order) string {
	return fmt.Sprintf("%s: create %s with the AWS CLI, in the instance's zone, and attach each under its own device name",
		text.Clean(o.Array, 60), text.Plural(o.Count, "volume"))
}

func actions(w io.Writer, a *provision.Work, head string, actions []provision.Action) {
	for _, line := range a.Commands(actions) {
		fmt.Fprintf(w, "      %-7s  %s\n", head, line)
		head = ""
	}
}

// Undo prints what teardown would do.
func Undo(w io.Writer, journals []*provision.Work) {
	for _, a := range slices.Backward(journals) {
		fmt.Fprintf(
			w,
			"%s: %s of %d volumes, created %s\n",
			a.Array,
			a.Want.Level,
			len(a.Members),
			a.Started.Format("2006-01-02 15:04 MST"),
		)
		for n, st := range slices.Backward(a.Steps) {
			if st.State != provision.StepToDo {
				actions(w, a, fmt.Sprintf("%7d", n+1), st.Undo)
			}
		}
	}
}

// Differences prints how the machine differs from its declaration.
func Differences(w io.Writer, decl *topology.Declaration, diffs []provision.Difference) {
	for _, a := range decl.Arrays {
		n := 0
		for _, d := range diffs {
			if d.Array == a.Name {
				n++
				fmt.Fprintf(
					w,
					"%s: %s: %s; expected: %s\n",
					a.Name,
					d.What,
					text.Clean(d.Have, 200),
					text.Clean(d.Want, 200),
				)
			}
		}
		if n == 0 {
			fmt.Fprintf(w, "%s: as declared\n", a.Name)
		}
	}
}
