package form

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"plimsoll/internal/screen"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// talk is how much every command says, and whether it uses colours: the flags that all commands have.
type talk struct {
	Quiet   bool `flag:"quiet"`
	Verbose bool `flag:"verbose"`
	NoColor bool `flag:"no-color"`
	Details bool `flag:"details"`

	began time.Time // of a verbose command
}

// AddFlags adds the flags that all commands have.
func (env *Env) AddFlags(f *pflag.FlagSet) {
	t := &env.talk
	BindAll(f, "talk", t)
}

// TalkFlags are their names: none of them is about what a command does.
func TalkFlags() []string { return []string{"quiet", "verbose", "no-color", "details"} }

// Begin acts upon the flags once they are read, before the command does anything; typed are those that
// were typed, the others come from the environment.
func (env *Env) Begin(cmd *cobra.Command, typed []string) {
	t := &env.talk
	if f := cmd.Flags().Lookup("progress"); t.Quiet && f != nil && !f.Changed {
		_ = f.Value.Set(screen.None)
	}
	if !t.Verbose {
		return
	}
	t.began = env.Now()
	env.say("version %s, %s", env.Version, cmd.CommandPath())
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(typed, f.Name) {
			env.say("%s sets --%s to %s", Variable(f.Name), f.Name, f.Value)
		}
	})
	machine, run := *env.Machine, env.Run
	machine.Run = func(ctx context.Context, stdout io.Writer, argv ...string) error {
		start := env.Now()
		err := run(ctx, stdout, argv...)
		how := "ended"
		if err != nil {
			how = "failed"
		}
		env.say("%s %s after %s", strings.Join(argv, " "), how, text.Duration(env.Now().Sub(start)))
		return err
	}
	env.Machine = &machine
}

// End says how long a verbose command took.
func (env *Env) End() {
	if began := env.talk.began; !began.IsZero() {
		env.say("%s in total", text.Duration(env.Now().Sub(began)))
	}
}

// say prints a line of a verbose command.
func (env *Env) say(format string, args ...any) {
	env.Sayf("plimsoll: %s", text.Clean(fmt.Sprintf(format, args...), text.LongError))
}

// Notes takes what --quiet silences: notes, progress and what was stored where. Errors, warnings,
// questions and the reasons of a gate go to env.Err.
func (env *Env) Notes() io.Writer {
	if env.talk.Quiet {
		return io.Discard
	}
	return env.Err
}

// Notef prints a line of what --quiet silences, Sayf one on standard error, and Printf one on standard output. Names
// and texts from outside are made fit to print.
func (env *Env) Notef(format string, args ...any) { printLine(env.Notes(), format, args) }

// Sayf prints a line on standard error: see Notef.
func (env *Env) Sayf(format string, args ...any) { printLine(env.Err, format, args) }

// Printf prints a line on standard output: see Notef.
func (env *Env) Printf(format string, args ...any) { printLine(env.Out, format, args) }

func printLine(w io.Writer, format string, args []any) {
	fmt.Fprintln(w, text.Clean(fmt.Sprintf(format, args...), 0))
}

// Colored says whether a terminal may be given colours: no-color.org has the variable's meaning.
func (env *Env) Colored() bool { return !env.talk.NoColor && env.Getenv("NO_COLOR") == "" }

// PrintNote prints a note, on a terminal wrapped so that no flag in it is split.
func PrintNote(env *Env, note string) {
	width := 1 << 16
	if f, ok := FileOf(env.Notes()); ok && term.IsTerminal(int(f.Fd())) {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			width = w
		}
	}
	for _, line := range text.Wrap(text.Clean(note, text.LongError), width, "note: ", "      ") {
		fmt.Fprintln(env.Notes(), line)
	}
}

// Confirm asks on the terminal; elsewhere there is no answer.
func Confirm(ctx context.Context, env *Env, question string) error {
	f, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Usagef("there is no terminal on which to ask: use --yes")
	}
	fmt.Fprintf(env.Err, "%s [yes/no] ", question)
	answer, _ := bufio.NewReader(sys.Interruptible(ctx, f)).ReadString('\n') // the end of input is no
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}
