package permit

import (
	"cmp"
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

// reach is what an option of fio can touch.
type reach string

// The reaches, as reach.tsv explains them.
const (
	reachNone    reach = "none"
	reachFiles   reach = "files"
	reachLog     reach = "log"
	reachRun     reach = "run"
	reachExec    reach = "exec"
	reachRefused reach = "refused"
)

type optionReach struct {
	reach  reach
	reason string
}

//go:embed reach.tsv
var reachText string

// reaches has an entry for each option of fio's that plimsoll knows.
var reaches = sync.OnceValue(func() map[string]optionReach {
	table := map[string]optionReach{}
	for line := range strings.Lines(reachText) {
		if col := strings.Split(strings.TrimSpace(line), "\t"); len(col) == 3 && !strings.HasPrefix(line, "#") {
			table[col[0]] = optionReach{reach(col[1]), col[2]}
		}
	}
	return table
})

// switches are refused options that a value of 0 turns off.
var switches = strings.Fields("fill_device verify_dump cgroup_nodelete touch_objects busy_poll pi_act")

// computed are the words for which fio puts a number (options.c, fio_keywords). Where there is an operator as well, it
// starts a shell.
var computed = regexp.MustCompile(`\$(?:pagesize|mb_memory|ncpus)`)

const byHand = "remove it, or run fio by hand and plimsoll import its output"

// checkOptions refuses what no look at files can make safe.
func (c Consent) checkOptions(file string, section fio.Section) error {
	for _, o := range section.Options {
		name, value := fio.BuiltinOptions().Main(o.Name), strings.TrimSpace(o.Value)
		known, ok := reaches()[name]
		reason := ""
		switch {
		case !ok:
			reason = "is an option that plimsoll does not know"
		case value != strings.Trim(o.Value, blanks):
			reason = "begins or ends with a blank that fio does not treat as one"
		case known.reach == reachFiles && strings.HasSuffix(value, `\`):
			reason = "ends with a backslash, which fio takes as part of the name"
		case computed.MatchString(value) && strings.ContainsAny(o.Name+value, "+-*/"): // hugepage-size has one
			reason = "has an arithmetic expression, which fio would evaluate with bc in a shell"
		case known.reach == reachExec && !c.Exec:
			return fmt.Errorf("%s:%d: %s would run a shell command (%.60q): read it, then add --allow-exec",
				file, o.Line, o.Name, o.Value)
		case known.reach == reachExec && section.Name != PlainName(section.Name):
			return fmt.Errorf("%s:%d: fio gives %s a file named after the job, %.60q, by a shell: name the job with "+
				"letters, digits, - _ and . only", file, o.Line, o.Name, section.Name)
		case known.reach == reachRefused && (value != "0" || !slices.Contains(switches, name)):
			reason = known.reason
		case known.reach == reachLog && strings.Contains(value, "/"):
			return fmt.Errorf("%s:%d: %s=%.60s would write outside of the run: name the log without a "+
				"directory; it is kept with the run",
				file, o.Line, o.Name, value)
		case name == "ioengine":
			reason = engineTrouble(value)
		case name == "mem" && strings.HasPrefix(value, "shm"):
			reason = "leaves its shared memory behind when it is killed: use mem=malloc or mem=mmap"
		case name == "mem" && strings.Contains(value, ":"):
			reason = "writes over the file that it names"
		case strings.HasSuffix(name, "_pattern") && strings.Contains(value, "'"):
			reason = "reads another file"
		}
		if reason != "" {
			return fmt.Errorf("%s:%d: %s=%.60s %s, which plimsoll does not allow: %s",
				file, o.Line, o.Name, value, reason, byHand)
		}
	}
	return nil
}

// blanks are what fio passes over around a value (isspace of the C locale).
const blanks = " \t\n\v\f\r"

// zoned says that a zonemode= is zbd, or may be: fio's words end at a colon or comma.
func zoned(mode string) bool { return mode != "" && mode != "none" && mode != "strided" }

// engineTrouble is why an ioengine is not let through, empty when it is.
func engineTrouble(engine string) string {
	switch kind := fio.KindOf(engine); {
	case kind == fio.EngineData, kind == fio.EngineFiles, kind == fio.EngineNone:
		return ""
	case strings.HasPrefix(engine, "external"), strings.Contains(engine, "/"):
		return "runs code of that library"
	case kind == fio.EngineProgram:
		return "runs programs"
	case kind == fio.EngineNetwork:
		return "sends data over a network, not to storage"
	}
	return "reaches storage in a way that plimsoll cannot see"
}

// keepLogs makes the logs that a job writes go to a directory, in which fio runs, by the names that it gives them.
// Its commands run where plimsoll does, but what they print goes to that directory, by fio's > behind them.
func keepLogs(job *fio.JobFile, dir, here string) {
	for _, i := range job.Jobs() {
		section := job.Effective(i)
		for _, o := range section.Options {
			own := fio.Option{Name: o.Name}
			switch reaches()[fio.BuiltinOptions().Main(o.Name)].reach {
			case reachLog:
				name := cmp.Or(strings.TrimSpace(o.Value), section.Name) // fio takes the job's for none
				own.Value = filepath.Join(dir, PlainName(name))
			case reachExec:
				own.Value = `(cd ` + text.ShellQuote(here) + ` && ` + o.Value + `)`
			default:
				continue
			}
			job.Sections[i].Options = append(slices.Clip(job.Sections[i].Options), own)
		}
	}
}

// PlainName makes a file name of anything.
func PlainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, name)
}
