package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
)

// talkOf is what a command line prints: on standard output and on standard error.
func talkOf(t *testing.T, args ...string) (out, errs string, env *form.Env) {
	t.Helper()
	var o, e bytes.Buffer
	m := sys.Host()
	m.Run = func(_ context.Context, stdout io.Writer, _ ...string) error {
		_, err := io.WriteString(stdout, "fio-3.33\n")
		return err
	}
	env = &form.Env{Machine: m, Version: Version, In: strings.NewReader(""), Out: &o, Err: &e, Args: args}
	root := newRootCmd(env)
	root.SetArgs(args)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	env.End()
	return o.String(), e.String(), env
}

// TestEveryCommandTalks: all commands have the same three flags, by one definition, and their short
// forms mean nothing else.
func TestEveryCommandTalks(t *testing.T) {
	n := 0
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		n++
		if err := cmd.ParseFlags([]string{"-q", "-v", "--no-color"}); err != nil && !cmd.DisableFlagParsing {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		for _, name := range []string{"quiet", "verbose", "no-color"} {
			if f := cmd.Flags().Lookup(name); f != nil && f != cmd.Root().PersistentFlags().Lookup(name) {
				t.Errorf("%s has a --%s of its own", cmd.CommandPath(), name)
			}
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(Commands())
	if n < 30 {
		t.Errorf("%d commands seen", n)
	}
}

func TestVerboseAndQuiet(t *testing.T) {
	t.Chdir(t.TempDir())
	out, errs, _ := talkOf(t, "suites")
	if errs != "" {
		t.Errorf("without a flag: %q", errs)
	}
	said, verbose, _ := talkOf(t, "suites", "-v")
	if said != out || !strings.Contains(verbose, ", plimsoll suites\n") || !strings.HasSuffix(verbose, " in total\n") {
		t.Errorf("-v: %q, and the output is the same: %v", verbose, said == out)
	}
	t.Setenv("PLIMSOLL_LEVEL", "raid0")
	_, verbose, env := talkOf(t, "ceiling", "8", "--volumes", "2xgp3", "-v")
	if !strings.Contains(verbose, "PLIMSOLL_LEVEL sets --level to raid0\n") {
		t.Errorf("-v: %q", verbose)
	}
	if _, err := env.Output(t.Context(), "fio", "--version"); err != nil {
		t.Fatal(err)
	}
	if errs := env.Err.(*bytes.Buffer).String(); !strings.Contains(errs, "plimsoll: fio --version ended after ") {
		t.Errorf("-v of a program: %q", errs)
	}
	_, notes, _ := talkOf(t, "man", "pages")
	_, none, _ := talkOf(t, "man", "pages", "-q")
	if !strings.HasPrefix(notes, "wrote ") || none != "" {
		t.Errorf("notes %q, and with -q %q", notes, none)
	}
	env = &form.Env{Machine: sys.Host(), Version: Version, Out: io.Discard, Err: io.Discard}
	root := newRootCmd(env)
	root.SetArgs([]string{"suites", "-q", "-v"})
	if err := root.ExecuteContext(t.Context()); err == nil || form.ExitCode(err) != 2 {
		t.Errorf("-q -v: %v", err)
	}
}

// TestNoColor: the flag and the variable of no-color.org leave colours out.
func TestNoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	_, _, env := talkOf(t, "version")
	_, _, without := talkOf(t, "version", "--no-color")
	if !env.Colored() || without.Colored() {
		t.Errorf("colours: %v, and %v with --no-color", env.Colored(), without.Colored())
	}
	t.Setenv("NO_COLOR", "1")
	if _, _, env := talkOf(t, "version"); env.Colored() {
		t.Error("NO_COLOR=1 does not count")
	}
}
