package plans

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/provision"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/text"
)

// Runbook prints a plan as commands to follow by hand: the steps that apply takes, each with how to
// check and how to undo it. Format is sh, a script that stops at the first command or check that
// fails, or md.
func Runbook(w io.Writer, p *provision.Plan, format string) error {
	r := &runbook{md: format == "md"}
	r.head(p)
	for _, a := range p.Arrays {
		r.array(a)
	}
	if len(p.Initramfs) > 0 {
		r.title("Finally, once: rebuild the initramfs")
		r.block("", []string{text.ShellLine(p.Initramfs)})
	}
	for _, n := range p.Notes {
		r.prose("note: " + text.Clean(n, 600))
	}
	_, err := io.WriteString(w, r.String())
	return err
}

type runbook struct {
	strings.Builder

	md bool
	n  int
}

func (r *runbook) printf(format string, args ...any) { fmt.Fprintf(r, format, args...) }

// helpers are the shell functions that the steps use.
const helpers = `# The device of a serial number; kernel names change between boots.
disk() { lsblk --nodeps --noheadings --paths --output NAME,SERIAL | awk -v s="$1" '$2 == s {print $1; n++} END {exit n != 1}'; }
# The first partition of a disk.
part() { case "$1" in *[0-9]) echo "${1}p1" ;; *) echo "${1}1" ;; esac; }
# Fails unless nothing is recognised on it and its first and last 2 MiB are zero. plimsoll also reads 4,096 samples between.
blank() { test -z "$(wipefs --no-act "$1")" && cmp -s -n 2097152 "$1" /dev/zero && tail -c 2097152 "$1" | cmp -s -n 2097152 - /dev/zero; }
# Adds lines to a file whose last line may lack a newline.
append() { file=$1; shift; test -z "$(tail -c 1 "$file" 2>/dev/null)" || echo >> "$file"; printf '%s\n' "$@" >> "$file"; }
# Zeroes the first and last 2 MiB.
zero() { blkdiscard --zeroout --length 2097152 "$1" && blkdiscard --zeroout --offset $(($(blockdev --getsize64 "$1") - 2097152)) "$1"; }
`

func (r *runbook) head(p *provision.Plan) {
	if r.md {
		r.printf("# Runbook for %s\n\n", text.Quote(p.File))
		r.prose("The steps that `plimsoll array apply` takes, to follow by hand as root. Stop at the first command or " +
			"check that fails. apply also keeps a journal, by which plimsoll array teardown undoes it; after steps " +
			"taken by hand, undo by hand.")
		r.block("", strings.Split(strings.TrimRight(helpers, "\n"), "\n"))
		return
	}
	r.printf("#!/bin/sh\n# Runbook for %s: the steps of plimsoll array apply, to follow by hand as root.\n",
		text.Quote(p.File))
	r.WriteString("# It stops at the first command or check that fails. plimsoll array teardown knows nothing of " +
		"it: undo by hand, last step first.\nset -eu\n" + helpers)
}

func (r *runbook) title(s string) {
	r.printf(text.Either(r.md, "## %s\n\n", "\n# %s\n"), text.Clean(s, 300))
}

func (r *runbook) prose(s string) {
	for _, line := range text.Wrap(s, 100, "", "") {
		if !r.md {
			line = "# " + line
		}
		r.WriteString(line + "\n")
	}
	if r.md {
		r.WriteString("\n")
	}
}

// undo is the heading of commands that a script holds as comments.
const undo = "Undo"

// block is commands under a heading.
func (r *runbook) block(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	if r.md {
		if heading != "" {
			r.printf("%s:\n\n", heading)
		}
		r.printf("```sh\n%s\n```\n\n", strings.Join(lines, "\n"))
		return
	}
	if heading != "" {
		r.printf("# %s\n", strings.ToLower(heading))
	}
	for _, l := range lines {
		if heading == undo {
			l = "#   " + l
		}
		r.WriteString(l + "\n")
	}
}

func (r *runbook) array(a *records.Work) {
	s := &steps{a}
	if a.Found {
		r.title(a.Array + " exists as declared: nothing to do")
		return
	}
	r.title(fmt.Sprintf("%s: %s of %s", a.Array, a.Want.Level, text.Several(a.Members, "volume")))
	if arithmetic := a.Arithmetic(); arithmetic != "" {
		r.prose(arithmetic)
	}
	var devices text.Lines
	for i, m := range a.Members {
		devices.Say("%s=$(disk %s)   # %s today",
			s.name(i), text.ShellQuote(m.Serial), text.Clean(m.Path, 60))
	}
	r.block("", devices)
	for _, st := range a.Steps {
		r.n++
		note := text.Either(st.State == records.StepDone, " (done)", "")
		r.title(fmt.Sprintf("%d. %s%s", r.n, st.Title, note))
		if st.State == records.StepDone {
			continue
		}
		r.block("", s.actions(st.Do, len(st.Do) > 1))
		var checks []string
		for _, c := range st.Check {
			checks = append(checks, s.cond(c))
		}
		r.block("Check", checks)
		r.block(undo, s.actions(st.Undo, false))
	}
}

// steps writes an array's actions and conditions as shell commands. Devices are variables, so that
// no kernel name is in them.
type steps struct{ *records.Work }

func (s *steps) name(i int) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s.Array)
	return fmt.Sprintf("v_%s_%d", id, i+1)
}

// word is an argument: quoted, or the variable of a device.
func (s *steps) word(arg string) string {
	if arg == "@array" {
		if s.Want.Using != "" {
			return text.ShellQuote(s.Top())
		}
		arg = "@" + s.Members[0].Serial
		if s.Want.Partition {
			arg += ":1"
		}
	}
	for i, m := range s.Members {
		switch arg {
		case "@" + m.Serial:
			return `"$` + s.name(i) + `"`
		case "@" + m.Serial + ":1":
			return `"$(part "$` + s.name(i) + `")"`
		}
	}
	return text.ShellQuote(arg)
}

func (s *steps) line(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = s.word(a)
	}
	return strings.Join(words, " ")
}

// actions leaves out the check for blankness that precedes others: a step of its own makes it.
func (s *steps) actions(all []records.Action, more bool) []string {
	var lines []string
	for _, a := range all {
		if len(a.Blank) > 0 && more {
			continue
		}
		for _, l := range s.action(a) {
			if a.If != nil {
				l = "if " + s.cond(*a.If) + "; then " + l + "; fi"
			}
			lines = append(lines, l)
		}
	}
	return lines
}

func (s *steps) each(command string, refs []string) []string {
	lines := make([]string, len(refs))
	for i, r := range refs {
		lines[i] = command + " " + s.word(r)
	}
	return lines
}

func (s *steps) action(a records.Action) []string {
	switch {
	case len(a.Run) > 0:
		return []string{s.line(a.Run)}
	case len(a.Blank) > 0:
		return s.each("blank", a.Blank)
	case len(a.Erase) > 0:
		return append(s.each("wipefs --all", a.Erase), s.each("zero", a.Erase)...)
	case len(a.Zero) > 0:
		return s.each("zero", a.Zero)
	case len(a.Stop) > 0:
		return []string{"mdadm --stop " + text.ShellQuote(s.Top())}
	case a.Add != nil:
		begin, end := a.Add.Marks()
		return []string{text.ShellLine([]string{"append", a.Add.File, begin, a.Add.Text, end})}
	case a.Cut != nil:
		begin, end := a.Cut.Marks()
		return []string{text.ShellLine([]string{"sed", "-i", fmt.Sprintf(`\|^%s$|,\|^%s$|d`, begin, end), a.Cut.File})}
	case a.Await && s.Want.Using == "md":
		return []string{"mdadm --wait " + text.ShellQuote(s.Top()) + " || true   # it fails if there is nothing to wait for"}
	case a.Await:
		return []string{"until " + s.cond(records.Cond{Is: "synced"}) + "; do sleep 5; done"}
	}
	return nil
}

// conditions are tests in the shell by what they say: of stands for the device or path, top for the array, want for the
// value, and uuid for its second word.
var conditions = map[string]string{
	"path":       "test -e {of}",
	"absent":     "test ! -e {of}",
	"empty":      `test -z "$(ls -A {of})"`,
	"lines":      "grep -qxF -e {want} {of}",
	"partition":  "test -b {of}",
	"table":      `test "$(blkid --probe --output value --match-tag PTUUID {of})" = {want}`,
	"array":      "mdadm --detail {top} | grep -qiF {want}",
	"inactive":   "mdadm --detail {top} | grep -qiF {want}",
	"stopped":    "test ! -e {top}",
	"superblock": "mdadm --examine {of} | grep -qiF {want}",
	"pv":         "pvs {of}",
	"vg":         "vgs {of}",
	"lv":         "lvs {of}",
	"filesystem": `test "$(blkid --probe --output value --match-tag UUID {top})" = {uuid}`,
	"mounted":    "mountpoint --quiet {of}",
	"owner":      `stat --format '%u:%g:%a' {of}   # wanted: {plain}`,
	"synced md":  "! mdadm --detail {top} | grep -qE 'Resync Status|Rebuild Status'",
	"synced lvm": "lvs --noheadings --options sync_percent {lv} | grep -q 100",
}

// cond is a test that succeeds when a condition holds.
func (s *steps) cond(c records.Cond) string {
	top, is := text.ShellQuote(s.Top()), string(c.Is)
	if s.Want.Using == "" {
		top = s.word("@array")
	}
	if is == "synced" {
		is += text.Either(s.Want.Using == "md", " md", " lvm")
	}
	_, uuid, _ := strings.Cut(c.Want, " ")
	return strings.NewReplacer("{of}", s.word(c.Of), "{top}", top, "{want}", text.ShellQuote(c.Want),
		"{uuid}", text.ShellQuote(uuid), "{plain}", text.Clean(c.Want, 60), "{lv}",
		text.ShellQuote(s.Want.Group+"/"+s.Array)).Replace(cmp.Or(conditions[is], "true   # "+text.Clean(is, 40)))
}
