package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

type importOptions struct {
	layoutOptions
	labels  []string
	job     string
	out     string
	summary bool
	format  string
}

func newImportCmd(env *Env) *cobra.Command {
	o := importOptions{out: "runs"}
	cmd := &cobra.Command{
		Use:   "import FILE|DIR|-...",
		Short: "Read results that fio wrote elsewhere, in any form, and judge them",
		Long: `Read fio's output in any form: text of fio 2 and 3 (also inside Markdown, terminal pastes and logs), JSON, JSON+, terse,
and its logs and histogram logs. What could not be understood is listed line by line, and the exit code is 1.`,
		Example: `  plimsoll import round16.log --label round=16 --volumes 4xP4510 --level raid0 --chunk 512KiB
  plimsoll import results/ --summary`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), env, o, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.labels, "label", nil, "store `TEXT`, or KEY=VALUE, with the run; may be repeated")
	f.StringVar(&o.job, "job", "", "`FILE` of the jobs that were measured, for what the output does not say; else one beside it is looked for")
	f.StringVar(&o.out, "out", o.out, "keep the run below this `DIR`")
	f.BoolVar(&o.summary, "summary", false, "print one line a result and keep nothing")
	addFormat(cmd, &o.format, report.Formats())
	o.addFlags(f)
	return cmd
}

func runImport(ctx context.Context, env *Env, o importOptions, args []string) error {
	labels, err := runLabels(o.labels)
	if err != nil {
		return usage(err)
	}
	decl, err := o.declaration(env)
	if err != nil {
		return err
	}
	outputs, err := gather(args, sys.Interruptible(ctx, env.In))
	if err != nil {
		return err
	}
	if len(outputs) == 0 {
		return fmt.Errorf("nothing of fio's was found in %s", strings.Join(args, ", "))
	}
	lost := reportUnread(env, outputs)
	if o.summary {
		return errors.Join(report.Summary(env.Out, outputs), lost)
	}
	run := bundle.Run{
		Tool: "plimsoll " + Version, Fio: outputs[0].Version, Created: env.Now(), Imported: args, Labels: labels,
		Suite: suite.Suite{Name: "import", Source: "import"}, Topology: topology.Topology{Host: topology.Host{Name: labels["host"]}},
	}
	if decl != nil {
		topo, err := topology.FromDeclaration(decl)
		if err != nil {
			return usage(err)
		}
		run.Topology = *topo
	}
	job, err := jobFile(o.job, args)
	if err != nil {
		return usage(err)
	}
	b, err := bundle.Import(o.out, run, outputs, job)
	if err != nil {
		return err
	}
	if err := errors.Join(reportRun(env, b, o.format), lost); err != nil {
		return err
	}
	return verdictError(b.Run.Verdict)
}

// jobFile reads the job file that is named, or that lies beside a single output: round16 or round16.fio beside round16.log.
func jobFile(name string, args []string) (*fio.JobFile, error) {
	if name != "" {
		return readJobFile(name)
	}
	if len(args) != 1 {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	base := strings.TrimSuffix(args[0], filepath.Ext(args[0]))
	for _, beside := range []string{base + ".fio", base} {
		if info, err := os.Stat(beside); beside == args[0] || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if f, err := readJobFile(beside); err == nil && len(f.Jobs()) > 0 {
			return f, nil
		}
	}
	return quotedJob(args[0])
}

// quotedJob is the job file that an article quotes beside its results, when there is just one.
func quotedJob(name string) (*fio.JobFile, error) {
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".md" && ext != ".markdown" {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	text, err := sys.Text(name)
	if err != nil {
		return nil, err
	}
	var found *fio.JobFile
	for _, j := range script.Parse(name, text, script.Options{Env: os.LookupEnv}).Jobs {
		if j.Command {
			continue
		}
		if found != nil {
			return nil, nil //nolint:nilnil // which of them was measured is not said
		}
		found = j.File
	}
	return found, nil
}

func readJobFile(name string) (*fio.JobFile, error) {
	return suite.JobFile(name)
}

// reportUnread lists what no reader understood, and fails when there is any.
func reportUnread(env *Env, outputs []*fio.Output) error {
	n := 0
	for _, o := range outputs {
		for _, u := range o.Unread {
			why := u.Why
			if why != "" {
				why = " (" + why + ")"
			}
			fmt.Fprintf(env.Err, "%s\n", clean(fmt.Sprintf("%s:%d: not understood: %s%s", o.Source, u.Line, u.Text, why)))
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d lines were not understood; what they held is missing from the result", n)
	}
	return nil
}
