package job

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/lint/settings"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// document is one text to lint. A command line and standard input have no file to fix.
type document struct {
	name    string
	text    []byte
	command bool
	file    bool
	named   bool  // by the user, and not found below a folder
	err     error // why the file could not be read; its text is then empty
}

func (d document) parse() *script.File {
	if d.err != nil {
		return script.Unreadable(d.name, d.err)
	}
	opts := script.Options{Include: func(name string) ([]byte, error) { return sys.Included(d.name, name) }}
	if d.command {
		return script.CommandText(string(d.text), opts)
	}
	return script.Parse(d.name, d.text, opts)
}

// documents reads what was named: files, directories, "-", or a command line, which begins with fio
// or has options of it. What is not there keeps nothing else from being judged: its error comes
// last.
func (l *linting) documents(ctx context.Context) error {
	var missing error
	seen := map[string]bool{}
	add := func(d document) {
		if d.file {
			name := filepath.Clean(d.name)
			if abs, err := filepath.Abs(name); err == nil {
				name = abs
			}
			if seen[name] {
				return
			}
			seen[name] = true
		}
		l.docs = append(l.docs, d)
	}
	for _, name := range l.o.what {
		if err := l.named(ctx, name, add); err != nil && missing == nil {
			missing = err
		} else if err != nil {
			l.env.Sayf("plimsoll: %v", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return missing
}

func (l *linting) named(ctx context.Context, name string, add func(document)) error {
	info, err := sys.Stat(name)
	switch {
	case name == "-":
		body, err := sys.ReadAll("standard input", sys.Interruptible(ctx, l.env.In), sys.TextLimit)
		if err != nil {
			return err
		}
		add(document{name: "-", text: body})
	case err == nil && info.IsDir():
		return l.below(name, add)
	case err == nil:
		body, err := sys.Text(name)
		if err != nil {
			return err
		}
		add(document{name: name, text: body, file: true, named: true})
	case strings.Contains(name, "fio ") && strings.Contains(name, " "):
		add(document{name: "command line", text: []byte(name), command: true})
	default:
		return form.Hint(form.Usage(err), `plimsoll lint "fio --name=a --rw=randread"`)
	}
	return nil
}

// jobless makes an error of each file that is named as a job file and holds no job, which fio refuses. Below a folder
// such files are passed over: others include them, and other programs have files of this ending.
func (l *linting) jobless() {
	for i, d := range l.docs {
		f := l.c.Scripts[i]
		if !d.named || !strings.EqualFold(filepath.Ext(d.name), ".fio") || len(f.Unread) > 0 || l.isPart(d.name) ||
			slices.ContainsFunc(f.Jobs, func(j script.Job) bool { return j.Command || len(j.File.Jobs()) > 0 }) {
			continue
		}
		f.Unread = append(f.Unread, script.Unread{
			By: script.NoJob, Line: 1, Why: script.NoJobIn(d.name), Outside: part.MatchString(filepath.Base(d.name)),
		})
	}
}

// part is how files are named that others include, or that stand before others on a command line: global.fio.
var part = regexp.MustCompile(`(?i)global|common|defaults`)

// isPart says whether a file is there for others, which include it.
func (l *linting) isPart(name string) bool {
	base := filepath.Base(name)
	return slices.ContainsFunc(l.docs, func(d document) bool {
		return strings.Contains(string(d.text), "include "+base) || strings.Contains(string(d.text), "/"+base)
	})
}

// below adds the documents of a folder.
func (l *linting) below(dir string, add func(document)) error {
	finder := script.Finder{Exclude: slices.Concat(l.set.Exclude, l.o.Exclude), Read: sys.Text, Own: l.c.Own}
	return finder.Walk(dir, func(f script.Found) {
		if f.Passed != "" {
			l.passed = append(l.passed, script.Passed{File: f.Name, Why: f.Passed})
			return
		}
		add(document{name: f.Name, text: f.Text, file: true, err: f.Err})
	})
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
func (l *linting) applyFixes() error {
	after := slices.Clone(l.c.Scripts)
	judge := func(scripts ...*script.File) lint.Judged {
		c := l.c
		c.Scripts, c.Own = scripts, nil
		return lint.Judge(lint.NewCase(c), l.codes...)
	}
	for i, d := range l.docs {
		own := slices.DeleteFunc(slices.Clone(l.judged.Found),
			func(f finding.Finding) bool { return f.File != l.c.Scripts[i].Name })
		fixed, n := lint.Fix(string(d.text), own)
		if !d.file || n == 0 {
			continue
		}
		for range fixPasses {
			l.docs[i].text = []byte(fixed)
			after[i] = l.docs[i].parse()
			again, more := lint.Fix(fixed, judge(after[i]).Found)
			if more == 0 || again == fixed {
				break
			}
			fixed, n = again, n+more
		}
		if err := replace(d.name, d.text, []byte(fixed)); err != nil {
			return err
		}
		l.env.Notef("%s: %s applied", d.name, text.Plural(n, "fix", "fixes"))
		l.docs[i].text = []byte(fixed)
		after[i] = l.docs[i].parse()
	}
	l.judged, l.c.Scripts = judge(after...), after
	return nil
}

// against leaves out the findings of the baseline, or writes it.
func (l *linting) against(found []finding.Finding, source func(finding.Finding) string) ([]finding.Finding, error) {
	if l.o.Baseline == "" {
		return found, nil
	}
	type file struct {
		Findings settings.Baseline `json:"findings"`
	}
	old, err := sys.Text(l.o.Baseline)
	if l.o.UpdateBaseline {
		body, encodeErr := json.MarshalIndent(file{settings.NewBaseline(found, source)}, "", "  ")
		if encodeErr != nil {
			return nil, encodeErr
		}
		if err := sys.WriteFile(l.o.Baseline, append(text.HarmlessJSON(body), '\n'), 0o644); err != nil {
			return nil, err
		}
		l.env.Notef("%s: %s", l.o.Baseline, text.Plural(len(found), "finding"))
		return nil, nil
	}
	if err != nil {
		return nil, form.Hint(
			form.Usage(err),
			"plimsoll lint . --baseline "+text.ShellQuote(l.o.Baseline)+" --update-baseline",
		)
	}
	var base file
	if err := json.Unmarshal(old, &base); err != nil {
		return nil, form.Usagef("%s: no baseline: %w", l.o.Baseline, err)
	}
	return base.Findings.New(found, source), nil
}
