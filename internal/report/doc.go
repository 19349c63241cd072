// Package report holds nothing itself: below it page is the model of everything that is printed for
// people and its renderers, and runs, compared, plans and machine build the documents. words prints
// what the rooms below know as phrases that all of them use.
package report
