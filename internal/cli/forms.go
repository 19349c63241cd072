package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations by which a flag says which forms of its command read it, why the others do not, and
// that the form which was typed is one of those others.
const (
	readByAnnotation  = "plimsoll_read_by"
	unreadAnnotation  = "plimsoll_unread_because"
	outsideAnnotation = "plimsoll_outside"
)

// formsAnnotation lists the forms of a command, a line each.
const formsAnnotation = "plimsoll_forms"

// takesForms tells the forms of a command apart, such as a list and a history of runs. A flag that
// was typed and that the form does not read is refused: one that is ignored without a word makes
// people believe in what was not done. A variable of the environment is for many commands, and is
// left out there. It follows the definition of cmd.Args.
func takesForms(cmd *cobra.Command, forms []string, of func(cmd *cobra.Command, args []string) string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[formsAnnotation] = strings.Join(forms, "\n")
	count := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if count != nil {
			if err := count(cmd, args); err != nil {
				return err
			}
		}
		return refuseUnread(cmd.Flags(), of(cmd, args))
	}
}

// readBy names the forms of a command that read flags, and says why the others do not.
func readBy(f *pflag.FlagSet, forms []string, why string, names ...string) {
	for _, name := range names {
		for key, value := range map[string][]string{readByAnnotation: forms, unreadAnnotation: {why}} {
			if err := f.SetAnnotation(name, key, value); err != nil {
				panic(err) // there is no flag of the name: every test of the command ends here
			}
		}
	}
}

// reads says whether a form of a command reads a flag.
func reads(f *pflag.Flag, form string) bool {
	by, some := f.Annotations[readByAnnotation]
	return !some || slices.Contains(by, form)
}

// refuseUnread refuses the flags that were typed and that form does not read.
func refuseUnread(flags *pflag.FlagSet, form string) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case reads(f, form):
		case f.Changed && err == nil:
			err = usage(fmt.Errorf("--%s does not apply to %s: %s", f.Name, form,
				strings.Join(f.Annotations[unreadAnnotation], "")))
		default:
			f.Annotations[outsideAnnotation] = []string{form}
		}
	})
	return err
}
