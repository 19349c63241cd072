package output

import (
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/units"
)

func (p *jsonParser) latency(unit time.Duration) (l fio.Latency) {
	p.object(func(key []byte) {
		switch string(key) {
		case "min":
			l.Min = p.time(unit)
		case "max":
			l.Max = p.time(unit)
		case "mean":
			l.Mean = p.number() * float64(unit)
		case "stddev":
			l.StdDev = p.number() * float64(unit)
		case "N":
			l.N = p.count()
		case "percentile":
			l.Percentiles = p.percentiles(unit)
		case "bins":
			l.Hist = p.bins(unit)
		default:
			p.skip()
		}
	})
	return l
}

// percentiles reads {"99.000000": 1234, …}. fio 2 pads its list with "0.00": 0.
func (p *jsonParser) percentiles(unit time.Duration) []fio.Percentile {
	list := make([]fio.Percentile, 0, 17)
	p.object(func(key []byte) {
		k := jsonScan{b: key}
		at, v := k.number(), p.time(unit)
		if k.err != nil {
			p.fail("a percentile")
		} else if at > 0 || v > 0 {
			list = append(list, fio.Percentile{P: at, Value: v})
		}
	})
	return list
}

// bins reads {"<ns>": count, …} or, up to 3.0, {"FIO_IO_U_PLAT_BITS": 6, …, "<index>": count, …}.
func (p *jsonParser) bins(unit time.Duration) *fio.Hist {
	p.out.Format = fio.JSONPlus
	if p.hists++; p.hists > 1024+len(p.b)/128 { // a bin table takes 15 kB however short its text is
		p.fail("fewer histograms in so short a document")
		return nil
	}
	h, indexed := &fio.Hist{}, false
	p.object(func(key []byte) {
		if len(key) > 0 && key[0] == 'F' {
			indexed = indexed || strings.HasPrefix(string(key), "FIO_IO_U_PLAT")
			p.skip()
			return
		}
		var at uint64
		for _, c := range key {
			if c-'0' > 9 || at > math.MaxInt64/16 {
				p.fail("a latency before a bin's count, not " + strconv.Quote(string(key)))
				return
			}
			at = at*10 + uint64(c-'0')
		}
		n := p.count()
		switch {
		case !indexed:
			h.Add(fio.Duration(float64(at), unit), n)
		case at >= bins.Count:
			p.fail("a bin below " + strconv.Itoa(bins.Count))
		case unit == time.Nanosecond:
			h.AddBin(int(at), n)
		default:
			h.Add(bins.Value(int(at))*unit, n)
		}
	})
	return h
}

func (p *jsonParser) sync(j *fio.Job) {
	var total uint64
	p.object(func(key []byte) {
		switch string(key) {
		case "total_ios":
			total = p.count()
		case "lat_ns":
			j.Sync.Lat = p.latency(time.Nanosecond)
		case "lat":
			j.Sync.Lat = p.latency(time.Microsecond)
		default:
			p.skip()
		}
	})
	j.Sync.Lat.SettleCount(total)
	if j.Sync.Lat.N > 0 {
		j.Sync.Kind = "fsync/fdatasync/sync_file_range"
	}
}

func (p *jsonParser) shares() []fio.Share {
	list := make([]fio.Share, 0, 7)
	p.object(func(key []byte) {
		list = append(list, fio.Share{Label: strings.ToValidUTF8(string(key), "\uFFFD"), Value: p.percent()})
	})
	return list
}

// buckets reads {"2": 0.0, …, ">=2000": 0.1} and keeps those that are not empty.
func (p *jsonParser) buckets(unit time.Duration) (list []fio.Bucket) {
	p.object(func(key []byte) {
		share := p.percent()
		if share == 0 {
			return
		}
		if len(key) > 2 && key[0] == '>' {
			list = append(list, fio.Bucket{Value: share})
			return
		}
		k := jsonScan{b: key}
		if upto := k.number(); k.err == nil {
			list = append(list, fio.Bucket{Upto: fio.Duration(upto, unit), Value: share})
		}
	})
	return list
}

func (p *jsonParser) disk() fio.Disk {
	var d, agg fio.Disk
	hasAgg := false
	p.object(func(key []byte) {
		to, name := &d, string(key)
		if rest, ok := strings.CutPrefix(name, "aggr_"); ok {
			to, name, hasAgg = &agg, rest, true
		}
		switch name {
		case "name":
			to.Name = p.text()
		case "read_ios":
			to.Reads = p.count()
		case "write_ios":
			to.Writes = p.count()
		case "read_merges", "read_merge":
			to.ReadMerges = p.count()
		case "write_merges", "write_merge":
			to.WriteMerges = p.count()
		case "read_ticks":
			to.ReadTicks = p.count()
		case "write_ticks":
			to.WriteTicks = p.count()
		case "in_queue":
			to.InQueue = p.count()
		case "util":
			to.Util = p.percent()
		case "read_sectors":
			to.ReadBytes, to.HasSectors = units.Bytes(p.count())*512, true
		case "write_sectors":
			to.WriteBytes, to.HasSectors = units.Bytes(p.count())*512, true
		default:
			p.skip()
		}
	})
	if hasAgg {
		d.Aggregate = &agg
	}
	return d
}
