package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// Schema is the version of every JSON document that plimsoll prints. docs/schema has a schema for each;
// fields may be added within a version.
const Schema = 3

// Data is what a document says to programs: a value under the document's name, which is that of its
// schema. A list becomes the field of that name.
type Data struct {
	Name  string
	Value any
	// Dense leaves out indentation, which puts each number of long lists on a line.
	Dense bool
}

// Answer is the headline of a document to programs: under the one path "headline" of all of them.
type Answer struct {
	Answer string // the first line of the report
	// Verdict is pass, warn, fail, invalid or measured; empty where nothing is judged.
	Verdict string
	// Value is the main figure, null where the document has none or it must not be trusted; Of says whose
	// it is (a scenario, a side, a layout), Name what it is, and Unit what names of fields end with.
	Value *float64
	Unit  string `json:"unit,omitempty"`
	Name  string `json:"name,omitempty"`
	Of    string `json:"of,omitempty"`
}

// answer is what the head of a document says to programs.
func (d *Document) answer() Answer {
	a := Answer{Answer: d.Head.first(), Verdict: d.Head.Tone}
	if m := d.Head.Main; m != nil && !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
		a.Value, a.Unit, a.Name, a.Of = &m.Value, m.Unit, m.Name, m.Of
	}
	return a
}

// writeJSON prints the document's data as one object, with its schema's version and name and the headline
// first.
func writeJSON(w *bufio.Writer, d *Document, _ Options) error {
	head, err := Marshal(d.answer())
	if err != nil {
		return err
	}
	body, err := Marshal(d.Data.Value)
	if err != nil {
		return err
	}
	if fields := string(body); fields == "null" { // an empty list
		body = fmt.Appendf(nil, "{%q:[]}", d.Data.Name)
	} else if body[0] != '{' {
		body = fmt.Appendf(nil, "{%q:%s}", d.Data.Name, body)
	}
	fields := strings.TrimSuffix(","+string(body[1:]), ",}")
	if fields == "" {
		fields = "}"
	}
	whole := json.RawMessage(fmt.Sprintf(`{"schema_version":%d,"document":%q,"headline":%s%s`, Schema, d.Data.Name, head,
		fields))
	if d.Data.Dense {
		return json.NewEncoder(w).Encode(whole)
	}
	return encode(w, whole)
}

// encode prints v indented.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Line prints one value of a stream of them, on a line of its own.
func Line(w io.Writer, v any) error {
	body, err := Marshal(v)
	if err == nil {
		_, err = w.Write(append(body, '\n'))
	}
	return err
}
