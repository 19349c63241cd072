package lab_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

type fioSide struct {
	IOPS float64 `json:"iops"`
	BW   float64 `json:"bw_bytes"`
	Lat  struct {
		Mean float64 `json:"mean"`
	} `json:"lat_ns"`
	Clat struct {
		Percentile map[string]float64 `json:"percentile"`
	} `json:"clat_ns"`
}

type fioJob struct {
	Read  fioSide `json:"read"`
	Write fioSide `json:"write"`
}

// guestFio runs one job in the guest and returns its sums.
func guestFio(t *testing.T, g *lab.Guest, args string) fioJob {
	t.Helper()
	r, err := g.Bash(t.Context(), "fio --name=j --ioengine=libaio --direct=1 --time_based --group_reporting --norandommap --randrepeat=0 --output-format=json "+args)
	if err != nil || r.Code != 0 {
		t.Fatalf("fio: %v, exit status %d: %s%s", err, r.Code, r.Stdout, r.Stderr)
	}
	var out struct {
		Jobs []fioJob `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(r.Stdout[strings.Index(r.Stdout, "{"):]), &out); err != nil || len(out.Jobs) != 1 {
		t.Fatalf("fio said %q: %v", r.Stdout, err)
	}
	return out.Jobs[0]
}

func TestExplore(t *testing.T) {
	runtime.GOMAXPROCS(8)
	g := labtest.Start(t, "gp3x8-raid10")
	if err := g.Unlimit(); err != nil {
		t.Fatal(err)
	}
	r, err := g.Bash(t.Context(), `for mp in /wal /data; do for i in 0 1 2 3; do dd if=/dev/urandom of=$mp/f.$i bs=4M count=64 oflag=direct conv=fsync 2>/dev/null & done; wait; done; sync`)
	if err != nil || r.Code != 0 {
		t.Fatal(r, err)
	}
	t.Logf("layout %v", r.Wall)
	files := func(mp string) string { return "--filename_format='" + mp + "/f.$jobnum' --size=256M" }
	if j := guestFio(t, g, "--runtime=4 --ramp_time=1 --rw=randread --bs=8k --iodepth=1 "+files("/data")); true {
		t.Logf("zero latency QD1 read mean %.0f us p50 %.0f", j.Read.Lat.Mean/1000, j.Read.Clat.Percentile["50.000000"]/1000)
	}
	if j := guestFio(t, g, "--runtime=4 --ramp_time=1 --rw=write --fdatasync=1 --bs=8k --iodepth=1 "+files("/wal")); true {
		t.Logf("zero latency QD1 write %0.f iops mean %.0f us p50 %.0f", j.Write.IOPS, j.Write.Lat.Mean/1000, j.Write.Clat.Percentile["50.000000"]/1000)
	}
	if j := guestFio(t, g, "--runtime=4 --ramp_time=1 --rw=randread --bs=8k --iodepth=64 --numjobs=4 "+files("/data")); true {
		t.Logf("unlimited randread %.0f", j.Read.IOPS)
	}
	if err := g.Limit(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, mp string }{
		{"W1 8k fdsync QD1", "--rw=write --bs=8k --iodepth=1 --fdatasync=1", "/wal"},
		{"W2 1M write", "--rw=write --bs=1M --iodepth=16", "/wal"},
		{"W3 32k fdsync", "--rw=write --bs=32k --iodepth=32 --numjobs=4 --fdatasync=1", "/wal"},
		{"W4 1M read", "--rw=read --bs=1M --iodepth=8", "/wal"},
		{"D1 randrw", "--rw=randrw --rwmixread=70 --bs=8k --iodepth=64 --numjobs=4", "/data"},
		{"D0 randread", "--rw=randread --bs=8k --iodepth=64 --numjobs=4", "/data"},
		{"D2 randread QD1", "--rw=randread --bs=8k --iodepth=1", "/data"},
		{"D3 1M read", "--rw=read --bs=1M --iodepth=16", "/data"},
		{"D4 1M write", "--rw=write --bs=1M --iodepth=16", "/data"},
		{"D5 randwrite", "--rw=randwrite --bs=8k --iodepth=64 --numjobs=4", "/data"},
		{"D6 randrw fdsync", "--rw=randrw --rwmixread=70 --bs=8k --iodepth=32 --numjobs=4 --fdatasync=1", "/data"},
	} {
		j := guestFio(t, g, "--runtime=8 --ramp_time=2 "+c.args+" "+files(c.mp))
		side := func(s fioSide) string {
			return fmt.Sprintf("%.0f IOPS %.1f MiB/s mean %.3f ms p50 %.3f", s.IOPS, s.BW/(1<<20), s.Lat.Mean/1e6, s.Clat.Percentile["50.000000"]/1e6)
		}
		t.Logf("%-18s R %s | W %s | sum %.0f", c.name, side(j.Read), side(j.Write), j.Read.IOPS+j.Write.IOPS)
	}
}
