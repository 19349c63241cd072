package cli

import (
	"fmt"
	"io"
	"os"

	"plimsoll/internal/postgres"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// readPostgres reads files of pgbench and pg_test_fsync as one report; ok is false where the first
// one is something else.
func readPostgres(files []string) (r *postgres.Report, ok bool, err error) {
	for i, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return nil, false, nil //nolint:nilerr // whoever reads it next says what it is
		}
		data, err := sys.ReadFile(name, sys.JSONLimit)
		if err != nil {
			return nil, true, err
		}
		if !postgres.Reads(data) {
			if i == 0 {
				return nil, false, nil
			}
			return nil, true, usage(fmt.Errorf("%s: neither pgbench's figures nor pg_test_fsync's are in it", name))
		}
		one, err := postgres.Read(data)
		if err == nil && r != nil {
			err = r.With(one)
		} else if err == nil {
			r = one
		}
		if err != nil {
			return nil, true, usage(fmt.Errorf("%s: %w", name, err))
		}
	}
	return r, r != nil, nil
}

// explainPostgres prints what is in a report, and what the log's syncs explain of it.
func explainPostgres(w io.Writer, r *postgres.Report, synced units.Latency) {
	if r.Script != "" {
		fmt.Fprintf(w, "%s, scale %d, %s\n", text.Clean(r.Script, 80), r.Scale, text.Plural(r.Threads, "thread"))
	}
	for _, l := range r.Explain(synced) {
		fmt.Fprintln(w, l)
	}
	if l := r.Latency; l.N > 0 && l.Hist != nil {
		if p99, ok := l.At(99); ok {
			fmt.Fprintf(w, "p99 %v, at most %v.\n", units.LatencyOf(p99), units.LatencyOf(l.Max))
		}
	}
	for _, m := range r.Methods {
		fmt.Fprintf(w, "%s: %v per write and sync, by pg_test_fsync.\n", m.Name, m.Mean)
	}
}
