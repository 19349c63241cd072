package provision

import (
	"strings"
	"testing"

	"plimsoll/internal/topology"
)

// Layouts that are compared may lie on different volumes, all of which are agreed to; a volume that Pin did not see is
// not.
func TestPinnedVolumes(t *testing.T) {
	s := site(t, machine(volumes(4, 50, 1), nil))
	trial := s.NewTrial("/runs/1")
	layout := func(name, one, two string) topology.Layout {
		return topology.Layout{
			Name: name,
			YAML: []byte("arrays:\n  - {name: a, role: data, level: raid0, volumes: [{serial: " + one + "}, {serial: " + two +
				"}], filesystem: {type: ext4, mount: /a}}\n"),
		}
	}
	first, err := trial.Pin(t.Context(), layout("first", "vol0a01", "vol0a02"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := trial.Pin(t.Context(), layout("second", "vol0a02", "vol0a03"))
	if err != nil {
		t.Fatal(err)
	}
	if len(trial.Members) != 3 {
		t.Errorf("agreed to: %+v", trial.Members)
	}
	for _, l := range []topology.Layout{first, second} {
		if err := trial.Check(t.Context(), l); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if err := trial.Check(t.Context(), layout("third", "vol0a01", "vol0a04")); err == nil ||
		!strings.Contains(err.Error(), "is not what was agreed to") {
		t.Errorf("a volume that nobody agreed to: %v", err)
	}
}
