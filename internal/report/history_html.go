package report

import (
	_ "embed" // the page
	"html/template"
	"sync"
)

//go:embed assets/history.html
var historyMarkup string

var historyTemplate = sync.OnceValue(func() *template.Template { return scripted("history", historyMarkup) })
