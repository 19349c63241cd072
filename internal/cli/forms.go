package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/text"
)

// Annotations of a flag, by which its definition says where it is read: in which forms of its
// command, next to which other flags, and not next to which. The last one marks a flag that the
// command line as typed leaves unread.
const (
	readByAnnotation  = "plimsoll_read_by"
	unreadAnnotation  = "plimsoll_unread_because"
	needsAnnotation   = "plimsoll_needs"
	apartAnnotation   = "plimsoll_apart"
	outsideAnnotation = "plimsoll_outside"
)

// formsAnnotation lists the forms of a command, a line each.
const formsAnnotation = "plimsoll_forms"

// argumentAnnotation is what the arguments of a command are called in messages.
const argumentAnnotation = "plimsoll_argument"

// anArgument stands for a command's arguments among the names of flags.
const anArgument = "an argument"

// form is one way to use a command, such as the list and the history of runs, by its name in
// messages.
type form = string

// takesForms tells the forms of a command apart. It follows the definition of cmd.Args.
func takesForms(cmd *cobra.Command, forms []form, of func(cmd *cobra.Command, args []string) form) {
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
		return unreadByForm(cmd.Flags(), of(cmd, args))
	}
}

// annotate adds to an annotation of a flag.
func annotate(f *pflag.FlagSet, flag, key string, values ...string) {
	known := f.Lookup(flag)
	if known == nil {
		panic("there is no flag --" + flag) // every test of the command ends here
	}
	if err := f.SetAnnotation(flag, key, append(slices.Clone(known.Annotations[key]), values...)); err != nil {
		panic(err)
	}
}

// readBy names the forms of a command that read flags, and says why the others do not.
func readBy(f *pflag.FlagSet, forms []form, why string, flags ...string) {
	for _, name := range flags {
		annotate(f, name, readByAnnotation, forms...)
		annotate(f, name, unreadAnnotation, why)
	}
}

// needs says that a flag is read only next to one of others, and why.
func needs(f *pflag.FlagSet, flag, why string, others ...string) {
	annotate(f, flag, needsAnnotation, append([]string{why}, others...)...)
}

// apart says that flags are not read next to another one, and why. They may be typed together in no
// command line, so the other one is not set by the environment.
func apart(f *pflag.FlagSet, other, why string, flags ...string) {
	for _, name := range flags {
		annotate(f, name, apartAnnotation, other+"\n"+why)
	}
}

// reads says whether a form of a command reads a flag.
func reads(f *pflag.Flag, of form) bool {
	by, some := f.Annotations[readByAnnotation]
	return !some || slices.Contains(by, of)
}

// unreadByForm refuses the flags that were typed and that the form does not read: one that is
// ignored without a word makes people believe in what was not done. A variable of the environment is
// for many commands, and is left out where it is not read.
func unreadByForm(flags *pflag.FlagSet, of form) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case reads(f, of):
		case f.Changed && err == nil:
			err = usage(fmt.Errorf("--%s does not apply to %s: %s", f.Name, of,
				strings.Join(f.Annotations[unreadAnnotation], "")))
		default:
			f.Annotations[outsideAnnotation] = []string{of}
		}
	})
	return err
}

// typedFlags are the names of the flags that were typed, and anArgument where there is one.
func typedFlags(flags *pflag.FlagSet) []string {
	var typed []string
	flags.Visit(func(f *pflag.Flag) { typed = append(typed, f.Name) })
	if flags.NArg() > 0 {
		typed = append(typed, anArgument)
	}
	return typed
}

// unpaired refuses a flag of typed that others make unread, or that lacks one that it needs, which
// the environment may have set.
func unpaired(cmd *cobra.Command, typed []string) error {
	flags := cmd.Flags()
	named := func(name string) string {
		if name == anArgument {
			return cmp.Or(cmd.Annotations[argumentAnnotation], anArgument)
		}
		return "--" + name
	}
	for _, name := range typed {
		f := flags.Lookup(name)
		if f == nil {
			continue
		}
		for _, pair := range f.Annotations[apartAnnotation] {
			other, why, _ := strings.Cut(pair, "\n")
			if slices.Contains(typed, other) {
				return usage(fmt.Errorf("--%s does not go with %s: %s", name, named(other), why))
			}
		}
		if need := f.Annotations[needsAnnotation]; len(need) > 0 && !anyGiven(flags, need[1:]) {
			return usage(fmt.Errorf("--%s needs %s: %s", name, orList(need[1:], named), need[0]))
		}
	}
	return nil
}

// anyGiven says that one of the flags was given.
func anyGiven(flags *pflag.FlagSet, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name == anArgument && flags.NArg() > 0 || name != anArgument && flags.Changed(name)
	})
}

func orList(names []string, named func(string) string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = named(name)
	}
	return strings.Replace(text.List(words), " and ", " or ", 1)
}
