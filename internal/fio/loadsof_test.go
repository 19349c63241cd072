package fio

import "testing"

// A job without loads of its own is the one that its options and the global ones describe, by either
// name of rw; without rw nothing is known of it.
func TestLoadsOfAJob(t *testing.T) {
	known := nameLoads([]Workload{{Name: "a", Depth: 7}, {Name: "b", Depth: 9}})
	for _, c := range []struct {
		name        string
		job, global Options
		alone       bool
		want        []int // depths
	}{
		{"a", Options{"rw": "read", "iodepth": "3"}, nil, false, []int{7}},
		{"a", nil, nil, true, []int{7, 9}},
		{"c", nil, nil, false, nil},
		{"c", Options{"rw": "read", "ioengine": "libaio", "iodepth": "3"}, nil, false, []int{3}},
		{"c", Options{"readwrite": "read", "ioengine": "libaio", "iodepth": "3"}, nil, false, []int{3}},
		{"c", Options{"ioengine": "libaio", "iodepth": "3"}, Options{"rw": "read"}, false, []int{3}},
		{"c", nil, Options{"rw": "read", "ioengine": "libaio", "iodepth": "5"}, false, []int{5}},
		{"c", Options{"rw": "read", "ioengine": "libaio", "iodepth": "3"}, Options{"iodepth": "5"}, false, []int{3}},
		{"c", Options{"iodepth": "3"}, Options{"bs": "4k"}, false, nil},
		{"c", Options{"rw": "sideways"}, nil, false, nil},
	} {
		got := loadsOf(&Job{Name: c.name, Options: c.job}, c.global, known, c.alone)
		if len(got) != len(c.want) {
			t.Errorf("%s %v %v alone %v: %+v, want %v", c.name, c.job, c.global, c.alone, got, c.want)
			continue
		}
		for i, depth := range c.want {
			if got[i].Depth != depth {
				t.Errorf("%s %v %v alone %v: depth %d, want %d", c.name, c.job, c.global, c.alone, got[i].Depth, depth)
			}
		}
	}
}
