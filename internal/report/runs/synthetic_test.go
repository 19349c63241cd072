package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// shape is one scenario of the machine of seeds/disk-benchmark-guide.md: what it asked for and
// about what it gave there.
type shape struct {
	id          int
	name, title string
	role        topology.Role
	bs          units.Bytes
	jobs, depth int
	read        float64 // share
	sync        bool
	iops        float64
	mean        float64 // completion latency, ms
	spread      float64 // sigma of its logarithm
	syncMean    float64 // ms
	bounds      []ceiling.Bound
	targets     []verdict.ThresholdResult
	verdict     verdict.Verdict
}

func volume8(kind ceiling.Kind, iops, bw float64, how string) ceiling.Bound {
	return ceiling.Bound{
		Kind: kind, IOPS: units.IOPS(iops), BW: units.Rate(bw) * units.MiBPerSec, How: how,
		Origin: topology.Origin{Kind: topology.Declared, Where: "plimsoll.yaml:7"},
	}
}

func instance(kind ceiling.Kind, iops, bw float64, burst bool) ceiling.Bound {
	b := ceiling.Bound{
		Kind: kind, IOPS: units.IOPS(iops), BW: units.Rate(bw) * units.MiBPerSec, Burst: burst, How: "c8g.2xlarge baseline",
		Origin: topology.Origin{Kind: topology.Catalogue, Where: "instances.csv of 2026-11-21"},
	}
	if burst {
		b.How, b.BurstFor = "c8g.2xlarge burst", 30*time.Minute
	}
	return b
}

func threshold(phrase string, limit, measured float64, outcome verdict.Outcome) verdict.ThresholdResult {
	t, err := suite.ParseThreshold(phrase)
	if err != nil {
		panic(err)
	}
	return verdict.ThresholdResult{Threshold: t, Measured: t.Metric.Value(measured), Limit: t.Metric.Value(limit), Outcome: outcome}
}

func shapes() []shape {
	concurrency := func(iops float64, ms string) ceiling.Bound {
		b := volume8(ceiling.Concurrency, iops, iops*8/1024, "1 I/O in flight ÷ "+ms)
		b.Origin = topology.Origin{Kind: topology.Measured, Where: "latency of this scenario"}
		return b
	}
	large := []ceiling.Bound{
		instance(ceiling.InstanceRate, 298, 298, false), volume8(ceiling.VolumeRate, 1000, 1000, "8 volumes × 125 MiB/s"),
		instance(ceiling.InstanceRate, 1192, 1192, true), volume8(ceiling.VolumeIOPS, 6000, 6000, "8 volumes × 3,000 IOPS ÷ 4 volume I/Os"),
	}
	written := []ceiling.Bound{
		instance(ceiling.InstanceRate, 149, 149, false), volume8(ceiling.VolumeRate, 500, 500, "8 volumes × 125 MiB/s ÷ 2 copies"),
		instance(ceiling.InstanceRate, 596, 596, true),
	}
	return []shape{
		{
			1, "sync-latency", "Sync latency (the heartbeat)", topology.WAL, 8 << 10, 1, 1, 0, true, 536, 0.61, 0.16, 1.24,
			[]ceiling.Bound{concurrency(538, "1.858 ms"), volume8(ceiling.VolumeIOPS, 12000, 93.75, "8 volumes × 3,000 IOPS ÷ 2 copies")},
			[]verdict.ThresholdResult{
				threshold("write.iops >= 0.95 * ceiling", 511, 536, verdict.Met),
				threshold("write.lat.p99 < 3ms", 3e6, 2.5e6, verdict.Met),
			},
			verdict.Pass,
		},
		{3, "rand-read-latency", "Random read latency", topology.Data, 8 << 10, 1, 1, 1, false, 1690, 0.589, 0.22, 0, []ceiling.Bound{
			concurrency(1698, "0.589 ms"), volume8(ceiling.VolumeIOPS, 24000, 187.5, "8 volumes × 3,000 IOPS"),
		}, []verdict.ThresholdResult{threshold("read.clat.p99 < 1ms", 1e6, 1.06e6, verdict.Missed)}, verdict.Fail},
		{4, "seq-read", "Sequential read bandwidth", topology.Data, 1 << 20, 1, 16, 1, false, 1003, 15.9, 0.18, 0, large, nil, verdict.Warn},
		{5, "wal-seq-write", "Sequential write bandwidth (the firehose)", topology.WAL, 1 << 20, 1, 16, 0, false, 508, 31.4, 0.2, 0, written, nil, verdict.Warn},
		{7, "seq-write", "Sequential write bandwidth of the data volume", topology.Data, 1 << 20, 1, 16, 0, false, 509, 31.3, 0.2, 0, written, nil, verdict.Warn},
		{10, "wal-seq-read", "Sequential read bandwidth (recovery replay)", topology.WAL, 1 << 20, 1, 8, 1, false, 1003, 7.9, 0.14, 0, large, nil, verdict.Warn},
		{2, "mixed-stress", "Mixed 70/30 random I/O under load", topology.Data, 8 << 10, 4, 64, 0.7, false, 18700, 13.7, 0.5, 0, []ceiling.Bound{
			instance(ceiling.InstanceIOPS, 9231, 72, false), volume8(ceiling.VolumeIOPS, 18462, 144.2, "8 volumes × 3,000 IOPS ÷ 1.3 volume I/Os per I/O"),
			instance(ceiling.InstanceIOPS, 30769, 240, true),
		}, []verdict.ThresholdResult{threshold("total.iops >= 0.95 * ceiling", 17539, 18700, verdict.Met)}, verdict.Warn},
		{8, "rand-write", "Random write IOPS", topology.Data, 8 << 10, 4, 64, 0, false, 12200, 20.9, 0.35, 0, []ceiling.Bound{
			volume8(ceiling.VolumeIOPS, 12000, 93.75, "8 volumes × 3,000 IOPS ÷ 2 copies"),
		}, nil, verdict.Pass},
		{6, "concurrent-sync", "Concurrent synced writes (the traffic jam)", topology.WAL, 32 << 10, 4, 32, 0, true, 6200, 0.9, 0.4, 2.1, nil, []verdict.ThresholdResult{
			{Threshold: suite.Threshold{Text: "write.iops >= 0.95 * ceiling"}, Outcome: verdict.NotJudged, Reason: "the ceiling is unknown"},
		}, verdict.Pass},
		{9, "mixed-sync", "Mixed random I/O with synced writes (as in a database)", topology.Data, 8 << 10, 4, 32, 0.7, true, 9100, 7.2, 0.6, 2.4, nil, nil, verdict.Invalid},
	}
}

// synthetic is a db run of ten scenarios with the figures of the guide, made up from fixed seeds:
// the same in each test.
func synthetic(seconds int) *bundle.Bundle {
	start := time.Date(2026, 11, 21, 3, 12, 0, 0, time.UTC)
	b := &bundle.Bundle{Run: bundle.Run{
		Schema: bundle.Schema, Tool: "plimsoll 0.1.0", Fio: "fio-3.33", ID: "20261121T031200Z-db-ip-10-0-0-105", Created: start,
		Finished: start.Add(11 * time.Minute), State: bundle.Finished, Labels: map[string]string{"ticket": "OPS-1201"},
		Topology: syntheticMachine(), Suite: suite.Suite{Name: "db", Source: "built in", Cooldown: 5 * time.Second},
		Settings: bundle.Settings{Data: "/data", WAL: "/wal", Cooldown: 5 * time.Second},
		Ceilings: map[int]ceiling.Ceiling{}, Verdict: verdict.Invalid,
		Reasons: []string{
			"Scenario 9 mixed-sync is invalid: fio ended after 31 of 60 s with error 28 (no space left on device).",
			"Scenario 3 rand-read-latency missed its target read.clat.p99 < 1ms: it measured 1.06 ms.",
			"1,003 MiB/s of seq-read is a burst: c8g.2xlarge sustains 298 MiB/s after 30 min. (PL601, 5 scenarios)",
		},
	}}
	for i, s := range shapes() {
		sc := bundle.Scenario{
			Scenario: suite.Scenario{
				ID: s.id, Name: s.name, Title: s.title, Role: s.role, Runtime: time.Duration(seconds) * time.Second,
				Job: fio.JobFile{Name: s.name, Sections: []fio.Section{{Name: s.name, Options: []fio.Option{{Name: "bs", Value: s.bs.String()}}}}},
			},
			Thresholds: s.targets, Verdict: s.verdict,
		}
		if s.bounds != nil {
			c := ceiling.Ceiling{Bounds: s.bounds, Notes: []string{"offsets are taken to be aligned to the block size"}}
			sc.Ceiling = &c
			b.Run.Ceilings[s.id] = c
		}
		sc.Result = s.result(i, seconds, start.Add(time.Duration(i)*65*time.Second))
		b.Run.Suite.Scenarios = append(b.Run.Suite.Scenarios, sc.Scenario)
		b.Scenarios = append(b.Scenarios, sc)
	}
	b.Findings = []finding.Finding{
		{
			Code: "PL204", Severity: finding.Warn, Title: "an array member is slower than its peers", Subject: "nvme3n1", Scenarios: []int{2, 8},
			Message:  "nvme3n1 queues 3.9 times as long as the other 7 members of md0 and bounds them all.",
			Evidence: []finding.Evidence{{What: "await of nvme3n1", Found: "41.2 ms", Expected: "about 10.6 ms, the median of its peers", Where: "/proc/diskstats, scenario 2"}},
			Why:      "A stripe is as fast as its slowest member.", Fix: "Replace the volume; compare its type and its provisioned IOPS with the others' first.",
			Commands: []string{"aws ec2 describe-volumes --filters Name=attachment.device,Values=/dev/sdd", "mdadm /dev/md0 --replace /dev/nvme3n1 --with /dev/nvme9n1"},
		},
		{
			Code: "PL601", Severity: finding.Warn, Title: "the result is a burst that the run was too short to see end", Subject: "4 seq-read", Scenarios: []int{4, 5, 7, 10, 2},
			Message: "1,003 MiB/s of seq-read is a burst: c8g.2xlarge sustains 298 MiB/s after 30 min.",
			Why:     "A database sized on the burst slows down half an hour after it gets busy.", Fix: "Plan with the sustained figure, or take an instance whose baseline is enough.",
		},
		{
			Code: "PL503", Severity: finding.Warn, Title: "far below the ceiling", Subject: "9 sync-mix", Scenarios: []int{9},
			Message: "4,600 IOPS (36 MiB/s) are 25.0 % of the 18,400 (144 MiB/s) that volume IOPS allows.", Fix: "Find out why members did no I/O.",
			Account: finding.NewAccount(18400, 4600, []finding.Factor{
				{Cause: finding.IdleMembers, Factor: 0.5, How: "4 of 8 members did no I/O"},
				{Cause: finding.SlowMember, Who: "nvme3n1", Factor: 0.8, How: "nvme3n1 takes 41.2 ms per request, its peers 10.6 ms"},
			}),
		},
		{
			Code: "PL506", Severity: finding.Info, Title: "a mirrored array reads from every member", Subject: "4 seq-read", Scenarios: []int{4},
			Message: "Reads of 1003MiB/s exceed the 500MiB/s of 4 volumes, since all 8 members of md0 serve reads.",
		},
	}
	return b
}

func syntheticMachine() topology.Topology {
	array := func(name string, chunk units.Bytes, size units.Bytes) topology.Array {
		a := topology.Array{
			Name: name, Path: "/dev/" + name, Level: topology.RAID10, Copies: 2, Chunk: chunk, Size: size,
			Origin: topology.Origin{Kind: topology.Detected, Where: "/sys/block/" + name + "/md"},
		}
		for i := range 8 {
			a.Volumes = append(a.Volumes, topology.Volume{
				Device: fmt.Sprintf("nvme%dn1", i+1), Type: "gp3", Size: size / 4, Network: true,
				Sustained: topology.Limits{IOPS: 3000, Rate: 125 * units.MiBPerSec}, Origin: topology.Origin{Kind: topology.Declared, Where: "plimsoll.yaml:7"},
			})
		}
		return a
	}
	return topology.Topology{
		Host: topology.Host{Name: "ip-10-0-0-105", Kernel: "6.12.9", OS: "Debian GNU/Linux 12", CPU: "Graviton4", CPUs: 8, Memory: 16 << 30, Virt: "Amazon EC2"},
		Instance: topology.Instance{
			Type: "c8g.2xlarge", Baseline: topology.Limits{IOPS: 12000, Rate: 312.5e6}, Burst: topology.Limits{IOPS: 40000, Rate: 1250e6},
			BurstFor: 30 * time.Minute, BurstPer: 24 * time.Hour, Origin: topology.Origin{Kind: topology.Catalogue, Where: "instances.csv of 2026-11-21"},
		},
		Targets: []topology.Target{
			{Role: topology.Data, Path: "/data", Device: "md0", Array: "md0", Free: new(units.Bytes(190 << 30))},
			{Role: topology.WAL, Path: "/wal", Device: "md1", Array: "md1", Free: new(units.Bytes(110 << 30))},
		},
		Arrays: []topology.Array{array("md0", 64<<10, 200<<30), array("md1", 256<<10, 120<<30)},
		Notes:  []string{"EBS volume IDs: the EC2 API answered with no credentials"},
	}
}

const rampSeconds = 5

func (s shape) result(seed, seconds int, start time.Time) *result.Result {
	rnd := rand.New(rand.NewPCG(uint64(seed), 42))
	r := &result.Result{
		ID: s.id, Name: s.name, Title: s.title, Role: s.role, Dir: fmt.Sprintf("%02d-%s", s.id, s.name), State: result.Done, Start: start,
		Wall: time.Duration(seconds+rampSeconds) * time.Second, Measured: time.Duration(seconds) * time.Second,
		Planned: time.Duration(seconds) * time.Second, Fio: "fio-3.33",
		Command: []string{
			"fio", "--name=" + s.name, "--filename=/" + string(s.role) + "/.plimsoll/" + string(s.role), "--bs=" + s.bs.String(), "--ioengine=libaio", "--direct=1",
			fmt.Sprintf("--iodepth=%d", s.depth), fmt.Sprintf("--numjobs=%d", s.jobs), "--time_based", fmt.Sprintf("--runtime=%ds", seconds), "--output-format=json+",
		},
	}
	w := fio.Workload{Name: s.name, Engine: "libaio", Direct: true, ReadShare: s.read, Jobs: s.jobs, Depth: s.depth}
	var totals [3]fio.Hist
	var bytes [2]units.Bytes
	for sec := range seconds + rampSeconds {
		now := result.Second{At: time.Duration(sec+1) * time.Second, Len: time.Second, Ramp: sec < rampSeconds}
		slow := 1.0
		if s.id == 2 && sec >= 38 && sec < 43 { // a stall, as when the members sync
			slow = 3.2
		}
		n := s.iops * (1 + 0.012*rnd.NormFloat64()) / math.Sqrt(slow)
		for i, share := range []float64{s.read, 1 - s.read} {
			h := &fio.Hist{}
			for range int(n * share) {
				ms := s.mean * slow * math.Exp(s.spread*rnd.NormFloat64())
				if rnd.Float64() < 0.002 {
					ms *= 4 + 3*rnd.Float64()
				}
				h.Add(time.Duration(ms*1e6), 1)
			}
			in := result.Interval{N: h.Count(), Bytes: units.Bytes(h.Count()) * s.bs, Hist: h}
			if h.Count() == 0 {
				in.Hist = nil
			}
			if i == 0 {
				now.Read = in
			} else {
				now.Write = in
			}
			if !now.Ramp {
				totals[i].Merge(h)
				bytes[i] += in.Bytes
			}
		}
		if s.sync {
			now.Sync = &fio.Hist{}
			for range now.Write.N {
				now.Sync.Add(time.Duration(s.syncMean*math.Exp(0.2*rnd.NormFloat64())*1e6), 1)
			}
			if !now.Ramp {
				totals[2].Merge(now.Sync)
			}
		}
		for d := range 9 {
			busy := 0.62 + 0.03*rnd.NormFloat64()
			if d == 3 || d == 0 {
				busy = 0.96 + 0.02*rnd.NormFloat64()
			}
			now.Util = append(now.Util, min(busy, 1))
			now.Queue = append(now.Queue, float64(s.depth*s.jobs)/float64(min(d+1, 2)*min(d*3+1, 4))*busy)
		}
		now.Dirty = units.Bytes(4<<20 + rnd.IntN(1<<20))
		r.Seconds = append(r.Seconds, now)
	}
	job := fio.Job{Name: s.name, Count: s.jobs, Runtime: r.Measured, CPU: fio.CPU{User: 0.031, System: 0.084}}
	fill := func(h *fio.Hist, size units.Bytes) fio.Direction {
		mean, dev := h.Mean()
		return fio.Direction{
			N: h.Count(), Bytes: size, IOPS: units.IOPS(float64(h.Count()) / float64(seconds)), BW: units.Rate(float64(size) / float64(seconds)), Runtime: r.Measured,
			Clat: fio.Latency{N: h.Count(), Mean: mean, StdDev: dev, Min: h.Percentile(0), Max: h.Percentile(100), Hist: h},
		}
	}
	if s.read > 0 {
		job.Read = fill(&totals[0], bytes[0])
	}
	if s.read < 1 {
		job.Write = fill(&totals[1], bytes[1])
	}
	if s.sync {
		job.Sync = fio.Sync{Lat: fill(&totals[2], 0).Clat}
		w.SyncEvery = 1
	}
	r.Workloads = []fio.Workload{w}
	r.Jobs, r.Total = []fio.Job{job}, job
	n, bw := job.Rates()
	r.IOPS = stats.Estimate{Center: float64(n), Lo: float64(n) * 0.991, Hi: float64(n) * 1.009, N: 12}
	r.BW = stats.Estimate{Center: float64(bw), Lo: float64(bw) * 0.991, Hi: float64(bw) * 1.009, N: 12}
	r.Depth = result.Depth{Asked: s.jobs * s.depth, Little: float64(s.jobs*s.depth) * 0.98, Fio: float64(s.jobs * s.depth), Device: float64(s.jobs*s.depth) * 0.95}
	if s.sync && s.depth > 1 {
		r.Depth.Device = 6.4
		r.Depth.Note = fmt.Sprintf("each job waits in a sync after its writes, so of the %.0f I/Os that fio counts as in flight, only 6.4 were at the device; latencies include that wait", r.Depth.Little)
		r.BW.Doubts = []string{"drifts by -4 % from start to end: not steady"}
		r.IOPS.Doubts = r.BW.Doubts
	}
	for d := range 9 {
		name := fmt.Sprintf("nvme%dn1", d)
		if d == 0 {
			name = "md0"
		}
		u := telemetry.DeviceUse{Name: name, ReadIOPS: n * units.IOPS(s.read) / 8, WriteIOPS: n * units.IOPS(1-s.read) / 4, Queue: float64(s.depth*s.jobs) / 8, Util: 0.62}
		u.ReadRate, u.WriteRate = units.Rate(u.ReadIOPS)*units.Rate(s.bs), units.Rate(u.WriteIOPS)*units.Rate(s.bs)
		u.ReadWait, u.WriteWait = time.Duration(s.mean*s.read*9e5), time.Duration(s.mean*(1-s.read)*9e5)
		if d == 3 {
			u.Util, u.Queue = 0.97, u.Queue*3.9
		}
		r.Devices = append(r.Devices, u)
	}
	r.Host = &telemetry.HostUse{CPUs: 8, User: 0.012, System: 0.04, IOWait: 0.2, DirtyMax: 5 << 20, IOSome: 0.91, IOFull: 0.88, SamplerCPU: 0.0021}
	if s.verdict == verdict.Invalid {
		r.State, r.Reasons, r.Measured = result.Invalid, []string{"fio ended after 31 of 60 s with error 28 (no space left on device)"}, 31*time.Second
	}
	return r
}
