package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/lint"
	"plimsoll/internal/report"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

type lintOptions struct {
	what                []string
	format              string
	fix, installed      bool
	chunk, memory, free units.Bytes
	disable             []string
}

func newLintCmd(env *Env) *cobra.Command {
	o := lintOptions{}
	cmd := &cobra.Command{
		Use:   "lint FILE|DIR|COMMAND...",
		Short: "Lint fio jobs before you waste a day running them",
		Long: `Lint the fio jobs in job files, shell scripts, the code blocks of Markdown, or a fio command line given
as one argument; mkfs, mdadm, lvcreate and mount lines next to them are read too. "-" is standard input. Nothing
is run.

A comment "plimsoll: disable=PL107 reason" silences a rule. At the end of a line it applies to that line; on a
line of its own to the option, section or command that follows; before a blank line at the top to the whole
file. The exit code is 3 when a finding is an error.`,
		Example: `  plimsoll lint jobs/randread.fio
  plimsoll lint README.md --chunk 64k
  plimsoll lint "fio --name=a --rw=randread --iodepth=32"
  plimsoll lint . --format github`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.what = args
			return runLint(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	addFormat(cmd, &o.format, report.LintFormats())
	f.BoolVar(&o.fix, "fix", false, "fix the files where the repair is certain, and report the rest")
	typedOnly(f, "fix")
	f.BoolVar(
		&o.installed,
		"installed",
		false,
		"check options against the installed fio instead of all versions from 3.16 to 3.41",
	)
	addSize(f, &o.chunk, "chunk", "chunk `SIZE` of the array that the jobs run on")
	addSize(f, &o.memory, "memory", "memory `SIZE` of the machine that they run on")
	addSize(f, &o.free, "free", "free space (`SIZE`) on the filesystem that they write to")
	f.StringSliceVar(&o.disable, "disable", nil, "do not apply the rule `CODE`")
	return cmd
}

func runLint(ctx context.Context, env *Env, o lintOptions) error {
	c := &lint.Case{Chunk: o.chunk, Memory: o.memory, Free: o.free}
	if o.installed {
		table, err := fio.InstalledOptions(ctx, env.Machine)
		if err != nil {
			return err
		}
		c.Fio = table
	}
	codes, err := o.codes()
	if err != nil {
		return usage(err)
	}
	docs, err := documents(ctx, env, o.what)
	if err != nil {
		return err
	}
	for _, d := range docs {
		c.Scripts = append(c.Scripts, d.parse())
	}
	found := lint.Judge(c, codes...)
	if o.fix {
		if found, err = applyFixes(env, c, docs, found, codes); err != nil {
			return err
		}
	}
	if err := report.Lint(
		env.Out,
		o.format,
		report.Linted{Files: c.Scripts, Findings: found, Tool: Version},
	); err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Severity == finding.Fail }) {
		return errVerdict
	}
	return nil
}

func (o lintOptions) codes() ([]finding.Code, error) {
	var codes []finding.Code
	pages := finding.Pages(lint.Rules())
	for _, name := range o.disable {
		code := ruleCode(name)
		if !slices.ContainsFunc(pages, func(p finding.Page) bool { return p.Code == code }) {
			return nil, unknownCode(name)
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// document is one text to lint. A command line and standard input have no file to fix.
type document struct {
	name    string
	text    []byte
	command bool
	file    bool
	err     error // why the file could not be read; its text is then empty
}

func (d document) parse() *script.File {
	opts := script.Options{Include: sys.Text}
	if d.err != nil {
		return script.Unreadable(d.name, d.err)
	}
	if d.command {
		return script.CommandText(string(d.text), opts)
	}
	return script.Parse(d.name, d.text, opts)
}

// documents reads what was named: files, directories, "-", or a command line, which begins with fio
// or has options of it.
func documents(ctx context.Context, env *Env, what []string) ([]document, error) {
	var docs []document
	for _, name := range what {
		info, err := os.Stat(name)
		switch {
		case name == "-":
			body, err := sys.ReadAll("standard input", sys.Interruptible(ctx, env.In), sys.TextLimit)
			if err != nil {
				return nil, err
			}
			docs = append(docs, document{name: "-", text: body})
		case err == nil && info.IsDir():
			found, err := walk(name)
			if err != nil {
				return nil, err
			}
			docs = append(docs, found...)
		case err == nil:
			body, err := sys.Text(name)
			if err != nil {
				return nil, err
			}
			docs = append(docs, document{name: name, text: body, file: true})
		case strings.Contains(name, "fio ") && strings.Contains(name, " "):
			docs = append(docs, document{name: "command line", text: []byte(name), command: true})
		default:
			return nil, hint(usage(err), `plimsoll lint "fio --name=a --rw=randread"`)
		}
	}
	return docs, nil
}

// lintedFiles are the endings of what is looked at below a directory; of otherFiles, what has to do
// with fio.
var (
	lintedFiles = append([]string{".fio", ".job", ".sh", ".bash", ".md", ".markdown"}, otherFiles...)
	otherFiles  = []string{".yml", ".yaml", ".j2", ".tmpl", ".tpl", ".ini", ".cfg"}
)

// walk finds job files, scripts and Markdown below a directory.
func walk(dir string) ([]document, error) {
	var docs []document
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && name != dir:
			return fs.SkipDir
		case !e.Type().IsRegular() || !slices.Contains(lintedFiles, filepath.Ext(name)):
			return nil
		}
		body, err := sys.Text(name)
		if err == nil && slices.Contains(otherFiles, filepath.Ext(name)) && !bytes.Contains(body, []byte("fio")) &&
			!bytes.Contains(body, []byte("rw=")) {
			return nil
		}
		docs = append(docs, document{name: name, text: body, file: true, err: err})
		return nil
	})
	if err == nil && len(docs) == 0 {
		err = errors.New(dir + ": no job file, script or Markdown below it")
	}
	return docs, err
}

// replace gives a file new content at once, in place of old. A link is refused: who may make one
// decides what is written over.
func replace(name string, old, text []byte) error {
	dir, err := sys.OpenPath(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Replace(filepath.Base(name), old, text), dir.Close())
}

// fixPasses bounds how often fixes are looked for again: two that touch each other are made one
// after the other.
const fixPasses = 10

// applyFixes writes certain repairs back, until there are none left, and lints again.
func applyFixes(
	env *Env,
	c *lint.Case,
	docs []document,
	found []finding.Finding,
	disabled []finding.Code,
) ([]finding.Finding, error) {
	after := slices.Clone(c.Scripts)
	for i, d := range docs {
		own := slices.DeleteFunc(
			slices.Clone(found),
			func(f finding.Finding) bool { return f.File() != c.Scripts[i].Name },
		)
		fixed, n := lint.Fix(string(d.text), own)
		if !d.file || n == 0 {
			continue
		}
		for range fixPasses {
			docs[i].text = []byte(fixed)
			after[i] = docs[i].parse()
			again, more := lint.Fix(
				fixed,
				lint.Judge(
					&lint.Case{Scripts: after[i : i+1], Fio: c.Fio, Chunk: c.Chunk, Memory: c.Memory, Free: c.Free},
					disabled...),
			)
			if more == 0 || again == fixed {
				break
			}
			fixed, n = again, n+more
		}
		if err := replace(d.name, d.text, []byte(fixed)); err != nil {
			return nil, err
		}
		fmt.Fprintf(env.Err, "%s: %s applied\n", text.Clean(d.name, 0), text.Plural(n, "fix", "fixes"))
		docs[i].text = []byte(fixed)
		after[i] = docs[i].parse()
	}
	c.Scripts = after
	return lint.Judge(
		&lint.Case{Scripts: after, Fio: c.Fio, Chunk: c.Chunk, Memory: c.Memory, Free: c.Free},
		disabled...), nil
}
