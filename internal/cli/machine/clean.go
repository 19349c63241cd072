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
	var destroy []string
	cmd := &cobra.Command{
		Use:   "clean [PATH]...",
		Short: "Remove files left behind by killed runs or by runs with --keep-files",
		Long: `Remove the files that killed runs, or runs with --keep-files, left in folders called .plimsoll below
each PATH (the current directory when none is given), on PATH's own filesystem, and end the fio that a killed
run left running. New files that a killed plimsoll had not yet renamed are removed as well, there and in
/var/lib/plimsoll. Files are recognised by name; everything else there, and what a run holds now, is left alone.
Arrays are taken down by plimsoll array teardown.

Files that are named like those that fio makes when it is run by hand are listed; --destroy FILE removes one.`,
		Example: `  plimsoll clean /data /wal --dry-run
  plimsoll clean /data /wal
  plimsoll clean /data --destroy /data/fio_test_file.0.0`,
		RunE: func(_ *cobra.Command, args []string) error { return runClean(env, args, dry, destroy) },
	}
	form.Bind(cmd.Flags(), "clean", "dry-run", &dry, "destroy", &destroy)
	return cmd
}

func runClean(env *form.Env, paths []string, dry bool, destroy []string) error {
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
	others, err := cleanOthers(env, paths, dry, destroy)
	if err == nil && !found && !others {
		fmt.Fprintln(env.Out, "nothing to clean")
	}
	return err
}

// cleanOthers lists what fio run by hand may have left, and removes what is named.
func cleanOthers(env *form.Env, paths []string, dry bool, destroy []string) (found bool, err error) {
	for _, file := range destroy {
		if dry {
			fmt.Fprintf(env.Out, "%s: would remove\n", text.Clean(file, 200))
		} else if err := permit.RemoveOther(file); err != nil {
			return true, err
		} else {
			fmt.Fprintf(env.Out, "%s: removed\n", text.Clean(file, 200))
		}
		found = true
	}
	for _, path := range paths {
		others, err := permit.OtherFiles(path)
		if err != nil {
			return found, err
		}
		for _, o := range others {
			if dry && slices.Contains(destroy, o.Path) {
				continue
			}
			found = true
			fmt.Fprintf(env.Out, "%s: named like a file of fio's own (%v), left alone; --destroy %s removes it\n",
				text.Clean(o.Path, 200), o.Size, text.ShellQuote(o.Path))
		}
	}
	return found, nil
}

func processes(n int) string {
	if n == 1 {
		return "a process"
	}
	return fmt.Sprintf("%d processes", n)
}
