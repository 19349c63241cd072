package report

import "io"

// Lines prints sentences as paragraphs.
func Lines(w io.Writer, lines []string, o Options) error {
	t := newTerminal(w, o)
	for _, l := range lines {
		t.para("", plain, l)
	}
	return t.out.Flush()
}
