package machine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/topology"
)

// Start is plimsoll without a command: what storage the current directory is on, what is missing
// here, and the commands that make sense now; with yaml it is a plimsoll.yaml to begin from.
func Start(ctx context.Context, env *form.Env, yaml bool) error {
	here, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	t, err := topology.Detect(ctx, env.Machine, map[topology.Role]string{topology.Data: here, topology.WAL: here}, nil)
	if err != nil {
		return err
	}
	if yaml {
		_, err = io.WriteString(env.Out, machine.Beginning(t))
		return err
	}
	fio, err := running.Installed(ctx, env.Machine)
	have := machine.Here{Root: os.Geteuid() == 0}
	if err == nil {
		have.Fio = fmt.Sprint(fio)
	}
	return form.Render(env, form.TextFormat, machine.Start(t, have))
}
