// Package cli is plimsoll's command line: one short file a command, flags in, one call, output out.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/sys"
)

// Version is set by the build (-ldflags -X).
var Version = "devel"

// Env is what a command may touch: the machine and its streams.
type Env struct {
	*sys.Machine
	In       io.Reader
	Out, Err io.Writer
}

// Main runs plimsoll with the arguments behind its name and returns the exit code (docs/exit-codes.md).
func Main(args []string) int {
	out := &stream{file: os.Stdout}
	env := &Env{Machine: sys.Host(), In: os.Stdin, Out: out, Err: os.Stderr}
	ctx, stop := interruptible(context.Background())
	defer stop()
	ctx = sys.WithNotice(ctx, func(text string) { fmt.Fprintf(env.Err, "plimsoll: %s\n", clean(text)) })
	root := newRootCmd(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if out.failed != nil && !errors.Is(err, out.failed) { // a full disk, say: what was asked for is not there
		fmt.Fprintf(env.Err, "plimsoll: the output is not complete: %s\n", clean(out.failed.Error()))
		if err == nil {
			err = &told{out.failed}
		}
	}
	if err != nil && err.Error() != "" {
		// errors.Join puts each on a line of its own
		fmt.Fprintf(env.Err, "plimsoll: %s\n", clean(strings.ReplaceAll(err.Error(), "\n", "; ")))
		if h, ok := errors.AsType[*hinted](err); ok {
			fmt.Fprintf(env.Err, "try: %s\n", h.hint)
		}
	}
	return exitCode(err)
}

// stream is standard output. It keeps the first error of writing, since most of what prints does not look.
type stream struct {
	file   *os.File
	failed error
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if s.failed == nil {
		s.failed = err
	}
	return n, err
}

// fileOf is the file behind a stream, for what only files can tell: whether it is a terminal.
func fileOf(w io.Writer) (*os.File, bool) {
	if s, ok := w.(*stream); ok {
		return s.file, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// Commands is the tree of all commands, for the pages that are made from it (scripts/man).
func Commands() *cobra.Command {
	return newRootCmd(&Env{Machine: sys.Host(), In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
}

func newRootCmd(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "plimsoll",
		Short:         "Show how much load a machine's storage can carry, and prove it",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(
		newCheckCmd(env),
		newTuneCmd(env),
		newCleanCmd(env),
		newRunCmd(env),
		newReportCmd(env),
		newImportCmd(env),
		newCompareCmd(env),
		newRunsCmd(env),
		newSuitesCmd(env),
		newShowCmd(env),
		newCeilingCmd(env),
		newCatalogCmd(env),
		newExplainCmd(env),
		newInspectCmd(env),
		newPlanCmd(env),
		newApplyCmd(env),
		newVerifyCmd(env),
		newTeardownCmd(env),
		newLabCmd(env),
		newLabAgentCmd(),
		newLintCmd(env),
		newConvertCmd(env),
		newVersionCmd(env),
	)
	for _, cmd := range root.Commands() {
		countArgs(cmd)
		completeFlags(cmd)
	}
	return root
}

// noCommand refuses what names no command.
func noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	try := root.Name() + " --help"
	if like := root.SuggestionsFor(args[0]); len(like) > 0 {
		try = root.Name() + " " + like[0]
	}
	return hint(usage(fmt.Errorf("unknown command %q", args[0])), try)
}

// countArgs makes too few or too many arguments of a command, or of those below it, a mistake on the command line.
func countArgs(cmd *cobra.Command) {
	if count := cmd.Args; count != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := count(cmd, args)
			if err == nil || errors.Is(err, errUsage) {
				return err
			}
			return hint(usage(err), cmd.CommandPath()+" --help")
		}
	}
	for _, sub := range cmd.Commands() {
		countArgs(sub)
	}
}
