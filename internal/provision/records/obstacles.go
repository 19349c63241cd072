package records

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/text"
)

// Obstacle is something in an array's stack that apply did not make, or that uses it now: a
// teardown would destroy or break it.
type Obstacle struct {
	Array string `json:"array"`
	What  string `json:"what"` // a sentence: "/dev/t/mine is a logical volume that apply did not make"
	// Name is what teardown --destroy takes to give it up; empty for what is in use, which has to
	// end first.
	Name string `json:"name,omitempty"`
	// Serial of the device Name, where it is a member.
	Serial string `json:"serial,omitempty"`
	// Command gives it up, where undoing the array's steps does not take it along.
	Command []string `json:"-"`
}

// Obstructed is the refusal of a teardown. Nothing was touched.
type Obstructed struct{ Obstacles []Obstacle }

func (o *Obstructed) Error() string {
	return "nothing was touched, because there is more than apply made: " + strings.Join(o.Lines(), "; ")
}

// Lines are the obstacles, a sentence each, with how it may be given up.
func (o *Obstructed) Lines() []string {
	var lines []string
	for _, one := range o.Obstacles {
		line := one.Array + ": " + one.What
		if one.Name != "" {
			line += "; if it may be lost: " + text.Destroying(one.Name, one.Serial)
		}
		lines = append(lines, line)
	}
	return lines
}

// GiveUp is what teardown may destroy though apply did not make it: the names of obstacles, and the
// serial numbers of those that are members.
type GiveUp struct{ Names, Serials []string }

// Of matches obstacles with what is given up: what is left stands in the way.
func (g GiveUp) Of(all []Obstacle) (left, given []Obstacle, err error) {
	used := map[string]bool{}
	for _, o := range all {
		switch {
		case o.Name == "" || !slices.Contains(g.Names, o.Name):
			left = append(left, o)
		case o.Serial != "" && !slices.Contains(g.Serials, o.Serial):
			return nil, nil, fmt.Errorf("--destroy %s: its serial number, %s, must be named too; nothing was "+
				"touched", o.Name, o.Serial)
		default:
			given, used[o.Name], used[o.Serial] = append(given, o), true, true
		}
	}
	for _, name := range slices.Concat(g.Names, g.Serials) {
		if !used[name] {
			return nil, nil, fmt.Errorf("--destroy: nothing in the way of teardown is called %s; nothing was touched", name)
		}
	}
	return left, given, nil
}

// Gives says whether the content of a member was given up for this teardown.
func (w *Work) Gives(serial string) bool {
	return slices.ContainsFunc(w.Given, func(o Obstacle) bool { return o.Serial == serial && serial != "" })
}

// Destroyed checks that each device to destroy is the one with that serial.
func Destroyed(t *block.Tree, destroy map[string]string) (map[string]string, error) {
	all := map[string]string{}
	for dev, serial := range destroy {
		d := t.Device(dev)
		if d == nil {
			return nil, fmt.Errorf("--destroy %s: there is no such device", dev)
		}
		if Identity(d) != serial || serial == "" {
			return nil, fmt.Errorf("--destroy %s --serial %s: its serial is %s; nothing was touched", dev, serial,
				cmp.Or(Identity(d), "not known"))
		}
		all[d.Name] = serial
	}
	return all, nil
}
