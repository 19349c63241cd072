package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

var unreadable = &rule{
	Code: "PL100", Since: "0.1", Severity: finding.Fail,
	Title:  "fio could not read this",
	Why:    "What cannot be read was not looked at by any other rule; fio would refuse it too.",
	Fix:    "Fix the line.",
	Bad:    "fio --name=a --rw=read --size",
	Good:   "fio --name=a --rw=read --size=1G",
	Ignore: "When the text is an excerpt that nobody runs.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			for _, u := range file.Unread {
				why := text.Clean(u.Why, 120)
				report(*foundAt(file, u.Line, 1, strings.ToUpper(why[:1])+why[1:]+"."))
			}
		}
	},
}

var notRead = &rule{
	Code: "PL147", Since: "0.2", Severity: finding.Info,
	Title:  "fio commands that could not be read",
	When:   "A line of code seems to run fio, and its command is not among those that were read.",
	Why:    "No rule has looked at these commands: they are put together by the script, or stand in another language.",
	Fix:    "Read them yourself, or write the command out where it is run.",
	Bad:    "python3 - <<E\nos.system('fio --name=a --rw=read')\nE",
	Good:   "fio --name=a --rw=read --size=10G --directory=/data",
	Ignore: "When the line is no command.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			if n := len(file.Missed); n > 0 {
				lines := make([]string, n)
				for i, line := range file.Missed {
					lines[i] = fmt.Sprint(line)
				}
				report(
					*foundAt(file, file.Missed[0], 1, fmt.Sprintf("%s could not be read: %s %s.", text.Plural(n, "fio command"),
						map[bool]string{true: "line", false: "lines"}[n == 1], text.Clean(strings.Join(lines, ", "), 200))),
				)
			}
		}
	},
}

var longDash = &rule{
	Code:     "PL101",
	Since:    "0.1",
	Severity: finding.Fail,
	Title:    "long dashes or typographic quotes instead of -- and \"",
	Why: "Word processors and blogs turn -- into a long dash. fio takes such a word for the name of a job file, " +
		"does not find it and stops, or, " +
		"when some options are spelled right, runs another workload than the text says.",
	Fix:    "Type two hyphens before each option, and straight quotes.",
	Bad:    "fio —name=test —rw=randwrite —bs=16k",
	Good:   "fio --name=test --rw=randwrite --bs=16k",
	Ignore: "Never: fio cannot read it.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			for _, j := range file.Jobs {
				if len(j.Typos) == 0 {
					continue
				}
				t := j.Typos[0]
				f := foundAt(
					file,
					t.Line,
					t.Col,
					fmt.Sprintf(
						"%s spelled with a long dash or typographic quotes, the first %q: fio takes them for "+
							"names of job files.",
						are(len(j.Typos), "word"),
						text.Clean(t.Found, 120),
					),
				)
				f.Commands = []string{commandOf(j.Words)}
				for _, t := range j.Typos {
					f.Edits = append(f.Edits, finding.Edit{Line: t.Line, Col: t.Col, Old: t.Found, New: t.Meant})
				}
				report(*f)
			}
		}
	},
}

func are(n int, one string) string {
	if n == 1 {
		return text.Plural(n, one) + " is"
	}
	return text.Plural(n, one) + " are"
}

func commandOf(words []fio.Word) string {
	argv := make([]string, len(words))
	for i, w := range words {
		argv[i] = w.Text
	}
	return fio.ShellLine(argv)
}

// options calls visit for each option written in the scripts, once, with the words that fio knows
// for it.
func (c *Case) options(
	visit func(j script.Job, at func(says string) *finding.Finding, o fio.Option) *finding.Finding,
	report func(finding.Finding),
) {
	for _, file := range c.Scripts {
		for _, j := range file.Jobs {
			for _, s := range append([]fio.Section{{Options: j.File.Settings}}, j.File.Sections...) {
				for _, o := range s.Options {
					if o.File != "" {
						continue
					}
					at := func(says string) *finding.Finding { return foundAt(file, o.Line, o.Col, says) }
					if f := visit(j, at, o); f != nil {
						report(*f)
					}
				}
			}
		}
	}
}

func (c *Case) table() *fio.OptionTable {
	if c.Fio != nil {
		return c.Fio
	}
	return fio.BuiltinOptions()
}

// pluginOption says whether an option is by its name that of an engine which is loaded into fio.
func pluginOption(name string) bool {
	return strings.HasPrefix(name, "spdk_") || strings.HasPrefix(name, "xnvme_") ||
		strings.HasPrefix(name, "conf_") && name != "conf"
}

// foreign says whether a job of the document may run on an engine that is not fio's own: its
// options cannot be judged.
func (c *Case) foreign(j *script.Job) bool {
	if is, ok := c.plugin[j.File]; ok {
		return is
	}
	engine, _ := fio.BuiltinOptions().Lookup("ioengine")
	not := func(options []fio.Option) bool {
		return slices.ContainsFunc(options, func(o fio.Option) bool {
			if o.Name != "ioengine" {
				return false
			}
			known, _ := engine.NearestWord(strings.TrimSpace(o.Value))
			return !known || strings.HasPrefix(o.Value, "external") || unknown(o.Value)
		})
	}
	is := not(j.Passed) || slices.ContainsFunc(j.File.Sections, func(s fio.Section) bool { return not(s.Options) })
	if c.plugin == nil {
		c.plugin = map[*fio.JobFile]bool{}
	}
	c.plugin[j.File] = is
	return is
}

// wordy are the options whose value is one of fio's words on every build, so that another one is a
// mistake.
var wordy = []string{"rw", "ioengine", "random_distribution", "random_generator"}

var unknownOption = &rule{
	Code:     "PL102",
	Since:    "0.1",
	Severity: finding.Fail,
	Title:    "fio does not know this option or value",
	When: "The option is in none of the tables of the fio at hand (or of 3.16 to 3.41 when there is none), its " +
		"engines' options included. Of values, " +
		"those of rw, ioengine, random_distribution and random_generator are looked at.",
	Why: "fio refuses the whole job. In a longer script the run then ends here, or goes on without the figure.",
	Fix: "Use the spelling that fio knows; fio --cmdhelp=all lists all options, " +
		"--enghelp=ENGINE those of an engine.",
	Bad:    "[job]\nrw=randread\niodpeth=32",
	Good:   "[job]\nrw=randread\niodepth=32",
	Ignore: "When the job is for a newer fio than the one that lint asked.",
	Check: func(c *Case, report func(finding.Finding)) {
		table := c.table()
		c.options(func(j script.Job, at func(string) *finding.Finding, o fio.Option) *finding.Finding {
			if fio.Setting(o.Name) || strings.Contains(o.Name, "$") {
				return nil
			}
			if pluginOption(o.Name) || c.foreign(&j) && !table.Near(o.Name) {
				return nil
			}
			known, near := table.Check(o.Name)
			if !known && j.Command && table.Abbreviates(o.Name) {
				return nil
			}
			if !known {
				f := at(fmt.Sprintf("fio knows no option %q.", text.Clean(o.Name, 120)))
				if c.foreign(&j) {
					f.Severity = finding.Info // it may be the engine's
				}
				if near != "" {
					f.Message = fmt.Sprintf("fio knows no option %q; %s is near.", text.Clean(o.Name, 120), near)
					f.Fix = fmt.Sprintf("Write %s, if that is what was meant.", near)
				}
				if near == strings.ToLower(strings.ReplaceAll(o.Name, "-", "_")) {
					f.Edits = []finding.Edit{{Line: o.Line, Col: o.Col, Old: o.Name, New: near}}
				}
				return f
			}
			info, _ := table.Lookup(o.Name)
			value := strings.TrimSpace(o.Value)
			if !slices.Contains(wordy, info.Name) || o.Bare || strings.ContainsAny(value, "$`/") {
				return nil
			}
			if ok, near := info.NearestWord(value); !ok {
				f := at(fmt.Sprintf("%s=%s: fio has no such value.", info.Name, text.Clean(value, 120)))
				if info.Name == "ioengine" &&
					(near == "" || strings.HasPrefix(value, "spdk") || strings.ContainsAny(value, "-.")) {
					f.Severity = finding.Info // a plugin, or an engine of a newer fio
					f.Message = fmt.Sprintf(
						"ioengine=%s is none of fio's own engines: its options are not judged.",
						text.Clean(value, 120),
					)
					return f
				}
				if near != "" {
					f.Message = fmt.Sprintf(
						"%s=%s: fio has no such value; %s is near.",
						info.Name,
						text.Clean(value, 120),
						near,
					)
					f.Fix = fmt.Sprintf("Write %s=%s, if that is what was meant.", info.Name, near)
				}
				return f
			}
			return nil
		}, report)
	},
}

var blankValue = &rule{
	Code:     "PL127",
	Since:    "0.1",
	Severity: finding.Fail,
	Title:    "fio refuses an option with a blank after =",
	When: "In a job file, an option that takes one of fio's own words (rw, verify, sync, fallocate, ...) or " +
		"directory has a blank behind its =.",
	Why: "fio strips blanks before the = but not behind it. A number or file name survives that; where fio " +
		"compares with its own words, or looks the " +
		"directory up, it says \"failed parsing\" and drops the job.",
	Fix:    "Write the value directly behind the =.",
	Bad:    "[job]\nrw = randread",
	Good:   "[job]\nrw=randread",
	Ignore: "Never: fio 3.33 drops the job.",
	Check: func(c *Case, report func(finding.Finding)) {
		table := c.table()
		c.options(func(_ script.Job, at func(string) *finding.Finding, o fio.Option) *finding.Finding {
			info, _ := table.Lookup(o.Name)
			if o.Pad == "" || info.Name == "ioengine" || info.Name == "profile" ||
				len(info.Words) == 0 && info.Name != "directory" {
				return nil
			}
			f := at(
				fmt.Sprintf(
					"fio takes the blank in %q as part of the value and drops the job.",
					text.Clean(o.Name+"="+o.Pad+o.Value, 120),
				),
			)
			f.Edits = []finding.Edit{{Line: o.Line, Col: o.Col, Old: "=" + o.Pad + o.Value, New: "=" + o.Value}}
			return f
		}, report)
	},
}

// sized are options that take a size.
var sized = []string{
	"bs",
	"size",
	"filesize",
	"io_size",
	"offset",
	"offset_increment",
	"rate",
	"bsrange",
	"bssplit",
	"ba",
	"zonesize",
}

var inverseUnit = &rule{
	Code:     "PL128",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "fio parses this value differently than it looks",
	When: "A size ends in KiB, MiB, GiB, ... while kb_base is 1024 (the default), or a size or time has a " +
		"fraction or an unknown suffix (an error).",
	Why: "For compatibility fio swaps the units: k, kb and K are 1,024, and KiB is 1,000. bs=4KiB is 4,000 bytes, " +
		"which O_DIRECT refuses and " +
		"no block device is built for. Of 1.5g fio reads the 1 and nothing else: one byte. A time such as 1min is " +
		"one microsecond.",
	Fix:    "Write k, m, g or t behind a whole number: bs=4k, size=1536m.",
	Bad:    "fio --name=a --rw=randread --bs=4KiB --size=1.5g",
	Good:   "fio --name=a --rw=randread --bs=4k --size=1536m",
	Ignore: "When sizes in powers of 1,000 are meant.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, j := range c.lintJobs() {
			if o, ok := j.last["kb_base"]; ok && strings.TrimSpace(o.Value) == "1000" {
				continue
			}
			odd := false
			for _, o := range j.sec.Options {
				name := fio.BuiltinOptions().Main(o.Name)
				if !slices.Contains(sized, name) || o.File != "" || strings.Contains(o.Value, "$") {
					continue
				}
				if f := oddSize(j, o); f != nil {
					report(*f)
					odd = true
				}
			}
			bad, isBad := errors.AsType[*fio.BadOption](j.err)
			if isBad && !odd && bad.Option != "rw" {
				f := j.found(
					fmt.Sprintf("%s: fio reads another value than it says, or refuses it: %v.", bad.Option, bad.Err),
					bad.Option,
				)
				f.Severity = finding.Fail
				report(*f)
			}
		}
	},
}

func oddSize(j *lintJob, o fio.Option) *finding.Finding {
	for part := range strings.FieldsFuncSeq(o.Value, func(r rune) bool { return strings.ContainsRune(", :/-", r) }) {
		lower := strings.ToLower(part)
		number := strings.TrimRight(lower, "kmgtpib")
		switch {
		case strings.HasSuffix(lower, "ib") && len(number) == len(lower)-3:
			read, err := fio.ParseSize(part, 1024)
			if err != nil {
				continue
			}
			meant := part[:len(part)-2]
			f := foundAt(
				j.file,
				o.Line,
				o.Col,
				fmt.Sprintf(
					"fio reads %s=%s as %d bytes: with kb_base=1024 the suffix KiB is 1,000 and k is 1,024.",
					o.Name,
					text.Clean(part, 120),
					read,
				),
			)
			f.Fix = fmt.Sprintf("Write %s=%s.", o.Name, strings.ToLower(meant))
			f.Edits = []finding.Edit{{Line: o.Line, Col: o.Col, Old: part, New: strings.ToLower(meant)}}
			return f
		case strings.Contains(number, ".") && strings.Trim(number, "0123456789.") == "" && number != lower:
			whole, _, _ := strings.Cut(part, ".")
			f := foundAt(
				j.file,
				o.Line,
				o.Col,
				fmt.Sprintf(
					"fio reads %s=%s as %s bytes: it stops at the point.",
					o.Name,
					text.Clean(part, 120),
					whole,
				),
			)
			f.Severity = finding.Fail
			return f
		}
	}
	return nil
}

var noJob = &rule{
	Code:     "PL141",
	Since:    "0.1",
	Severity: finding.Fail,
	Title:    "the command has no job",
	When:     "A fio command has job options, and neither --name nor a job file.",
	Why: "On the command line --name begins a job; options before the first one are defaults. Without it fio " +
		"says \"No job(s) defined\".",
	Fix:    "Add --name=NAME in front of the job's options.",
	Bad:    "fio --rw=randread --size=1G --directory=/data",
	Good:   "fio --name=a --rw=randread --size=1G --directory=/data",
	Ignore: "Never.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			for _, j := range file.Jobs {
				f := j.File
				if len(f.Sections) == 1 {
					if _, merges := f.Sections[0].Get("merge_blktrace_file"); merges {
						continue
					}
				}
				if !j.Command || j.Partial || len(f.Files) > 0 || len(f.Jobs()) > 0 || len(f.Sections) == 0 ||
					len(f.Settings) > 0 && !onlyOutput(f.Settings) {
					continue
				}
				report(*foundAt(file, j.Line, j.Col, "The command has options and no --name: fio has no job to run."))
			}
		}
	},
}

// onlyOutput says whether the settings leave it to the command line to define jobs.
func onlyOutput(settings []fio.Option) bool {
	return !slices.ContainsFunc(settings, func(o fio.Option) bool {
		return slices.Contains(
			[]string{"server", "client", "remote-config", "cmdhelp", "enghelp", "help", "version", "profile"},
			o.Name,
		)
	})
}
