package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

func sameBlocks(j *lintJob) *fault {
	shared := j.SharedFile || j.given("filename") // whatever its name is
	if !j.Sequential || !shared || j.OffsetIncrement > 0 || j.open("offset_increment") || j.open("rw") || j.Jobs < 2 &&
		!j.unknown["numjobs"] || !j.given("numjobs") ||
		strings.HasPrefix(j.last["zonemode"].Value, "zbd") {
		return nil
	}
	what := "file"
	if len(j.devices()) > 0 {
		what = "device"
	}
	jobs := text.Plural(j.Jobs, "job")
	if j.open("numjobs") {
		jobs = "The jobs of " + j.setting("numjobs", "")
	}
	if j.src.File != nil && len(j.src.File.Jobs()) > 1 {
		jobs += " of [" + text.Clean(j.sec.Name, 120) + "]"
	}
	f := j.found("filename numjobs", "%s %s the same blocks of one %s (no offset_increment).", jobs, j.verb(), what)
	f.Alike = j.verb()
	if j.Size > 0 && !j.open("size", "numjobs") {
		f.Fix = says("Add offset_increment=%s; the %s then has to hold %s. Or use directory= for a file per job.",
			j.Size.Suffixed(), what, j.Size*units64(j.Jobs))
	}
	return lessen(f, j.open("ioengine", "numjobs") || !fio.UsesPageCache(j.Engine) || j.prepares() || j.Paced())
}

func neverWritten(j *lintJob) *fault {
	c := j.of
	if !j.Reads() || j.Writes() || j.open("rw") {
		return nil
	}
	for _, d := range j.devices() {
		if !c.documents[j.file].Written[d] && !fio.InMemory(d) {
			return j.found("filename",
				"This job reads %s, which no job here has written: reads of unwritten or trimmed blocks are answered "+
					"without touching the medium.", d)
		}
	}
	for _, cmd := range j.file.Commands {
		name := cmd.Name()
		if name != "truncate" && name != "fallocate" {
			continue
		}
		for _, path := range j.Files() {
			if cmd.Has(path) && !c.documents[j.file].Written[path] {
				return j.found("filename", "This job reads %s, which %s on line %d created without writing to it.", path, name,
					cmd.Line)
			}
		}
	}
	return nil
}

// lossWords warn of the loss of data, unless one of safeWords stands in their line: non-destructive.
var (
	lossWords = regexp.MustCompile(
		`(?i)^.*(?:^|[^-\w])(?:destructive|destroys|wipes|erases|will (?:be )?(?:destroy|wipe|erase|lost)\w*|data loss)\b.*`,
	)
	safeWords = regexp.MustCompile(`(?i)\b(?:non|not|no|never|without|avoid)\b|n't\b`)
)

// destroys says whether a document warns that it destroys data: who starts it knows.
func destroys(f *script.File) bool {
	hints := strings.Fields(`estr ESTR wipe Wipe WIPE rase ERASE lost LOST loss LOSS`)
	warnings := f.Match(lossWords, hints...)
	return slices.ContainsFunc(warnings, func(line string) bool { return !safeWords.MatchString(line) })
}

func rawWrite(j *lintJob) *fault {
	c := j.of
	if _, only := j.readOnly(); only || !j.Writes() && j.TrimShare == 0 || !j.measures() {
		return nil
	}
	var devices []string
	for _, d := range j.devices() {
		if !strings.HasPrefix(d, "/dev/disk/by-id/") && !fio.InMemory(d) {
			devices = append(devices, text.Clean(d, 120))
		}
	}
	if len(devices) == 0 || c.documents[j.file].destroys {
		return nil
	}
	does := firstWord(strings.Replace(j.verb(), "read and write", "write", 1))
	f := j.found("filename", "This job %ss %s: running it destroys the contents of the %s.", does,
		strings.Join(devices, ", "), map[bool]string{true: "device", false: "devices"}[len(devices) == 1])
	for _, m := range c.documents[j.file].Mounts {
		if slices.Contains(j.devices(), m.Device) && m.Line < f.Line {
			f.Message = says("This job writes %s, which line %d mounts on %s: fio refuses to, unless only "+
				"a partition or array of it is mounted.", m.Device, m.Line, m.Point)
		}
	}
	return f
}
