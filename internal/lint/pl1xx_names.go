package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
)

// claim is what a job's name says that the job does.
type claim struct{ reads, writes, random, sequential bool }

var (
	// nameWord is a word of a name: a run of small letters with the capital before it, or of capitals.
	nameWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)
	// loadWord is a word that says what a job does, such as seqread, random or write.
	loadWord = regexp.MustCompile(
		`^(seq|sequential|rand|random|rnd)?(reads?|reading|reader|writes?|writing|writer|rw|readwrite|mix|mixed)?(?:job|test)?$`,
	)
)

// otherSense are words beside which read, write or random does not say what the job itself does: a
// read after a write, a write cache, random data.
var otherSense = strings.Fields(
	`after before post pre prep prepare fill prefill precondition init setup lay layout while during
	under with without vs versus then to from of for background noise ahead back through around cache
	cached buffer buffers data bytes content pattern verify check amp amplification lock same only no
	non not`,
)

// claimed is what a name says; false where it says nothing, or nothing of the job itself.
func claimed(name string) (claim, bool) {
	var c claim
	if strings.Contains(name, "=") {
		return c, false // what it was made of: job(read_bw=0)
	}
	for _, w := range nameWord.FindAllString(name, -1) {
		w = strings.ToLower(w)
		m := loadWord.FindStringSubmatch(w)
		switch {
		case slices.Contains(otherSense, w):
			return claim{}, false
		case m == nil:
			continue
		}
		c.sequential = c.sequential || strings.HasPrefix(m[1], "seq")
		c.random = c.random || strings.HasPrefix(m[1], "r")
		switch of := m[2]; {
		case of == "rw" || of == "readwrite" || strings.HasPrefix(of, "mix"):
			c.reads, c.writes = true, true
		case strings.HasPrefix(of, "read"):
			c.reads = true
		case strings.HasPrefix(of, "writ"):
			c.writes = true
		}
	}
	return c, c != claim{}
}

// contradicted is what a job does instead of what its name says; empty where the two agree.
func (c claim) contradicted(w fio.Workload) string {
	switch {
	case w.TrimShare > 0:
	case c.writes && !c.reads && !w.Writes():
		return "it only reads"
	case c.reads && !c.writes && !w.Reads():
		return "it only writes"
	case c.random && !c.sequential && w.Sequential:
		return "its I/O is sequential"
	case c.sequential && !c.random && !w.Sequential:
		return "its I/O is random"
	}
	return ""
}

// engineWord is an engine in the name of a job, of those whose names mean nothing else.
var engineWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(libaio|io_uring|posixaio|psync|pvsync2?)(?:[^a-z0-9]|$)`)

// engineNamed is a finding where a job's name is that of an engine, and another one runs it.
func (j *lintJob) engineNamed() *fault {
	named := engineWord.FindAllStringSubmatch(j.sec.Name, -1)
	if len(named) != 1 || j.open("ioengine") || !j.src.Command && !j.namesEngine() ||
		strings.HasPrefix(j.Engine, strings.ToLower(named[0][1])) {
		return nil
	}
	return j.found("name ioengine", "The job is named %q, but runs with %s.", j.sec.Name, j.setting("ioengine",
		fio.DefaultEngine))
}

func contradictingName(j *lintJob) *fault {
	if f := j.engineNamed(); f != nil {
		return f
	}
	if !j.given("rw") || j.open("rw") || unknown(j.sec.Name) || !j.measures() ||
		strings.Contains(j.value("rw"), ":") ||
		j.given("percentage_random", "rw_sequencer", "zonemode", "flow", "read_iolog") {
		return nil
	}
	name := j.sec.Name
	c, is := claimed(name)
	for _, s := range j.src.File.Sections { // one of [global] names no job, and says what is meant
		if global, has := s.Get("name"); has && s.Global() && !is && !slices.ContainsFunc(j.own.Options, sets("rw")) {
			name = global
			c, is = claimed(name)
		}
	}
	if !is {
		return nil
	}
	instead := c.contradicted(j.Workload)
	if instead == "" {
		return nil
	}
	f := j.found("rw", "The job is named %q, but with %s %s.", name, j.setting("rw", "read"), instead)
	f.Alike = instead
	return lessen(f, name != j.sec.Name || j.src.Command) // fio does not show it, or rw stands beside it
}

// sets says of an option whether it is the one of a main name.
func sets(name string) func(fio.Option) bool {
	return func(o fio.Option) bool { return mainName(o) == name }
}

// placeOptions say where a job works, and nothing of what it does there.
var placeOptions = []string{"filename", "directory", "size", "filesize"}

func placeAlone(c *Case, report reporter) {
	for jobs := range c.sources() {
		given := false // an earlier section of the file gives rw
		for _, j := range jobs {
			if j.src.Command || j.partial {
				continue
			}
			given = given || slices.ContainsFunc(j.own.Options, sets("rw"))
			if !given || j.given("rw") || j.open("rw") || len(j.own.Options) == 0 ||
				slices.ContainsFunc(j.own.Options, func(o fio.Option) bool { return !slices.Contains(placeOptions, o.Name) }) {
				continue
			}
			report(*j.found("", "[%s] is a job of its own, and reads with fio's defaults: it shares no option "+
				"with the sections before it.", j.sec.Name))
		}
	}
}

func sectionPath(c *Case, report reporter) {
	for _, file := range c.Scripts {
		named := map[*script.Job][]*lintJob{} // sections named as paths, by job file
		for _, j := range c.byFile[file] {
			if j.namedElsewhere() {
				named[j.src] = append(named[j.src], j)
			}
		}
		for _, jobs := range named {
			for _, j := range jobs {
				f := foundAt(file, max(j.own.Line, 1), 1, "[%s] works on %s in the current directory, not where "+
					"its name says.", j.own.Name, j.Filename)
				if len(jobs) == 1 {
					f.Severity = finding.Info
				}
				report(*f)
			}
		}
	}
}

// namedElsewhere says whether a section's name is a path, and its file is another one in the current folder.
func (j *lintJob) namedElsewhere() bool {
	return !j.src.Command && !j.partial && !j.tests() && j.measures() && strings.HasPrefix(j.own.Name, "/") &&
		!unknown(j.own.Name) && j.Filename != "" && !strings.ContainsAny(j.Filename, `/:\`) &&
		!j.given("directory") && !j.open("filename", "directory") && len(j.src.Passed) == 0
}
