package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
	"plimsoll/internal/provision"
	"plimsoll/internal/topology"
)

// printProvision is a plan for people.
func printProvision(w io.Writer, p *provision.Plan) {
	for _, a := range p.Arrays {
		if a.Found {
			fmt.Fprintf(w, "%s: %s is there, as declared. plimsoll has not made it and teardown will leave it.\n\n", a.Array, a.Top())
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
			fmt.Fprintf(w, "  %-20s  %-14s %8v  %s%s\n", oneLine(m.Serial, 40), m.Path, m.Size, oneLine(m.Model, 32), note)
		}
		for i, st := range a.Steps {
			fmt.Fprintf(w, "\n  %2d  %s%s\n", i+1, st.Say, map[provision.StepState]string{provision.StepDone: " (done)", provision.StepBegun: " (begun; will be repaired)"}[st.State])
			if len(st.Touches) > 0 {
				fmt.Fprintf(w, "      touches  %s\n", strings.Join(st.Touches, " "))
			}
			printActions(w, a, "does", st.Do)
			printActions(w, a, "undone", st.Undo)
		}
		fmt.Fprintln(w)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	if n := p.Steps(); n > 0 {
		fmt.Fprintf(w, "%d steps to do.\n", n)
	} else {
		fmt.Fprintln(w, "Every step is done; apply only looks whether all is in place.")
	}
}

func printActions(w io.Writer, a *provision.Work, head string, actions []provision.Action) {
	for _, line := range a.Commands(actions) {
		fmt.Fprintf(w, "      %-7s  %s\n", head, line)
		head = ""
	}
}

// printUndo is what teardown will do.
func printUndo(w io.Writer, journals []*provision.Work) {
	for _, a := range slices.Backward(journals) {
		fmt.Fprintf(w, "%s: %s of %d volumes, made %s\n", a.Array, a.Want.Level, len(a.Members), a.Started.Format("2006-01-02 15:04 MST"))
		for n, st := range slices.Backward(a.Steps) {
			if st.State != provision.StepToDo {
				printActions(w, a, fmt.Sprintf("%7d", n+1), st.Undo)
			}
		}
	}
}

// printDifferences is what verify has to say.
func printDifferences(w io.Writer, decl *topology.Declaration, diffs []provision.Difference) {
	for _, a := range decl.Arrays {
		n := 0
		for _, d := range diffs {
			if d.Array == a.Name {
				n++
				fmt.Fprintf(w, "%s: %s: %s; wanted: %s\n", a.Name, d.What, oneLine(d.Have, 200), oneLine(d.Want, 200))
			}
		}
		if n == 0 {
			fmt.Fprintf(w, "%s: as declared\n", a.Name)
		}
	}
}

// provisionView tells what happens: as lines for people on standard error, or as JSON on standard output.
func provisionView(env *Env, asJSON bool) func(provision.Event) {
	if asJSON {
		enc := json.NewEncoder(env.Out)
		return func(e provision.Event) { _ = enc.Encode(e) } // a stream that is gone ends the view, not the work
	}
	f, ok := env.Err.(*os.File)
	tty := ok && term.IsTerminal(int(f.Fd()))
	last := -1
	return func(e provision.Event) {
		switch e.What {
		case provision.Progress:
			tenth := int(e.Fraction * 10)
			if !tty && tenth == last {
				return
			}
			last = tenth
			end := "\n"
			if tty {
				end = "\r"
			}
			fmt.Fprintf(env.Err, "%s %d/%d  %3.0f %%, %v, %v left   %s", e.Array, e.Step, e.Steps, e.Fraction*100, e.Rate, e.Left, end)
		case provision.Done, provision.Undone:
		default:
			if e.Steps == 0 {
				fmt.Fprintf(env.Err, "%s: %s\n", e.Array, e.Say)
				return
			}
			fmt.Fprintf(env.Err, "%s %d/%d  %s: %s\n", e.Array, e.Step, e.Steps, e.What, e.Say)
		}
	}
}
