// Package report renders a bundle: for a terminal, as Markdown, as one HTML file with charts, as JSON, CSV and JUnit XML.
// It measures and judges nothing. What a person reads goes through a view, in which every text from outside has lost its
// control characters; the formats differ only in how they lay a view out. The charts' script is built from web/ and committed
// below assets/.
package report

import (
	"bufio"
	"fmt"
	"io"

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

// Formats are all formats.
var Formats = []Format{TTY, Markdown, HTML, JSON, CSV, JUnit}

// Options fit a report to where it goes. They concern TTY only.
type Options struct {
	Width int  // columns; 80 when 0
	Color bool // ANSI colours
	Brief bool // verdict, overview and findings, without a section a scenario
}

// Write renders b. It changes nothing in b.
func Write(w io.Writer, f Format, b *bundle.Bundle, o Options) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch f {
	case TTY:
		writeTTY(out, newView(b), o)
	case Markdown:
		writeMarkdown(out, newView(b))
	case HTML:
		err = writeHTML(out, b)
	case JSON:
		err = writeJSON(out, b)
	case CSV:
		err = writeCSV(out, b)
	case JUnit:
		err = writeJUnit(out, b)
	default:
		return fmt.Errorf("report format %q is not known: want tty, md, html, json, csv or junit", string(f))
	}
	if err != nil {
		return fmt.Errorf("report as %s: %w", f, err)
	}
	return out.Flush()
}
