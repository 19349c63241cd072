package cli

import (
	"plimsoll/internal/report/page"
)

// render prints a document in the format that was asked for.
func render(env *Env, format string, d *page.Document) error {
	return page.Write(env.Out, page.Format(format), d, pageOptions(env))
}
