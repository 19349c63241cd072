package ceiling_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/topology"
)

// TestOracleOfLimits runs a group that is kept, at 97 % of what is left for it, beside a neighbour at full load in the
// printed limits, I/O by I/O through blk-throttle's slices (block/blk-throttle.c: what a slice of 100 ms allows goes at
// once, reads and writes apart, each from an instant of its own) and one volume that takes them in turn: 60 machines,
// from PLIMSOLL_SEED on. The kept one's p99 is within what is stated, and both together have 95 % of the volume.
func TestOracleOfLimits(t *testing.T) {
	seed, err := strconv.Atoi(os.Getenv("PLIMSOLL_SEED"))
	if err != nil {
		seed = 52
	}
	const machines, seconds = 60, 20
	calm, whole := 0, 0
	for i := range machines {
		r := rand.New(rand.NewPCG(uint64(seed+i), 1))
		iops, keep, reads := 1000+r.IntN(15000), 0.5+0.4*r.Float64(), r.Float64()
		d, err := topology.FromFlags("1x"+strconv.Itoa(iops)+"iops:1000MiB/s", "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		whole1, err := topology.FromDeclaration(d)
		if err != nil {
			t.Fatal(err)
		}
		rates, err := ceiling.Rates(whole1, topology.Data, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		type io struct {
			at   float64 // seconds
			kept bool
		}
		var all []io
		for _, a := range ceiling.Allow(rates, 1-keep, reads) {
			if a.Key != "riops" && a.Key != "wiops" {
				continue
			}
			for at := 0.1 * r.Float64(); at < seconds; at += 0.1 {
				for range a.Value / 10 {
					all = append(all, io{at, false})
				}
			}
		}
		pace := 1 / (0.97 * keep * float64(iops))
		for at := 0.0; at < seconds; at += pace {
			all = append(all, io{at + pace*r.Float64(), true})
		}
		slices.SortFunc(all, func(a, b io) int { return int(1e9*a.at) - int(1e9*b.at) })
		free, done := 0.0, 0
		var waits []float64
		for _, one := range all {
			begin := max(free, one.at)
			free = begin + 1/float64(iops)
			if one.kept {
				waits = append(waits, begin-one.at)
			}
			if free < seconds {
				done++
			}
		}
		slices.Sort(waits)
		p99, stated := waits[len(waits)*99/100], ceiling.Wait(1-keep).Seconds()
		if p99 <= stated {
			calm++
		}
		if float64(done) >= 0.95*seconds*float64(iops) {
			whole++
		}
		t.Logf("seed %d: %d IOPS, keep %.0f %%, reads %.0f %%: p99 waits %.1f ms, stated %.1f ms; together %.1f %%", seed+i,
			iops, 100*keep, 100*reads,
			1000*p99, 1000*stated, 100*float64(done)/seconds/float64(iops))
	}
	t.Logf("from seed %d: p99 within what is stated in %d of %d, together 95 %% in %d", seed, calm, machines, whole)
	if 20*calm < 19*machines || 20*whole < 19*machines {
		t.Error("less than the oracle asks for")
	}
}
