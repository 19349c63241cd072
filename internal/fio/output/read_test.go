package output

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/fio/running"
	fiotext "plimsoll/internal/fio/text"
)

func readBytes(t *testing.T, data []byte) []*fio.Output {
	t.Helper()
	outs, err := Read("out", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return outs
}

var readArgs = []string{"--name=a", "--ioengine=null", "--size=64m", "--rw=randrw", "--bs=8k", "--numjobs=2", "--name=b", "--stonewall", "--ioengine=null", "--size=8m", "--rw=trimwrite"}

func TestReadKnowsEachForm(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for format, want := range map[string]fio.Format{
		"normal": fio.Text, "json": fio.JSON, "json+": fio.JSONPlus, "terse": fio.Terse, "json,normal": fio.JSON, "json+,terse": fio.JSONPlus,
	} {
		t.Run(format, func(t *testing.T) {
			outs := readBytes(t, runFio(t, t.TempDir(), append([]string{"--output-format=" + format}, readArgs...)...))
			if len(outs) != 1 || outs[0].Format != want { // of a run printed in two forms, one (JUDGED.md D10)
				t.Fatalf("%d outputs, the first %+v", len(outs), outs[0])
			}
			for _, o := range outs {
				if len(o.Jobs) != 3 || len(o.Unread) > 0 || o.Jobs[2].Name != "b" || o.Jobs[2].Group != 1 || o.Version != installedVersion(t) {
					t.Errorf("got %+v", o)
				}
			}
			if strings.Contains(format, "normal") && len(outs[0].Groups) != 2 {
				t.Errorf("%d status groups", len(outs[0].Groups))
			}
		})
	}
}

func TestTerseSaysWhatJSONSays(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for _, version := range []string{"2", "3", "4", "5"} {
		t.Run("v"+version, func(t *testing.T) {
			args := append([]string{"--output-format=json,terse", "--terse-version=" + version, "--continue_on_error=all", "--description=one;two"},
				"--name=a;b", "--ioengine=libaio", "--filename=f", "--size=6m", "--rw=randrw", "--bs=8k", "--numjobs=2", "--name=c", "--stonewall", "--ioengine=null", "--size=8m", "--rw=randtrim")
			raw := runFio(t, t.TempDir(), args...)
			if outs := readBytes(t, raw); len(outs) != 1 || outs[0].Format == fio.Terse {
				t.Errorf("%d outputs of a run in two forms", len(outs))
			}
			apart := &mixedReader{text: &fiotext.Reader{}, rows: map[string]bool{}}
			apart.split = &running.Splitter{Doc: apart.document, Text: apart.line, Blanks: true}
			if _, err := apart.split.Write(raw); err != nil {
				t.Fatal(err)
			}
			if err := apart.split.Close(); err != nil {
				t.Fatal(err)
			}
			apart.endText()
			outs := apart.outs
			slices.SortFunc(outs, func(a, b *fio.Output) int { return strings.Compare(string(a.Format), string(b.Format)) })
			if len(outs) != 2 || outs[1].Format != fio.Terse {
				t.Fatalf("got %d outputs", len(outs))
			}
			js, terse := outs[0], outs[1]
			if len(terse.Unread) > 0 || len(terse.Jobs) != 3 {
				t.Fatalf("got %+v", terse)
			}
			if version != "2" {
				for i := range js.Disks { // terse has no sectors; documents have them from 3.36 on
					js.Disks[i].ReadBytes, js.Disks[i].WriteBytes, js.Disks[i].HasSectors = 0, 0, false
				}
				sameDisks(t, terse.Disks, js.Disks)
			}
			for i := range js.Jobs {
				g, w := terse.Jobs[i], js.Jobs[i]
				if g.Name != w.Name || g.Group != w.Group || g.Runtime != w.Runtime && version != "3" || g.Options["description"] != "one;two" && i < 2 {
					t.Errorf("row %q %d %v %q, want %q %d %v", g.Name, g.Group, g.Runtime, g.Options, w.Name, w.Group, w.Runtime)
				}
				dirs := [][2]fio.Direction{{g.Read, w.Read}, {g.Write, w.Write}, {g.Trim, w.Trim}}
				if version == "3" {
					dirs = dirs[:2]
				}
				for _, d := range dirs {
					a, b := d[0], d[1]
					if a.Bytes != b.Bytes || math.Abs(float64(a.N)-float64(b.N)) > 2 || a.Runtime != b.Runtime || math.Abs(float64(a.BW-b.BW)) > 1024 {
						t.Errorf("%s: got %d I/Os %v %v, want %d %v %v", g.Name, a.N, a.Bytes, a.BW, b.N, b.Bytes, b.BW)
					}
					for _, l := range [][2]fio.Latency{{a.Slat, b.Slat}, {a.Clat, b.Clat}, {a.Lat, b.Lat}} {
						x, y := l[0], l[1]
						if math.Abs(x.Mean-y.Mean) > 1e-3 || math.Abs(x.StdDev-y.StdDev) > 1e-3 || y.Max-x.Max >= time.Microsecond || len(x.Percentiles) != len(y.Percentiles) {
							t.Errorf("%s: got %+v, want %+v", g.Name, x, y)
						}
					}
				}
				if len(g.Buckets) == 0 || len(g.Depths) != 7 || math.Abs(g.CPU.User-w.CPU.User) > 1e-6 || g.CPU.ContextSwitches != w.CPU.ContextSwitches {
					t.Errorf("%s: %+v", g.Name, g)
				}
			}
		})
	}
}

// TestClientOutput runs a server on a unix socket, never on TCP, and reads what its client prints.
func TestClientOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	dir := t.TempDir()
	sock := filepath.Join(dir, "s")
	server := exec.Command("fio", "--server=sock:"+sock)
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	for range 100 {
		if _, err := os.Stat(sock); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	job := "[global]\nioengine=null\nsize=16m\nrw=randrw\nbs=4k\n[a]\nnumjobs=2\n[b]\nstonewall\nbs=8k\n"
	if err := os.WriteFile(filepath.Join(dir, "c.fio"), []byte(job), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"normal", "json", "json+", "terse"} {
		t.Run(format, func(t *testing.T) {
			raw := runFio(t, dir, "--client=sock:"+sock, "--output-format="+format, "c.fio")
			outs := readBytes(t, raw)
			if len(outs) != 1 {
				t.Fatalf("%d outputs from\n%s", len(outs), raw)
			}
			o := outs[0]
			if len(o.Unread) > 0 || o.Version != installedVersion(t) {
				t.Errorf("version %q, not understood: %+v", o.Version, o.Unread)
			}
			rows := o.Jobs
			if len(rows) != 3 || rows[0].Name != "a" || rows[2].Name != "b" || rows[2].Group != 1 {
				t.Fatalf("rows %+v", rows)
			}
			n := (&fio.Output{Jobs: rows}).Total()
			if total := n.Read.N + n.Write.N; total < 10230 || total > 10250 { // terse gives rounded IOPS only
				t.Errorf("%d I/Os, want 10240", total)
			}
			if o.AllClients == nil || o.AllClients.Read.Bytes != n.Read.Bytes && format != "normal" {
				t.Errorf("all clients: %+v", o.AllClients)
			}
			if strings.HasPrefix(format, "json") && rows[0].Host == "" {
				t.Error("the host is missing")
			}
		})
	}
}

func TestReadConcatenatedAndTruncated(t *testing.T) {
	doc := runFio(t, t.TempDir(), append([]string{"--output-format=json+"}, readArgs...)...)
	mixed := slices.Concat([]byte("before {x}\n"), doc, []byte("fio: terminating on signal 2\n"), doc, doc[:len(doc)-300])
	outs := readBytes(t, mixed)
	if len(outs) != 3 {
		t.Fatalf("%d outputs", len(outs))
	}
	last := outs[2]
	if len(last.Jobs) != 3 || len(last.Unread) != 1 || !strings.Contains(last.Unread[0].Why, "stops in the middle") {
		t.Errorf("of the truncated document: %d rows, %+v", len(last.Jobs), last.Unread)
	}
	if want := bytes.Count(mixed, []byte("\n")) + 1; last.Unread[0].Line > want {
		t.Errorf("line %d of %d", last.Unread[0].Line, want)
	}
	whole := readBytes(t, slices.Concat(doc, doc))
	if len(whole) != 2 || asJSON(t, whole[0]) != asJSON(t, whole[1]) {
		t.Errorf("%d outputs", len(whole))
	}
	noisy := bytes.Replace(doc, []byte("\n"), []byte("\nfio: pid=1, err=5/file:io_u.c:1, func=x, error=Input/output error\n"), 1)
	if outs := readBytes(t, noisy); len(outs) != 1 || len(outs[0].Messages) != 1 || len(outs[0].Jobs) != 3 {
		t.Errorf("with a message inside: %+v", outs)
	}
}

func TestFinalDropsEarlierStates(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for _, format := range []string{"json+", "normal"} {
		raw := runFio(t, t.TempDir(), "--name=a", "--ioengine=null", "--size=1g", "--rw=read", "--rate_iops=2000", "--time_based", "--runtime=3", "--status-interval=1", "--output-format="+format)
		outs := readBytes(t, raw)
		final, left := Final(outs)
		if len(final) != 1 || left != len(outs)-1 || left < 1 || final[0] != outs[len(outs)-1] {
			t.Errorf("%s: %d of %d left", format, len(final), len(outs))
		}
	}
	seed := readSeed(t, "raid0-4xgp2-m5.12xlarge.md")
	if final, _ := Final(seed); len(final) != 4 {
		t.Errorf("runs of the same name: %d of 4", len(final))
	}
}

func TestReadPassesOverWhatIsNotFio(t *testing.T) {
	for name, in := range map[string]string{
		"empty": "", "prose": "IOPS are good: bw=12, read: the docs.\nlat (usec) is a unit\n", "other json": `{"a": [1, 2]}`,
		"seed without output": string(mustRead(t, "disk-benchmark-guide.md")), "braces": "{{{{", "quote": `{"`,
	} {
		if outs := readBytes(t, []byte(in)); len(outs) != 0 {
			t.Errorf("%s: %s", name, asJSON(t, outs))
		}
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../testdata/seeds", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const smallDoc = `{"fio version":"fio-3.33","timestamp_ms":1700000000000,"jobs":[{"jobname":"a","groupid":0,"read":{"total_ios":5,"io_bytes":20480,"iops":5,"bw_bytes":20480,"runtime":1000}}]}`

// TestNoEmptyResults: what is caught around a document, or stands in a job file's comments, is no
// result of its own (JUDGED.md D5).
func TestNoEmptyResults(t *testing.T) {
	outs := readBytes(t, []byte("Jobs: 8 (f=8): [r(8)][11.7%][r=3733MiB/s][r=137k IOPS][eta 00m:53s]\nfio: terminating on signal 2\n"+smallDoc+"\n"))
	if len(outs) != 1 || len(outs[0].Jobs) != 1 || outs[0].Progress != 1 || len(outs[0].Messages) != 1 {
		t.Errorf("%d outputs: %+v", len(outs), outs[0])
	}
	job := "[global]\ndirect=1\nrw=randread\n\n[28k_r_r]\nbs=28k\n# Disk stats (read/write):\n# md0: ios=29929030/0, merge=0/0, ticks=0/0, in_queue=0, util=0.00%\n# Combined 273K in IOPS:\n"
	if outs := readBytes(t, []byte(job)); len(outs) != 0 {
		t.Errorf("%d outputs in a job file: %+v", len(outs), outs[0])
	}
}

// TestLogsNameTheirFile: a line that was not understood is in the log that holds it, not in the
// first of them (JUDGED.md D10).
func TestLogsNameTheirFile(t *testing.T) {
	fsys := fstest.MapFS{
		"x_bw.1.log":        {Data: []byte("500, 100, 0, 0, 0\n")},
		"x_clat_hist.1.log": {Data: []byte("500, 0, 4096, " + strings.Repeat("0, ", 1855) + "6800000000000000000\n")},
	}
	o, err := ReadLogs(fsys, []string{"x_bw.1.log", "x_clat_hist.1.log"}, "")
	if err != nil || len(o.Unread) != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	if u := o.Unread[0]; u.File != "x_clat_hist.1.log" || u.Line != 1 || !strings.Contains(u.Why, "6800000000000000000") {
		t.Errorf("%+v", u)
	}
}

// TestTotalAgreesWithFio runs the same jobs reported apart and together by fio: two processes
// cannot measure the same, so the rows that fio reports apart are compared with sums by hand, and
// with the bins as a whole.
func TestTotalAgreesWithFio(t *testing.T) {
	doc := runFio(t, t.TempDir(), "--name=a", "--ioengine=null", "--size=64m", "--rw=randrw", "--bs=4k", "--numjobs=3", "--output-format=json+")
	out, err := ParseJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Jobs) != 3 {
		t.Fatalf("%d rows", len(out.Jobs))
	}
	m := (&fio.Output{Jobs: out.Jobs}).Total()
	var n uint64
	var sum float64
	longest := time.Duration(0)
	all := &fio.Hist{}
	for _, j := range out.Jobs {
		n += j.Read.N
		sum += j.Read.Clat.Mean * float64(j.Read.Clat.N)
		longest = max(longest, j.Read.Runtime)
		all.Merge(j.Read.Clat.Hist)
	}
	if m.Read.N != n || m.Read.Clat.N != n || m.Count != 3 || m.Read.Runtime != longest ||
		math.Abs(float64(m.Read.IOPS)-float64(n)/longest.Seconds()) > 1e-6*float64(m.Read.IOPS) {
		t.Errorf("merged %+v", m.Read)
	}
	if math.Abs(m.Read.Clat.Mean-sum/float64(n)) > 1e-6*m.Read.Clat.Mean {
		t.Errorf("mean %v, want %v", m.Read.Clat.Mean, sum/float64(n))
	}
	if len(m.Read.Clat.Percentiles) != 17 || m.Read.Clat.Percentiles[16].Value != all.Percentile(99.99) {
		t.Errorf("percentiles %v", m.Read.Clat.Percentiles)
	}
}

// TestTerseOfOldFio: fio 2.0 calls itself "2.0.8" in its rows, without the name that later ones put
// before their version.
func TestTerseOfOldFio(t *testing.T) {
	raw := runFio(t, t.TempDir(), "--name=a", "--ioengine=null", "--size=16m", "--rw=read", "--minimal")
	_, rest, ok := strings.Cut(string(raw), ";fio-")
	_, fields, whole := strings.Cut(rest, ";")
	if !ok || !whole {
		t.Fatalf("no row in %q", raw)
	}
	outs := readBytes(t, []byte("Guest:\n3;2.0.8;"+fields))
	if len(outs) != 1 || outs[0].Version != "fio-2.0.8" || len(outs[0].Jobs) != 1 || outs[0].Jobs[0].Read.Bytes != 16<<20 {
		t.Errorf("%+v", outs)
	}
}

// TestSaysWhatItPassesOver: figures beside those of another program that nothing here reads are named, those that were
// read are not.
func TestSaysWhatItPassesOver(t *testing.T) {
	const dd = "$ dd if=/dev/zero of=x bs=1M oflag=direct\n9437184 bytes (9.4 MB, 9.0 MiB) copied, 1.1 s, 8.6 MB/s\n"
	const fio = "\nj: (groupid=0, jobs=1): err= 0: pid=7: Sat Jan  7 17:35:50 2023\n  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n" +
		"     issued rwts: total=100,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	for text, want := range map[string]string{
		dd:       "",
		dd + fio: "",
		dd + "4k RandRead: 2742 IOPS (10969 KB/s)\nscore 7\n              kB  reclen    write  rewrite    read    reread\n": "2 lines of the text with other figures (lines 3 and 5)",
		dd + fio + "and 30.5 MB/sec\n": "1 line of the text with other figures (line 7)",
	} {
		outs, err := Read("x", strings.NewReader(text))
		if err != nil || len(outs) == 0 {
			t.Fatal(err, outs)
		}
		got := ""
		for _, o := range outs {
			for _, d := range o.Doubts {
				if at, ok := strings.CutPrefix(d, "not read: "); ok {
					got += at
				}
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// cutRow is a row of terse output up to the last of its read percentiles.
const cutRow = "3;fio-3.33;cut;0;0;4000;400;100;10000;0;0;0.0;0.0;10;90;40.5;5.5;50.000000%=40;90.000000%=60;"

// TestTerseRowsThatAreCut: a row that ends anywhere gives what its fields hold, but the last, and says what it lacks.
func TestTerseRowsThatAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		mean  float64
		after float64
		lacks part.Part
	}{
		"in its percentiles": {cutRow, 40.5e3, 90, part.Tail},
		"within a number":    {cutRow + "99.000000%=1", 40.5e3, 90, part.Tail},
		"in a string":        {"stdout = '" + cutRow + "'", 40.5e3, 90, part.Tail},
		"in a statement":     {"row = \"" + cutRow + "\";", 40.5e3, 90, part.Tail},
		"elided":             {strings.SplitAfter(cutRow, "10000;")[0] + "...;   # and so on", 0, 0, part.Latencies},
	} {
		outs, err := Read("x.txt", strings.NewReader(c.text+"\n"))
		if err != nil || len(outs) != 1 || len(outs[0].Jobs) != 1 || len(outs[0].Unread) > 0 {
			t.Errorf("%s: %+v, %v", name, outs, err)
			continue
		}
		o, d := outs[0], outs[0].Jobs[0].Read
		if d.IOPS != 100 || d.Clat.Mean != c.mean || o.Missing.After != c.after || o.Missing.Side != "write" ||
			!o.Missing.Has(c.lacks) || !o.Missing.Has(part.Ending) {
			t.Errorf("%s: %+v, lacks %v", name, d, o.Missing)
		}
	}
	for _, none := range []string{
		"3;fio-3.33;cut;0;0;4000;400;100;10", "3;fio-3.33;jobname;groupid;error;total_io;bandwidth;iops;runtime;...",
	} {
		if outs, err := Read("x.txt", strings.NewReader(none+"\n")); err != nil || len(outs) > 0 {
			t.Errorf("%q: %+v, %v", none, outs, err)
		}
	}
}

// TestTerseThatEndsWithinARow: rows of which the last breaks off are not all, also where only its disk is cut.
func TestTerseThatEndsWithinARow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "terse-whole.txt"))
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.TrimSpace(string(text))
	util := strings.LastIndex(whole, ";")
	diskless, _, _ := strings.Cut(whole, ";vda;")
	for name, c := range map[string]struct {
		text  string
		parts bool
	}{
		"whole":                          {whole + "\n", false},
		"two":                            {whole + "\n" + strings.Replace(whole, ";a;", ";b;", 1) + "\n", false},
		"the beginning of another":       {whole + "\n3;fio-3.33;b;0;0;4000;400;100;10", true},
		"within the share of its disk":   {whole[:util+3], true},
		"within a number of its disk":    {whole[:util-1], true},
		"with a description behind it":   {whole + ";nightly\n", false},
		"with its errors behind it":      {whole + ";0;0\n", false},
		"another with no disk behind it": {whole + "\n" + strings.Replace(diskless, ";a;", ";b;", 1) + "\n", false},
	} {
		outs, err := Read("x.txt", strings.NewReader(c.text))
		if err != nil || len(outs) != 1 || outs[0].Missing.Has(part.AllJobs) != c.parts {
			t.Errorf("%s: %+v, %v", name, outs, err)
		}
	}
}

// TestRowsPastedInPart: sums quoted below each other are results of their own, tabs part as blanks do, the rest of a row
// is none, and rates of fio that nobody read are counted.
func TestRowsPastedInPart(t *testing.T) {
	const sum = "READ: io=3621.8MB, aggrb=92276KB/s, minb=92276KB/s, maxb=92276KB/s, mint=40191msec, maxt=40191msec\n"
	const row = "a: (groupid=0, jobs=1): err= 0: pid=9: Sun May  3 12:06:53 2020\n  read: IOPS=84, BW=42.4MiB/s (44.4MB/s)(128MiB/3020msec)\n"
	for name, c := range map[string]struct {
		text, titles, said string
		jobs               int
	}{
		"sums by name":    {"old disk, plain:\n" + sum + "new disk, plain:\n" + sum, "old disk, plain|new disk, plain", "", 0},
		"a sum of a mix":  {"old disk:\n" + sum + strings.Replace(sum, "READ", "WRITE", 1), "old disk", "", 0},
		"a tab":           {"read:\tIOPS=84, BW=42.4MiB/s (44.4MB/s)(128MiB/3020msec)\n", "", "", 1},
		"a rest":          {"  complete  : 0=0.0%, 4=100.0%, 8=0.0%\n  issued rwts: total=9,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n" + row, "", "not read: the last lines", 1},
		"a rest alone":    {"  issued rwts: total=9,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n", "", "", 1},
		"rates elsewhere": {row + "\n\nof the other I know: bw=12 MiB/s\n", "", "not read: 1 line", 1},
	} {
		outs, err := Read("x.txt", strings.NewReader(c.text))
		var titles, said []string
		jobs := 0
		for _, o := range outs {
			titles, said, jobs = append(titles, o.Title), append(said, o.Doubts...), jobs+len(o.Jobs)
		}
		doubts := strings.Join(said, "; ")
		if err != nil || strings.Join(titles, "|") != c.titles || jobs != c.jobs || !strings.Contains(doubts, c.said) ||
			strings.Contains(doubts, "not read") != (c.said != "") {
			t.Errorf("%s: %q, %d rows, %q, %v", name, titles, jobs, doubts, err)
		}
	}
}

// TestFormsOfWhichOneIsCut: rows of the same run are one result each, also where one form ends early; another run's are
// not.
func TestFormsOfWhichOneIsCut(t *testing.T) {
	row := func(name string, ran time.Duration, switches uint64) fio.Job {
		j := fio.Job{Name: name, Runtime: ran, CPU: fio.CPU{ContextSwitches: switches}}
		j.Read.Runtime = ran
		return j
	}
	terse := []fio.Job{row("a", time.Second, 7), row("b", 2*time.Second, 8), row("c", time.Second, 9)}
	for name, c := range map[string]struct {
		text []fio.Job
		want int
	}{
		"cut":         {[]fio.Job{terse[0], terse[1]}, 3},
		"cut in one":  {[]fio.Job{terse[0], {Name: "b"}}, 3},
		"another run": {[]fio.Job{row("a", time.Second, 70), terse[1]}, 5},
	} {
		rows := 0
		for _, o := range joinForms([]*fio.Output{{Format: fio.Terse, Jobs: terse}, {Format: fio.Text, Jobs: c.text}}) {
			rows += len(o.Jobs)
		}
		if rows != c.want {
			t.Errorf("%s: %d rows, want %d", name, rows, c.want)
		}
	}
}
