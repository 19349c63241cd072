package output

import (
	"bytes"
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
)

// Several programs that print at once share a terminal or a log. Where each of their lines says whose it is
// they are read apart; where none does, no figure can be given to its run, and none is.

// whose finds who wrote a line: docker compose, kubectl, a journal, pdsh.
var whose = []*regexp.Regexp{
	regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d[T ][\d:.,]+Z? )?([\w./-]+) +\| ?`),
	regexp.MustCompile(`^(\[[\w-]*/[^\]]*\]) ?`),
	regexp.MustCompile(`^[A-Z][a-z]{2} +\d+ [\d:]{8} (\S+ [^\s:]+): ?`),
	regexp.MustCompile(`^([\w.-]+): ?`),
	regexp.MustCompile(`^([^\s:=|(]*[./][^\s:=|(]*):(?:\d+:)?`), // grep, also of one file
}

// notWho are words that begin lines of fio's own.
var notWho = regexp.MustCompile(`^(?i:read|write|trim|mixed|fio|cpu|iops)$`)

// marks stand before each line of what a logger, a mail or a program like ts passed on.
var marks = append([]*regexp.Regexp{
	regexp.MustCompile(`^(?:> ?)+`),
	regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? ?`),
}, whose...)

var ansi = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// undressed takes off fio's documents what terminals, web pages, mails and loggers put around their lines; of text the
// reader of lines does it.
func undressed(text []byte) []byte {
	at := bytes.Index(text, []byte("fio version"))
	if at < 0 {
		return text
	}
	if bytes.IndexByte(text, 0x1b) >= 0 {
		text = ansi.ReplaceAll(text, nil)
	}
	if bytes.Contains(text, []byte("&quot;fio version")) {
		text = []byte(html.UnescapeString(string(text)))
	}
	for range 3 {
		at = bytes.Index(text, []byte("fio version"))
		line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
		k := slices.IndexFunc(marks, func(mark *regexp.Regexp) bool { return mark.Match(line) })
		if k < 0 {
			break
		}
		var bare bytes.Buffer
		for l := range bytes.Lines(text) {
			bare.Write(l[len(marks[k].Find(l)):])
		}
		text = bare.Bytes()
	}
	return text
}

const (
	mostWriters = 64
	fewestLines = 5 // of each
)

// writers takes a text apart by who wrote its lines; nil where it is one's, or where not all say so. The
// lines of the others stay, empty, so that each has its number.
func writers(text []byte) (names []string, texts map[string][]byte) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for k, form := range whose {
		of, count := make([]string, len(lines)), map[string]int{}
		for i, l := range lines {
			m := form.FindSubmatch(l)
			if m == nil && len(bytes.TrimSpace(l)) > 0 || m != nil && notWho.Match(m[1]) {
				count = nil
				break
			}
			if m != nil {
				of[i] = string(m[1])
				count[of[i]]++
			}
		}
		if alone := k == len(whose)-1; len(count) < 2 && (!alone || len(count) != 1) || len(count) > mostWriters {
			continue
		}
		texts = map[string][]byte{}
		for name, n := range count {
			var own bytes.Buffer
			for i, l := range lines {
				if of[i] == name {
					own.Write(form.ReplaceAll(l, nil))
				} else {
					own.WriteByte('\n')
				}
			}
			names, texts[name] = append(names, name), own.Bytes()
			if n < fewestLines && !terseLine.Match(bytes.TrimSpace(own.Bytes())) { // a row of it is a line
				texts = nil
				break
			}
		}
		if texts != nil {
			slices.Sort(names)
			return names, texts
		}
		names = nil
	}
	return nil, nil
}

// apart reads the text of each writer for itself.
func apart(names []string, texts map[string][]byte) (outs []*fio.Output, err error) {
	for _, who := range names {
		some, err := newMixed().read(bytes.NewReader(texts[who]))
		if err != nil {
			return nil, err
		}
		for _, o := range some {
			o.Title = cmp.Or(o.Title, strings.Trim(who, "[]"))
		}
		outs = append(outs, some...)
	}
	return outs, nil
}

// nextTo is how many lines may lie between outputs that stand together.
const nextTo = 3

// refuseTangled takes out the outputs around lines that cannot be of one run, and says so.
func refuseTangled(outs []*fio.Output, tangles []int) (kept []*fio.Output) {
	if len(tangles) == 0 {
		return outs
	}
	byLine := slices.SortedFunc(slices.Values(outs), func(a, b *fio.Output) int { return a.Line - b.Line })
	for len(byLine) > 0 {
		from, end, n := byLine[0].Line, byLine[0].End, 1
		for n < len(byLine) && byLine[n].Line <= end+nextTo {
			end = max(end, byLine[n].End)
			n++
		}
		if slices.ContainsFunc(tangles, func(at int) bool { return at >= from-nextTo && at <= end+nextTo }) {
			kept = append(kept, &fio.Output{Format: fio.Text, Line: from, End: end, Unread: []fio.Unread{{
				Line: from, Text: "several outputs, interleaved line by line",
				Why: "it is not known which figure belongs to which run: give each run its own file, or prefix each of its lines",
			}}})
		} else {
			kept = append(kept, byLine[:n]...)
		}
		byLine = byLine[n:]
	}
	return kept
}
