package result

import (
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// The key figure, and the one that is compared, by kind and by size of the I/Os: 128 KiB is the least that is large.
func TestKeysByKind(t *testing.T) {
	did := func(n units.IOPS, bw units.Rate) *Result {
		return &Result{Total: fio.Job{Read: fio.Direction{N: uint64(n), IOPS: n, BW: bw}}}
	}
	one := func(r *Result) *Result { r.Depth.Asked = 1; return r }
	paced := func(r *Result) *Result { r.Workloads = []fio.Workload{{ReadIOPS: 100}}; return r }
	const size = 128 << 10
	for name, c := range map[string]struct {
		r         *Result
		kind      suite.Kind
		key, main Key
	}{
		"no result":              {nil, suite.OfFio, ByIOPS, ByIOPS},
		"a database":             {one(&Result{Postgres: &Postgres{}}), suite.OfServer, ByTPS, ByTPS},
		"large I/Os":             {did(10, 10*size), suite.OfFio, ByBandwidth, ByBandwidth},
		"one byte less":          {did(10, 10*size-10), suite.OfFio, ByIOPS, ByIOPS},
		"bandwidth alone":        {did(0, 1), suite.OfFio, ByBandwidth, ByBandwidth},
		"nothing":                {did(0, 0), suite.OfFio, ByIOPS, ByIOPS},
		"one at a time":          {one(did(10, 81920)), suite.OfFio, ByLatency, ByIOPS},
		"one at a time, large":   {one(did(10, 10*size)), suite.OfFio, ByLatency, ByBandwidth},
		"one at a time, at rate": {paced(one(did(10, 10*size))), suite.OfFio, ByBandwidth, ByBandwidth},
	} {
		if c.r.Kind() != c.kind || KeyOf(c.r) != c.key || MainOf(c.r) != c.main {
			t.Errorf("%s: %s, key %s, main %s", name, c.r.Kind(), KeyOf(c.r), MainOf(c.r))
		}
	}
	if got := ByTPS.Print(1234, 0); got != units.IOPS(1234).String()+" TPS" {
		t.Error(got)
	}
}

// The peak is the load with the most transactions, and nothing of a result that has none.
func TestPeakOfAResult(t *testing.T) {
	var none *Result
	if none.Peak() != nil || (&Result{}).Peak() != nil || (&Result{Postgres: &Postgres{}}).Peak() != nil {
		t.Error("a peak of nothing")
	}
	r := &Result{Postgres: &Postgres{Steps: []PgStep{
		{Clients: 1, TPS: 10, Transactions: 1},
		{Clients: 4, TPS: 30, Transactions: 1},
		{Clients: 8, TPS: 40},
		{Clients: 16, TPS: 20, Transactions: 1},
	}}}
	if got := r.Peak(); got == nil || got.Clients != 4 {
		t.Errorf("%+v", got)
	}
}
