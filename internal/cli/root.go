// Package cli is the root of plimsoll's command line: it joins the groups of commands below it, and holds
// signals, manual pages and the version. In a group each command is one short file: flags in, one call,
// output out.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/advise"
	"plimsoll/internal/cli/array"
	"plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	"plimsoll/internal/cli/machine"
	"plimsoll/internal/cli/run"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Version is set by the build (-ldflags -X).
var Version = "devel"

// Main runs plimsoll with the arguments behind its name and returns the exit code
// (docs/exit-codes.md).
func Main(args []string) int {
	out, errs := form.NewStream(os.Stdout), form.NewStream(os.Stderr)
	env := &form.Env{Machine: sys.Host(), In: os.Stdin, Out: out, Err: errs, Version: Version, Args: args}
	defer errs.Flush() //nolint:errcheck // there is nowhere left to say it
	ctx, stop := interruptible(context.Background())
	defer stop()
	ctx = sys.WithNotice(ctx, func(notice string) { env.Notef("plimsoll: %s", notice) })
	return execute(ctx, env, out)
}

// execute runs a command, says what is wrong, and returns the exit code. All of standard output goes
// to out.
func execute(ctx context.Context, env *form.Env, out *form.Stream) int {
	args, all := wholeHelp(env.Args)
	root := newRootCmd(env)
	shortHelp(env, root, all)
	root.SetArgs(args)
	err := unknownCommand(root, args)
	if err == nil {
		err = form.Repeated(root, args)
	}
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	failed := out.Flush()
	env.End()
	if failed != nil && !errors.Is(err, failed) { // such as a full disk
		env.Sayf("plimsoll: could not write all output: %s", form.Readable(failed))
		if err == nil {
			err = form.Reported(failed)
		}
	}
	if err != nil {
		env.Complain(err)
	}
	if form.NamesMissing(err, args) {
		err = form.Usage(err)
	}
	return form.ExitCode(err)
}

// group is a heading of plimsoll --help and its commands.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups are the commands, those first that people type every day.
func groups(env *form.Env) []group {
	return []group{
		{
			"Everyday",
			[]*cobra.Command{
				run.NewRun(env),
				machine.NewCheck(env),
				machine.NewWhy(env),
				job.NewLint(env),
				compare.NewImport(env),
				compare.NewCompare(
					env,
				),
				compare.NewReport(env),
				advise.NewCeiling(env),
				advise.NewLimits(env),
				advise.NewAdvise(env),
			},
		},
		{"Measure more", []*cobra.Command{run.NewAB(env), run.NewSweep(env), run.NewFleet(env), machine.NewLab(env)}},
		{"Look up", []*cobra.Command{
			compare.NewRuns(env), run.NewSuites(env), job.NewWorkload(env), job.NewExplain(env), advise.NewCatalog(env),
			machine.NewInspect(env),
		}},
		{"Change the machine", []*cobra.Command{array.NewArray(env), machine.NewTune(env), machine.NewClean(env)}},
	}
}

func newRootCmd(env *form.Env) *cobra.Command {
	yaml := false
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Measure what a machine's storage can carry, and compare it with what the hardware allows",
		Long: `Measure what a machine's storage can carry, and compare it with what the hardware allows. Without a command,
plimsoll shows what storage the machine has, what is missing, and what to do next.

Every flag can also be set in the environment: PLIMSOLL_RUNTIME=30s is --runtime 30s. A flag on the command line
takes precedence over the environment, and both over plimsoll.yaml in the current directory, which declares the
storage. Flags that give consent, or choose what runs, are only read from the command line.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       env.Version,
		Args:          form.NoCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return machine.Start(cmd.Context(), env, yaml) },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			typed := form.TypedFlags(cmd.Flags())
			if err := form.FromEnvironment(env, cmd, env.Environ); err != nil {
				return err
			}
			if err := form.Compatible(cmd); err != nil {
				return err
			}
			if err := form.Unpaired(cmd, typed); err != nil {
				return err
			}
			env.Begin(cmd, typed)
			return nil
		},

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetVersionTemplate(newVersions(env).String() + "\n")
	root.SetFlagErrorFunc(form.FlagError)
	env.AddFlags(root.PersistentFlags())
	form.Bind(root.Flags(), "root", "yaml", &yaml)
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	root.SetHelpCommand(newHelpCmd(env))
	for _, g := range groups(env) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(job.NewConvert(env), newVersionCmd(env), newManCmd(env), machine.NewLabAgent(env), run.NewMember(env))
	for _, cmd := range root.Commands() {
		countArgs(cmd)
		form.CompleteFlags(cmd)
		endsAtOnce(cmd)
	}
	return root
}

func newHelpCmd(env *form.Env) *cobra.Command {
	help := form.Command(env, "help", nil, nil, nil)
	help.RunE = func(cmd *cobra.Command, args []string) error {
		of, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return form.NoCommand(of, args[len(args)-max(len(rest), 1):])
		}
		return of.Help()
	}
	return help
}

// countError says in words what is wrong with the number of arguments.
func countError(cmd *cobra.Command, args []string) error {
	use, _, _ := strings.Cut(cmd.Use, "\n") // a second line is another form
	_, takes, _ := strings.Cut(use, " ")
	switch {
	case len(args) == 0:
		return fmt.Errorf("%s needs an argument: %s", cmd.CommandPath(), takes)
	case takes == "":
		return fmt.Errorf("%s takes no arguments, and %s was given", cmd.CommandPath(), text.Quote(args[0]))
	}
	return fmt.Errorf("%s takes %s, and %d arguments were given", cmd.CommandPath(), takes, len(args))
}

// unknownCommand refuses a word that is no command before its flags are looked at: cobra would ask
// about those first, and answers --help with the help of the whole.
func unknownCommand(root *cobra.Command, args []string) error {
	of, rest, err := root.Find(args)
	if err != nil || !of.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") || of.Args == nil ||
		slices.Contains([]string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, rest[0]) {
		// cobra adds those when it executes
		return nil //nolint:nilerr // the parser says it
	}
	return of.Args(of, rest[:1])
}

// countArgs makes too few or too many arguments of a command, or of those below it, a mistake on
// the command line.
func countArgs(cmd *cobra.Command) {
	if count := cmd.Args; count != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := count(cmd, args)
			if err == nil || errors.Is(err, form.ErrUsage) {
				return err
			}
			return form.Hint(form.Usage(countError(cmd, args)), cmd.CommandPath()+" --help")
		}
	}
	for _, sub := range cmd.Commands() {
		countArgs(sub)
	}
}
