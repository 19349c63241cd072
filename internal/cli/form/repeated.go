package form

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Repeated refuses a flag that is given twice and takes one value: the first would vanish without a word.
// Switches may be repeated.
func Repeated(root *cobra.Command, args []string) error {
	cmd, args, err := root.Find(args)
	if err != nil || cmd.DisableFlagParsing {
		return nil //nolint:nilerr // the parser says it
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddFlagSet(cmd.InheritedFlags())
	flags.AddFlagSet(cmd.Flags())
	seen := map[string]bool{}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, _, valued := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		f := flags.Lookup(name)
		switch {
		case !strings.HasPrefix(args[i], "--"):
			f = nil
			if len(args[i]) == 2 && args[i][0] == '-' {
				f, valued = flags.ShorthandLookup(args[i][1:]), false
			}
		case f == nil:
			continue
		}
		if f == nil || f.NoOptDefVal != "" {
			continue
		}
		if !valued {
			i++ // the value, whatever it looks like
		}
		if seen[f.Name] && !repeats(f.Value) {
			return Hint(Usagef("--%s is given twice and takes one value", f.Name),
				cmd.CommandPath()+" --help")
		}
		seen[f.Name] = true
	}
	return nil
}

func repeats(v pflag.Value) bool {
	_, list := v.(pflag.SliceValue)
	return list || v.Type() == listType
}
