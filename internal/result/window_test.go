package result

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// observed is a run of 60 s of fio, that began 5 s after its sampler: 6,000 reads of 4 KiB a second that take
// 100 µs each in its first 20 s, then 3,000 that take 200 µs.
func observed(carrier string) (*Result, *telemetry.Series, time.Time) {
	start := time.Unix(1_700_000_000, 0)
	series := &telemetry.Series{Start: start.Add(-5 * time.Second), Devices: []string{"nvme1n1"}, CPUs: 1}
	b := &Builder{Start: start, Loads: []fio.Workload{
		{Name: "a", Engine: "libaio", Jobs: 1, Depth: 4, ReadShare: 1, ReadBS: 4096},
	}}
	h := &fio.Hist{}
	var n uint64
	var took, user time.Duration
	for at := 0; at <= 65; at++ {
		sec, rate, each := at-5, uint64(3000), 200*time.Microsecond
		if sec <= 20 {
			rate, each = 6000, 100*time.Microsecond
		}
		if sec > 0 && sec <= 60 {
			n, took = n+rate, took+time.Duration(rate)*each
			h = h.Clone()
			h.Add(each, rate)
			user += time.Duration(rate) * 100 * time.Microsecond
			mean := float64(took) / float64(n)
			d := fio.Direction{
				N: n, Bytes: units.Bytes(n) * 4096, Runtime: time.Duration(sec) * time.Second,
				Slat: fio.Latency{N: n, Mean: 1000}, Clat: fio.Latency{N: n, Mean: mean},
				Lat: fio.Latency{N: n, Mean: mean + 1000},
			}
			if carrier == "lat" {
				d.Lat.Hist = h
			} else {
				d.Clat.Hist = h
			}
			d.IOPS, d.BW = units.IOPS(float64(n)/float64(sec)), units.Rate(float64(n)*4096/float64(sec))
			b.Add(&fio.Output{Time: start.Add(d.Runtime), Jobs: []fio.Job{{
				Name: "a", Count: 1, Runtime: d.Runtime, Read: d, Buckets: []fio.Bucket{{}},
				Sync: fio.Sync{Lat: fio.Latency{N: n / 10, Mean: mean}},
			}}, Disks: []fio.Disk{{Name: "nvme1n1"}}})
		}
		series.Samples = append(series.Samples, telemetry.Sample{
			At: time.Duration(at) * time.Second,
			Devices: []telemetry.Device{
				{Reads: n, ReadBytes: units.Bytes(n) * 4096, ReadTime: took, Queue: took},
			},
			CPU: telemetry.CPU{User: user, Idle: time.Duration(at)*time.Second - user},
		})
	}
	r := &Result{Workloads: b.Loads}
	b.Finish(r, series)
	return r, series, start
}

// All figures of a cut run are of one window: what fio did, what the devices did meanwhile, the host, the depth,
// the estimates.
func TestWindowIsOneForAllFigures(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > .011*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	r, series, start := observed("clat")
	near("IOPS of all", float64(r.Sum().IOPS), 4000)
	near("device of all", float64(r.Devices[0].ReadIOPS), 4000)
	r.Window(20*time.Second, series, start)
	sum, d := r.Sum(), r.Devices[0]
	near("IOPS", float64(sum.IOPS), 3000)
	near("bandwidth", float64(sum.BW), 3000*4096)
	near("window", sum.Window.Seconds(), 40)
	near("IOPS estimate", r.IOPS.Center, 3000)
	near("bandwidth estimate", r.BW.Center, 3000*4096)
	near("bandwidth at least", r.BW.Lo, 3000*4096)
	near("device bytes", float64(d.ReadBytes), 40*3000*4096)
	near("device reads", float64(d.ReadIOPS), 3000)
	near("device queue", d.Queue, .6)
	near("host", r.Host.User, .3)
	near("clat", r.Total.Read.Clat.Mean, 200_000)
	near("lat", r.Total.Read.Lat.Mean, 201_000)
	near("slat", r.Total.Read.Slat.Mean, 1000)
	near("lats", float64(r.Total.Read.Lat.N), 40*3000)
	near("syncs", float64(r.Total.Sync.Lat.N), 40*300)
	near("sync", r.Total.Sync.Lat.Mean, 200_000)
	near("Little", r.Depth.Little, .603)
	near("depth of the device", r.Depth.Device, .6)
	if r.Depth.Asked != 4 || r.Total.Buckets != nil || r.DisksPartial == "" || len(r.Seconds[59].Util) != 1 {
		t.Errorf("%+v, %v, %q", r.Depth, r.Total.Buckets, r.DisksPartial)
	}
	// What nobody saw of the window is left out.
	r, _, start = observed("clat")
	r.Window(20*time.Second, nil, start)
	last := r.Seconds[59]
	if r.Devices != nil || r.Host != nil || r.Depth.Device != 0 || last.Util != nil || last.Queue != nil {
		t.Errorf("%+v %+v %+v", r.Devices, r.Host, r.Depth)
	}
}

// With lat_percentiles=1 the bins of a window are lat's, and clat keeps a mean alone.
func TestWindowOfWholeLatencies(t *testing.T) {
	for _, carrier := range []string{"clat", "lat"} {
		r, series, start := observed(carrier)
		r.Window(20*time.Second, series, start)
		d := r.Total.Read
		with, without := d.Clat, d.Lat
		if carrier == "lat" {
			with, without = d.Lat, d.Clat
		}
		if with.Hist.Count() != 40*3000 || without.Hist != nil || without.N != 40*3000 ||
			math.Abs(without.Mean/with.Mean-1) > .02 {
			t.Errorf("%s: clat %+v, lat %+v", carrier, d.Clat, d.Lat)
		}
		if p, ok := with.At(50); !ok || p < 195*time.Microsecond || p > 205*time.Microsecond {
			t.Errorf("%s: median %v", carrier, p)
		}
	}
}
