package machine

import (
	"context"
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

type cleanOptions struct {
	Dry bool `flag:"dry-run"`
}

// NewClean is the command plimsoll clean.
func NewClean(env *form.Env) *cobra.Command {
	var o cleanOptions
	cmd := form.Command(env, "clean", nil, o.run)
	form.BindAll(cmd.Flags(), "clean", &o)
	return cmd
}

func (o *cleanOptions) run(_ context.Context, env *form.Env, paths []string) error {
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
	if o.Dry {
		did = "would remove"
	}
	n, err := sys.EndStrays(o.Dry) // before the files are looked at: they may be writing
	if err != nil {
		return err
	}
	found := n > 0
	if found {
		fmt.Fprintf(env.Out, "%s %s of fio's that a killed run left\n",
			map[bool]string{true: "would end", false: "ended"}[o.Dry], processes(n))
	}
	servers := map[int]bool{} // the folders of data and log both record theirs
	for _, path := range places {
		err := permit.Clean(path, o.Dry, func(l permit.Leftover) {
			found = true
			if l.Server != 0 && !servers[l.Server] {
				servers[l.Server] = true
				fmt.Fprintf(env.Out, "%s: %s the database server that a killed run left\n", text.Clean(l.Folder, 0),
					map[bool]string{true: "would end", false: "ended"}[o.Dry])
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
	temps, err := sys.EndTemps(o.Dry)
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
