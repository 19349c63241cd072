// Package runs builds the documents of what was measured: a run, a fleet run, a history of runs, a
// sweep, a search for the most load.
package runs
