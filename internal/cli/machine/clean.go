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
)

// stateDir is where plimsoll keeps its own records.
const stateDir = "/var/lib/plimsoll"

type cleanOptions struct {
	Dry bool `flag:"dry-run"`
}

// NewClean is the command plimsoll clean.
func NewClean(env *form.Env) *cobra.Command {
	var o cleanOptions
	return form.Command(env, "clean", nil, &o, o.run)
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
		env.Printf("%s %s of fio left by a killed run",
			map[bool]string{true: "would end", false: "ended"}[o.Dry], processes(n))
	}
	servers := map[int]bool{} // the folders of data and log both record theirs
	for _, path := range places {
		err := permit.Clean(path, o.Dry, func(l permit.Leftover) {
			found = true
			if l.Server != 0 && !servers[l.Server] {
				servers[l.Server] = true
				env.Printf("%s: %s the database server left by a killed run", l.Folder,
					map[bool]string{true: "would end", false: "ended"}[o.Dry])
			}
			switch {
			case l.InUse:
				env.Printf("%s: in use by a run, left alone", l.Folder)
				return
			case len(l.Files) > 0:
				env.Printf("%s: %s %s (%s)", l.Folder, did, strings.Join(l.Files, ", "), l.Size)
			case len(l.Others) == 0:
				env.Printf("%s: %s, it is empty", l.Folder, did)
			}
			if len(l.Others) > 0 {
				env.Printf("%s: not plimsoll's, left alone: %s", l.Folder,
					strings.Join(l.Others, ", "))
			}
		})
		if err != nil {
			return err
		}
	}
	temps, err := sys.EndTemps(o.Dry)
	for _, name := range temps {
		found = true
		env.Printf("%s: %s, left by a killed run", name, did)
	}
	if err != nil {
		return err
	}
	if !found {
		env.Printf("nothing to clean")
	}
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "a process"
	}
	return fmt.Sprintf("%d processes", n)
}
