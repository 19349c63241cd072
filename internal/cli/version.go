package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
)

// versions are what plimsoll version prints.
type versions struct {
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Go      string `json:"go"`
}

func newVersions(env *form.Env) versions {
	return versions{env.Version, runtime.GOOS, runtime.GOARCH, runtime.Version()}
}

func (v versions) String() string {
	return fmt.Sprintf("plimsoll %s %s/%s %s", v.Version, v.OS, v.Arch, v.Go)
}

func newVersionCmd(env *form.Env) *cobra.Command {
	asJSON := false
	cmd := form.Command(env, "version", cobra.NoArgs, nil, func(context.Context, *form.Env, []string) error {
		v := newVersions(env)
		if asJSON {
			return json.NewEncoder(env.Out).Encode(v)
		}
		env.Printf("%v", v)
		return nil
	})
	form.Bind(cmd.Flags(), "version", "json", &asJSON)
	return cmd
}
