package machine

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/permit"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// stateDir is where plimsoll keeps its own records.
const stateDir = "/var/lib/plimsoll"

// NewClean is the command plimsoll clean.
func NewClean(env *form.Env) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "clean [PATH]...",
		Short: "Remove files left behind by killed runs or by runs with --keep-files",
		Long: `Remove the files that killed runs, or runs with --keep-files, left in folders called .plimsoll below each PATH
(the current directory when none is given), on PATH's own filesystem, and end the fio that a killed run left
running. Temporary files of a killed plimsoll are removed as well, there and in /var/lib/plimsoll. Files are
recognised by name; other files, and those of a run in progress, are left alone. Partial results of a
killed run's scenario are removed, too. Arrays are taken down by plimsoll array teardown.`,
		Example: `  plimsoll clean /data /wal --dry-run
  plimsoll clean /data /wal`,
		RunE: func(_ *cobra.Command, args []string) error { return runClean(env, args, dry) },
	}
	form.Bind(cmd.Flags(), "clean", "dry-run", &dry)
	return cmd
}

func runClean(env *form.Env, paths []string, dry bool) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		if err := form.MustExist(path); err != nil {
			return err
		}
	}
	places := slices.Clone(paths)
	if os.Geteuid() == 0 && sys.Exists(stateDir) {
		places = append(places, stateDir) // what a killed writer of plimsoll's own records left
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
		fmt.Fprintf(env.Out, "%s %s of fio's that a killed run left\n",
			map[bool]string{true: "would end", false: "ended"}[dry], processes(n))
	}
	servers := map[int]bool{} // the folders of data and log both record theirs
	for _, path := range places {
		err := permit.Clean(path, dry, func(l permit.Leftover) {
			found = true
			if l.Server != 0 && !servers[l.Server] {
				servers[l.Server] = true
				fmt.Fprintf(env.Out, "%s: %s the database server that a killed run left\n", text.Clean(l.Folder, 0),
					map[bool]string{true: "would end", false: "ended"}[dry])
			}
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
				fmt.Fprintf(env.Out, "%s: not plimsoll's, left alone: %s\n", text.Clean(l.Folder, 0),
					text.Clean(strings.Join(l.Others, ", "), 0))
			}
		})
		if err != nil {
			return err
		}
	}
	temps, err := sys.EndTemps(dry)
	for _, name := range temps {
		found = true
		fmt.Fprintf(env.Out, "%s: %s, a run that was killed left it\n", text.Clean(name, 0), did)
	}
	if err != nil {
		return err
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
