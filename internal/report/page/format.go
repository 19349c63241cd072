package page

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Format names a form of a document.
type Format string

// The formats.
const (
	Text     Format = "text"
	Markdown Format = "md"
	HTML     Format = "html"
	JSON     Format = "json"
	CSV      Format = "csv"
	JUnit    Format = "junit"
	SARIF    Format = "sarif"
	GitHub   Format = "github"
)

// form is one format: its name and what writes it. Help, completion, errors and docs list from
// forms.
type form struct {
	name   Format
	write  func(*bufio.Writer, *Document, Options) error
	judges bool // only of documents that judge
}

// forms are all formats, of which the first is the default.
var forms = []form{
	{Text, writeText, false},
	{Markdown, writeMarkdown, false},
	{HTML, writeHTML, false},
	{JSON, writeJSON, false},
	{CSV, writeCSV, false},
	{JUnit, writeJUnit, true},
	{SARIF, writeSARIF, true},
	{GitHub, writeGitHub, true},
}

// PlainFormats names the formats of documents that judge nothing.
func PlainFormats() []Format { return namesOf(func(f form) bool { return !f.judges }) }

// Formats names all formats; the first is for the terminal.
func Formats() []Format { return namesOf(func(form) bool { return true }) }

func namesOf(wanted func(form) bool) (names []Format) {
	for _, f := range forms {
		if wanted(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// Names lists words for help and errors: "text, md, html".
func Names[T ~string](words []T) string {
	var names []string
	for _, f := range words {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Options fit a document to where it goes. They concern Text only.
type Options struct {
	Width   int  // columns; 80 when 0
	Rows    int  // columns that a table may have; Width when 0
	Color   bool // ANSI colours
	Details bool // also the blocks that are details
}

// Write renders d.
func Write(w io.Writer, f Format, d *Document, o Options) error {
	for _, form := range forms {
		if form.name != f {
			continue
		}
		clean(reflect.ValueOf(d), mostText)
		out := bufio.NewWriterSize(w, 64<<10)
		if err := form.write(out, d, o); err != nil {
			return fmt.Errorf("%s as %s: %w", d.Kind, f, err)
		}
		return out.Flush()
	}
	return UnknownFormat(f, Formats())
}

// UnknownFormat is the error for a format that is not in the list.
func UnknownFormat[T ~string](name T, formats []T) error {
	return fmt.Errorf("unknown format %q: use one of %s", string(name), Names(formats))
}
