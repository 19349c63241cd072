package exam

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
)

// Every machine is one that the lab can build; all faults come up, and a seed makes the same
// machine again.
func TestGenerate(t *testing.T) {
	seen, healthy, two := map[Kind]int{}, 0, 0
	for seed := range uint64(300) {
		m := Generate(seed)
		if _, err := lab.ParseSpec(m.Name, []byte(m.Lab)); err != nil {
			t.Fatalf("%s\n%s\n%v", m.Name, m.Lab, err)
		}
		if !reflect.DeepEqual(m, Generate(seed)) {
			t.Fatalf("seed %d makes two machines", seed)
		}
		for _, f := range m.Faults {
			seen[f.Kind]++
			if !(f.Factor > 0 && f.Factor <= 1) {
				t.Errorf("%s: factor %g", m.Name, f.Factor)
			}
		}
		switch len(m.Faults) {
		case 0:
			healthy++
		case 2:
			two++
		}
	}
	for _, k := range Kinds() {
		if seen[k] < 5 {
			t.Errorf("%s comes up in %d of 300 machines", k, seen[k])
		}
		if len(answers[k].codes)+len(answers[k].causes) == 0 {
			t.Errorf("nothing names %s", k)
		}
	}
	if healthy < 60 || two < 30 {
		t.Errorf("%d healthy machines and %d with two faults of 300", healthy, two)
	}
}

func TestJudge(t *testing.T) {
	slow, load := Fault{SlowMember, 0.25}, Fault{MemberLoad, 0.5}
	account := func(causes ...finding.Factor) finding.Finding {
		return finding.Finding{Code: "PL503", Severity: finding.Warn, Account: finding.NewAccount(1000, 125, causes)}
	}
	of := func(c finding.Cause, f float64) finding.Factor { return finding.Factor{Cause: c, Factor: f} }
	for _, tt := range []struct {
		name   string
		faults []Fault
		found  []finding.Finding
		named  int
		alarms int
		off    float64 // of the first fault, in points; -1: no share
	}{
		{"healthy and silent", nil, nil, 0, 0, -1},
		{"healthy and alarmed", nil, []finding.Finding{{Code: "PL503", Severity: finding.Warn}}, 0, 1, -1},
		{"both, with their shares", []Fault{slow, load}, []finding.Finding{account(of(finding.SlowMember, 0.25), of(finding.OtherLoad, 0.5))}, 2, 0, 0},
		{"one of both", []Fault{slow, load}, []finding.Finding{account(of(finding.SlowMember, 0.25))}, 1, 0, 0},
		{"another cause first", []Fault{slow}, []finding.Finding{account(of(finding.Tail, 0.25), of(finding.SlowMember, 0.5))}, 0, 0, 66.7},
		{"by its finding", []Fault{{Degraded, 1}}, []finding.Finding{{Code: "PL201", Severity: finding.Fail}}, 1, 0, -1},
		{"not at all", []Fault{{Degraded, 1}}, []finding.Finding{{Code: "PL210", Severity: finding.Warn}}, 0, 1, -1},
	} {
		mark := Judge(Machine{Faults: tt.faults}, tt.found)
		named := 0
		for _, a := range mark.Answers {
			if a.Named {
				named++
			}
		}
		if named != tt.named || len(mark.Alarms) != tt.alarms {
			t.Errorf("%s: %d named and %d alarms, want %d and %d", tt.name, named, len(mark.Alarms), tt.named, tt.alarms)
		}
		if len(mark.Answers) > 0 {
			if off := mark.Answers[0].Off * 100; math.IsNaN(off) != (tt.off < 0) || tt.off >= 0 && math.Abs(off-tt.off) > 0.1 {
				t.Errorf("%s: %.1f points off, want %.1f", tt.name, off, tt.off)
			}
		}
	}
	s := Add([]Mark{Judge(Machine{}, nil), Judge(Machine{Faults: []Fault{slow}}, []finding.Finding{{Code: "PL204", Severity: finding.Warn}})})
	if text := s.Markdown(); !strings.Contains(text, "2 machines, 1 of them healthy (0 of those with a warning); 1 faults, 1 named") || !strings.Contains(text, "| slow member | slow member | 1 |") {
		t.Errorf("%s", text)
	}
}
