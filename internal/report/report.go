// Package report renders a bundle: for a terminal, as Markdown, as one HTML file with charts, as
// JSON, CSV and JUnit XML. It measures and judges nothing. What a person reads goes through a view,
// in which every text from outside has lost its control characters; the formats differ only in how
// they lay a view out. The charts' script is built from web/ and committed below assets/.
package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/bundle"
)

// Format names a form of report.
type Format string

// The formats.
const (
	TTY      Format = "tty"
	Markdown Format = "md"
	HTML     Format = "html"
	JSON     Format = "json"
	CSV      Format = "csv"
	JUnit    Format = "junit"
)

// form is one format: its name and what writes it. Help, completion, errors and docs list from
// forms.
type form struct {
	name  Format
	write func(*bufio.Writer, *bundle.Bundle, Options) error
}

var forms = []form{
	{TTY, func(w *bufio.Writer, b *bundle.Bundle, o Options) error { writeTTY(w, newView(b), o); return nil }},
	{Markdown, func(w *bufio.Writer, b *bundle.Bundle, _ Options) error { writeMarkdown(w, newView(b)); return nil }},
	{HTML, func(w *bufio.Writer, b *bundle.Bundle, _ Options) error { return writeHTML(w, b) }},
	{JSON, func(w *bufio.Writer, b *bundle.Bundle, _ Options) error { return writeJSON(w, b) }},
	{CSV, func(w *bufio.Writer, b *bundle.Bundle, _ Options) error { return writeCSV(w, b) }},
	{JUnit, func(w *bufio.Writer, b *bundle.Bundle, _ Options) error { return writeJUnit(w, b) }},
}

// Formats names all formats; the first is for the terminal.
func Formats() []Format {
	var names []Format
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Names lists formats for help and errors: "tty, md, html".
func Names[T ~string](formats []T) string {
	var names []string
	for _, f := range formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// unknownFormat is the error for a format that is not in the list.
func unknownFormat[T ~string](name T, formats []T) error {
	return fmt.Errorf("unknown format %q: use one of %s", string(name), Names(formats))
}

// Options fit a report to where it goes. They concern TTY only.
type Options struct {
	Width int  // columns; 80 when 0
	Color bool // ANSI colours
	Brief bool // verdict, overview and findings, without a section a scenario
}

// Write renders b. It changes nothing in b.
func Write(w io.Writer, f Format, b *bundle.Bundle, o Options) error {
	for _, form := range forms {
		if form.name != f {
			continue
		}
		out := bufio.NewWriterSize(w, 64<<10)
		if err := form.write(out, b, o); err != nil {
			return fmt.Errorf("report as %s: %w", f, err)
		}
		return out.Flush()
	}
	return unknownFormat(f, Formats())
}
