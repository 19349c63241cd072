package cli

import (
	"fmt"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/text"
)

// exportRuns writes the figures of runs for other programs.
func exportRuns(env *Env, args []string, format page.Format) error {
	found, notes, err := openRuns(args)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(env.notes(), "note: %s\n", text.Clean(n, 0))
	}
	return runs.Export(env.Out, format, found)
}
