package form

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/text"
)

const environmentPrefix = "PLIMSOLL_"

// typedAnnotation marks a flag that the environment must not set.
const typedAnnotation = "plimsoll_typed_only"

// TypedOnly says where flags are defined that they give consent, or choose what runs, what is
// believed or which file is replaced: they count on the command line only, so that nothing that was
// exported in another place, or left in a profile, decides it.
func TypedOnly(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, typedAnnotation, []string{"true"}); err != nil {
			panic(err) // there is no flag of the name: every test of the command ends here
		}
	}
}

// MustBeTyped says that the environment does not set a flag. Cobra makes help and version.
func MustBeTyped(f *pflag.Flag) bool {
	return f.Annotations[typedAnnotation] != nil || f.Name == "help" || f.Name == "version"
}

// Variable is the environment variable of a flag: PLIMSOLL_KEEP_FILES for keep-files.
func Variable(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FromEnvironment sets the flags of cmd that environ has a variable for and the command line has
// not. A variable is ignored where the command line has a flag that excludes it.
func FromEnvironment(env *Env, cmd *cobra.Command, environ []string) error {
	values := map[string]string{}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && strings.HasPrefix(name, environmentPrefix) && value != "" {
			values[name] = value
		}
	}
	if len(values) == 0 {
		return nil
	}
	var given []string
	cmd.Flags().Visit(func(f *pflag.Flag) { given = append(given, f.Name) })
	var bad error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := values[Variable(f.Name)]
		switch {
		case !ok || bad != nil || slices.Contains(given, f.Name) || MustBeTyped(f):
		case excluded(f, given), f.Annotations[outsideAnnotation] != nil:
		default:
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				bad = Usagef("%s in the environment: %w", Variable(f.Name), FlagError(cmd, err))
			}
		}
	})
	if bad == nil {
		warnUnknown(env, cmd.Root(), values)
	}
	return bad
}

// Compatible refuses flags that exclude each other.
func Compatible(cmd *cobra.Command) error {
	if cmd.ValidateFlagGroups() == nil {
		return nil
	}
	var set []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var others []string
		cmd.Flags().Visit(func(o *pflag.Flag) {
			if o != f {
				others = append(others, o.Name)
			}
		})
		if f.Changed && excluded(f, others) {
			set = append(set, "--"+f.Name)
		}
	})
	return Usagef("%s cannot be combined", text.List(set))
}

// excluded is true when a flag of given and f exclude each other.
func excluded(f *pflag.Flag, given []string) bool {
	for _, g := range f.Annotations["cobra_annotation_mutually_exclusive"] {
		if slices.ContainsFunc(strings.Fields(g), func(name string) bool { return slices.Contains(given, name) }) {
			return true
		}
	}
	return false
}

// warnUnknown names variables that set nothing: those of no flag of any command, with the one that
// was probably meant, and those of flags that must be typed.
func warnUnknown(env *Env, root *cobra.Command, values map[string]string) {
	// Of plimsoll's processes, and of its tests.
	known := map[string]bool{"PLIMSOLL_FAMILY": true, "PLIMSOLL_LAB": true, "PLIMSOLL_FLEET": true}
	typed := map[string]string{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		sort := func(f *pflag.Flag) {
			if MustBeTyped(f) {
				typed[Variable(f.Name)] = f.Name
			} else {
				known[Variable(f.Name)] = true
			}
		}
		cmd.Flags().VisitAll(sort)
		cmd.PersistentFlags().VisitAll(sort)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	names := slices.Sorted(maps.Keys(known))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if known[name] {
			continue
		}
		if flag, ok := typed[name]; ok {
			env.Sayf("warning: %s in the environment is not read: type --%s", name, flag)
			continue
		}
		did := ""
		if like := text.Nearest(name, names); like != "" {
			did = "; did you mean " + like + "?"
		}
		env.Sayf("warning: %s in the environment sets no flag%s", text.Clean(name, 60), did)
	}
}
