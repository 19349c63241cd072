package suite

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
)

// A suite that comes from a run's record passes the checks that one in YAML passes.
func TestSuiteOfARecordIsChecked(t *testing.T) {
	good := func() *Suite {
		return &Suite{Name: "x", Scenarios: []Scenario{
			{ID: 1, Name: "rand-read@iodepth=8", Role: topology.Data, Job: fio.JobFile{Sections: []fio.Section{
				{Name: "rand-read", Options: []fio.Option{{Name: "rw", Value: "randread"}, {Name: "time_based", Bare: true}}},
			}}},
			{ID: 16, Name: "pg", Role: topology.WAL, Postgres: &Postgres{Script: "select 1", Clients: []int{1}}},
		}}
	}
	if err := good().Valid(); err != nil {
		t.Fatal(err)
	}
	job := func(s *Suite) *fio.Section { return &s.Scenarios[0].Job.Sections[0] }
	for want, change := range map[string]func(*Suite){
		"script: SQL only":        func(s *Suite) { s.Scenarios[1].Postgres.Script = "select 1;\n\\shell id" },
		"NUL: SQL only":           func(s *Suite) { s.Scenarios[1].Postgres.Script = "a\x00b" },
		"builtin":                 func(s *Suite) { s.Scenarios[1].Postgres.Script, s.Scenarios[1].Postgres.Builtin = "", "-f/etc/passwd" },
		"clients":                 func(s *Suite) { s.Scenarios[1].Postgres.Clients = []int{1 << 40} },
		"transactions":            func(s *Suite) { s.Scenarios[1].Postgres.Transactions = -1 },
		"used twice":              func(s *Suite) { s.Scenarios[1].ID = 1 },
		"from 1 to 999":           func(s *Suite) { s.Scenarios[0].ID = 0 },
		"lower-case letters":      func(s *Suite) { s.Scenarios[0].Name = "../../x" },
		"of a job file: name":     func(s *Suite) { s.Scenarios[0].Name, s.Scenarios[0].AsIs = "a\x1b]0;x", true },
		"role":                    func(s *Suite) { s.Scenarios[0].Role = "/etc" },
		"size":                    func(s *Suite) { s.Scenarios[0].Size = MostSize + 1 },
		"runtime":                 func(s *Suite) { s.Scenarios[0].Runtime = -time.Second },
		"ramp: runtime":           func(s *Suite) { s.Scenarios[0].Ramp = -time.Second },
		"files":                   func(s *Suite) { s.Scenarios[0].Files = "/etc" },
		"cooldown":                func(s *Suite) { s.Cooldown = -1 },
		"scenarios":               func(s *Suite) { s.Scenarios = nil },
		"value: fio":              func(s *Suite) { job(s).Options[0].Value = "read\nexec_prerun=id" },
		"value of CR: fio":        func(s *Suite) { job(s).Options[0].Value = "read\r" + strings.Repeat(" ", 9) + "\x00" },
		"name of an option: fio":  func(s *Suite) { job(s).Options[1].Name = "include /etc/passwd" },
		"= in a name: fio":        func(s *Suite) { job(s).Options[0].Name = "exec_prerun=id;rw" },
		"bare: fio":               func(s *Suite) { job(s).Options[1].Name = "exec_prerun=id" },
		"comment: fio":            func(s *Suite) { job(s).Options[0].Value = "read # x" },
		"a section's name: fio":   func(s *Suite) { job(s).Name = "x]\nexec_prerun=id\n[y" },
		"a section as value: fio": func(s *Suite) { job(s).Options[0].Name = "[global]\nexec_prerun" },
		"no job: fio":             func(s *Suite) { s.Scenarios[0].Job.Sections[0].Name = "global" },
	} {
		s := good()
		change(s)
		words := want
		if _, after, ok := strings.Cut(want, ": "); ok {
			words = after
		}
		if err := s.Valid(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, name := range Names() {
		s, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Valid(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
