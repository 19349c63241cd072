package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli"
	"plimsoll/internal/cli/form"
)

// Every flag of every command that takes one value is refused where it is given twice, and lists and
// switches are not: generated from the commands themselves.
func TestRepeatedFlags(t *testing.T) {
	root := cli.Commands()
	refused, lists := 0, 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			for _, both := range [][]string{{"--" + f.Name, "a", "--" + f.Name + "=b"}, {"--" + f.Name + "=a", "--" + f.Name, "--" + f.Name}} {
				err := form.Repeated(root, append(append([]string{}, path...), both...))
				_, list := f.Value.(pflag.SliceValue)
				own := f.Value.Type() == "list"
				if (err != nil) == (list || own) {
					t.Errorf("%s %v: %v", cmd.CommandPath(), both, err)
				}
				if err != nil {
					refused++
				} else {
					lists++
				}
			}
			if err := form.Repeated(root, append(append([]string{}, path...), "--"+f.Name, "--"+f.Name)); err != nil {
				t.Errorf("%s: a value that looks like the flag --%s is taken for it: %v", cmd.CommandPath(), f.Name, err)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if t.Logf("%d refused, %d lists", refused, lists); refused < 200 || lists < 20 {
		t.Errorf("%d refused, %d lists: the walk misses commands", refused, lists)
	}
}
