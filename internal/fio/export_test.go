package fio

import "testing"

// OracleJob is a pair of the oracle file for tests that import packages above this one.
type OracleJob struct {
	Text, Value string
	Job         JobText
	// Run and ParseOnly are what Debian's 3.33 said of it; Excused is why lint may be silent, if it may.
	Run, ParseOnly, Excused string
	Whole                   bool // a single option, with an engine that it can load
}

// OracleJobs are all pairs of the oracle file.
func OracleJobs(t *testing.T) []OracleJob {
	t.Helper()
	const binary = "debian_3.33"
	var jobs []OracleJob
	for _, p := range oraclePairs(t) {
		j := OracleJob{
			Text: p.text(), Value: p.value, Run: p.verdict[binary], ParseOnly: p.verdict[binary+"_parse_only"],
			Excused: p.kindOfMiss(binary), Whole: p.verdict[binary] != "N" && p.option[0] != '@',
		}
		if p.ofTheMachine(j.Run) {
			j.Excused = "the machine"
		}
		if j.Whole {
			j.Job = p.section()
		}
		jobs = append(jobs, j)
	}
	return jobs
}
