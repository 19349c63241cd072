package lab_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

type fioSide struct {
	IOPS float64 `json:"iops_mean"` // of the measured seconds, see TestRates
	BW   float64 `json:"bw_mean"`   // KiB/s
	Lat  struct {
		Mean float64 `json:"mean"`
	} `json:"lat_ns"`
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
	_, document, _ := strings.Cut(r.Stdout, "{") // fio may have said something first
	if err := json.Unmarshal([]byte("{"+document), &out); err != nil || len(out.Jobs) != 1 {
		t.Fatalf("fio said %q: %v", r.Stdout, err)
	}
	return out.Jobs[0]
}

const layOut = `for i in 0 1 2 3; do dd if=/dev/urandom of=/data/f.$i bs=4M count=16 oflag=direct conv=fsync 2>/dev/null & done; wait; sync`

// TestRates drives the guide's DATA array at 1/10 scale and holds what fio measures, through md and
// XFS in the guest, to what the limits allow: half of the volumes' IOPS for writes, all of them for
// reads. It takes the mean of fio's samples. fio's own total divides by a time that ends with the
// last I/O in flight: with 256 writes in flight at 1,200 a second the drain takes 0.35 s more, in
// which the four pairs empty one after the other, and the total of 5 s was 7.7 % low in run after
// run (of 40 s 1 %).
func TestRates(t *testing.T) {
	g := labtest.StartSpec(t, dataArray(t, "300", "12.5MiB/s"))
	if err := g.Unlimit(); err != nil {
		t.Fatal(err)
	}
	must(t, g, layOut)
	if err := g.Limit(); err != nil {
		t.Fatal(err)
	}
	const deep = "--iodepth=64 --numjobs=4 --bs=8k"
	for _, c := range []struct {
		name, args string
		got        func(fioJob) float64
		want       float64
	}{
		{"randread 8k, IOPS", "--rw=randread " + deep, func(j fioJob) float64 { return j.Read.IOPS }, 8 * 300},
		{"randwrite 8k, IOPS", "--rw=randwrite " + deep, func(j fioJob) float64 { return j.Write.IOPS }, 4 * 300},
		{"randrw 70/30 8k, IOPS", "--rw=randrw --rwmixread=70 " + deep, func(j fioJob) float64 { return j.Read.IOPS + j.Write.IOPS }, 2400 / 1.3},
		{"read 1M, bytes/s", "--rw=read --bs=1M --iodepth=16", func(j fioJob) float64 { return j.Read.BW * 1024 }, 8 * 12.5 * (1 << 20)},
		{"write 1M, bytes/s", "--rw=write --bs=1M --iodepth=16", func(j fioJob) float64 { return j.Write.BW * 1024 }, 4 * 12.5 * (1 << 20)},
	} {
		before := reads(g)
		j := guestFio(t, g, "--runtime=6 --ramp_time=2 --filename_format='/data/f.$jobnum' --size=64M "+c.args)
		share := c.got(j) / c.want
		t.Logf("%-22s %.4g of %.4g: %+.1f %%", c.name, c.got(j), c.want, 100*(share-1))
		if load := hostLoad(t); share < 0.95 && load > 4 {
			t.Skipf("NO RATES: %s: %.4g of %.4g on a host with a load of %g", c.name, c.got(j), c.want, load)
		}
		if share < 0.95 || share > 1.05 {
			t.Errorf("%s: %.4g, want %.4g within 5 %%", c.name, c.got(j), c.want)
		}
		if j.Read.IOPS > 0 && reads(g) == before {
			t.Errorf("%s: no read reached a volume", c.name)
		}
	}
}

// TestLatencies asks for the guide's latencies and holds what a program sees to them, unless the
// host is too busy: on an array with XFS, and on one of its volumes, which tells the lab's part from
// that of md and XFS. On an emulated CPU those take up to a millisecond of a write, which waits for
// the slower of two mirrors besides.
func TestLatencies(t *testing.T) {
	g := labtest.StartSpec(t, dataArray(t, "3000, latency: {read: 0.6ms, write: 1.8ms}", "125MiB/s"))
	if g.Overhead > lab.MaxOverhead {
		t.Skipf("NO LATENCIES: the way to a volume takes %v on this host now", g.Overhead)
	}
	must(t, g, layOut)
	jobs := []struct {
		args string
		got  func(fioJob) float64
		want float64 // ms
	}{
		{"--rw=randread", func(j fioJob) float64 { return j.Read.Lat.Mean }, 0.6},
		{"--rw=write --fdatasync=1", func(j fioJob) float64 { return j.Write.Lat.Mean }, 1.8},
	}
	measure := func(file string) (means []float64) {
		for _, c := range jobs {
			j := guestFio(t, g, "--runtime=4 --ramp_time=1 --bs=8k --iodepth=1 --size=64M --filename="+file+" "+c.args)
			got := c.got(j) / 1e6
			t.Logf("%s %s: mean %.3f ms, configured %.3f ms, overhead %v", file, c.args, got, c.want, g.Overhead)
			if got < c.want*0.95 {
				t.Errorf("%s %s: %.3f ms, want no less than %.3f", file, c.args, got, c.want)
			}
			means = append(means, got)
		}
		return means
	}
	array := measure("/data/f.0")
	must(t, g, "umount /data; mdadm --stop /dev/md/data")
	volume := measure(g.Volumes[0].Device)
	for i, c := range jobs {
		if volume[i] <= c.want+0.7 && array[i] <= volume[i]+1 {
			continue
		}
		if load := hostLoad(t); load > 2 {
			t.Skipf("NO LATENCIES: %.3f ms instead of %.3f on a host with a load of %g", volume[i], c.want, load)
		}
		t.Errorf("%s: %.3f ms of a volume and %.3f of the array, want %.3f", c.args, volume[i], array[i], c.want)
	}
}

// hostLoad is how many processes want to run on this host, of which two can.
func hostLoad(t *testing.T) (load float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &load)
	}
	if err != nil {
		t.Fatal(err)
	}
	return load
}

func dataArray(t *testing.T, iops, throughput string) *lab.Spec {
	t.Helper()
	s, err := lab.ParseSpec("test", []byte("volumes:\n  - {name: data, count: 8, size: 256MiB, iops: "+iops+", throughput: "+throughput+`}
setup:
  - mdadm --create /dev/md/data --run --level=10 --chunk=64 --raid-devices=8 --assume-clean --homehost=any --name=data "${data[@]}"
  - udevadm settle; mkfs.xfs -q -K /dev/md/data && mount -o noatime /dev/md/data /data
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reads(g *lab.Guest) (n int64) {
	for _, v := range g.Volumes {
		n += v.Stats().Reads
	}
	return n
}
