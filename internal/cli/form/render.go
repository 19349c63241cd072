package form

import (
	"io/fs"
	"os"

	"golang.org/x/term"

	"plimsoll/internal/report/page"
	"plimsoll/internal/sys"
)

// Render prints a document in the format that was asked for.
func Render(env *Env, format string, d *page.Document) error {
	return page.Write(env.Out, page.Format(format), d, PageOptions(env))
}

// RenderWhole prints a document as text with its details: nobody consents to what a short screen
// leaves out.
func RenderWhole(env *Env, d *page.Document) error {
	o := PageOptions(env)
	o.Details = true
	return page.Write(env.Out, page.Text, d, o)
}

// PageOptions fits a document to the stream it goes to.
func PageOptions(env *Env) page.Options {
	o := page.Options{
		Width:   80,
		Rows:    120,
		Details: env.talk.Details,
	} // of a pipe: a row is a line that a filter finds, as far as possible
	if f, ok := FileOf(env.Out); ok && term.IsTerminal(int(f.Fd())) {
		o.Color = env.Colored()
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 40 {
			o.Width, o.Rows = w, w
		}
	}
	return o
}

// FileMode is that of the caller's own file which is replaced. What another user has put there does
// not decide who can write to the new one.
func FileMode(name string) fs.FileMode {
	if info, err := os.Lstat(name); err == nil && int(sys.Owner(info)) == os.Geteuid() && info.Mode().IsRegular() {
		return info.Mode().Perm()
	}
	return 0o644
}
