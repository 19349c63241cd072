package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/form"
	atwork "plimsoll/internal/diagnose/live"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

type whyOptions struct {
	form.LayoutOptions
	path   string
	Long   time.Duration          `flag:"for"`
	Expect units.Latency          `flag:"expect"`
	Format string                 `formats:"plain"`
	Save   string                 `flag:"save"`
	From   string                 `flag:"from"`
	Watch  bool                   `flag:"watch"`
	Scrape string                 `flag:"openmetrics"`
	given  func(flag string) bool // whether a flag was given
}

// The bounds of --for, of one look and with --watch.
const (
	whyLeast  = 2 * time.Second
	whyMost   = time.Minute
	watchMost = 31 * 24 * time.Hour
)

// NewWhy is the command plimsoll why.
func NewWhy(env *form.Env) *cobra.Command {
	o := whyOptions{Long: bench.WatchFor}
	cmd := form.Command(env, "why", cobra.MaximumNArgs(1), &o, o.run)
	f := cmd.Flags()
	o.given = f.Changed
	o.AddFlags(f)
	return cmd
}

func (o *whyOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.path = strings.Join(args, "")
	most, until, hint := whyMost, "1m", "plimsoll why /var/lib/postgresql"
	if o.Watch {
		most, until, hint = watchMost, "31d with --watch", hint+" --watch"
	}
	if o.Watch && !o.given("for") {
		o.Long = watchMost
	}
	switch {
	case o.From != "" && o.path != "":
		return form.Usagef("name a path to watch, or --from FILE to judge what was saved, not both")
	case o.From != "":
	case o.Scrape != "" && !o.Watch:
		return form.Usagef("--openmetrics needs --watch, which writes it after each minute")
	case o.path == "":
		return form.Hint(form.Usagef("name the path or the device that is slow"), hint)
	case o.Long < whyLeast || o.Long > most:
		return form.Usagef("--for %s: use 2s to %s", o.Long, until)
	}
	if o.Watch {
		return o.minutes(ctx, env)
	}
	f, err := o.facts(ctx, env)
	if err != nil {
		return err
	}
	a := atwork.Judge(f)
	if err = form.Render(env, o.Format, machine.Live(f, a)); err == nil && o.Save != "" {
		err = saveFacts(o.Save, f)
	}
	if err != nil {
		return err
	}
	switch a.Answer {
	case atwork.Found:
		return form.ErrVerdict
	case atwork.CannotSee:
		return form.Reported(errors.New("it could not be seen"))
	case atwork.Nothing:
	}
	return nil
}

// facts are those that were saved, or those of this machine.
func (o *whyOptions) facts(ctx context.Context, env *form.Env) (*atwork.Facts, error) {
	if o.From != "" {
		return loadFacts(o.From, o.Expect)
	}
	watching, err := o.watching(env)
	if err != nil {
		return nil, err
	}
	return bench.Watch(ctx, env.Machine, watching)
}

// minutes prints a line per minute and a sum at the end, which is Ctrl-C or the end of --for.
func (o *whyOptions) minutes(ctx context.Context, env *form.Env) error {
	if o.Format != form.FormatJSON && o.Format != form.TextFormat {
		return form.Usagef("--format %s: --watch prints text or json, a line per minute", o.Format)
	}
	watching, err := o.watching(env)
	if err != nil {
		return err
	}
	minutes := machine.Minutes{Out: env.Out, JSON: o.Format == form.FormatJSON, Path: o.path}
	if o.Scrape != "" {
		minutes.Metrics = func(text string) error { return sys.WriteFile(o.Scrape, []byte(text), form.FileMode(o.Scrape)) }
	}
	err = bench.WatchMinutes(ctx, env.Machine, watching, minutes.Add)
	if errors.Is(err, bench.ErrNoDevice) {
		return fmt.Errorf("%s: %w; plimsoll why without --watch says why", text.Clean(o.path, 0), err)
	}
	if err != nil {
		return err
	}
	if err := minutes.End(); err != nil {
		return err
	}
	if minutes.Sum.Fine < minutes.Sum.Minutes {
		return form.ErrVerdict
	}
	return nil
}

// watching is what is looked at.
func (o *whyOptions) watching(env *form.Env) (bench.Watching, error) {
	none := bench.Watching{}
	path, err := filepath.Abs(o.path)
	if err != nil {
		return none, err
	}
	if !strings.ContainsRune(o.path, '/') { // a kernel name such as md0, where no file has it
		if _, err := sys.Look(path); err != nil {
			path = "/dev/" + o.path
		}
	}
	here, err := sys.Look(path)
	if err != nil && !errors.Is(err, sys.ErrNoAnswer) && !sys.Fails(err) {
		return none, form.Usage(err)
	}
	decl, err := o.declared(env, here)
	if err != nil {
		return none, err
	}
	return bench.Watching{Path: path, For: o.Long, Expect: o.Expect, Layout: decl}, nil
}

// declared is what the storage is said to be. A plimsoll.yaml in the current directory is not opened
// on the path's own filesystem, which may not answer.
func (o *whyOptions) declared(env *form.Env, here sys.Place) (*topology.Declaration, error) {
	cwd, err := sys.Look(".")
	apart := err == nil && (here.Block || cwd.Mount != here.Mount)
	if apart || o.File != "" || o.Volumes+o.Level+o.Chunk+o.Instance != "" {
		return o.Declaration(env)
	}
	if _, err := sys.Look(form.DeclarationFile); err == nil {
		env.Notef("note: plimsoll.yaml in this directory is not read, because it is on the filesystem being " +
			"examined: name it with --topology plimsoll.yaml")
	}
	return nil, nil //nolint:nilnil // nothing is declared, which is no error
}

func saveFacts(name string, f *atwork.Facts) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return sys.WriteFile(name, append(text.HarmlessJSON(data), '\n'), form.FileMode(name))
}

func loadFacts(name string, expect units.Latency) (*atwork.Facts, error) {
	data, err := sys.ReadFile(name, sys.TextLimit)
	if err != nil {
		return nil, err
	}
	f, err := atwork.Decode(data)
	if !json.Valid(data) || bytes.Contains(data, []byte(`"sysstat"`)) {
		f, err = atwork.FromCounters(name, data)
	}
	if err != nil {
		return nil, form.Usagef("%s: %w", text.Clean(name, 0), err)
	}
	if expect > 0 {
		f.Expect = expect
	}
	return f, nil
}
