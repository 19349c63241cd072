package job

import (
	"plimsoll/internal/cli/form"
	"plimsoll/internal/postgres"
	"plimsoll/internal/sys"
)

// ReadPostgres reads files of pgbench and pg_test_fsync as one report; ok is false where the first
// one is something else.
func ReadPostgres(files []string) (r *postgres.Report, ok bool, err error) {
	for i, name := range files {
		if !sys.IsFile(name) {
			return nil, false, nil // whoever reads it next says what it is
		}
		data, err := sys.ReadFile(name, sys.JSONLimit)
		if err != nil {
			return nil, true, err
		}
		if !postgres.Reads(data) {
			if i == 0 {
				return nil, false, nil
			}
			return nil, true, form.Usagef("%s: neither pgbench's figures nor pg_test_fsync's are in it", name)
		}
		one, err := postgres.Read(data)
		if err == nil && r != nil {
			err = r.With(one)
		} else if err == nil {
			r = one
		}
		if err != nil {
			return nil, true, form.Usagef("%s: %w", name, err)
		}
	}
	return r, r != nil, nil
}
