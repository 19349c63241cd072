package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersionCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Example: `  plimsoll version
  plimsoll --version`,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(
				env.Out,
				"plimsoll %s %s/%s %s\n",
				Version,
				runtime.GOOS,
				runtime.GOARCH,
				runtime.Version(),
			)
			return err
		},
	}
}
