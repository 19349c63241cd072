package script

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
)

// programs are those whose commands rules look at.
var programs = strings.Fields(
	`mdadm lvcreate lvremove lvrename vgcreate vgremove pvcreate mount umount fusermount fusermount3
	udisksctl parted mke2fs rm dd truncate fallocate`,
)

// wrappers run the command behind them; keywords of the shell stand before one.
var wrappers = strings.Fields(
	`sudo env time nice ionice taskset numactl timeout nohup exec chrt stdbuf watch doas do then else if
	while until ! { export local readonly systemd-run`,
)

// speakers print their words; deaf do something else with them than run them as a command.
var (
	speakers = strings.Fields(`echo printf log info warn error fatal die logger print say err debug notice`)
	deaf     = strings.Fields(
		`apt apt-get yum dnf apk brew zypper pip pip3 pacman snap port pkg choco which type command man pkill
		killall pgrep pidof ps grep egrep fgrep rg rm cd git make cp mv ln ls mkdir tar wget curl alias
		unalias read cat sed awk test [ [[ hash return exit dpkg rpm install trap set source . diff touch
		chmod chown tee find plimsoll`,
	)
)

var (
	assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=([A-Za-z0-9_./%:+-]*)$`)
	fioProgram = regexp.MustCompile(`^fio(?:-[0-9][0-9.]*)?$`)
	// fioVariable stands for the program in scripts that let others choose it: $FIO, "${FIO_BIN}".
	fioVariable = regexp.MustCompile(`(?i)^\$\{?fio_?(?:bin|binary|cmd|command|path|exe|prog)?(?::?[-=][^}]*)?\}?$`)
	// innerFio is a fio command in a string, such as that of sh -c or ssh.
	innerFio = regexp.MustCompile(`(?:^|[\s;&|(/])fio\s+(?:-|[\w./-]+\.fio\b)`)
)

func base(word string) string { return path.Base(word) }

// isFio says whether a word is the program fio.
func isFio(word string) bool {
	return fioProgram.MatchString(base(word)) ||
		strings.HasPrefix(word, "$") && (fioVariable.MatchString(word) || strings.HasSuffix(word, "/fio"))
}

// command reads a simple command: one that rules look at, or one that runs or holds another.
func (r *reader) command(words []shell.Word, block int, code bool, depth int) {
	wrapped := true
	for i, w := range words {
		name := base(w.Text)
		switch {
		case !wrapped:
		case r.isAssignment(w.Text, code):
			continue
		case isFio(w.Text):
			r.fio(words[i:], block, code)
			return
		case code && (slices.Contains(programs, name) || name == "mkfs" || strings.HasPrefix(name, "mkfs.")):
			if !r.keep(1, len(words)-i, w.Line) {
				return
			}
			c := Command{
				Words: slices.Clone(words[i:]), Line: w.Line, Col: w.Col, Block: block, Loop: r.loop, Scope: r.scope,
			}
			c.Words[0].Text = name
			r.Commands = append(r.Commands, c)
			r.units = append(r.units, unit{w.Line, words[len(words)-1].Line})
			return
		case slices.Contains(wrappers, name):
			continue
		case i > 0 && (strings.HasPrefix(w.Text, "-") || strings.Trim(w.Text, "0123456789,.smh") == "" ||
			afterOption(words, i)):
			continue // an option of sudo or taskset, or its value
		case slices.Contains(deaf, name) || slices.Contains(speakers, name) || !code:
			r.filledByCommand(words[i:])
			return
		default:
			wrapped = false
		}
		if i == 0 {
			continue
		}
		if isFio(w.Text) && i+1 < len(words) && asksFio(words[i+1].Text) {
			r.appended = slices.ContainsFunc(words[:i], addsWords)
			r.fio(words[i:], block, code)
			r.appended = false
			return
		}
		if strings.ContainsAny(w.Text, " \t\n") && innerFio.MatchString(w.Text) {
			r.piece(w.Text, place{w.Line, w.Col + 1}, block, depth+1)
		}
	}
}

// addsWords says whether a word is a program that puts words of its own behind the command it runs, or
// runs an image that may have some.
func addsWords(w shell.Word) bool {
	return slices.Contains(strings.Fields(`xargs parallel docker podman nerdctl`), base(w.Text))
}

// asksFio says whether a word can stand behind fio, so that fio in the middle of another command's
// words is a command.
func asksFio(word string) bool {
	return strings.HasPrefix(Repaired(word), "--") && word != "--" || setsOption(word) ||
		strings.HasSuffix(word, ".fio") ||
		strings.HasPrefix(word, "$")
}

// isAssignment notes NAME=value in front of a command.
func (r *reader) isAssignment(word string, code bool) bool {
	name, value, ok := strings.Cut(word, "=")
	if !ok || !assignment.MatchString(name+"=") {
		return false
	}
	if code {
		r.set(name, value, assignment.MatchString(word))
	}
	return true
}

// afterOption says whether a word may be the value of a short option: sudo -u postgres.
func afterOption(words []shell.Word, i int) bool {
	o := words[i-1].Text
	return len(o) == 2 && o[0] == '-'
}

// plainValue is one that may be filled in where it stands.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_./%:+-]*$`)

// set notes a variable. One with several values, or a computed one, is not known.
func (r *reader) set(name, value string, known bool) {
	old, had := r.values[name]
	if !known || had && old != value {
		r.several[name] = true
	}
	r.values[name] = value
}

// dashes are what word processors make of --.
const dashes = "‐‑‒–—―−"

var quotes = strings.NewReplacer("“", "", "”", "", "„", "", "«", "", "»", "", "‘", "", "’", "")

// rejoin makes one word of those that stand between typographic quotes, as they would be between
// straight ones: --description=“two words”. To repair it the quotes become straight.
func (j *Job) rejoin() {
	straight := strings.NewReplacer("“", `"`, "”", `"`, "„", `"`)
	typo := func(w shell.Word) {
		if meant := Repaired(straight.Replace(w.Text)); meant != w.Text {
			j.Typos = append(j.Typos, Typo{w.Line, w.Col, w.Text, meant})
		}
	}
	whole := j.Words[:0:0]
	for i := 0; i < len(j.Words); i++ {
		w := j.Words[i]
		last := i
		if strings.ContainsAny(w.Text, "“„") && !strings.Contains(w.Text, "”") {
			for k := i + 1; k < len(j.Words) && j.Words[k].Line == w.Line && !strings.HasPrefix(j.Words[k].Text, "--"); k++ {
				if strings.Contains(j.Words[k].Text, "”") {
					last = k
					break
				}
			}
		}
		if last > i {
			typo(w)
			for _, next := range j.Words[i+1 : last+1] {
				typo(next)
				w.Text += " " + next.Text
			}
			w.Text = Repaired(w.Text) // its typos are those of its parts
		}
		whole, i = append(whole, w), last
	}
	j.Words = whole
}

// fio reads one fio command. Typos of a word processor are fixed first.
func (r *reader) fio(words []shell.Word, block int, code bool) {
	j := Job{
		Line:    words[0].Line,
		Col:     words[0].Col,
		Command: true,
		Loop:    r.loop,
		Varies:  r.varies,
		Words:   slices.Clone(words),
		Block:   block,
	}
	j.Program, j.Words[0].Text = words[0].Text, "fio"
	j.Partial = r.unclosed
	j.Appended = r.appended || !code || r.program()
	if r.unclosed && len(j.Words) > 1 { // what its last word holds is cut off
		j.Words = j.Words[:len(j.Words)-1]
	}
	last := words[len(words)-1]
	if r.goesOn(last) {
		j.Partial, j.Words = true, withoutOpenEnd(j.Words)
	}
	options := 0
	j.rejoin()
	kept := j.Words[:1]
	for i, w := range j.Words[1:] {
		meant := Repaired(w.Text)
		if meant != w.Text {
			j.Typos = append(j.Typos, Typo{w.Line, w.Col, w.Text, meant})
			w.Text = meant
		}
		if strings.HasPrefix(meant, "-") {
			options++
		}
		if unknownWords(meant) && (i == 0 || !valueFollows(kept[len(kept)-1].Text)) {
			j.Partial = true
			if options == 0 || !strings.Contains(meant, "/") {
				continue
			}
		}
		kept = append(kept, w)
	}
	j.Words = kept
	switch {
	case options == 0 && len(words) == 1,
		!code && (len(words) == 1 || len(kept) < 2 || !strings.HasPrefix(kept[1].Text, "-")),
		!code && options == 1 && len(j.Typos) > 0: // a sentence about an option
		return
	}
	if foreignWords(j.Words) { // another program of that name: pbench has one
		r.spoken = append(r.spoken, unit{j.Line, last.Line})
		return
	}
	if !r.keep(1, len(words), j.Line) {
		return
	}
	r.units = append(r.units, unit{j.Line, last.Line})
	f, err := command.ParseWords(j.Words)
	if err != nil && !code {
		return // a sentence that ends in the name of an option
	}
	if err != nil {
		r.unread(j.Line, "", err.Error())
		return
	}
	f.Name = r.Name
	j.File = f
	r.Jobs = append(r.Jobs, j)
}

// programEndings are those of languages in which a command is a string.
var programEndings = endings(`.py .pl .pm .rb .lua .tcl .js .mjs .ts .groovy .gradle .sc .jl .r`)

// programShebang begins such a program.
var programShebang = regexp.MustCompile(`^#!.*\b(?:python|perl|ruby|lua|tclsh|node)`)

// stringEnd is what stands behind a string that another one, a value or a format completes.
var stringEnd = regexp.MustCompile(`^["']{1,3}\s*(?:[\\+%.]|[frbFRB]?["']|$)`)

// completed is such an end in a text whose language is not known: "fio --filename=" + name.
var completed = regexp.MustCompile(`^["']\s*(?:[+%]\s|\.format\()`)

// program says whether the document is written in a language in which a command is a string.
func (r *reader) program() bool {
	return programEndings[strings.ToLower(path.Ext(r.Name))] || programShebang.MatchString(r.Source(1))
}

// goesOn says whether a command, in the string of a program, is completed by what stands behind the string.
func (r *reader) goesOn(last shell.Word) bool {
	ends := completed
	if r.program() {
		ends = stringEnd
	}
	rest := r.From(last.Line, last.Col)
	at := strings.LastIndex(rest[:min(len(rest), strings.Index(rest, last.Text)+len(last.Text))], last.Text)
	return at >= 0 && ends.MatchString(strings.TrimLeft(rest[at+len(last.Text):], " "))
}

// withoutOpenEnd drops a last word whose value stands behind the string: "fio --directory=" + dir.
func withoutOpenEnd(words []shell.Word) []shell.Word {
	if last := words[len(words)-1].Text; len(words) > 1 && (strings.HasSuffix(last, "=") || !strings.Contains(last, "=")) {
		return words[:len(words)-1]
	}
	return words
}

// subcommands are those of Fiona's command line, which is called fio, too.
var subcommands = strings.Fields(`bounds calc cat collect distrib dump env filter info insp load ls map`)

// foreignWords says whether most options of a command are none of fio's.
func foreignWords(words []shell.Word) bool {
	if len(words) > 1 && slices.Contains(subcommands, words[1].Text) {
		return true
	}
	own, foreign, job := 0, 0, false
	for _, w := range words[1:] {
		name := strings.TrimLeft(w.Text, "-")
		if name == w.Text {
			continue
		}
		name, _, _ = strings.Cut(name, "=")
		if _, short := command.Short(w.Text); short {
			continue // a letter that many programs know
		}
		job = job || name == "name"
		_, known := fio.BuiltinOptions().Lookup(strings.ReplaceAll(name, "-", "_"))
		if known || command.Setting(name) {
			own++
		} else {
			foreign++
		}
	}
	return foreign > own && (foreign > 1 || !job)
}

// unknownWords says whether a word stands for words that the document does not give: $OPTS,
// "${ARGS[@]}", $(options).
func unknownWords(word string) bool {
	return strings.HasPrefix(word, "$") || strings.HasPrefix(word, "`") || strings.HasPrefix(word, "{{")
}

// valueFollows says whether a word is an option whose value is the next word.
func valueFollows(word string) bool {
	name := strings.TrimLeft(word, "-")
	return name != word && !strings.Contains(word, "=") && command.TakesNext(name)
}

// Repaired is a word as it was before a word processor made long dashes and curly quotes of it.
func Repaired(word string) string {
	word = quotes.Replace(word)
	rest := strings.TrimLeft(word, "-"+dashes)
	if lead := word[:len(word)-len(rest)]; strings.ContainsAny(lead, dashes) && rest != "" {
		return "--" + rest
	}
	return word
}
