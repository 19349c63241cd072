package report

import (
	_ "embed" // the page
	"html/template"
	"slices"
	"sync"
)

//go:embed assets/history.html
var historyMarkup string

var historyTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("history").Funcs(template.FuncMap{
		"text": func(t table, column int) bool { return slices.Contains(t.Text, column) },
	}).Parse(historyMarkup))
})
