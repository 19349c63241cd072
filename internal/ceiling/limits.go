package ceiling

import (
	"errors"
	"fmt"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Allowed is one limit of a control group on a device, by its key in io.max.
type Allowed struct {
	Key   string `json:"key"`   // riops, wiops, rbps, wbps
	Value uint64 `json:"value"` // per second
	Of    Bound  `json:"of"`    // what is sustained, of which it is a part
}

// Allow is the part of what the storage of a role sustains that a control group may take, of which so large a
// share are reads. The kernel counts reads and writes apart, and both take from the same volumes: each gets its
// share, and together they are the part. I/Os are in tens, because the kernel counts in slices of 100 ms.
func Allow(t *topology.Topology, role topology.Role, part, reads float64) ([]Allowed, error) {
	var all []Allowed
	for _, one := range []struct {
		key   string
		share float64
		load  fio.Workload
	}{
		{"riops", reads, fio.Workload{ReadShare: 1, ReadBS: 4 * units.KiB}},
		{"wiops", 1 - reads, fio.Workload{WriteBS: 4 * units.KiB}},
		{"rbps", reads, fio.Workload{ReadShare: 1, ReadBS: units.MiB, Sequential: true}},
		{"wbps", 1 - reads, fio.Workload{WriteBS: units.MiB, Sequential: true}},
	} {
		one.load.Depth, one.load.Jobs = 256, 1
		c := Of(t, role, []fio.Workload{one.load})
		b := c.Sustained()
		switch {
		case !c.Known():
			return nil, errors.New("no limit of the volumes is known: a part of nothing is no limit")
		case b == nil:
			return nil, fmt.Errorf("only a burst of %v IOPS is known (%s), which does not last: declare what is sustained",
				c.Binding().IOPS, c.Binding().Label())
		}
		a := Allowed{Key: one.key, Value: max(uint64(float64(b.IOPS)*part*one.share)/10*10, 10), Of: *b}
		if one.load.Sequential {
			a.Value = max(uint64(float64(b.BW)*part*one.share), uint64(units.MiB))
		}
		all = append(all, a)
	}
	return all, nil
}
