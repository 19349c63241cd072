package cli

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
)

// Commands is the tree of all commands, for tables of tests that are made from it.
func Commands() *cobra.Command {
	return newRootCmd(&form.Env{Machine: sys.Host(), Version: Version, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
}

// MainOn is Main on another machine.
func MainOn(m *sys.Machine, args []string) int {
	out, errs := form.NewStream(os.Stdout), form.NewStream(os.Stderr)
	defer errs.Flush() //nolint:errcheck // there is nowhere left to say it
	ctx, stop := interruptible(context.Background())
	defer stop()
	return execute(ctx, &form.Env{Machine: m, In: os.Stdin, Out: out, Err: errs, Version: Version, Args: args}, out)
}
