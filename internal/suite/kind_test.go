package suite

import "testing"

// A scenario is PostgreSQL's where it says what the server does, and fio's otherwise.
func TestKinds(t *testing.T) {
	database, jobs := Scenario{Name: "tps", Postgres: &Postgres{}}, Scenario{Name: "randread"}
	if database.Kind() != OfServer || jobs.Kind() != OfFio {
		t.Errorf("%s %s", database.Kind(), jobs.Kind())
	}
	for _, c := range []struct {
		of          []Scenario
		server, fio int
		needs       bool
	}{
		{nil, 0, 0, false},
		{[]Scenario{jobs}, 0, 1, false},
		{[]Scenario{database}, 1, 0, true},
		{[]Scenario{jobs, database, jobs}, 1, 2, true},
	} {
		s := Suite{Scenarios: c.of}
		if len(s.Of(OfServer)) != c.server || len(s.Of(OfFio)) != c.fio || s.NeedsServer() != c.needs ||
			len(s.Scenarios) != len(c.of) {
			t.Errorf("%+v", c)
		}
	}
	both := Suite{Scenarios: []Scenario{jobs, database}}
	if both.Of(OfServer)[0].Name != "tps" || both.Of(OfFio)[0].Name != "randread" || both.Scenarios[0].Name != "randread" {
		t.Errorf("%+v", both)
	}
}
