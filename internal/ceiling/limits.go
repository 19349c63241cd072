package ceiling

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Rate is what storage sustains of one kind of I/O, by its key in io.cost.model: rbps, rseqiops, rrandiops and the
// same of writes.
type Rate struct {
	Key string `json:"key"`
	Of  Bound  `json:"of"`
}

// Per is the rate per second: bytes of rbps and wbps, I/Os of the others.
func (r Rate) Per() float64 {
	if r.bytes() {
		return float64(r.Of.BW)
	}
	return float64(r.Of.IOPS)
}

func (r Rate) bytes() bool { return strings.HasSuffix(r.Key, "bps") }
func (r Rate) reads() bool { return strings.HasPrefix(r.Key, "r") }

// Rates are what the storage of a role sustains: by the model, or what results measured where that is less or
// nothing is known; from names these.
func Rates(t *topology.Topology, role topology.Role, results []*result.Result, from string) ([]Rate, error) {
	var all []Rate
	for key := range strings.FieldsSeq("rrandiops rseqiops rbps wrandiops wseqiops wbps") {
		rate := Rate{Key: key}
		load := fio.Workload{Depth: 256, Jobs: 1, Sequential: !strings.Contains(key, "rand")}
		size := 4 * units.KiB
		if rate.bytes() {
			size = units.MiB
		}
		if load.WriteBS = size; rate.reads() {
			load.ReadShare, load.ReadBS, load.WriteBS = 1, size, 0
		}
		c := Of(t, role, []fio.Workload{load})
		known := c.Known()
		if b := c.Sustained(); known && b == nil {
			return nil, fmt.Errorf("only a burst of %v IOPS is known (%s), which does not last: declare what is sustained",
				c.Binding().IOPS, c.Binding().Label())
		} else if known {
			rate.Of = *b
		}
		if m := measured(load, results); m != nil && (!known || (Rate{key, *m}).Per() < rate.Per()) {
			m.Origin = topology.Origin{Kind: topology.Measured, Where: from}
			rate.Of, known = *m, true
		}
		switch {
		case known:
		case load.Sequential && !rate.bytes(): // what random I/O reaches, sequential I/O reaches
			rate.Of = all[len(all)-1].Of
		case results != nil:
			return nil, fmt.Errorf("%s measured no load similar to %s of %v with 16 I/Os in flight, and no limits are known "+
				"for the volumes", from, map[bool]string{true: "reads", false: "writes"}[load.Reads()], max(load.ReadBS,
				load.WriteBS))
		default:
			return nil, errors.New("no limits are known for the volumes: declare one (--volumes), or name a run that " +
				"measured one (--run)")
		}
		all = append(all, rate)
	}
	return all, nil
}

// measured is the most that results reached of I/O like load; nil where none is like it. One with few I/Os in flight,
// a rate of its own or syncs says nothing of the storage.
func measured(load fio.Workload, results []*result.Result) *Bound {
	var best *Bound
	for _, r := range results {
		inFlight, like := 0, len(r.Workloads) > 0
		for _, w := range r.Workloads {
			inFlight += w.InFlight()
			bs := max(w.ReadBS, w.WriteBS)
			size := bs <= 16*units.KiB && w.Sequential == load.Sequential
			if max(load.ReadBS, load.WriteBS) == units.MiB {
				size = bs >= 128*units.KiB
			}
			like = like && size && w.ReadShare == load.ReadShare && w.TrimShare == 0 && w.Direct && w.SyncEvery == 0 &&
				!w.SyncWrites && w.ReadRate+w.WriteRate == 0 && w.ReadIOPS+w.WriteIOPS == 0
		}
		d := r.Total.Read
		if load.ReadShare == 0 {
			d = r.Total.Write
		}
		if like && inFlight >= 16 && (best == nil || d.BW > best.BW) {
			best = &Bound{Kind: "measured", IOPS: d.IOPS, BW: d.BW, How: fmt.Sprintf("%s, %d in flight", r.Name, inFlight)}
		}
	}
	return best
}

// Allowed is one limit of a control group on a device, by its key in io.max.
type Allowed struct {
	Key   string `json:"key"`   // riops, wiops, rbps, wbps
	Value uint64 `json:"value"` // per second
	Of    Bound  `json:"of"`    // what is sustained, of which it is a part
}

// slice is how long the kernel counts before it lets a group go on (block/blk-throttle.c).
const slice = 100 * time.Millisecond

// Allow is the part of what storage sustains that a control group may take, of which so large a share are reads.
// The kernel counts reads and writes apart, and both take from the same volumes: each gets its share, and
// together they are the part. I/Os are in tens, because the kernel counts in slices.
func Allow(rates []Rate, part, reads float64) []Allowed {
	var all []Allowed
	for _, r := range rates {
		key, share := strings.Replace(r.Key, "rand", "", 1), reads // as io.max has it
		if strings.Contains(key, "seq") {
			continue
		}
		if !r.reads() {
			share = 1 - reads
		}
		a := Allowed{key, max(uint64(r.Per()*part*share)/10*10, 10), r.Of}
		if r.bytes() {
			a.Value = max(uint64(r.Per()*part*share), uint64(units.MiB))
		}
		all = append(all, a)
	}
	return all
}

// Wait is how long an I/O may wait for those of groups that may take a part together: each sends what it is allowed
// in a slice at once.
func Wait(part float64) time.Duration { return time.Duration(part * float64(slice)) }
