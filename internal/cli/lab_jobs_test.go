package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/result"
)

// randomJob is a scenario of sizes, mixes, depths and rates as they come.
func randomJob(r *rand.Rand, id int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	rw := pick("read", "write", "randread", "randwrite", "randrw", "randrw", "rw")
	options := []string{"ioengine: libaio", "direct: 1", "rw: " + rw, "norandommap: 1"}
	if strings.HasSuffix(rw, "rw") {
		options = append(options, fmt.Sprintf("rwmixread: %d", 10+r.IntN(81)))
	}
	switch r.IntN(4) {
	case 0:
		options = append(options, `bssplit: "4k/50:64k/50"`)
	case 1:
		options = append(options, `bssplit: "8k/70:512k/30"`)
	case 2:
		options = append(options, "bsrange: 4k-32k")
	default:
		options = append(options, "bs: "+pick("4k", "8k", "16k", "28k", "36k", "64k", "128k", "300k", "1m"))
	}
	options = append(options, "iodepth: "+pick("1", "4", "16", "32"), "numjobs: "+pick("1", "1", "2", "4"))
	switch r.IntN(5) {
	case 0:
		options = append(options, fmt.Sprintf("rate_iops: %d", 20+r.IntN(400)))
	case 1:
		options = append(options, fmt.Sprintf("rate: %dk", 500+r.IntN(8000)))
	case 2:
		if strings.HasSuffix(rw, "rw") {
			options = append(options, fmt.Sprintf(`rate_iops: "%d,%d"`, 20+r.IntN(300), 20+r.IntN(300)))
		}
	}
	return fmt.Sprintf("  - {id: %d, name: job-%d, role: data, size: 128MiB, fio: {%s}}\n", id, id, strings.Join(options, ", "))
}

// ahead is the share of what was moved that may be counted beyond what a limit lets through in the time
// of the measurement: one I/O of each job and direction that fio has issued ahead of a rate, and of what
// any other limit lets through one I/O, which began before the measurement did.
func ahead(r *result.Result, by ceiling.Kind) float64 {
	bytes, one := 0.0, 0.0
	for _, w := range r.Workloads {
		for _, read := range []bool{true, false} {
			sizes, _ := w.Blocks(read)
			largest := 0.0
			for _, size := range sizes {
				largest = max(largest, float64(size.Size))
			}
			bytes += largest * float64(max(w.Jobs, 1))
			one = max(one, largest)
		}
	}
	if by != ceiling.RequestedRate {
		bytes = one
	}
	return bytes / float64(r.Total.Read.Bytes+r.Total.Write.Bytes)
}

// TestLabJobs runs 20 random jobs, 60 with PLIMSOLL_LAB=all, on volumes that are really limited:
// none reads above 103 % of the ceiling that was worked out for what it did, but for an I/O ahead.
func TestLabJobs(t *testing.T) {
	spec, err := lab.ParseSpec("jobs", []byte(`
scale: 0.1
instance: {iops: 9000, throughput: 300MiB/s}
volumes:
  - {name: data, count: 4, iops: 3000, throughput: 125MiB/s, latency: {read: 0.5ms, write: 1.5ms}}
arrays:
  - {name: data, role: data, volumes: [data]}
setup:
  - mdadm --create /dev/md/data --run --level=10 --chunk=64 --raid-devices=4 --assume-clean --homehost=any --name=data "${data[@]}"
  - udevadm settle; mkfs.xfs -q -K -l su=32k /dev/md/data && mkdir -p /data && mount -o noatime /dev/md/data /data
`))
	if err != nil {
		t.Fatal(err)
	}
	rounds, over, judged := 1, 0, 0
	if os.Getenv("PLIMSOLL_LAB") == "all" {
		rounds = 3
	}
	r := rand.New(rand.NewPCG(103, 26))
	g := labtest.StartSpec(t, spec)
	for round := range rounds {
		suite := "name: jobs\ncooldown: 0s\nruntime: 6s\nramp: 2s\nscenarios:\n"
		for id := range 20 {
			suite += randomJob(r, id+1)
		}
		out := "jobs-" + strconv.Itoa(round)
		if err := g.Put(t.Context(), "/root/suite.yaml", 0o644, []byte(suite)); err != nil {
			t.Fatal(err)
		}
		do(t, g, "plimsoll run suite.yaml --data /data --topology plimsoll.yaml --progress none --out "+out+" || test $? -le 4")
		b := fetched(t, g, out)
		lines := strings.SplitAfter(suite, "\n")[5:]
		for i := range b.Scenarios {
			s := &b.Scenarios[i]
			limit := s.Ceiling.Binding()
			if s.Result == nil || s.Result.State != result.Done || limit == nil {
				t.Errorf("%s: %+v, ceiling %+v", lines[i], s.Result, s.Ceiling)
				continue
			}
			n, bw := s.Result.Total.Rates()
			share := min(float64(n/limit.IOPS), float64(bw/limit.BW))
			t.Logf("%.1f %% of %s: %s", 100*share, limit.Label(), strings.TrimSpace(lines[i]))
			if judged++; share > 1.03+ahead(s.Result, limit.Kind) {
				over++
				t.Errorf("%.1f %% of %v by %s (%s): %s", 100*share, limit.IOPS, limit.Label(), limit.How, lines[i])
			}
		}
	}
	t.Logf("%d of %d jobs read above 103 %%", over, judged)
}
