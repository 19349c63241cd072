package array

import (
	"fmt"

	"golang.org/x/term"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/provision"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// provisionView shows what happens: as lines for people on standard error, or as JSON on standard
// output.
func provisionView(env *form.Env, asJSON bool) func(provision.Event) {
	if asJSON {
		return func(e provision.Event) { _ = page.Line(env.Out, e) } // a stream that is gone ends the view, not the work
	}
	f, ok := form.FileOf(env.Notes())
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
			end, to := "\n", env.Notes()
			if tty { // over a longer line before; only plimsoll's own \r gets by the door
				end, to = "   \r", f
			}
			fmt.Fprintf(to, "%s %d/%d  %s, %v, %s left%s",
				text.Clean(e.Array, 0), e.Step, e.Steps, text.PadLeft(text.Percent(e.Fraction), len("100.0 %")),
				e.Rate, text.Duration(e.Left), end)
		case provision.Done, provision.Undone:
		default:
			if e.Steps == 0 {
				env.Notef("%s: %s", e.Array, e.Title)
				return
			}
			fmt.Fprintf(env.Notes(), "%s %d/%d  %s: %s\n",
				text.Clean(e.Array, 0), e.Step, e.Steps, e.What, text.Clean(e.Title, 0))
		}
	}
}
