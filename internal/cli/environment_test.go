package cli

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli/form"
)

// Each flag of each command is in testdata/flags.tsv, as one that the environment may set or one
// that must be typed: a new flag is decided upon before it is there.
func TestEachFlagSaysWhetherTheEnvironmentSetsIt(t *testing.T) {
	data, err := os.ReadFile("testdata/flags.tsv")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, how, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			listed[name] = how
		}
	}
	seen := map[string]bool{}
	eachFlag(Commands(), func(cmd *cobra.Command, f *pflag.Flag) {
		name := strings.TrimPrefix(cmd.CommandPath(), "plimsoll ") + " --" + f.Name
		seen[name] = true
		want := "environment"
		if form.MustBeTyped(f) {
			want = "typed"
		}
		switch listed[name] {
		case want:
		case "":
			t.Errorf("%s is not in testdata/flags.tsv: can it lose data, run or believe something, or replace a file? "+
				"Then typedOnly where it is defined", name)
		default:
			t.Errorf("%s: %s in testdata/flags.tsv, %s where it is defined", name, listed[name], want)
		}
	})
	for name := range listed {
		if !seen[name] {
			t.Errorf("testdata/flags.tsv has %s, which there is not", name)
		}
	}
}

// The help of each flag with a value says what kind of value it is, in a word of its own: a size, a path, a number of
// something; a type of Go says nothing of its unit.
func TestEachValueIsNamed(t *testing.T) {
	named := regexp.MustCompile(`^[A-Z][A-Z.,:=-]*$`)
	eachFlag(Commands(), func(cmd *cobra.Command, f *pflag.Flag) {
		if kind, _ := pflag.UnquoteUsage(f); kind != "" && !named.MatchString(kind) {
			t.Errorf("%s --%s %s: name its value in the help, between backquotes", cmd.CommandPath(), f.Name, kind)
		}
	})
}

// What a flag's help says of it holds a word of consent: such flags are typed, whatever they are
// called.
func TestFlagsThatGiveConsentAreTyped(t *testing.T) {
	consent := regexp.MustCompile(`(?i)overwrit|replac|lose its data|shell command|do not ask|` +
		`PROGRAM|programs|take down|also remove|as user|revert everything|fix the files`)
	harmless := []string{"chunk", "topology", "volumes", "instance", "level", "against", "destroy-nothing"}
	eachFlag(Commands(), func(cmd *cobra.Command, f *pflag.Flag) {
		if consent.MatchString(f.Usage) && !form.MustBeTyped(f) && !slices.Contains(harmless, f.Name) {
			t.Errorf("%s --%s: %s: may the environment say this?", cmd.CommandPath(), f.Name, f.Usage)
		}
	})
}

// A flag that must be typed stays as it is whatever the environment says, in every command.
func TestEnvironmentGivesNoConsent(t *testing.T) {
	var names []string
	eachFlag(Commands(), func(_ *cobra.Command, f *pflag.Flag) {
		if form.MustBeTyped(f) && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	})
	for _, want := range []string{"on", "adopt", "via", "revert", "pg-bin", "destroy", "serial", "yes", "allow-exec"} {
		if !slices.Contains(names, want) {
			t.Errorf("--%s need not be typed", want)
		}
	}
	var environ []string
	for _, name := range names {
		environ = append(environ, form.Variable(name)+"=true")
	}
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		var said bytes.Buffer
		if err := form.FromEnvironment(&form.Env{Err: &said}, cmd, environ); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if form.MustBeTyped(f) {
				t.Errorf("%s: the environment has set --%s", cmd.CommandPath(), f.Name)
			}
		})
		if !strings.Contains(said.String(), "warning: PLIMSOLL_ON in the environment is not read: type --on\n") {
			t.Errorf("%s does not say that PLIMSOLL_ON is not read", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(Commands())
}

func eachFlag(cmd *cobra.Command, do func(*cobra.Command, *pflag.Flag)) {
	ofAll := cmd.Root().PersistentFlags() // which cobra adds to some commands before they are parsed
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f != ofAll.Lookup(f.Name) {
			do(cmd, f)
		}
	})
	if !cmd.HasParent() {
		ofAll.VisitAll(func(f *pflag.Flag) { do(cmd, f) })
	}
	for _, sub := range cmd.Commands() {
		eachFlag(sub, do)
	}
}
