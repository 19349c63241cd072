package fio

import "testing"

// OracleJobs are the jobs of the oracle file for tests that import packages above this one. A job that
// Debian's 3.33 cannot load, or that is a line of another form, is empty.
func OracleJobs(t *testing.T) []JobText {
	t.Helper()
	var jobs []JobText
	for _, p := range oraclePairs(t) {
		var j JobText
		if p.verdict["debian_3.33"] != "N" && p.option[0] != '@' {
			j = p.section()
		}
		jobs = append(jobs, j)
	}
	return jobs
}
