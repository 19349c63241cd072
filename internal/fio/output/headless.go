package output

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/foreign"
	"plimsoll/internal/fio/part"
)

var (
	rowPart   = regexp.MustCompile(`"(?:read|write|trim)"\s*:\s*\{\s*"io_bytes"`)
	listsRows = regexp.MustCompile(`"(?:jobs|client_stats)"\s*:\s*\[`)
	member    = regexp.MustCompile(`"([a-z_]+)"\s*:\s*("[^"\\\n]*")`)
)

// headless reads rows of fio's documents whose beginning was cut off, as of an excerpt, or that a program took out of
// their list. The text comes back without them.
func headless(text []byte) (outs []*fio.Output, rest []byte) {
	if len(text) > foreign.Limit || !bytes.Contains(text, []byte(`"io_bytes"`)) || listsRows.Match(text) {
		return nil, text
	}
	rest = bytes.Clone(text)
	from := 0
	for range maxRereads {
		at := rowPart.FindIndex(text[from:])
		if at == nil {
			break
		}
		start := from + at[0]
		head, options := rowHead(text[from:start])
		doc, cut := closed(slices.Concat(head, text[start:]))
		out, n, err := parseJSONPrefix(doc)
		if from = start + 1; err != nil {
			continue
		}
		if out.Missing.Add(part.AllJobs); cut { // others may have stood above
			endsWithin(out, doc)
		}
		if len(out.Jobs) == 0 {
			continue
		}
		if !bytes.HasPrefix(text[start:], []byte(`"read"`)) { // which fio prints first
			out.Missing.Add(part.AllSides)
			out.Missing.Side = "read"
		}
		out.Line = 1 + bytes.Count(text[:start], []byte{'\n'})
		if !options {
			out.Missing.Add(part.Head)
		}
		outs = append(outs, out)
		end := min(start+n-len(head), len(text))
		for i := start; i < end; i++ {
			if rest[i] != '\n' {
				rest[i] = ' '
			}
		}
		from = end
	}
	return outs, rest
}

// rowHead makes the beginning of a document of what stands above a direction: the row's name and, as far as they are
// there, its options; whole says that they all are.
func rowHead(above []byte) (head []byte, whole bool) {
	if at := bytes.LastIndex(above, []byte("```")); at >= 0 {
		above = above[at:]
	}
	whole = bytes.Contains(above, []byte(`"job options"`))
	options, name := map[string]json.RawMessage{}, []byte(`""`)
	for _, m := range member.FindAllSubmatch(above, -1) {
		if string(m[1]) == "jobname" {
			name = m[2]
			continue
		}
		options[string(m[1])] = m[2]
	}
	list, err := json.Marshal(options)
	if err != nil { // a string that is none of JSON's
		list = []byte("{}")
	}
	return slices.Concat([]byte(`{"jobs":[{"jobname":`), name, []byte(`,"job options":`), list, []byte(",")), whole
}
