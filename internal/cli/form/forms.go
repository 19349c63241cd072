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

// pairTable has a row for what flags are to others: the commands, what holds, the flags, the others, and why.
//
//go:embed pairs.tsv
var pairTable string

// relate annotates the flags of a command with the rows of pairs.tsv: which of them need one of others, are not read next
// to any of them, are read by some forms of the command only, or are not typed together. A command "*" is each that has
// both flags.
func relate(cmd *cobra.Command) {
	f, path := cmd.Flags(), strings.TrimPrefix(cmd.CommandPath(), "plimsoll ")
	for line := range strings.Lines(pairTable) {
		row := strings.SplitN(strings.TrimSpace(line), "\t", 5)
		if row[0] != "*" && !slices.Contains(strings.Split(row[0], ","), path) {
			continue
		}
		others, why := strings.Split(row[3], ","), row[4]
		for name := range strings.SplitSeq(row[2], ",") {
			switch {
			case row[1] == "needs":
				annotate(f, name, needsAnnotation, append([]string{why}, others...)...)
			case row[1] == "is read by":
				annotate(f, name, readByAnnotation, others...)
				annotate(f, name, unreadAnnotation, why)
			}
			for _, other := range others {
				switch {
				case row[1] == "is apart from":
					annotate(f, name, apartAnnotation, other+"\n"+why)
				case row[1] == "excludes" && (row[0] != "*" || f.Lookup(name) != nil && f.Lookup(other) != nil):
					cmd.MarkFlagsMutuallyExclusive(name, other)
				}
			}
		}
	}
}

// reads says whether a form of a command reads a flag.
func reads(f *pflag.Flag, of Form) bool {
	by, some := f.Annotations[readByAnnotation]
	return !some || slices.Contains(by, of)
}

// unreadByForm refuses the flags that were typed and that the form does not read: one that is
// ignored without a word makes people believe in what was not done. A variable of the environment is
// for many commands, and is left out where it is not read.
func unreadByForm(flags *pflag.FlagSet, of Form) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case reads(f, of):
		case f.Changed && err == nil:
			err = Usagef("--%s does not apply to %s: %s", f.Name, of,
				strings.Join(f.Annotations[unreadAnnotation], ""))
		default:
			f.Annotations[outsideAnnotation] = []string{of}
		}
	})
	return err
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
	flags := cmd.Flags()
	named := func(name string) string {
		if name == AnArgument {
			return cmp.Or(cmd.Annotations[ArgumentAnnotation], AnArgument)
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
				return Usagef("--%s does not go with %s: %s", name, named(other), why)
			}
		}
		if need := f.Annotations[needsAnnotation]; len(need) > 0 && !anyGiven(flags, need[1:]) {
			return Usagef("--%s needs %s: %s", name, orList(need[1:], named), need[0])
		}
	}
	return nil
}

// anyGiven says that one of the flags was given.
func anyGiven(flags *pflag.FlagSet, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name == AnArgument && flags.NArg() > 0 || name != AnArgument && flags.Changed(name)
	})
}

func orList(names []string, named func(string) string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = named(name)
	}
	return strings.Replace(text.List(words), " and ", " or ", 1)
}
