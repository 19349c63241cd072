package bench

import (
	"testing"

	"plimsoll/internal/suite"
)

// A title that says with how many clients a scenario runs says it of those that it runs with; others
// stay as they are.
func TestTitleSaysTheClients(t *testing.T) {
	for _, c := range []struct {
		title       string
		suite, flag []int
		want        string
	}{
		{"TPC-B with 100 clients", []int{100}, []int{8}, "TPC-B with 8 clients"},
		{"TPC-B with 100 clients", []int{100}, []int{1}, "TPC-B with 1 client"},
		{"TPC-B with 100 clients", []int{100}, []int{1, 4, 16}, "TPC-B with 1, 4 and 16 clients"},
		{"TPC-B with 100 clients", []int{100}, nil, "TPC-B with 100 clients"},
		{"The 200 clients of a farm", []int{100}, []int{8}, "The 200 clients of a farm"},
	} {
		s := suite.Scenario{Title: c.title, Postgres: &suite.Postgres{Clients: c.suite}}
		Request{Clients: c.flag}.adjustDatabase(&s)
		if s.Title != c.want {
			t.Errorf("%q with %v: %q, want %q", c.title, c.flag, s.Title, c.want)
		}
	}
}
