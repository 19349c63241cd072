package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
)

// Commands is the tree of all commands, for tables of tests that are made from it.
func Commands() *cobra.Command {
	return newRootCmd(&form.Env{Machine: sys.Host(), Version: Version, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
}
