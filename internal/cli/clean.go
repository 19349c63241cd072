package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/permit"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

func newCleanCmd(env *Env) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "clean [PATH]...",
		Short: "Remove files left behind by killed runs or by runs with --keep-files",
		Long: `Remove the files that killed runs, or runs with --keep-files, left in folders called .plimsoll below each PATH (the
current directory when none is given), on PATH's own filesystem, and end the fio that a killed run left running. Files
are known by name; what else lies there, and what a run holds now, is left alone. Arrays are taken down by plimsoll
teardown.`,
		Example: `  plimsoll clean /data /wal --dry-run
  plimsoll clean /data /wal`,
		RunE: func(_ *cobra.Command, args []string) error { return runClean(env, args, dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be removed and stop")
	return cmd
}

func runClean(env *Env, paths []string, dry bool) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	did := "removed"
	if dry {
		did = "would remove"
	}
	n, err := sys.EndStrays(dry) // before the files are looked at: they may be writing
	if err != nil {
		return err
	}
	found := n > 0
	if found {
		fmt.Fprintf(env.Out, "%s %s of fio's that a killed run left\n", map[bool]string{true: "would end", false: "ended"}[dry], processes(n))
	}
	for _, path := range paths {
		err := permit.Clean(path, dry, func(l permit.Leftover) {
			found = true
			switch {
			case l.InUse:
				fmt.Fprintf(env.Out, "%s: in use by a run, left alone\n", text.Clean(l.Folder, 0))
				return
			case len(l.Files) > 0:
				fmt.Fprintf(env.Out, "%s: %s %s (%s)\n", text.Clean(l.Folder, 0), did, strings.Join(l.Files, ", "), l.Size)
			case len(l.Others) == 0:
				fmt.Fprintf(env.Out, "%s: %s, it is empty\n", text.Clean(l.Folder, 0), did)
			}
			if len(l.Others) > 0 {
				fmt.Fprintf(env.Out, "%s: not plimsoll's, left alone: %s\n", text.Clean(l.Folder, 0), text.Clean(strings.Join(l.Others, ", "), 0))
			}
		})
		if err != nil {
			return err
		}
	}
	if !found {
		fmt.Fprintln(env.Out, "nothing to clean")
	}
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "a process"
	}
	return fmt.Sprintf("%d processes", n)
}
