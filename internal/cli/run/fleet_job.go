package run

import (
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/fleet"
)

func newFleetJobCmd(env *form.Env) *cobra.Command {
	var o runOptions // only parsed here: each member plans for itself
	j, soon := fleet.Job{Engine: fleet.JobEngines()[0], Members: 2, Image: "plimsoll:" + env.Version}, 10*time.Minute
	cmd := form.Command(env, "fleet job", nil, nil, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.Members < 1 || soon < 0 {
			return form.Usagef("--members and --start-in: use 1 or more, and a time such as 10m")
		}
		j.Args, j.Start = passedOn(cmd.Flags(), args), env.Now().Add(soon).Truncate(time.Second)
		file, err := j.File()
		if err != nil {
			return form.Usage(err)
		}
		_, err = env.Out.Write([]byte(file))
		return err
	}
	o.measuring(cmd)
	f := cmd.Flags()
	for _, name := range []string{"dry-run", "out", "resume"} { // they have no meaning here
		f.Lookup(name).Hidden = true
	}
	form.AddChoice(cmd, &j.Engine, "engine", "`ENGINE` that starts the members", fleet.JobEngines())
	form.Bind(f, "fleet job", "members", &j.Members, "image", &j.Image, "start-in", &soon)
	return cmd
}
