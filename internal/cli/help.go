package cli

import (
	"bytes"
	"fmt"
	"regexp"
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
// so; all is whether all were asked for. On a terminal it breaks lines between words.
func shortHelp(env *form.Env, root *cobra.Command, all bool) {
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
		var page bytes.Buffer
		out := cmd.OutOrStdout()
		cmd.SetOut(&page)
		whole(cmd, args)
		cmd.SetOut(out)
		if left > 0 {
			fmt.Fprintf(&page, "\n%s: %s --help --all\n", text.Plural(left, "more flag"), cmd.CommandPath())
		}
		help := page.String()
		if o := form.PageOptions(env); o.Rows == o.Width { // a terminal
			help = fitted(help, o.Width)
		}
		fmt.Fprint(out, help)
	})
}

// described is a line that says something of a name: a flag or a command, then what it does.
var described = regexp.MustCompile(`^( +\S.*?  +)(\S.*)$`)

// fitted is a help whose lines are at most as wide as the screen: paragraphs are filled again, and what is said of a
// name goes on below its beginning. Examples stay as they are, to be copied.
func fitted(help string, width int) string {
	var lines, words []string
	head := ""
	fill := func() {
		if len(words) > 0 {
			lines = append(lines, text.Wrap(strings.Join(words, " "), width, head, strings.Repeat(" ", text.Width(head)))...)
		}
		head, words = "", nil
	}
	for line := range strings.SplitSeq(help, "\n") {
		rest := strings.TrimLeft(line, " ")
		if m := described.FindStringSubmatch(line); m != nil {
			fill()
			head, rest = m[1], m[2]
		} else if rest == "" || len(line)-len(rest) != text.Width(head) {
			fill()
			if rest == "" || rest != line {
				lines = append(lines, line)
				continue
			}
		}
		words = append(words, rest)
	}
	fill()
	return strings.Join(lines, "\n")
}

// wholeHelp takes --all out of a command line that asks for help.
func wholeHelp(args []string) (rest []string, all bool) {
	helps := slices.ContainsFunc(args, func(s string) bool { return s == "--help" || s == "-h" })
	if !helps || !slices.Contains(args, "--all") {
		return args, false
	}
	return slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == "--all" }), true
}
