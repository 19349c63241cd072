package bundle

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
)

// Document is the text around results: an article, notes, a terminal session. It quotes the jobs
// that were measured and names the machines they ran on.
type Document struct {
	jobs  []script.Job // by their lines
	named []mention
	lines []string
	// stated are volumes that the text states, arrays those that its commands build.
	stated []stated
	arrays []*script.Array
	claims []claim
	mounts []*script.Mount
	called map[string][]mention // the types of volumes by device, as the text gives them
	types  []mention            // where it names one type of volume, of each the first
	memory []int                // the lines that speak of a disk in memory

	byName  map[string][]int // places in jobs that have a job of the name
	notBare []int            // places in jobs that have a job at all
	heads   []int            // the lines of headings of sections
	files   []*fio.JobFile   // that it quotes, without commands
}

// mention is a type of instance or volume that the text names.
type mention struct {
	line int
	typ  string
}

// instanceType finds the names of EC2 instance types, however they are written: C6a.xlarge,
// **m5.12xlarge**.
var instanceType = regexp.MustCompile(
	`(?i)\b[a-z][a-z0-9-]{0,14}\.(?:nano|micro|small|medium|large|[0-9]{0,3}xlarge|metal(?:-[0-9]+xl)?)\b`,
)

// ReadDocument finds the jobs and the machines in a text. Variables that it sets (NUM_JOBS=16 fio
// nvme1.fio) are filled into the jobs that it quotes; env gives others and may be nil.
func ReadDocument(name string, data []byte, env func(string) (string, bool)) *Document {
	d := &Document{lines: strings.Split(string(data), "\n"), called: map[string][]mention{}}
	data = fromWindows(data)
	file := script.Parse(name, data, script.Options{Env: env})
	if len(file.Jobs) == 0 { // whatever its ending, it holds fio's output and more: prose with quotes in it
		file = script.Parse(name+".md", data, script.Options{Env: env})
	}
	d.jobs, d.stated = file.Jobs, storageIn(d.lines)
	storage := script.StorageOf(file)
	d.arrays, d.mounts = storage.Built[:min(len(storage.Built), mostStated)], storage.Mounts
	d.claims = claims(d.lines)
	if !slices.ContainsFunc(d.jobs, func(j script.Job) bool { return !j.Command }) {
		d.jobs = append(d.jobs, barePages(d.lines)...)
		slices.SortStableFunc(d.jobs, func(a, b script.Job) int { return cmp.Compare(a.Line, b.Line) })
	}
	d.index()
	known := map[string]bool{}
	for i, line := range d.lines {
		d.callVolumes(i, line)
		if memoryDisk.MatchString(line) && !bootDisk.MatchString(line) {
			d.memory = append(d.memory, i+1)
		}
		if !strings.Contains(line, ".") {
			continue
		}
		for _, found := range instanceType.FindAllString(line, -1) {
			typ := strings.ToLower(found)
			is, looked := known[typ]
			if !looked && len(known) < mostTypes {
				_, is = cloud.InstanceLimits(typ)
				known[typ] = is
			}
			if is {
				d.named = append(d.named, mention{i + 1, typ})
			}
		}
	}
	return d
}

// mostTypes is how many words of a document that look like types of machines are looked up: each reads the
// catalogue.
const mostTypes = 500

// headline is the heading of a section in Markdown. One # is a comment in a shell's quotes as well.
var headline = regexp.MustCompile(`^#{2,6}[ \t]`)

// index notes where the jobs of each name stand.
func (d *Document) index() {
	d.byName = map[string][]int{}
	for at, j := range d.jobs {
		jobs := false
		for _, section := range j.File.EachJob() {
			jobs = true
			if list := d.byName[section.Name]; len(list) == 0 || list[len(list)-1] != at {
				d.byName[section.Name] = append(list, at)
			}
		}
		if jobs && !j.Command {
			d.files = append(d.files, j.File)
		}
		if jobs {
			d.notBare = append(d.notBare, at)
		}
	}
	for i, line := range d.lines {
		if headline.MatchString(line) {
			d.heads = append(d.heads, i+1)
		}
	}
}

// last is the last of places in jobs that begins above a line or in it, -1 for none. Line 0 is below all.
func (d *Document) last(places []int, line int) int {
	n := len(places)
	if line > 0 {
		n, _ = slices.BinarySearchFunc(places, line+1, func(at, line int) int { return cmp.Compare(d.jobs[at].Line, line) })
	}
	if n == 0 {
		return -1
	}
	return places[n-1]
}

// jobSection and jobLine are lines of a job file.
var (
	jobSection = regexp.MustCompile(`^\s*\[[^\[\]:]+\]\s*$`)
	jobLine    = regexp.MustCompile(`^\s*(?:[a-z][a-z_0-9]*\s*(?:=.*)?)?\s*$|^\s*[#;]`)
)

// leastOptions is how many lines of options make a page of sections a job file.
const leastOptions = 2

// barePages are job files that stand in a text without any mark, as scripts print them into their
// logs before they start fio: from a section to the first line that no job file has.
func barePages(lines []string) (jobs []script.Job) {
	for i := 0; i < len(lines); i++ {
		if !jobSection.MatchString(lines[i]) {
			continue
		}
		end, options := i+1, 0
		for end < len(lines) && (jobSection.MatchString(lines[end]) || jobLine.MatchString(lines[end])) {
			if strings.Contains(lines[end], "=") {
				options++
			}
			end++
		}
		if options >= leastOptions {
			for _, j := range script.Parse("quoted.fio", []byte(strings.Join(lines[i:end], "\n")), script.Options{}).Jobs {
				j.Line += i
				jobs = append(jobs, j)
			}
		}
		i = end - 1
	}
	return jobs
}

// windowsFio is a command of Windows' shell, caretEnd how that goes on in the next line.
var (
	windowsFio = regexp.MustCompile(`(?im)^(?:[A-Z]:\\[^>\n]*>\s*fio(?:\.exe)?|(?:[\w.:-]*\\)*fio\.exe)\s+-`)
	caretEnd   = regexp.MustCompile(`(?m)\^([ \t]*\r?)$`)
)

// fromWindows writes commands of Windows' shell as those of Unix, each line in its place.
func fromWindows(data []byte) []byte {
	if !bytes.Contains(data, []byte(`:\`)) && !bytes.Contains(bytes.ToLower(data), []byte("fio.exe")) ||
		!windowsFio.Match(data) {
		return data
	}
	return windowsFio.ReplaceAll(caretEnd.ReplaceAll(data, []byte(`\$1`)), []byte("fio -"))
}

// instance is the instance type that a result belongs to: the one that is named last above it. line
// is 0 when the text names none.
func (d *Document) instance(o *fio.Output) (typ string, line int) {
	for _, m := range d.named {
		if o.Line > 0 && m.line > o.Line {
			break
		}
		typ, line = m.typ, m.line
	}
	if o.Line == 0 { // where the result stands is not known: only a type that is named alone can be meant
		for _, m := range d.named {
			if m.typ != typ {
				return "", 0
			}
		}
	}
	return typ, line
}

// job is the job file or command that a result belongs to: of those that have a job of its name the
// last above it, else the only job file that the text quotes; nil where that is not certain.
func (d *Document) job(o *fio.Output) *fio.JobFile {
	if o.Table {
		return d.above(o.Line)
	}
	last := -1
	for i := range o.Jobs {
		last = max(last, d.last(d.byName[o.Jobs[i].Name], o.Line))
	}
	switch {
	case last >= 0:
		return d.jobs[last].File
	case len(d.files) == 1:
		return d.files[0]
	}
	return nil
}

// above is the last job above a line and below the heading of its section: the one whose figures someone
// wrote into a table. nil for none.
func (d *Document) above(line int) *fio.JobFile {
	at := d.last(d.notBare, line)
	head, _ := slices.BinarySearch(d.heads, line)
	if at < 0 || head > 0 && d.jobs[at].Line < d.heads[head-1] {
		return nil
	}
	return d.jobs[at].File
}

// callVolumes notes the types of volumes that a line names, and of which device ("`nvme1n1` corresponds to the
// faster `io2` block device"): the first one behind the device's name, and before another device is named.
func (d *Document) callVolumes(i int, line string) {
	// A line with several compares them.
	if all := volumesInText().typ.FindAllString(line, -1); len(all) == 1 &&
		!slices.ContainsFunc(d.types, func(m mention) bool { return m.typ == all[0] }) {
		d.types = append(d.types, mention{i + 1, all[0]})
	}
	devices := deviceName.FindAllStringIndex(line, -1)
	for at, device := range devices {
		end := min(device[1]+nearBehind, len(line))
		if at+1 < len(devices) {
			end = min(end, devices[at+1][0])
		}
		name := line[device[0]:device[1]]
		if typ := volumesInText().typ.FindString(line[device[1]:end]); typ != "" && len(d.called[name]) < mostStated {
			d.called[name] = append(d.called[name], mention{i + 1, typ})
		}
	}
}

// nearBehind is how many characters behind a device's name its type may begin and end.
const nearBehind = 100

var deviceName = regexp.MustCompile(`\b(?:nvme[0-9]+n[0-9]+|xvd[a-z]+|[sv]d[a-z]+|md[0-9]+)\b`)

// volume is the type that the text outside of a result gives its device.
func (d *Document) volume(o *fio.Output) (typ string, line int) {
	for _, disk := range o.Disks {
		for _, m := range d.called[disk.Name] {
			if m.line < o.Line || m.line > o.End {
				return m.typ, m.line
			}
		}
	}
	return "", 0
}

// otherwise is another generation of a type that the text names and gives to no device: io1 beside io2.
func (d *Document) otherwise(typ string) (other mention, ok bool) {
	generation := func(of string) string { return strings.TrimRight(of, "0123456789") }
	for _, m := range d.types {
		given := m.typ == typ || generation(m.typ) != generation(typ)
		for _, all := range d.called {
			given = given || slices.ContainsFunc(all, func(c mention) bool { return c.typ == m.typ })
		}
		if !given {
			return m, true
		}
	}
	return mention{}, false
}

// memoryDisk is a disk that is memory, as people write of it; tables of mounts list tmpfs, too, and what a kernel boots
// from is called a RAM disk.
var (
	memoryDisk = regexp.MustCompile(
		`(?i)\b(?:ram[- ]?dis[ck]s?|\w+ramdisk|(?:on|over|in) (?:a )?(?:tmpfs|ramfs)|` +
			`ram (?:loop(?:back)? )?(?:device|disk|drive)s?)\b`,
	)
	bootDisk = regexp.MustCompile(`(?i)\binit(?:ial|rd|ramfs)`)
)

// inMemory is the line of the text that speaks of a disk in memory: of a text with one result any outside of it, of
// several the nearest before it and behind the one before.
func (d *Document) inMemory(o *fio.Output, after int, alone bool) int {
	i, _ := slices.BinarySearch(d.memory, o.Line)
	if i > 0 && d.memory[i-1] > after {
		return d.memory[i-1]
	}
	if j, _ := slices.BinarySearch(d.memory, o.End+1); alone && j < len(d.memory) {
		return d.memory[j]
	}
	return 0
}

// mounted says where the text mounts another device at the folder of a job than fio's disk lines are of.
func (d *Document) mounted(o *fio.Output, loads []fio.Workload) (doubt string) {
	for _, w := range loads {
		for _, m := range d.mounts {
			device := path.Base(m.Device)
			if !m.Above(cmp.Or(w.Directory, w.Filename)) {
				continue
			}
			if slices.ContainsFunc(o.Disks, func(k fio.Disk) bool { return strings.HasPrefix(device, k.Name) }) {
				return ""
			}
			if len(o.Disks) > 0 && deviceName.MatchString(device) && deviceName.MatchString(o.Disks[0].Name) {
				doubt = fmt.Sprintf("the text mounts %s on %s (line %d), and fio's disk statistics list %s: the names come from "+
					"another machine or another boot", device, m.Point, m.Line, o.Disks[0].Name)
			}
		}
	}
	return doubt
}

// inText is the origin of what a text says.
func inText(line int) string { return fmt.Sprintf("named in the text, line %d", line) }
