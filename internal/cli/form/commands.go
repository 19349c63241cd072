package form

import (
	"context"
	_ "embed" // the words of commands
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/text"
)

// commandPages has a page for each command: how it is called and what it does in a line, then what its help says, and
// its examples.
//
//go:embed commands.txt
var commandPages string

// Command is the command of a page of commands.txt, with the flags of its options: those that a tag names, and --format
// where a field has formats:"plain" or "all". Options or what it runs are nil where its caller sets them.
func Command(
	env *Env, path string, args cobra.PositionalArgs, options any, run func(context.Context, *Env, []string) error,
) *cobra.Command {
	_, page, known := strings.Cut(commandPages, "\n-- "+path+" --\n")
	if !known {
		panic("commands.txt: " + path) // every test of the commands ends here
	}
	page, _, _ = strings.Cut(page, "\n-- ")
	page, examples, _ := strings.Cut(page, "\nExamples:\n")
	head, long, _ := strings.Cut(strings.TrimSpace(page), "\n\n")
	short := strings.LastIndexByte(head, '\n')
	cmd := &cobra.Command{
		Use: head[:short], Short: head[short+1:], Long: long, Example: strings.TrimRight(examples, "\n"), Args: args,
	}
	if options != nil {
		BindAll(cmd.Flags(), path, options)
		addFormats(cmd, options)
	}
	if run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), env, args) }
	}
	return cmd
}

// Former are commands by the names that they had before the first release, with what is typed now.
// None of these names is taken: whoever types one of them gets the new one, and nothing is done.
func Former() map[string]string {
	return map[string]string{
		"apply":    "plimsoll array apply FILE",
		"export":   "plimsoll report RUN --format openmetrics",
		"history":  "plimsoll runs --history",
		"plan":     "plimsoll array plan FILE",
		"show":     "plimsoll suites SCENARIO",
		"teardown": "plimsoll array teardown",
		"verify":   "plimsoll array verify FILE",
		"warm":     "plimsoll array warm PATH",
	}
}

// NoCommand refuses what names no command of parent.
func NoCommand(parent *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	try := parent.CommandPath() + " --help"
	if now, was := Former()[args[0]]; was && !parent.HasParent() {
		return Usagef("%s was renamed: type %s", text.Quote(args[0]), now)
	}
	if parent.Name() == "fleet" && (args[0] == "ab" || args[0] == "sweep") {
		return Usagef("a fleet has no %s: use fleet run for each variant or value in turn, several times, with "+
			"--label variant=NAME, then plimsoll compare --by variant runs", args[0])
	}
	if like := likely(parent, args[0]); like != "" {
		try = parent.CommandPath() + " " + like
	}
	return Hint(Usagef("unknown command %s", text.Quote(args[0])), try)
}

// likely is the command that a word is meant to be: one that begins with it, else one with the same first letter of
// those with a letter or two wrong; "" for none.
func likely(parent *cobra.Command, word string) string {
	var like string
	for _, name := range parent.SuggestionsFor(word) {
		if strings.HasPrefix(name, word) {
			return name
		}
		if like == "" && strings.HasPrefix(name, word[:min(1, len(word))]) {
			like = name
		}
	}
	return like
}

// SubcommandsOnly makes a command that does nothing itself refuse unknown subcommands.
func SubcommandsOnly(cmd *cobra.Command) {
	cmd.Args = NoCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}
