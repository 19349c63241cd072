package form

import (
	"cmp"
	_ "embed" // what flags are to each other
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/text"
)

// outsideAnnotation marks a flag that the command line as typed leaves unread.
const outsideAnnotation = "plimsoll_outside"

// FormsAnnotation lists the forms of a command, a line each.
const FormsAnnotation = "plimsoll_forms"

// ArgumentAnnotation is what the arguments of a command are called in messages.
const ArgumentAnnotation = "plimsoll_argument"

// AnArgument stands for a command's arguments among the names of flags.
const AnArgument = "an argument"

// Form is one way to use a command, such as the list and the history of runs, by its name in
// messages.
type Form = string

// TakesForms tells the forms of a command apart. It follows the definition of cmd.Args.
func TakesForms(cmd *cobra.Command, forms []Form, of func(cmd *cobra.Command, args []string) Form) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[FormsAnnotation] = strings.Join(forms, "\n")
	count := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if count != nil {
			if err := count(cmd, args); err != nil {
				return err
			}
		}
		return unreadByForm(cmd, of(cmd, args))
	}
}

// pairTable has a row for what flags are to others: the commands, what holds, the flags, the others, and why.
//
//go:embed pairs.tsv
var pairTable string

// pair is a row for a command: its flags need one of others, are not read next to any of them, exclude each of them, or
// are read by these forms of the command only.
type pair struct {
	what, why     string
	flags, others []string
}

// The rows of pairs.tsv.
const (
	needs     = "needs"
	apartFrom = "is apart from"
	excludes  = "excludes"
	readBy    = "is read by"
)

// pairsOf are the rows of a command; those of "*" are of each that has a flag of both sides.
func pairsOf(cmd *cobra.Command) (all []pair) {
	lacking := func(name string) bool { return cmd.Flags().Lookup(name) == nil }
	for line := range strings.Lines(pairTable) {
		row := strings.SplitN(strings.TrimSpace(line), "\t", 5)
		p := pair{row[1], row[4], strings.Split(row[2], ","), strings.Split(row[3], ",")}
		switch {
		case row[0] == "*":
			p.flags, p.others = slices.DeleteFunc(p.flags, lacking), slices.DeleteFunc(p.others, lacking)
		case !slices.Contains(strings.Split(row[0], ","), strings.TrimPrefix(cmd.CommandPath(), "plimsoll ")):
			continue
		case slices.ContainsFunc(p.flags, lacking) || !slices.Contains([]string{needs, apartFrom, excludes, readBy}, p.what):
			panic("pairs.tsv: " + line) // every test of the commands ends here
		}
		all = append(all, p)
	}
	return all
}

// relate has the flags of a command exclude each other that do.
func relate(cmd *cobra.Command) {
	for _, p := range pairsOf(cmd) {
		for _, name := range p.flags {
			for _, other := range p.others {
				if p.what == excludes {
					cmd.MarkFlagsMutuallyExclusive(name, other)
				}
			}
		}
	}
}

// unreadByForm refuses the flags that were typed and that the form does not read: one that is
// ignored without a word makes people believe in what was not done. A variable of the environment is
// for many commands, and is left out where it is not read.
func unreadByForm(cmd *cobra.Command, of Form) error {
	for _, p := range pairsOf(cmd) {
		if p.what != readBy || slices.Contains(p.others, of) {
			continue
		}
		for _, name := range p.flags {
			if cmd.Flags().Changed(name) {
				return Usagef("--%s does not apply to %s: %s", name, of, p.why)
			}
			_ = cmd.Flags().SetAnnotation(name, outsideAnnotation, []string{of}) // it is there
		}
	}
	return nil
}

// TypedFlags are the names of the flags that were typed, and anArgument where there is one.
func TypedFlags(flags *pflag.FlagSet) []string {
	var typed []string
	flags.Visit(func(f *pflag.Flag) { typed = append(typed, f.Name) })
	if flags.NArg() > 0 {
		typed = append(typed, AnArgument)
	}
	return typed
}

// Unpaired refuses a flag of typed that others make unread, or that lacks one that it needs, which
// the environment may have set.
func Unpaired(cmd *cobra.Command, typed []string) error {
	named := func(name string) string {
		if name == AnArgument {
			return cmp.Or(cmd.Annotations[ArgumentAnnotation], AnArgument)
		}
		return "--" + name
	}
	given := func(name string) bool {
		return name == AnArgument && cmd.Flags().NArg() > 0 || name != AnArgument && cmd.Flags().Changed(name)
	}
	pairs := pairsOf(cmd)
	for _, name := range typed {
		for _, p := range pairs {
			if !slices.Contains(p.flags, name) {
				continue
			}
			var words []string
			for _, other := range p.others {
				if words = append(words, named(other)); p.what == apartFrom && slices.Contains(typed, other) {
					return Usagef("--%s cannot be used with %s: %s", name, named(other), p.why)
				}
			}
			if p.what == needs && !slices.ContainsFunc(p.others, given) {
				return Usagef("--%s needs %s: %s", name, strings.Replace(text.List(words), " and ", " or ", 1), p.why)
			}
		}
	}
	return nil
}
