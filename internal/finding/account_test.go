package finding

import (
	"math"
	"testing"
)

// The figures are worked out by hand: a gap of 0.1 is ln 10 = 2.303, of which a factor of 0.5 is ln
// 2 = 0.693, 30.1 %.
func TestAccount(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.0005 }
	for _, tt := range []struct {
		name   string
		causes []Factor
		want   []Factor // cause, factor, share
	}{
		{"nothing is known", nil, []Factor{{Cause: Unexplained, Factor: 0.1, Share: 1}}},
		{"one explains a third", []Factor{{Cause: IdleMembers, Factor: 0.5}}, []Factor{
			{Cause: IdleMembers, Factor: 0.5, Share: 0.3010}, {Cause: Unexplained, Factor: 0.2, Share: 0.6990},
		}},
		{"a cause that explains 2 % is not named", []Factor{{Cause: Split, Factor: 1 / 1.047}}, []Factor{{Cause: Unexplained, Factor: 0.1, Share: 1}}},
		{"never more than is left", []Factor{{Cause: IdleMembers, Factor: 0.25}, {Cause: Tail, Factor: 0.01}}, []Factor{
			{Cause: IdleMembers, Factor: 0.25, Share: 0.6021}, {Cause: Tail, Factor: 0.4, Share: 0.3979},
		}},
		{"the largest first", []Factor{{Cause: Depth, Factor: 0.6}, {Cause: Tail, Factor: 0.2}}, []Factor{
			{Cause: Tail, Factor: 0.2, Share: 0.6990}, {Cause: Depth, Factor: 0.6, Share: 0.2218}, {Cause: Unexplained, Factor: 0.8333, Share: 0.0792},
		}},
		{"no factor at all", []Factor{{Cause: CPU, Factor: 1}, {Cause: Tail, Factor: 0}, {Cause: Tail, Factor: math.NaN()}}, []Factor{{Cause: Unexplained, Factor: 0.1, Share: 1}}},
	} {
		a := NewAccount(1000, 100, tt.causes)
		if len(a.Factors) != len(tt.want) {
			t.Errorf("%s: %+v", tt.name, a.Factors)
			continue
		}
		product, shares := 1.0, 0.0
		for i, f := range a.Factors {
			if w := tt.want[i]; f.Cause != w.Cause || !near(f.Factor, w.Factor) || !near(f.Share, w.Share) {
				t.Errorf("%s: %+v, want %+v", tt.name, f, w)
			}
			product, shares = product*f.Factor, shares+f.Share
		}
		if !near(product, 0.1) || !near(shares, 1) || !near(a.Levels()[len(a.Factors)-1], 100) {
			t.Errorf("%s: factors multiply to %g, shares add up to %g", tt.name, product, shares)
		}
	}
	for _, no := range [][2]float64{{100, 100}, {100, 120}, {100, 0}, {0, 0}, {math.Inf(1), 5}, {math.NaN(), 5}} {
		if a := NewAccount(no[0], no[1], nil); a != nil {
			t.Errorf("%v: %+v, want none", no, a)
		}
	}
}
