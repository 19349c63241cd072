package suite

import (
	"strings"
	"testing"
)

const repeated = `
rounds: 5..12
until: 3%
stop: "2%"
order: file
budget: 45m
against: last:10
scenarios: [{id: 1, name: a, fio: {rw: read, bs: 4k}}, {id: 2, name: b, fio: {rw: read, bs: 8k}}]
`

// What a suite says of rounds goes along with a part of it, not with a suite made of several.
func TestRepeat(t *testing.T) {
	s, err := Parse("night.yaml", []byte(repeated))
	if err != nil {
		t.Fatal(err)
	}
	want := Repeat{"5..12", "3%", "2%", "file", "45m", "last:10"}
	if s.Repeat == nil || *s.Repeat != want || len(s.Repeat.Flags()) != 6 {
		t.Errorf("%+v", s.Repeat)
	}
	if part, err := s.narrow(Selection{Only: "b"}); err != nil || part.Repeat == nil || len(part.Scenarios) != 1 {
		t.Errorf("%+v %v", part, err)
	}
	s, err = Parse("five.yaml", []byte("rounds: 5\nscenarios: [{id: 1, name: a, fio: {rw: read}}]"))
	if err != nil || s.Repeat.Rounds != "5" || len(s.Repeat.Flags()) != 1 {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := Builtin(Default); err != nil || s.Repeat != nil || s.Repeat.Flags() != nil {
		t.Errorf("%+v %v", s.Repeat, err)
	}
	if _, err := Parse("x.yaml", []byte("round: 5\nscenarios: [{id: 1, name: a, fio: {rw: read}}]")); err == nil || !strings.Contains(err.Error(), "x.yaml:1") {
		t.Error(err)
	}
}
