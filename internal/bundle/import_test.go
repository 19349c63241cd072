package bundle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

func imported(t *testing.T, doc string, f Found) []*result.Result {
	t.Helper()
	outs, err := output.Read("x", strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	f.Outputs = outs
	results, err := f.Results()
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// rowJSON is a row of fio's JSON with 100 reads per second for a time.
func rowJSON(name, host string, seconds float64, options string) string {
	if host != "" {
		host = fmt.Sprintf(`"hostname":%q,`, host)
	}
	n := int(100 * seconds)
	return fmt.Sprintf(`{"jobname":%q,%s"groupid":0,"error":0,"job options":{"name":%q%s},"read":{"io_bytes":%d,"io_kbytes":%d,"bw_bytes":409600,"bw":400,
		"iops":100,"runtime":%d,"total_ios":%d}}`, name, host, name, options, n*4096, n*4, int(seconds*1000), n)
}

// TestRowsOfOneJobCountOnce: without group_reporting fio prints a row for each of numjobs, and each
// of them says numjobs (JUDGED.md D2: "of 128 I/Os asked for, 32 were in flight").
func TestRowsOfOneJobCountOnce(t *testing.T) {
	row := rowJSON("a", "", 2, `,"numjobs":"4","iodepth":"8","ioengine":"libaio","rw":"randread","bs":"4k"`)
	doc := `{"fio version":"fio-3.33","jobs":[` + strings.Join([]string{row, row, row, row}, ",") + `]}`
	r := imported(t, doc, Found{})[0]
	if r.Depth.Asked != 32 || len(r.Workloads) != 1 || r.Workloads[0].Jobs != 4 {
		t.Errorf("asked for %d in %+v", r.Depth.Asked, r.Workloads)
	}
	grouped := imported(t, `{"fio version":"fio-3.33","jobs":[`+row+`]}`, Found{})[0]
	if grouped.Depth.Asked != 32 {
		t.Errorf("one row of a group: asked for %d", grouped.Depth.Asked)
	}
}

// TestDeadHostIsMissed: of fio --client, a total that is missing next to several hosts, or fewer
// hosts than were connected, is said.
func TestDeadHostIsMissed(t *testing.T) {
	a, b, all := rowJSON("j", "h1", 2, ""), rowJSON("j", "h2", 2, ""), rowJSON("All clients", "", 2, "")
	whole := imported(t, `{"fio version":"fio-3.33","client_stats":[`+a+","+b+","+all+`]}`, Found{})[0]
	if len(whole.Incomplete) != 0 || len(whole.Parts) != 2 || whole.Sum().IOPS != 200 {
		t.Errorf("%q, %d parts, %v", whole.Incomplete, len(whole.Parts), whole.Sum())
	}
	if dead := imported(t, `{"fio version":"fio-3.33","client_stats":[`+a+","+b+`]}`, Found{})[0]; len(dead.Incomplete) != 1 {
		t.Errorf("without a total: %q", dead.Incomplete)
	}
	hello := "hostname=%s, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1\n"
	if dead := imported(t, fmt.Sprintf(hello+hello, "h1", "h2")+`{"fio version":"fio-3.33","client_stats":[`+a+`]}`, Found{})[0]; len(dead.Incomplete) != 1 {
		t.Errorf("one of two hosts: %q", dead.Incomplete)
	}
	if one := imported(t, fmt.Sprintf(hello, "h1.example.org")+`{"fio version":"fio-3.33","client_stats":[`+a+`]}`, Found{})[0]; len(one.Incomplete) != 0 {
		t.Errorf("the only host: %q", one.Incomplete)
	}
}

// TestCutShort: fio's JSON does not say time_based. A job that did neither all of its size nor all
// of its time was stopped (users-ask.md D2).
func TestCutShort(t *testing.T) {
	for _, c := range []struct {
		options string
		planned time.Duration
	}{
		{`,"rw":"read","bs":"4k","runtime":"20","size":"1g"`, 20 * time.Second},      // 1.2 MB of 1 GiB in 3 s
		{`,"rw":"read","bs":"4k","runtime":"20","size":"64k"`, 20 * time.Second},     // more than its size: time_based
		{`,"rw":"read","bs":"4k","runtime":"20","size":"1200k"`, 0},                  // all of its size
		{`,"rw":"read","bs":"4k","runtime":"20","size":"1g","io_size":"1200k"`, 0},   // all of its io_size
		{`,"rw":"read","bs":"4k","runtime":"20"`, 0},                                 // its size is not known
		{`,"rw":"read","bs":"4k","runtime":"20","time_based":"1"`, 20 * time.Second}, // in its own words
	} {
		r := imported(t, `{"fio version":"fio-3.33","jobs":[`+rowJSON("a", "", 3, c.options)+`]}`, Found{})[0]
		if r.Planned != c.planned {
			t.Errorf("%s: planned %s, want %s", c.options, r.Planned, c.planned)
		}
	}
	r := imported(t, "fio: terminating on signal 2\n"+`{"fio version":"fio-3.33","jobs":[`+rowJSON("a", "", 3, `,"rw":"read","runtime":"20"`)+`]}`, Found{})[0]
	if len(r.Incomplete) != 1 || r.Planned != 20*time.Second {
		t.Errorf("%q, planned %s", r.Incomplete, r.Planned)
	}
}

// TestNames: rows go by their jobs, and by what tells them apart where several have one name; a
// hash tells nothing.
func TestNames(t *testing.T) {
	output := func(source, title, job string) *fio.Output {
		return &fio.Output{Source: source, Title: title, Format: fio.Text, Jobs: []fio.Job{{Name: job, Read: fio.Direction{N: 1, IOPS: 1, Bytes: 4 * units.KiB, Runtime: time.Second}, Runtime: time.Second}}}
	}
	for _, c := range []struct {
		outputs []*fio.Output
		want    string
	}{
		{[]*fio.Output{output("dir/round-15.log", "", "28k_r_r")}, "28k_r_r"},
		{[]*fio.Output{output("round-15.log", "", "28k_r_r"), output("round-16.log", "", "28k_r_r")}, "round-15-28k_r_r round-16-28k_r_r"},
		{[]*fio.Output{output("a.md", "before:", "x"), output("a.md", "after:", "x")}, "before-x after-x"},
		{[]*fio.Output{output("6f1ed002ab5595859014ebf0951522d9.log", "", ""), output("6f1ed002ab5595859014ebf0951522d8.log", "", "")}, "output output-2"},
		{[]*fio.Output{output("-", "nvme1:", "all jobs")}, "nvme1"},
	} {
		results, err := Found{Outputs: c.outputs}.Results()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range results {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestOnlyTheTotalOfClients: a paste of the row "All clients" alone is a result, with a caveat.
func TestOnlyTheTotalOfClients(t *testing.T) {
	outs, err := output.Read("a.md", strings.NewReader(`All clients: (groupid=0, jobs=3): err= 0: pid=0: Tue Nov 21 11:13:16 2023
  write: IOPS=968, BW=121Mi (127M)(60.0GiB/507636msec); 0 zone resets
    clat (usec): min=3059, max=64052, avg=12252.21, stdev=2690.49
`))
	if err != nil {
		t.Fatal(err)
	}
	results, err := (Found{Outputs: outs}).Results()
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	r := results[0]
	if n := float64(r.Total.Write.IOPS); n < 967 || n > 969 || r.Total.Write.Clat.Mean != 12252210 || r.State != result.Done ||
		!strings.Contains(strings.Join(r.Doubts, "; "), "only the total of all clients") {
		t.Errorf("%v IOPS, %s, %q", r.Total.Write.IOPS, r.State, r.Doubts)
	}
}
