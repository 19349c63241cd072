package compare

import (
	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
)

// exportRuns writes the figures of runs for other programs.
func exportRuns(env *form.Env, args []string, format page.Format) error {
	found, notes, err := openRuns(args)
	if err != nil {
		return err
	}
	for _, n := range notes {
		env.Notef("note: %s", n)
	}
	return runs.Export(env.Out, format, found)
}
