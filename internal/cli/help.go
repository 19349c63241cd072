package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/text"
)

// mostFlags is how many flags the help of a command lists at first.
const mostFlags = 25

// seldom are flags that the help of a command with many leaves out, unless all are asked for, beside those that
// form.Bind knows.
const seldom = " copy first-touch json on-disconnect order progress "

// shortHelp has the help of a command with many flags leave out those that are seldom used, and say
// so; all is whether all were asked for.
func shortHelp(root *cobra.Command, all bool) {
	whole := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		n, left := 0, 0
		cmd.LocalNonPersistentFlags().VisitAll(func(*pflag.Flag) { n++ })
		if n > mostFlags && !all {
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if form.Seldom(f) || strings.Contains(seldom, " "+f.Name+" ") {
					f.Hidden = true
					left++
				}
			})
		}
		whole(cmd, args)
		if left > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s: %s --help --all\n", text.Plural(left, "more flag"), cmd.CommandPath())
		}
	})
}

// wholeHelp takes --all out of a command line that asks for help.
func wholeHelp(args []string) (rest []string, all bool) {
	helps := slices.ContainsFunc(args, func(s string) bool { return s == "--help" || s == "-h" })
	if !helps || !slices.Contains(args, "--all") {
		return args, false
	}
	return slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == "--all" }), true
}
