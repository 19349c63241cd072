package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// sweepPage is a sweep or a search as people read it.
type sweepPage struct {
	Title string
	Says  []string // the answer, a sentence a line
	Rows  table
	Notes []string

	Charts  []chart
	drawing sweepDrawing
}

func (p *sweepPage) write(w io.Writer, f Format) error {
	out := bufio.NewWriter(w)
	switch f {
	case TTY:
		p.tty(out)
	case Markdown:
		p.markdown(out)
	case HTML:
		if err := p.html(out); err != nil {
			return err
		}
	case CSV, JSON, JUnit:
		fallthrough
	default:
		return unknownFormat(f, SweptFormats())
	}
	return out.Flush()
}

func (p *sweepPage) tty(out io.Writer) {
	fmt.Fprintln(out, p.Title)
	for _, s := range p.Says {
		fmt.Fprintln(out, "  "+s)
	}
	fmt.Fprintln(out)
	var right []int
	for i := range p.Rows.Head {
		if !slices.Contains(p.Rows.Text, i) {
			right = append(right, i)
		}
	}
	columns(out, append([][]string{p.Rows.Head}, p.Rows.Rows...), right...)
	for i, n := range p.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "note: "+n)
	}
}

func (p *sweepPage) markdown(out *bufio.Writer) {
	fmt.Fprintf(out, "# %s\n\n", md(p.Title))
	for _, s := range p.Says {
		fmt.Fprintf(out, "- %s\n", md(s))
	}
	fmt.Fprintln(out)
	mdTable(out, p.Rows)
	for _, n := range p.Notes {
		fmt.Fprintf(out, "\nNote: %s\n", md(n))
	}
}
