// Package output reads what fio wrote, from 2.0 on, in whatever form: JSON and JSON+, terse rows, logs
// and histogram logs; normal output by fio/text.
package output

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/foreign"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/fio/running"
	fiotext "plimsoll/internal/fio/text"
	"plimsoll/internal/text"
)

// maxReadJSON bounds what is held in memory at once of a JSON file.
const maxReadJSON = 1 << 30

// Read reads what fio wrote, in whatever form: JSON or JSON+ documents, one or many, with or
// without text around them; terse rows; normal output, also within Markdown or a log; by its name,
// one of fio's logs. What it could not understand is in the Unread of the outputs, and a document
// that stops in the middle gives what was complete in it. No output and no error means that there
// is nothing of fio's in data.
func Read(name string, data io.Reader) ([]*fio.Output, error) {
	outs, err := read(name, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return outs, nil
}

func read(name string, data io.Reader) ([]*fio.Output, error) {
	if m := logName.FindStringSubmatch(path.Base(name)); m != nil {
		out := &fio.Output{Format: fio.Logs, Jobs: []fio.Job{{Name: m[1]}}}
		known, err := readLog(data, path.Base(name), m[2], out, 0)
		if err != nil {
			return nil, err
		}
		settleLogJob(&out.Jobs[0])
		if !known {
			settleUnit(out, 0, "")
		}
		return []*fio.Output{out}, nil
	}
	head := make([]byte, 0, sizeHint(data))
	head, err := readUpTo(data, head, 1<<12)
	if err != nil {
		return nil, err
	}
	if order, mark := utf16Order(head); order != nil { // as PowerShell redirects it
		whole, err := readUpTo(data, head, maxReadJSON)
		if err != nil {
			return nil, err
		}
		return read(name, strings.NewReader(fromUTF16(whole[mark:], order)))
	}
	if isBinary(head) { // a serial console's noise may stand before the text
		if head, err = readUpTo(data, head, maxNoise); err != nil || !inNoise.Match(head) {
			return nil, err
		}
	}
	if isJobFile(head) {
		return nil, nil
	}
	if inPython.Match(head) {
		whole, err := readUpTo(data, head, maxReadJSON)
		if err != nil {
			return nil, err
		}
		return read(name, bytes.NewReader(unquoted(whole)))
	}
	if start := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))); len(start) == 0 || start[0] != '{' {
		return readText(head, data)
	}
	whole, err := readUpTo(data, head, maxReadJSON+1)
	if err != nil {
		return nil, err
	}
	if len(whole) > maxReadJSON {
		return nil, fmt.Errorf("larger than %d bytes", maxReadJSON)
	}
	outs, rest := readJSONs(bytes.TrimPrefix(whole, []byte("\ufeff")))
	if len(outs) > 0 && tooSmall(len(outs)+1, len(whole)-len(rest)) {
		refuseSmall(outs, 1+bytes.Count(whole[:len(whole)-len(rest)], []byte{'\n'}))
		return outs, nil
	}
	if len(rest) == 0 {
		return outs, nil
	}
	if rows, _ := headless(rest); len(outs) == 0 && len(rows) > 0 {
		return rows, nil
	}
	m := newMixed()
	m.outs, m.lines = outs, bytes.Count(whole[:len(whole)-len(rest)], []byte{'\n'})
	return m.read(bytes.NewReader(rest))
}

// inPython finds a document of fio's as Python prints it that was parsed.
var inPython = regexp.MustCompile(`'(?:fio version|jobname|clat_ns|iops_mean|lat_ns)': `)

// pythonWord is a word of Python's for one of JSON.
var pythonWord = regexp.MustCompile(`([:,\[] )(None|True|False)\b`)

// unquoted writes such a document as JSON.
func unquoted(text []byte) []byte {
	text = pythonWord.ReplaceAllFunc(bytes.ReplaceAll(text, []byte("'"), []byte(`"`)), bytes.ToLower)
	return bytes.ReplaceAll(text, []byte(" none"), []byte(" null"))
}

// readText reads a text that begins with head: fio's output in it, and what other programs measured.
func readText(head []byte, data io.Reader) ([]*fio.Output, error) {
	head, err := readUpTo(data, head, foreign.Limit)
	if err != nil {
		return nil, err
	}
	if len(head) < foreign.Limit {
		if names, texts := writers(head); len(names) > 0 {
			return apart(names, texts)
		}
		head = undressed(head)
	}
	others, rest := foreign.Read(head)
	rows, rest := headless(rest)
	others = append(others, rows...)
	outs, err := newMixed().read(io.MultiReader(bytes.NewReader(rest), data))
	others = slices.DeleteFunc(others, func(o *fio.Output) bool { return o.Summary && repeats(outs, &o.Jobs[0]) })
	all := slices.Concat(outs, others)
	if len(all) > 0 {
		stated := figure
		if len(others) == 0 {
			stated = ofFio
		}
		passedOver(all[len(all)-1], rest, outs, stated)
	}
	return all, err
}

// ofFio is a rate as fio prints it.
var ofFio = regexp.MustCompile(`\b(?:IOPS|iops|BW|bw|aggrb)= ?\d`)

// figure is what a line states that some program measured, or the head of iozone's.
var figure = regexp.MustCompile(`(?i)\d ?(?:[kmg]i?b?/s(?:ec)?|iops|ops/sec)\b|\breclen\b.*\bread\b`)

// passedOver says of lines beside results that state figures and were not read.
func passedOver(last *fio.Output, rest []byte, outs []*fio.Output, figure *regexp.Regexp) {
	if slices.ContainsFunc(outs, func(o *fio.Output) bool { return o.Line == 0 }) { // nobody knows where they stand
		return
	}
	var lines []string
	at := 0
	for line := range bytes.Lines(rest) {
		at++
		if figure.Match(line) && !slices.ContainsFunc(outs, func(o *fio.Output) bool { return at >= o.Line && at <= o.End }) {
			lines = append(lines, strconv.Itoa(at))
		}
	}
	if n := len(lines); n > 0 {
		last.Doubt("not read: %s of the text with other figures (%s %s)", text.Plural(n, "line"),
			map[bool]string{true: "line", false: "lines"}[n == 1], text.List(lines[:min(n, 5)]))
	}
}

// repeats says that a row of a summary is one of fio's that stand beside it, as far as the summary rounds.
func repeats(outs []*fio.Output, j *fio.Job) bool {
	const rounded = 0.02
	same := func(a, b float64) bool { return a > 0 && math.Abs(a-b) <= rounded*b }
	for _, o := range outs {
		for _, row := range o.Jobs {
			for side, d := range row.Directions() {
				s := j.Directions()[side]
				if same(float64(s.IOPS), float64(d.IOPS)) || same(float64(s.BW), float64(d.BW)) ||
					same(s.Clat.Mean, d.Completion().Mean) {
					return true
				}
			}
		}
	}
	return false
}

// isBinary says of the start of a file that it is no text, so that a directory with images and
// programs in it is read quickly.
func isBinary(head []byte) bool {
	return bytes.IndexByte(head, 0) >= 0 && !bytes.Contains(head, []byte("groupid=")) &&
		!bytes.Contains(head, []byte(`"fio version"`))
}

var (
	jobSection = regexp.MustCompile(`^\[[^\[\]]+\][ \t]*(?:[;#].*)?$`)
	jobOption  = regexp.MustCompile(
		`(?m)^[ \t]*(?:rw|readwrite|bs|blocksize|ioengine|iodepth|numjobs|direct|filename|directory|size|runtime|time_based)\b`,
	)
)

// isJobFile says that a file is a job file and no output: its comments may quote figures of fio.
func isJobFile(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' || line[0] == ';' {
			continue
		}
		return jobSection.Match(line) && jobOption.Match(head) && !bytes.Contains(head, []byte("(groupid=")) &&
			!bytes.Contains(head, []byte("fio-"))
	}
	return false
}

// maxNoise is how much of a file that begins as no text is looked through for fio's output.
const maxNoise = 4 << 20

// inNoise finds what fio prints and its own program does not hold.
var inNoise = regexp.MustCompile(`\(groupid=\d+, jobs=\d|"fio version"\s*:\s*"fio-`)

// utf16Order is the order of the bytes of UTF-16, and how long its mark is; nil for other text.
// Without a mark, every other byte of what fio prints is zero.
func utf16Order(head []byte) (order binary.ByteOrder, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return binary.LittleEndian, 2
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return binary.BigEndian, 2
	}
	zero, pairs := [2]int{}, min(len(head)/2, 256)
	for i := range 2 * pairs {
		if head[i] == 0 {
			zero[i%2]++
		}
	}
	switch {
	case pairs < 16:
	case zero[0] == 0 && zero[1] >= pairs*9/10:
		return binary.LittleEndian, 0
	case zero[1] == 0 && zero[0] >= pairs*9/10:
		return binary.BigEndian, 0
	}
	return nil, 0
}

func fromUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// sizeHint is how much to make room for: a file's size, so that thousands of small files cost one
// allocation each.
func sizeHint(r io.Reader) int {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return int(min(info.Size()+512, 64<<20))
		}
	}
	return 1 << 13
}

// readUpTo appends what r gives to b until b has n bytes or r ends.
func readUpTo(r io.Reader, b []byte, n int) ([]byte, error) {
	all := bytes.NewBuffer(b)
	_, err := all.ReadFrom(io.LimitReader(r, int64(n-len(b))))
	return all.Bytes(), err
}

// readJSONs reads documents one behind the other and returns what is not one.
func readJSONs(b []byte) (outs []*fio.Output, rest []byte) {
	whole := len(b)
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		if len(b) == 0 || b[0] != '{' || tooSmall(len(outs)+1, whole-len(b)) {
			return outs, b
		}
		out, n, err := parseJSONPrefix(b)
		if err != nil {
			return outs, b
		}
		outs = append(outs, out)
		b = b[n:]
	}
}

// refuseSmall notes that documents from a line on are too small to be fio's, and are not read.
func refuseSmall(outs []*fio.Output, line int) {
	unread(outs[len(outs)-1], line, "json documents",
		fmt.Sprintf("documents of less than %d bytes each are not fio's; these are not read", leastRow))
}

// mixedReader takes apart documents, terse rows and text.
type mixedReader struct {
	split *running.Splitter
	text  *fiotext.Reader
	outs  []*fio.Output
	terse *fio.Output
	// cutTerse says that a row of terse output is not whole.
	cutTerse bool
	rows     map[string]bool // of terse output that were read: the same again is a quote
	lines    int             // before what split was given
	depth    int             // of documents around this text
	again    int             // how often a brace that opened no document was found
	docs     int             // that were found, of so many bytes together; small where the rest is not read
	size     int
	small    bool
}

func newMixed() *mixedReader {
	m := &mixedReader{text: &fiotext.Reader{}, rows: map[string]bool{}}
	m.split = &running.Splitter{Doc: m.document, Text: m.line, Blanks: true}
	return m
}

func (m *mixedReader) read(r io.Reader) ([]*fio.Output, error) {
	if _, err := io.Copy(m.split, r); err != nil {
		return nil, err
	}
	m.text.Within = m.split.Within()
	tail := m.split.Unfinished()
	err := m.split.Close()
	if err != nil {
		m.broken(tail, err)
	}
	m.endText()
	for _, o := range m.outs {
		if o.Format == fio.Terse && (m.cutTerse || len(o.Unread) > 0) {
			o.Missing.Add(part.AllJobs, part.Ending)
		}
	}
	return withoutRests(joinForms(refuseTangled(m.outs, m.text.Tangles))), nil
}

// withoutRests leaves out the last lines of a row that a text begins with, where another row stands below them: no line
// of it names the row or has a figure.
func withoutRests(outs []*fio.Output) []*fio.Output {
	if len(outs) == 0 || outs[0].Format != fio.Text || len(outs[0].Jobs) == 0 {
		return outs
	}
	first := outs[0]
	j := &first.Jobs[0]
	figures := j.Mixed != nil || j.Sync.Lat.Mean > 0
	for _, d := range j.Directions() {
		figures = figures || d.BW > 0 || d.Completion().Mean > 0
	}
	switch {
	case figures || j.PID+j.Count > 0 || j.Runtime > 0:
		return outs
	case len(first.Jobs) > 1:
		first.Jobs = first.Jobs[1:]
	case len(outs) > 1 && len(first.Groups)+len(first.Disks)+len(first.Unread) == 0:
		outs = outs[1:]
	default:
		return outs
	}
	outs[0].Doubt("not read: the last lines of a row whose figures are cut off")
	return outs
}

// at is the number of the line at hand.
func (m *mixedReader) at() int { return m.lines + m.split.Lines() + 1 }

func (m *mixedReader) document(doc []byte) error {
	m.docs, m.size = m.docs+1, m.size+len(doc)
	if m.small = m.small || tooSmall(m.docs, m.size); m.small {
		if m.endText(); len(m.outs) > 0 && m.docs > 0 {
			refuseSmall(m.outs, m.at())
		}
		m.docs = -1 << 60 // which is said once
		return nil
	}
	out, err := ParseJSON(doc)
	if errors.Is(err, errNotFio) {
		m.endText()
		outs := insideJSON(doc, m.at(), m.depth)
		if m.outs = append(m.outs, outs...); len(outs) == 0 && !json.Valid(doc) {
			m.reread(doc)
		}
		return nil
	}
	if err != nil {
		m.broken(doc, err)
		return nil
	}
	m.endText()
	out.Messages = append(out.Messages, m.text.TakeMessages()...)
	if n := len(m.outs); n > 0 && bare(m.outs[n-1]) { // progress lines that were caught with the document
		before := m.outs[n-1]
		out.Servers = before.Servers
		out.Progress, out.Paced, out.Messages = before.Progress, before.Paced, append(before.Messages, out.Messages...)
		m.outs = m.outs[:n-1]
	}
	m.outs = append(m.outs, out)
	return nil
}

// bare says that text has progress lines and messages of a run, and none of its figures.
func bare(o *fio.Output) bool {
	return o.Format == fio.Text && len(o.Jobs)+len(o.Groups)+len(o.Disks)+len(o.Unread) == 0 && o.AllClients == nil
}

// maxNested is how deep fio's output may be wrapped in other JSON, as Ansible's results within a
// collector's are.
const maxNested = 4

// insideJSON finds what fio wrote within someone else's document at a line: fio's own documents as
// values, and its text in strings or lists of strings.
func insideJSON(doc []byte, line, depth int) (outs []*fio.Output) {
	if depth >= maxNested {
		return nil
	}
	for rest, failed := doc, 0; failed < maxRereads && !tooSmall(len(outs), len(doc)-len(rest)); {
		at := bytes.Index(rest, []byte(`"fio version"`))
		if at < 0 {
			break
		}
		from := bytes.LastIndexByte(rest[:at], '{')
		if from >= 0 && len(bytes.TrimSpace(rest[from+1:at])) == 0 {
			if out, n, err := parseJSONPrefix(rest[from:]); err == nil {
				outs, rest = append(outs, out), rest[from+n:]
				continue
			}
			failed++
		}
		rest = rest[at+len(`"fio version"`):]
	}
	if len(outs) > 0 || !bytes.Contains(doc, []byte("fio")) && !bytes.Contains(doc, []byte("(groupid=")) {
		return outs
	}
	var text strings.Builder
	tokens := json.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := tokens.Token()
		if err != nil { // its end, or not JSON
			break
		}
		if s, ok := token.(string); ok {
			text.WriteString(s)
			text.WriteByte('\n')
		}
	}
	inner := newMixed()
	inner.depth, inner.lines = depth+1, line-1
	found, err := inner.read(strings.NewReader(text.String()))
	if err != nil {
		return outs
	}
	for _, o := range found {
		if len(o.Jobs)+len(o.Groups) > 0 {
			outs = append(outs, o)
		}
	}
	return outs
}

// broken keeps what a document that is not whole holds. Other people's JSON is passed over.
func (m *mixedReader) broken(doc []byte, err error) {
	ended, _ := closed(doc)
	out, _, partial := parseJSONPrefix(ended)
	if out == nil && !versionFirst.Match(doc) {
		m.reread(doc)
		return
	}
	m.endText()
	if out == nil {
		out = &fio.Output{Format: fio.JSON}
	}
	if partial != nil {
		err = errors.Join(err, partial)
	}
	endsWithin(out, doc)
	if n := len(m.outs); n > 0 && len(out.Jobs) == 0 { // a stream of documents that was cut off
		out = m.outs[n-1]
	} else {
		m.outs = append(m.outs, out)
	}
	unread(out, m.at(), "a json document", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// unread notes what of a line was not understood.
func unread(out *fio.Output, line int, text, why string) {
	out.Unread = append(out.Unread, fio.Unread{Line: line, Text: text, Why: why})
}

// endsWithin notes what a document lacks that breaks off.
func endsWithin(out *fio.Output, doc []byte) {
	if out.Missing.Add(part.Ending); bytes.Contains(doc, []byte(`"disk_util"`)) {
		out.Disks = nil // the last of them are not there, or not whole
		out.Missing.Add(part.DiskStats)
		return
	}
	if len(out.Jobs) == 0 {
		return
	}
	last := &out.Jobs[len(out.Jobs)-1]
	if last.IOs() == 0 && last.Mixed == nil && last.Error == 0 { // its figures come later
		out.Jobs = out.Jobs[:len(out.Jobs)-1]
	}
	rw := last.Options["rw"] + out.Global["rw"]
	row := doc[max(bytes.LastIndex(doc, []byte(`"jobname"`)), 0):] // trims stand behind writes in it
	if out.Missing.Add(part.AllJobs); (rw == "" || strings.Contains(rw, "rw")) && !bytes.Contains(row, []byte(`"trim"`)) {
		out.Missing.Add(part.AllSides)
		out.Missing.Side = "write"
	}
}

// versionFirst is how a document of fio's begins.
var versionFirst = regexp.MustCompile(`^\{?[ \t\r\n]*"fio version"`)

// maxRereads bounds how often a text is read again behind a brace that was never closed.
const maxRereads = 64

// fioBegins finds the line where fio's output begins in text that a brace swallowed.
var fioBegins = regexp.MustCompile(
	`(?m)^[^\n]*(?:\(groupid=\d|\(g=\d+\): rw=|IOPS=|iops=)|\{\s*"fio version"|^\s*fio-\d`,
)

// reread reads the text behind a brace that opened no document, as of a snippet that somebody cut
// off: from where fio's output begins in it.
func (m *mixedReader) reread(doc []byte) {
	at := fioBegins.FindIndex(doc[min(1, len(doc)):])
	if m.again++; at == nil || m.again > maxRereads || m.small {
		return
	}
	from := 1 + at[0]
	text := bytes.Clone(doc[from:])
	outer, lines := m.split, m.lines
	m.lines = m.at() - 1 + bytes.Count(doc[:from], []byte{'\n'})
	m.split = &running.Splitter{Doc: m.document, Text: m.line, Blanks: true}
	_, err := m.split.Write(text)
	tail := m.split.Unfinished()
	if err = errors.Join(err, m.split.Close()); err != nil {
		m.broken(tail, err)
	}
	m.split, m.lines = outer, lines
}

func (m *mixedReader) line(line string) {
	row := terseRow(line)
	switch {
	case row != "":
		m.takeText()
		m.row(row)
		return
	case m.terse != nil && strings.HasPrefix(line, ";") && len(m.terse.Jobs) > 0: // version 2's description
		j := &m.terse.Jobs[len(m.terse.Jobs)-1]
		if j.Options == nil {
			j.Options = fio.Options{"description": line[1:]}
		}
		return
	case m.terse != nil && terseLine.MatchString(line): // the beginning of another row
		m.terse.Missing.Add(part.AllJobs)
	case strings.Count(line, ";") >= terseMin/4: // a part of a row
		m.cutTerse = true
	case m.terse != nil && line != "":
		m.terse = nil
	}
	m.text.Line(m.at(), line)
}

func (m *mixedReader) row(line string) {
	if m.rows[line] {
		return
	}
	m.rows[line] = true
	row, err := parseTerse(line)
	if m.terse == nil || row.version != m.terse.Version && m.terse.Version != "" {
		m.terse = &fio.Output{Format: fio.Terse, Version: row.version}
		m.outs = append(m.outs, m.terse)
	}
	if err != nil {
		unread(m.terse, m.at(), line[:min(len(line), 200)], err.Error())
		return
	}
	if row.job.Name == "All clients" {
		m.terse.AllClients = &row.job
		return
	}
	if row.open && len(row.disks) < len(m.terse.Disks) { // it was cut off within their names
		row.lacks.Add(part.AllJobs)
	}
	if len(row.lacks.Parts) > 0 {
		m.terse.Missing = row.lacks
	} else {
		m.terse.Disks = row.disks // each row repeats them
	}
	m.terse.Jobs = append(m.terse.Jobs, row.job)
}

func (m *mixedReader) endText() {
	m.takeText()
	m.terse = nil
}

func (m *mixedReader) takeText() {
	m.text.Finish()
	m.outs = append(m.outs, m.text.Take()...)
}

// joinForms makes one of a run that was printed in several forms (--output-format=json,normal or
// terse,json). The form with the most digits stays: the document, else the text; the text has the
// status groups.
func joinForms(outs []*fio.Output) (kept []*fio.Output) {
	begin := map[firstRow][]*fio.Output{} // those with the same first row, which alone can be one run
	for _, o := range outs {
		begin[rowOf(o)] = append(begin[rowOf(o)], o)
	}
	for _, list := range begin { // the most exact first, so that a search ends where none is more exact
		slices.SortStableFunc(list, func(a, b *fio.Output) int { return exact(b) - exact(a) })
	}
	for _, o := range outs {
		same := begin[rowOf(o)]
		at := slices.IndexFunc(same, func(x *fio.Output) bool { return exact(x) <= exact(o) || sameRun(x, o) })
		x := same[at] // o itself, if no other
		if exact(x) <= exact(o) {
			kept = append(kept, o)
			continue
		}
		for i, j := range o.Jobs { // rows that are not there, or nothing of them, where one form was cut
			if i == len(x.Jobs) {
				x.Jobs = append(x.Jobs, j)
			} else if empty(&x.Jobs[i]) {
				x.Jobs[i] = j
			}
		}
		if len(x.Disks) == 0 {
			x.Disks = o.Disks
		}
		x.Groups, x.Unread = append(x.Groups, o.Groups...), append(x.Unread, o.Unread...)
		x.Messages, x.Doubts = append(x.Messages, o.Messages...), append(x.Doubts, o.Doubts...)
		if x.Command == "" {
			x.Command, x.Title = o.Command, o.Title
		}
	}
	return kept
}

// firstRow is what two forms of one run have in common of it.
type firstRow struct {
	name        string
	group       int
	read, write time.Duration
}

func rowOf(o *fio.Output) firstRow {
	if len(o.Jobs) == 0 {
		return firstRow{}
	}
	j := &o.Jobs[0]
	return firstRow{j.Name, j.Group, j.Read.Runtime, j.Write.Runtime}
}

// exact ranks the forms by the digits that they print.
func exact(o *fio.Output) int {
	switch o.Format {
	case fio.JSON, fio.JSONPlus:
		return 2
	case fio.Text:
		return 1
	default:
		return 0
	}
}

// empty says that of a row no more is there than its name.
func empty(j *fio.Job) bool { return j.Runtime == 0 && j.IOs() == 0 && j.Error == 0 }

// sameRun compares rows by what both forms print exactly, as many as both have: one may be cut. Terse rows count no
// I/Os and name no group.
func sameRun(a, b *fio.Output) bool {
	if b.Format == fio.Logs {
		return false
	}
	rows := min(len(a.Jobs), len(b.Jobs))
	return rows > 0 && slices.EqualFunc(a.Jobs[:rows], b.Jobs[:rows], func(x, y fio.Job) bool {
		counts := b.Format == fio.Terse || x.Read.N == y.Read.N && x.Write.N == y.Write.N && x.Runtime == y.Runtime
		return x.Name == y.Name && x.Group == y.Group && (empty(&x) || empty(&y) || counts &&
			x.Read.Runtime == y.Read.Runtime && x.Write.Runtime == y.Write.Runtime &&
			x.CPU.ContextSwitches == y.CPU.ContextSwitches && x.CPU.MinorFaults == y.CPU.MinorFaults)
	})
}

// Final leaves out the outputs that a later one of the same run holds already: with
// --status-interval fio prints its cumulative figures again and again. The number left out is
// returned.
func Final(outs []*fio.Output) (final []*fio.Output, left int) {
	for i, o := range outs {
		if i+1 < len(outs) && continues(o, outs[i+1]) {
			left++
			continue
		}
		final = append(final, o)
	}
	return final, left
}

// continues says whether b is a later state of a: the same rows, none of which lost I/Os, of the
// same processes or, in documents, started at the same time.
func continues(a, b *fio.Output) bool {
	if len(a.Jobs) == 0 || len(b.Jobs) < len(a.Jobs) || a.Version != b.Version {
		return false
	}
	return slices.EqualFunc(a.Jobs, b.Jobs[:len(a.Jobs)], func(x, y fio.Job) bool {
		began := a.Time.Add(-x.Elapsed).Sub(b.Time.Add(-y.Elapsed)).Abs().Seconds()
		sameStart := x.PID != 0 && x.PID == y.PID || x.PID == 0 && !a.Time.IsZero() && began <= 2
		return x.Name == y.Name && x.Group == y.Group && x.Host == y.Host && sameStart && x.Elapsed <= y.Elapsed &&
			x.Read.N <= y.Read.N && x.Write.N <= y.Write.N
	})
}
