package bench

import (
	"path/filepath"

	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
)

// lintJobs are the warnings of lint about the job files among a request's words. They are kept with
// the run, since a mistake in the job explains a figure. What lint calls an error is a warning
// here: fio took the job.
func lintJobs(m *sys.Machine, words []string) []finding.Finding {
	var c lint.Case
	for _, name := range words {
		if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
			continue
		}
		if file, err := suite.IsFile(name); !file || err != nil {
			continue
		}
		if text, err := sys.Text(name); err == nil {
			include := func(include string) ([]byte, error) { return sys.Included(name, include) }
			c.Scripts = append(c.Scripts, script.Parse(name, text, script.Options{Env: m.LookupEnv, Include: include}))
		}
	}
	var kept []finding.Finding
	for _, f := range lint.Judge(lint.NewCase(c)).Found {
		if f.Severity.Rank() < finding.Warn.Rank() {
			continue
		}
		f.Severity = finding.Warn
		kept = append(kept, f)
	}
	return kept
}
