package compare

import (
	"fmt"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/text"
)

// exportRuns writes the figures of runs for other programs.
func exportRuns(env *form.Env, args []string, format page.Format) error {
	found, notes, err := openRuns(args)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(env.Notes(), "note: %s\n", text.Clean(n, 0))
	}
	return runs.Export(env.Out, format, found)
}
